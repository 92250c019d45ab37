/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roster: all announced participants as they stand in a welcome, written once for
 * each dialect and shared by everybody who is welcomed in it, in one block:
 *
 *     {"id":"ann",…},{"id":"bob",…},{"id":"eve",…}……room……
 *     ├──────────────────────────┘ what an earlier welcome holds of it
 *
 * Who is announced later is added behind, which those that hold the beginning do not
 * notice; any other change drops the block, and the next welcome writes it anew.
 */
#include <string.h>

#include "envelope/system.h"
#include "topic/topic_priv.h"

enum {
    SPARE = 512,            /* at least, for a few more */
    ROSTER_BYTES = 1 << 30, /* so that a frame's length fits; who does not is left out */
};

static void drop_one(struct topic *topic, enum dialect dialect)
{
    block_unref(topic->rosters[dialect]);
    topic->rosters[dialect] = NULL;
}

void roster_drop(struct topic *topic)
{
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        drop_one(topic, (enum dialect)i);
}

void roster_changed(struct participant *participant)
{
    if (participant->announced == ANNOUNCED_PRESENT)
        roster_drop(participant->topic);
}

static void add_element(struct topic *topic, enum dialect dialect, struct str element)
{
    struct block *block = topic->rosters[dialect];

    if (block->size - block->used < element.len + 1) {
        drop_one(topic, dialect);
        return;
    }
    if (block->used)
        block->bytes[block->used++] = ',';
    memcpy(block->bytes + block->used, element.ptr, element.len);
    block->used += (uint32_t)element.len;
}

static void write_element(struct json_writer *w, const struct participant *participant,
                          enum dialect dialect)
{
    system_participant(w, participant->id,
                       capset_shown(participant->capabilities, dialect),
                       participant_type_name(participant->type));
}

void roster_add(const struct participant *participant, struct str element)
{
    struct topic *topic = participant->topic;
    struct json_writer w;
    struct buf out;

    if (topic->rosters[DIALECT_SLASH])
        add_element(topic, DIALECT_SLASH, element);
    if (!topic->rosters[DIALECT_DOTTED])
        return;
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    write_element(&w, participant, DIALECT_DOTTED);
    add_element(topic, DIALECT_DOTTED, buf_str(&out));
    buf_done(&out);
}

static struct block *write_roster(const struct topic *topic, enum dialect dialect)
{
    const struct participant *participant;
    struct json_writer w;
    struct block *block;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    MAP_FOREACH(participant, &topic->participants)
        if (participant->announced == ANNOUNCED_PRESENT && out.len < ROSTER_BYTES)
            write_element(&w, participant, dialect);
    block = block_new(out.len + out.len / 8 + SPARE, 0);
    memcpy(block->bytes, out.ptr, out.len);
    block->used = (uint32_t)out.len;
    buf_done(&out);
    return block;
}

/* Where in the roster the participant stands; ptr is NULL if it was left out. No other
 * can contain the element: a quote inside a JSON string has a backslash before it, and in
 * the objects among capabilities, whose names are sorted, `id` never stands before
 * `capabilities`. */
static struct str find_element(const struct block *block,
                               const struct participant *participant,
                               enum dialect dialect)
{
    struct json_writer w;
    struct buf out;
    struct str found;

    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    write_element(&w, participant, dialect);
    found = (struct str){ memmem(block->bytes, block->used, out.ptr, out.len), out.len };
    buf_done(&out);
    return found;
}

/* Splits the first part at the element, which goes, and with it the comma before it or,
 * for the very first, behind it. */
static void cut_out(struct str element, struct shared_part parts[static 2])
{
    struct block *block = parts[0].block;
    uint32_t at;

    if (!element.ptr)
        return;
    at = (uint32_t)(element.ptr - block->bytes);
    parts[1] = (struct shared_part){ block, at + (uint32_t)element.len, parts[0].to };
    parts[0].to = at ? at - 1 : 0;
    if (at == 0)
        parts[1].from++;
}

void member_send_roster(struct member *member, struct str text, size_t at)
{
    struct topic *topic = member_topic(member);
    const struct participant *me = member->participant;
    enum dialect dialect = member->lane->dialect;
    bool is_listed = me->announced == ANNOUNCED_PRESENT;
    struct shared_part parts[2] = {};
    struct block *block;

    topic->roster_was_used = true;
    if (topic->present_count == is_listed) {
        member_send_around(member, text, at, (struct shared_parts){});
        return;
    }
    if (!topic->rosters[dialect])
        topic->rosters[dialect] = write_roster(topic, dialect);
    block = topic->rosters[dialect];
    parts[0] = (struct shared_part){ block, 0, block->used };
    if (is_listed)
        cut_out(find_element(block, me, dialect), parts);
    member_send_around(member, text, at, (struct shared_parts){ parts, 2 });
}

void topic_sweep_roster(struct topic *topic)
{
    if (!topic->roster_was_used)
        roster_drop(topic);
    topic->roster_was_used = false;
}
