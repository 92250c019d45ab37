/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: rounds in which ids are looked up, until one brings nothing new. */
#include "store/conversation.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum {
    SLOTS = 1 << 15, /* more than three for each record */
    ID_BYTES = 64 << 20,
};

/* --- which records are in it --- */

static bool has_seq(const struct conversation *talk, uint64_t seq, size_t *ret_slot)
{
    size_t slot = (seq * 0x9e3779b97f4a7c15) >> 49;

    while (talk->slots[slot] && talk->slots[slot] != seq)
        slot = (slot + 1) % SLOTS;
    *ret_slot = slot;
    return talk->slots[slot] == seq;
}

/* --- which ids are --- */

/* An id in its topic, in one text. */
static struct str key_of(struct conversation *talk, struct str topic, struct str id)
{
    struct buf *key = &talk->key;

    buf_clear(key);
    buf_put(key, id);
    buf_put(key, topic);
    buf_put(key, (struct str){ (const char *)&topic.len, sizeof(topic.len) });
    return buf_str(key);
}

static void learn(struct conversation *talk, struct str topic, struct str id)
{
    struct str key = key_of(talk, topic, id);

    if (id.len == 0 || map_find(&talk->known, key))
        return;
    key = arena_str(&talk->arena, key);
    if (!key.ptr)
        return;
    map_set(&talk->known, key, talk);
    if (talk->id_count == talk->id_size) {
        talk->id_size = talk->id_size ? 2 * talk->id_size : 64;
        talk->ids = xrealloc(talk->ids, talk->id_size * sizeof(*talk->ids));
    }
    talk->ids[talk->id_count++] = str_slice(key, 0, id.len);
}

static bool is_known(struct conversation *talk, struct str topic, struct str id)
{
    if (id.len == 0)
        return false;
    return str_eq(id, talk->query->thread) ||
           map_find(&talk->known, key_of(talk, topic, id));
}

void conversation_add(struct conversation *talk, const struct audit_record *record)
{
    struct str topic = record->topic;
    size_t slot;

    if (conversation_is_full(talk) || has_seq(talk, record->seq, &slot))
        return;
    if (talk->query->topic.ptr && !str_eq(talk->query->topic, topic))
        return;
    if (!is_known(talk, topic, record->id) && !is_known(talk, topic, record->correlation))
        return;
    talk->slots[slot] = record->seq;
    talk->seqs[talk->count++] = record->seq;
    learn(talk, topic, record->id);
    learn(talk, topic, record->correlation);
}

/* --- the walk --- */

static int by_seq(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static enum err ask(struct conversation *talk, struct conversation_finder *finder)
{
    enum err err = OK;

    while (!err && talk->asked < talk->id_count && !conversation_is_full(talk)) {
        struct str ids[CONVERSATION_AT_ONCE]; /* the list grows meanwhile */
        size_t count = 0;

        while (count < CONVERSATION_AT_ONCE && talk->asked < talk->id_count)
            ids[count++] = talk->ids[talk->asked++];
        err = finder->find(finder, talk, ids, count);
    }
    return err;
}

enum err conversation_walk(struct conversation *talk, const struct audit_query *query,
                           struct conversation_finder *finder)
{
    size_t before;
    enum err err;

    *talk = (struct conversation){ .query = query };
    map_init(&talk->known);
    arena_init(&talk->arena, ID_BYTES);
    buf_init(&talk->key, SIZE_MAX / 2);
    talk->slots = xcalloc(SLOTS, sizeof(*talk->slots));
    talk->seqs = xcalloc(CONVERSATION_RECORDS, sizeof(*talk->seqs));
    err = finder->find(finder, talk, &query->thread, 1);
    do {
        if (!err)
            err = ask(talk, finder);
        before = talk->count;
        if (!err && !conversation_is_full(talk))
            err = finder->find(finder, talk, NULL, 0);
    } while (!err && talk->count > before);
    qsort(talk->seqs, talk->count, sizeof(*talk->seqs), by_seq);
    return err;
}

void conversation_done(struct conversation *talk)
{
    free(talk->ids);
    free(talk->seqs);
    free(talk->slots);
    map_done(&talk->known);
    arena_done(&talk->arena);
    buf_done(&talk->key);
}
