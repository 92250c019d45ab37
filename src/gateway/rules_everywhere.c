/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of all topics that the asker may enter, with what he may do about them; the
 * room judges that again when it is done. A topic that he may not enter is passed over,
 * and so is one that has no rules, unless automation is off there.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/entrance.h"
#include "gateway/rulebooks.h"
#include "gateway/state.h"

enum { RULES_BYTES = 4 << 20 }; /* of a worker, about; topics behind that are counted */

struct hunt {
    struct gather gather;
    struct exchange *x;
    struct identity *identity;
    struct str state; /* static; ptr NULL: of any */
};

/* A topic, with a room or parked. */
struct place_of_rules {
    struct str topic;
    const struct rulebook *book;
    const struct standings *standings;
    const struct switches *switches;
};

static void put_rights(struct worker *worker, struct identity *identity, struct str topic,
                       struct json_writer *w)
{
    static const struct {
        struct str kind, word;
        bool is_for_humans;
    } verbs[] = {
        { S("rule/accept"), S("accept"), true },
        { S("rule/add"), S("add"), true },
        { S("rule/decline"), S("decline"), false },
        { S("rule/disable"), S("disable"), false },
        { S("rule/enable"), S("enable"), true },
        { S("rule/remove"), S("remove"), false },
        { S("topic/set"), S("automation"), false },
    };
    struct capset *set =
        holdings_find(&worker->holdings, topic, identity, loop_wall_ms(worker->loop));

    json_key(w, S("may"));
    json_array_open(w);
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!verbs[i].is_for_humans || identity->type == TYPE_HUMAN)
            holdings_put_if_may(w, set, verbs[i].kind, verbs[i].word);
    if (entrance_shows_past(identity, set))
        json_str(w, S("test"));
    json_array_close(w);
}

static void put_place(const struct hunt *hunt, struct gather_part *part,
                      const struct place_of_rules *place, struct json_writer *w)
{
    struct identity *identity = hunt->identity;
    struct worker *worker = part->worker;
    bool is_off = place->switches->turned[SWITCH_AUTOMATION].is_so;

    if ((!rulebooks_are_there(place->book) && !is_off) ||
        room_may_pass(worker, place->topic, place->standings, identity))
        return;
    json_object_open(w);
    json_put_str(w, S("name"), place->topic);
    switches_write_whole(place->switches, w);
    put_rights(worker, identity, place->topic, w);
    json_put_uint(w, S("count"), place->book ? rulebook_count(place->book) : 0);
    if (part->out.len < RULES_BYTES)
        rulebooks_show(place->book, loop_wall_ms(worker->loop), hunt->state, w);
    json_object_close(w);
}

static void visit_rules(struct gather *gather, struct gather_part *part)
{
    const struct hunt *hunt = CONTAINER_OF(gather, struct hunt, gather);
    const struct live_room *room;
    const struct parked *parked;
    struct json_writer w;

    json_write_init(&w, &part->out);
    MAP_FOREACH(room, &part->worker->rooms)
        put_place(hunt, part,
                  &(struct place_of_rules){ room->room.topic.name, room->room.rulebook,
                                            &room->standings, &room->switches },
                  &w);
    MAP_FOREACH(parked, &part->worker->parked)
        put_place(hunt, part,
                  &(struct place_of_rules){ parked->topic, parked->rulebook,
                                            &parked->standings, &parked->switches },
                  &w);
}

static void answer_rules(struct gather *gather)
{
    struct hunt *hunt = CONTAINER_OF(gather, struct hunt, gather);
    struct buf out;

    if (exchange_resume(hunt->x)) {
        buf_init(&out, SIZE_MAX / 2);
        buf_put(&out, S("{\"topics\":["));
        gather_join(gather, &out);
        buf_put(&out, S("]}"));
        exchange_json(hunt->x, 200, &out);
        buf_done(&out);
    }
    gather_done(gather);
    identity_unref(hunt->identity);
    free(hunt);
}

void rules_get(struct exchange *x)
{
    struct hunt *hunt;
    struct str state;

    if (rules_read_state(x, &state))
        return;
    hunt = xcalloc(1, sizeof(*hunt));
    hunt->x = x;
    hunt->state = state;
    hunt->identity = identity_ref(x->identity);
    hunt->gather.visit = visit_rules;
    hunt->gather.done = answer_rules;
    exchange_suspend(x);
    gather_start(&hunt->gather, x->worker);
}
