/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness.h"
#include "http/body.h"

enum { MAX = 20 };

static const struct http_request chunked = { .is_chunked = true };

struct outcome {
    enum err err;
    bool is_done;
    size_t used; /* of the bytes, where the body is done */
    char content[64];
    size_t len;
};

/* Feeds one piece; returns false once there is nothing more to feed. */
static bool feed(struct http_body *body, struct str bytes, struct outcome *outcome)
{
    size_t before = bytes.len;

    while (!outcome->err && !outcome->is_done) {
        struct str piece = {};

        outcome->err = http_body_next(body, &bytes, &piece);
        outcome->is_done = !outcome->err && body->state == HTTP_BODY_DONE;
        if (outcome->len + piece.len <= sizeof(outcome->content) && piece.len)
            memcpy(outcome->content + outcome->len, piece.ptr, piece.len);
        outcome->len += piece.len;
        if (piece.len == 0)
            break;
    }
    outcome->used += before - bytes.len;
    return !outcome->err && !outcome->is_done;
}

/* Feeds the front up to `cut` in pieces of `step`, then the rest at once. */
static struct outcome decode(const struct http_request *req, struct str bytes, size_t cut,
                             size_t step)
{
    struct outcome outcome = {};
    struct http_body body;
    size_t at = 0;
    bool wants_more = true;

    outcome.err = http_body_init(&body, req, MAX);
    if (outcome.err)
        return outcome;
    while (wants_more && at < cut) {
        wants_more = feed(&body, str_slice(bytes, at, at + step < cut ? at + step : cut),
                          &outcome);
        at += step;
    }
    if (wants_more)
        (void)feed(&body, str_slice(bytes, cut, bytes.len), &outcome);
    return outcome;
}

static void check_outcome(struct outcome got, struct outcome want)
{
    CHECK_INT(got.err, want.err);
    CHECK_INT(got.is_done, want.is_done);
    CHECK_INT(got.used, want.used);
    CHECK_STR(((struct str){ got.content, got.len }),
              ((struct str){ want.content, want.len }));
}

static struct outcome check_cuts(const struct http_request *req, struct str bytes)
{
    struct outcome whole = decode(req, bytes, 0, 1);

    check_outcome(decode(req, bytes, bytes.len, 1), whole);
    for (size_t cut = 0; cut <= bytes.len; cut++)
        check_outcome(decode(req, bytes, cut, cut ? cut : 1), whole);
    return whole;
}

TEST(a_length_takes_that_many_bytes_and_leaves_the_rest)
{
    static const struct {
        uint64_t length;
        struct str bytes, content;
        enum err err;
        bool is_done;
    } cases[] = {
        { 5, S("hello"), S("hello"), OK, true },
        { 5, S("helloGET /"), S("hello"), OK, true },
        { 5, S("hell"), S("hell"), OK, false },
        { 5,
          S("h\0\r\n\xff"
            "x"),
          S("h\0\r\n\xff"), OK, true },
        { 0, S("GET /"), S(""), OK, true },
        { MAX, S("01234567890123456789x"), S("01234567890123456789"), OK, true },
        { MAX + 1, S("x"), S(""), ERR_TOO_LARGE, false },
        { INT64_MAX, S("x"), S(""), ERR_TOO_LARGE, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct http_request req = { .has_length = true, .length = c->length };
        struct outcome outcome = check_cuts(&req, c->bytes);

        CHECK_INT(outcome.err, c->err);
        CHECK_INT(outcome.is_done, c->is_done);
        CHECK_INT(outcome.used, c->content.len);
        CHECK_STR(((struct str){ outcome.content, outcome.len }), c->content);
    }
}

TEST(a_request_without_length_or_chunks_has_no_body)
{
    struct http_request req = {};
    struct outcome outcome = check_cuts(&req, S("GET /"));

    CHECK(outcome.is_done);
    CHECK_INT(outcome.used, 0);
    CHECK_INT(outcome.len, 0);
}

TEST(chunks_are_joined_and_what_follows_is_left)
{
#define LAST "0\r\n\r\n"
    static const struct {
        struct str bytes, content;
        size_t left; /* bytes behind the body; SIZE_MAX: the body is not done */
    } cases[] = {
        { S(LAST), S(""), 0 },
        { S(LAST "GET / "), S(""), 6 },
        { S("5\r\nhello\r\n" LAST), S("hello"), 0 },
        { S("5\r\nhello\r\n6\r\n world\r\n" LAST "x"), S("hello world"), 1 },
        { S("a\r\n0123456789\r\nA\r\nabcdefghij\r\n" LAST), S("0123456789abcdefghij"),
          0 },
        { S("14\r\n0123456789abcdefghij\r\n" LAST), S("0123456789abcdefghij"), 0 },
        { S("5\r\n0\r\n\r\n\r\n" LAST), S("0\r\n\r\n"), 0 },
        { S("4\r\n\0\xff\r\n\r\n" LAST), S("\0\xff\r\n"), 0 },
        { S("000000000000001\r\nx\r\n000000000000000\r\n\r\n"), S("x"), 0 },
        { S("1;a\r\nx\r\n0;b=c;d=\"e, f;\"\r\n\r\n"), S("x"), 0 },
        { S("1; a = b\r\nx\r\n" LAST), S("x"), 0 },
        { S("1\r\nx\r\n0\r\nA: b\r\nC:\r\nD: \t\xff\"\r\n\r\n!"), S("x"), 1 },
        { S("1\r\nx\r\n0\r\nContent-Length: 5\r\n\r\nhello"), S("x"), 5 },
        { S(""), S(""), SIZE_MAX },
        { S("5"), S(""), SIZE_MAX },
        { S("5\r\nhell"), S("hell"), SIZE_MAX },
        { S("5\r\nhello\r\n0\r\n"), S("hello"), SIZE_MAX },
        { S("0\r\nA: b\r\n\r"), S(""), SIZE_MAX },
    };

    FOR_EACH_CASE(c, cases) {
        struct outcome outcome = check_cuts(&chunked, c->bytes);

        CHECK_INT(outcome.err, OK);
        CHECK_INT(outcome.is_done, c->left != SIZE_MAX);
        if (outcome.is_done)
            CHECK_INT(outcome.used, c->bytes.len - c->left);
        CHECK_STR(((struct str){ outcome.content, outcome.len }), c->content);
    }
}

static const struct {
    struct str bytes, content;
} bad_chunks[] = {
    { S("\r\n"), S("") },
    { S("\n"), S("") },
    { S(";a\r\n"), S("") },
    { S("x\r\n"), S("") },
    { S("g\r\n"), S("") },
    { S("0x1\r\nx\r\n"), S("") },
    { S("+1\r\nx\r\n"), S("") },
    { S("-1\r\nx\r\n"), S("") },
    { S(" 1\r\nx\r\n"), S("") },
    { S("\t1\r\nx\r\n"), S("") },
    { S("1 \r\nx\r\n"), S("") },
    { S("1\t\r\nx\r\n"), S("") },
    { S("1 ;a\r\nx\r\n"), S("") },
    { S("1 1\r\nx\r\n"), S("") },
    { S("1,1\r\nx\r\n"), S("") },
    { S("1_0\r\nx\r\n"), S("") },
    { S("1.\r\nx\r\n"), S("") },
    { S("1h\r\nx\r\n"), S("") },
    { S("\0001\r\nx\r\n"), S("") },
    { S("1\0\r\nx\r\n"), S("") },
    { S("1\nx\r\n"), S("") },
    { S("1\rx\r\n"), S("") },
    { S("1\r\r\nx\r\n"), S("") },
    { S("1;a\nx\r\n"), S("") },
    { S("1;a\rb\r\nx\r\n"), S("") },
    { S("1;a\0\r\nx\r\n"), S("") },
    { S("1;\ta\r\nx\r\n"), S("") },
    { S("1;a\x7f\r\nx\r\n"), S("") },
    { S("1;\xff\r\nx\r\n"), S("") },
    { S("0000000000000001\r\nx\r\n"), S("") },
    { S("0000000000000000\r\n\r\n"), S("") },
    { S("1\r\nxy\r\n0\r\n\r\n"), S("x") },
    { S("1\r\nx0\r\n\r\n"), S("x") },
    { S("1\r\nx\n0\r\n\r\n"), S("x") },
    { S("1\r\nx\r0\r\n\r\n"), S("x") },
    { S("1\r\nx\r\n\r\n0\r\n\r\n"), S("x") },
    { S("2\r\nx\r\n0\r\n\r\n"), S("x\r") },
    { S("0\r\n\n"), S("") },
    { S("0\r\n\r\r\n"), S("") },
    { S("0\r\n\rx"), S("") },
    { S("0\n\r\n"), S("") },
    { S("0\r\nGET / HTTP/1.1\r\n"), S("") },
    { S("0\r\nA : b\r\n\r\n"), S("") },
    { S("0\r\n: b\r\n\r\n"), S("") },
    { S("0\r\n A: b\r\n\r\n"), S("") },
    { S("0\r\nA: b\r\n c\r\n\r\n"), S("") },
    { S("0\r\nA: b\n\r\n"), S("") },
    { S("0\r\nA: b\rc\r\n\r\n"), S("") },
    { S("0\r\nA: \0\r\n\r\n"), S("") },
    { S("0\r\nA: b\x7f\r\n\r\n"), S("") },
    { S("0\r\nA\r\n\r\n"), S("") },
    { S("0\r\n\xc3: b\r\n\r\n"), S("") },
};

TEST(chunk_syntax_that_readers_understand_differently_is_refused)
{
    FOR_EACH_CASE(c, bad_chunks) {
        struct outcome outcome = check_cuts(&chunked, c->bytes);

        CHECK_INT(outcome.err, ERR_BAD_REQUEST);
        CHECK_STR(((struct str){ outcome.content, outcome.len }), c->content);
    }
}

TEST(content_above_the_maximum_is_refused_at_the_digit_that_says_so)
{
    static const struct {
        struct str bytes;
        enum err err;
        size_t used;
    } cases[] = {
        { S("15"), ERR_TOO_LARGE, 1 },
        { S("14"), OK, 2 },
        { S("fffffffffffffff"), ERR_TOO_LARGE, 1 },
        { S("a\r\n0123456789\r\nb"), ERR_TOO_LARGE, 15 },
        { S("a\r\n0123456789\r\na\r\n0123456789\r\n1"), ERR_TOO_LARGE, 30 },
        { S("a\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"), OK, 35 },
    };

    FOR_EACH_CASE(c, cases) {
        struct outcome outcome = check_cuts(&chunked, c->bytes);

        CHECK_INT(outcome.err, c->err);
        CHECK_INT(outcome.used, c->used);
    }
}

/* `front`, then `count` letters, then `back`. */
static struct str stretch(struct str front, size_t count, struct str back)
{
    static char text[16384];
    char *at = mempcpy(text, front.ptr, front.len);

    memset(at, 'a', count);
    at = mempcpy(at + count, back.ptr, back.len);
    return (struct str){ text, (size_t)(at - text) };
}

TEST(extensions_and_trailers_are_bounded)
{
    static const struct {
        struct str front;
        size_t count;
        struct str back;
        enum err err;
    } cases[] = {
        { S("1;"), 254, S("\r\nx\r\n0\r\n\r\n"), OK },
        { S("1;"), 255, S("\r\nx\r\n0\r\n\r\n"), ERR_BAD_REQUEST },
        { S("1;"), 255, S(""), ERR_BAD_REQUEST },
        { S("1\r\nx\r\n0;"), 254, S("\r\n\r\n"), OK },
        { S("1\r\nx\r\n0;"), 255, S("\r\n\r\n"), ERR_BAD_REQUEST },
        { S("0\r\nA:"), 8192 - 6, S("\r\n\r\n"), OK },
        { S("0\r\nA:"), 8192 - 5, S("\r\n\r\n"), ERR_TOO_LARGE },
        { S("0\r\nA:b\r\nA:"), 8192 - 11, S("\r\n\r\n"), OK },
        { S("0\r\nA:b\r\nA:"), 8192 - 10, S("\r\n\r\n"), ERR_TOO_LARGE },
        { S("0\r\n"), 8193, S(""), ERR_TOO_LARGE },
        { S("0;abc\r\nA:"), 8192 - 6, S("\r\n\r\n"), OK },
    };

    FOR_EACH_CASE(c, cases) {
        struct str bytes = stretch(c->front, c->count, c->back);
        struct outcome whole = decode(&chunked, bytes, 0, 1);

        CHECK_INT(whole.err, c->err);
        CHECK_INT(whole.is_done, c->err == OK);
        check_outcome(decode(&chunked, bytes, bytes.len, 1), whole);
        for (size_t cut = 0; cut <= bytes.len; cut += 97)
            check_outcome(decode(&chunked, bytes, cut, bytes.len), whole);
    }
}

TEST(many_chunks_with_extensions_do_not_add_up)
{
    struct http_body body;

    CHECK_INT(http_body_init(&body, &chunked, 1000), OK);
    for (int i = 0; i < 1000; i++) {
        struct str bytes = S("1;name=value\r\nx\r\n");
        struct str piece = {};

        CHECK_INT(http_body_next(&body, &bytes, &piece), OK);
        CHECK_STR(piece, S("x"));
        CHECK_INT(http_body_next(&body, &bytes, &piece), OK);
        CHECK_INT(bytes.len, 0);
    }
    CHECK_INT(body.total, 1000);
}

TEST(a_refused_body_stays_refused)
{
    static const struct {
        struct str bytes;
        enum err err;
    } cases[] = {
        { S("x"), ERR_BAD_REQUEST },
        { S("15"), ERR_TOO_LARGE },
    };

    FOR_EACH_CASE(c, cases) {
        struct str bytes = c->bytes;
        struct str more = S("\r\n5\r\nhello");
        struct str piece = S("kept");
        struct http_body body;

        CHECK_INT(http_body_init(&body, &chunked, MAX), OK);
        CHECK_INT(http_body_next(&body, &bytes, &piece), c->err);
        CHECK_INT(http_body_next(&body, &more, &piece), ERR_BAD_REQUEST);
        CHECK_STR(piece, S("kept"));
    }
}
