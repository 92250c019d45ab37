/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/brake.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "gateway/kept.h"
#include "gateway/restore.h"
#include "policy/rulings.h"

static const struct str key = S("brake");

void brake_done(struct brake *brake)
{
    free(brake->by);
    *brake = (struct brake){};
}

void brake_move(struct brake *to, struct brake *from)
{
    brake_done(to);
    *to = *from;
    *from = (struct brake){};
}

void brake_apply(struct live_room *room)
{
    const struct rulings *rulings = room->worker->settings->rulings;
    struct room *governed = &room->room;

    governed->rulings = rulings_reach(rulings, governed->topic.name) ? rulings : NULL;
    governed->has_brake = room->brake.is_on;
    governed->is_governed = governed->has_brake || governed->rulings;
}

/* --- keeping --- */

static void keep(struct worker *worker, struct str topic, const struct brake *brake)
{
    struct store_item item = { .section = STORE_TOPIC, .topic = topic, .key = key };
    struct json_writer w;
    struct buf value;

    if (!brake->is_on) {
        (void)recorder_remove(worker, &item);
        return;
    }
    buf_init(&value, SIZE_MAX / 2);
    json_write_init(&w, &value);
    json_object_open(&w);
    json_put_str(&w, S("by"), str_of(brake->by));
    json_put_uint(&w, S("since"), brake->since_ms);
    json_object_close(&w);
    item.value = buf_str(&value);
    (void)recorder_put(worker, &item);
    buf_done(&value);
}

struct brake_item {
    struct str by;
    uint64_t since;
};

enum err brake_restore(struct worker *worker, const struct kept_text *text,
                       struct arena *arena)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct brake_item, by, JSON_REQUIRED),
        JSON_FIELD(struct brake_item, since, JSON_REQUIRED),
    };
    struct brake_item item = {};
    const struct json *root;
    struct parked *parked;

    if (!str_eq(text->key, key) || !topic_name_is_valid(text->topic) ||
        json_parse(text->value, arena, &root, NULL) ||
        json_read(root, fields, COUNT(fields), arena, &item, NULL) || !item.by.len ||
        item.by.len > ENVELOPE_MAX_ID || item.since > KEPT_LAST_MS)
        return ERR_INVALID;
    parked = state_park(worker, text->topic);
    worker->brake_count += !parked->brake.is_on;
    brake_done(&parked->brake);
    parked->brake = (struct brake){ true, item.since, str_dup(item.by) };
    return OK;
}

/* --- setting --- */

static struct brake *find(const struct worker *worker, struct str topic)
{
    struct live_room *room = room_find(worker, topic);
    struct parked *parked = map_find(&worker->parked, topic);

    if (room)
        return &room->brake;
    return parked ? &parked->brake : NULL;
}

const struct brake *brake_find(const struct worker *worker, struct str topic)
{
    return find(worker, topic);
}

static void announce(struct live_room *room, const struct brake_change *change)
{
    struct announcement say;

    announcement_begin(&say, room,
                       &(struct system_head){ .kind = S("system/topic"),
                                              .correlation_id = change->cause });
    json_put_str(&say.w, S("brake"), change->is_on ? S("on") : S("off"));
    json_put_str(&say.w, S("by"), change->by);
    announcement_end(&say);
}

static void carry_out(struct worker *worker, struct brake *brake,
                      const struct brake_change *change)
{
    struct live_room *room = room_find(worker, change->topic);

    brake_done(brake);
    if (change->is_on)
        *brake = (struct brake){ true, loop_wall_ms(worker->loop), str_dup(change->by) };
    worker->brake_count += change->is_on ? 1 : -1;
    log_info("topic.brake", "topic=%s brake=%s by=%s", LOG_TEXT(change->topic),
             change->is_on ? "on" : "off", LOG_TEXT(change->by));
    keep(worker, change->topic, brake);
    if (!room)
        return;
    brake_apply(room);
    announce(room, change);
}

enum err brake_set(struct worker *worker, const struct brake_change *change)
{
    struct brake *brake = find(worker, change->topic);

    if (!brake && !room_settings_of(worker, change->topic))
        return ERR_NOT_FOUND;
    if (change->is_on == (brake && brake->is_on))
        return OK;
    if (change->is_on && worker->brake_count >= BRAKES_MAX)
        return ERR_OVERLOAD;
    if (!brake)
        brake = &state_park(worker, change->topic)->brake;
    carry_out(worker, brake, change);
    return OK;
}

/* --- showing --- */

void brake_write(const struct brake *brake, struct json_writer *w)
{
    json_put_str(w, S("brake"), brake && brake->is_on ? S("on") : S("off"));
}

void brake_write_whole(const struct brake *brake, struct json_writer *w)
{
    brake_write(brake, w);
    if (!brake || !brake->is_on)
        return;
    json_put_str(w, S("brake_by"), str_of(brake->by));
    json_put_time(w, S("brake_since"), brake->since_ms);
}
