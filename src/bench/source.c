/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/source.h"

#include <stddef.h>

/* Four numbers, no zeros before them: some readers take those for octal. */
static enum err parse_address(struct str text, uint32_t *ret)
{
    uint32_t address = 0;

    for (size_t i = 0; i < 4; i++) {
        struct str part = str_cut(&text, '.');
        uint64_t number;

        if (!part.len || (part.len > 1 && part.ptr[0] == '0') ||
            str_to_u64(part, UINT8_MAX, &number))
            return ERR_INVALID;
        if ((i < 3) != (text.ptr != NULL))
            return ERR_INVALID;
        address = address << 8 | (uint32_t)number;
    }
    *ret = address;
    return OK;
}

enum err source_parse(struct str text, struct source_range *ret)
{
    struct str first_text = str_cut(&text, '-');
    uint32_t first;
    uint32_t last;
    enum err err;

    err = parse_address(first_text, &first);
    if (err)
        return err;
    last = first;
    if (text.ptr)
        err = parse_address(text, &last);
    if (err)
        return err;
    if (last < first || last - first >= SOURCES_MAX)
        return ERR_INVALID;
    *ret = (struct source_range){ .first = first, .count = last - first + 1 };
    return OK;
}

uint32_t source_of(const struct source_range *range, uint32_t client)
{
    return range->first + client % range->count;
}
