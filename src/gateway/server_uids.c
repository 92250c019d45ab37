/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/server_uids.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct uid_entry {
    uid_t uid;
    bool is_wanted, is_forgotten;
    bool is_resting; /* nothing runs that has become this one */
    struct str name;
    char bytes[];
};

void server_uids_init(struct server_uids *uids)
{
    *uids = (struct server_uids){};
    map_init(&uids->by_name);
}

void server_uids_done(struct server_uids *uids)
{
    struct uid_entry *entry;

    MAP_FOREACH(entry, &uids->by_name)
        free(entry);
    map_done(&uids->by_name);
}

static bool is_given_out(uid_t uid)
{
    return uid >= UID_FIRST && uid < UID_FIRST + UID_COUNT;
}

uid_t server_uids_find(const struct server_uids *uids, struct str name)
{
    const struct uid_entry *entry = map_find(&uids->by_name, name);

    return entry ? entry->uid : 0;
}

/* The lowest that nobody has, or 0. */
static uid_t lowest_free(const struct server_uids *uids)
{
    for (size_t i = 0; i < UID_COUNT; i++)
        if (!uids->is_taken[i] && !uids->is_reserved[i])
            return UID_FIRST + (uid_t)i;
    return 0;
}

struct str server_uids_resting(const struct server_uids *uids)
{
    const struct uid_entry *entry;

    MAP_FOREACH(entry, &uids->by_name)
        if (entry->is_resting && !uids->is_reserved[entry->uid - UID_FIRST])
            return entry->name;
    return S("");
}

uid_t server_uids_next(const struct server_uids *uids, struct str name)
{
    uid_t uid = server_uids_find(uids, name);

    if (!uid)
        uid = lowest_free(uids);
    return uid ? uid : server_uids_find(uids, server_uids_resting(uids));
}

bool server_uids_restore(struct server_uids *uids, struct str name, uid_t uid)
{
    struct uid_entry *entry;

    if (!is_given_out(uid) || uids->is_taken[uid - UID_FIRST] ||
        map_find(&uids->by_name, name))
        return false;
    entry = xcalloc(1, sizeof(*entry) + name.len);
    memcpy(entry->bytes, name.ptr, name.len);
    entry->name = (struct str){ entry->bytes, name.len };
    entry->uid = uid;
    entry->is_resting = true;
    map_set(&uids->by_name, entry->name, entry);
    uids->is_taken[uid - UID_FIRST] = true;
    return true;
}

uid_t server_uids_take(struct server_uids *uids, struct str name)
{
    struct uid_entry *entry = map_find(&uids->by_name, name);
    uid_t uid = lowest_free(uids);

    if (!entry && uid && server_uids_restore(uids, name, uid))
        entry = map_find(&uids->by_name, name);
    if (!entry)
        return 0;
    entry->is_wanted = true;
    entry->is_forgotten = entry->is_resting = false;
    return entry->uid;
}

void server_uids_unwant(struct server_uids *uids, struct str name)
{
    struct uid_entry *entry = map_find(&uids->by_name, name);

    if (entry)
        entry->is_wanted = false;
}

bool server_uids_forget(struct server_uids *uids, struct str name)
{
    struct uid_entry *entry = map_find(&uids->by_name, name);

    if (!entry)
        return false;
    entry->is_wanted = false;
    entry->is_forgotten = true;
    return entry->is_resting;
}

bool server_uids_ended(struct server_uids *uids, struct str name)
{
    struct uid_entry *entry = map_find(&uids->by_name, name);

    if (!entry || entry->is_wanted)
        return false; /* it is to come back */
    entry->is_resting = true;
    return entry->is_forgotten;
}

void server_uids_drop(struct server_uids *uids, struct str name)
{
    struct uid_entry *entry = map_remove(&uids->by_name, name);

    if (entry)
        uids->is_taken[entry->uid - UID_FIRST] = false;
    free(entry);
}

void server_uids_reserve(struct server_uids *uids, uid_t uid)
{
    if (is_given_out(uid))
        uids->is_reserved[uid - UID_FIRST] = true;
}
