/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/switches.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "gateway/kept.h"
#include "gateway/restore.h"
#include "policy/rulings.h"

/* clang-format off */
static const struct {
    struct str name, by, since;
    bool is_usually_on;
    const char *too_many;
} rows[SWITCH_COUNT] = {
    [SWITCH_BRAKE]      = { S("brake"), S("brake_by"), S("brake_since"), false,
                            "the brake is on in too many topics" },
    [SWITCH_AUTOMATION] = { S("automation"), S("automation_by"), S("automation_since"), true,
                            "automation is off in too many topics" },
};
/* clang-format on */

static void turned_done(struct turned *turned)
{
    free(turned->by);
    *turned = (struct turned){};
}

void switches_done(struct switches *switches)
{
    for (size_t i = 0; i < SWITCH_COUNT; i++)
        turned_done(&switches->turned[i]);
}

void switches_move(struct switches *to, struct switches *from)
{
    switches_done(to);
    *to = *from;
    *from = (struct switches){};
}

bool switches_are_turned(const struct switches *switches)
{
    for (size_t i = 0; switches && i < SWITCH_COUNT; i++)
        if (switches->turned[i].is_so)
            return true;
    return false;
}

static bool switch_is_on(const struct switches *switches, enum topic_switch which)
{
    return rows[which].is_usually_on != (switches && switches->turned[which].is_so);
}

void switches_apply(struct live_room *room)
{
    const struct rulings *rulings = room->worker->settings->rulings;
    struct room *governed = &room->room;

    governed->rulings = rulings_reach(rulings, governed->topic.name) ? rulings : NULL;
    governed->has_brake = switch_is_on(&room->switches, SWITCH_BRAKE);
    governed->is_governed = governed->has_brake || governed->rulings;
    governed->has_automation = switch_is_on(&room->switches, SWITCH_AUTOMATION);
}

/* --- keeping --- */

static void keep(struct worker *worker, const struct switch_change *change,
                 const struct turned *turned)
{
    struct store_item item = { .section = STORE_TOPIC,
                               .topic = change->topic,
                               .key = rows[change->which].name };
    struct json_writer w;
    struct buf value;

    if (!turned->is_so) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    json_write_init(&w, &value);
    json_object_open(&w);
    json_put_str(&w, S("by"), str_of(turned->by));
    json_put_uint(&w, S("since"), turned->since_ms);
    json_object_close(&w);
    item.value = buf_str(&value);
    (void)recorder_put(worker, &item);
    buf_done(&value);
}

struct turned_item {
    struct str by;
    uint64_t since;
};

static enum err read_key(struct str key, enum topic_switch *ret)
{
    for (size_t i = 0; i < SWITCH_COUNT; i++)
        if (str_eq(rows[i].name, key)) {
            *ret = (enum topic_switch)i;
            return OK;
        }
    return ERR_INVALID;
}

enum err switches_restore(struct worker *worker, const struct kept_text *text,
                          struct arena *arena)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct turned_item, by, JSON_REQUIRED),
        JSON_FIELD(struct turned_item, since, JSON_REQUIRED),
    };
    struct turned_item item = {};
    const struct json *root;
    enum topic_switch which;
    struct turned *turned;

    if (read_key(text->key, &which) || !topic_name_is_valid(text->topic) ||
        json_parse(text->value, arena, &root, NULL) ||
        json_read(root, fields, COUNT(fields), arena, &item, NULL) || !item.by.len ||
        item.by.len > ENVELOPE_MAX_ID || item.since > KEPT_LAST_MS)
        return ERR_INVALID;
    turned = &state_park(worker, text->topic)->switches.turned[which];
    worker->turned_count[which] += !turned->is_so;
    turned_done(turned);
    *turned = (struct turned){ true, item.since, str_dup(item.by) };
    return OK;
}

/* --- setting --- */

static struct switches *find(const struct worker *worker, struct str topic)
{
    struct live_room *room = room_find(worker, topic);
    struct parked *parked = map_find(&worker->parked, topic);

    if (room)
        return &room->switches;
    return parked ? &parked->switches : NULL;
}

const struct switches *switches_find(const struct worker *worker, struct str topic)
{
    return find(worker, topic);
}

static struct str word_of(bool is_on)
{
    return is_on ? S("on") : S("off");
}

static void announce(struct live_room *room, const struct switch_change *change)
{
    struct announcement say;

    announcement_begin(&say, room,
                       &(struct system_head){ .kind = S("system/topic"),
                                              .correlation_id = change->cause });
    json_put_str(&say.w, rows[change->which].name, word_of(change->is_on));
    json_put_str(&say.w, S("by"), change->by);
    announcement_end(&say);
}

static void note(const struct switch_change *change)
{
    const char *word = change->is_on ? "on" : "off";

    switch (change->which) {
    case SWITCH_BRAKE:
        log_info("topic.brake", "topic=%s brake=%s by=%s", LOG_TEXT(change->topic), word,
                 LOG_TEXT(change->by));
        break;
    case SWITCH_AUTOMATION:
        log_info("topic.automation", "topic=%s automation=%s by=%s",
                 LOG_TEXT(change->topic), word, LOG_TEXT(change->by));
        break;
    case SWITCH_COUNT: break;
    }
}

static void carry_out(struct worker *worker, struct turned *turned,
                      const struct switch_change *change)
{
    struct live_room *room = room_find(worker, change->topic);
    bool is_turned = change->is_on != rows[change->which].is_usually_on;

    turned_done(turned);
    if (is_turned)
        *turned =
            (struct turned){ true, loop_wall_ms(worker->loop), str_dup(change->by) };
    worker->turned_count[change->which] += is_turned ? 1 : -1;
    note(change);
    keep(worker, change, turned);
    if (!room)
        return;
    switches_apply(room);
    announce(room, change);
}

const char *switch_problem(const struct worker *worker,
                           const struct switch_change *change)
{
    const struct switches *switches = find(worker, change->topic);

    if (change->is_on == switch_is_on(switches, change->which) ||
        change->is_on == rows[change->which].is_usually_on ||
        worker->turned_count[change->which] < TURNED_MAX)
        return NULL;
    return rows[change->which].too_many;
}

enum err switch_set(struct worker *worker, const struct switch_change *change)
{
    struct switches *switches = find(worker, change->topic);

    if (!switches && !room_settings_of(worker, change->topic))
        return ERR_NOT_FOUND;
    if (change->is_on == switch_is_on(switches, change->which))
        return OK;
    if (switch_problem(worker, change))
        return ERR_OVERLOAD;
    if (!switches)
        switches = &state_park(worker, change->topic)->switches;
    carry_out(worker, &switches->turned[change->which], change);
    return OK;
}

/* --- showing --- */

static void write_one(const struct switches *switches, enum topic_switch which,
                      struct json_writer *w)
{
    json_put_str(w, rows[which].name, word_of(switch_is_on(switches, which)));
}

void switches_write(const struct switches *switches, struct json_writer *w)
{
    for (size_t i = 0; i < SWITCH_COUNT; i++)
        write_one(switches, (enum topic_switch)i, w);
}

void switches_write_whole(const struct switches *switches, struct json_writer *w)
{
    for (size_t i = 0; i < SWITCH_COUNT; i++) {
        write_one(switches, (enum topic_switch)i, w);
        if (!switches || !switches->turned[i].is_so)
            continue;
        json_put_str(w, rows[i].by, str_of(switches->turned[i].by));
        json_put_time(w, rows[i].since, switches->turned[i].since_ms);
    }
}
