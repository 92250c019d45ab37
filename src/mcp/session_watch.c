/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server tells by itself. A legacy one does so unasked, but for changes of
 * resources, which are subscribed to one by one. A modern one is listened to: a request
 * whose answer is a stream, with a filter that cannot be changed (MCP.md LM-05).
 *
 *     new filter ─► listen anew ─► acknowledged ─► the old one is cancelled
 *     ended ─► 1 s, 2 s, … 60 s ─► listen anew; what changed meanwhile is not known, so
 *                                  everything is said to have changed
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session_parts.h"

enum { AGAIN_MS = 1000, AGAIN_MAX_MS = 60000 };
enum { MAX_WATCHED = 1 << 20, MAX_FILTER = 2 * MAX_WATCHED };

#define SUBSCRIPTION S("io.modelcontextprotocol/subscriptionId")

/* What a filter asks for, where the server says that it has it. */
static const struct listed {
    struct str capability, filter, method;
} listed[] = {
    { S("tools"), S("toolsListChanged"), S("notifications/tools/list_changed") },
    { S("prompts"), S("promptsListChanged"), S("notifications/prompts/list_changed") },
    { S("resources"), S("resourcesListChanged"),
      S("notifications/resources/list_changed") },
};

struct watch {
    struct arena texts;
    struct str_list uris;
    uint64_t current, next; /* listen requests: acknowledged, and not yet; 0: none */
    uint64_t again_ms;      /* when to listen anew; UINT64_MAX: not at all */
    uint64_t pause_ms;
    bool was_lost; /* nobody listened for a while */
};

static struct watch *watch_of(struct mcp_session *session)
{
    if (!session->watch) {
        session->watch = xcalloc(1, sizeof(*session->watch));
        arena_init(&session->watch->texts, MAX_WATCHED);
        session->watch->again_ms = UINT64_MAX;
        session->watch->pause_ms = AGAIN_MS;
    }
    return session->watch;
}

void watch_done(struct mcp_session *session)
{
    if (!session->watch)
        return;
    arena_done(&session->watch->texts);
    free(session->watch);
    session->watch = NULL;
}

static bool has(const struct mcp_session *session, struct str capability, struct str flag)
{
    const struct str path[] = { capability, flag };
    struct json_span span = mcp_message_find(session->facts.capable, path, COUNT(path));

    return span.text.ptr && span.type == JSON_TRUE;
}

static bool is_among(struct str uri, struct str_list uris)
{
    for (size_t i = 0; i < uris.count; i++)
        if (str_eq(uri, uris.items[i]))
            return true;
    return false;
}

/* --- legacy --- */

static void on_subscribed(struct mcp_session *session, struct call *call,
                          const struct answer *answer)
{
    (void)session;
    (void)call;
    (void)answer;
}

static void subscribe(struct mcp_session *session, struct str method, struct str uri)
{
    struct errand_order order = { .method = method,
                                  .until_ms = session->now_ms + session->settings.open_ms,
                                  .on_answer = on_subscribed };
    struct json_writer w;
    struct errand *errand;

    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_str(&w, S("uri"), uri);
    json_object_close(&w);
    order.params = buf_str(&session->params);
    (void)errand_send(session, &order, &errand);
}

/* `method` for all that stand in one list and not in the other. */
static void subscribe_all(struct mcp_session *session, struct str method,
                          struct str_list uris, struct str_list but)
{
    if (!has(session, S("resources"), S("subscribe")))
        return;
    for (size_t i = 0; i < uris.count; i++)
        if (!is_among(uris.items[i], but))
            subscribe(session, method, uris.items[i]);
}

/* --- modern --- */

/* False: there is nothing to listen to. */
static bool put_filter(const struct mcp_session *session, struct buf *out)
{
    const struct watch *watch = session->watch;
    bool has_uris = watch->uris.count && has(session, S("resources"), S("subscribe"));
    bool is_wanted = has_uris;
    struct json_writer w;

    json_write_init(&w, out);
    json_key(&w, S("notifications"));
    json_object_open(&w);
    for (size_t i = 0; i < COUNT(listed); i++)
        if (has(session, listed[i].capability, S("listChanged"))) {
            json_put_bool(&w, listed[i].filter, true);
            is_wanted = true;
        }
    if (has_uris)
        json_put_strs(&w, S("resourceSubscriptions"), watch->uris);
    json_object_close(&w);
    return is_wanted;
}

static void listen_again(struct mcp_session *session)
{
    struct watch *watch = session->watch;

    watch->was_lost = true;
    watch->again_ms = session->now_ms + watch->pause_ms;
    watch->pause_ms =
        watch->pause_ms * 2 < AGAIN_MAX_MS ? watch->pause_ms * 2 : AGAIN_MAX_MS;
    mcp_session_wake(session, watch->again_ms);
}

/* Any answer ends it. One that the server does not know is not asked for again. */
static void on_listened(struct mcp_session *session, struct call *call,
                        const struct answer *answer)
{
    struct watch *watch = session->watch;
    bool was_current = watch->current && !errand_find(session, watch->current);
    struct str code = {};

    (void)call;
    if (answer->type == ANSWER_ERROR)
        code = mcp_message_member(answer->json, S("code")).text;
    if (was_current)
        watch->current = 0;
    else
        watch->next = 0;
    if (!str_eq(code, S("-32601")) && !watch->current && !watch->next)
        listen_again(session);
}

static void hang_up(struct mcp_session *session, uint64_t *id)
{
    struct errand *errand = *id ? errand_find(session, *id) : NULL;

    *id = 0;
    if (errand)
        session_call_off(session, errand, S(""));
}

static void listen(struct mcp_session *session)
{
    struct watch *watch = session->watch;
    struct errand_order order = { .method = S("subscriptions/listen"),
                                  .until_ms = UINT64_MAX,
                                  .on_answer = on_listened };
    struct errand *errand;
    struct buf filter;

    watch->again_ms = UINT64_MAX;
    hang_up(session, &watch->next);
    buf_init(&filter, MAX_FILTER);
    if (!put_filter(session, &filter)) {
        hang_up(session, &watch->current);
        buf_done(&filter);
        return;
    }
    order.params =
        session_params(session, &(struct params_change){ .more = buf_str(&filter) });
    if (errand_send(session, &order, &errand))
        listen_again(session);
    else
        watch->next = errand->id;
    buf_done(&filter);
}

/* What changed while nobody listened is not known. */
static void tell_changed(struct mcp_session *session)
{
    for (size_t i = 0; i < COUNT(listed); i++) {
        struct mcp_message message = { .type = MESSAGE_NOTIFICATION,
                                       .method = listed[i].method };

        if (has(session, listed[i].capability, S("listChanged")))
            session->ops.on_notification(session->user, &message, 0);
    }
}

static void on_acknowledged(struct mcp_session *session, uint64_t id)
{
    struct watch *watch = session->watch;

    if (!watch || !id || id != watch->next)
        return;
    hang_up(session, &watch->current);
    watch->current = id;
    watch->next = 0;
    watch->pause_ms = AGAIN_MS;
    if (watch->was_lost) {
        watch->was_lost = false;
        tell_changed(session);
    }
}

/* Without what only concerns this hop. */
static void hand_over(struct mcp_session *session, const struct mcp_message *message,
                      uint64_t call)
{
    static const struct str meta_name[] = { S("_meta") };
    static const struct str id_name[] = { SUBSCRIPTION };
    struct json_span meta = mcp_message_find(message->params, meta_name, 1);
    struct mcp_message plain = *message;
    struct json_writer w;
    struct buf params, rest;

    buf_init(&params, session->settings.max_message);
    buf_init(&rest, session->settings.max_message);
    json_write_init(&w, &rest);
    json_put_members(&w, meta.text, (struct str_list){ id_name, 1 });
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_members(&w, message->params.text, (struct str_list){ meta_name, 1 });
    if (rest.len) {
        json_key(&w, meta_name[0]);
        json_object_open(&w);
        json_raw(&w, buf_str(&rest));
        json_object_close(&w);
    }
    json_object_close(&w);
    buf_done(&rest);
    plain.params = (struct json_span){ .type = JSON_OBJECT, .text = buf_str(&params) };
    session->ops.on_notification(session->user, &plain, call);
    buf_done(&params);
}

void watch_hear(struct mcp_session *session, const struct mcp_message *message,
                uint64_t via)
{
    static const struct str path[] = { S("_meta"), SUBSCRIPTION };
    struct json_span span = mcp_message_find(message->params, path, COUNT(path));
    uint64_t id = 0;

    if (!span.text.ptr) {
        session->ops.on_notification(session->user, message,
                                     call_behind(session, message, via));
        return;
    }
    if (!mcp_message_number(span, &id))
        return;
    if (str_eq(message->method, S("notifications/subscriptions/acknowledged")))
        on_acknowledged(session, id);
    else if (session->watch && id == session->watch->current)
        hand_over(session, message, 0);
}

/* --- both --- */

void watch_begin(struct mcp_session *session)
{
    struct watch *watch = watch_of(session);

    watch->current = 0;
    watch->next = 0;
    if (session_is_modern(session))
        listen(session);
    else
        subscribe_all(session, S("resources/subscribe"), watch->uris,
                      (struct str_list){});
}

void watch_tick(struct mcp_session *session)
{
    struct watch *watch = session->watch;

    if (!watch || session->stage != STAGE_READY || watch->again_ms == UINT64_MAX)
        return;
    if (watch->again_ms <= session->now_ms)
        listen(session);
    else
        mcp_session_wake(session, watch->again_ms);
}

/* Those that find no room are not watched. */
static struct str_list keep_uris(struct arena *texts, const struct str *uris,
                                 size_t count)
{
    struct str *items = arena_alloc(texts, count * sizeof(*items) + 1);
    struct str_list kept = { items, 0 };

    for (size_t i = 0; items && i < count; i++) {
        struct str uri = arena_str(texts, uris[i]);

        if (uri.ptr)
            items[kept.count++] = uri;
    }
    return kept;
}

void mcp_session_watch(struct mcp_session *session, const struct str *uris, size_t count,
                       uint64_t now_ms)
{
    struct watch *watch = watch_of(session);
    struct str_list old = watch->uris;
    struct arena texts;

    session->now_ms = now_ms;
    arena_init(&texts, MAX_WATCHED);
    watch->uris = keep_uris(&texts, uris, count);
    if (session->stage == STAGE_READY && session_is_modern(session)) {
        listen(session);
    } else if (session->stage == STAGE_READY) {
        subscribe_all(session, S("resources/subscribe"), watch->uris, old);
        subscribe_all(session, S("resources/unsubscribe"), old, watch->uris);
    }
    arena_done(&watch->texts);
    watch->texts = texts;
}
