/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/kept.h"
#include "gateway/proposals.h"
#include "gateway/restore.h"
#include "gateway/rulebooks.h"

enum {
    PARKED_MS = 10 * 60 * 1000, /* as long as an empty room */
    SWEEP_PARKED = 512,         /* looked at in a sweep */
    TOPIC_WEIGHT = 4096,        /* of a topic with open proposals, */
    PROPOSAL_WEIGHT = 512,      /* and of each of them, besides its envelope */
};

/* --- putting into the store --- */

static void put(struct worker *worker, struct store_item item, const struct buf *value)
{
    item.value = buf_str(value);
    (void)recorder_put(worker, &item);
}

/* What holds in all topics is the same on every worker: the first writes it. */
static bool writes(const struct worker *worker, struct str topic)
{
    return topic.len > 0 || worker->index == 0;
}

static struct worker *worker_of(const struct rights_keeper *keeper)
{
    return CONTAINER_OF((uintptr_t)keeper, struct worker, keeper); /* drops const */
}

static void keep_grant(const struct rights_keeper *self, const struct grant *grant,
                       enum keeping what)
{
    struct worker *worker = worker_of(self);
    char key[KEPT_KEY];
    struct store_item item = { .section = STORE_GRANT,
                               .topic = grant->holder.topic,
                               .key = kept_key(grant->order, key) };
    struct buf value;

    if (!writes(worker, item.topic))
        return;
    if (what == KEEP_NO_MORE) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    kept_write_grant(grant, &value);
    put(worker, item, &value);
    buf_done(&value);
}

static void keep_strike(const struct rights_keeper *self, struct rights_key holder,
                        const struct strike *strike, enum keeping what)
{
    struct worker *worker = worker_of(self);
    char key[KEPT_KEY];
    struct store_item item = { .section = STORE_STRIKE,
                               .topic = holder.topic,
                               .key = kept_key(strike->order, key) };
    struct buf value;

    if (!writes(worker, item.topic))
        return;
    if (what == KEEP_NO_MORE) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    kept_write_strike(holder, strike, &value);
    put(worker, item, &value);
    buf_done(&value);
}

/* The store has the wall clock, since the other begins anew with each boot. */
static uint64_t wall_of(const struct worker *worker, uint64_t until_ms)
{
    uint64_t now_ms = loop_now_ms(worker->loop);

    return until_ms > now_ms ? loop_wall_ms(worker->loop) + (until_ms - now_ms) : 0;
}

static void keep_standing(struct worker *worker, struct str topic,
                          const struct standing *standing)
{
    struct store_item item = { .section = STORE_STANDING,
                               .topic = topic,
                               .key = standing->id };
    struct kept_standing kept = { .barred_until_ms =
                                      wall_of(worker, standing->barred_until_ms),
                                  .is_paused = standing->is_paused,
                                  .is_held = standing->is_held };
    struct buf value;

    if (!writes(worker, topic))
        return;
    if (standing_is_over(standing, loop_now_ms(worker->loop))) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    kept_write_standing(&kept, &value);
    put(worker, item, &value);
    buf_done(&value);
}

static void keep_everywhere(struct standings *self, const struct standing *standing)
{
    keep_standing(CONTAINER_OF(self, struct worker, standings), S(""), standing);
}

static void keep_in_room(struct standings *self, const struct standing *standing)
{
    const struct live_room *room = CONTAINER_OF(self, struct live_room, standings);

    keep_standing(room->worker, room->room.topic.name, standing);
}

static void keep_parked(struct standings *self, const struct standing *standing)
{
    const struct parked *parked = CONTAINER_OF(self, struct parked, standings);

    keep_standing(parked->worker, parked->topic, standing);
}

/* --- proposals --- */

/* One that has expired is not kept: at a start it would be over anyway. */
static void keep_proposal(struct worker *worker, struct str topic,
                          const struct proposal *proposal)
{
    char key[KEPT_KEY];
    struct store_item item = { .section = STORE_PROPOSAL,
                               .topic = topic,
                               .key = kept_key(proposal->order, key) };
    struct buf value;

    if (proposal->state == PROPOSAL_EXPIRED) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    kept_write_proposal(proposal, &value);
    put(worker, item, &value);
    buf_done(&value);
}

static void drop_proposal(struct worker *worker, struct str topic,
                          const struct proposal *proposal)
{
    char key[KEPT_KEY];

    (void)recorder_remove(worker,
                          &(struct store_item){ .section = STORE_PROPOSAL,
                                                .topic = topic,
                                                .key = kept_key(proposal->order, key) });
}

/* What the open proposals of a topic weigh. */
static size_t weight_of(const struct ledger *ledger)
{
    if (ledger->open_count == 0)
        return 0;
    return TOPIC_WEIGHT + ledger->bytes + ledger->open_count * PROPOSAL_WEIGHT;
}

static void weigh(struct gateway *gateway, const struct ledger *ledger, size_t *pledged)
{
    size_t weight = weight_of(ledger);

    gateway_pledge(gateway, *pledged, weight);
    *pledged = weight;
}

static struct live_room *room_of(const struct ledger *ledger)
{
    return CONTAINER_OF((uintptr_t)ledger, struct live_room,
                        room.ledger); /* drops const */
}

/* What one proposer has open in all topics of a worker. */
struct proposer {
    struct str id; /* in `text` */
    size_t bytes;
    char text[];
};

static void note_more(struct worker *worker, struct str id, size_t bytes)
{
    struct proposer *proposer = map_find(&worker->proposers, id);

    if (!proposer) {
        proposer = xcalloc(1, sizeof(*proposer) + id.len);
        memcpy(proposer->text, id.ptr, id.len);
        proposer->id = (struct str){ proposer->text, id.len };
        map_set(&worker->proposers, proposer->id, proposer);
    }
    proposer->bytes += bytes;
}

static void note_less(struct worker *worker, struct str id, size_t bytes)
{
    struct proposer *proposer = map_find(&worker->proposers, id);

    proposer->bytes -= bytes;
    if (proposer->bytes == 0)
        free(map_remove(&worker->proposers, proposer->id));
}

static void note_weight(struct worker *worker, struct str id, size_t bytes, bool is_held)
{
    if (is_held)
        note_more(worker, id, PROPOSAL_WEIGHT + bytes);
    else
        note_less(worker, id, PROPOSAL_WEIGHT + bytes);
}

/* One proposer leaves most of what there is to the others. */
static bool has_room(const struct ledger *ledger, struct str id, size_t bytes)
{
    const struct worker *worker = room_of(ledger)->worker;
    const struct proposer *proposer = map_find(&worker->proposers, id);
    size_t share = gateway_pledge_share(worker->gateway);

    if (proposer && proposer->bytes + PROPOSAL_WEIGHT + bytes > share)
        return false;
    return gateway_may_pledge(worker->gateway, TOPIC_WEIGHT + PROPOSAL_WEIGHT + bytes);
}

static void on_weighed(struct ledger *ledger, struct str id, size_t bytes, bool is_held)
{
    note_weight(room_of(ledger)->worker, id, bytes, is_held);
}

/* Told once that it opens, then of each approval, then how it ended. */
static void count_change(struct metrics *metrics, const struct proposal *p)
{
    switch ((enum proposal_state)p->state) {
    case PROPOSAL_OPEN: metrics->proposals_opened += p->approvals.count == 0; return;
    case PROPOSAL_FULFILLED: metrics->proposals_fulfilled++; break;
    case PROPOSAL_REJECTED: metrics->proposals_rejected++; break;
    case PROPOSAL_WITHDRAWN: metrics->proposals_withdrawn++; return;
    case PROPOSAL_EXPIRED: metrics->proposals_expired++; return;
    }
    if (!p->rule.len && p->decided_ms >= p->created_ms) /* how long people take */
        metrics_count_decision(metrics, p->decided_ms - p->created_ms);
}

static void on_changed(struct ledger *ledger, const struct proposal *proposal)
{
    struct live_room *room = room_of(ledger);

    keep_proposal(room->worker, room->room.topic.name, proposal);
    weigh(room->worker->gateway, ledger, &room->pledged);
    count_change(&room->worker->metrics, proposal);
    proposals_changed(room, proposal);
}

static void on_forgotten(struct ledger *ledger, const struct proposal *proposal)
{
    const struct live_room *room = room_of(ledger);

    drop_proposal(room->worker, room->room.topic.name, proposal);
}

static const struct ledger_keeper room_keeper = { has_room, on_changed, on_forgotten,
                                                  on_weighed };

static void on_parked_changed(struct ledger *ledger, const struct proposal *proposal)
{
    struct parked *parked = CONTAINER_OF(ledger, struct parked, ledger);

    keep_proposal(parked->worker, parked->topic, proposal);
    count_change(&parked->worker->metrics, proposal);
    weigh(parked->worker->gateway, ledger, &parked->pledged);
}

static void on_parked_forgotten(struct ledger *ledger, const struct proposal *proposal)
{
    const struct parked *parked = CONTAINER_OF(ledger, struct parked, ledger);

    drop_proposal(parked->worker, parked->topic, proposal);
}

static void on_parked_weighed(struct ledger *ledger, struct str id, size_t bytes,
                              bool is_held)
{
    note_weight(CONTAINER_OF(ledger, struct parked, ledger)->worker, id, bytes, is_held);
}

/* Nothing is proposed where nobody is. */
static const struct ledger_settings unused = {};
static const struct ledger_keeper parked_keeper = { NULL, on_parked_changed,
                                                    on_parked_forgotten,
                                                    on_parked_weighed };

/* --- parking --- */

struct parked *state_park(struct worker *worker, struct str topic)
{
    struct parked *parked = map_find(&worker->parked, topic);

    if (parked)
        return parked;
    parked = xcalloc(1, sizeof(*parked) + topic.len);
    memcpy(parked->name, topic.ptr, topic.len);
    parked->topic = (struct str){ parked->name, topic.len };
    parked->worker = worker;
    parked->since_ms = loop_now_ms(worker->loop);
    ledger_init(&parked->ledger, &unused);
    parked->ledger.keeper = &parked_keeper;
    standings_init(&parked->standings);
    parked->standings.changed = keep_parked;
    map_set(&worker->parked, parked->topic, parked);
    list_append(&worker->parked_by_age, &parked->link);
    return parked;
}

static void parked_free(struct parked *parked)
{
    struct worker *worker = parked->worker;

    gateway_pledge(worker->gateway, parked->pledged, 0);
    (void)map_remove(&worker->parked, parked->topic);
    list_remove(&parked->link);
    ledger_done(&parked->ledger);
    standings_done(&parked->standings);
    switches_done(&parked->switches);
    rulebooks_done(worker, &parked->rulebook, &parked->rule_weight);
    free(parked);
}

void state_settle(struct parked *parked)
{
    weigh(parked->worker->gateway, &parked->ledger, &parked->pledged);
}

void state_enter(struct live_room *room)
{
    struct parked *parked = map_find(&room->worker->parked, room->room.topic.name);

    standings_init(&room->standings);
    room->standings.changed = keep_in_room;
    room->room.ledger.keeper = &room_keeper;
    if (!parked)
        return;
    /* What has expired while nobody was here is no news: the parked ledger's keeper
     * drops it, before the room's would tell of it. */
    (void)ledger_expire(&parked->ledger, loop_wall_ms(room->worker->loop));
    ledger_move(&room->room.ledger, &parked->ledger);
    standings_move(&room->standings, &parked->standings);
    switches_move(&room->switches, &parked->switches);
    rulebooks_enter(room, parked);
    weigh(room->worker->gateway, &room->room.ledger, &room->pledged);
    parked_free(parked);
    proposals_watch(room);
}

void state_leave(struct live_room *room)
{
    struct worker *worker = room->worker;
    struct parked *parked;

    (void)ledger_sweep(&room->room.ledger, loop_wall_ms(worker->loop));
    if (room->room.ledger.open_count == 0 && !switches_are_turned(&room->switches) &&
        !rulebooks_are_there(room->room.rulebook)) {
        standings_clear(&room->standings);
        return;
    }
    parked = state_park(worker, room->room.topic.name);
    ledger_move(&parked->ledger, &room->room.ledger);
    standings_move(&parked->standings, &room->standings);
    switches_move(&parked->switches, &room->switches);
    rulebooks_leave(room, parked);
    state_settle(parked);
}

void state_end(struct live_room *room)
{
    proposals_done(room);
    gateway_pledge(room->worker->gateway, room->pledged, 0);
    ledger_done(&room->room.ledger);
    standings_done(&room->standings);
    switches_done(&room->switches);
    rulebooks_done(room->worker, &room->room.rulebook, &room->rule_weight);
}

struct standings *state_standings(const struct worker *worker, struct str topic)
{
    struct live_room *room = room_find(worker, topic);
    struct parked *parked = map_find(&worker->parked, topic);

    if (room)
        return &room->standings;
    return parked ? &parked->standings : NULL;
}

static void look_at(struct parked *parked)
{
    struct worker *worker = parked->worker;

    standings_sweep(&parked->standings, loop_now_ms(worker->loop));
    if (ledger_sweep(&parked->ledger, loop_wall_ms(worker->loop)) &&
        !switches_are_turned(&parked->switches) &&
        !rulebooks_are_there(parked->rulebook)) {
        standings_clear(&parked->standings); /* the topic is forgotten */
        parked_free(parked);
        return;
    }
    parked->since_ms = loop_now_ms(worker->loop); /* the others first */
    list_remove(&parked->link);
    list_append(&worker->parked_by_age, &parked->link);
}

void state_sweep(struct worker *worker)
{
    uint64_t now_ms = loop_now_ms(worker->loop);
    struct parked *parked;
    size_t left = SWEEP_PARKED;

    LIST_FOREACH(parked, &worker->parked_by_age, link) {
        if (left-- == 0 || now_ms - parked->since_ms < PARKED_MS)
            return;
        look_at(parked);
    }
}

/* --- the worker's own --- */

void state_init(struct worker *worker)
{
    worker->keeper = (struct rights_keeper){ keep_grant, keep_strike };
    standings_init(&worker->standings);
    map_init(&worker->parked);
    map_init(&worker->proposers);
    list_init(&worker->parked_by_age);
}

void state_attend(struct worker *worker)
{
    rights_set_keeper(worker->rights, &worker->keeper);
    worker->standings.changed = keep_everywhere;
}

void state_done(struct worker *worker)
{
    struct parked *parked;

    LIST_FOREACH(parked, &worker->parked_by_age, link)
        parked_free(parked);
    map_done(&worker->parked);
    map_done(&worker->proposers); /* empty, like all ledgers */
    standings_done(&worker->standings);
}
