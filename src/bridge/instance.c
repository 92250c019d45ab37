/* SPDX-License-Identifier: Apache-2.0 */
/* A place for one running server: what it runs on, its session, its pauses. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bridge/prepare.h"
#include "bridge/supervisor_priv.h"

static struct loop *loop_of(const struct instance *instance)
{
    return instance->owner->means.loop;
}

static uint64_t now_of(const struct instance *instance)
{
    return loop_now_ms(loop_of(instance));
}

static void set_why(struct instance *instance, const char *why)
{
    free(instance->why);
    instance->why = why ? xstrdup(why) : NULL;
}

bool instance_runs(const struct instance *instance)
{
    return instance->carriage != NULL;
}

bool instance_is_idle(const struct instance *instance)
{
    return instance->order_count == 0 && !instance->is_kept_watching;
}

void instance_idle_from_now(struct instance *instance)
{
    uint64_t idle_ms = instance->owner->spec->idle_ms;

    instance->used_ms = now_of(instance);
    if (idle_ms > 0 && instance->state == INSTANCE_READY)
        loop_timer_set(loop_of(instance), &instance->idle, idle_ms);
}

/* --- ending --- */

static void forget_questions(struct instance *instance)
{
    struct supervisor *s = instance->owner;
    struct asked *asked;

    LIST_FOREACH(asked, &s->asked, link) {
        if (asked->instance != instance)
            continue;
        list_remove(&asked->link);
        free(asked);
    }
}

/* 500 ms, doubled with each failure; of that three quarters at least, so that servers
 * that fell together do not come back together. */
static uint64_t pause_ms(const struct instance *instance)
{
    const struct server_spec *spec = instance->owner->spec;
    uint64_t pause = spec->backoff_min_ms;
    uint32_t random;

    for (size_t i = 1; i < instance->failures && pause < spec->backoff_max_ms; i++)
        pause *= 2;
    if (pause > spec->backoff_max_ms)
        pause = spec->backoff_max_ms;
    crypto_random(&random, sizeof(random));
    return pause - (uint64_t)random % (pause / 4 + 1);
}

static void pause_now(struct instance *instance)
{
    uint64_t now = now_of(instance);
    uint64_t pause;

    if (instance->ready_ms > 0 && now - instance->ready_ms >= STEADY_MS)
        instance->failures = 0;
    instance->failures++;
    instance->state = INSTANCE_PAUSING;
    pause = pause_ms(instance);
    loop_timer_set(loop_of(instance), &instance->pause, pause);
    supervisor_log(instance->owner, "next try in %" PRIu64 " ms: %s", pause,
                   instance->why ? instance->why : "it ended");
}

void instance_unpause(struct instance *instance)
{
    if (instance->state != INSTANCE_PAUSING)
        return;
    loop_timer_clear(loop_of(instance), &instance->pause);
    instance->state = INSTANCE_RESTING;
    instance->end = END_NONE;
    supervisor_pump_soon(instance->owner);
}

static void on_pause_over(struct loop_timer *self)
{
    instance_unpause(CONTAINER_OF(self, struct instance, pause));
}

/* What an instance becomes when nothing of it runs any more. */
static void settle(struct instance *instance)
{
    switch (instance->end) {
    case END_FAILED:
    case END_HOPELESS: pause_now(instance); break;
    case END_NO_PROBE: instance->is_wanted = true; [[fallthrough]];
    case END_NONE:
    case END_WANTED:
        instance->state = INSTANCE_RESTING;
        instance->end = END_NONE;
        break;
    }
}

static void release(struct instance *instance)
{
    loop_timer_clear(loop_of(instance), &instance->tick);
    loop_timer_clear(loop_of(instance), &instance->idle);
    forget_questions(instance);
    mcp_session_free(TAKE(instance->session));
    if (instance->carriage)
        instance->carriage->ops->free(TAKE(instance->carriage));
}

static void on_reap(struct loop_task *self)
{
    struct instance *instance = CONTAINER_OF(self, struct instance, reap);

    release(instance);
    settle(instance);
    instance->ready_ms = 0;
    supervisor_pump_soon(instance->owner);
}

static void fail_as(struct instance *instance, enum instance_end end, const char *why)
{
    if (instance->end != END_NONE)
        return; /* the first reason counts */
    instance->end = end;
    if (end != END_WANTED)
        set_why(instance, why);
}

static void close_carriage(struct instance *instance)
{
    if (instance->state == INSTANCE_LEAVING || !instance->carriage)
        return;
    instance->state = INSTANCE_LEAVING;
    loop_timer_clear(loop_of(instance), &instance->idle);
    instance->carriage->ops->close(instance->carriage);
    supervisor_pump_soon(instance->owner);
}

void instance_leave(struct instance *instance)
{
    instance->is_wanted = false;
    if (!instance->carriage) {
        instance_unpause(instance);
        supervisor_pump_soon(instance->owner);
        return;
    }
    fail_as(instance, END_WANTED, NULL);
    close_carriage(instance);
}

void instance_kill(struct instance *instance, const char *why)
{
    if (!instance->carriage)
        return;
    fail_as(instance, END_FAILED, why);
    if (instance->session)
        mcp_session_ended(instance->session, why, now_of(instance));
    instance->carriage->ops->free(TAKE(instance->carriage));
    loop_defer(loop_of(instance), &instance->reap);
}

/* --- what it runs on tells --- */

static void on_log(void *user, struct str line)
{
    const struct supervisor *s = ((struct instance *)user)->owner;

    s->ops->on_log(s->user, line);
}

static void on_secret(void *user, struct str value)
{
    const struct supervisor *s = ((struct instance *)user)->owner;

    if (s->ops->on_secret)
        s->ops->on_secret(s->user, value);
}

static void on_ended(void *user, const char *why, bool never_ran)
{
    struct instance *instance = user;

    fail_as(instance, never_ran ? END_HOPELESS : END_FAILED, why);
    instance->state = INSTANCE_LEAVING;
    loop_defer(loop_of(instance), &instance->reap);
}

static const struct carriage_events carriage_events = {
    .on_log = on_log,
    .on_secret = on_secret,
    .on_ended = on_ended,
};

/* --- what its session tells --- */

static void apply_watch(struct instance *instance)
{
    CLEANUP(xfreep)
    struct str *uris = xcalloc(instance->watched_count + 1, sizeof(*uris));

    for (size_t i = 0; i < instance->watched_count; i++)
        uris[i] = str_of(instance->watched[i]);
    mcp_session_watch(instance->session, uris, instance->watched_count, now_of(instance));
}

/* What nobody wants any more is not taken back: it is passed over. */
void instance_relevel(struct instance *instance)
{
    const struct supervisor *s = instance->owner;
    struct str level = S("");

    if (instance->state == INSTANCE_READY && s->ops->level)
        level = s->ops->level(s->user, str_of(instance->caller));
    if (level.len)
        mcp_session_level(instance->session, level, now_of(instance));
}

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    struct instance *instance = user;
    struct supervisor *s = instance->owner;

    if (instance->state != INSTANCE_STARTING)
        return;
    instance->state = INSTANCE_READY;
    instance->ready_ms = now_of(instance);
    instance_idle_from_now(instance);
    if (instance->watched_count > 0)
        apply_watch(instance);
    instance_relevel(instance);
    supervisor_note_facts(s, facts);
    supervisor_tell(s);
    supervisor_pump_soon(s);
}

/* One that did not even read the probe did not end because of it. */
static bool may_be_of_probe(const struct instance *instance)
{
    struct carriage *carriage = instance->carriage;

    return carriage && (!carriage->ops->was_read || carriage->ops->was_read(carriage));
}

static void on_session_end(void *user, enum mcp_end end, const char *why)
{
    struct instance *instance = user;

    if (instance->state == INSTANCE_STARTING && end != SESSION_FORBIDDEN)
        supervisor_doubt_era(instance->owner);
    switch (end) {
    case SESSION_NO_PROBE:
        if (!may_be_of_probe(instance))
            return;
        instance->owner->era = ERA_LEGACY;
        fail_as(instance, END_NO_PROBE, why);
        return;
    case SESSION_REFUSED:
    case SESSION_FORBIDDEN: fail_as(instance, END_HOPELESS, why); break;
    case SESSION_SILENT: fail_as(instance, END_FAILED, why); break;
    case SESSION_ENDED: return; /* the carriage says more */
    }
    close_carriage(instance);
}

static struct server_order *order_of_call(const struct instance *instance, uint64_t call)
{
    struct server_order *order;

    LIST_FOREACH(order, &instance->orders, link)
        if (call != 0 && order->call == call && order->caller.len > 0)
            return order;
    return NULL;
}

/* To whose call something belongs that does not say so: the latest, where all calls under
 * way are of one caller; never guessed otherwise. */
static struct server_order *latest_order(const struct instance *instance,
                                         size_t *ret_callers)
{
    struct server_order *order, *latest = NULL;

    *ret_callers = 0;
    LIST_FOREACH(order, &instance->orders, link) {
        if (order->caller.len == 0)
            continue;
        if (!latest)
            *ret_callers = 1;
        else if (!str_eq(order->caller, latest->caller))
            *ret_callers = 2;
        latest = order;
    }
    return *ret_callers == 1 ? latest : NULL;
}

/* Of what has no call to belong to, messages alone are said during one, as a rule. */
static void tell_notice(const struct instance *instance,
                        const struct mcp_message *message, uint64_t call)
{
    const struct supervisor *s = instance->owner;
    struct server_notice notice = { .message = message,
                                    .order = order_of_call(instance, call) };
    size_t callers;

    if (!notice.order && str_eq(message->method, S("notifications/message"))) {
        notice.order = latest_order(instance, &callers);
        notice.is_likely = notice.order;
    }
    s->ops->on_notification(s->user, &notice);
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    struct instance *instance = user;
    const struct supervisor *s = instance->owner;

    if (!str_eq(message->method, S("notifications/progress")))
        tell_notice(instance, message, call);
    else if (s->ops->on_late_progress)
        s->ops->on_late_progress(s->user, (struct server_origin){ instance->run, call },
                                 message->params);
}

static void on_question(void *user, struct mcp_question *question)
{
    struct instance *instance = user;
    const struct supervisor *s = instance->owner;
    struct server_question from = { .question = question };
    struct asked *asked = xcalloc(1, sizeof(*asked));

    from.order = order_of_call(instance, question->call);
    from.callers = 1;
    if (!from.order)
        from.order = latest_order(instance, &from.callers);
    asked->instance = instance;
    asked->question = question;
    list_append(&instance->owner->asked, &asked->link);
    s->ops->on_question(s->user, &from);
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    const struct supervisor *s = ((struct instance *)user)->owner;
    struct asked *asked;

    LIST_FOREACH(asked, &s->asked, link) {
        if (asked->question != question)
            continue;
        list_remove(&asked->link);
        free(asked);
        s->ops->on_question_gone(s->user, question);
        return;
    }
}

static void on_oddity(void *user, const char *what)
{
    supervisor_log(((struct instance *)user)->owner, "%s", what);
}

static void on_due(void *user)
{
    struct instance *instance = user;
    uint64_t now = now_of(instance);
    uint64_t due;

    if (!instance->session)
        return; /* it is being made: whoever makes it asks */
    due = mcp_session_due_ms(instance->session);
    if (due == UINT64_MAX)
        loop_timer_clear(loop_of(instance), &instance->tick);
    else
        loop_timer_set(loop_of(instance), &instance->tick, due > now ? due - now : 0);
}

static void on_tick(struct loop_timer *self)
{
    struct instance *instance = CONTAINER_OF(self, struct instance, tick);

    mcp_session_tick(instance->session, now_of(instance));
    on_due(instance);
}

static const struct mcp_session_ops session_ops = {
    .on_ready = on_ready,
    .on_end = on_session_end,
    .on_notification = on_notification,
    .on_question = on_question,
    .on_question_gone = on_question_gone,
    .on_oddity = on_oddity,
    .on_due = on_due,
};

/* --- beginning --- */

static void on_idle(struct loop_timer *self)
{
    struct instance *instance = CONTAINER_OF(self, struct instance, idle);

    if (!instance_is_idle(instance))
        return; /* the timer is set again when its last order has ended */
    supervisor_log(instance->owner, "nobody called it: it rests");
    instance_leave(instance);
}

struct instance *instance_new(struct supervisor *owner, struct str caller)
{
    struct instance *instance = xcalloc(1, sizeof(*instance));

    instance->owner = owner;
    instance->caller = str_dup(caller);
    instance->tick.on_fire = on_tick;
    instance->pause.on_fire = on_pause_over;
    instance->idle.on_fire = on_idle;
    instance->reap.run = on_reap;
    instance->used_ms = now_of(instance);
    list_init(&instance->orders);
    list_append(&owner->instances, &instance->link);
    owner->instance_count++;
    return instance;
}

static void forget_watched(struct instance *instance)
{
    for (size_t i = 0; i < instance->watched_count; i++)
        free(instance->watched[i]);
    free(TAKE(instance->watched));
    instance->watched_count = 0;
}

void instance_free(struct instance *instance)
{
    struct server_order *order;

    /* Orders first: when its last one goes, an instance sets a timer. */
    LIST_FOREACH(order, &instance->orders, link)
        order_free(order);
    list_remove(&instance->reap.link);
    loop_timer_clear(loop_of(instance), &instance->pause);
    release(instance);
    forget_watched(instance);
    list_remove(&instance->link);
    instance->owner->instance_count--;
    free(instance->why);
    free(instance->caller);
    free(instance);
}

/* A server that was modern once is given its time for the probe, and may be another one
 * now; that one is legacy which somebody says is, or which was until lately. */
static enum mcp_era presumed_era(const struct supervisor *s)
{
    return s->spec->era == ERA_UNKNOWN && s->era == ERA_MODERN ? ERA_UNKNOWN : s->era;
}

static void open_session(struct instance *instance)
{
    const struct supervisor *s = instance->owner;
    const struct server_spec *spec = s->spec;
    bool is_patient = spec->url.len > 0 || s->era == ERA_MODERN;
    struct mcp_session_settings settings = {
        .name = S("moot"),
        .version = S(MOOT_VERSION),
        .era = presumed_era(s),
        .has_sampling = true,
        .has_elicitation = true,
        .has_url_elicitation = true,
        .has_roots = true,
        .has_tasks = true,
        .probe_ms = is_patient ? spec->open_ms : 2'000,
        .open_ms = spec->open_ms,
        .call_ms = spec->call_ms,
        .call_max_ms = 3'600'000,
        .max_calls = spec->max_waiting,
        .max_questions = 64,
        .max_depth = 128,
        .max_rounds = 10,
        .max_message = spec->max_message,
    };
    struct carrier *carrier = instance->carriage->ops->carrier(instance->carriage);

    instance->session =
        mcp_session_new(&settings, carrier, &session_ops, instance, now_of(instance));
    on_due(instance);
}

static void fail_at_once(struct instance *instance, const char *why)
{
    fail_as(instance, END_HOPELESS, why);
    pause_now(instance);
    supervisor_pump_soon(instance->owner);
}

/* What it runs is there, or will be: false. */
static bool is_prepared(struct instance *instance)
{
    struct prepare *prepare = instance->owner->prepare;

    switch (prepare ? prepare_go(prepare) : PREPARE_DONE) {
    case PREPARE_DONE: return true;
    case PREPARE_FAILED: fail_at_once(instance, prepare_why(prepare)); break;
    case PREPARE_NEEDED:
    case PREPARE_RUNNING: break; /* the pump comes again when it is over */
    }
    return false;
}

void instance_start(struct instance *instance)
{
    struct supervisor *s = instance->owner;
    struct carriage_order order = {
        .spec = s->spec,
        .command = &s->spec->command,
        .events = &carriage_events,
        .user = instance,
    };
    typeof(carriage_open) *open = s->means.open ? s->means.open : carriage_open;
    CLEANUP(xfreep) char *why = NULL;

    instance->end = END_NONE;
    if (!is_prepared(instance))
        return;
    if (s->prepare) {
        order.command = prepare_command(s->prepare);
        order.package = prepare_folder(s->prepare);
        supervisor_keep(s);
    }
    if (instance->failures > 0 || instance->was_started)
        s->restarts++;
    instance->was_started = true;
    if (open(&s->means, &order, &instance->carriage, &why)) {
        fail_at_once(instance, why);
        return;
    }
    instance->state = INSTANCE_STARTING;
    instance->run = ++s->runs;
    open_session(instance);
}

/* --- what is asked of it --- */

enum err instance_send(struct instance *instance, struct server_order *order)
{
    struct mcp_call call = order->what;
    enum err err;

    call.ops = order_ops;
    call.user = order;
    err = mcp_session_call(instance->session, &call, now_of(instance), &order->call);
    if (err)
        return err;
    order_unwait(order);
    order->instance = instance;
    order->run = instance->run;
    order->tries++;
    list_append(&instance->orders, &order->link);
    instance->order_count++;
    instance->is_wanted = instance->owner->spec->mode != SERVER_PER_CALLER;
    loop_timer_clear(loop_of(instance), &instance->idle);
    return OK;
}

void instance_watch(struct instance *instance, const struct str *uris, size_t count)
{
    forget_watched(instance);
    instance->watched = xcalloc(count + 1, sizeof(*instance->watched));
    for (size_t i = 0; i < count; i++)
        instance->watched[i] = str_dup(uris[i]);
    instance->watched_count = count;
    instance_idle_from_now(instance);
    if (instance->state == INSTANCE_READY)
        apply_watch(instance);
}
