/* SPDX-License-Identifier: Apache-2.0 */
/* Which instance takes an order: the three modes. */
#include <stdlib.h>

#include "bridge/supervisor_priv.h"

struct instance *pool_of_caller(const struct supervisor *supervisor, struct str caller)
{
    struct instance *instance;

    LIST_FOREACH(instance, &supervisor->instances, link)
        if (!instance->is_forgotten && str_eq(str_of(instance->caller), caller))
            return instance;
    return NULL;
}

/* The bridge's own questions go wherever something runs, the readiest first. */
static struct instance *any_running(const struct supervisor *supervisor)
{
    struct instance *instance, *found = NULL;

    LIST_FOREACH(instance, &supervisor->instances, link) {
        if (instance->is_forgotten)
            continue;
        if (instance->state == INSTANCE_READY)
            return instance;
        if (instance->state == INSTANCE_STARTING || instance->is_wanted)
            found = instance;
    }
    return found;
}

/* --- per caller --- */

static bool is_waited_for(const struct supervisor *supervisor,
                          const struct instance *instance)
{
    struct server_order *order;

    LIST_FOREACH(order, &supervisor->waiting, link)
        if (str_eq(order->caller, str_of(instance->caller)))
            return true;
    return false;
}

/* Somebody else's goes that was not used for the longest time. */
static void make_room(struct supervisor *supervisor)
{
    struct instance *instance, *oldest = NULL;

    LIST_FOREACH(instance, &supervisor->instances, link) {
        if (instance->is_forgotten)
            return; /* one goes already */
        if (!instance_is_idle(instance) || is_waited_for(supervisor, instance))
            continue;
        if (!oldest || instance->used_ms < oldest->used_ms)
            oldest = instance;
    }
    if (!oldest)
        return;
    oldest->is_forgotten = true;
    instance_leave(oldest);
}

static struct instance *of_caller(struct supervisor *supervisor, struct str caller)
{
    struct instance *instance;

    if (caller.len == 0)
        return any_running(supervisor);
    instance = pool_of_caller(supervisor, caller);
    if (instance)
        return instance;
    /* What was started to learn what is offered has seen nobody's words yet. */
    instance = pool_of_caller(supervisor, S(""));
    if (instance) {
        free(instance->caller);
        instance->caller = str_dup(caller);
        return instance;
    }
    if (supervisor->instance_count < supervisor->spec->instances)
        return instance_new(supervisor, caller);
    make_room(supervisor);
    return NULL;
}

/* --- pooled --- */

struct pool_look {
    struct instance *free, *resting, *hopeless;
    size_t starting, pausing, able;
};

static void look_at(struct pool_look *look, struct instance *instance)
{
    switch (instance->state) {
    case INSTANCE_READY:
        look->able++;
        if (instance->order_count == 0 && !look->free)
            look->free = instance;
        break;
    case INSTANCE_RESTING:
        if (!look->resting)
            look->resting = instance;
        break;
    case INSTANCE_STARTING: look->starting++; break;
    case INSTANCE_PAUSING:
        look->pausing++;
        if (instance->end == END_HOPELESS)
            look->hopeless = instance;
        break;
    case INSTANCE_LEAVING: look->able++; break;
    }
}

/* While one pauses no other is started: it would fare alike. */
static struct instance *of_pool(struct supervisor *supervisor,
                                const struct server_order *order)
{
    struct pool_look look = {};
    struct instance *instance;

    LIST_FOREACH(instance, &supervisor->instances, link)
        look_at(&look, instance);
    if (look.free)
        return look.free;
    if (look.hopeless && look.able + look.starting == 0)
        return look.hopeless;
    if (order->caller.len == 0 || look.pausing > 0 ||
        look.starting >= supervisor->waiting_count)
        return NULL;
    return look.resting;
}

struct instance *pool_find(struct supervisor *supervisor,
                           const struct server_order *order)
{
    switch (supervisor->spec->mode) {
    case SERVER_SHARED: return LIST_FIRST(&supervisor->instances, struct instance, link);
    case SERVER_PER_CALLER: return of_caller(supervisor, order->caller);
    case SERVER_POOLED: return of_pool(supervisor, order);
    }
    return NULL;
}
