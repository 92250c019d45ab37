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

void presence_changed(struct participant *participant)
{
    struct topic *topic = participant->topic;
    bool was_empty = list_is_empty(&topic->pending);

    list_remove(&participant->pending_link);
    if (is_present(participant) == participant->is_told)
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

struct str topic_presence_id(const struct topic *topic, const struct presence_note *note,
                             char out[static SYSTEM_ID])
{
    return system_id(topic, note->number, out);
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
static void note_announced(const struct presence_note *note, struct str element)
{
    struct participant *participant = note->participant;
    struct topic *topic = participant->topic;

    if (note->capabilities) {
        participant->announced = ANNOUNCED_PRESENT;
        topic->present_count++;
        if (participant->capabilities == note->capabilities &&
            participant->type == note->type)
            roster_add(participant, element);
        else
            roster_drop(topic); /* its rights have changed meanwhile */
    } else {
        participant->announced = ANNOUNCED_ABSENT;
        topic->present_count--;
        roster_drop(topic);
    }
    if (participant->absence)
        participant->absence->seen_seq = topic->ring.next_seq;
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

/* --- into the log --- */

void presence_run_begin(struct presence_run *run, struct topic *topic)
{
    run->topic = topic;
    buf_init(&run->text, SIZE_MAX / 2);
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        presence_batch_init(&run->batches[i]);
}

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

void presence_run_end(struct presence_run *run)
{
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        send_batch(run->topic, &run->batches[i], (enum dialect)i);
}

void presence_run_done(struct presence_run *run)
{
    presence_run_end(run);
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        presence_batch_done(&run->batches[i]);
    buf_done(&run->text);
}

static void add_to_batch(struct presence_run *run, const struct presence_note *note,
                         enum dialect dialect)
{
    struct presence_batch *batch = &run->batches[dialect];

    if (!topic_has_lane(run->topic, PRESENCE_BATCH, dialect))
        return;
    if (dialect != DIALECT_SLASH)
        (void)presence_write(run->topic, note, dialect, &run->text);
    presence_batch_add(batch, buf_str(&run->text));
    if (batch->elements.len >= BATCH_BYTES)
        send_batch(run->topic, batch, dialect);
}

void presence_enter(struct presence_run *run, const struct presence_note *note)
{
    struct topic *topic = run->topic;
    struct str element = presence_write(topic, note, DIALECT_SLASH, &run->text);
    char id[SYSTEM_ID];

    topic_enter(
        topic, &(struct topic_entry){
                   .text = buf_str(&run->text),
                   .id_hash = ring_hash(&topic->ring, topic_presence_id(topic, note, id)),
                   .presence = note });
    note_announced(note, element);
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        add_to_batch(run, note, (enum dialect)i);
}

/* --- the flush --- */

/* What changed gets its place in the order, and enters the log if it need not wait. */
static void announce(struct participant *participant, struct presence_run *run)
{
    struct topic *topic = participant->topic;
    bool joins = is_present(participant);
    struct presence_note note = { .participant = participant,
                                  .capabilities =
                                      joins ? participant->capabilities : NULL,
                                  .wall_ms = topic->ops->wall_ms(topic),
                                  .number = ++topic->system_count & PRESENCE_NUMBERS,
                                  .type = participant->type };
    uint64_t ticket = topic->ops->on_announce ? topic->ops->on_announce(topic, &note) : 0;

    participant->is_told = joins;
    if (ticket || topic_is_holding(topic))
        hold_presence(topic, &note, ticket);
    else
        presence_enter(run, &note);
}

size_t topic_flush_presence(struct topic *topic)
{
    struct participant *participant;
    struct presence_run run;
    size_t count = 0;

    presence_run_begin(&run, topic);
    LIST_FOREACH(participant, &topic->pending, pending_link) {
        list_remove(&participant->pending_link);
        announce(participant, &run);
        count++;
    }
    presence_run_done(&run);
    return count;
}
