/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/keeping.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/policy_priv.h"

void rights_set_keeper(struct rights *rights, const struct rights_keeper *keeper)
{
    rights->keeper = keeper;
}

void grant_keep(const struct rights *rights, const struct grant *grant, enum keeping what)
{
    if (rights->keeper)
        rights->keeper->grant(rights->keeper, grant, what);
}

void strike_keep(const struct rights *rights, const struct rights_record *record,
                 const struct strike *strike, enum keeping what)
{
    if (rights->keeper)
        rights->keeper->strike(rights->keeper, record->key, strike, what);
}

/* --- putting back --- */

static void note_order(struct rights *rights, uint64_t order)
{
    if (order > rights->order)
        rights->order = order;
}

static bool is_full(const struct rights_record *record, enum rights_origin origin)
{
    return record && record->usage[origin].grants >= RIGHTS_MAX_GRANTS;
}

enum err rights_restore_grant(struct rights *rights, struct rights_key holder,
                              const struct grant_terms *terms, uint64_t uses)
{
    struct rights_record *record = rights_record_find(rights, holder);
    const struct grant *last = record && !list_is_empty(&record->grants)
                                   ? CONTAINER_OF(record->grants.prev, struct grant, link)
                                   : NULL;
    struct grant *grant;
    enum err err;

    if (rights_find(rights, holder, terms->id))
        return ERR_CONFLICT;
    if (terms->capabilities.count == 0 || (last && last->order >= terms->order))
        return ERR_INVALID;
    if (is_full(record, terms->origin))
        return ERR_OVERLOAD;
    err = grant_new(terms, &grant);
    if (err)
        return err;
    grant->uses = uses;
    rights_add_grant(rights, rights_record_of(rights, holder), grant);
    note_order(rights, grant->order);
    return OK;
}

enum err rights_restore_strike(struct rights *rights, struct rights_key holder,
                               const struct strike_terms *terms)
{
    struct rights_record *record = rights_record_find(rights, holder);
    const struct strike *last =
        record && !list_is_empty(&record->strikes)
            ? CONTAINER_OF(record->strikes.prev, struct strike, link)
            : NULL;
    struct strike *strike;
    enum err err;

    if (terms->capabilities.count != 1 || (last && last->order >= terms->order))
        return ERR_INVALID;
    err = strike_new(terms, terms->capabilities.items[0], &strike);
    if (err)
        return err;
    strike->order = terms->order;
    rights_add_strike(rights, rights_record_of(rights, holder), strike);
    note_order(rights, strike->order);
    return OK;
}

/* --- when all is back --- */

static void strike_earlier(struct rights *rights, struct rights_record *record,
                           const struct strike *strike)
{
    struct grant *grant;

    LIST_FOREACH(grant, &record->grants, link)
        if (grant->order < strike->order)
            strike_from_grant(rights, grant, strike);
}

/* A strike for all topics is made durable on its own, before those that it takes from. */
static void strike_in_topics(struct rights *rights)
{
    CLEANUP(xfreep)
    struct rights_record **records = xcalloc(rights->records.count + 1, sizeof(*records));
    struct rights_record *record;
    size_t count = 0;

    MAP_FOREACH(record, &rights->records)
        if (record->key.topic.len)
            records[count++] = record;
    for (size_t i = 0; i < count; i++) {
        const struct rights_record *all =
            rights_record_find(rights, (struct rights_key){ S(""), records[i]->key.id });
        const struct strike *strike;

        if (all)
            LIST_FOREACH(strike, &all->strikes, link)
                strike_earlier(rights, records[i], strike);
        rights_settle(rights, records[i]);
    }
}

static int by_expiry(const void *a, const void *b)
{
    const struct grant *one = *(struct grant *const *)a;
    const struct grant *other = *(struct grant *const *)b;

    return (one->expires_ms > other->expires_ms) - (one->expires_ms < other->expires_ms);
}

static size_t count_grants(const struct rights *rights)
{
    const struct rights_record *record;
    size_t count = 0;

    MAP_FOREACH(record, &rights->records)
        count +=
            record->usage[RIGHTS_IN_ROOM].grants + record->usage[RIGHTS_BY_ADMIN].grants;
    return count;
}

static void await_expiries(struct rights *rights)
{
    CLEANUP(xfreep)
    struct grant **grants = xcalloc(count_grants(rights) + 1, sizeof(struct grant *));
    const struct rights_record *record;
    struct grant *grant;
    size_t count = 0;

    MAP_FOREACH(record, &rights->records)
        LIST_FOREACH(grant, &record->grants, link)
            if (grant->expires_ms)
                grants[count++] = grant;
    qsort(grants, count, sizeof(struct grant *), by_expiry);
    for (size_t i = 0; i < count; i++)
        list_append(&rights->expiring, &grants[i]->expiry_link);
}

uint64_t rights_restored(struct rights *rights, uint64_t order)
{
    uint64_t last = rights->order;

    note_order(rights, order);
    strike_in_topics(rights);
    await_expiries(rights);
    return last;
}
