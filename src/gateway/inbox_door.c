/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for somebody's word, in all topics that the asker may enter: open proposals,
 * and calls that their owners want authorized. With each comes what the asker may do
 * about it; the room judges that again when it is done.
 *
 * A topic that he may not enter is passed over, and so is one where nobody is and nothing
 * is open: the answer says nothing of either.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/proposals.h"
#include "gateway/state.h"

enum {
    ITEMS = 1000,              /* of a worker, */
    ENVELOPE_BYTES = 64 << 10, /* and of their envelopes; longer ones are left out, */
    ENVELOPES_BYTES = 2 << 20, /* as are all behind so much */
};

struct inbox {
    struct gather gather;
    struct exchange *x;
    struct identity *identity;
};

/* What one worker finds. */
struct inbox_view {
    struct worker *worker;
    struct identity *identity;
    struct json_writer w;
    struct gather_part *part; /* `count`: what was left off */
    size_t items;
    size_t envelopes; /* bytes */
};

/* False: there is no room for more. */
static bool begin_item(struct inbox_view *f, struct str topic, struct str type)
{
    if (f->items == ITEMS) {
        f->part->count++;
        return false;
    }
    f->items++;
    json_object_open(&f->w);
    json_put_str(&f->w, S("topic"), topic);
    json_put_str(&f->w, S("type"), type);
    return true;
}

/* --- what the asker may do --- */

static struct capset *rights_in(const struct inbox_view *f, struct str topic)
{
    return holdings_find(&f->worker->holdings, topic, f->identity,
                         loop_wall_ms(f->worker->loop));
}

/* "mcp/request:" for "mcp/proposal:". */
static struct str request_of(struct str proposal, char space[static KIND_MAX_BYTES])
{
    struct str head = S("mcp/request:");
    struct str rest = str_slice(proposal, S("mcp/proposal:").len, proposal.len);

    memcpy(space, head.ptr, head.len);
    memcpy(space + head.len, rest.ptr, rest.len);
    return (struct str){ space, head.len + rest.len };
}

/* Nobody decides on his own proposal, but he may take it back. */
static void put_proposal_rights(struct inbox_view *f, struct str topic,
                                const struct proposal *p)
{
    struct capset *set = rights_in(f, topic);
    char space[KIND_MAX_BYTES];

    json_key(&f->w, S("may"));
    json_array_open(&f->w);
    if (str_eq(p->proposer, f->identity->id)) {
        json_str(&f->w, S("withdraw"));
    } else {
        holdings_put_if_may(&f->w, set, S("mcp/approve"), S("approve"));
        holdings_put_if_may(&f->w, set, request_of(p->kind.text, space), S("fulfil"));
        holdings_put_if_may(&f->w, set, S("mcp/reject"), S("reject"));
    }
    json_array_close(&f->w);
}

static void put_authorization_rights(struct inbox_view *f, struct str topic,
                                     const struct petition *a)
{
    json_key(&f->w, S("may"));
    json_array_open(&f->w);
    if (petition_heeds(a, f->identity->id, (struct str){}))
        holdings_put_if_may(&f->w, rights_in(f, topic),
                            S("mcp/request:authorization/respond"), S("respond"));
    json_array_close(&f->w);
}

/* --- what there is --- */

static void put_proposal(struct inbox_view *f, struct str topic, const struct proposal *p)
{
    const struct room_settings *settings = room_settings_of(f->worker, topic);
    size_t room = ENVELOPES_BYTES - f->envelopes;

    if (!settings || !begin_item(f, topic, S("proposal")))
        return;
    f->envelopes += proposal_put(&settings->ledger.approvals, DIALECT_SLASH, p,
                                 room < ENVELOPE_BYTES ? room : ENVELOPE_BYTES, &f->w);
    put_proposal_rights(f, topic, p);
    json_object_close(&f->w);
}

static void put_authorization(struct inbox_view *f, struct str topic,
                              const struct petition *a)
{
    if (!begin_item(f, topic, S("authorization")))
        return;
    json_put_str(&f->w, S("id"), a->id);
    json_put_str(&f->w, S("owner"), a->owner);
    json_put_str(&f->w, S("authorizationId"), a->authorization_id);
    json_put_given(&f->w, S("request"), a->request_id);
    json_put_str(&f->w, S("tool"), a->tool);
    json_put_str(&f->w, S("requester"), a->requester);
    json_put_given(&f->w, S("proposer"), a->proposer);
    json_put_given(&f->w, S("reason"), a->reason);
    json_put_given(&f->w, S("asked"), a->asked);
    json_put_time(&f->w, S("created"), a->created_ms);
    json_put_time(&f->w, S("expires"), a->expires_ms);
    if (a->arguments.len && f->envelopes + a->arguments.len <= ENVELOPES_BYTES) {
        json_key(&f->w, S("arguments"));
        json_raw(&f->w, a->arguments);
        f->envelopes += a->arguments.len;
    }
    put_authorization_rights(f, topic, a);
    json_object_close(&f->w);
}

static void find_proposals(struct inbox_view *f, struct str topic, struct ledger *ledger,
                           const struct live_room *room)
{
    uint64_t now_ms = loop_wall_ms(f->worker->loop);
    const struct proposal *p = NULL;

    while ((p = ledger_next_open(ledger, p, now_ms)))
        if (!room || !proposals_is_held(room, p->id))
            put_proposal(f, topic, p);
}

/* Whose owner has gone is answered by nobody. */
static bool is_answerable(const struct live_room *room, const struct petition *a)
{
    const struct participant *owner = participant_find(&room->room.topic, a->owner);

    return owner && !list_is_empty(&owner->members) && !proposals_is_held(room, a->id);
}

static void find_authorizations(struct inbox_view *f, const struct live_room *room)
{
    uint64_t now_ms = loop_wall_ms(f->worker->loop);
    const struct petition *a = NULL;

    while ((a = petitions_next(&room->petitions, a, now_ms)))
        if (is_answerable(room, a))
            put_authorization(f, room->room.topic.name, a);
    f->part->count += petitions_missed(&room->petitions, now_ms);
}

static bool may_enter(const struct inbox_view *f, struct str topic,
                      const struct standings *standings)
{
    return !room_may_pass(f->worker, topic, standings, f->identity);
}

static void visit_inbox(struct gather *gather, struct gather_part *part)
{
    struct inbox_view f = { .worker = part->worker,
                            .identity =
                                CONTAINER_OF(gather, struct inbox, gather)->identity,
                            .part = part };
    struct live_room *room;
    struct parked *parked;

    json_write_init(&f.w, &part->out);
    MAP_FOREACH(room, &part->worker->rooms) {
        struct str topic = room->room.topic.name;

        if ((!room->room.ledger.open_count && !room->petitions.count) ||
            !may_enter(&f, topic, &room->standings))
            continue;
        find_proposals(&f, topic, &room->room.ledger, room);
        find_authorizations(&f, room);
    }
    MAP_FOREACH(parked, &part->worker->parked)
        if (parked->ledger.open_count && may_enter(&f, parked->topic, &parked->standings))
            find_proposals(&f, parked->topic, &parked->ledger, NULL);
}

static void answer_inbox(struct gather *gather)
{
    struct inbox *inbox = CONTAINER_OF(gather, struct inbox, gather);
    char now[CLOCK_TEXT];
    struct buf out;

    if (exchange_resume(inbox->x)) {
        buf_init(&out, SIZE_MAX / 2);
        buf_put(&out, S("{\"items\":["));
        gather_join(gather, &out);
        buf_putf(&out, "],\"left_off\":%zu,\"now\":\"" STR_FMT "\"}",
                 gather_total(gather),
                 STR_ARG(clock_write(loop_wall_ms(inbox->x->worker->loop), now)));
        exchange_json(inbox->x, 200, &out);
        buf_done(&out);
    }
    gather_done(gather);
    identity_unref(inbox->identity);
    free(inbox);
}

void inbox_get(struct exchange *x)
{
    struct inbox *inbox = xcalloc(1, sizeof(*inbox));

    inbox->x = x;
    inbox->identity = identity_ref(x->identity);
    inbox->gather.visit = visit_inbox;
    inbox->gather.done = answer_inbox;
    exchange_suspend(x);
    gather_start(&inbox->gather, x->worker);
}
