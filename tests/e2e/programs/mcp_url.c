/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with a server behind a URL, driven by lines:
 *
 *     mcp_url URL [auto | legacy | modern]
 *     tool JSON               what tools/list said of the tool that is called next
 *     call METHOD PARAMS      answered by "result N JSON", error, failed or cancelled
 *     cancel N                the Nth call
 *     answer METHOD JSON      what questions of that method get from now on
 *     watch URI
 *     close                   gently: DELETE
 *
 * What the session tells is printed, one line each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fetch/fetch.h"
#include "loop/loop.h"
#include "mcp/session.h"
#include "transport/http.h"

enum { MAX_CALLS = 256, MAX_ANSWERS = 16, MAX_MESSAGE = 4 << 20, A_MINUTE_MS = 60'000 };

struct probe;

struct probe_call {
    struct probe *probe;
    size_t number;
    uint64_t id;
};

struct probe {
    struct loop *loop;
    struct fetch *fetch;
    struct http_carrier *http;
    struct mcp_session *session;
    struct loop_timer due;
    struct loop_fd input;
    struct buf line;
    struct probe_call calls[MAX_CALLS];
    size_t call_count;
    struct {
        char *method, *json;
    } answers[MAX_ANSWERS];
    size_t answer_count;
    char *tool;
};

static void say(const char *word, size_t number, struct str text)
{
    (void)printf("%s %zu " STR_FMT "\n", word, number, STR_ARG(text));
    (void)fflush(stdout);
}

/* --- what the session tells --- */

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    (void)user;
    say("ready", facts->era == ERA_MODERN, facts->version);
}

static void on_end(void *user, enum mcp_end end, const char *why)
{
    (void)user;
    say("end", end, str_of(why));
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    (void)user;
    say("notification", call != 0, message->text);
}

static void on_question(void *user, struct mcp_question *question)
{
    struct probe *probe = user;
    const char *json = NULL;

    say("question", question->call != 0, question->method);
    for (size_t i = 0; i < probe->answer_count; i++)
        if (str_eq(question->method, str_of(probe->answers[i].method)))
            json = probe->answers[i].json;
    if (json)
        mcp_question_answer(probe->session, question, S("result"), str_of(json),
                            loop_now_ms(probe->loop));
    else
        mcp_question_answer(probe->session, question, S("error"),
                            S("{\"code\":-32601,\"message\":\"no\"}"),
                            loop_now_ms(probe->loop));
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    (void)user;
    say("gone", question->call != 0, question->method);
}

static void on_due(void *user)
{
    struct probe *probe = user;
    uint64_t now = loop_now_ms(probe->loop);
    uint64_t due = probe->session ? mcp_session_due_ms(probe->session) : UINT64_MAX;

    if (due != UINT64_MAX)
        loop_timer_set(probe->loop, &probe->due, due > now ? due - now : 0);
}

static void on_tick(struct loop_timer *timer)
{
    struct probe *probe = CONTAINER_OF(timer, struct probe, due);

    mcp_session_tick(probe->session, loop_now_ms(probe->loop));
}

static const struct mcp_session_ops session_ops = {
    on_ready, on_end, on_notification, on_question, on_question_gone, on_due, NULL,
};

static void on_ended(void *user, const char *why)
{
    struct probe *probe = user;

    say("ended", 0, str_of(why));
    loop_stop(probe->loop);
}

static void on_progress(void *user, struct json_span params)
{
    const struct probe_call *call = user;

    say("progress", call->number, params.text);
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    static const char *const words[] = { "result", "error", "failed", "cancelled" };
    const struct probe_call *call = user;

    say(words[reply->type], call->number, reply->json.text);
}

/* --- what the lines want --- */

static void make_call(struct probe *probe, struct str method, struct str params)
{
    struct probe_call *call = &probe->calls[probe->call_count];
    enum err err;

    if (probe->call_count == MAX_CALLS)
        return;
    *call = (struct probe_call){ .probe = probe, .number = probe->call_count++ };
    err = mcp_session_call(
        probe->session,
        &(struct mcp_call){ .method = method,
                            .params = params,
                            .tool = str_of(probe->tool),
                            .ops = { .on_progress = on_progress, .on_done = on_done },
                            .user = call },
        loop_now_ms(probe->loop), &call->id);
    free(TAKE(probe->tool));
    if (err)
        say("refused", call->number, str_of(err_name(err)));
}

static void keep_answer(struct probe *probe, struct str method, struct str json)
{
    if (probe->answer_count == MAX_ANSWERS)
        return;
    probe->answers[probe->answer_count].method = str_dup(method);
    probe->answers[probe->answer_count++].json = str_dup(json);
}

static void obey(struct probe *probe, struct str line)
{
    struct str rest = line;
    struct str word = str_cut(&rest, ' ');
    struct str second = str_cut(&rest, ' ');
    uint64_t number;

    if (str_eq(word, S("tool")))
        probe->tool = str_dup(str_slice(line, 5, line.len));
    else if (str_eq(word, S("call")))
        make_call(probe, second, rest);
    else if (str_eq(word, S("answer")))
        keep_answer(probe, second, rest);
    else if (str_eq(word, S("watch")))
        mcp_session_watch(probe->session, &second, 1, loop_now_ms(probe->loop));
    else if (str_eq(word, S("cancel")) && !str_to_u64(second, MAX_CALLS - 1, &number))
        mcp_session_cancel(probe->session, probe->calls[number].id, S("enough"),
                           loop_now_ms(probe->loop));
    else if (str_eq(word, S("close")))
        http_carrier_close(probe->http);
}

static void on_input(struct loop_fd *input, uint32_t events)
{
    struct probe *probe = CONTAINER_OF(input, struct probe, input);
    char bytes[4096];
    ssize_t got = read(input->fd, bytes, sizeof(bytes));
    size_t end;

    (void)events;
    if (got <= 0) {
        loop_fd_remove(probe->loop, input);
        loop_stop(probe->loop);
        return;
    }
    buf_put(&probe->line, (struct str){ bytes, (size_t)got });
    while ((end = str_find(buf_str(&probe->line), '\n', 0)) < probe->line.len) {
        char *line = str_dup(str_slice(buf_str(&probe->line), 0, end));

        buf_drop(&probe->line, end + 1);
        obey(probe, str_of(line));
        free(line);
    }
}

static enum mcp_era era_of(const char *word)
{
    if (strcmp(word, "legacy") == 0)
        return ERA_LEGACY;
    return strcmp(word, "modern") == 0 ? ERA_MODERN : ERA_UNKNOWN;
}

static void begin(struct probe *probe, const char *url, enum mcp_era era)
{
    static const struct http_carrier_ops ops = { on_ended };

    probe->http = http_carrier_open(probe->fetch, probe->loop,
                                    &(struct http_carrier_settings){
                                        .url = url,
                                        .max_message = MAX_MESSAGE,
                                        .max_streams = 64,
                                    },
                                    &ops, probe);
    probe->session = mcp_session_new(
        &(struct mcp_session_settings){ .name = S("mcp_url"),
                                        .version = S("1"),
                                        .era = era,
                                        .has_sampling = true,
                                        .has_elicitation = true,
                                        .has_url_elicitation = true,
                                        .has_roots = true,
                                        .has_tasks = true,
                                        .probe_ms = A_MINUTE_MS,
                                        .open_ms = A_MINUTE_MS,
                                        .call_ms = A_MINUTE_MS,
                                        .call_max_ms = A_MINUTE_MS,
                                        .max_calls = MAX_CALLS,
                                        .max_questions = 64,
                                        .max_depth = 128,
                                        .max_rounds = 10,
                                        .max_message = MAX_MESSAGE },
        http_carrier_of(probe->http), &session_ops, probe, loop_now_ms(probe->loop));
    on_due(probe);
}

static void end(struct probe *probe)
{
    loop_timer_clear(probe->loop, &probe->due);
    mcp_session_free(probe->session);
    http_carrier_free(probe->http);
    fetch_free(probe->fetch);
    loop_turn(probe->loop, 0); /* reaps */
    loop_free(probe->loop);
    buf_done(&probe->line);
    for (size_t i = 0; i < probe->answer_count; i++) {
        free(probe->answers[i].method);
        free(probe->answers[i].json);
    }
    free(probe);
}

int main(int argc, char **argv)
{
    struct probe *probe = xcalloc(1, sizeof(*probe));
    char *why = NULL;

    if (argc < 2)
        return 2;
    probe->loop = loop_new();
    probe->due.on_fire = on_tick;
    probe->input =
        (struct loop_fd){ .fd = STDIN_FILENO, .events = EPOLLIN, .on_ready = on_input };
    buf_init(&probe->line, MAX_MESSAGE);
    if (fetch_new(probe->loop, &probe->fetch, &why)) {
        (void)fprintf(stderr, "%s\n", why);
        return 1;
    }
    begin(probe, argv[1], era_of(argc > 2 ? argv[2] : "auto"));
    if (loop_fd_add(probe->loop, &probe->input))
        return 1;
    loop_run(probe->loop);
    end(probe);
    return 0;
}
