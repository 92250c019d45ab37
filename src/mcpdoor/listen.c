/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients are told that belongs to no request of theirs: on the stream of a visit
 * (legacy), or on that of a subscriptions/listen (modern), which says what it wants.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/rpc.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/rename.h"
#include "participant/ask.h"
#include "participant/keep.h"

#define SUBSCRIPTION S("io.modelcontextprotocol/subscriptionId")

enum {
    LISTEN_TASKS = 64 << 10, /* bytes of taskIds */
    LISTEN_SCRATCH = 1 << 20,
    URI_ROOM = 8 * OFFER_MAX_URI,
};

/* --- resources that are watched --- */

static struct watching *find_watching(const struct attendee *a, struct str owner,
                                      struct str uri)
{
    struct watching *watching;

    LIST_FOREACH(watching, &a->watched, link)
        if (str_eq(watching->uri, uri) && str_eq(watching->owner, owner))
            return watching;
    return NULL;
}

static struct watching *add_watching(struct attendee *a, struct str owner, struct str uri)
{
    struct watching *watching;
    char *at;

    if (a->watched_count >= ATTENDEE_WATCHED)
        return NULL;
    watching = xcalloc(1, sizeof(*watching) + owner.len + uri.len);
    at = (char *)(watching + 1);
    watching->owner = keep_str(&at, owner);
    watching->uri = keep_str(&at, uri);
    list_init(&watching->watches);
    list_append(&a->watched, &watching->link);
    a->watched_count++;
    return watching;
}

static struct watch *watch_find(const struct link *watched, struct str owner,
                                struct str uri)
{
    struct watch *watch;

    LIST_FOREACH(watch, watched, link)
        if (str_eq(watch->of->uri, uri) && str_eq(watch->of->owner, owner))
            return watch;
    return NULL;
}

/* Not everything that a URI can have may stand in a kind: without it, then. */
static void tell_owner(struct attendee *a, struct str method, struct str owner,
                       struct str uri)
{
    CLEANUP(buf_done) struct buf params = {};
    struct asking asking = { .to = owner,
                             .method = method,
                             .name = uri,
                             .how = ASK_CALL,
                             .timeout_ms = HALL_PATIENCE_MS };
    struct json_writer w;

    if (!a->occupant || !occupant_is_welcome(a->occupant))
        return;
    buf_init(&params, URI_ROOM + HALL_MORE);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, S("uri"), uri);
    json_object_close(&w);
    asking.params = buf_str(&params);
    if (occupant_request(a->occupant, &asking, a->hall->now, NULL, NULL) != ERR_INVALID)
        return;
    asking.name = S("");
    (void)occupant_request(a->occupant, &asking, a->hall->now, NULL, NULL);
}

static void watch_new(struct attendee *a, struct watcher *watcher,
                      struct watching *watching)
{
    struct watch *watch = xcalloc(1, sizeof(*watch));

    watch->watcher = watcher;
    watch->of = watching;
    watching->count++;
    a->watch_count++;
    list_append(&watching->watches, &watch->beside);
    list_append(&watcher->watched, &watch->link);
}

enum err attendee_watch(struct attendee *a, struct watcher *watcher, struct str owner,
                        struct str uri)
{
    struct watching *watching;

    if (watch_find(&watcher->watched, owner, uri))
        return OK;
    if (a->watch_count >= ATTENDEE_WATCHES)
        return ERR_OVERLOAD;
    watching = find_watching(a, owner, uri);
    if (!watching)
        watching = add_watching(a, owner, uri);
    if (!watching)
        return ERR_OVERLOAD;
    watch_new(a, watcher, watching);
    if (watching->count == 1)
        tell_owner(a, S("resources/subscribe"), owner, uri);
    return OK;
}

/* The last one takes it along. */
static void watching_unref(struct attendee *a, struct watching *watching)
{
    if (--watching->count)
        return;
    list_remove(&watching->link);
    a->watched_count--;
    tell_owner(a, S("resources/unsubscribe"), watching->owner, watching->uri);
    free(watching);
}

void attendee_unwatch(struct attendee *a, struct watch *watch)
{
    struct watching *watching = watch->of;

    list_remove(&watch->link);
    list_remove(&watch->beside);
    a->watch_count--;
    free(watch);
    watching_unref(a, watching);
}

void watches_renew(struct attendee *a, struct str owner)
{
    const struct watching *watching;

    LIST_FOREACH(watching, &a->watched, link)
        if (str_eq(watching->owner, owner))
            tell_owner(a, S("resources/subscribe"), owner, watching->uri);
}

void watches_end(struct attendee *a, struct link *watched)
{
    struct watch *watch;

    LIST_FOREACH(watch, watched, link)
        attendee_unwatch(a, watch);
}

/* Who has this resource, and what it calls it, in `room`. A single owner has them all. */
static bool find_owner(const struct hall *hall, struct str uri, struct buf *room,
                       struct str *ret_owner, struct str *ret_uri)
{
    const struct exhibit *exhibit = showcase_find_uri(hall->showcase, uri, room, ret_uri);

    if (exhibit) {
        *ret_owner = exhibit->owner;
        return true;
    }
    *ret_owner = showcase_only_owner(hall->showcase);
    *ret_uri = uri;
    return ret_owner->len;
}

/* --- messages --- */

/* "{…,"_meta":{…}}" of params, which may be none. */
static void put_params(struct json_writer *w, struct json_span params,
                       const struct listening *listening)
{
    static const struct str ours[] = { S("_meta") };
    static const struct str id[] = { SUBSCRIPTION };
    struct json_span meta = mcp_message_member(params, ours[0]);

    json_object_open(w);
    if (mcp_message_is(params, JSON_OBJECT))
        json_put_members(w, params.text, (struct str_list){ ours, 1 });
    json_key(w, ours[0]);
    json_object_open(w);
    if (mcp_message_is(meta, JSON_OBJECT))
        json_put_members(w, meta.text, (struct str_list){ id, 1 });
    json_key(w, SUBSCRIPTION);
    json_span(w, listening->id);
    json_object_close(w);
    json_object_close(w);
}

static void tell_listening(const struct listening *listening, struct str method,
                           struct json_span params)
{
    struct hall *hall = listening->attendee->hall;
    CLEANUP(buf_done) struct buf tagged, message;
    struct json_writer w;

    buf_init(&tagged, params.text.len + listening->id.text.len + HALL_MORE);
    buf_init(&message, tagged.max + HALL_MORE);
    json_write_init(&w, &tagged);
    put_params(&w, params, listening);
    mcp_message_put_notification(&message, method, buf_str(&tagged));
    if (!message.is_full && !tagged.is_full)
        strand_send(listening->strand, buf_str(&message), hall->now.mono_ms);
}

static void tell_visit(const struct visit *visit, struct str method,
                       struct json_span params)
{
    CLEANUP(buf_done) struct buf message = {};

    if (!visit->common)
        return;
    buf_init(&message, params.text.len + HALL_MORE);
    mcp_message_put_notification(&message, method, params.text.ptr ? params.text : S(""));
    if (!message.is_full)
        strand_send(visit->common, buf_str(&message), visit->attendee->hall->now.mono_ms);
}

/* --- lists that have changed --- */

/* clang-format off */
static const struct {
    struct str method, filter;
    unsigned types;
} lists[] = {
    { S("notifications/tools/list_changed"),     S("toolsListChanged"),     1U << OFFER_TOOL },
    { S("notifications/prompts/list_changed"),   S("promptsListChanged"),   1U << OFFER_PROMPT },
    { S("notifications/resources/list_changed"), S("resourcesListChanged"), 1U << OFFER_RESOURCE | 1U << OFFER_TEMPLATE },
};
/* clang-format on */

static bool sees_any(const struct hall *hall, const struct showcase_view *view,
                     enum offer_type type)
{
    const struct exhibit *exhibit = NULL;

    while ((exhibit = showcase_next(hall->showcase, type, exhibit)) != NULL)
        if (!exhibit->is_hidden && view->may(view->user, exhibit))
            return true;
    return false;
}

/* Of these types: what it sees now, or has seen before. */
static unsigned concerns(struct attendee *a, unsigned types)
{
    struct showcase_view view = attendee_view(a);
    unsigned seen = 0;

    for (unsigned type = 0; type < OFFER_TYPES; type++)
        if ((types & 1U << type) && sees_any(a->hall, &view, type))
            seen |= 1U << type;
    if (a->hall->desk)
        seen |= 1U << OFFER_TOOL & types;
    types &= seen | a->seen;
    a->seen |= seen;
    return types;
}

void listen_look(struct attendee *a)
{
    (void)concerns(a, ~0U);
}

static void tell_attendee(struct attendee *a, unsigned types)
{
    struct listening *listening;
    struct visit *visit;

    if (list_is_empty(&a->visits) && list_is_empty(&a->listenings))
        return;
    types = concerns(a, types);
    for (size_t i = 0; i < COUNT(lists); i++) {
        if (!(types & lists[i].types))
            continue;
        LIST_FOREACH(visit, &a->visits, link)
            tell_visit(visit, lists[i].method, (struct json_span){});
        LIST_FOREACH(listening, &a->listenings, link)
            if (listening->types & lists[i].types)
                tell_listening(listening, lists[i].method, (struct json_span){});
    }
}

/* What may be told now; of all else the time comes. */
static unsigned take_changed(struct hall *hall)
{
    uint64_t now = hall->now.mono_ms;
    unsigned taken = 0;

    _Static_assert(COUNT(lists) == HALL_LISTS, "a list without a time");
    for (size_t i = 0; i < COUNT(lists); i++) {
        unsigned types = hall->changed & lists[i].types;
        uint64_t *told_ms = &hall->told_ms[i];

        if (!types)
            continue;
        if (*told_ms && *told_ms + HALL_GAP_MS > now) {
            hall_due(hall, *told_ms + HALL_GAP_MS);
            continue;
        }
        *told_ms = now;
        taken |= types;
    }
    hall->changed &= ~taken;
    return taken;
}

void listen_tick(struct hall *hall)
{
    unsigned types = take_changed(hall);
    struct attendee *a;

    if (!types)
        return;
    LIST_FOREACH(a, &hall->attendees, link)
        tell_attendee(a, types);
}

void listen_tell_lists(struct hall *hall, unsigned types)
{
    hall->changed |= types;
    listen_tick(hall);
}

/* --- what participants tell --- */

/* Something that was told to this attendee, in the words of this hall. */
struct told {
    struct attendee *attendee;
    struct str owner, method;
    struct json_span params; /* as they came */
    struct json_span here;   /* with the URIs of here */
};

static void tell_watcher(struct watcher *watcher, const struct told *told)
{
    if (watcher->is_listening)
        tell_listening(CONTAINER_OF(watcher, struct listening, watcher), told->method,
                       told->here);
    else
        tell_visit(CONTAINER_OF(watcher, struct visit, watcher), told->method,
                   told->here);
}

static void tell_updated(const struct told *told)
{
    CLEANUP(arena_done) struct arena scratch;
    struct json_span span = mcp_message_member(told->params, S("uri"));
    struct watching *watching;
    const struct watch *watch;
    struct str uri;

    arena_init(&scratch, LISTEN_SCRATCH);
    if (!mcp_message_is(span, JSON_STRING) || json_unescape(span, &scratch, &uri))
        return;
    watching = find_watching(told->attendee, told->owner, uri);
    if (!watching)
        return;
    watching->count++; /* it stays, whoever is lost meanwhile */
    LIST_FOREACH(watch, &watching->watches, beside)
        tell_watcher(watch->watcher, told);
    watching_unref(told->attendee, watching);
}

/* Modern clients hear of messages on the streams of their requests alone. */
static void tell_message(const struct told *told)
{
    struct json_span name = mcp_message_member(told->params, S("level"));
    int level = mcp_message_is(name, JSON_STRING) ? serve_level(name.text) : -1;
    const struct visit *visit;

    LIST_FOREACH(visit, &told->attendee->visits, link)
        if (visit->level >= 0 && level >= visit->level)
            tell_visit(visit, told->method, told->here);
}

static void tell_visits(const struct told *told)
{
    const struct visit *visit;

    LIST_FOREACH(visit, &told->attendee->visits, link)
        tell_visit(visit, told->method, told->here);
}

static bool wants_task(const struct listening *listening, struct json_span id)
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!listening->tasks.text.ptr)
        return false;
    json_scan_init(&scan, listening->tasks.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        if (item.type == JSON_STRING && str_eq(item.text, id.text))
            return true;
    return false;
}

static void tell_task(const struct told *told)
{
    struct json_span id = mcp_message_member(told->params, S("taskId"));
    const struct listening *listening;

    if (!mcp_message_is(id, JSON_STRING))
        return;
    LIST_FOREACH(listening, &told->attendee->listenings, link)
        if (wants_task(listening, id))
            tell_listening(listening, told->method, told->here);
}

/* clang-format off */
static const struct {
    struct str method;
    void (*tell)(const struct told *told);
} notices[] = {
    { S("notifications/resources/updated"),    tell_updated },
    { S("notifications/message"),              tell_message },
    { S("notifications/tasks/status"),         tell_visits },
    { S("notifications/elicitation/complete"), tell_visits },
    { S("notifications/tasks"),                tell_task },
};
/* clang-format on */

static void tell(struct told *told, void (*how)(const struct told *told))
{
    const struct hall *hall = told->attendee->hall;
    CLEANUP(buf_done) struct buf renamed;

    buf_init(&renamed, told->params.text.len * 2 + HALL_MORE);
    told->here = told->params;
    if (mcp_message_is(told->params, JSON_OBJECT) &&
        showcase_renames(hall->showcase, told->owner)) {
        if (rename_result(&renamed, hall->showcase, told->owner, told->method,
                          told->params))
            return;
        told->here.text = buf_str(&renamed);
    }
    how(told);
}

void listen_tell(struct attendee *a, const struct heard *heard)
{
    const struct envelope *env = &heard->env;
    struct told told = { .attendee = a, .owner = env->from, .method = env->kind.method };

    if (heard->is_system || heard->is_mine || heard->is_replay ||
        env->kind.type != KIND_REQUEST)
        return;
    told.params = mcp_message_member(env->payload, S("params"));
    for (size_t i = 0; i < COUNT(notices); i++)
        if (str_eq(notices[i].method, told.method))
            tell(&told, notices[i].tell);
}

/* --- subscriptions/listen --- */

void listening_free(struct listening *listening)
{
    watches_end(listening->attendee, &listening->watcher.watched);
    list_remove(&listening->link);
    listening->attendee->listening_count--;
    free(listening);
}

static struct listening *listening_new(const struct asked_for *ask,
                                       struct json_span tasks)
{
    struct json_span id = ask->in->message.id;
    struct listening *listening =
        xcalloc(1, sizeof(*listening) + span_raw(id).len + span_raw(tasks).len);
    char *at = (char *)(listening + 1);

    listening->attendee = ask->attendee;
    listening->strand = ask->strand;
    listening->id = keep_span(&at, id);
    if (mcp_message_is(tasks, JSON_ARRAY))
        listening->tasks = keep_span(&at, tasks);
    listening->watcher.is_listening = true;
    list_init(&listening->watcher.watched);
    list_append(&ask->attendee->listenings, &listening->link);
    ask->attendee->listening_count++;
    return listening;
}

/* One of resourceSubscriptions. False: it cannot be watched. */
static bool watch_uri(struct listening *listening, struct json_span item)
{
    struct attendee *a = listening->attendee;
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf room;
    struct str name, owner, uri;

    arena_init(&scratch, LISTEN_SCRATCH);
    buf_init(&room, URI_ROOM);
    if (item.type != JSON_STRING || json_unescape(item, &scratch, &name) ||
        name.len > OFFER_MAX_URI)
        return false;
    if (!find_owner(a->hall, name, &room, &owner, &uri))
        return false;
    if (attendee_right(a, S("resources/subscribe"), uri) != RIGHT_CALL)
        return false;
    return !attendee_watch(a, &listening->watcher, owner, uri);
}

/* Writes those that are watched as the items of an array; false: some are not. Nobody can
 * watch more than are looked at. */
static bool watch_all(struct listening *listening, struct json_span uris,
                      struct json_writer *w)
{
    struct json_scan scan;
    struct json_span item;
    bool are_all = true;
    size_t count = 0;
    enum err err;

    json_scan_init(&scan, uris.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        if (count++ < ATTENDEE_WATCHED && watch_uri(listening, item))
            json_span(w, item);
        else
            are_all = false;
    }
    return are_all;
}

/* What is acknowledged: what was wanted, as it stood, but for what cannot be had. */
static void put_agreed(struct listening *listening, struct json_span wanted,
                       struct buf *out)
{
    static const struct str name[] = { S("resourceSubscriptions") };
    struct json_span uris = mcp_message_member(wanted, name[0]);
    CLEANUP(buf_done) struct buf watched;
    struct json_writer w;
    bool are_all = true;

    buf_init(&watched, wanted.text.len + HALL_MORE);
    json_write_init(&w, &watched);
    if (mcp_message_is(uris, JSON_ARRAY))
        are_all = watch_all(listening, uris, &w);
    if (are_all) {
        buf_put(out, wanted.text);
        return;
    }
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_members(&w, wanted.text, (struct str_list){ name, 1 });
    json_key(&w, name[0]);
    json_array_open(&w);
    if (watched.len)
        json_raw(&w, buf_str(&watched));
    json_array_close(&w);
    json_object_close(&w);
}

static void acknowledge(struct listening *listening, struct json_span wanted)
{
    CLEANUP(buf_done) struct buf agreed, params;

    buf_init(&agreed, wanted.text.len + HALL_MORE);
    buf_init(&params, agreed.max + HALL_MORE);
    put_agreed(listening, wanted, &agreed);
    buf_putf(&params, "{\"notifications\":" STR_FMT "}", STR_ARG(buf_str(&agreed)));
    tell_listening(listening, S("notifications/subscriptions/acknowledged"),
                   (struct json_span){ .type = JSON_OBJECT, .text = buf_str(&params) });
}

void listen_begin(const struct asked_for *ask)
{
    struct json_span wanted =
        mcp_message_member(ask->in->message.params, S("notifications"));
    struct json_span tasks = mcp_message_member(wanted, S("taskIds"));
    struct listening *listening;

    if (!mcp_message_is(wanted, JSON_OBJECT)) {
        asked_fail(ask, RPC_INVALID_PARAMS, S("notifications is missing"), S(""));
        return;
    }
    if (ask->attendee->listening_count >= HALL_LISTENS || tasks.text.len > LISTEN_TASKS ||
        ask->attendee->hall->is_draining) {
        asked_fail(ask, RPC_INTERNAL, S("too many subscriptions"), S(""));
        return;
    }
    listening = listening_new(ask, tasks);
    for (size_t i = 0; i < COUNT(lists); i++)
        if (mcp_message_is(mcp_message_member(wanted, lists[i].filter), JSON_TRUE))
            listening->types |= lists[i].types;
    listen_look(ask->attendee);
    acknowledge(listening, wanted);
}

/* An empty result, with the id of the subscription as everything on it. */
static void end_listening(struct listening *listening)
{
    struct strand *strand = listening->strand;
    uint64_t now_ms = listening->attendee->hall->now.mono_ms;
    CLEANUP(buf_done) struct buf result, message;
    struct json_writer w;

    buf_init(&result, listening->id.text.len + HALL_MORE);
    buf_init(&message, result.max + listening->id.text.len + HALL_MORE);
    json_write_init(&w, &result);
    put_params(&w,
               (struct json_span){ .type = JSON_OBJECT,
                                   .text = S("{\"resultType\":\"complete\"}") },
               listening);
    mcp_message_put_answer(&message, listening->id, S("result"), buf_str(&result));
    listening_free(listening);
    strand_answer(strand, 200, buf_str(&message), now_ms);
}

void listen_end_all(struct attendee *a)
{
    struct listening *listening;

    LIST_FOREACH(listening, &a->listenings, link)
        end_listening(listening);
}
