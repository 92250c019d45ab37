/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people write them: 512KiB, 30s, 1000/s. */
#include "base/cleanup.h"
#include "config/config_priv.h"

struct unit {
    const char *suffix;
    uint64_t factor;
};

/* From small to large. */
static const struct unit plain[] = { { "", 1 } };
static const struct unit bytes[] = {
    { "", 1 },
    { "B", 1 },
    { "KiB", 1ull << 10 },
    { "MiB", 1ull << 20 },
    { "GiB", 1ull << 30 },
};
static const struct unit times[] = {
    { "ms", 1 },
    { "s", 1000 },
    { "m", 60'000 },
    { "h", 3'600'000 },
};
static const struct unit rates[] = { { "/s", 1 } };
static const struct unit byte_rates[] = {
    { "/s", 1 },
    { "B/s", 1 },
    { "KiB/s", 1ull << 10 },
    { "MiB/s", 1ull << 20 },
    { "GiB/s", 1ull << 30 },
};

#define UNITS(table) .units = (table), .count = COUNT(table)
/* clang-format off */
static const struct {
    const char *noun;
    const struct unit *units; /* NULL: not a number */
    size_t count;
} kinds[] = {
    [OPTION_COUNT]     = { .noun = "a whole number",                            UNITS(plain) },
    [OPTION_SIZE]      = { .noun = "a size such as 512KiB or 4MiB",             UNITS(bytes) },
    [OPTION_DURATION]  = { .noun = "a duration such as 500ms, 30s, 5m or 24h",  UNITS(times) },
    [OPTION_RATE]      = { .noun = "a rate such as 1000/s, or 0",               UNITS(rates) },
    [OPTION_BYTE_RATE] = { .noun = "a rate such as 16MiB/s, or 0",              UNITS(byte_rates) },
    [OPTION_BOOL]      = { .noun = "true or false" },
    [OPTION_SWITCH]    = { .noun = "true or false" },
    [OPTION_CHOICE]    = { .noun = "a word" },
    [OPTION_TEXT]      = { .noun = "a text" },
    [OPTION_SECRET]    = { .noun = "a text" },
    [OPTION_PATH]      = { .noun = "a path" },
    [OPTION_PATHS]     = { .noun = "a list of paths" },
    [OPTION_TEXTS]     = { .noun = "a list of texts" },
    [OPTION_RIGHTS]    = { .noun = "a list of texts and mappings" },
    [OPTION_TIME]      = { .noun = "a time such as 2030-01-31T12:00:00Z" },
    [OPTION_OBJECT]    = { .noun = "a mapping" },
    [OPTION_PAIRS]     = { .noun = "a mapping of names to texts" },
    [OPTION_SECTION]   = { .noun = "a mapping" },
    [OPTION_LIST]      = { .noun = "a list" },
    [OPTION_MAP]       = { .noun = "a mapping" },
};
/* clang-format on */
#undef UNITS

const char *option_noun(enum option_kind kind)
{
    return kinds[kind].noun;
}

static size_t digits_of(struct str text)
{
    size_t count = 0;

    while (count < text.len && text.ptr[count] >= '0' && text.ptr[count] <= '9')
        count++;
    return count;
}

/* The factor of a unit, or 0. */
static uint64_t find_factor(enum option_kind kind, struct str suffix)
{
    for (size_t i = 0; i < kinds[kind].count; i++)
        if (str_eq(suffix, str_of(kinds[kind].units[i].suffix)))
            return kinds[kind].units[i].factor;
    return 0;
}

enum err number_parse(enum option_kind kind, struct str text, uint64_t *ret)
{
    size_t count = digits_of(text);
    uint64_t number, factor;

    if (str_eq(text, S("0"))) {
        *ret = 0;
        return OK;
    }
    /* A leading zero is octal to some readers of YAML and decimal to others. */
    if (count > 1 && text.ptr[0] == '0')
        return ERR_INVALID;
    factor = find_factor(kind, str_slice(text, count, text.len));
    if (!factor)
        return ERR_INVALID;
    if (str_to_u64(str_slice(text, 0, count), UINT64_MAX / factor, &number))
        return ERR_INVALID;
    *ret = number * factor;
    return OK;
}

void number_put(enum option_kind kind, uint64_t value, struct buf *out)
{
    const struct unit *best = &kinds[kind].units[0];

    for (size_t i = 1; i < kinds[kind].count; i++) {
        const struct unit *unit = &kinds[kind].units[i];

        if (unit->factor > best->factor && value % unit->factor == 0)
            best = unit;
    }
    buf_putf(out, "%llu", (unsigned long long)(value / best->factor));
    if (value)
        buf_put(out, str_of(best->suffix));
}
