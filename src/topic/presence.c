/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence: who came and who left, announced as entries of the log. Changes are collected
 * for a short while; a join and a leave within it cancel out. Anything that is said first
 * flushes what is pending, so that nobody speaks before he came. A welcome flushes
 * nothing: it lists those that have been announced, and the others follow as entries.
 */
#include <stdio.h>

#include "envelope/system.h"
#include "topic/topic_priv.h"

static bool is_present(const struct participant *participant)
{
    return participant->member_count > 0;
}

static bool was_announced(const struct participant *participant)
{
    return participant->announced == ANNOUNCED_PRESENT;
}

void presence_changed(struct participant *participant)
{
    struct topic *topic = participant->topic;
    bool was_empty = list_is_empty(&topic->pending);

    list_remove(&participant->pending_link);
    if (is_present(participant) == was_announced(participant))
        return;
    list_append(&topic->pending, &participant->pending_link);
    if (was_empty)
        topic->ops->on_presence(topic);
}

struct str topic_system_id(struct topic *topic, char out[static SYSTEM_ID])
{
    int len = snprintf(out, SYSTEM_ID, "%s-%llu", topic->system_prefix,
                       (unsigned long long)++topic->system_count);

    return (struct str){ out, (size_t)len };
}

/* From now on the room knows; `element` is what the announcement says of who came. */
static void note_announced(struct participant *participant, struct str element)
{
    struct topic *topic = participant->topic;

    if (is_present(participant)) {
        participant->announced = ANNOUNCED_PRESENT;
        topic->present_count++;
        roster_add(topic, element);
    } else {
        participant->announced = ANNOUNCED_ABSENT;
        topic->present_count--;
        roster_drop(topic);
    }
}

/* Writes and appends the entry; `out` is the caller's, to be used for many. */
static void announce(struct participant *participant, struct buf *out)
{
    struct topic *topic = participant->topic;
    bool joins = is_present(participant);
    char id_text[SYSTEM_ID];
    struct str id = topic_system_id(topic, id_text);
    struct json_writer w;
    size_t at, end;

    buf_clear(out);
    system_begin(&w, out,
                 &(struct system_head){ .kind = S("system/presence"),
                                        .id = id,
                                        .wall_ms = topic->ops->wall_ms(topic) });
    json_put_str(&w, S("event"), joins ? S("join") : S("leave"));
    json_key(&w, S("participant"));
    at = out->len;
    system_participant(&w, participant->id,
                       joins ? capset_json(participant->capabilities) : S(""),
                       participant_type_name(participant->type));
    end = out->len;
    system_end(&w);
    topic_append(topic, &(struct topic_entry){ .text = buf_str(out), .id = id });
    note_announced(participant, str_slice(buf_str(out), at, end));
}

void topic_flush_presence(struct topic *topic)
{
    struct participant *participant;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    LIST_FOREACH(participant, &topic->pending, pending_link) {
        list_remove(&participant->pending_link);
        announce(participant, &out);
    }
    buf_done(&out);
}
