/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

/* What a leading byte promises (Unicode, table 3-7). need 0: never leads. */
static bool lead(struct utf8 *state, unsigned char c)
{
    *state = (struct utf8){ .low = 0x80, .high = 0xbf };
    if (c < 0xc2 || c > 0xf4)
        return false;
    state->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3; /* a ladder of ranges */
    switch (c) {
    case 0xe0: state->low = 0xa0; break;
    case 0xed: state->high = 0x9f; break;
    case 0xf0: state->low = 0x90; break;
    case 0xf4: state->high = 0x8f; break;
    default: break;
    }
    return true;
}

static bool is_ascii_word(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return (word & 0x8080808080808080) == 0;
}

bool utf8_feed(struct utf8 *state, struct str text)
{
    size_t i = 0;

    while (i < text.len) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (state->need) {
            if (c < state->low || c > state->high)
                return false;
            state->need--;
            state->low = 0x80;
            state->high = 0xbf;
            i++;
            continue;
        }
        if (text.len - i >= sizeof(uint64_t) && is_ascii_word(text.ptr + i)) {
            i += sizeof(uint64_t);
            continue;
        }
        if (c >= 0x80 && !lead(state, c))
            return false;
        i++;
    }
    return true;
}

bool utf8_is_valid(struct str text)
{
    struct utf8 state = {};

    return utf8_feed(&state, text) && utf8_is_whole(&state);
}

size_t utf8_write(uint32_t code_point, char out[static 4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}
