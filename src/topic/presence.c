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

struct str presence_write(const struct topic *topic, const struct presence_note *note,
                          enum dialect dialect, struct buf *out)
{
    bool joins = note->capabilities;
    char id[SYSTEM_ID];
    struct json_writer w;
    size_t at, end;

    buf_clear(out);
    system_begin(&w, out,
                 &(struct system_head){ .dialect = dialect,
                                        .kind = S("system/presence"),
                                        .id = system_id(topic, note->number, id),
                                        .wall_ms = note->wall_ms });
    json_put_str(&w, S("event"), joins ? S("join") : S("leave"));
    json_key(&w, S("participant"));
    at = out->len;
    system_participant(&w, note->participant->id,
                       joins ? capset_shown(note->capabilities, dialect)
                             : (struct system_capabilities){},
                       participant_type_name(note->type));
    end = out->len;
    system_end(&w);
    return str_slice(buf_str(out), at, end);
}

/* From now on the room knows; `element` is what the announcement says of who came. */
static void note_announced(struct participant *participant, struct str element)
{
    struct topic *topic = participant->topic;

    if (is_present(participant)) {
        participant->announced = ANNOUNCED_PRESENT;
        topic->present_count++;
        roster_add(participant, element);
    } else {
        participant->announced = ANNOUNCED_ABSENT;
        topic->present_count--;
        roster_drop(topic);
    }
    if (participant->absence)
        participant->absence->seen_seq = topic->ring.next_seq;
}

/* Writes and appends the entry; `out` is the caller's, to be used for many. Returns what
 * it was made from, which the ring holds for now. */
static struct presence_note announce(struct participant *participant, struct buf *out)
{
    struct topic *topic = participant->topic;
    bool joins = is_present(participant);
    struct presence_note note = { .participant = participant,
                                  .capabilities =
                                      joins ? participant->capabilities : NULL,
                                  .wall_ms = topic->ops->wall_ms(topic),
                                  .number = ++topic->system_count & PRESENCE_NUMBERS,
                                  .type = participant->type };
    struct str element = presence_write(topic, &note, DIALECT_SLASH, out);
    char id[SYSTEM_ID];

    topic_append(
        topic, &(struct topic_entry){
                   .text = buf_str(out),
                   .id_hash = ring_hash(&topic->ring, system_id(topic, note.number, id)),
                   .presence = &note });
    note_announced(participant, element);
    return note;
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

/* Behind the first such mark, which only presence_write() has written: what stands before
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

static void send_batch(struct topic *topic, struct presence_batch *batch,
                       enum dialect dialect)
{
    struct buf text;

    if (presence_batch_is_empty(batch))
        return;
    buf_init(&text, SIZE_MAX / 2);
    presence_batch_write(batch, &text);
    topic_append_to(topic, PRESENCE_BATCH, dialect, buf_str(&text));
    buf_done(&text);
}

/* Announces one change and adds it to the batch of each dialect that wants them. */
static void announce_in(struct participant *participant,
                        struct presence_batch *batches[static DIALECT_COUNT],
                        struct buf *text)
{
    struct topic *topic = participant->topic;
    struct presence_note note = announce(participant, text);

    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        if (!batches[i])
            continue;
        if (i != DIALECT_SLASH)
            (void)presence_write(topic, &note, (enum dialect)i, text);
        presence_batch_add(batches[i], buf_str(text));
        if (batches[i]->elements.len >= BATCH_BYTES)
            send_batch(topic, batches[i], (enum dialect)i);
    }
}

size_t topic_flush_presence(struct topic *topic)
{
    struct presence_batch space[DIALECT_COUNT];
    struct presence_batch *batches[DIALECT_COUNT] = {};
    struct participant *participant;
    struct buf text;
    size_t count = 0;

    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        presence_batch_init(&space[i]);
        if (topic_has_lane(topic, PRESENCE_BATCH, (enum dialect)i))
            batches[i] = &space[i];
    }
    buf_init(&text, SIZE_MAX / 2);
    LIST_FOREACH(participant, &topic->pending, pending_link) {
        list_remove(&participant->pending_link);
        announce_in(participant, batches, &text);
        count++;
    }
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        send_batch(topic, &space[i], (enum dialect)i);
        presence_batch_done(&space[i]);
    }
    buf_done(&text);
    return count;
}
