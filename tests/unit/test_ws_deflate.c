/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "ws/deflate.h"

/* Text that looks like envelopes, or noise; the same on every run. */
static void fill(struct buf *out, size_t len, bool is_noise)
{
    uint32_t seed = 12345;

    while (out->len < len) {
        seed = seed * 1664525 + 1013904223;
        if (is_noise)
            buf_putc(out, (char)(seed >> 24));
        else
            buf_putf(out, "{\"id\":%u,\"kind\":\"chat\"},", seed >> 20);
    }
    out->len = len;
}

static void check_round_trip(struct ws_deflater *deflater, struct ws_inflater *inflater,
                             struct str message)
{
    struct buf compressed, back;

    buf_init(&compressed, message.len + message.len / 100 + 100);
    buf_init(&back, message.len);
    CHECK_INT(ws_deflate(deflater, message, &compressed), OK);
    CHECK(!str_ends(buf_str(&compressed), S("\x00\x00\xff\xff")));
    CHECK_INT(ws_inflate(inflater, buf_str(&compressed), &back), OK);
    CHECK(str_eq(buf_str(&back), message));
    buf_done(&compressed);
    buf_done(&back);
}

TEST(messages_come_back_as_they_were_for_every_window)
{
    static const size_t sizes[] = { 0, 1, 16, 255, 256, 257, 4096, 65536, 1 << 20 };
    struct ws_inflater *inflater = ws_inflater_new();

    for (int bits = 9; bits <= 15; bits++) {
        struct ws_deflater *deflater = ws_deflater_new(bits);

        FOR_EACH_CASE(size, sizes) {
            struct buf message;

            buf_init(&message, *size + 100);
            fill(&message, *size, false);
            check_round_trip(deflater, inflater, buf_str(&message));
            buf_clear(&message);
            fill(&message, *size, true);
            check_round_trip(deflater, inflater, buf_str(&message));
            buf_done(&message);
        }
        ws_deflater_free(deflater);
    }
    ws_inflater_free(inflater);
}

TEST(no_message_depends_on_the_one_before)
{
    struct ws_deflater *deflater = ws_deflater_new(15);
    struct buf first, second;

    buf_init(&first, 1000);
    buf_init(&second, 1000);
    CHECK_INT(ws_deflate(deflater, S("the same text, the same text"), &first), OK);
    CHECK_INT(ws_deflate(deflater, S("another"), &second), OK);
    buf_clear(&second);
    CHECK_INT(ws_deflate(deflater, S("the same text, the same text"), &second), OK);
    CHECK_STR(buf_str(&second), buf_str(&first));
    ws_deflater_free(deflater);
    buf_done(&first);
    buf_done(&second);
}

TEST(messages_inflate_as_the_rfc_prints_them) /* RFC 7692 7.2.3 */
{
    /* clang-format off */
    static const struct { struct str compressed; enum err err; struct str message; } cases[] = {
        { S("\xf2\x48\xcd\xc9\xc9\x07\x00"),                              OK, S("Hello") },
        { S("\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"),              OK, S("Hello") },
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00\x00"),                          OK, S("Hello") },
        { S("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"),      OK, S("Hello") },
        { S("\x00"),                                                      OK, S("") },
        { S(""),                                                          OK, S("") },
        /* a final block and nothing behind it */
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00"),                              OK, S("Hello") },
        /* a final block and more blocks behind it */
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00\xf2\x48\xcd\xc9\xc9\x07\x00"),  OK, S("HelloHello") },
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00\xf3\x48\xcd\xc9\xc9\x07\x00"),  OK, S("HelloHello") },
        /* the tail sent all the same is an empty block more, but not a whole one */
        { S("\xf2\x48\xcd\xc9\xc9\x07\x00\x00\x00\xff\xff"),              ERR_INVALID, S("") },
        { S("\xf2\x48\xcd\xc9\xc9\x07\x00\x00\x00\xff\xff\x00"),          OK, S("Hello") },
        /* garbage behind a final block */
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00xyz"),                           ERR_INVALID, S("") },
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00\xff"),                          ERR_INVALID, S("") },
        { S("\xf3\x48\xcd\xc9\xc9\x07\x00\x00\x00"),                      ERR_INVALID, S("") },
        /* cut */
        { S("\xf2"),                                                      ERR_INVALID, S("") },
        { S("\xf2\x48\xcd\xc9\xc9"),                                      ERR_INVALID, S("") },
        { S("\x00\x06\x00\xf9\xff\x48"),                                  ERR_INVALID, S("") },
        { S("\x00\x05\x00"),                                              ERR_INVALID, S("") },
        /* no such block, wrong complement, distance before the beginning */
        { S("\x06"),                                                      ERR_INVALID, S("") },
        { S("\x00\x05\x00\x00\x00Hello\x00"),                             ERR_INVALID, S("") },
        { S("\x02\x42\x00\x00"),                                          ERR_INVALID, S("") },
    };
    /* clang-format on */
    struct ws_inflater *inflater = ws_inflater_new();

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 100);
        buf_put(&out, S("kept "));
        CHECK_INT(ws_inflate(inflater, c->compressed, &out), c->err);
        CHECK_STR(str_slice(buf_str(&out), 0, 5), S("kept "));
        CHECK_STR(str_slice(buf_str(&out), 5, out.len), c->message);
        buf_done(&out);
    }
    ws_inflater_free(inflater);
}

TEST(a_bomb_ends_at_the_bound)
{
    struct ws_deflater *deflater = ws_deflater_new(15);
    struct ws_inflater *inflater = ws_inflater_new();
    struct buf bomb, out;
    char *zeros = calloc(1, 16 << 20);

    buf_init(&bomb, 1 << 20);
    CHECK_INT(ws_deflate(deflater, (struct str){ zeros, 16 << 20 }, &bomb), OK);
    CHECK(bomb.len < 100000);
    buf_init(&out, 50000);
    CHECK_INT(ws_inflate(inflater, buf_str(&bomb), &out), ERR_TOO_BIG);
    CHECK(out.size <= 50000);
    CHECK_INT(out.len, 0);
    buf_done(&out);
    buf_init(&out, (16 << 20) - 1);
    CHECK_INT(ws_inflate(inflater, buf_str(&bomb), &out), ERR_TOO_BIG);
    buf_done(&out);
    buf_init(&out, 16 << 20);
    CHECK_INT(ws_inflate(inflater, buf_str(&bomb), &out), OK);
    CHECK_INT(out.len, 16 << 20);
    buf_done(&out);
    buf_done(&bomb);
    free(zeros);
    ws_deflater_free(deflater);
    ws_inflater_free(inflater);
}

TEST(a_bound_of_nothing_admits_the_empty_message_only)
{
    struct ws_inflater *inflater = ws_inflater_new();
    struct buf out;

    buf_init(&out, 0);
    CHECK_INT(ws_inflate(inflater, S("\x00"), &out), OK);
    CHECK_INT(ws_inflate(inflater, S("\xf2\x48\xcd\xc9\xc9\x07\x00"), &out), ERR_TOO_BIG);
    CHECK(out.ptr == NULL);
    buf_done(&out);
    ws_inflater_free(inflater);
}

TEST(what_does_not_fit_leaves_the_output_as_it_was)
{
    struct ws_deflater *deflater = ws_deflater_new(15);
    struct buf out;

    buf_init(&out, 7);
    CHECK_INT(ws_deflate(deflater, S("Hello"), &out), OK);
    CHECK_STR(buf_str(&out), S("\xf2\x48\xcd\xc9\xc9\x07\x00"));
    buf_clear(&out);
    buf_putc(&out, 'x');
    CHECK_INT(ws_deflate(deflater, S("Hello"), &out), ERR_TOO_BIG);
    CHECK_STR(buf_str(&out), S("x"));
    buf_done(&out);
    ws_deflater_free(deflater);
}

TEST(freeing_nothing_is_harmless)
{
    ws_inflater_free(NULL);
    ws_deflater_free(NULL);
}
