/* SPDX-License-Identifier: Apache-2.0 */
/* How it ends, and begins again. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "harness.h"
#include "wire_stage.h"

TEST(a_close_is_answered_and_tells_what_follows)
{
    static const struct {
        uint16_t code;
        struct str reason, told, answer;
        uint64_t wait_ms;
    } cases[] = {
        { 1001, S(""), S("broken: the server closed the connection with 1001\n"),
          S("close 1001 \n"), 0 },
        { 1005, S(""), S("broken: the server closed the connection with 1005\n"),
          S("close 1005 \n"), 0 },
        { 1008, S("the token was revoked"),
          S("over: the server closed the connection with 1008: the token was revoked\n"),
          S("close 1008 \n"), 0 },
        { 4001, S("a\x1b[2J"),
          S("over: the server closed the connection with 4001: a\\u001b[2J\n"),
          S("close 4001 \n"), 0 },
        { 4003, S(""), S("broken: the server closed the connection with 4003\n"),
          S("close 4003 \n"), 60'000 },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;

        stage_open(&s, NULL);
        far_say_close(&s, c->code, c->reason);
        CHECK_STR(stage_hear_wire(&s), c->told);
        CHECK_STR(far_hear_frames(&s), c->answer);
        if (!wire_is_over(s.wire))
            CHECK(wire_due_ms(s.wire) >= s.now_ms + c->wait_ms + 100 &&
                  wire_due_ms(s.wire) <= s.now_ms + c->wait_ms + 200);
        stage_done(&s);
    }
}

TEST(a_connection_that_broke_comes_back_where_it_was)
{
    struct stage s;
    struct str request;

    stage_open(&s, NULL);
    (void)snprintf(s.after, sizeof(s.after), "x 1");
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s), S("broken: the connection was lost\n"));
    CHECK_INT(wire_fd(s.wire), -1);
    CHECK_INT(wire_send(s.wire, S("a")), ERR_AGAIN);
    s.now_ms = wire_due_ms(s.wire) - 1;
    stage_step(&s);
    CHECK_INT(wire_fd(s.wire), -1);
    s.now_ms++;
    request = far_hear_request(&s);
    CHECK(str_starts(
        request, S("GET /ws?topic=lobby&presence=batch&echo=off&after=x%201 HTTP/1.1")));
    far_accept(&s, S(""));
    CHECK_STR(stage_hear_wire(&s), S("open again\n"));
    stage_done(&s);
}

TEST(an_id_that_no_gateway_takes_is_not_resumed_behind)
{
    struct stage s;
    struct wire_settings settings;

    stage_init(&s);
    stage_listen(&s);
    memset(s.after, 'x', 257);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    far_accept(&s, S(""));
    CHECK_STR(stage_hear_wire(&s), S("open\n"));
    stage_done(&s);
}

/* The pause before the attempt that follows a break now. */
static uint64_t pause_after_break(struct stage *s)
{
    far_hang_up(s);
    CHECK_STR(stage_hear_wire(s), S("broken: the connection was lost\n"));
    return wire_due_ms(s->wire) - s->now_ms;
}

static void come_back(struct stage *s)
{
    s->now_ms = wire_due_ms(s->wire);
    far_accept(s, S("\x81\x02hi"));
    CHECK_STR(stage_hear_wire(s), S("open\ntext hi\n"));
}

TEST(pauses_grow_until_a_connection_has_held)
{
    uint64_t longest = 0;
    struct stage s;

    stage_open(&s, NULL);
    for (int i = 0; i < 40; i++) {
        uint64_t pause_ms = pause_after_break(&s);

        CHECK(pause_ms >= 100 && pause_ms <= 1000);
        longest = pause_ms > longest ? pause_ms : longest;
        come_back(&s);
        s.now_ms += 4999;
    }
    CHECK(longest > 200); /* with 37 chances of four in five */
    (void)pause_after_break(&s);
    come_back(&s);
    s.now_ms += 5000;
    CHECK(pause_after_break(&s) <= 200);
    stage_done(&s);
}

TEST(who_connects_once_does_not_come_back)
{
    struct wire_settings settings = stage_settings(S(""));
    struct stage s;

    settings.connects_once = true;
    stage_open(&s, &settings);
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s), S("over: the connection was lost\n"));
    CHECK(wire_is_over(s.wire));
    stage_done(&s);
}

TEST(a_reset_is_told)
{
    struct linger linger = { .l_onoff = 1 };
    struct stage s;

    stage_open(&s, NULL);
    CHECK_INT(setsockopt(s.far, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s),
              S("broken: the connection was lost: Connection reset by peer\n"));
    stage_done(&s);
}

/* --- leaving --- */

TEST(who_leaves_says_all_first_and_waits_for_the_answer)
{
    struct stage s;

    stage_open(&s, NULL);
    CHECK_INT(wire_send(s.wire, S("last")), OK);
    wire_fence(s.wire, 1);
    wire_close(s.wire);
    wire_close(s.wire);
    wire_fence(s.wire, 2);
    CHECK(!wire_is_open(s.wire) && !wire_is_over(s.wire));
    CHECK_INT(wire_send(s.wire, S("too late")), ERR_AGAIN);
    CHECK_STR(far_hear_frames(&s), S("text last\nping 0000000000000001\nclose 1000 \n"));
    far_say_frame(&s, WS_OP_TEXT, S("refused"));
    far_say_frame(&s, WS_OP_PING, S("who"));
    far_say_frame(&s, WS_OP_PONG, S("\0\0\0\0\0\0\0\x01"));
    far_say_close(&s, 1000, S(""));
    for (int i = 0; i < STAGE_STEPS && !wire_is_over(s.wire); i++)
        stage_step(&s);
    CHECK_STR(stage_told(&s), S("text refused\nfence 1\nover: left\n"));
    far_listen(&s);
    CHECK_INT(s.heard.len, 0); /* it was answered before */
    stage_done(&s);
}

TEST(who_leaves_does_not_wait_for_ever)
{
    struct stage s;

    stage_open(&s, NULL);
    wire_close(s.wire);
    CHECK_INT(wire_due_ms(s.wire), 0);
    CHECK_STR(far_hear_frames(&s), S("close 1000 \n"));
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 2000);
    s.now_ms += 1999;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S(""));
    s.now_ms += 1;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S("over: left without an answer\n"));
    stage_done(&s);
}

TEST(who_leaves_is_not_cut_off_while_something_moves)
{
    static char text[MIB];
    struct stage s;
    uint64_t begin_ms;

    stage_open(&s, NULL);
    begin_ms = s.now_ms;
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 3; i++)
        CHECK_INT(wire_send(s.wire, (struct str){ text, sizeof(text) }), OK);
    while (wire_send(s.wire, (struct str){ text, 65536 }) == OK)
        ;
    wire_close(s.wire);
    stage_step(&s);
    for (int i = 0; i < 1000 && !s.told.len; i++) {
        static char part[50'000];

        s.now_ms += 500;
        (void)recv(s.far, part, sizeof(part), MSG_DONTWAIT);
        stage_step(&s);
    }
    CHECK(s.now_ms - begin_ms > 10'000 && s.now_ms - begin_ms <= 31'000);
    CHECK_STR(stage_told(&s), S("over: left without an answer\n"));
    stage_done(&s);
}

TEST(who_leaves_and_is_left_is_over)
{
    struct stage s;

    stage_open(&s, NULL);
    wire_close(s.wire);
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s), S("over: the connection was lost\n"));
    CHECK(wire_is_over(s.wire));
    stage_done(&s);
}

TEST(a_handler_may_leave)
{
    struct stage s;

    stage_open(&s, NULL);
    s.leaves_on_text = true;
    far_say_frame(&s, WS_OP_TEXT, S("a"));
    far_say_frame(&s, WS_OP_TEXT, S("b"));
    CHECK_STR(far_hear_frames(&s), S("close 1000 \n"));
    CHECK_STR(stage_told(&s), S("text a\ntext b\n"));
    stage_done(&s);
}

TEST(who_leaves_before_it_is_open_is_over_at_once)
{
    struct wire_settings settings;
    struct stage s;

    for (int i = 0; i < 3; i++) {
        stage_init(&s);
        stage_listen(&s);
        settings = stage_settings(stage_url(&s));
        stage_wire(&s, &settings);
        if (i > 0)
            wire_step(s.wire, s.now_ms);
        if (i > 1)
            (void)far_hear_request(&s);
        wire_close(s.wire);
        CHECK(!wire_is_over(s.wire));
        CHECK_INT(wire_due_ms(s.wire), 0);
        CHECK_INT(wire_fd(s.wire), -1);
        CHECK_STR(stage_told(&s), S(""));
        stage_step(&s);
        CHECK_STR(stage_told(&s), S("over: left\n"));
        CHECK(wire_is_over(s.wire));
        stage_step(&s);
        CHECK_STR(stage_told(&s), S(""));
        stage_done(&s);
    }
}
