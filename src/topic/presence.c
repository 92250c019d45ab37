/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence: who came and who left, announced as entries of the log. Changes are collected
 * for a short while; a join and a leave within it cancel out. Anything that is said, and
 * every new welcome, first flushes what is pending, so that nobody speaks before he came.
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

static void announce(struct participant *participant)
{
    struct topic *topic = participant->topic;
    bool joins = is_present(participant);
    char id_text[SYSTEM_ID];
    struct str id = topic_system_id(topic, id_text);
    struct json_writer w;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    system_begin(&w, &out,
                 &(struct system_head){ .kind = S("system/presence"),
                                        .id = id,
                                        .wall_ms = topic->ops->wall_ms(topic) });
    json_put_str(&w, S("event"), joins ? S("join") : S("leave"));
    json_key(&w, S("participant"));
    system_participant(&w, participant->id,
                       joins ? capset_json(participant->capabilities) : S(""),
                       participant_type_name(participant->type));
    system_end(&w);
    topic_append(topic, &(struct topic_entry){ .text = buf_str(&out), .id = id });
    buf_done(&out);
    participant->announced = joins ? ANNOUNCED_PRESENT : ANNOUNCED_ABSENT;
    if (joins)
        topic->present_count++;
    else
        topic->present_count--;
}

void topic_flush_presence(struct topic *topic)
{
    struct participant *participant;

    LIST_FOREACH(participant, &topic->pending, pending_link) {
        list_remove(&participant->pending_link);
        announce(participant);
    }
}
