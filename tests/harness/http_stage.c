/* SPDX-License-Identifier: Apache-2.0 */
#include "http_stage.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"

enum { PATIENCE_MS = 20'000 };

/* --- what the session tells --- */

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    struct http_stage *stage = user;

    buf_putf(&stage->told, "ready " STR_FMT "\n", STR_ARG(facts->version));
}

static void on_end(void *user, enum mcp_end end, const char *why)
{
    struct http_stage *stage = user;

    buf_putf(&stage->told, "end %d %s\n", end, why);
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    struct http_stage *stage = user;

    buf_putf(&stage->told, "notification " STR_FMT " %d\n", STR_ARG(message->method),
             call != 0);
}

static void on_question(void *user, struct mcp_question *question)
{
    struct http_stage *stage = user;

    buf_putf(&stage->told, "question " STR_FMT " %d\n", STR_ARG(question->method),
             question->call != 0);
    mcp_question_answer(stage->session, question, S("result"), S("{\"roots\":[]}"),
                        loop_now_ms(stage->loop));
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    (void)user;
    (void)question;
}

static void on_due(void *user)
{
    struct http_stage *stage = user;
    uint64_t now = loop_now_ms(stage->loop);
    uint64_t due = stage->session ? mcp_session_due_ms(stage->session) : UINT64_MAX;

    if (due != UINT64_MAX)
        loop_timer_set(stage->loop, &stage->due, due > now ? due - now : 0);
}

static void on_due_timer(struct loop_timer *timer)
{
    struct http_stage *stage = CONTAINER_OF(timer, struct http_stage, due);

    mcp_session_tick(stage->session, loop_now_ms(stage->loop));
}

static const struct mcp_session_ops session_ops = {
    on_ready, on_end, on_notification, on_question, on_question_gone, on_due, NULL,
};

static void on_ended(void *user, const char *why)
{
    struct http_stage *stage = user;

    buf_putf(&stage->told, "ended %s\n", why);
}

void http_stage_on_done(void *user, const struct mcp_reply *reply)
{
    static const char *const names[] = { "result", "error", "failed", "cancelled" };
    struct http_stage *stage = user;

    buf_putf(&stage->told, "%s " STR_FMT "\n", names[reply->type],
             STR_ARG(reply->json.text));
}

/* --- a credential --- */

static struct str current(struct credential *credential)
{
    struct http_stage *stage = CONTAINER_OF(credential, struct http_stage, credential);

    return str_of(stage->tokens[stage->token]);
}

static void on_renew_task(struct loop_task *task)
{
    struct http_stage *stage = CONTAINER_OF(task, struct http_stage, renewed);
    bool is_last =
        stage->token + 1 == COUNT(stage->tokens) || !stage->tokens[stage->token + 1];

    if (!is_last)
        stage->token++;
    stage->on_renewed(stage->renewed_user, is_last ? ERR_FORBIDDEN : OK,
                      "no more tokens");
}

static void renew(struct credential *credential, const struct challenge *challenge,
                  void (*on_done)(void *user, enum err err, const char *why), void *user)
{
    struct http_stage *stage = CONTAINER_OF(credential, struct http_stage, credential);

    buf_putf(&stage->told, "challenge %u " STR_FMT " for " STR_FMT "\n",
             challenge->status, STR_ARG(challenge->www_authenticate),
             STR_ARG(challenge->used));
    stage->on_renewed = on_done;
    stage->renewed_user = user;
    loop_defer(stage->loop, &stage->renewed);
}

static void forget(struct credential *credential, void *user)
{
    (void)credential;
    (void)user;
}

static const struct credential_ops credential_ops = { current, renew, forget };

/* --- the stage --- */

static const struct mcp_session_settings defaults = { .name = S("moot"),
                                                      .version = S("1"),
                                                      .era = ERA_LEGACY,
                                                      .has_roots = true,
                                                      .probe_ms = 15'000,
                                                      .open_ms = 15'000,
                                                      .call_ms = 15'000,
                                                      .call_max_ms = 15'000,
                                                      .max_calls = 16,
                                                      .max_questions = 16,
                                                      .max_depth = 64,
                                                      .max_rounds = 10,
                                                      .max_message = 1 << 16 };

void http_stage_init(struct http_stage *stage, const char *url, enum mcp_era era)
{
    static const struct str fields[] = { S("X-Mine: yes") };
    static const struct http_carrier_ops ops = { on_ended };
    struct mcp_session_settings settings = defaults;
    struct http_carrier_settings http = { .url = url,
                                          .fields = fields,
                                          .field_count = COUNT(fields),
                                          .max_message = 1 << 16,
                                          .max_streams = 4 };

    stage->loop = loop_new();
    stage->due.on_fire = on_due_timer;
    stage->renewed.run = on_renew_task;
    stage->credential.ops = &credential_ops;
    if (stage->tokens[0])
        http.credential = &stage->credential;
    buf_init(&stage->told, 1 << 20);
    CHECK_INT(fetch_new(stage->loop, &stage->fetch, NULL), OK);
    stage->http = http_carrier_open(stage->fetch, stage->loop, &http, &ops, stage);
    settings.era = era;
    stage->session = mcp_session_new(&settings, http_carrier_of(stage->http),
                                     &session_ops, stage, loop_now_ms(stage->loop));
    on_due(stage);
}

void http_stage_done(struct http_stage *stage)
{
    loop_timer_clear(stage->loop, &stage->due);
    mcp_session_free(stage->session);
    http_carrier_free(stage->http);
    fetch_free(stage->fetch);
    loop_turn(stage->loop, 0); /* reaps */
    loop_free(stage->loop);
    buf_done(&stage->told);
}

bool http_stage_wait(struct http_stage *stage, const char *text)
{
    uint64_t end = loop_now_ms(stage->loop) + PATIENCE_MS;

    while (!strstr(buf_cstr(&stage->told), text) && loop_now_ms(stage->loop) < end)
        loop_turn(stage->loop, 20);
    if (strstr(buf_cstr(&stage->told), text))
        return true;
    (void)printf("# told: %s\n", buf_cstr(&stage->told));
    return false;
}

void http_stage_wait_requests(struct http_stage *stage, struct http_server *server,
                              int count)
{
    uint64_t end = loop_now_ms(stage->loop) + PATIENCE_MS;

    while (atomic_load(&server->requests) < count && loop_now_ms(stage->loop) < end)
        loop_turn(stage->loop, 20);
    CHECK(atomic_load(&server->requests) >= count);
}

void http_stage_call(struct http_stage *stage, const char *method)
{
    uint64_t id;

    CHECK_INT(mcp_session_call(stage->session,
                               &(struct mcp_call){ .method = str_of(method),
                                                   .params = S("{}"),
                                                   .ops.on_done = http_stage_on_done,
                                                   .user = stage },
                               loop_now_ms(stage->loop), &id),
              OK);
}
