/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says how, the rest is a text: what comes out is UTF-8 without anything
 * that a terminal obeys, and stays as it is when it is made plain again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/plain.h"
#include "base/utf8.h"

enum { GROWTH = 6, SPARE = 1 }; /* buf_putf() needs the latter while it writes */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool is_obeyed(uint32_t cp, enum plain how)
{
    if (how == PLAIN_TEXT && (cp == '\n' || cp == '\t'))
        return false;
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) ||
           cp == 0x061c || cp == 0xfeff;
}

static void check(struct str text, enum plain how)
{
    while (text.len) {
        uint32_t cp = 0;
        size_t len = utf8_read(text, &cp);

        if (len == 0 || is_obeyed(cp, how))
            abort();
        text = str_slice(text, len, text.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct buf once, again;
    enum plain how;

    if (size == 0)
        return 0;
    how = (enum plain)(bytes[0] % 3);
    text = str_slice(text, 1, text.len);
    buf_init(&once, text.len * GROWTH + SPARE);
    buf_init(&again, text.len * GROWTH + SPARE);
    plain_put(&once, text, how);
    plain_put(&again, buf_str(&once), how);
    check(buf_str(&once), how);
    if (once.is_full || again.is_full || !str_eq(buf_str(&once), buf_str(&again)))
        abort();
    buf_done(&once);
    buf_done(&again);
    return 0;
}
