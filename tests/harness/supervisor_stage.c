/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor_stage.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum { ROOM = 1 << 20, WALL_MS = 1'700'000'000 };

/* --- servers --- */

static struct stage_server *server_of(struct carriage *carriage)
{
    return CONTAINER_OF(carriage, struct stage_server, carriage);
}

static struct carrier *on_carrier(struct carriage *carriage)
{
    return &server_of(carriage)->fake.carrier;
}

static void on_close(struct carriage *carriage)
{
    server_of(carriage)->is_closed = true;
}

static void on_free(struct carriage *carriage)
{
    server_of(carriage)->is_gone = true;
}

static bool on_was_read(struct carriage *carriage)
{
    return !server_of(carriage)->stage->is_unread;
}

static const char *on_excess(struct carriage *carriage)
{
    return server_of(carriage)->stage->excess;
}

static const struct carriage_ops carriage_ops = {
    .carrier = on_carrier,
    .close = on_close,
    .free = on_free,
    .was_read = on_was_read,
    .excess = on_excess,
};

static enum err on_open(const struct supervisor_means *means,
                        const struct carriage_order *order, struct carriage **ret,
                        char **ret_why)
{
    struct supervisor_stage *stage = means->user;
    struct stage_server *server = &stage->servers[stage->server_count];

    if (stage->refusal || stage->server_count == STAGE_SERVERS) {
        *ret_why = xstrdup(stage->refusal ? stage->refusal : "too many");
        return ERR_NOT_FOUND;
    }
    stage->server_count++;
    fake_carrier_begin(&server->fake);
    server->fake.is_terse = true;
    server->carriage.ops = &carriage_ops;
    server->events = *order->events;
    server->user = order->user;
    server->stage = stage;
    *ret = &server->carriage;
    return OK;
}

/* --- what is told --- */

static void on_state(void *user, enum server_state state, const char *why)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "state %s%s%s\n", server_state_name(state), *why ? ": " : "",
             why);
}

static void on_facts(void *user, const struct mcp_session_facts *facts)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "facts " STR_FMT "\n", STR_ARG(facts->version));
}

static const char *name_of(const struct server_order *order)
{
    return order ? ((const struct stage_call *)server_order_user(order))->name : "nobody";
}

static void on_notification(void *user, const struct server_notice *notice)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "notification %s%s " STR_FMT "\n",
             notice->is_likely ? "likely " : "", name_of(notice->order),
             STR_ARG(notice->message->method));
}

static void on_question(void *user, const struct server_question *from)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "question %s %zu " STR_FMT "\n", name_of(from->order),
             from->callers, STR_ARG(from->question->method));
    stage->question = from->question;
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "gone " STR_FMT "\n", STR_ARG(question->method));
    stage->question = NULL;
}

static void on_log(void *user, struct str line)
{
    struct supervisor_stage *stage = user;

    buf_putf(&stage->told, "log " STR_FMT "\n", STR_ARG(line));
}

static void on_event(void *, const char *)
{
}

static void on_keep(void *user, struct str json)
{
    struct supervisor_stage *stage = user;

    buf_clear(&stage->kept);
    buf_put(&stage->kept, json);
}

static const struct supervisor_ops supervisor_ops = {
    .on_state = on_state,
    .on_facts = on_facts,
    .on_notification = on_notification,
    .on_question = on_question,
    .on_question_gone = on_question_gone,
    .on_log = on_log,
    .on_event = on_event,
    .on_keep = on_keep,
};

/* --- the stage --- */

struct server_spec *stage_spec(void)
{
    return stage_spec_of_era(ERA_LEGACY);
}

struct server_spec *stage_spec_of_era(enum mcp_era era)
{
    static const struct str words[] = { S("server") };
    struct server_spec *spec = server_spec_new(S("echo"));

    spec->topic = S("room");
    spec->command.words = words;
    spec->command.count = 1;
    spec->instances = 3;
    spec->era = era;
    return spec;
}

void stage_begin(struct supervisor_stage *stage, struct server_spec *spec)
{
    *stage = (struct supervisor_stage){ .loop = loop_new(), .spec = spec };
    stage->now_ms = 1'000'000;
    loop_set_now(stage->loop, stage->now_ms, WALL_MS);
    buf_init(&stage->told, ROOM);
    buf_init(&stage->last, ROOM);
    buf_init(&stage->kept, ROOM);
}

struct supervisor_means stage_means(struct supervisor_stage *stage)
{
    return (
        struct supervisor_means){ .loop = stage->loop, .open = on_open, .user = stage };
}

void stage_init(struct supervisor_stage *stage, struct server_spec *spec)
{
    struct supervisor_means means;

    stage_begin(stage, spec);
    means = stage_means(stage);
    stage->supervisor = supervisor_new(spec, &means, &supervisor_ops, stage);
}

void stage_done(struct supervisor_stage *stage)
{
    supervisor_free(stage->supervisor);
    for (size_t i = 0; i < stage->server_count; i++)
        fake_carrier_done(&stage->servers[i].fake);
    server_spec_unref(stage->spec);
    buf_done(&stage->told);
    buf_done(&stage->last);
    buf_done(&stage->kept);
    loop_free(stage->loop);
}

void stage_pass(struct supervisor_stage *stage, uint64_t ms)
{
    stage->now_ms += ms;
    loop_set_now(stage->loop, stage->now_ms, WALL_MS + stage->now_ms);
    for (size_t i = 0; i < 4; i++)
        loop_turn(stage->loop, 0);
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    static const char *const types[] = { [REPLY_RESULT] = "result",
                                         [REPLY_ERROR] = "error",
                                         [REPLY_FAILED] = "failed",
                                         [REPLY_CANCELLED] = "cancelled" };
    struct stage_call *call = user;
    struct str json = reply->type == REPLY_CANCELLED ? S("") : reply->json.text;

    call->order = NULL;
    buf_putf(&call->stage->told, "%s: %s " STR_FMT "\n", call->name, types[reply->type],
             STR_ARG(json));
}

struct stage_call *stage_order(struct supervisor_stage *stage, const char *caller,
                               const char *method)
{
    struct stage_call *call = &stage->calls[stage->call_count++];
    struct mcp_call what = { .method = str_of(method),
                             .ops = { .on_done = on_done },
                             .user = call };
    enum err err;

    call->stage = stage;
    (void)snprintf(call->name, sizeof(call->name), "%s", *caller ? caller : "bridge");
    err = supervisor_order(stage->supervisor, str_of(caller), &what, &call->order);
    if (err)
        buf_putf(&stage->told, "%s: refused %s\n", call->name, err_name(err));
    stage_pass(stage, 0);
    return call;
}

void stage_says(struct supervisor_stage *stage, size_t server, const char *text)
{
    struct stage_server *it = &stage->servers[server];

    (void)mcp_session_hear(it->fake.carrier.session, str_of(text), 0, stage->now_ms);
    stage_pass(stage, 0);
}

void stage_opens(struct supervisor_stage *stage, size_t server)
{
    stage_says(stage, server,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
               "\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\","
               "\"version\":\"1\"}}}");
}

void stage_answers(struct supervisor_stage *stage, size_t server, unsigned id)
{
    char text[128];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"by\":%zu}}", id, server);
    stage_says(stage, server, text);
}

void stage_ends(struct supervisor_stage *stage, size_t server, const char *why)
{
    struct stage_server *it = &stage->servers[server];

    mcp_session_ended(it->fake.carrier.session, why, stage->now_ms);
    it->events.on_ended(it->user, why, false);
    stage_pass(stage, 0);
}

struct str stage_told(struct supervisor_stage *stage)
{
    buf_clear(&stage->last);
    buf_put(&stage->last, buf_str(&stage->told));
    buf_clear(&stage->told);
    return buf_str(&stage->last);
}

struct str stage_sent(struct supervisor_stage *stage, size_t server)
{
    return fake_carrier_sent(&stage->servers[server].fake);
}
