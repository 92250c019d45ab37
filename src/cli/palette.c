/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/palette.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct palette none = {
    .off = "",
    .dim = "",
    .bold = "",
    .wait = "",
    .good = "",
    .bad = "",
    .people = { "", "", "", "", "" },
};

static const struct palette ansi = {
    .off = "\033[0m",
    .dim = "\033[2m",
    .bold = "\033[1m",
    .wait = "\033[33m",
    .good = "\033[32m",
    .bad = "\033[31m",
    .people = { "\033[1;36m", "\033[1;32m", "\033[1;35m", "\033[1;34m", "\033[1;33m" },
};

const struct palette *palette_none(void)
{
    return &none;
}

const struct palette *palette_ansi(void)
{
    return &ansi;
}

const struct palette *palette_for(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (!isatty(fileno(stream)) || (no_color && *no_color) || !term ||
        strcmp(term, "dumb") == 0)
        return &none;
    return &ansi;
}

bool palette_is_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is_utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

    if (locale)
        freelocale(locale);
    return is_utf8;
}
