/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and pings. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "wire_stage.h"

TEST(texts_go_both_ways)
{
    struct stage s;

    stage_open(&s, NULL);
    CHECK_INT(wire_send(s.wire, S("one")), OK);
    CHECK_INT(wire_send(s.wire, S("")), OK);
    CHECK_INT(wire_events(s.wire), POLLIN | POLLOUT);
    CHECK_STR(far_hear_frames(&s), S("text one\ntext \n"));
    CHECK_INT(wire_events(s.wire), POLLIN);
    far_say_frame(&s, WS_OP_TEXT, S("two"));
    far_say_frame(&s, WS_OP_TEXT,
                  S("thr\xc3\xa9"
                    "e"));
    CHECK_STR(stage_hear_texts(&s, 3), S("text two\ntext thr\xc3\xa9"
                                         "e\n"));
    stage_done(&s);
}

TEST(what_a_handler_says_leaves_with_the_same_step)
{
    struct stage s;

    stage_open(&s, NULL);
    s.answers = "yes";
    far_say_frame(&s, WS_OP_TEXT, S("a"));
    far_say_frame(&s, WS_OP_TEXT, S("b"));
    (void)stage_hear_wire(&s);
    CHECK_INT(wire_events(s.wire), POLLIN);
    far_listen(&s);
    CHECK_STR(far_hear_frames(&s), S("text yes\ntext yes\n"));
    stage_done(&s);
}

TEST(masks_are_never_the_same)
{
    struct stage s;
    struct str bytes;

    stage_open(&s, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_INT(wire_send(s.wire, S("same")), OK);
    far_hear_bytes(&s, 30);
    bytes = buf_str(&s.heard);
    CHECK_INT(bytes.len, 30);
    CHECK(!str_eq(str_slice(bytes, 0, 10), str_slice(bytes, 10, 20)));
    CHECK(!str_eq(str_slice(bytes, 10, 20), str_slice(bytes, 20, 30)));
    stage_done(&s);
}

TEST(messages_arrive_however_they_are_cut)
{
    static const char frames[] = "\x81\x05hello\x01\x02wo\x89\x01?\x80\x03rld\x8a\x01!";

    for (size_t cut = 1; cut < sizeof(frames) - 1; cut++) {
        struct stage s;
        struct str bytes = { frames, sizeof(frames) - 1 };

        stage_open(&s, NULL);
        far_say(&s, str_slice(bytes, 0, cut));
        stage_step(&s);
        far_say(&s, str_slice(bytes, cut, bytes.len));
        CHECK_STR(far_hear_frames(&s), S("pong ?\n"));
        CHECK_STR(stage_hear_texts(&s, 3), S("text hello\ntext world\n"));
        stage_done(&s);
    }
}

TEST(a_big_message_arrives_and_a_bigger_one_ends_it)
{
    struct stage s;
    struct buf big;

    stage_open(&s, NULL);
    buf_init(&big, 4 * MIB);
    while (big.len < MIB)
        buf_putc(&big, 'x');
    wire_welcome(s.wire, MIB - 1); /* less than it was: nothing changes */
    s.is_quiet = true;
    s.texts = 0;
    far_say_frame(&s, WS_OP_TEXT, buf_str(&big));
    for (int i = 0; i < 100 && !s.texts; i++)
        stage_step(&s);
    CHECK_INT(s.texts, 1);
    buf_putc(&big, 'x');
    far_say(&s, S("\x81\x7f\0\0\0\0\0\x10\0\x01"));
    CHECK_STR(stage_hear_wire(&s),
              S("broken: the server broke the protocol: message too big\n"));
    CHECK_STR(far_hear_frames(&s), S("close 1009 message too big\n"));
    far_hang_up(&s);
    s.now_ms += 1000;
    far_accept(&s, S(""));
    CHECK_STR(stage_hear_wire(&s), S("open\n"));
    wire_welcome(s.wire, MIB + 1);
    far_say_frame(&s, WS_OP_TEXT, buf_str(&big));
    for (int i = 0; i < 100 && s.texts < 2; i++)
        stage_step(&s);
    CHECK_INT(s.texts, 2);
    buf_done(&big);
    stage_done(&s);
}

TEST(what_breaks_the_protocol_ends_the_connection)
{
    static const struct {
        struct str bytes, told, close;
    } cases[] = {
        { S("\x81\x02\xff\xff"), S("text is not UTF-8"), S("close 1007 ") },
        { S("\x82\x01x"), S("binary message"), S("close 1003 ") },
        { S("\x81\x81\0\0\0\0x"), S("server frame with a mask"), S("close 1002 ") },
        { S("\xc1\x01x"), S("reserved bit set"), S("close 1002 ") },
        { S("\x83\x01x"), S("unknown opcode"), S("close 1002 ") },
        { S("\x80\x01x"), S("continuation of no message"), S("close 1002 ") },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;
        struct buf expected;

        stage_open(&s, NULL);
        buf_init(&expected, 200);
        far_say(&s, c->bytes);
        buf_putf(&expected, "broken: the server broke the protocol: " STR_FMT "\n",
                 STR_ARG(c->told));
        CHECK_STR(stage_hear_wire(&s), buf_str(&expected));
        CHECK(str_starts(far_hear_frames(&s), c->close));
        buf_done(&expected);
        stage_done(&s);
    }
}

TEST(a_step_takes_its_share_and_is_due_at_once)
{
    enum { SHARE_BYTES = 4 * 64 * 1024 };
    struct stage s;
    size_t count = 1;

    stage_open(&s, NULL);
    stage_widen(&s);
    s.is_quiet = true;
    for (size_t all = 0; all <= SHARE_BYTES; all += 1004, count++) {
        static const char text[1000] = "";

        far_say_frame(&s, WS_OP_TEXT, (struct str){ text, sizeof(text) });
    }
    stage_await(&s, SHARE_BYTES + 1);
    wire_step(s.wire, s.now_ms);
    CHECK(s.texts > 200 && s.texts < count);
    CHECK_INT(wire_due_ms(s.wire), 0);
    wire_step(s.wire, s.now_ms);
    CHECK_INT(s.texts, count);
    CHECK(wire_due_ms(s.wire) > s.now_ms);
    stage_done(&s);
}

TEST(a_full_outbox_is_told_and_empties_again)
{
    static char text[100'000];
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;
    size_t sent = 0;

    memset(text, 'x', sizeof(text));
    settings.outbox_bytes = MIB;
    stage_open(&s, &settings);
    while (wire_send(s.wire, (struct str){ text, sizeof(text) }) == OK && sent < 1000)
        sent++;
    CHECK(sent >= 10 && sent < 1000);
    CHECK_INT(wire_send(s.wire, (struct str){ text, sizeof(text) }), ERR_TOO_BIG);
    far_hear_bytes(&s, sent * (sizeof(text) + 14));
    CHECK_INT(s.heard.len, sent * (sizeof(text) + 14));
    CHECK_INT(wire_events(s.wire), POLLIN);
    CHECK_INT(wire_send(s.wire, (struct str){ text, sizeof(text) }), OK);
    stage_done(&s);
}

TEST(what_waits_for_long_arrives_in_order)
{
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;
    struct str bytes;
    unsigned sent = 0, heard = 0;
    char text[600];

    settings.outbox_bytes = 300'000;
    stage_open(&s, &settings);
    memset(text, '.', sizeof(text));
    for (int round = 0; round < 60; round++) {
        for (;;) {
            (void)snprintf(text, sizeof(text), "%06u", sent);
            if (wire_send(s.wire, (struct str){ text, sizeof(text) - sent % 100 }))
                break;
            sent++;
        }
        far_hear_bytes(&s, s.heard.len + 100'000);
    }
    for (int i = 0; i < 200 && wire_events(s.wire) & POLLOUT; i++)
        far_hear_bytes(&s, s.heard.len + 1);
    for (int i = 0; i < 10; i++)
        far_listen(&s);
    bytes = buf_str(&s.heard);
    for (struct ws_event ev = ws_decode(&s.decoder, &bytes); ev.type == WS_MESSAGE;
         ev = ws_decode(&s.decoder, &bytes)) {
        char number[8];

        ws_unmask(text, ev.body.ptr, ev.body.len, ev.mask);
        (void)snprintf(number, sizeof(number), "%06u", heard);
        CHECK_INT(memcmp(text, number, 6), 0);
        CHECK_INT(ev.body.len, sizeof(text) - heard % 100);
        heard++;
    }
    CHECK_INT(heard, sent);
    CHECK(sent > 5000);
    stage_done(&s);
}

/* --- pings --- */

TEST(a_fence_is_a_ping_behind_what_was_said)
{
    struct stage s;

    stage_open(&s, NULL);
    CHECK_INT(wire_send(s.wire, S("a")), OK);
    wire_fence(s.wire, 1);
    CHECK_INT(wire_send(s.wire, S("b")), OK);
    wire_fence(s.wire, 2);
    CHECK_STR(far_hear_frames(&s), S("text a\ntext b\nping 0000000000000002\n"));
    wire_fence(s.wire, 3);
    CHECK(wire_events(s.wire) & POLLOUT);
    CHECK_STR(far_hear_frames(&s), S("ping 0000000000000003\n"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x02"));
    CHECK_STR(stage_hear_wire(&s), S("fence 2\n"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x02"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x04"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x01"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\x03"));
    far_say_frame(&s, WS_OP_PONG, S(""));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x03"));
    CHECK_STR(stage_hear_wire(&s), S("fence 3\n"));
    stage_done(&s);
}

TEST(fences_do_not_outlive_the_connection)
{
    struct stage s;

    stage_open(&s, NULL);
    wire_fence(s.wire, 5);
    CHECK_STR(far_hear_frames(&s), S("ping 0000000000000005\n"));
    wire_fence(s.wire, 6);
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s), S("broken: the connection was lost\n"));
    wire_fence(s.wire, 7);
    s.now_ms += 1000;
    far_accept(&s, S("\x8a\x08\0\0\0\0\0\0\0\x05\x81\x01x"));
    CHECK_STR(stage_hear_wire(&s), S("open\ntext x\n"));
    CHECK_INT(wire_send(s.wire, S("a")), OK);
    CHECK_STR(far_hear_frames(&s), S("text a\n"));
    stage_done(&s);
}

TEST(pings_are_answered_but_not_without_end)
{
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;
    size_t all;

    settings.outbox_bytes = 10'000;
    stage_open(&s, &settings);
    far_say_frame(&s, WS_OP_PING, S("who"));
    CHECK_STR(far_hear_frames(&s), S("pong who\n"));
    s.is_quiet = true;
    for (int i = 0; i < 200'000; i++)
        far_say_frame(&s, WS_OP_PING,
                      S("................................................"
                        "................................................"));
    far_say_frame(&s, WS_OP_TEXT, S("end"));
    s.texts = 0;
    for (int i = 0; i < 1000 && !s.texts; i++)
        stage_step(&s);
    CHECK_INT(s.texts, 1);
    for (size_t before = 1; before != s.heard.len;) {
        before = s.heard.len;
        far_hear_bytes(&s, 1);
        far_listen(&s);
    }
    all = s.heard.len;
    CHECK(all > 0 && all < (size_t)200'000 * 102);
    CHECK(wire_is_open(s.wire));
    stage_done(&s);
}

/* Fills the outbox, and what there is for control frames, as far as that goes. */
static void fill(struct stage *s, struct str text)
{
    for (int i = 0; i < STAGE_STEPS; i++)
        if (wire_send(s->wire, text) == OK)
            stage_step(s);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5000; i++)
            far_say_frame(s, WS_OP_PING, S("."));
        for (int i = 0; i < 10; i++)
            stage_step(s);
    }
}

TEST(there_is_always_room_for_a_farewell)
{
    static char text[10'000];
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;
    size_t before;

    memset(text, 'x', sizeof(text));
    settings.outbox_bytes = sizeof(text);
    stage_open(&s, &settings);
    fill(&s, (struct str){ text, sizeof(text) });
    wire_close(s.wire);
    do {
        before = s.heard.len;
        for (int i = 0; i < 3; i++)
            stage_step(&s);
        far_listen(&s);
    } while (s.heard.len != before || wire_events(s.wire) & POLLOUT);
    CHECK(s.heard.len > sizeof(text));
    CHECK_INT((uint8_t)s.heard.ptr[s.heard.len - 8], 0x88);
    CHECK_INT((uint8_t)s.heard.ptr[s.heard.len - 7], 0x82);
    stage_done(&s);
}

TEST(silence_is_asked_and_then_taken_for_death)
{
    struct stage s;

    stage_open(&s, NULL);
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 30'000);
    s.now_ms += 30'000;
    CHECK_STR(far_hear_frames(&s), S("ping \n"));
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 30'000);
    far_say_frame(&s, WS_OP_PONG, S(""));
    for (int i = 0; i < 5; i++)
        stage_step(&s);
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 30'000);
    s.now_ms += 30'000;
    CHECK_STR(far_hear_frames(&s), S("ping \n"));
    s.now_ms += 29'999;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S(""));
    s.now_ms += 1;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S("broken: nothing was heard for 60000 ms\n"));
    stage_done(&s);
}

TEST(silence_of_one_that_does_not_read_either_ends_as_well)
{
    static char text[10'000];
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;

    memset(text, 'x', sizeof(text));
    settings.outbox_bytes = sizeof(text);
    stage_open(&s, &settings);
    fill(&s, (struct str){ text, sizeof(text) });
    s.now_ms += 30'000;
    stage_step(&s);
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 30'000);
    s.now_ms += 30'000;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S("broken: nothing was heard for 60000 ms\n"));
    stage_done(&s);
}

TEST(who_slept_asks_before_giving_up)
{
    struct stage s;

    stage_open(&s, NULL);
    s.now_ms += 10'000'000;
    CHECK_STR(far_hear_frames(&s), S("ping \n"));
    CHECK(wire_is_open(s.wire));
    s.now_ms += 10'000'000;
    far_say_frame(&s, WS_OP_PONG, S(""));
    stage_step(&s);
    CHECK(wire_is_open(s.wire));
    stage_done(&s);
}
