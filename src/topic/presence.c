/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence: who came and who left, announced as entries of the log. Changes are collected
 * for a short while; a join and a leave within it cancel out. Anything that is said first
 * flushes what is pending, so that nobody speaks before he came. A welcome flushes
 * nothing: it lists those that have been announced, and the others follow as entries.
 *
 * The log has an entry for each change. Members that want batches get, for all changes of
 * a flush, one frame with the id of the last of these entries.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "envelope/system.h"
#include "topic/topic_priv.h"

enum { BATCH_BYTES = 256 * 1024 }; /* a frame may exceed it by one participant */

#define PAYLOAD     "\"payload\":"
#define PARTICIPANT "\"participant\":{"

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

static struct str system_id(const struct topic *topic, uint64_t number,
                            char out[static SYSTEM_ID])
{
    int len = snprintf(out, SYSTEM_ID, "%s-%llu", topic->system_prefix,
                       (unsigned long long)number);

    return (struct str){ out, (size_t)len };
}

struct str topic_system_id(struct topic *topic, char out[static SYSTEM_ID])
{
    return system_id(topic, ++topic->system_count, out);
}

/* The same note gives the same text every time. Returns what it says of the participant,
 * a part of `out`. */
static struct str write_presence(const struct topic *topic,
                                 const struct presence_note *note, struct buf *out)
{
    bool joins = note->capabilities;
    char id[SYSTEM_ID];
    struct json_writer w;
    size_t at, end;

    buf_clear(out);
    system_begin(&w, out,
                 &(struct system_head){ .kind = S("system/presence"),
                                        .id = system_id(topic, note->number, id),
                                        .wall_ms = note->wall_ms });
    json_put_str(&w, S("event"), joins ? S("join") : S("leave"));
    json_key(&w, S("participant"));
    at = out->len;
    system_participant(&w, note->participant->id,
                       joins ? capset_shown(note->capabilities, DIALECT_SLASH)
                             : (struct system_capabilities){},
                       participant_type_name(note->type));
    end = out->len;
    system_end(&w);
    return str_slice(buf_str(out), at, end);
}

struct str topic_entry_text(const struct topic *topic, const struct entry *entry,
                            struct buf *out)
{
    if (!entry->is_presence)
        return entry_text(entry);
    (void)write_presence(topic, &entry->presence, out);
    return buf_str(out);
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
    if (participant->absence)
        participant->absence->seen_seq = topic->ring.next_seq;
}

/* Writes and appends the entry; `out` is the caller's, to be used for many. */
static void announce(struct participant *participant, struct buf *out)
{
    struct topic *topic = participant->topic;
    bool joins = is_present(participant);
    struct presence_note note = { .participant = participant,
                                  .capabilities =
                                      joins ? participant->capabilities : NULL,
                                  .wall_ms = topic->ops->wall_ms(topic),
                                  .number = ++topic->system_count & PRESENCE_NUMBERS,
                                  .type = participant->type };
    struct str element = write_presence(topic, &note, out);
    char id[SYSTEM_ID];

    topic_append(
        topic, &(struct topic_entry){
                   .text = buf_str(out),
                   .id_hash = ring_hash(&topic->ring, system_id(topic, note.number, id)),
                   .presence = &note });
    note_announced(participant, element);
}

/* --- batches --- */

void presence_batch_init(struct presence_batch *batch)
{
    buf_init(&batch->head, SIZE_MAX / 2);
    buf_init(&batch->elements, SIZE_MAX / 2);
}

void presence_batch_done(struct presence_batch *batch)
{
    buf_done(&batch->head);
    buf_done(&batch->elements);
}

/* Behind the first such mark, which only write_presence() has written: what stands before
 * it is its own, no foreign text. */
static size_t behind(struct str text, struct str mark, size_t from)
{
    const char *at = memmem(text.ptr + from, text.len - from, mark.ptr, mark.len);

    assert(at);
    return (size_t)(at - text.ptr) + mark.len;
}

/*
 *     {"protocol":…,"payload":{"event":"join","participant":{"id":"ann",…}}}
 *     └─ head ──────────────┘ └──────┬──────┘                └────┬─────┘
 *                 an element:  {"event":"join",              "id":"ann",…}
 */
void presence_batch_add(struct presence_batch *batch, struct str entry_text)
{
    size_t payload = behind(entry_text, S(PAYLOAD), 0);
    size_t participant = behind(entry_text, S(PARTICIPANT), payload);

    buf_clear(&batch->head);
    buf_put(&batch->head, str_slice(entry_text, 0, payload));
    if (batch->elements.len)
        buf_putc(&batch->elements, ',');
    buf_put(&batch->elements,
            str_slice(entry_text, payload, participant - strlen(PARTICIPANT)));
    buf_put(&batch->elements,
            str_slice(entry_text, participant, entry_text.len - strlen("}}")));
}

void presence_batch_write(struct presence_batch *batch, struct buf *out)
{
    buf_put(out, buf_str(&batch->head));
    buf_put(out, S("{\"event\":\"batch\",\"participants\":["));
    buf_put(out, buf_str(&batch->elements));
    buf_put(out, S("]}}"));
    buf_clear(&batch->elements);
}

/* --- the flush --- */

static void send_batch(struct topic *topic, struct presence_batch *batch)
{
    struct buf text;

    if (presence_batch_is_empty(batch))
        return;
    buf_init(&text, SIZE_MAX / 2);
    presence_batch_write(batch, &text);
    topic_append_to(topic, PRESENCE_BATCH, buf_str(&text));
    buf_done(&text);
}

size_t topic_flush_presence(struct topic *topic)
{
    bool wants_batch = topic_has_lane(topic, PRESENCE_BATCH);
    struct participant *participant;
    struct presence_batch batch;
    struct buf text;
    size_t count = 0;

    presence_batch_init(&batch);
    buf_init(&text, SIZE_MAX / 2);
    LIST_FOREACH(participant, &topic->pending, pending_link) {
        list_remove(&participant->pending_link);
        announce(participant, &text);
        count++;
        if (wants_batch)
            presence_batch_add(&batch, buf_str(&text));
        if (batch.elements.len >= BATCH_BYTES)
            send_batch(topic, &batch);
    }
    send_batch(topic, &batch);
    presence_batch_done(&batch);
    buf_done(&text);
    return count;
}
