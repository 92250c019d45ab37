/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/headers.h"
#include "mcp/serve.h"
#include "mcp/session_parts.h"

/* --- what is sent --- */

enum { KEPT_BYTES = 16 << 10 };

/* A session that rests keeps little of what was large once. */
static void drop_scratch(struct mcp_session *session)
{
    struct buf *bufs[] = { &session->line, &session->params };

    for (size_t i = 0; i < COUNT(bufs); i++)
        if (bufs[i]->size > KEPT_BYTES)
            buf_done(bufs[i]);
    arena_reset(&session->scratch);
}

/* What was written into the scratch of the session is gone afterwards. */
static enum err send_line(struct mcp_session *session, struct parcel *parcel)
{
    enum err err = ERR_TOO_BIG;

    parcel->text = buf_str(&session->line);
    parcel->version = session->facts.version;
    parcel->is_modern = session_is_modern(session);
    if (!session->line.is_full)
        err = session->carrier->ops->send(session->carrier, parcel);
    drop_scratch(session);
    return err;
}

static void clear_line(struct mcp_session *session)
{
    buf_clear(&session->line);
    session->line.is_full = false;
}

/* BR-06: headers are made of what is really sent. */
static enum err put_headers(struct mcp_session *session, const struct errand_order *order,
                            struct parcel *parcel)
{
    const struct json *params;
    const struct json *tool;
    struct str_list fields;

    arena_reset(&session->scratch);
    if (!session_is_modern(session))
        return OK;
    if (json_parse(order->params, &session->scratch, &params, NULL))
        return ERR_TOO_BIG;
    parcel->name = header_name(order->method, params);
    if (!order->tool.len)
        return OK;
    if (json_parse(order->tool, &session->scratch, &tool, NULL) ||
        header_params(tool, json_find(params, S("arguments")), &session->scratch,
                      &fields))
        return ERR_TOO_BIG;
    parcel->fields = fields.items;
    parcel->field_count = fields.count;
    return OK;
}

enum err errand_send(struct mcp_session *session, const struct errand_order *order,
                     struct errand **ret)
{
    struct parcel parcel = { .call = session->ids + 1, .method = order->method };
    struct errand *errand;
    enum err err;

    if (session->params.is_full)
        return ERR_TOO_BIG;
    clear_line(session);
    mcp_message_put_request(&session->line, parcel.call, order->method, order->params);
    err = put_headers(session, order, &parcel);
    if (!err)
        err = send_line(session, &parcel);
    if (err)
        return err;
    session->ids = parcel.call;
    errand = xcalloc(1, sizeof(*errand));
    errand->id = parcel.call;
    errand->call = order->call;
    errand->on_answer = order->on_answer;
    errand->until_ms = order->until_ms;
    list_append(&session->errands, &errand->link);
    mcp_session_wake(session, errand->until_ms);
    *ret = errand;
    return OK;
}

static void errand_free(struct errand *errand)
{
    list_remove(&errand->link);
    free(errand);
}

void errand_drop(struct mcp_session *session, struct errand *errand)
{
    session->carrier->ops->drop(session->carrier, errand->id);
    errand_free(errand);
}

struct errand *errand_find(const struct mcp_session *session, uint64_t id)
{
    struct errand *errand;

    LIST_FOREACH(errand, &session->errands, link)
        if (errand->id == id)
            return errand;
    return NULL;
}

enum err session_say(struct mcp_session *session, struct str method, struct str params)
{
    clear_line(session);
    mcp_message_put_notification(&session->line, method, params);
    return send_line(session, &(struct parcel){ .method = method });
}

enum err session_answer(struct mcp_session *session, struct json_span id,
                        struct str member, struct str json)
{
    clear_line(session);
    mcp_message_put_answer(&session->line, id, member, json);
    return send_line(session, &(struct parcel){});
}

void session_call_off(struct mcp_session *session, struct errand *errand,
                      struct str reason)
{
    struct json_writer w;

    if (!session_is_modern(session) || !session->carrier->drop_cancels) {
        buf_clear(&session->params);
        json_write_init(&w, &session->params);
        json_object_open(&w);
        json_put_uint(&w, S("requestId"), errand->id);
        if (reason.len)
            json_put_str(&w, S("reason"), reason);
        json_object_close(&w);
        (void)session_say(session, S("notifications/cancelled"),
                          buf_str(&session->params));
    }
    errand_drop(session, errand);
}

/* --- the end --- */

/* A tick does itself what is due now. */
void mcp_session_wake(struct mcp_session *session, uint64_t at_ms)
{
    if (at_ms >= session->due_ms || (session->is_ticking && at_ms <= session->now_ms))
        return;
    session->due_ms = at_ms;
    if (!session->is_ticking)
        session->ops.on_due(session->user);
}

void session_break(struct mcp_session *session, enum mcp_end end, const char *why)
{
    if (session->why || session->stage == STAGE_OVER)
        return;
    session->broken = end;
    session->why = why;
    mcp_session_wake(session, session->now_ms);
}

static void drop_errands(struct mcp_session *session)
{
    struct errand *errand;

    LIST_FOREACH(errand, &session->errands, link)
        errand_free(errand);
}

void mcp_session_end(struct mcp_session *session, enum mcp_end end, const char *why)
{
    if (session->stage == STAGE_OVER)
        return;
    session->stage = STAGE_OVER;
    calls_end(session, "server_died", why);
    questions_drop(session, NULL);
    drop_errands(session);
    session->ops.on_end(session->user, end, why);
}

/* --- what is heard --- */

static void give_answer(struct mcp_session *session, struct errand *errand,
                        const struct answer *answer)
{
    struct call *call = errand->call;
    void (*on_answer)(struct mcp_session *, struct call *, const struct answer *) =
        errand->on_answer;

    errand_free(errand);
    if (call)
        call->errand = NULL;
    on_answer(session, call, answer);
}

/* An error may come without an id on the stream of what it answers. */
static void hear_answer(struct mcp_session *session, const struct mcp_message *message,
                        uint64_t via)
{
    bool is_error = message->type == MESSAGE_ERROR;
    uint64_t id = message->id.text.ptr ? 0 : via;
    struct errand *errand;

    if (message->id.text.ptr && !mcp_message_number(message->id, &id))
        return;
    errand = errand_find(session, id);
    if (!errand)
        return;
    give_answer(session, errand,
                &(struct answer){ .type = is_error ? ANSWER_ERROR : ANSWER_RESULT,
                                  .json = is_error ? message->error : message->result });
}

static void hear_notification(struct mcp_session *session,
                              const struct mcp_message *message, uint64_t via)
{
    if (str_eq(message->method, S("notifications/progress")))
        call_hear_progress(session, message);
    else if (str_eq(message->method, S("notifications/cancelled")))
        question_hear_cancelled(session, message);
    else if (session_is_modern(session))
        watch_hear(session, message, via);
    else
        session->ops.on_notification(session->user, message,
                                     call_behind(session, message, via));
}

static bool hear_one(struct mcp_session *session, struct str text, uint64_t via)
{
    struct mcp_message message;
    const char *what;

    if (mcp_message_read(text, session->settings.max_depth, &message, &what))
        return false;
    switch (message.type) {
    case MESSAGE_REQUEST: question_hear(session, &message, via); break;
    case MESSAGE_NOTIFICATION: hear_notification(session, &message, via); break;
    case MESSAGE_RESULT:
    case MESSAGE_ERROR: hear_answer(session, &message, via); break;
    }
    return true;
}

/* 2025-06-18 took batches away. */
static bool takes_batches(const struct mcp_session *session)
{
    return str_eq(session->facts.version, S("2025-03-26"));
}

bool mcp_session_hear(struct mcp_session *session, struct str text, uint64_t via,
                      uint64_t now_ms)
{
    struct mcp_message_walk walk;
    struct str one;
    bool is_fine = true;
    enum err err;

    session->now_ms = now_ms;
    session->heard_ms = now_ms;
    if (mcp_message_walk_begin(&walk, text, session->settings.max_depth))
        return false;
    if (walk.is_batch && !takes_batches(session))
        return false;
    while (session->stage != STAGE_OVER && mcp_message_walk_next(&walk, &one, &err))
        is_fine &= hear_one(session, one, via);
    return is_fine;
}

/* A body that is an error of JSON-RPC answers, with whatever status: a modern server says
 * 404 to methods that it does not know (LM-09). But who is not let in, or meets a broken
 * server, learns nothing of its era. */
static bool read_error(const struct mcp_session *session, const struct mishap *mishap,
                       struct answer *ret)
{
    bool is_barred = mishap->status == 401 || mishap->status == 403;
    struct mcp_message message;
    const char *what;

    if (mishap->type != MISHAP_STATUS &&
        (mishap->type != MISHAP_FORGOTTEN || !session_is_modern(session)))
        return false;
    if (session->stage == STAGE_PROBING && (is_barred || mishap->status >= 500))
        return false;
    if (mcp_message_read(mishap->body, session->settings.max_depth, &message, &what) ||
        message.type != MESSAGE_ERROR)
        return false;
    ret->json = message.error;
    return true;
}

void mcp_session_mishap(struct mcp_session *session, uint64_t call,
                        const struct mishap *mishap, uint64_t now_ms)
{
    struct answer answer = { .type = ANSWER_MISHAP, .mishap = mishap };
    struct errand *errand;

    session->now_ms = now_ms;
    errand = session->stage == STAGE_OVER ? NULL : errand_find(session, call);
    if (!errand)
        return;
    if (read_error(session, mishap, &answer))
        answer.type = ANSWER_ERROR;
    give_answer(session, errand, &answer);
}

void mcp_session_ended(struct mcp_session *session, const char *why, uint64_t now_ms)
{
    session->now_ms = now_ms;
    mcp_session_end(session,
                    session->stage == STAGE_PROBING &&
                            session->settings.era == ERA_UNKNOWN
                        ? SESSION_NO_PROBE
                        : SESSION_ENDED,
                    why);
}

/* --- time --- */

static void on_pong(struct mcp_session *session, struct call *call,
                    const struct answer *answer)
{
    (void)call;
    session->is_pinged = false;
    if (answer->type != ANSWER_MISHAP)
        return;
    if (answer->mishap->type == MISHAP_FORGOTTEN)
        session_reopen(session);
    else
        mcp_session_end(session, SESSION_SILENT, "a ping failed");
}

/* Whatever answers a ping, an error included, is alive. */
static void ping(struct mcp_session *session)
{
    uint64_t silent_at = session->heard_ms + session->settings.ping_ms;
    struct errand *errand;

    if (!session->settings.ping_ms || session->stage != STAGE_READY ||
        session_is_modern(session) || session->is_pinged)
        return;
    if (session->now_ms < silent_at) {
        mcp_session_wake(session, silent_at);
        return;
    }
    session->is_pinged = true;
    if (errand_send(session,
                    &(struct errand_order){ .method = S("ping"),
                                            .until_ms = session->now_ms +
                                                        session->settings.ping_ms,
                                            .on_answer = on_pong },
                    &errand))
        session_break(session, SESSION_ENDED, "it reads nothing any more");
}

static struct errand *late_errand(const struct mcp_session *session)
{
    struct errand *errand;

    LIST_FOREACH(errand, &session->errands, link)
        if (errand->until_ms <= session->now_ms)
            return errand;
    return NULL;
}

static void tick_errands(struct mcp_session *session)
{
    static const struct mishap late = { .type = MISHAP_TIMEOUT, .why = "no answer" };
    struct errand *errand;

    while ((errand = late_errand(session)) != NULL) {
        session->carrier->ops->drop(session->carrier, errand->id);
        give_answer(session, errand,
                    &(struct answer){ .type = ANSWER_MISHAP, .mishap = &late });
    }
    LIST_FOREACH(errand, &session->errands, link)
        mcp_session_wake(session, errand->until_ms);
}

void mcp_session_tick(struct mcp_session *session, uint64_t now_ms)
{
    session->now_ms = now_ms;
    session->due_ms = UINT64_MAX;
    if (session->stage == STAGE_OVER)
        return;
    session->is_ticking = true;
    if (!session->why) {
        tick_errands(session);
        mcp_calls_tick(session);
        session_tick_opening(session);
        watch_tick(session);
        ping(session);
    }
    if (session->why)
        mcp_session_end(session, session->broken, session->why);
    session->is_ticking = false;
    if (session->stage != STAGE_OVER && session->due_ms != UINT64_MAX)
        session->ops.on_due(session->user);
}

uint64_t mcp_session_due_ms(const struct mcp_session *session)
{
    return session->stage == STAGE_OVER ? UINT64_MAX : session->due_ms;
}

/* --- life --- */

/* Levels are few, and ours: the texts of others may go. */
static struct str known_level(struct str name)
{
    return serve_level_name(serve_level(name));
}

void mcp_session_level(struct mcp_session *session, struct str level, uint64_t now_ms)
{
    struct str known = known_level(level);

    if (session_is_modern(session) || str_eq(session->settings.log_level, known))
        return;
    session->now_ms = now_ms;
    session->settings.log_level = known;
    if (session->stage == STAGE_READY)
        session_say_level(session);
}

/* The texts of the settings are somebody else's. */
static void keep_settings(struct mcp_session *session,
                          const struct mcp_session_settings *settings)
{
    struct str *texts[] = { &session->settings.name, &session->settings.version,
                            &session->settings.newest };
    size_t len = 0;

    session->settings = *settings;
    session->settings.log_level = known_level(settings->log_level);
    if (!settings->newest.len)
        session->settings.newest = S("2025-11-25");
    for (size_t i = 0; i < COUNT(texts); i++)
        len += texts[i]->len;
    session->texts = xmalloc(len + 1);
    len = 0;
    for (size_t i = 0; i < COUNT(texts); i++) {
        *texts[i] = text_keep(session->texts + len, *texts[i]);
        len += texts[i]->len;
    }
}

struct mcp_session *mcp_session_new(const struct mcp_session_settings *settings,
                                    struct carrier *carrier,
                                    const struct mcp_session_ops *ops, void *user,
                                    uint64_t now_ms)
{
    struct mcp_session *session = xcalloc(1, sizeof(*session));

    keep_settings(session, settings);
    session->carrier = carrier;
    session->ops = *ops;
    session->user = user;
    session->due_ms = UINT64_MAX;
    session->now_ms = now_ms;
    session->heard_ms = now_ms;
    list_init(&session->calls);
    list_init(&session->errands);
    list_init(&session->questions);
    buf_init(&session->params, session->settings.max_message);
    buf_init(&session->line, session->settings.max_message);
    arena_init(&session->opened, 3 * session->settings.max_message);
    arena_init(&session->scratch, 16 * session->settings.max_message);
    carrier->session = session;
    session_open(session);
    return session;
}

void mcp_session_free(struct mcp_session *session)
{
    if (!session)
        return;
    session->carrier->session = NULL;
    mcp_calls_free(session);
    questions_free(session);
    drop_errands(session);
    buf_done(&session->params);
    buf_done(&session->line);
    arena_done(&session->opened);
    arena_done(&session->scratch);
    watch_done(session);
    free(session->texts);
    free(session);
}

bool mcp_session_is_ready(const struct mcp_session *session)
{
    return session->stage == STAGE_READY;
}

const struct mcp_session_facts *mcp_session_facts(const struct mcp_session *session)
{
    return &session->facts;
}

size_t mcp_session_underway(const struct mcp_session *session)
{
    return session->call_count;
}

enum err mcp_session_notify(struct mcp_session *session, struct str method,
                            struct str params)
{
    if (session->stage != STAGE_READY)
        return session->stage == STAGE_OVER ? ERR_CLOSED : ERR_AGAIN;
    /* A modern client tells nothing by itself. */
    if (session_is_modern(session))
        return OK;
    if (!session->settings.has_roots &&
        str_eq(method, S("notifications/roots/list_changed")))
        return OK; /* not declared */
    return session_say(session, method, params);
}
