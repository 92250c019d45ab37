/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiny MCP server on its standard streams, for tests of those that run one.
 *
 *     mcp_echo [--legacy | --modern | --exit-on-probe] [--ledger FILE]
 *
 * Without a flag it speaks both eras; --exit-on-probe: legacy, and ends when asked what
 * it does not know before `initialize`. Each call that it begins is a line in the ledger:
 * its argument "text". Its tools:
 *
 *     echo {text}      says the text               pid            its process
 *     slow {ms}        says "done" later           silent         never answers
 *     crash            ends instead of answering   fork           starts a process in a
 *     noise {text}     on both outputs, first          session of its own, says its pid
 *     ask {message}    asks the caller, says       change         another description of
 *                      what he answered                echo, and tells that
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "json/json.h"

enum { MESSAGE = 8 << 20, LATER = 1024 };

static const struct str modern_version = S("2026-07-28");

enum speaks { SPEAKS_BOTH, SPEAKS_LEGACY, SPEAKS_MODERN, SPEAKS_UNPROBED };

/* An answer that is not due yet, or waits for one itself. */
struct later {
    char *id;
    bool is_modern;
    uint64_t due_ms;   /* 0: not by time */
    uint64_t question; /* 0: none */
};

struct server {
    enum speaks speaks;
    FILE *ledger;
    struct arena arena;
    struct buf in, out;
    bool is_open; /* initialized */
    unsigned changes;
    uint64_t questions;
    struct later later[LATER];
    size_t later_count;
};

struct request {
    struct server *server;
    struct str id; /* as it stands */
    struct str method;
    const struct json *params, *arguments;
    bool is_modern;
};

static void send_line(struct server *s)
{
    size_t at = 0;

    buf_putc(&s->out, '\n');
    while (at < s->out.len) {
        ssize_t written = write(STDOUT_FILENO, s->out.ptr + at, s->out.len - at);

        if (written < 0)
            exit(EXIT_FAILURE);
        at += (size_t)written;
    }
    buf_clear(&s->out);
}

/* --- answers --- */

static void open_result(struct server *s, struct str id, bool is_modern)
{
    buf_putf(&s->out, "{\"jsonrpc\":\"2.0\",\"id\":" STR_FMT ",\"result\":{",
             STR_ARG(id));
    if (is_modern)
        buf_put(&s->out, S("\"resultType\":\"complete\","));
}

static void close_result(struct server *s)
{
    if (s->out.ptr[s->out.len - 1] == ',')
        s->out.len--;
    buf_put(&s->out, S("}}"));
    send_line(s);
}

static void say_text(struct server *s, struct str id, bool is_modern, struct str text)
{
    struct json_writer w;

    open_result(s, id, is_modern);
    buf_put(&s->out, S("\"content\":[{\"type\":\"text\",\"text\":"));
    json_write_init(&w, &s->out);
    json_str(&w, text);
    buf_put(&s->out, S("}]"));
    close_result(s);
}

static void say(const struct request *r, struct str text)
{
    say_text(r->server, r->id, r->is_modern, text);
}

static void say_error(const struct request *r, int code, const char *why)
{
    buf_putf(&r->server->out,
             "{\"jsonrpc\":\"2.0\",\"id\":" STR_FMT
             ",\"error\":{\"code\":%d,\"message\":\"%s\"}}",
             STR_ARG(r->id), code, why);
    send_line(r->server);
}

static struct later *answer_later(const struct request *r)
{
    struct server *s = r->server;
    struct later *later = &s->later[s->later_count];

    if (s->later_count == LATER) {
        say_error(r, -32603, "too many");
        return NULL;
    }
    s->later_count++;
    *later = (struct later){ .id = str_dup(r->id), .is_modern = r->is_modern };
    return later;
}

static void answer_now(struct server *s, struct later *later, struct str text)
{
    say_text(s, str_of(later->id), later->is_modern, text);
    free(later->id);
    *later = s->later[--s->later_count];
}

/* --- tools --- */

static struct str argument(const struct request *r, const char *name)
{
    return json_text(json_find(r->arguments, str_of(name)));
}

static void tool_echo(const struct request *r)
{
    say(r, argument(r, "text"));
}

static void tool_slow(const struct request *r)
{
    const struct json *ms = json_find(r->arguments, S("ms"));
    struct later *later = answer_later(r);
    uint64_t delay = 0;

    if (ms && str_to_u64(ms->text, 1'000'000, &delay))
        delay = 0;
    if (later)
        later->due_ms = clock_mono_ms() + delay;
}

static void tool_crash(const struct request *)
{
    _exit(42);
}

static void tool_pid(const struct request *r)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", (int)getpid());
    say(r, str_of(text));
}

static void tool_silent(const struct request *)
{
}

static void tool_noise(const struct request *r)
{
    struct str text = argument(r, "text");

    buf_put(&r->server->out, text);
    send_line(r->server);
    fprintf(stderr, STR_FMT "\n", STR_ARG(text));
    say(r, text);
}

static void tool_fork(const struct request *r)
{
    pid_t pid = fork();
    char text[16];

    if (pid == 0) {
        (void)setsid();
        (void)signal(SIGTERM, SIG_IGN);
        for (;;)
            (void)pause();
    }
    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    say(r, str_of(text));
}

static void put_question(struct buf *out, const struct request *r)
{
    struct json_writer w;

    buf_put(out, S("\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\","
                   "\"message\":"));
    json_write_init(&w, out);
    json_str(&w, argument(r, "message"));
    buf_put(out, S(",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
                   "\"name\":{\"type\":\"string\"}}}}"));
}

/* Modern: the call is made again, with the answer. */
static void ask_modern(const struct request *r)
{
    const struct json *answers = json_find(r->params, S("inputResponses"));
    const struct json *answer = json_find(answers, S("who"));
    struct buf *out = &r->server->out;

    if (answer) {
        say(r, answer->raw);
        return;
    }
    buf_putf(out, "{\"jsonrpc\":\"2.0\",\"id\":" STR_FMT, STR_ARG(r->id));
    buf_put(out, S(",\"result\":{\"resultType\":\"input_required\","
                   "\"requestState\":\"state\",\"inputRequests\":{\"who\":{"));
    put_question(out, r);
    buf_put(out, S("}}}}"));
    send_line(r->server);
}

static void tool_ask(const struct request *r)
{
    struct server *s = r->server;
    struct later *later;

    if (r->is_modern) {
        ask_modern(r);
        return;
    }
    later = answer_later(r);
    if (!later)
        return;
    later->question = ++s->questions;
    buf_putf(&s->out, "{\"jsonrpc\":\"2.0\",\"id\":%llu,",
             (unsigned long long)later->question);
    put_question(&s->out, r);
    buf_putc(&s->out, '}');
    send_line(s);
}

static void tool_change(const struct request *r)
{
    struct server *s = r->server;

    s->changes++;
    buf_put(&s->out,
            S("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
    send_line(s);
    say(r, S("changed"));
}

struct tool {
    const char *name, *arguments;
    void (*run)(const struct request *r);
};

#define TEXT_ARGUMENT "\"text\":{\"type\":\"string\"}"
static const struct tool tools[] = {
    { "echo", TEXT_ARGUMENT, tool_echo },
    { "slow", "\"ms\":{\"type\":\"integer\"}", tool_slow },
    { "crash", "", tool_crash },
    { "ask", "\"message\":{\"type\":\"string\"}", tool_ask },
    { "fork", "", tool_fork },
    { "noise", TEXT_ARGUMENT, tool_noise },
    { "pid", "", tool_pid },
    { "silent", "", tool_silent },
    { "change", "", tool_change },
};

/* --- methods --- */

/* Modern: in two pages, of which the second has the cursor that looks like none. */
static void list_tools(const struct request *r)
{
    struct server *s = r->server;
    bool has_cursor = json_find(r->params, S("cursor"));
    bool is_first = r->is_modern && !has_cursor;
    size_t begin = has_cursor ? 1 : 0;
    size_t end = is_first ? 1 : COUNT(tools);

    open_result(s, r->id, r->is_modern);
    if (r->is_modern)
        buf_put(&s->out, S("\"ttlMs\":0,\"cacheScope\":\"private\","));
    if (is_first)
        buf_put(&s->out, S("\"nextCursor\":\"\","));
    buf_put(&s->out, S("\"tools\":["));
    for (size_t i = begin; i < end; i++) {
        buf_putf(&s->out, "%s{\"name\":\"%s\",\"description\":\"%s", i > begin ? "," : "",
                 tools[i].name, tools[i].name);
        if (i == 0 && s->changes)
            buf_putf(&s->out, " %u", s->changes);
        buf_putf(&s->out, "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{%s}}}",
                 tools[i].arguments);
    }
    buf_putc(&s->out, ']');
    close_result(s);
}

static void call_tool(const struct request *r)
{
    struct server *s = r->server;
    struct str name = json_text(json_find(r->params, S("name")));

    if (s->ledger) {
        fprintf(s->ledger, STR_FMT "\n", STR_ARG(argument(r, "text")));
        (void)fflush(s->ledger);
    }
    for (size_t i = 0; i < COUNT(tools); i++)
        if (str_eq(name, str_of(tools[i].name))) {
            tools[i].run(r);
            return;
        }
    say_error(r, -32602, "no such tool");
}

static void initialize(const struct request *r)
{
    struct server *s = r->server;

    s->is_open = true;
    open_result(s, r->id, false);
    buf_put(&s->out, S("\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{"
                       "\"listChanged\":true}},\"serverInfo\":{\"name\":\"mcp_echo\","
                       "\"version\":\"1\"}"));
    close_result(s);
}

static void discover(const struct request *r)
{
    struct server *s = r->server;

    open_result(s, r->id, true);
    buf_put(&s->out,
            S("\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{"
              "\"listChanged\":true}},\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{"
              "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"mcp_echo\","
              "\"version\":\"1\"}}"));
    close_result(s);
}

static void pong(const struct request *r)
{
    open_result(r->server, r->id, false);
    close_result(r->server);
}

enum era { IN_BOTH, IN_LEGACY, IN_MODERN };
static const struct {
    const char *name;
    enum era era;
    void (*answer)(const struct request *r);
} methods[] = {
    { "initialize", IN_LEGACY, initialize },    { "ping", IN_LEGACY, pong },
    { "server/discover", IN_MODERN, discover }, { "tools/list", IN_BOTH, list_tools },
    { "tools/call", IN_BOTH, call_tool },
};

static bool is_spoken(const struct request *r, enum era era)
{
    if (r->is_modern &&
        (r->server->speaks == SPEAKS_LEGACY || r->server->speaks == SPEAKS_UNPROBED))
        return false;
    if (!r->is_modern && r->server->speaks == SPEAKS_MODERN)
        return false;
    return era == IN_BOTH || (era == IN_MODERN) == r->is_modern;
}

static void answer(const struct request *r)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(r->method, str_of(methods[i].name)) && is_spoken(r, methods[i].era)) {
            methods[i].answer(r);
            return;
        }
    if (r->server->speaks == SPEAKS_UNPROBED && !r->server->is_open)
        exit(EXIT_FAILURE);
    say_error(r, -32601, "no such method");
}

/* --- the wire --- */

static void hear_answer(struct server *s, struct str id, const struct json *message)
{
    const struct json *result = json_find(message, S("result"));
    uint64_t number;

    if (!result)
        result = json_find(message, S("error"));
    if (!result || str_to_u64(id, UINT64_MAX, &number))
        return;
    for (size_t i = 0; i < s->later_count; i++)
        if (s->later[i].question == number) {
            answer_now(s, &s->later[i], result->raw);
            return;
        }
}

static void hear(struct server *s, struct str line)
{
    const struct json *message, *id, *meta;

    arena_reset(&s->arena);
    if (json_parse(line, &s->arena, &message, NULL))
        return;
    id = json_find(message, S("id"));
    if (!id)
        return;

    struct request r = { .server = s,
                         .id = id->raw,
                         .method = json_text(json_find(message, S("method"))),
                         .params = json_find(message, S("params")) };

    if (r.method.len == 0) {
        hear_answer(s, r.id, message);
        return;
    }
    meta = json_find(r.params, S("_meta"));
    r.arguments = json_find(r.params, S("arguments"));
    r.is_modern =
        str_eq(json_text(json_find(meta, S("io.modelcontextprotocol/protocolVersion"))),
               modern_version);
    answer(&r);
}

static void hear_lines(struct server *s)
{
    size_t from = 0, end;

    while ((end = str_find(buf_str(&s->in), '\n', from)) < s->in.len) {
        hear(s, str_slice(buf_str(&s->in), from, end));
        from = end + 1;
    }
    buf_drop(&s->in, from);
}

/* Says what is due; how long until the next is. */
static int say_due(struct server *s)
{
    uint64_t now = clock_mono_ms(), next = UINT64_MAX;

    for (size_t i = 0; i < s->later_count;) {
        struct later *later = &s->later[i];

        if (later->due_ms && later->due_ms <= now) {
            answer_now(s, later, S("done"));
            continue;
        }
        if (later->due_ms && later->due_ms < next)
            next = later->due_ms;
        i++;
    }
    return next == UINT64_MAX ? -1 : (int)(next - now);
}

static void serve(struct server *s)
{
    for (;;) {
        struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
        ssize_t got;

        if (poll(&in, 1, say_due(s)) <= 0)
            continue;
        if (buf_reserve(&s->in, 64 << 10))
            exit(EXIT_FAILURE);
        got = read(STDIN_FILENO, s->in.ptr + s->in.len, s->in.size - s->in.len);
        if (got <= 0)
            return;
        s->in.len += (size_t)got;
        hear_lines(s);
    }
}

static void read_flags(struct server *s, int argc, char **argv)
{
    static const char *const names[] = { [SPEAKS_LEGACY] = "--legacy",
                                         [SPEAKS_MODERN] = "--modern",
                                         [SPEAKS_UNPROBED] = "--exit-on-probe" };

    for (int i = 1; i < argc; i++) {
        for (size_t j = SPEAKS_LEGACY; j < COUNT(names); j++)
            if (strcmp(argv[i], names[j]) == 0)
                s->speaks = (enum speaks)j;
        if (strcmp(argv[i], "--ledger") == 0 && i + 1 < argc)
            s->ledger = fopen(argv[++i], "ae");
    }
}

int main(int argc, char **argv)
{
    struct server *s = xcalloc(1, sizeof(*s));

    arena_init(&s->arena, MESSAGE);
    buf_init(&s->in, MESSAGE);
    buf_init(&s->out, MESSAGE);
    read_flags(s, argc, argv);
    serve(s);
    for (size_t i = 0; i < s->later_count; i++)
        free(s->later[i].id);
    if (s->ledger)
        (void)fclose(s->ledger);
    arena_done(&s->arena);
    buf_done(&s->in);
    buf_done(&s->out);
    free(s);
    return EXIT_SUCCESS;
}
