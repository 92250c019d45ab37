/* SPDX-License-Identifier: Apache-2.0 */
/* From a name to an upgrade, or not. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"
#include "wire_stage.h"

/* A label of 64 characters: no name server is asked. */
#define NOBODY "nobodynobodynobodynobodynobodynobodynobodynobodynobodynobodynobo"

TEST(a_wire_asks_for_its_topic_and_hears_what_follows_the_answer)
{
    struct stage s;
    struct str request;
    struct wire_settings settings;

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    CHECK_INT(wire_fd(s.wire), -1);
    CHECK_INT(wire_due_ms(s.wire), 0);
    CHECK_INT(wire_send(s.wire, S("early")), ERR_AGAIN);
    request = far_hear_request(&s);
    CHECK(str_starts(request,
                     S("GET /ws?topic=lobby&presence=batch&echo=off HTTP/1.1\r\n")));
    CHECK(memmem(request.ptr, request.len, "\r\nAuthorization: Bearer t0k\r\n", 29) !=
          NULL);
    CHECK(!wire_is_open(s.wire));
    far_accept(&s, S("\x81\x02hi\x81\x03you"));
    CHECK_STR(stage_hear_wire(&s), S("open\ntext hi\ntext you\n"));
    CHECK(wire_is_open(s.wire));
    CHECK_INT(wire_events(s.wire), POLLIN);
    CHECK(wire_fd(s.wire) >= 0);
    stage_done(&s);
}

TEST(a_refusal_ends_it_or_is_waited_for)
{
    static const struct {
        struct str answer, told;
    } cases[] = {
        { S("HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n"),
          S("over: the server answered 401 Unauthorized\n") },
        { S("HTTP/1.1 403 x\r\nContent-Length: 15\r\n\r\n{\"detail\":\"no\"}"),
          S("over: the server answered 403 Forbidden: no\n") },
        { S("HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n"),
          S("broken: the server answered 503 Service Unavailable\n") },
        { S("HTTP/1.1 101 x\r\n\r\n"),
          S("broken: the server changed to something that is not WebSocket\n") },
        { S("220 mail.example ESMTP\r\n"),
          S("broken: this is no gateway: not an HTTP status line\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;
        struct wire_settings settings;

        stage_init(&s);
        stage_listen(&s);
        settings = stage_settings(stage_url(&s));
        stage_wire(&s, &settings);
        (void)far_hear_request(&s);
        far_say(&s, c->answer);
        CHECK_STR(stage_hear_wire(&s), c->told);
        CHECK_INT(wire_is_over(s.wire), str_starts(c->told, S("over")));
        CHECK_INT(wire_fd(s.wire), -1);
        CHECK_INT(wire_events(s.wire), 0);
        if (wire_is_over(s.wire))
            CHECK(wire_due_ms(s.wire) == UINT64_MAX);
        else
            CHECK(wire_due_ms(s.wire) >= s.now_ms + 100 &&
                  wire_due_ms(s.wire) <= s.now_ms + 200);
        stage_done(&s);
    }
}

TEST(a_server_that_says_nothing_ends_the_upgrade)
{
    struct stage s;
    struct wire_settings settings;

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    (void)far_hear_request(&s);
    far_say(&s, S("HTTP/1.1 101"));
    far_hang_up(&s);
    CHECK_STR(stage_hear_wire(&s),
              S("broken: the server closed the connection without an answer\n"));
    stage_done(&s);
}

TEST(an_answer_without_end_is_judged_by_its_beginning)
{
    struct stage s;
    struct wire_settings settings;
    struct buf answer;

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    (void)far_hear_request(&s);
    buf_init(&answer, MIB);
    for (int i = 0; i < 5; i++) {
        buf_put(&answer, i < 4 ? S("HTTP/1.1 100 x\r\nA: ") : S("HTTP/1.1 403 x\r\nA: "));
        for (int k = 0; k < 11'900; k++)
            buf_putc(&answer, 'a');
        buf_put(&answer, S("\r\n\r\n"));
    }
    while (answer.len < MIB / 8)
        buf_putc(&answer, 'b');
    far_say(&s, buf_str(&answer));
    CHECK_STR(stage_hear_wire(&s), S("over: the server answered 403 Forbidden\n"));
    buf_done(&answer);
    stage_done(&s);
}

TEST(nobody_waits_longer_than_the_time_to_connect)
{
    struct stage s;
    struct wire_settings settings;

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    (void)far_hear_request(&s);
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 10'000);
    s.now_ms += 9999;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S(""));
    s.now_ms += 1;
    stage_step(&s);
    CHECK(str_starts(stage_told(&s), S("broken: cannot connect to 127.0.0.1:")));
    stage_done(&s);
}

TEST(whatever_else_is_said_the_welcome_must_come_in_time)
{
    struct stage s;
    struct wire_settings settings;

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    stage_wire(&s, &settings);
    s.is_unmoved = true;
    far_accept(&s, S(""));
    CHECK_STR(stage_hear_wire(&s), S("open\n"));
    CHECK_INT(wire_due_ms(s.wire), s.now_ms + 10'000);
    far_say_frame(&s, WS_OP_TEXT, S("x"));
    CHECK_STR(stage_hear_wire(&s), S("text x\n"));
    s.now_ms += 10'000;
    stage_step(&s);
    CHECK_STR(stage_told(&s), S("broken: no welcome came in time\n"));
    stage_done(&s);
}

TEST(settings_that_cannot_be_right_are_refused)
{
    static const struct {
        struct str url, topic, ca_file, why;
    } cases[] = {
        { S("ftp://x"), S("a"), S(""),
          S("the URL begins with none of ws://, wss://, http://, https://, unix:") },
        { S("ws://x"), S(""), S(""), S("no topic is given") },
        { S("wss://x"), S("a"), S("/nowhere.pem"),
          S("/nowhere.pem: No such file or directory") },
    };

    FOR_EACH_CASE(c, cases) {
        struct wire_settings settings = stage_settings(c->url);
        struct wire *wire = NULL;
        char *why = NULL;

        settings.topic = c->topic;
        settings.ca_file = c->ca_file;
        CHECK_INT(wire_new(&settings, &stage_ops, NULL, &wire, &why), ERR_INVALID);
        CHECK(wire == NULL);
        CHECK_STR(str_of(why), c->why);
        free(why);
    }
}

/* --- names and addresses --- */

static void check_name(struct str host, bool in_thread)
{
    struct stage s;
    struct wire_settings settings;
    char url[64];

    stage_init(&s);
    stage_listen(&s);
    (void)snprintf(url, sizeof(url), "ws://" STR_FMT ":%d", STR_ARG(host), s.port);
    settings = stage_settings(str_of(url));
    settings.resolves_in_thread = in_thread;
    stage_wire(&s, &settings);
    far_accept(&s, S(""));
    CHECK_STR(stage_hear_wire(&s), S("open\n"));
    stage_done(&s);
}

/* Where localhost is ::1 as well, nobody listens there: the next address is tried. */
TEST(names_are_resolved_here_or_in_a_thread)
{
    check_name(S("localhost"), false);
    check_name(S("localhost"), true);
    check_name(S("127.0.0.1"), true);
}

TEST(a_name_that_nobody_has_is_told)
{
    for (int in_thread = 0; in_thread < 2; in_thread++) {
        struct wire_settings settings = stage_settings(S("ws://" NOBODY ":1"));
        struct stage s;

        stage_init(&s);
        settings.resolves_in_thread = in_thread;
        settings.connects_once = true;
        stage_wire(&s, &settings);
        CHECK(str_starts(stage_hear_wire(&s), S("over: cannot find " NOBODY ":1: ")));
        stage_done(&s);
    }
}

TEST(a_wire_may_be_freed_while_its_name_is_asked_for)
{
    for (int i = 0; i < 20; i++) {
        struct wire_settings settings = stage_settings(S("ws://" NOBODY ":1"));
        struct stage s;

        stage_init(&s);
        settings.resolves_in_thread = true;
        stage_wire(&s, &settings);
        wire_step(s.wire, s.now_ms);
        if (i % 2)
            wire_close(s.wire);
        stage_done(&s);
    }
}

TEST(a_port_that_nobody_listens_on_is_told)
{
    struct stage s;
    struct wire_settings settings;
    char expected[100];

    stage_init(&s);
    stage_listen(&s);
    settings = stage_settings(stage_url(&s));
    (void)close(s.listener);
    s.listener = -1;
    stage_wire(&s, &settings);
    (void)snprintf(expected, sizeof(expected),
                   "broken: cannot connect to 127.0.0.1:%d: Connection refused\n",
                   s.port);
    CHECK_STR(stage_hear_wire(&s), str_of(expected));
    stage_done(&s);
}

TEST(a_socket_of_this_machine_will_do)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct wire_settings settings;
    struct stage s;
    char url[120];

    stage_init(&s);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/moot-wire-%d.sock",
                   getpid());
    (void)unlink(address.sun_path);
    s.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(s.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_INT(listen(s.listener, 8), 0);
    (void)snprintf(url, sizeof(url), "unix:%s", address.sun_path);
    settings = stage_settings(str_of(url));
    stage_wire(&s, &settings);
    far_accept(&s, S("\x81\x02hi"));
    CHECK_STR(stage_hear_wire(&s), S("open\ntext hi\n"));
    stage_done(&s);
    (void)unlink(address.sun_path);
}
