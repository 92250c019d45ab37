/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "crypto/crypto.h"

static int read_stream(FILE *file, const char *name, struct buf *out)
{
    char chunk[BUFSIZ];
    size_t got = 1;
    bool fits = true;

    while (fits && got > 0) {
        got = fread(chunk, 1, sizeof(chunk), file);
        fits = buf_append(out, (struct str){ chunk, got }) == OK;
    }
    crypto_wipe(chunk, sizeof(chunk)); /* it may have been a token */
    if (!fits)
        return cli_fail("%s: there is too much of it", name);
    if (ferror(file))
        return cli_fail("%s: %s", name, strerror(errno));
    return CLI_OK;
}

static int read_path(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "re");
    int code;

    if (!file)
        return cli_fail("%s: %s", path, strerror(errno));
    code = read_stream(file, path, out);
    (void)fclose(file);
    return code;
}

int cli_read_file(const char *path, struct buf *out)
{
    if (strcmp(path, "-") == 0)
        return read_stream(stdin, "standard input", out);
    return read_path(path, out);
}

int cli_read_value(const char *word, struct buf *out)
{
    if (word[0] == '@')
        return read_path(word + 1, out);
    if (strcmp(word, "-") == 0)
        return cli_read_file(word, out);
    if (buf_append(out, str_of(word)))
        return cli_fail("there is too much of it");
    return CLI_OK;
}

static void warn_of_mode(const char *path)
{
    struct stat about;

    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
        (about.st_mode & (S_IRGRP | S_IROTH)))
        (void)cli_fail("%s can be read by others; `chmod 600 %s` keeps it secret", path,
                       path);
}

int cli_read_token(const char *path, struct buf *out)
{
    const char *from_env = getenv("MOOT_TOKEN");
    int code;

    if (!path && (!from_env || !*from_env))
        return cli_fail("a token is needed: --token-file FILE or $MOOT_TOKEN");
    if (!path) {
        buf_put(out, str_of(from_env));
    } else {
        warn_of_mode(path);
        code = read_path(path, out);
        if (code)
            return code;
    }
    while (out->len && (unsigned char)out->ptr[out->len - 1] <= ' ')
        out->len--;
    if (out->len == 0 || out->is_full || memchr(out->ptr, '\0', out->len))
        return cli_fail("%s holds no token", path ? path : "$MOOT_TOKEN");
    return CLI_OK;
}

bool cli_read_duration(struct str text, uint64_t *ret_ms)
{
    static const struct {
        char unit;
        uint64_t ms;
    } units[] = {
        { 's', 1000 }, { 'm', 60'000 }, { 'h', 3'600'000 }, { 'd', 86'400'000 }
    };
    uint64_t scale = 1000;
    uint64_t value;

    for (size_t i = 0; i < COUNT(units); i++)
        if (text.len > 1 && text.ptr[text.len - 1] == units[i].unit) {
            scale = units[i].ms;
            text.len--;
            break;
        }
    if (str_to_u64(text, 100'000'000, &value))
        return false;
    *ret_ms = value * scale;
    return true;
}

int cli_read_timeout(const char *text, uint64_t max_ms, uint64_t *ret_ms)
{
    uint64_t ms;

    if (!text)
        return CLI_OK;
    if (!cli_read_duration(str_of(text), &ms) || ms == 0 || ms > max_ms)
        return cli_fail("--timeout takes a time like 30, 5m or 2h, up to %llu seconds, "
                        "not \"%s\"",
                        (unsigned long long)max_ms / 1000, text),
               CLI_USAGE;
    *ret_ms = ms;
    return CLI_OK;
}

bool cli_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool cli_ask(const char *question)
{
    char line[16] = "";
    struct str word;

    (void)tcflush(STDIN_FILENO, TCIFLUSH);
    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(line, sizeof(line), stdin))
        return false;
    word = str_trim(str_slice(str_of(line), 0, str_find(str_of(line), '\n', 0)));
    return str_ieq(word, S("y")) || str_ieq(word, S("yes"));
}
