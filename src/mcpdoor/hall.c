/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a hall: who is here, what the concierge hears, and time. */
#include "mcpdoor/hall.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/house_tools.h"
#include "mcpdoor/room_tools.h"
#include "participant/keep.h"
#include "participant/roster.h"

enum { MAX_ATTENDEES = 100'000 };

/* --- the concierge --- */

static void on_owner(void *user, const struct owner_facts *owner)
{
    const struct hall *hall = user;
    struct attendee *a;

    LIST_FOREACH(a, &hall->attendees, link)
        attendee_greet(a, owner);
}

static void on_change(void *user, unsigned types)
{
    struct hall *hall = user;
    struct attendee *a;

    if (types)
        listen_tell_lists(hall, types);
    LIST_FOREACH(a, &hall->attendees, link)
        hall_go_on(a);
}

static void on_note(void *user, struct str text)
{
    struct hall *hall = user;

    if (hall->ops.on_note)
        hall->ops.on_note(hall->user, text);
}

static bool is_ours(void *user, struct str id)
{
    return map_find(&((const struct hall *)user)->by_id, id);
}

static bool is_owner(void *user, struct str id)
{
    return concierge_find_owner(((const struct hall *)user)->concierge, id);
}

static struct moment now_of(void *user)
{
    return hall_now(user);
}

/* Its own occupant, where it has one. */
static void on_welcome(void *user, bool)
{
    struct hall *hall = user;

    concierge_use(hall->concierge, hall->occupant, hall->now);
    if (hall->desk)
        room_desk_use(hall->desk, hall->occupant);
}

/* Attendees hear no presence themselves. */
static void tell_left(struct hall *hall, struct str id)
{
    struct attendee *a;

    LIST_FOREACH(a, &hall->attendees, link)
        if (!list_is_empty(&a->wishes))
            wish_owner_left(a, id);
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    struct hall *hall = user;

    concierge_presence(hall->concierge, change, who->id, hall->now);
    if (change == PRESENCE_LEAVES)
        tell_left(hall, who->id);
}

static void on_heard(void *user, const struct heard *heard)
{
    struct hall *hall = user;

    concierge_hear(hall->concierge, heard, hall->now);
    room_tools_hear(hall, NULL, heard);
}

static const struct occupant_ops occupant_ops = {
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .on_heard = on_heard,
};

/* --- its seat --- */

static void enter(struct hall *hall)
{
    if (hall->ops.now)
        hall->now = hall->ops.now(hall->user);
}

static void on_begin(void *user, bool resumes)
{
    struct hall *hall = user;

    enter(hall);
    occupant_begin(hall->occupant, resumes);
}

static void on_text(void *user, struct str text)
{
    struct hall *hall = user;

    enter(hall);
    occupant_hear(hall->occupant, text, hall->now);
    hall_settle(hall, NULL);
}

static void on_judged(void *user, uint64_t number)
{
    struct hall *hall = user;

    enter(hall);
    occupant_judged(hall->occupant, number, hall->now);
    hall_settle(hall, NULL);
}

static void on_lost(void *user, bool is_final, const char *)
{
    struct hall *hall = user;

    enter(hall);
    concierge_use(hall->concierge, NULL, hall->now);
    occupant_lost(hall->occupant, is_final, hall->now);
    hall_settle(hall, NULL);
}

static struct str on_after(void *user)
{
    return occupant_last(((struct hall *)user)->occupant);
}

const struct seat_ops hall_seat_ops = {
    .on_begin = on_begin,
    .on_text = on_text,
    .on_judged = on_judged,
    .on_lost = on_lost,
    .on_after = on_after,
};

void hall_sit(struct hall *hall, struct seat *seat, struct moment now)
{
    hall->now = now;
    hall->seat = seat;
    hall->occupant = hall_occupant(hall, seat, HALL_PARTICIPANTS, &occupant_ops, hall);
}

void hall_stand(struct hall *hall, struct moment now)
{
    hall->now = now;
    concierge_use(hall->concierge, NULL, now);
    if (hall->desk)
        room_desk_use(hall->desk, NULL);
    if (hall->seat)
        hall->ops.close_seat(hall->user, TAKE(hall->seat), NULL);
    occupant_free(TAKE(hall->occupant));
}

/* --- life --- */

static void make_desk(struct hall *hall)
{
    hall->desk = room_desk_new(hall->showcase, hall->concierge);
    if (hall->occupant && occupant_is_welcome(hall->occupant))
        room_desk_use(hall->desk, hall->occupant);
}

static void init_lists(struct hall *hall)
{
    list_init(&hall->house_calls);
    list_init(&hall->attendees);
    list_init(&hall->gone);
    map_init(&hall->by_key);
    map_init(&hall->by_id);
    map_init(&hall->visits);
    map_init(&hall->shown);
    map_init(&hall->ended.keys);
    task_owners_init(&hall->task_owners, is_owner, hall);
    hall->due_ms = UINT64_MAX;
    hall->strands_ms = UINT64_MAX;
    crypto_random(&hall->next_visit, sizeof(hall->next_visit));
    crypto_random(&hall->next_strand, sizeof(hall->next_strand));
}

struct hall *hall_new(const struct hall_settings *settings, const struct hall_ops *ops,
                      void *user)
{
    struct hall *hall = xcalloc(1, sizeof(*hall) + settings->topic.len +
                                       settings->name.len + settings->version.len);
    char *at = (char *)(hall + 1);

    hall->settings = *settings;
    hall->settings.topic = keep_str(&at, settings->topic);
    hall->settings.name = keep_str(&at, settings->name);
    hall->settings.version = keep_str(&at, settings->version);
    hall->settings.sealer.topic = hall->settings.topic;
    hall->ops = *ops;
    hall->user = user;
    init_lists(hall);
    hall->showcase = showcase_new(settings->names_are_prefixed);
    hall->concierge = concierge_new(&(struct concierge_setup){ .showcase = hall->showcase,
                                                               .on_owner = on_owner,
                                                               .on_change = on_change,
                                                               .on_note = on_note,
                                                               .is_ours = is_ours,
                                                               .now = now_of,
                                                               .user = hall });
    if (settings->has_room_tools)
        make_desk(hall);
    return hall;
}

static void free_gone(struct hall *hall)
{
    struct attendee *a;

    LIST_FOREACH(a, &hall->gone, link)
        attendee_free(a);
}

void hall_free(struct hall *hall)
{
    struct attendee *a;

    if (!hall)
        return;
    LIST_FOREACH(a, &hall->attendees, link)
        attendee_end(a, "the gateway stops", hall->now);
    free_gone(hall);
    house_tools_lost(hall, NULL);
    hall_stand(hall, hall->now);
    room_desk_free(hall->desk);
    concierge_free(hall->concierge);
    showcase_free(hall->showcase);
    ended_done(&hall->ended);
    task_owners_done(&hall->task_owners);
    map_done(&hall->visits);
    map_done(&hall->shown);
    map_done(&hall->by_key);
    map_done(&hall->by_id);
    crypto_wipe(&hall->settings.sealer, sizeof(hall->settings.sealer));
    free(hall);
}

void hall_drain(struct hall *hall, struct moment now)
{
    struct attendee *a;

    hall->now = now;
    hall->is_draining = true;
    LIST_FOREACH(a, &hall->attendees, link) {
        wish_drain(a);
        listen_end_all(a);
    }
    room_desk_drain(hall->desk);
}

/* Who waits at a desk that goes is told so. */
static void apply_desk(struct hall *hall)
{
    struct room_desk *old = hall->desk;

    if (hall->settings.has_room_tools == (old != NULL))
        return;
    hall->desk = NULL;
    if (hall->settings.has_room_tools)
        make_desk(hall);
    room_desk_close(old);
    listen_tell_lists(hall, 1U << OFFER_TOOL);
}

void hall_apply(struct hall *hall, const struct hall_settings *settings)
{
    struct hall_settings old = hall->settings;
    unsigned types;

    hall->settings = *settings;
    hall->settings.topic = old.topic;
    hall->settings.name = old.name;
    hall->settings.version = old.version;
    hall->settings.sealer = old.sealer;
    hall->settings.boot = old.boot;
    types = showcase_prefix(hall->showcase, settings->names_are_prefixed);
    if (types)
        listen_tell_lists(hall, types);
    apply_desk(hall);
}

/* --- attendees --- */

enum err hall_attendee(struct hall *hall, struct str credential_key, struct str id,
                       void *credential, struct attendee **ret)
{
    struct attendee *a = hall_find(hall, credential_key);

    if (!a && (hall->counts.attendees >= MAX_ATTENDEES || hall->is_draining))
        return ERR_OVERLOAD;
    if (!a)
        a = attendee_new(hall, credential_key, id);
    a->credential = credential;
    *ret = a;
    return OK;
}

struct attendee *hall_find(struct hall *hall, struct str credential_key)
{
    return map_find(&hall->by_key, credential_key);
}

bool hall_is_idle(const struct hall *hall)
{
    return list_is_empty(&hall->attendees) && list_is_empty(&hall->gone);
}

struct moment hall_now(const struct hall *hall)
{
    return hall->now;
}

struct room_desk *hall_desk(const struct hall *hall)
{
    return hall->desk;
}

struct hall_counts hall_counts(const struct hall *hall)
{
    struct hall_counts counts = hall->counts;
    const struct attendee *a;

    counts.wishes = 0;
    LIST_FOREACH(a, &hall->attendees, link)
        counts.wishes += a->wish_count;
    return counts;
}

/* --- time --- */

void hall_due(struct hall *hall, uint64_t due_ms)
{
    if (due_ms >= hall->due_ms)
        return;
    hall->due_ms = due_ms;
    if (!hall->is_ticking && hall->ops.on_due)
        hall->ops.on_due(hall->user);
}

/* Streams murmur and begin within a fraction of a second: with ten thousand of them a
 * look at all for each would be all that is done. */
static uint64_t next_walk(const struct hall *hall)
{
    uint64_t earliest = hall->walked_ms + HALL_WALK_MS;

    return hall->strands_ms > earliest ? hall->strands_ms : earliest;
}

/* One that nothing is due of yet may become a stream at any time, which nobody tells. */
static void note_strand(struct hall *hall, const struct strand *strand)
{
    uint64_t due_ms = strand_due_ms(strand);
    uint64_t latest = hall->now.mono_ms + HALL_LATEST_MS;

    if (due_ms > latest)
        due_ms = latest;
    if (due_ms < hall->strands_ms)
        hall->strands_ms = due_ms;
}

void hall_strand_due(struct hall *hall, const struct strand *strand)
{
    note_strand(hall, strand);
    hall_due(hall, next_walk(hall));
}

/* On stdio it is here as long as the process. */
static uint64_t leave_ms(const struct hall *hall, const struct attendee *a)
{
    if (hall->settings.is_stdio)
        return UINT64_MAX;
    return a->idle_since_ms + hall->settings.linger_ms;
}

void hall_settle(struct hall *hall, struct attendee *a)
{
    hall_due(hall, concierge_due_ms(hall->concierge));
    if (hall->occupant)
        hall_due(hall, occupant_due_ms(hall->occupant));
    if (hall->desk)
        hall_due(hall, room_desk_due_ms(hall->desk));
    if (!a || a->is_ending)
        return;
    hall_due(hall, wish_due_ms(a));
    if (a->occupant)
        hall_due(hall, occupant_due_ms(a->occupant));
    if (attendee_is_idle(a))
        hall_due(hall, leave_ms(hall, a));
    if (!list_is_empty(&a->waiting))
        hall_due(hall, CONTAINER_OF(a->waiting.next, struct errand, waiting)->due_ms);
}

static void walk_strands(struct hall *hall, struct link *strands)
{
    struct link *link, *next;

    for (link = strands->next; link != strands; link = next) {
        struct strand *strand = strand_of(link);

        next = link->next;
        if (strand_tick(strand, hall->now.mono_ms))
            strand_free(strand);
        else
            note_strand(hall, strand);
    }
}

/* The last used first: what is left of the room is for the others. */
static void walk_attendee(struct attendee *a)
{
    size_t room = ATTENDEE_KEPT;
    struct link *link;

    walk_strands(a->hall, &a->strands);
    for (link = a->visits.prev; link != &a->visits; link = link->prev) {
        struct visit *visit = CONTAINER_OF(link, struct visit, link);

        walk_strands(a->hall, &visit->strands);
        room -= strands_trim(&visit->strands, room < VISIT_KEPT ? room : VISIT_KEPT);
    }
}

static void walk(struct hall *hall)
{
    struct attendee *a;

    hall->strands_ms = UINT64_MAX;
    hall->walked_ms = hall->now.mono_ms;
    LIST_FOREACH(a, &hall->attendees, link)
        walk_attendee(a);
}

static void tick_attendee(struct attendee *a)
{
    struct hall *hall = a->hall;

    if (a->occupant)
        occupant_tick(a->occupant, hall->now);
    wish_tick(a, hall->now.mono_ms);
    hall_go_on(a);
    visits_expire(a);
    if (attendee_is_idle(a) && leave_ms(hall, a) <= hall->now.mono_ms)
        attendee_end(a, "", hall->now);
    hall_settle(hall, a);
}

void hall_tick(struct hall *hall, struct moment now)
{
    struct attendee *a;

    hall->now = now;
    hall->is_ticking = true;
    hall->due_ms = UINT64_MAX;
    free_gone(hall);
    if (hall->occupant)
        occupant_tick(hall->occupant, now);
    concierge_tick(hall->concierge, now);
    if (hall->desk)
        room_desk_tick(hall->desk, now.mono_ms);
    LIST_FOREACH(a, &hall->attendees, link)
        tick_attendee(a);
    if (hall->strands_ms <= now.mono_ms && next_walk(hall) <= now.mono_ms)
        walk(hall);
    listen_tick(hall);
    if (hall->strands_ms != UINT64_MAX)
        hall_due(hall, next_walk(hall));
    hall_settle(hall, NULL);
    hall->is_ticking = false;
}

uint64_t hall_due_ms(const struct hall *hall)
{
    return hall->due_ms;
}
