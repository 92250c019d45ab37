/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/supervisor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bridge/prepare.h"
#include "bridge/supervisor_priv.h"
#include "json/json.h"

static uint64_t now_of(const struct supervisor *s)
{
    return loop_now_ms(s->means.loop);
}

void supervisor_log(struct supervisor *s, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    s->ops->on_event(s->user, line);
}

/* --- its state --- */

/* The readiest of its instances speaks for all. */
static enum server_state state_now(const struct supervisor *s, const char **ret_why)
{
    static const enum server_state states[] = {
        [INSTANCE_RESTING] = SERVER_RESTING, [INSTANCE_STARTING] = SERVER_STARTING,
        [INSTANCE_READY] = SERVER_READY,     [INSTANCE_LEAVING] = SERVER_RESTING,
        [INSTANCE_PAUSING] = SERVER_FAILING,
    };
    static const int ranks[] = {
        [SERVER_RESTING] = 0,  [SERVER_FAILING] = 1, [SERVER_PREPARING] = 2,
        [SERVER_STARTING] = 3, [SERVER_READY] = 4,   [SERVER_STOPPED] = 5,
    };
    enum server_state state = SERVER_RESTING;
    struct instance *instance;

    *ret_why = NULL;
    if (s->is_stopped) {
        *ret_why = s->stopped_why;
        return SERVER_STOPPED;
    }
    if (s->prepare && prepare_is_running(s->prepare))
        state = SERVER_PREPARING;
    LIST_FOREACH(instance, &s->instances, link) {
        enum server_state its = states[instance->state];

        if (ranks[its] <= ranks[state])
            continue;
        state = its;
        *ret_why = its == SERVER_FAILING ? instance->why : NULL;
    }
    return state;
}

enum server_state supervisor_state(const struct supervisor *s)
{
    const char *why;

    return state_now(s, &why);
}

void supervisor_tell(struct supervisor *s)
{
    const char *why;
    enum server_state state = state_now(s, &why);

    if (state == s->told && str_eq(str_of(why), str_of(s->told_why)))
        return;
    s->told = state;
    free(s->told_why);
    s->told_why = why ? xstrdup(why) : NULL;
    s->since_wall_ms = loop_wall_ms(s->means.loop);
    s->ops->on_state(s->user, state, s->told_why ? s->told_why : "");
}

void supervisor_keep(struct supervisor *s)
{
    CLEANUP(buf_done) struct buf json;
    struct json_writer w;

    buf_init(&json, 4 << 10);
    json_write_init(&w, &json);
    json_object_open(&w);
    if (s->era_wall_ms > 0) {
        json_put_str(&w, S("era"), s->era == ERA_MODERN ? S("modern") : S("legacy"));
        json_put_uint(&w, S("era_ms"), s->era_wall_ms);
    }
    if (s->prepare && prepare_pin(s->prepare).len > 0)
        json_put_str(&w, S("package"), prepare_pin(s->prepare));
    json_object_close(&w);
    if (str_eq(buf_str(&json), str_of(s->kept)))
        return;
    free(s->kept);
    s->kept = str_dup(buf_str(&json));
    s->ops->on_keep(s->user, buf_str(&json));
}

/* What was found out long ago about an old server may have changed. */
static void restore_era(struct supervisor *s, struct str era, uint64_t wall_ms)
{
    uint64_t now = loop_wall_ms(s->means.loop);

    if (s->spec->era != ERA_UNKNOWN)
        return;
    if (str_eq(era, S("modern")))
        s->era = ERA_MODERN;
    else if (str_eq(era, S("legacy")) && wall_ms <= now && now - wall_ms < REPROBE_MS)
        s->era = ERA_LEGACY;
    else
        return;
    s->era_wall_ms = wall_ms;
}

void supervisor_restore(struct supervisor *s, struct str kept)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *at;
    uint64_t wall_ms;

    arena_init(&arena, 64 << 10);
    if (kept.len == 0 || json_parse(kept, &arena, &root, NULL))
        return;
    at = json_find(root, S("era_ms"));
    if (at && at->type == JSON_NUMBER && !str_to_u64(at->text, INT64_MAX, &wall_ms))
        restore_era(s, json_text(json_find(root, S("era"))), wall_ms);
    if (s->prepare)
        prepare_restore(s->prepare, json_text(json_find(root, S("package"))));
}

void supervisor_doubt_era(struct supervisor *s)
{
    s->era = s->spec->era;
    s->era_wall_ms = 0;
}

static void digest_facts(const struct mcp_session_facts *facts,
                         uint8_t ret[static SHA256_BYTES])
{
    const struct str parts[] = { facts->version,      S("\n"),
                                 facts->server,       S("\n"),
                                 facts->capable.text, S("\n"),
                                 facts->instructions };

    crypto_sha256_parts(parts, COUNT(parts), ret);
}

void supervisor_note_facts(struct supervisor *s, const struct mcp_session_facts *facts)
{
    uint8_t digest[SHA256_BYTES];

    if (s->era != facts->era || s->era_wall_ms == 0) {
        s->era = facts->era;
        s->era_wall_ms = loop_wall_ms(s->means.loop);
        supervisor_keep(s);
    }
    digest_facts(facts, digest);
    if (s->has_facts && memcmp(digest, s->facts, sizeof(digest)) == 0)
        return;
    s->has_facts = true;
    memcpy(s->facts, digest, sizeof(digest));
    s->ops->on_facts(s->user, facts);
}

/* --- orders find instances --- */

static void fail_hopeless(struct server_order *order, const struct instance *instance)
{
    char text[600];

    (void)snprintf(text, sizeof(text), "the server cannot be started: %s",
                   instance->why ? instance->why : "it ended");
    order_fail(order, str_of(text), S("server_not_started"));
}

/* One order: sent, left waiting for what it started, or refused. */
static void serve(struct supervisor *s, struct server_order *order)
{
    struct instance *instance = pool_find(s, order);
    enum err err;

    if (!instance) {
        if (order->caller.len == 0 && supervisor_state(s) == SERVER_RESTING)
            order_fail(order, S("the server rests"), S("server_stopped"));
        return;
    }
    switch (instance->state) {
    case INSTANCE_READY:
        err = instance_send(instance, order);
        if (err && err != ERR_AGAIN)
            order_fail(order, str_of(err_name(err)), S("server_overload"));
        break;
    case INSTANCE_RESTING: instance_start(instance); break;
    case INSTANCE_PAUSING:
        if (instance->end == END_HOPELESS)
            fail_hopeless(order, instance);
        break;
    case INSTANCE_STARTING:
    case INSTANCE_LEAVING: break;
    }
}

/* Its place is free for somebody who waits. */
static void drop_instance(struct instance *instance)
{
    struct supervisor *s = instance->owner;

    instance_free(instance);
    if (s->waiting_count > 0)
        supervisor_pump_soon(s);
}

/* Starts what is wanted without an order, drops what nobody needs any more. */
static void tend(struct supervisor *s)
{
    struct instance *instance;
    bool is_per_caller = s->spec->mode == SERVER_PER_CALLER;

    LIST_FOREACH(instance, &s->instances, link) {
        if (instance->state != INSTANCE_RESTING)
            continue;
        if (!instance->is_forgotten &&
            (instance->is_wanted || instance->is_kept_watching))
            instance_start(instance);
        else if (instance->is_forgotten || is_per_caller)
            drop_instance(instance);
    }
}

static void watch_on(struct supervisor *s)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        if (instance->carriage && instance->carriage->ops->excess &&
            !loop_timer_is_set(&s->watch))
            loop_timer_set(s->means.loop, &s->watch, WATCH_MS);
}

static void on_watch(struct loop_timer *self)
{
    struct supervisor *s = CONTAINER_OF(self, struct supervisor, watch);
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link) {
        struct carriage *carriage = instance->carriage;
        const char *why = NULL;

        if (carriage && carriage->ops->excess)
            why = carriage->ops->excess(carriage);
        if (why)
            instance_kill(instance, why);
    }
    watch_on(s);
}

static void fail_waiting(struct supervisor *s, struct str message)
{
    struct server_order *order;

    LIST_FOREACH(order, &s->waiting, link)
        order_fail(order, message, S("server_stopped"));
}

static void on_pump(struct loop_task *self)
{
    struct supervisor *s = CONTAINER_OF(self, struct supervisor, pump);
    struct server_order *order;

    if (s->is_stopped) {
        fail_waiting(s, S("the server is stopped"));
    } else {
        LIST_FOREACH(order, &s->waiting, link) {
            if (order->is_cancelled)
                order_finish(order, &(struct mcp_reply){ .type = REPLY_CANCELLED });
            else
                serve(s, order);
        }
    }
    if (!s->is_stopped)
        tend(s);
    watch_on(s);
    supervisor_tell(s);
}

void supervisor_pump_soon(struct supervisor *s)
{
    loop_defer(s->means.loop, &s->pump);
}

/* Those that waited long enough end; the timer is for the next of the others. */
static void on_expiry(struct loop_timer *self)
{
    struct supervisor *s = CONTAINER_OF(self, struct supervisor, expiry);
    uint64_t now = now_of(s), next = UINT64_MAX;
    struct server_order *order;
    char text[600];

    (void)snprintf(text, sizeof(text), "the server was not ready in time%s%s",
                   s->told_why ? ": " : "", s->told_why ? s->told_why : "");
    LIST_FOREACH(order, &s->waiting, link) {
        if (order->due_ms <= now)
            order_fail(order, str_of(text), S("server_not_ready"));
        else if (order->due_ms < next)
            next = order->due_ms;
    }
    if (next != UINT64_MAX)
        loop_timer_set(s->means.loop, &s->expiry, next - now);
}

static void on_prepare_log(void *user, struct str line)
{
    const struct supervisor *s = user;

    s->ops->on_log(s->user, line);
}

static void on_prepare_event(void *user, const char *line)
{
    const struct supervisor *s = user;

    s->ops->on_event(s->user, line);
}

static void on_prepared(void *user)
{
    supervisor_pump_soon(user);
}

static const struct prepare_ops prepare_ops = { .on_log = on_prepare_log,
                                                .on_event = on_prepare_event,
                                                .on_done = on_prepared };

/* --- for whoever orders --- */

struct supervisor *supervisor_new(struct server_spec *spec,
                                  const struct supervisor_means *means,
                                  const struct supervisor_ops *ops, void *user)
{
    struct supervisor *s = xcalloc(1, sizeof(*s));
    size_t places = spec->mode == SERVER_POOLED ? spec->instances : 1;

    s->spec = server_spec_ref(spec);
    s->means = *means;
    s->ops = ops;
    s->user = user;
    s->era = spec->era;
    s->pump.run = on_pump;
    s->expiry.on_fire = on_expiry;
    s->watch.on_fire = on_watch;
    s->since_wall_ms = loop_wall_ms(means->loop);
    s->prepare = prepare_new(s->spec, &s->means, &prepare_ops, s);
    list_init(&s->instances);
    list_init(&s->waiting);
    list_init(&s->asked);
    if (spec->mode != SERVER_PER_CALLER)
        for (size_t i = 0; i < places; i++)
            (void)instance_new(s, S(""));
    if (spec->starts_now)
        supervisor_start(s);
    return s;
}

void supervisor_free(struct supervisor *s)
{
    struct instance *instance;
    struct server_order *order;

    if (!s)
        return;
    LIST_FOREACH(instance, &s->instances, link)
        instance_free(instance);
    LIST_FOREACH(order, &s->waiting, link)
        order_free(order);
    loop_timer_clear(s->means.loop, &s->expiry);
    loop_timer_clear(s->means.loop, &s->watch);
    list_remove(&s->pump.link);
    prepare_free(s->prepare);
    free(s->kept);
    free(s->told_why);
    free(s->stopped_why);
    server_spec_unref(s->spec);
    free(s);
}

static bool runs_or_will(const struct supervisor *s)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        if (instance->state == INSTANCE_READY || instance->state == INSTANCE_STARTING ||
            instance->is_wanted)
            return true;
    return false;
}

/* The way of most orders: nobody waits, and an instance can take it now. */
static bool try_now(struct supervisor *s, struct server_order *order, enum err *ret_err)
{
    struct instance *instance = s->waiting_count == 0 ? pool_find(s, order) : NULL;

    if (!instance || instance->state != INSTANCE_READY)
        return false;
    *ret_err = instance_send(instance, order);
    return *ret_err != ERR_AGAIN;
}

enum err supervisor_order(struct supervisor *s, struct str caller,
                          const struct mcp_call *call, struct server_order **ret)
{
    struct server_order *order;
    enum err err = OK;

    if (s->is_stopped || (caller.len == 0 && !runs_or_will(s)))
        return ERR_UNAVAILABLE;
    if (s->order_count >= s->spec->max_waiting)
        return ERR_OVERLOAD;
    order = order_new(s, caller, call);
    if (try_now(s, order, &err)) {
        if (err) {
            order_free(order);
            return err;
        }
        *ret = order;
        return OK;
    }
    if (s->waiting_bytes + order->bytes > WAITING_BYTES && s->waiting_count > 0) {
        order_free(order);
        return ERR_OVERLOAD;
    }
    order_wait(order);
    supervisor_pump_soon(s);
    *ret = order;
    return OK;
}

void supervisor_cancel(struct supervisor *s, struct server_order *order,
                       struct str reason)
{
    if (order->is_cancelled)
        return;
    order->is_cancelled = true;
    if (order->instance)
        mcp_session_cancel(order->instance->session, order->call, reason, now_of(s));
    else
        supervisor_pump_soon(s);
}

/* "" is everybody's; with one instance for all a caller's is that one. */
static bool is_for(const struct instance *instance, struct str caller)
{
    return caller.len == 0 || instance->owner->spec->mode != SERVER_PER_CALLER ||
           str_eq(str_of(instance->caller), caller);
}

void supervisor_notify(struct supervisor *s, struct str caller, struct str method,
                       struct str params)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        if (instance->state == INSTANCE_READY && is_for(instance, caller))
            (void)mcp_session_notify(instance->session, method, params);
}

/* Of a pool any may be the one that changes something, so all that run are told; the
 * first also runs for it. */
static void watch_pool(struct supervisor *s, const struct str *uris, size_t count)
{
    struct instance *instance;
    bool is_first = true;

    LIST_FOREACH(instance, &s->instances, link) {
        instance_watch(instance, uris, count);
        instance->is_kept_watching = is_first && count > 0;
        is_first = false;
    }
}

void supervisor_watch(struct supervisor *s, struct str caller, const struct str *uris,
                      size_t count)
{
    struct instance *instance;

    if (s->spec->mode != SERVER_PER_CALLER) {
        watch_pool(s, uris, count);
        supervisor_pump_soon(s);
        return;
    }
    instance = pool_of_caller(s, caller);
    if (!instance && count > 0 && s->instance_count < s->spec->instances)
        instance = instance_new(s, caller);
    if (!instance)
        return;
    instance_watch(instance, uris, count);
    instance->is_kept_watching = count > 0;
    supervisor_pump_soon(s);
}

void supervisor_relevel(struct supervisor *s)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        instance_relevel(instance);
}

void supervisor_answer(struct supervisor *s, struct mcp_question *question,
                       struct str member, struct str json)
{
    struct asked *asked;

    LIST_FOREACH(asked, &s->asked, link) {
        struct instance *instance = asked->instance;

        if (asked->question != question)
            continue;
        list_remove(&asked->link);
        free(asked);
        mcp_question_answer(instance->session, question, member, json, now_of(s));
        return;
    }
}

static void cancel_of(struct supervisor *s, struct link *orders, struct str caller)
{
    struct server_order *order;

    LIST_FOREACH(order, orders, link)
        if (str_eq(order->caller, caller))
            supervisor_cancel(s, order, S("the caller has left"));
}

void supervisor_forget(struct supervisor *s, struct str caller)
{
    struct instance *instance;

    cancel_of(s, &s->waiting, caller);
    LIST_FOREACH(instance, &s->instances, link)
        cancel_of(s, &instance->orders, caller);
    if (s->spec->mode != SERVER_PER_CALLER || caller.len == 0)
        return;
    instance = pool_of_caller(s, caller);
    if (!instance)
        return;
    instance->is_forgotten = true;
    instance->is_kept_watching = false;
    instance_watch(instance, NULL, 0);
    instance_leave(instance);
}

/* --- for people --- */

void supervisor_start(struct supervisor *s)
{
    struct instance *instance;

    s->is_stopped = false;
    LIST_FOREACH(instance, &s->instances, link) {
        instance->failures = 0;
        instance_unpause(instance);
    }
    instance = LIST_FIRST(&s->instances, struct instance, link);
    if (!instance)
        instance = instance_new(s, S(""));
    instance->is_wanted = true;
    supervisor_pump_soon(s);
}

void supervisor_stop(struct supervisor *s, const char *why)
{
    struct instance *instance;

    s->is_stopped = true;
    free(s->stopped_why);
    s->stopped_why = xstrdup(why ? why : "");
    if (s->prepare)
        prepare_stop(s->prepare);
    LIST_FOREACH(instance, &s->instances, link)
        instance_leave(instance);
    supervisor_pump_soon(s);
}

void supervisor_restart(struct supervisor *s)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        instance_leave(instance);
    supervisor_start(s);
}

bool supervisor_is_quiet(const struct supervisor *s)
{
    struct instance *instance;

    LIST_FOREACH(instance, &s->instances, link)
        if (instance_runs(instance))
            return false;
    return !s->prepare || !prepare_is_running(s->prepare);
}

/* --- for lists --- */

uint64_t supervisor_restarts(const struct supervisor *s)
{
    return s->restarts;
}

static void put_instance(struct json_writer *w, const struct instance *instance)
{
    static const struct str names[] = { S("resting"), S("starting"), S("ready"),
                                        S("leaving"), S("pausing") };

    json_object_open(w);
    if (instance->caller[0])
        json_put_str(w, S("caller"), str_of(instance->caller));
    json_put_str(w, S("state"), names[instance->state]);
    json_put_uint(w, S("calls"), instance->order_count);
    if (instance->why)
        json_put_str(w, S("last_failure"), str_of(instance->why));
    if (instance->carriage && instance->carriage->ops->put_json)
        instance->carriage->ops->put_json(instance->carriage, w);
    json_object_close(w);
}

const char *server_state_name(enum server_state state)
{
    static const char *const names[] = {
        [SERVER_RESTING] = "resting",   [SERVER_PREPARING] = "preparing",
        [SERVER_STARTING] = "starting", [SERVER_READY] = "ready",
        [SERVER_FAILING] = "failing",   [SERVER_STOPPED] = "stopped",
    };

    return names[state];
}

void supervisor_put_json(const struct supervisor *s, struct buf *out)
{
    static const struct str eras[] = { S("unknown"), S("legacy"), S("modern") };
    const char *why;
    enum server_state state = state_now(s, &why);
    struct instance *instance;
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("state"), str_of(server_state_name(state)));
    if (why && *why)
        json_put_str(&w, S("why"), str_of(why));
    json_put_time(&w, S("since"), s->since_wall_ms);
    json_put_str(&w, S("era"), eras[s->era]);
    json_put_uint(&w, S("restarts"), s->restarts);
    json_put_uint(&w, S("waiting"), s->waiting_count);
    json_key(&w, S("instances"));
    json_array_open(&w);
    LIST_FOREACH(instance, &s->instances, link)
        put_instance(&w, instance);
    json_array_close(&w);
    json_object_close(&w);
}
