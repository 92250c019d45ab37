/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/rulebooks.h"

#include "admit/command.h"
#include "admit/use.h"
#include "base/log.h"
#include "gateway/kept.h"
#include "gateway/restore.h"

/* --- what they weigh --- */

static void weigh(struct worker *worker, const struct rulebook *book, size_t *weight)
{
    size_t is = rulebook_bytes(book);

    worker->rule_weight += is - *weight;
    *weight = is;
}

/* Programs leave room for people, in all topics together. */
static bool has_room(const struct worker *worker, enum rule_verb verb)
{
    return worker->rule_weight < (verb == RULE_SUGGEST ? RULES_WEIGHT / 2 : RULES_WEIGHT);
}

static bool adds_one(const struct rule_change *change)
{
    return change->rule || change->narrow;
}

/* --- judging --- */

static struct live_room *room_of(const struct admission *a)
{
    return CONTAINER_OF(a->room, struct live_room, room);
}

static struct rule_change change_of(const struct admission *a)
{
    struct rule_change change = a->command->rule;

    change.is_by_human = a->sender->type == TYPE_HUMAN;
    return change;
}

enum err rulebooks_judge(const struct admission *a, struct refusal *r)
{
    const struct live_room *room = room_of(a);
    struct rule_change change = change_of(a);
    struct rulebook_problem problem = {};
    struct rulebook *empty = NULL;
    enum err err;

    if (!room->room.rulebook)
        empty = rulebook_new(room->room.topic.name);
    err = rulebook_judge(empty ? empty : room->room.rulebook, &change, &problem);
    rulebook_free(empty);
    if (err)
        return refusal_of_rule(r, a, err, a->command->rule.id, &problem);
    if (adds_one(&change) && !has_room(room->worker, change.verb))
        return refusal_set(r, ERR_UNAVAILABLE, S(""),
                           "there are too many rules in all topics together");
    return OK;
}

/* --- keeping --- */

/* It has changed, was used, or is there no more: the store is to know. */
static void keep(struct live_room *room, struct str id)
{
    struct store_item item = { .section = STORE_RULE,
                               .topic = room->room.topic.name,
                               .key = id };
    const struct rulebook *book = room->room.rulebook;
    const struct held_rule *held = book ? rulebook_find(book, id) : NULL;
    struct json_writer w;
    struct buf value;

    if (!held) {
        (void)recorder_remove(room->worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    json_write_init(&w, &value);
    held_rule_write(held, &w);
    item.value = buf_str(&value);
    (void)recorder_put(room->worker, &item);
    buf_done(&value);
}

/* Its key is its id, as it was when it was kept. */
static bool is_named(const struct kept_text *text, struct arena *arena)
{
    const struct json *root;

    return json_parse(text->value, arena, &root, NULL) == OK &&
           str_eq(json_text(json_find(json_find(root, S("rule")), S("id"))), text->key);
}

enum err rulebooks_restore(struct worker *worker, const struct kept_text *text,
                           struct arena *arena)
{
    struct parked *parked = map_find(&worker->parked, text->topic);
    struct rulebook *book = parked ? parked->rulebook : NULL;
    struct rulebook *fresh = book ? NULL : rulebook_new(text->topic);
    enum err err = is_named(text, arena)
                       ? rulebook_restore(book ? book : fresh, text->value)
                       : ERR_INVALID;

    if (err) {
        rulebook_free(fresh);
        return err;
    }
    parked = state_park(worker, text->topic);
    if (fresh)
        parked->rulebook = fresh;
    weigh(worker, parked->rulebook, &parked->rule_weight);
    return OK;
}

/* --- telling --- */

struct news {
    const struct held_rule *held;
    struct str state;
    struct str by;
    struct str reason;
    struct str narrowed_to; /* "": it was not */
    struct str cause;
};

static void tell(struct live_room *room, const struct news *news)
{
    const struct rule *rule = &news->held->rule;
    struct announcement say;

    log_info("rule.change", "topic=%s rule=%s state=%s by=%s",
             LOG_TEXT(room->room.topic.name), LOG_TEXT(rule->id), LOG_TEXT(news->state),
             LOG_TEXT(news->by));
    announcement_begin(
        &say, room,
        &(struct system_head){ .kind = S("system/rule"), .correlation_id = news->cause });
    json_put_str(&say.w, S("rule"), rule->id);
    json_put_str(&say.w, S("state"), news->state);
    json_put_str(&say.w, S("proposer"), rule->proposer);
    json_put_str(&say.w, S("method"), rule->method);
    json_put_given(&say.w, S("tool"), rule->tool);
    json_put_given(&say.w, S("narrowed_to"), news->narrowed_to);
    json_put_str(&say.w, S("by"), news->by);
    json_put_given(&say.w, S("reason"), news->reason);
    announcement_end(&say);
}

/* --- doing --- */

static void tell_state(struct live_room *room, const struct held_rule *held,
                       struct str narrowed_to, const struct rule_change *change,
                       struct str cause)
{
    tell(room, &(struct news){ .held = held,
                               .state = rule_state_name(held->rule.state),
                               .by = change->by,
                               .reason = held->reason,
                               .narrowed_to = narrowed_to,
                               .cause = cause });
}

/* It is in the book no more. */
static void forget(struct live_room *room, const struct held_rule *held,
                   const struct rule_change *change, struct str reason, struct str cause)
{
    keep(room, held->rule.id);
    tell(room, &(struct news){ .held = held,
                               .state = S("removed"),
                               .by = change->by,
                               .reason = reason,
                               .cause = cause });
}

static void carry_out(struct live_room *room, const struct rule_change *change,
                      struct str cause)
{
    struct rulebook *book = room->room.rulebook;
    const struct held_rule *was = rulebook_find(book, change->id);
    const struct held_rule *declined = NULL;
    const struct held_rule *is = rulebook_apply(book, change, &declined);
    const struct held_rule *dropped = NULL;

    if (is)
        keep(room, is->rule.id);
    if (is && declined) {
        keep(room, declined->rule.id);
        tell_state(room, declined, is->rule.id, change, cause);
    }
    if (is)
        tell_state(room, is, S(""), change, cause);
    else if (was && change->verb == RULE_REMOVE)
        forget(room, was, change, change->reason, cause);
    while ((dropped = rulebook_next_dropped(book, dropped)))
        forget(room, dropped, change, S("it made room for another one"), cause);
}

/* `cause`, the envelope that brought it about, stands in the log already: what lies in
 * topic_reserve()'s place is lost when the room is told. */
static void apply(struct live_room *room, const struct rule_change *change,
                  struct str cause)
{
    if (!room->room.rulebook)
        room->room.rulebook = rulebook_new(room->room.topic.name);
    carry_out(room, change, cause);
    weigh(room->worker, room->room.rulebook, &room->rule_weight);
    if (rulebook_count(room->room.rulebook) == 0)
        rulebooks_done(room->worker, &room->room.rulebook, &room->rule_weight);
}

void rulebooks_carry_out(struct live_room *room, const struct admission *a)
{
    struct rule_change change = change_of(a);

    apply(room, &change, a->command->id);
}

void rulebooks_follow(struct live_room *room, const struct admission *a)
{
    if (a->rules->used.len)
        keep(room, a->rules->used);
    for (size_t i = 0; i < a->rules->suspend_count; i++) {
        struct rule_change change = use_suspension(a, i);

        apply(room, &change, a->rules->cause);
    }
}

/* --- showing --- */

static void show_one(const struct held_rule *held, uint64_t now_ms, struct buf *space,
                     struct json_writer *w)
{
    struct json_writer text;

    buf_clear(space);
    json_write_init(&text, space);
    rule_write(&text, &held->rule);
    json_object_open(w);
    json_put_members(w, buf_str(space), (struct str_list){});
    json_put_uint(w, S("uses"), held->uses);
    json_put_uint(w, S("used_this_hour"), held_rule_used(held, now_ms));
    json_put_given_time(w, S("last_use"), held->last_use_ms);
    json_put_given(w, S("changed_by"), held->changed_by);
    json_put_given_time(w, S("changed_at"), held->changed_ms);
    json_put_given(w, S("reason"), held->reason);
    json_object_close(w);
}

void rulebooks_show(const struct rulebook *book, uint64_t now_ms, struct str state,
                    struct json_writer *w)
{
    const struct held_rule *held = NULL;
    struct buf space;

    buf_init(&space, SIZE_MAX / 2);
    json_key(w, S("rules"));
    json_array_open(w);
    while (book && (held = rulebook_next(book, held)))
        if (!state.ptr || str_eq(state, rule_state_name(held->rule.state)))
            show_one(held, now_ms, &space, w);
    json_array_close(w);
    buf_done(&space);
}

/* --- with the topic --- */

bool rulebooks_are_there(const struct rulebook *book)
{
    return book && rulebook_count(book) > 0;
}

size_t rulebooks_count(const struct worker *worker, struct str topic)
{
    const struct live_room *room = room_find(worker, topic);
    const struct parked *parked = map_find(&worker->parked, topic);
    const struct rulebook *book = parked ? parked->rulebook : NULL;

    if (room)
        book = room->room.rulebook;
    return book ? rulebook_count(book) : 0;
}

void rulebooks_enter(struct live_room *room, struct parked *parked)
{
    room->room.rulebook = parked->rulebook;
    room->rule_weight = parked->rule_weight;
    parked->rulebook = NULL;
    parked->rule_weight = 0;
}

void rulebooks_leave(struct live_room *room, struct parked *parked)
{
    parked->rulebook = room->room.rulebook;
    parked->rule_weight = room->rule_weight;
    room->room.rulebook = NULL;
    room->rule_weight = 0;
}

void rulebooks_done(struct worker *worker, struct rulebook **book, size_t *weight)
{
    rulebook_free(*book);
    *book = NULL;
    worker->rule_weight -= *weight;
    *weight = 0;
}
