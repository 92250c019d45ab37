/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the room was lost, everybody may have lost it: a gateway that is started anew is
 * found again by one after the other. So who is not there yet when we come back has not
 * left: his calls go on and their answers wait, for a while.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "participant/keep.h"

struct missing {
    struct link link; /* in the order of their time */
    uint64_t until_ms;
    struct str id; /* behind the struct */
};

static struct missing *find(const struct bridge *b, struct str id)
{
    struct missing *missing;

    LIST_FOREACH(missing, &b->missing, link)
        if (str_eq(missing->id, id))
            return missing;
    return NULL;
}

static void drop(struct missing *missing)
{
    list_remove(&missing->link);
    free(missing);
}

void missing_note(struct bridge *b, struct str id)
{
    struct missing *missing;
    char *at;

    if (find(b, id))
        return;
    missing = xcalloc(1, sizeof(*missing) + id.len);
    at = (char *)(missing + 1);
    missing->id = keep_str(&at, id);
    missing->until_ms = loop_now_ms(b->means.loop) + BRIDGE_RETURN_MS;
    list_append(&b->missing, &missing->link);
}

void missing_back(struct bridge *b, struct str id)
{
    struct missing *missing = find(b, id);

    if (!missing)
        return;
    drop(missing);
    bridged_retry(b);
}

bool missing_is(const struct bridge *b, struct str id)
{
    return find(b, id);
}

void missing_tick(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    struct missing *missing;

    LIST_FOREACH(missing, &b->missing, link) {
        CLEANUP(xfreep) char *id = NULL;

        if (missing->until_ms > now)
            return;
        id = str_dup(missing->id);
        drop(missing);
        bridge_caller_gone(b, str_of(id));
    }
}

uint64_t missing_due_ms(const struct bridge *b)
{
    const struct missing *first = LIST_FIRST(&b->missing, struct missing, link);

    return first ? first->until_ms : UINT64_MAX;
}

void missing_free(struct bridge *b)
{
    struct missing *missing;

    LIST_FOREACH(missing, &b->missing, link)
        drop(missing);
}
