/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "harness.h"
#include "ws/ws.h"

TEST(heads_have_the_shortest_length_that_holds_the_payload)
{
    /* clang-format off */
    static const struct {
        size_t payload;
        enum ws_opcode op;
        bool is_compressed;
        struct str head;
    } cases[] = {
        { 0,       WS_OP_TEXT,   false, S("\x81\x00") },
        { 125,     WS_OP_TEXT,   true,  S("\xc1\x7d") },
        { 126,     WS_OP_BINARY, false, S("\x82\x7e\x00\x7e") },
        { 65535,   WS_OP_TEXT,   false, S("\x81\x7e\xff\xff") },
        { 65536,   WS_OP_TEXT,   false, S("\x81\x7f\0\0\0\0\0\x01\0\0") },
        { 1 << 30, WS_OP_TEXT,   false, S("\x81\x7f\0\0\0\0\x40\0\0\0") },
        { 3,       WS_OP_PONG,   false, S("\x8a\x03") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        uint8_t head[WS_MAX_HEAD];
        size_t size = ws_head_write(head, c->op, c->payload, c->is_compressed);

        CHECK_STR(((struct str){ (const char *)head, size }), c->head);
        CHECK_INT(ws_head_size(c->payload), size);
    }
}

TEST(frames_are_written_whole_or_not_at_all)
{
    struct buf out;

    buf_init(&out, 16);
    ws_frame_write(&out, WS_OP_TEXT, S("Hello"));
    CHECK_STR(buf_str(&out), S("\x81\x05Hello"));
    ws_frame_write(&out, WS_OP_TEXT, S("Hello, all"));
    CHECK(out.is_full);
    CHECK_STR(buf_str(&out), S("\x81\x05Hello"));
    buf_clear(&out);
    ws_frame_write_masked(&out, WS_OP_TEXT, S("much too long"), 1);
    CHECK(out.is_full);
    CHECK_INT(out.len, 0);
    buf_done(&out);
}

TEST(the_masked_hello_of_the_rfc_is_written) /* RFC 6455 5.7 */
{
    static const uint8_t mask_bytes[4] = { 0x37, 0xfa, 0x21, 0x3d };
    struct buf out;
    uint32_t mask;

    memcpy(&mask, mask_bytes, 4);
    buf_init(&out, 100);
    ws_frame_write_masked(&out, WS_OP_TEXT, S("Hello"), mask);
    CHECK_STR(buf_str(&out), S("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"));
    buf_clear(&out);
    ws_frame_write_masked(&out, WS_OP_PING, (struct str){}, mask);
    CHECK_STR(buf_str(&out), S("\x89\x80\x37\xfa\x21\x3d"));
    buf_done(&out);
}

TEST(close_frames_carry_code_and_reason)
{
    struct buf out;

    buf_init(&out, 1000);
    ws_close_write(&out, WS_CODE_NORMAL, S("bye"));
    CHECK_STR(buf_str(&out), S("\x88\x05\x03\xe8"
                               "bye"));
    buf_clear(&out);
    ws_close_write(&out, WS_CODE_NONE, S("never said"));
    CHECK_STR(buf_str(&out), S("\x88\x00"));
    buf_clear(&out);
    ws_close_write(&out, WS_CODE_SLOW, (struct str){});
    CHECK_STR(buf_str(&out), S("\x88\x02\x0f\xa8"));
    buf_done(&out);
}

TEST(a_long_reason_is_cut_between_characters)
{
    static const char euro[3] = { '\xe2', '\x82', '\xac' };
    char reason[300];
    struct buf out;

    buf_init(&out, 1000);
    for (size_t shift = 0; shift < 4; shift++) {
        struct str written;

        memset(reason, 'x', sizeof(reason));
        for (size_t i = shift; i + 3 <= sizeof(reason); i += 3)
            memcpy(reason + i, euro, sizeof(euro));
        buf_clear(&out);
        ws_close_write(&out, WS_CODE_POLICY, (struct str){ reason, 255 + shift });
        written = str_slice(buf_str(&out), 4, out.len);
        CHECK_INT((uint8_t)out.ptr[1], written.len + 2);
        CHECK(written.len <= WS_MAX_CONTROL - 2);
        CHECK(written.len > WS_MAX_CONTROL - 2 - 3);
        CHECK(utf8_is_valid(written));
    }
    buf_done(&out);
}

TEST(close_codes_are_valid_as_registered)
{
    static const struct {
        uint16_t first, last;
    } valid[] = { { 1000, 1003 }, { 1007, 1014 }, { 3000, 4999 } };

    for (uint32_t code = 0; code <= UINT16_MAX; code++) {
        bool is_valid = false;

        FOR_EACH_CASE(c, valid)
            is_valid |= code >= c->first && code <= c->last;
        if (ws_code_is_valid((uint16_t)code) != is_valid)
            CHECK_INT(code, -1);
    }
}
