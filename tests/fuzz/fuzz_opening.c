/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever answers a participant's request for an upgrade: it is judged the same in
 * whatever pieces it comes, in the end it is judged, and what is shown of it is fit to be
 * shown.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "client/opening.h"

enum { WHY_BYTES = 4096, PREFIXES_BELOW = 32 * 1024 };

/* The example of RFC 6455 1.3. */
static const struct str key = { "dGhlIHNhbXBsZSBub25jZQ==", OPENING_KEY };

struct verdict {
    enum err err;
    struct opening_answer answer;
    struct buf why;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static struct verdict judge(struct str bytes, enum opening_more more)
{
    struct verdict v = {};

    buf_init(&v.why, WHY_BYTES);
    v.err = opening_read(bytes, more, key, &v.answer, &v.why);
    return v;
}

static void check_why(const struct verdict *v)
{
    must(!v->why.is_full && utf8_is_valid(buf_str(&v->why)));
    for (size_t i = 0; i < v->why.len; i++)
        must((unsigned char)v->why.ptr[i] >= ' ' && v->why.ptr[i] != 0x7f);
}

static void check(const struct verdict *v, struct str bytes)
{
    check_why(v);
    must(v->err == OK || v->err == ERR_AGAIN || v->err == ERR_INVALID);
    must((v->err == ERR_AGAIN || (!v->err && v->answer.status == 101)) ==
         (v->why.len == 0));
    if (v->err)
        return;
    must(v->answer.status == 101 || (v->answer.status >= 200 && v->answer.status <= 599));
    must(v->answer.used <= bytes.len);
    must(v->answer.wait_ms <= UINT64_C(86'400'000));
}

/* Once it has been judged, nothing that follows changes it. */
static void check_front(struct str bytes, size_t len, const struct verdict *whole)
{
    struct verdict front = judge(str_slice(bytes, 0, len), OPENING_GOES_ON);

    check(&front, str_slice(bytes, 0, len));
    if (front.err != ERR_AGAIN) {
        must(front.err == whole->err && front.answer.status == whole->answer.status);
        must(str_eq(buf_str(&front.why), buf_str(&whole->why)));
    }
    buf_done(&front.why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct verdict whole = judge(text, OPENING_GOES_ON);
    struct verdict last = judge(text, OPENING_ENDS);
    size_t step = size / 64 + 1;

    check(&whole, text);
    check(&last, text);
    must(last.err != ERR_AGAIN);
    must(whole.err == ERR_AGAIN || whole.err == last.err);
    for (size_t len = size % step; len < size && size < PREFIXES_BELOW; len += step)
        check_front(text, len, &whole);
    buf_done(&whole.why);
    buf_done(&last.why);
    return 0;
}
