/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/rulebooks.h"

#include "admit/command.h"
#include "base/log.h"
#include "gateway/kept.h"
#include "gateway/restore.h"

/* --- what they weigh --- */

static size_t weight_of(const struct rule *rule)
{
    struct json_writer w;
    struct buf text;
    size_t len;

    buf_init(&text, SIZE_MAX / 2);
    json_write_init(&w, &text);
    rule_write(&w, rule);
    len = text.len;
    buf_done(&text);
    return RULE_WEIGHT + len;
}

static size_t weight_in(const struct rulebook *book, struct str id)
{
    const struct held_rule *held = rulebook_find(book, id);

    return held ? weight_of(&held->rule) : 0;
}

static void weigh(struct live_room *room, size_t was, size_t is)
{
    room->rule_weight += is - was;
    room->worker->rule_weight += is - was;
}

/* Programs leave room for people. */
static enum err judge_weight(const struct live_room *room,
                             const struct rule_change *change, struct refusal *r)
{
    size_t limit = change->verb == RULE_SUGGEST ? RULES_WEIGHT / 2 : RULES_WEIGHT;
    size_t more = 0;

    if (change->rule)
        more = weight_of(change->rule);
    else if (change->narrow)
        more = weight_in(room->room.rulebook, change->id);
    if (more == 0 || room->worker->rule_weight + more <= limit)
        return OK;
    return refusal_set(r, ERR_UNAVAILABLE, S(""),
                       "there are too many rules in all topics");
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
    return judge_weight(room, &change, r);
}

/* --- keeping --- */

void rulebooks_keep(struct live_room *room, struct str id)
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
    size_t weight;

    if (err) {
        rulebook_free(fresh);
        return err;
    }
    parked = state_park(worker, text->topic);
    if (fresh)
        parked->rulebook = fresh;
    weight = weight_in(parked->rulebook, text->key);
    parked->rule_weight += weight;
    worker->rule_weight += weight;
    return OK;
}

/* --- telling --- */

static void tell_begin(struct announcement *say, struct live_room *room,
                       const struct rule *rule, struct str state, struct str cause)
{
    announcement_begin(
        say, room,
        &(struct system_head){ .kind = S("system/rule"), .correlation_id = cause });
    json_put_str(&say->w, S("rule"), rule->id);
    json_put_str(&say->w, S("state"), state);
    json_put_str(&say->w, S("proposer"), rule->proposer);
    json_put_str(&say->w, S("method"), rule->method);
    if (rule->tool.len)
        json_put_str(&say->w, S("tool"), rule->tool);
}

static void tell_end(struct announcement *say, struct str by, struct str reason)
{
    json_put_str(&say->w, S("by"), by);
    if (reason.len)
        json_put_str(&say->w, S("reason"), reason);
    announcement_end(say);
}

static void note(const struct live_room *room, struct str id, struct str state,
                 struct str by)
{
    log_info("rule.change", "topic=%s rule=%s state=%s by=%s",
             LOG_TEXT(room->room.topic.name), LOG_TEXT(id), LOG_TEXT(state),
             LOG_TEXT(by));
}

static void tell(struct live_room *room, const struct held_rule *held,
                 const struct held_rule *narrowed_to, const struct rule_change *change,
                 struct str cause)
{
    struct str state = rule_state_name(held->rule.state);
    struct announcement say;

    note(room, held->rule.id, state, change->by);
    tell_begin(&say, room, &held->rule, state, cause);
    if (narrowed_to)
        json_put_str(&say.w, S("narrowed_to"), narrowed_to->rule.id);
    tell_end(&say, change->by, held->reason);
}

/* --- doing --- */

/* What is told of it is written down while it is there. */
static void remove_rule(struct live_room *room, const struct rule_change *change,
                        struct str cause)
{
    struct rulebook *book = room->room.rulebook;
    const struct held_rule *held = rulebook_find(book, change->id);
    struct announcement say;

    if (!held)
        return; /* was asked before */
    note(room, held->rule.id, S("removed"), change->by);
    tell_begin(&say, room, &held->rule, S("removed"), cause);
    weigh(room, weight_of(&held->rule), 0);
    (void)rulebook_apply(book, change, &(const struct held_rule *){ NULL });
    rulebooks_keep(room, change->id);
    tell_end(&say, change->by, change->reason);
    if (rulebook_count(book) == 0)
        rulebooks_done(room->worker, &room->room.rulebook, &room->rule_weight);
}

void rulebooks_apply(struct live_room *room, const struct rule_change *change,
                     struct str cause)
{
    const struct held_rule *declined = NULL;
    const struct held_rule *held;
    size_t was;

    if (!room->room.rulebook)
        room->room.rulebook = rulebook_new(room->room.topic.name);
    if (change->verb == RULE_REMOVE) {
        remove_rule(room, change, cause);
        return;
    }
    was = weight_in(room->room.rulebook, change->id);
    held = rulebook_apply(room->room.rulebook, change, &declined);
    weigh(room, was,
          weight_of(&held->rule) + (declined ? weight_of(&declined->rule) : 0));
    if (declined)
        rulebooks_keep(room, declined->rule.id);
    rulebooks_keep(room, held->rule.id);
    if (declined)
        tell(room, declined, held, change, cause);
    tell(room, held, NULL, change, cause);
}

void rulebooks_carry_out(struct live_room *room, const struct admission *a)
{
    struct rule_change change = change_of(a);

    rulebooks_apply(room, &change, a->command->id);
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
    if (held->last_use_ms)
        json_put_time(w, S("last_use"), held->last_use_ms);
    if (held->changed_by.len)
        json_put_str(w, S("changed_by"), held->changed_by);
    if (held->changed_ms)
        json_put_time(w, S("changed_at"), held->changed_ms);
    if (held->reason.len)
        json_put_str(w, S("reason"), held->reason);
    json_object_close(w);
}

void rulebooks_show(const struct live_room *room, struct str state, struct json_writer *w)
{
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    const struct rulebook *book = room->room.rulebook;
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
