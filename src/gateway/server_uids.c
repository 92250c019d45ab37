/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/server_uids.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct uid_entry {
    uid_t uid;
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

/* Where it is marked; NULL: it is none that is given out. */
static bool *mark_of(struct server_uids *uids, uid_t uid)
{
    return uid >= UID_FIRST && uid < UID_FIRST + UID_COUNT
               ? &uids->is_taken[uid - UID_FIRST]
               : NULL;
}

uid_t server_uids_find(const struct server_uids *uids, struct str name)
{
    const struct uid_entry *entry = map_find(&uids->by_name, name);

    return entry ? entry->uid : 0;
}

bool server_uids_restore(struct server_uids *uids, struct str name, uid_t uid)
{
    bool *mark = mark_of(uids, uid);
    struct uid_entry *entry;

    if (!mark || *mark || map_find(&uids->by_name, name))
        return false;
    entry = xcalloc(1, sizeof(*entry) + name.len);
    memcpy(entry->bytes, name.ptr, name.len);
    entry->name = (struct str){ entry->bytes, name.len };
    entry->uid = uid;
    map_set(&uids->by_name, entry->name, entry);
    *mark = true;
    return true;
}

uid_t server_uids_take(struct server_uids *uids, struct str name)
{
    uid_t uid = server_uids_find(uids, name);

    for (size_t i = 0; !uid && i < UID_COUNT; i++)
        if (!uids->is_taken[i] && server_uids_restore(uids, name, UID_FIRST + (uid_t)i))
            uid = UID_FIRST + (uid_t)i;
    return uid;
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
    bool *mark = mark_of(uids, uid);

    if (mark)
        *mark = true;
}
