/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body decoder. The first byte of the input says what framing the body has: 'c' is
 * chunks, anything else a length of ten times that byte. However the rest is cut,
 * content, error and the position of the end are the same; and content written again as
 * chunks is read back.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/body.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

enum { MAX = 1000 };

struct outcome {
    enum err err;
    bool is_done;
    size_t used;
    struct buf content;
};

/* Takes all that the piece has to give; false where the body wants no more. */
static bool feed(struct http_body *body, struct str bytes, struct outcome *outcome)
{
    const char *end = bytes.ptr + bytes.len;
    size_t before = bytes.len;
    struct str piece;

    do {
        piece = S("");
        outcome->err = http_body_next(body, &bytes, &piece);
        must(bytes.ptr + bytes.len == end);
        must(piece.len == 0 || piece.ptr + piece.len == bytes.ptr);
        buf_put(&outcome->content, piece);
        must(body->total == outcome->content.len && body->total <= MAX);
    } while (!outcome->err && piece.len > 0);
    outcome->used += before - bytes.len;
    outcome->is_done = !outcome->err && body->state == HTTP_BODY_DONE;
    must(outcome->err || outcome->is_done || bytes.len == 0);
    return !outcome->err && !outcome->is_done;
}

/* Feeds pieces of `step` bytes, each in memory of its own size. */
static struct outcome decode(const struct http_request *req, struct str bytes,
                             size_t step)
{
    struct outcome outcome = {};
    struct http_body body;
    bool wants_more = true;

    buf_init(&outcome.content, MAX);
    outcome.err = http_body_init(&body, req, MAX);
    if (outcome.err)
        return outcome;
    for (size_t at = 0; wants_more && at < bytes.len; at += step) {
        struct str piece = str_slice(bytes, at, at + step);
        char *copy = malloc(piece.len);

        must(copy);
        memcpy(copy, piece.ptr, piece.len);
        wants_more = feed(&body, (struct str){ copy, piece.len }, &outcome);
        free(copy);
    }
    return outcome;
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    must(a->err == b->err && a->is_done == b->is_done && a->used == b->used);
    must(str_eq(buf_str(&a->content), buf_str(&b->content)));
    must(!a->content.is_full);
}

static void check_again(struct str content)
{
    const struct http_request chunked = { .is_chunked = true };
    struct outcome again;
    struct buf out;

    buf_init(&out, 2L * MAX);
    if (content.len)
        buf_putf(&out, "%zx\r\n", content.len);
    buf_put(&out, content);
    buf_put(&out, content.len ? S("\r\n0\r\n\r\n") : S("0\r\n\r\n"));
    again = decode(&chunked, buf_str(&out), out.len);
    must(again.is_done && again.used == out.len);
    must(str_eq(buf_str(&again.content), content));
    buf_done(&again.content);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct http_request req = {};
    struct outcome whole;
    struct str body;

    if (size < 2)
        return 0;
    req.is_chunked = bytes[0] == 'c';
    req.has_length = !req.is_chunked;
    req.length = req.has_length ? 10u * bytes[0] : 0;
    body = (struct str){ (const char *)bytes + 1, size - 1 };
    whole = decode(&req, body, body.len);
    for (size_t step = 1; step < body.len; step += 1 + body.len / 16) {
        struct outcome cut = decode(&req, body, step);

        check_same(&cut, &whole);
        buf_done(&cut.content);
    }
    if (whole.is_done)
        check_again(buf_str(&whole.content));
    buf_done(&whole.content);
    return 0;
}
