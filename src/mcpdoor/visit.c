/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Legacy sessions. All that a visit needs stands in its sealed id, so that one of another
 * life (a restart, another machine) is taken up again where it is shown; one of this life
 * that is not in the table has ended.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/rpc.h"
#include "mcpdoor/hall_priv.h"
#include "participant/keep.h"

enum { TAKEN_UP_MS = 7 * 24 * 3600'000, NO_VISIT = 400, UNKNOWN_VISIT = 404 };

_Static_assert(offsetof(struct visit, boot) ==
                   offsetof(struct visit, number) + sizeof(uint64_t),
               "the two are a key");

static struct str key_of(const uint64_t *number_and_boot)
{
    return (struct str){ (const char *)number_and_boot, 2 * sizeof(uint64_t) };
}

/* --- those of another life that have ended --- */

void ended_done(struct ended_visits *ended)
{
    map_done(&ended->keys);
    free(ended->ring);
}

static void remember_ended(struct ended_visits *ended, struct str key)
{
    char *slot;

    if (!ended->ring)
        ended->ring = xcalloc(HALL_ENDED, sizeof(*ended->ring));
    slot = ended->ring[ended->next++ % HALL_ENDED];
    map_remove(&ended->keys, (struct str){ slot, key.len });
    memcpy(slot, key.ptr, key.len);
    map_set(&ended->keys, (struct str){ slot, key.len }, slot);
}

/* --- life --- */

static struct visit *add(struct attendee *a, const struct sealed *sealed, struct str id)
{
    struct visit *visit = xcalloc(1, sizeof(*visit) + id.len);
    char *at = (char *)(visit + 1);

    visit->attendee = a;
    visit->number = sealed->number;
    visit->boot = sealed->boot;
    visit->used_ms = a->hall->now.mono_ms;
    visit->can = sealed->can;
    visit->version = sealed->version;
    visit->level = sealed->level;
    visit->id = keep_str(&at, id);
    list_init(&visit->strands);
    list_init(&visit->watcher.watched);
    list_append(&a->visits, &visit->link);
    a->visit_count++;
    a->hall->counts.visits++;
    map_set(&a->hall->visits, key_of(&visit->number), visit);
    if (id.len)
        map_set(&a->hall->shown, visit->id, visit);
    hall_due(a->hall, visit->used_ms + a->hall->settings.idle_ms);
    return visit;
}

static bool is_busy(const struct visit *visit)
{
    struct link *link;

    for (link = visit->strands.next; link != &visit->strands; link = link->next)
        if (!strand_is_answered(strand_of(link)))
            return true;
    return false;
}

/* The longest unused one that nothing waits in; false: there is none. */
static bool end_oldest(struct attendee *a)
{
    struct visit *visit;

    LIST_FOREACH(visit, &a->visits, link)
        if (!is_busy(visit)) {
            visit_end(visit);
            return true;
        }
    return false;
}

static bool make_room(struct attendee *a)
{
    while (a->visit_count >= a->hall->settings.max_visits)
        if (!end_oldest(a))
            return false;
    return true;
}

struct visit *visit_new(struct attendee *a, uint8_t version, uint32_t can)
{
    struct hall *hall = a->hall;
    struct sealed sealed = { .number = hall->next_visit,
                             .boot = hall->settings.boot,
                             .created_ms = hall->now.wall_ms,
                             .can = can,
                             .version = version,
                             .level = -1 };
    CLEANUP(buf_done) struct buf id;

    buf_init(&id, SEALED_MAX);
    if (!make_room(a))
        return NULL;
    hall->next_visit++;
    if (!hall->settings.is_stdio)
        sealed_put(&hall->settings.sealer, SEALED_VISIT, a->id, &sealed, &id);
    return add(a, &sealed, buf_str(&id));
}

void visit_end(struct visit *visit)
{
    struct attendee *a = visit->attendee;
    struct hall *hall = a->hall;
    bool had_level = visit->level >= 0;

    while (!list_is_empty(&visit->strands))
        errand_end_first(&visit->strands, S("the session has ended"));
    watches_end(a, &visit->watcher.watched);
    map_remove(&hall->visits, key_of(&visit->number));
    map_remove(&hall->shown, visit->id);
    if (visit->boot != hall->settings.boot)
        remember_ended(&hall->ended, key_of(&visit->number));
    list_remove(&visit->link);
    a->visit_count--;
    hall->counts.visits--;
    free(visit->client);
    free(visit);
    if (had_level)
        attendee_set_level(a);
    attendee_stay(a);
}

/* --- finding --- */

static struct visit *only_one(struct attendee *a)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    return LIST_FIRST(&a->visits, struct visit, link);
}

/* Does a request wait in it? Then it is bound to whose rights that has. */
static bool has_requests(const struct visit *visit)
{
    struct link *link;

    for (link = visit->strands.next; link != &visit->strands; link = link->next)
        if (strand_of(link) != visit->common && !strand_is_answered(strand_of(link)))
            return true;
    return false;
}

static void hand_over_strands(struct visit *visit, struct attendee *to)
{
    struct link *link;

    for (link = visit->strands.next; link != &visit->strands; link = link->next) {
        struct errand *errand = errand_of(strand_of(link));

        if (errand)
            errand->attendee = to;
    }
}

/* Another credential of the same participant shows it: a token that was renewed. What it
 * watched is watched by the other one. */
static void hand_over(struct visit *visit, struct attendee *to)
{
    struct attendee *from = visit->attendee;
    struct watch *watch;
    struct link watched;

    list_init(&watched);
    list_splice(&watched, &visit->watcher.watched);
    LIST_FOREACH(watch, &watched, link)
        (void)attendee_watch(to, &visit->watcher, watch->of->owner, watch->of->uri);
    watches_end(from, &watched);
    hand_over_strands(visit, to);
    list_remove(&visit->link);
    from->visit_count--;
    visit->attendee = to;
    to->seen |= from->seen;
    list_append(&to->visits, &visit->link);
    to->visit_count++;
    attendee_set_level(from);
    attendee_set_level(to);
    attendee_stay(from);
}

static bool may_take_up(const struct hall *hall, const struct sealed *sealed)
{
    uint64_t now_ms = hall->now.wall_ms;

    if (sealed->boot == hall->settings.boot || hall->is_draining)
        return false;
    if (sealed->version == 0 || sealed->version >= MCP_VERSIONS)
        return false;
    if (now_ms > sealed->created_ms && now_ms - sealed->created_ms > TAKEN_UP_MS)
        return false;
    return !map_find(&hall->ended.keys,
                     key_of((const uint64_t[]){ sealed->number, sealed->boot }));
}

static struct visit *take_up(struct attendee *a, const struct sealed *sealed,
                             struct str id)
{
    struct visit *visit;

    if (!may_take_up(a->hall, sealed) || !make_room(a))
        return NULL;
    visit = add(a, sealed, id);
    a->hall->counts.resumed++;
    return visit;
}

static struct visit *find(struct attendee *a, struct str id)
{
    const struct hall *hall = a->hall;
    struct visit *visit = map_find(&hall->shown, id);
    struct sealed sealed;

    if (visit && visit->attendee == a)
        return visit; /* whose it is was seen when it was made or first shown */
    if (sealed_read(&hall->settings.sealer, SEALED_VISIT, a->id, id, &sealed))
        return NULL;
    visit =
        map_find(&hall->visits, key_of((const uint64_t[]){ sealed.number, sealed.boot }));
    if (!visit)
        return take_up(a, &sealed, id);
    if (visit->attendee == a)
        return visit;
    if (has_requests(visit))
        return NULL;
    hand_over(visit, a);
    return visit;
}

struct visit *visit_find(struct attendee *a, struct str id, unsigned *ret_status)
{
    struct visit *visit;

    *ret_status = NO_VISIT;
    if (a->hall->settings.is_stdio)
        return only_one(a);
    if (!id.ptr)
        return NULL;
    *ret_status = UNKNOWN_VISIT;
    visit = find(a, id);
    if (visit)
        visit_use(visit);
    return visit;
}

/* --- time --- */

void visit_use(struct visit *visit)
{
    visit->used_ms = visit->attendee->hall->now.mono_ms;
    list_remove(&visit->link);
    list_append(&visit->attendee->visits, &visit->link);
}

bool visit_is_streaming(const struct visit *visit)
{
    struct link *link;

    for (link = visit->strands.next; link != &visit->strands; link = link->next)
        if (strand_is_attached(strand_of(link)))
            return true;
    return false;
}

void visits_expire(struct attendee *a)
{
    uint64_t now_ms = a->hall->now.mono_ms;
    uint64_t idle_ms = a->hall->settings.idle_ms;
    struct visit *visit = only_one(a);

    if (a->hall->settings.is_stdio)
        return;
    while (visit && visit->used_ms + idle_ms <= now_ms) {
        if (is_busy(visit) || visit_is_streaming(visit))
            visit_use(visit);
        else
            visit_end(visit);
        visit = only_one(a);
    }
    if (visit)
        hall_due(a->hall, visit->used_ms + idle_ms);
}
