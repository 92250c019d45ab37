/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what now, and what may be passed on: questions to the records of rights.c.
 * What was said in all topics and what was said here is one, in the order in which it was
 * said.
 */
#include "policy/holding.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/capset.h"
#include "policy/outline.h"
#include "policy/policy_priv.h"

/* What was said in all topics, and here. */
struct view {
    const struct rights_record *said[2];
    uint64_t now_ms;
};

#define EACH_GRANT(var, view)                                    \
    for (size_t _said = 0; _said < COUNT((view)->said); _said++) \
        if ((view)->said[_said])                                 \
            LIST_FOREACH(var, &(view)->said[_said]->grants, link)

static struct view view_of(const struct rights *rights, struct rights_key who,
                           uint64_t now_ms)
{
    struct view view = { .now_ms = now_ms };

    view.said[0] = rights_record_find(rights, (struct rights_key){ S(""), who.id });
    if (who.topic.len)
        view.said[1] = rights_record_find(rights, who);
    return view;
}

bool rights_knows(const struct rights *rights, struct rights_key who)
{
    struct view view;

    if (rights->records.count == 0)
        return false;
    view = view_of(rights, who, 0);
    return view.said[0] || view.said[1];
}

struct rights_version rights_version(const struct rights *rights, struct rights_key who)
{
    struct rights_version version = {};
    struct view view;

    if (rights->records.count == 0)
        return version;
    view = view_of(rights, who, 0);
    if (view.said[0])
        version.everywhere = view.said[0]->version;
    if (view.said[1])
        version.here = view.said[1]->version;
    return version;
}

uint64_t rights_lasts_until(const struct rights *rights, struct rights_key who,
                            uint64_t now_ms)
{
    struct view view = view_of(rights, who, now_ms);
    uint64_t until_ms = UINT64_MAX;
    const struct grant *grant;

    EACH_GRANT(grant, &view)
        if (grant->expires_ms > now_ms && grant->expires_ms < until_ms)
            until_ms = grant->expires_ms;
    return until_ms;
}

/* Is it taken from a credential? */
static bool is_struck(const struct view *view, struct str text,
                      const struct capability *capability)
{
    const struct strike *strike;

    for (size_t i = 0; i < COUNT(view->said); i++) {
        if (!view->said[i])
            continue;
        LIST_FOREACH(strike, &view->said[i]->strikes, link)
            if (strike_takes(strike, text, capability))
                return true;
    }
    return false;
}

/* Is the grant's capability taken away by what was said later? Grants lose what is struck
 * where they stand (strike.c); what is left are those for all topics, struck here. */
static bool is_struck_here(const struct view *view, const struct grant *grant, size_t i)
{
    const struct strike *strike;

    if (!view->said[1] || grant->record == view->said[1])
        return false;
    LIST_FOREACH(strike, &view->said[1]->strikes, link)
        if (strike->order > grant->order &&
            strike_takes(strike, grant->texts[i], grant->compiled[i]))
            return true;
    return false;
}

static bool is_in_force(const struct view *view, const struct grant *grant)
{
    return !grant->max_uses && !grant_is_over(grant, view->now_ms);
}

/* Whoever looks through what somebody holds; returns true to stop. Uses stand for
 * themselves and are not among them. */
struct visitor {
    bool (*on_held)(struct visitor *self, struct str text,
                    const struct capability *capability, uint64_t expires_ms);
};

static bool visit_own(const struct view *view, struct str_list own,
                      struct visitor *visitor)
{
    bool stops = false;

    for (size_t i = 0; !stops && i < own.count; i++) {
        struct capability *capability;

        if (capability_new(own.items[i], &capability, NULL))
            continue; /* was checked when it came in; else it is nothing */
        stops = !is_struck(view, own.items[i], capability) &&
                visitor->on_held(visitor, own.items[i], capability, 0);
        capability_free(capability);
    }
    return stops;
}

static bool visit_grant(const struct view *view, const struct grant *grant,
                        struct visitor *visitor)
{
    for (size_t i = 0; i < grant->capabilities.count; i++)
        if (!is_struck_here(view, grant, i) &&
            visitor->on_held(visitor, grant->texts[i], grant->compiled[i],
                             grant->expires_ms))
            return true;
    return false;
}

static bool visit_grants(const struct view *view, enum rights_origin origin,
                         struct visitor *visitor)
{
    const struct grant *grant;

    EACH_GRANT(grant, view)
        if (grant->origin == origin && is_in_force(view, grant) &&
            visit_grant(view, grant, visitor))
            return true;
    return false;
}

struct collector {
    struct visitor visitor;
    struct str *items;
    size_t count;
    size_t objects;
    size_t max;
};

static bool collect(struct visitor *visitor, struct str text, const struct capability *,
                    uint64_t)
{
    struct collector *collector = CONTAINER_OF(visitor, struct collector, visitor);

    for (size_t i = 0; i < collector->count; i++)
        if (str_eq(collector->items[i], text))
            return false;
    if (capability_text_is_object(text) && collector->objects++ >= CAPSET_MAX_OBJECTS)
        return false;
    collector->items[collector->count++] = text;
    return collector->count == collector->max;
}

/* How many of its own and granted ones there may be. */
static size_t most_held(const struct view *view, struct str_list own)
{
    size_t count = own.count;
    const struct grant *grant;

    EACH_GRANT(grant, view)
        count += grant->capabilities.count;
    return count < CAPSET_MAX_PATTERNS ? count : CAPSET_MAX_PATTERNS;
}

/* What an administrator gave comes first: where there is too much, the rest is left out.
 */
static enum err work_out(const struct view *view, struct str_list own, bool with_rooms,
                         struct arena *arena, struct str_list *ret)
{
    struct collector collector = { .visitor = { collect }, .max = most_held(view, own) };
    bool is_full;
    size_t kept;

    collector.items = arena_alloc(arena, (collector.max + 1) * sizeof(struct str));
    if (!collector.items)
        return ERR_TOO_BIG;
    is_full = collector.max == 0 || visit_own(view, own, &collector.visitor);
    kept = collector.count;
    is_full = is_full || visit_grants(view, RIGHTS_BY_ADMIN, &collector.visitor);
    if (!is_full && with_rooms)
        (void)visit_grants(view, RIGHTS_IN_ROOM, &collector.visitor);
    /* People read it: what is added stands where capset_edit() puts it. */
    return capset_edit(
        (struct str_list){ collector.items, kept },
        (struct str_list){ collector.items + kept, collector.count - kept },
        (struct str_list){}, arena, ret);
}

enum err rights_in_force(const struct rights *rights, struct rights_key who,
                         struct str_list own, uint64_t now_ms, struct arena *arena,
                         struct str_list *ret)
{
    struct view view = view_of(rights, who, now_ms);

    *ret = own;
    return !view.said[0] && !view.said[1] ? OK : work_out(&view, own, true, arena, ret);
}

enum err rights_in_force_by_admin(const struct rights *rights, struct rights_key who,
                                  struct str_list own, uint64_t now_ms,
                                  struct arena *arena, struct str_list *ret)
{
    struct view view = view_of(rights, who, now_ms);

    return work_out(&view, own, false, arena, ret);
}

struct prover {
    struct visitor visitor;
    struct capability **wanted;
    bool *is_shown;
    size_t count;
    size_t left; /* not shown yet */
    uint64_t until_ms;
    uint64_t lasts_ms; /* the credential; as the next */
};

/* 0: never */
static bool ends_before(uint64_t expires_ms, uint64_t until_ms)
{
    return expires_ms && (until_ms == 0 || until_ms > expires_ms);
}

static bool prove(struct visitor *visitor, struct str, const struct capability *held,
                  uint64_t expires_ms)
{
    struct prover *prover = CONTAINER_OF(visitor, struct prover, visitor);

    if (ends_before(expires_ms, prover->until_ms) ||
        ends_before(prover->lasts_ms, prover->until_ms))
        return false;
    for (size_t i = 0; i < prover->count; i++)
        if (!prover->is_shown[i] && capability_covers(held, prover->wanted[i])) {
            prover->is_shown[i] = true;
            prover->left--;
        }
    return prover->left == 0;
}

static struct str first_unproven(const struct prover *prover, struct str_list wanted)
{
    for (size_t i = 0; i < prover->count; i++)
        if (!prover->is_shown[i])
            return wanted.items[i];
    return (struct str){};
}

struct str rights_not_held(const struct rights *rights,
                           const struct rights_bearer *bearer, struct str_list wanted,
                           uint64_t until_ms)
{
    struct view view = view_of(rights, bearer->who, bearer->now_ms);
    struct prover prover = { .visitor = { prove },
                             .wanted = xcalloc(wanted.count + 1, sizeof(void *)),
                             .is_shown = xcalloc(wanted.count + 1, sizeof(bool)),
                             .count = wanted.count,
                             .left = wanted.count,
                             .until_ms = until_ms,
                             .lasts_ms = bearer->lasts_ms };
    struct str fault = wanted.count ? wanted.items[0] : (struct str){};

    if (capabilities_compile(wanted, prover.wanted) == OK) {
        if (wanted.count && !visit_own(&view, bearer->own, &prover.visitor) &&
            !visit_grants(&view, RIGHTS_BY_ADMIN, &prover.visitor))
            (void)visit_grants(&view, RIGHTS_IN_ROOM, &prover.visitor);
        fault = first_unproven(&prover, wanted);
        capabilities_free(prover.wanted, wanted.count);
    }
    free(prover.wanted);
    free(prover.is_shown);
    return fault;
}

/* --- grants that may be used only so often --- */

static bool is_usable(const struct view *view, const struct grant *grant)
{
    return grant->max_uses && !grant_is_over(grant, view->now_ms);
}

/* An object for the kind: the payload decides. */
struct candidate {
    struct grant *grant;
    const struct capability *capability;
    size_t *places;
};

struct candidates {
    struct candidate
        items[COUNT((struct view){}.said) * RIGHTS_ORIGINS * RIGHTS_MAX_OBJECTS];
    size_t count;
};

static void note_candidate(struct candidates *candidates, struct grant *grant,
                           const struct capability *capability, struct arena *scratch)
{
    size_t *places =
        arena_alloc(scratch, (capability_count(capability) + 1) * sizeof(*places));

    if (places && candidates->count < COUNT(candidates->items))
        candidates->items[candidates->count++] =
            (struct candidate){ grant, capability, places };
}

/* Does a pattern of the grant allow it? Objects that might are noted. */
static bool allows_kind(const struct view *view, struct grant *grant,
                        struct rights_use *use, struct candidates *candidates)
{
    for (size_t i = 0; i < grant->capabilities.count; i++) {
        const struct capability *capability = grant->compiled[i];

        if (!capability_matches_kind(capability, use->kind) ||
            is_struck_here(view, grant, i))
            continue;
        if (!capability_is_object(capability)) {
            use->by = capability;
            return true;
        }
        note_candidate(candidates, grant, capability, use->scratch);
    }
    return false;
}

/* The first whose conditions the payload meets; one walk is enough for all of them. */
static struct grant *find_fitting(const struct candidates *candidates,
                                  struct rights_use *use)
{
    struct outline *outline = outline_new();
    const struct outline_sighting *sightings;
    struct grant *found = NULL;

    for (size_t i = 0; i < candidates->count; i++)
        capability_outline(candidates->items[i].capability, outline,
                           candidates->items[i].places);
    outline_sort(outline);
    sightings = outline_walk(outline, use->payload, use->scratch);
    for (size_t i = 0; sightings && !found && i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->items[i];

        if (!capability_fits(candidate->capability, sightings, candidate->places,
                             use->scratch))
            continue;
        use->by = candidate->capability;
        found = candidate->grant;
    }
    outline_free(outline);
    return found;
}

struct grant *rights_limited(const struct rights *rights, struct rights_key who,
                             struct rights_use *use, uint64_t now_ms)
{
    struct candidates candidates;
    struct view view;
    struct grant *grant;

    if (rights->records.count == 0)
        return NULL;
    candidates.count = 0;
    view = view_of(rights, who, now_ms);
    EACH_GRANT(grant, &view)
        if (is_usable(&view, grant) && allows_kind(&view, grant, use, &candidates))
            return grant;
    return candidates.count ? find_fitting(&candidates, use) : NULL;
}

enum err rights_limited_in_force(const struct rights *rights, struct rights_key who,
                                 uint64_t now_ms, struct arena *arena,
                                 struct str_list *ret)
{
    struct view view = view_of(rights, who, now_ms);
    const struct grant *grant;
    size_t count = 0, max = 0;
    struct str *items;

    EACH_GRANT(grant, &view)
        max += grant->capabilities.count;
    items = arena_alloc(arena, (max + 1) * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    EACH_GRANT(grant, &view)
        for (size_t i = 0; is_usable(&view, grant) && i < grant->capabilities.count; i++)
            if (!is_struck_here(&view, grant, i))
                items[count++] = grant->texts[i];
    *ret = (struct str_list){ items, count };
    return OK;
}
