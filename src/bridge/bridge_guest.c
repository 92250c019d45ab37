/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of participants: the level of messages that each wants, resources
 * they subscribed to. All of it is bounded, and goes with them.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "mcp/serve.h"
#include "participant/keep.h"

/* --- guests --- */

struct guest *guest_find(const struct bridge *b, struct str id)
{
    struct guest *guest;

    LIST_FOREACH(guest, &b->guests, link)
        if (str_eq(guest->id, id))
            return guest;
    return NULL;
}

struct guest *guest_get(struct bridge *b, struct str id)
{
    struct guest *guest = guest_find(b, id);
    char *at;

    if (guest || b->guest_count == BRIDGE_GUESTS)
        return guest;
    guest = xcalloc(1, sizeof(*guest) + id.len);
    at = (char *)(guest + 1);
    guest->id = keep_str(&at, id);
    guest->level = -1;
    list_init(&guest->watched);
    list_append(&b->guests, &guest->link);
    b->guest_count++;
    return guest;
}

static void drop_watched(struct bridge *b, struct watched *watched)
{
    list_remove(&watched->link);
    b->watched_count--;
    free(watched);
}

static void drop_guest(struct bridge *b, struct guest *guest)
{
    struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        drop_watched(b, watched);
    list_remove(&guest->link);
    b->guest_count--;
    free(guest);
}

/* --- levels --- */

static int lower(int level, int other)
{
    return other >= 0 && (level < 0 || other < level) ? other : level;
}

struct str guests_level(const struct bridge *b, struct str id)
{
    const struct bridged *call;
    const struct guest *guest;
    int level = -1;

    LIST_FOREACH(guest, &b->guests, link)
        if (!id.len || str_eq(guest->id, id))
            level = lower(level, guest->level);
    LIST_FOREACH(call, &b->calls, link)
        if (call->state == BRIDGED_ORDERED && (!id.len || str_eq(call->to[0], id)))
            level = lower(level, call->level);
    return serve_level_name(level);
}

/* --- subscriptions --- */

static struct watched *find_watched(const struct guest *guest, struct str uri)
{
    struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        if (str_eq(watched->uri, uri))
            return watched;
    return NULL;
}

bool guest_watches(const struct guest *guest, struct str uri)
{
    return find_watched(guest, uri);
}

static bool is_among(struct str uri, const struct str *uris, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(uris[i], uri))
            return true;
    return false;
}

static size_t collect(const struct guest *guest, struct str *uris, size_t count)
{
    const struct watched *watched;

    LIST_FOREACH(watched, &guest->watched, link)
        if (!is_among(watched->uri, uris, count))
            uris[count++] = watched->uri;
    return count;
}

/* Each has an instance of his own, or all share what all want together. */
static void tell_server(struct bridge *b, const struct guest *one)
{
    bool is_own = b->spec->mode == SERVER_PER_CALLER;
    CLEANUP(xfreep) struct str *uris = xcalloc(b->watched_count + 1, sizeof(*uris));
    const struct guest *guest;
    size_t count = 0;

    LIST_FOREACH(guest, &b->guests, link)
        if (!is_own || guest == one)
            count = collect(guest, uris, count);
    supervisor_watch(b->supervisor, is_own ? one->id : S(""), uris, count);
}

enum err guest_watch(struct bridge *b, struct str id, struct str uri)
{
    struct guest *guest = guest_get(b, id);
    struct watched *watched;
    char *at;

    if (!guest || b->watched_count == BRIDGE_WATCHED)
        return ERR_OVERLOAD;
    if (find_watched(guest, uri))
        return OK;
    watched = xcalloc(1, sizeof(*watched) + uri.len);
    at = (char *)(watched + 1);
    watched->uri = keep_str(&at, uri);
    list_append(&guest->watched, &watched->link);
    b->watched_count++;
    tell_server(b, guest);
    return OK;
}

void guest_unwatch(struct bridge *b, struct str id, struct str uri)
{
    struct guest *guest = guest_find(b, id);
    struct watched *watched = guest ? find_watched(guest, uri) : NULL;

    if (!watched)
        return;
    drop_watched(b, watched);
    tell_server(b, guest);
}

void guests_watch_again(struct bridge *b)
{
    const struct guest *guest;

    if (!b->watched_count)
        return;
    LIST_FOREACH(guest, &b->guests, link) {
        tell_server(b, guest);
        if (b->spec->mode != SERVER_PER_CALLER)
            return;
    }
}

/* --- leaving --- */

void guest_gone(struct bridge *b, struct str id)
{
    struct guest *guest = guest_find(b, id);
    bool has_watched = guest && !list_is_empty(&guest->watched);

    if (!guest)
        return;
    drop_guest(b, guest);
    if (has_watched && b->spec->mode != SERVER_PER_CALLER)
        tell_server(b, NULL);
}

void guests_free(struct bridge *b)
{
    struct guest *guest;

    LIST_FOREACH(guest, &b->guests, link)
        drop_guest(b, guest);
}
