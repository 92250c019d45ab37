/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed messages from outside: the output never exceeds its bound, a smaller bound
 * changes nothing but ERR_TOO_BIG, and what was inflated survives our own deflater.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ws/deflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { BOUND = 1 << 16 };

static void check_round_trip(struct ws_deflater *deflater, struct ws_inflater *inflater,
                             struct str message)
{
    struct buf compressed, back;

    buf_init(&compressed, message.len + BOUND);
    buf_init(&back, message.len);
    if (ws_deflate(deflater, message, &compressed) ||
        ws_inflate(inflater, buf_str(&compressed), &back) ||
        !str_eq(buf_str(&back), message))
        abort();
    buf_done(&compressed);
    buf_done(&back);
}

static void check_bound(struct ws_inflater *inflater, struct str compressed, size_t len)
{
    struct buf out;
    enum err want = len ? ERR_TOO_BIG : OK;

    buf_init(&out, len ? len - 1 : 0);
    if (ws_inflate(inflater, compressed, &out) != want || out.len || out.size > out.max)
        abort();
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct ws_inflater *inflater;
    static struct ws_deflater *deflater;
    struct str compressed = { (const char *)bytes, size };
    struct buf out;
    enum err err;

    if (!inflater) {
        inflater = ws_inflater_new();
        deflater = ws_deflater_new(9);
    }
    buf_init(&out, BOUND);
    err = ws_inflate(inflater, compressed, &out);
    if (out.len > BOUND || out.size > BOUND || (err && out.len))
        abort();
    if (!err) {
        check_bound(inflater, compressed, out.len);
        check_round_trip(deflater, inflater, buf_str(&out));
    }
    buf_done(&out);
    return 0;
}
