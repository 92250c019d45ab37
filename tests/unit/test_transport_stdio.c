/* SPDX-License-Identifier: Apache-2.0 */
/* A session with a server on its standard streams; the servers are shell scripts. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "harness.h"
#include "loop/loop.h"
#include "mcp/session.h"
#include "transport/stdio.h"

/* A sanitizer reserves more than any server needs. */
#define PLENTY ((size_t)1 << 46)

enum { PATIENCE_MS = 20'000, MAX_MESSAGE = 256 << 10, MAX_WAITING = 128 << 10 };

struct stage {
    struct loop *loop;
    struct spawner *spawner;
    struct spawn *spawn;
    struct stdio *stdio;
    struct mcp_session *session;
    struct buf told; /* what came, a word for each */
    bool is_ready, has_session_ended, has_ended, frees_inside;
    struct child_end end;
};

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    struct stage *s = user;

    (void)facts;
    s->is_ready = true;
    buf_put(&s->told, S("ready "));
}

static void on_session_end(void *user, enum mcp_end end, const char *why)
{
    struct stage *s = user;

    (void)end;
    s->has_session_ended = true;
    buf_putf(&s->told, "session(%s) ", why);
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    struct stage *s = user;

    (void)call;
    buf_putf(&s->told, STR_FMT "[%zu] ", STR_ARG(message->method), message->text.len);
}

static void on_question(void *, struct mcp_question *)
{
}

static void on_due(void *)
{
}

static const struct mcp_session_ops session_ops = {
    on_ready, on_session_end, on_notification, on_question, on_question, on_due, NULL,
};

static void on_started(void *user, pid_t pid, int)
{
    struct stage *s = user;

    CHECK(pid > 0);
    buf_put(&s->told, S("started "));
}

static void on_log(void *user, struct str line)
{
    struct stage *s = user;

    buf_putf(&s->told, "log(" STR_FMT ":%zu) ", STR_ARG(str_slice(line, 0, 10)),
             line.len);
}

static void on_noise(void *user, struct str line)
{
    struct stage *s = user;

    buf_putf(&s->told, "noise(" STR_FMT ") ", STR_ARG(line));
    if (!s->frees_inside)
        return;
    mcp_session_free(s->session);
    stdio_free(s->stdio);
    s->session = NULL;
    s->stdio = NULL;
}

static void on_ended(void *user, const struct child_end *end)
{
    struct stage *s = user;

    CHECK(!s->has_ended);
    s->has_ended = true;
    s->end = *end;
    buf_put(&s->told, S("ended"));
}

static const struct stdio_ops stdio_ops = { on_started, on_log, on_noise, on_ended };

static void open_session(struct stage *s)
{
    struct mcp_session_settings settings = { .name = S("test"),
                                             .version = S("1"),
                                             .era = ERA_LEGACY,
                                             .open_ms = PATIENCE_MS,
                                             .call_ms = PATIENCE_MS,
                                             .call_max_ms = PATIENCE_MS,
                                             .max_calls = 64,
                                             .max_questions = 8,
                                             .max_depth = 64,
                                             .max_message = MAX_MESSAGE };

    s->session = mcp_session_new(&settings, stdio_carrier(s->stdio), &session_ops, s,
                                 loop_now_ms(s->loop));
}

static void stage_open(struct stage *s, const char *script)
{
    struct permit permit = { .level = SANDBOX_OFF,
                             .network = NETWORK_ANY,
                             .memory = PLENTY };
    struct str words[] = { S("/bin/sh"), S("-c"), str_of(script) };
    struct sandbox_command command = { words, 3, S("/") };
    struct stdio_settings settings = { .max_message = MAX_MESSAGE,
                                       .max_waiting = MAX_WAITING,
                                       .leave_ms = 100,
                                       .term_ms = 100 };
    struct sandbox_plan *plan = NULL;
    char *why = NULL;

    (void)signal(SIGPIPE, SIG_IGN);
    *s = (struct stage){ .loop = loop_new() };
    buf_init(&s->told, 1 << 20);
    CHECK_INT(spawner_open(s->loop, &s->spawner), OK);
    s->spawn = spawn_new(s->spawner, s->loop);
    CHECK_INT(sandbox_plan_make(&permit, &command, &plan, &why), OK);
    free(why);
    settings.plan = plan;
    s->stdio = stdio_open(s->spawn, s->loop, &settings, &stdio_ops, s);
    sandbox_plan_free(plan);
    open_session(s);
}

static void stage_close(struct stage *s)
{
    mcp_session_free(s->session);
    stdio_free(s->stdio);
    loop_turn(s->loop, 0);
    spawn_free(s->spawn);
    spawner_close(s->spawner);
    loop_free(s->loop);
    buf_done(&s->told);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void turn_until(struct stage *s, const bool *flag)
{
    uint64_t until = clock_mono_ms() + PATIENCE_MS;

    while (!*flag && clock_mono_ms() < until)
        loop_turn(s->loop, 50);
    CHECK(*flag);
}

#define HELLO                                                                         \
    "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"    \
    "\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"sh\",\"version\":" \
    "\"1\"}}}'; read x; "
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"

TEST(what_a_server_says_comes_in_its_order_and_its_end_last)
{
    static const struct {
        const char *script, *told;
    } cases[] = {
        /* The last words lie in the pipe when it has gone, and count. */
        { HELLO "echo '" NOTE "'; exit 0",
          "started ready notifications/tools/list_changed[61] session(it ended with code 0) "
          "ended" },
        /* A last line without an end is one. */
        { HELLO "printf '" NOTE "'; exit 0",
          "started ready notifications/tools/list_changed[61] session(it ended with code 0) "
          "ended" },
        { HELLO "echo hello; echo; echo '" NOTE "'; kill -9 $$",
          "started ready noise(hello) notifications/tools/list_changed[61] session(it "
          "was ended by signal 9 (Killed)) ended" },
        /* In pieces, and with the line ends of others. */
        { HELLO "printf '{\"jsonrpc\":\"2.0\",'; sleep 0.05; printf '\"method\":"
                "\"notifications/tools/list_changed\"}\\r\\nx\\r\\n'; exit 0",
          "started ready notifications/tools/list_changed[61] noise(x) session(it ended "
          "with code 0) ended" },
        { HELLO "exec >&-; exec sleep 1000",
          "started ready session(it closed its output) ended" },
        { "exit 1", "started session(it ended with code 1) ended" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;

        stage_open(&s, c->script);
        turn_until(&s, &s.has_ended);
        CHECK_STR(buf_str(&s.told), str_of(c->told));
        stage_close(&s);
    }
}

/* Longer than the receive buffer and a pipe. */
TEST(a_message_may_be_as_long_as_the_limit)
{
    struct stage s;

    stage_open(&s, HELLO "printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                         "tools/list_changed\",\"params\":{\"a\":\"';"
                         "head -c 262065 /dev/zero | tr '\\0' x; echo '\"}}'; read x");
    while (!strchr(buf_cstr(&s.told), '[') && !s.has_session_ended)
        loop_turn(s.loop, 1000);
    CHECK_STR(buf_str(&s.told),
              S("started ready notifications/tools/list_changed[262144] "));
    stage_close(&s);
}

TEST(a_message_longer_than_the_limit_ends_the_server)
{
    struct stage s;

    stage_open(&s, HELLO "trap '' TERM; while :; do printf "
                         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
    turn_until(&s, &s.has_ended);
    CHECK_STR(buf_str(&s.told), S("started ready session(its message is longer than "
                                  "262144 bytes) ended"));
    CHECK_INT(s.end.type, CHILD_KILLED);
    stage_close(&s);
}

TEST(standard_error_goes_to_the_log_by_lines)
{
    struct stage s;

    stage_open(&s, "echo one >&2; head -c 10000 /dev/zero | tr '\\0' y >&2; exit 0");
    turn_until(&s, &s.has_ended);
    CHECK_STR(buf_str(&s.told),
              S("started log(one:3) log(yyyyyyyyyy:8192) "
                "log(yyyyyyyyyy:1808) session(it ended with code 0) ended"));
    stage_close(&s);
}

TEST(closing_ends_its_input_then_asks_then_kills)
{
    static const struct {
        const char *script;
        enum child_exit type;
        int code;
    } cases[] = {
        { HELLO "read x; exit 5", CHILD_EXITED, 5 },
        { HELLO "trap 'exit 6' TERM; while :; do sleep 0.01; done", CHILD_EXITED, 6 },
        { HELLO "trap '' TERM; while :; do sleep 0.01; done", CHILD_KILLED, 9 },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;

        stage_open(&s, c->script);
        turn_until(&s, &s.is_ready);
        loop_turn(s.loop, 0); /* it has read our last message, or will */
        stdio_close(s.stdio);
        turn_until(&s, &s.has_ended);
        CHECK_INT(s.end.type, c->type);
        CHECK_INT(s.end.code, c->code);
        CHECK(s.has_session_ended);
        stage_close(&s);
    }
}

TEST(what_a_server_leaves_unread_is_bounded)
{
    static char body[64 << 10];
    struct parcel parcel = { .text = { body, sizeof(body) } };
    struct stage s;
    enum err err = OK;
    size_t taken = 0;

    memset(body, 'x', sizeof(body));
    stage_open(&s, HELLO "exec sleep 1000");
    turn_until(&s, &s.is_ready);
    while (!err && taken < 64) {
        struct carrier *carrier = stdio_carrier(s.stdio);

        err = carrier->ops->send(carrier, &parcel);
        taken += err == OK;
        loop_turn(s.loop, 0);
    }
    CHECK_INT(err, ERR_OVERLOAD);
    CHECK(taken >= 2 && taken <= 3); /* a pipe of 64 KiB, and what may wait */
    stage_close(&s);
}

TEST(who_does_not_listen_any_more_is_ended)
{
    struct carrier *carrier;
    struct stage s;

    stage_open(&s, HELLO "exec <&-; while :; do sleep 0.01; done");
    turn_until(&s, &s.is_ready);
    turn_until(&s, &s.has_ended);
    carrier = stdio_carrier(s.stdio);
    CHECK_INT(carrier->ops->send(carrier, &(struct parcel){ .text = S("{}") }),
              ERR_CLOSED);
    CHECK_INT(s.end.code, SIGTERM);
    CHECK_STR(buf_str(&s.told), S("started ready session(it closed its input) ended"));
    stage_close(&s);
}

TEST(it_is_known_whether_a_server_read_what_it_was_sent_before_it_ended)
{
    static const struct {
        const char *script;
        bool was_read;
    } cases[] = {
        { "exit 3", false },
        { "exec <&-; exit 3", false },
        { "read x; exit 3", true },
        { "read x; exec <&-; sleep 0.05; exit 3", true },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;

        stage_open(&s, c->script);
        turn_until(&s, &s.has_ended);
        CHECK_INT(s.end.code, 3);
        CHECK_INT(stdio_was_read(s.stdio), c->was_read);
        stage_close(&s);
    }
}

TEST(it_may_be_freed_while_it_speaks)
{
    struct stage s;

    stage_open(&s, "echo noise; echo noise; echo noise >&2; sleep 1000");
    s.frees_inside = true;
    while (s.told.len < sizeof("started noise(noise) ") - 1)
        loop_turn(s.loop, 1000);
    for (int i = 0; i < 3; i++)
        loop_turn(s.loop, 10);
    CHECK_STR(buf_str(&s.told), S("started noise(noise) "));
    stage_close(&s);
}
