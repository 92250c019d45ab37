/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hangs together with an id: records that have it as id or correlation_id, then
 * those that have one of theirs, and so on. An id names one thing in one topic, so the
 * walk does not leave the topics in which it began.
 *
 * The walk is the same for both engines, which look ids up in their own way.
 */
#pragma once

#include "audit/query.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

enum { CONVERSATION_RECORDS = 10000, CONVERSATION_AT_ONCE = 50 };

struct conversation {
    uint64_t *seqs; /* of its records, in their order when the walk has ended */
    size_t count;
    /* inside */
    const struct audit_query *query;
    struct map known;   /* ids with their topics */
    struct arena arena; /* of the ids */
    struct buf key;
    struct str *ids; /* of the above; from `asked` on they have not been looked up */
    size_t id_count, id_size, asked;
    uint64_t *slots; /* a set of the seqs */
};

/* Who looks up: gives all records whose id or correlation_id is among these to
 * conversation_add(); others do no harm. With `count` 0: the rest that no index covers,
 * all of it, once in every round. */
struct conversation_finder {
    enum err (*find)(struct conversation_finder *self, struct conversation *talk,
                     const struct str *ids, size_t count);
};

/* Walks from query->thread, in query->topic if that is given. The errors are those of the
 * finder. */
enum err conversation_walk(struct conversation *talk, const struct audit_query *query,
                           struct conversation_finder *finder);
void conversation_done(struct conversation *talk);

/* A record that was found. Looks at seq, topic, id and correlation. */
void conversation_add(struct conversation *talk, const struct audit_record *record);

/* No more records are taken. */
static inline bool conversation_is_full(const struct conversation *talk)
{
    return talk->count == CONVERSATION_RECORDS;
}
