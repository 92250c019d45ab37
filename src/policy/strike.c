/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking away. A strike works at once on what was granted before it, and is kept for what
 * it cannot reach: credentials, and in a topic the grants for all topics. So one that is
 * covered by another need not be kept, and where there are too many, those stay without
 * which somebody would have more.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/policy_priv.h"

bool strike_takes(const struct strike *strike, struct str text,
                  const struct capability *capability)
{
    if (strike->reach == STRIKE_SAME)
        return str_eq(strike->text, text);
    return capability_covers(strike->capability, capability);
}

/* --- grants --- */

/* Returns whether it had something to take. */
static bool strike_grant(struct grant *grant, const struct strike *strike)
{
    size_t count = grant->capabilities.count;
    size_t kept = 0;

    for (size_t i = 0; i < grant->capabilities.count; i++) {
        if (strike_takes(strike, grant->texts[i], grant->compiled[i])) {
            capability_free(grant->compiled[i]);
            continue;
        }
        grant->texts[kept] = grant->texts[i];
        grant->compiled[kept++] = grant->compiled[i];
    }
    grant->capabilities.count = kept;
    return kept < count;
}

void strike_from_grant(struct rights *rights, struct grant *grant,
                       const struct strike *strike)
{
    bool has_changed = strike_grant(grant, strike);

    if (grant->capabilities.count == 0)
        rights_free_grant(rights, grant);
    else if (has_changed)
        grant_keep(rights, grant, KEEP);
}

/* What was granted in this record loses what is struck; empty grants end. */
static void strike_grants(struct rights *rights, struct rights_record *record,
                          const struct strike *strike)
{
    struct grant *grant;

    LIST_FOREACH(grant, &record->grants, link)
        strike_from_grant(rights, grant, strike);
}

static bool is_empty(const struct rights_record *record)
{
    return list_is_empty(&record->grants) && list_is_empty(&record->strikes);
}

/* What is struck in all topics is struck in each. */
static void strike_everywhere(struct rights *rights, const struct strike *strike,
                              const struct rights_record *but)
{
    struct rights_record *record;
    size_t at = 0;

    while ((record = rights_record_next(rights, but->key.id, &at)))
        strike_grants(rights, record, strike);
    at = 0;
    while ((record = rights_record_next(rights, but->key.id, &at)))
        if (record != but && is_empty(record)) {
            rights_settle(rights, record);
            at = 0;
        }
}

/* --- keeping --- */

/* Does `one` take whatever `other` takes? */
static bool stands_for(const struct strike *one, const struct strike *other)
{
    if (one->reach == STRIKE_SAME)
        return other->reach == STRIKE_SAME && str_eq(one->text, other->text);
    if (other->reach == STRIKE_SAME)
        return capability_covers(one->capability, other->capability);
    return capability_covers_all_of(one->capability, other->capability);
}

/* An administrator's is not replaced by a participant's, which may be pruned earlier. */
static void drop_replaced(struct rights *rights, struct rights_record *record,
                          const struct strike *strike)
{
    struct strike *old;

    LIST_FOREACH(old, &record->strikes, link)
        if (old->origin <= strike->origin && stands_for(strike, old))
            rights_free_strike(rights, record, old);
}

/* The last grant for all topics, as long as it is out of a strike's reach. */
static uint64_t last_grant_elsewhere(const struct rights *rights,
                                     const struct rights_record *record)
{
    const struct rights_record *all =
        rights_record_find(rights, (struct rights_key){ S(""), record->key.id });
    uint64_t last = 0;
    const struct grant *grant;

    if (!all || all == record)
        return 0;
    LIST_FOREACH(grant, &all->grants, link)
        last = grant->order > last ? grant->order : last;
    return last;
}

/* Is it kept already, in words that say no less? */
static bool is_said(const struct rights *rights, const struct rights_record *record,
                    const struct strike *strike)
{
    uint64_t since = last_grant_elsewhere(rights, record);
    const struct strike *old;

    LIST_FOREACH(old, &record->strikes, link)
        if (old->origin >= strike->origin && old->order > since &&
            stands_for(old, strike))
            return true;
    return false;
}

void rights_add_strike(struct rights *rights, struct rights_record *record,
                       struct strike *strike)
{
    record->usage[strike->origin].strikes++;
    rights_count(rights, record, strike->origin, (ptrdiff_t)strike->bytes);
    list_append(&record->strikes, &strike->link);
}

/* The one that is said already is not kept, but all have changed by then. */
void strike_apply(struct rights *rights, struct rights_record *record,
                  struct strike *strike)
{
    bool is_needless;

    strike_grants(rights, record, strike);
    if (record->key.topic.len == 0)
        strike_everywhere(rights, strike, record);
    drop_replaced(rights, record, strike);
    is_needless = is_said(rights, record, strike);
    rights_add_strike(rights, record, strike);
    if (is_needless)
        rights_free_strike(rights, record, strike);
    else
        strike_keep(rights, record, strike, KEEP);
}

/* --- making room --- */

/* Something that a strike may take, and whether one that is kept does. */
struct prey {
    struct capability *capability;
    struct str text;
    uint64_t order; /* of its grant; 0: a credential's */
    bool is_taken;
};

struct hunt {
    struct map known; /* by text: the same is not noted twice */
    struct prey *items;
    size_t count;
    size_t size;
};

static void note_prey(struct hunt *hunt, struct str text, uint64_t order)
{
    struct capability *capability;

    if (capability_new(text, &capability, NULL))
        return; /* nothing, for anybody */
    if (hunt->count == hunt->size) {
        hunt->size = hunt->size ? 2 * hunt->size : 64;
        hunt->items = xrealloc(hunt->items, hunt->size * sizeof(*hunt->items));
    }
    hunt->items[hunt->count++] =
        (struct prey){ .capability = capability, .text = text, .order = order };
}

static void note_credentials(struct hunt *hunt, const struct rights *rights,
                             struct str id)
{
    struct str_list own;
    size_t at = 0;

    while (rights->credentials &&
           rights->credentials->next(rights->credentials, id, &at, &own))
        for (size_t i = 0; i < own.count; i++) {
            if (map_find(&hunt->known, own.items[i]))
                continue;
            map_set(&hunt->known, own.items[i], hunt);
            note_prey(hunt, own.items[i], 0);
        }
}

static void note_grants_elsewhere(struct hunt *hunt, const struct rights *rights,
                                  const struct rights_record *record)
{
    const struct rights_record *all =
        rights_record_find(rights, (struct rights_key){ S(""), record->key.id });
    const struct grant *grant;

    if (!all || all == record)
        return;
    LIST_FOREACH(grant, &all->grants, link)
        for (size_t i = 0; i < grant->capabilities.count; i++)
            note_prey(hunt, grant->texts[i], grant->order);
}

/* Does it take anything that none of the later ones takes? */
static bool is_needed(const struct strike *strike, struct hunt *hunt)
{
    bool takes = false;

    for (size_t i = 0; i < hunt->count; i++) {
        struct prey *prey = &hunt->items[i];

        if (prey->is_taken || strike->order < prey->order ||
            !strike_takes(strike, prey->text, prey->capability))
            continue;
        prey->is_taken = true;
        takes = true;
    }
    return takes;
}

/* The latest first: whatever an earlier one takes, a later one may take too. Those of
 * other origin are left as they are, and what they take is taken. */
static void drop_needless(struct rights *rights, struct rights_record *record,
                          enum rights_origin origin, struct hunt *hunt)
{
    struct link *at = record->strikes.prev;

    while (at != &record->strikes) {
        struct strike *strike = CONTAINER_OF(at, struct strike, link);

        at = at->prev;
        if (!is_needed(strike, hunt) && strike->origin == origin)
            rights_free_strike(rights, record, strike);
    }
}

static bool has_too_many(const struct rights_usage *usage)
{
    return usage->strikes > RIGHTS_MAX_STRIKES || usage->bytes > RIGHTS_RECORD_BYTES;
}

void strikes_prune(struct rights *rights, struct rights_record *record,
                   enum rights_origin origin)
{
    /* What participants take from each other is kept only as long as it takes something:
     * else one could fill all there is with what takes nothing. */
    bool is_asked = origin == RIGHTS_IN_ROOM && rights->credentials;
    struct hunt hunt = {};

    if (!is_asked && !has_too_many(&record->usage[origin]))
        return;
    map_init(&hunt.known);
    note_credentials(&hunt, rights, record->key.id);
    note_grants_elsewhere(&hunt, rights, record);
    drop_needless(rights, record, origin, &hunt);
    for (size_t i = 0; i < hunt.count; i++)
        capability_free(hunt.items[i].capability);
    free(hunt.items);
    map_done(&hunt.known);
}
