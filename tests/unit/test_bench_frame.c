/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/frame.h"
#include "harness.h"

static struct str body_of(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    return (struct str){ text, len };
}

/* Every place where the length of a length changes. */
static const size_t sizes[] = { 0, 1, 7, 8, 9, 125, 126, 127, 65535, 65536, 70000 };

TEST(a_frame_that_was_written_is_read_again)
{
    char *text = xmalloc(70000);

    FOR_EACH_CASE(size, sizes) {
        struct str body = body_of(text, *size);
        struct frame frame = {};
        struct buf out;

        buf_init(&out, 100'000);
        CHECK_INT(frame_write(&out, FRAME_TEXT, body), OK);
        CHECK_INT(frame_parse(buf_str(&out), &frame), OK);
        CHECK_INT(frame.opcode, FRAME_TEXT);
        CHECK_INT(frame.size, out.len);
        CHECK(!frame.is_masked);
        CHECK_STR(frame.body, body);
        buf_done(&out);
    }
    free(text);
}

TEST(a_masked_frame_is_forwarded_without_its_mask)
{
    char *text = xmalloc(70000);

    FOR_EACH_CASE(size, sizes) {
        struct str body = body_of(text, *size);
        struct frame frame = {};
        struct frame forwarded = {};
        struct buf in;
        struct buf out;

        buf_init(&in, 100'000);
        buf_init(&out, 100'000);
        CHECK_INT(frame_write_masked(&in, FRAME_TEXT, body, 0x12345678), OK);
        CHECK_INT(frame_parse(buf_str(&in), &frame), OK);
        CHECK(frame.is_masked);
        CHECK(!*size || !str_eq(frame.body, body));
        CHECK_INT(frame_forward(&out, &frame), OK);
        CHECK_INT(frame_parse(buf_str(&out), &forwarded), OK);
        CHECK_STR(forwarded.body, body);
        buf_done(&in);
        buf_done(&out);
    }
    free(text);
}

TEST(a_frame_cut_anywhere_is_waited_for)
{
    char text[200];
    struct frame frame;
    struct buf out;

    buf_init(&out, 1000);
    CHECK_INT(frame_write_masked(&out, FRAME_TEXT, body_of(text, 200), 0xa5a5a5a5), OK);
    for (size_t cut = 0; cut < out.len; cut++)
        CHECK_INT(frame_parse(str_slice(buf_str(&out), 0, cut), &frame), ERR_AGAIN);
    buf_done(&out);
}

TEST(what_follows_a_frame_is_left_alone)
{
    struct frame frame = {};

    CHECK_INT(frame_parse(S("\x81\x02hi\x81"), &frame), OK);
    CHECK_INT(frame.size, 4);
    CHECK_STR(frame.body, S("hi"));
}

TEST(fragments_reserved_bits_and_giants_are_refused)
{
    static const struct {
        struct str bytes;
        enum err want;
    } cases[] = {
        { S("\x01\x02hi"), ERR_INVALID },
        { S("\xc1\x02hi"), ERR_INVALID },
        { S("HTTP/1.1"), ERR_INVALID },
        { S("\x82\x7f\x00\x00\x00\x00\x10\x00\x00\x00"), ERR_TOO_BIG },
        { S("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), ERR_TOO_BIG },
    };
    struct frame frame;

    FOR_EACH_CASE(c, cases)
        CHECK_INT(frame_parse(c->bytes, &frame), c->want);
}
