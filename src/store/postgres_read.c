/* SPDX-License-Identifier: Apache-2.0 */
/* The record as it is read: in pages, so that no statement lasts and none is kept whole.
 */
#include <stdio.h>

#include "store/postgres_priv.h"

enum { PAGE = 256 };

enum column {
    SEQ,
    AT,
    EVENT,
    TOPIC,
    PARTICIPANT,
    KIND,
    ID,
    CORRELATION,
    VERDICT,
    BY,
    BODY_BYTES,
    BODY_HASH,
    HASH,
    BODY
};

struct walk {
    const struct audit_query *query;
    bool (*on_record)(void *user, const struct audit_record *record);
    void *user;
    uint64_t last; /* seq */
    size_t rows;   /* of this page */
    size_t count;  /* of all */
    bool goes_on;
    enum err err;
};

static enum err read_record(struct postgres *pg, const PGresult *row,
                            struct audit_record *ret)
{
    uint64_t event = postgres_number(pg, row, 0, EVENT);

    *ret = (struct audit_record){
        .seq = postgres_number(pg, row, 0, SEQ),
        .at_ms = postgres_number(pg, row, 0, AT),
        .event = (enum audit_event)event,
        .topic = postgres_bytes(pg, row, 0, TOPIC),
        .participant = postgres_bytes(pg, row, 0, PARTICIPANT),
        .kind = postgres_bytes(pg, row, 0, KIND),
        .id = postgres_bytes(pg, row, 0, ID),
        .correlation = postgres_bytes(pg, row, 0, CORRELATION),
        .verdict = postgres_bytes(pg, row, 0, VERDICT),
        .by = postgres_bytes(pg, row, 0, BY),
        .body_bytes = postgres_number(pg, row, 0, BODY_BYTES),
    };
    if (!pg->pq.PQgetisnull(row, 0, BODY))
        ret->body = postgres_bytes(pg, row, 0, BODY);
    if (event >= AUDIT_EVENT_COUNT ||
        !postgres_fixed(pg, row, BODY_HASH, SHA256_BYTES, ret->body_hash) ||
        !postgres_fixed(pg, row, HASH, SHA256_BYTES, ret->hash))
        return postgres_fail(pg, ERR_IO, "record %llu is damaged",
                             (unsigned long long)ret->seq);
    return OK;
}

static bool on_row(void *user, struct postgres *pg, const PGresult *row)
{
    struct walk *walk = user;
    struct audit_record record;

    walk->err = read_record(pg, row, &record);
    if (walk->err)
        return false;
    walk->last = record.seq;
    walk->rows++;
    walk->count++;
    walk->goes_on = walk->on_record(walk->user, &record) &&
                    (!walk->query->limit || walk->count < walk->query->limit);
    return walk->goes_on;
}

static enum err read_page(struct postgres *pg, struct walk *walk)
{
    bool is_up = walk->query->order == AUDIT_OLDEST_FIRST;
    size_t left = walk->query->limit ? walk->query->limit - walk->count : PAGE;
    struct postgres_args args = {};
    char sql[512];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT seq, at_ms, event, topic, participant, kind, id, correlation,"
                   " verdict, by, body_bytes, body_hash, hash, %s FROM moot.record"
                   " WHERE seq %s $1::bigint ORDER BY seq %s LIMIT $2::bigint",
                   walk->query->without_bodies ? "NULL::bytea" : "body",
                   is_up ? ">" : "<", is_up ? "ASC" : "DESC");
    postgres_arg_number(&args, walk->last || is_up ? walk->last : INT64_MAX);
    postgres_arg_number(&args, left < PAGE ? left : PAGE);
    walk->rows = 0;
    return postgres_each(pg, sql, &args, on_row, walk);
}

enum err postgres_read(struct engine *engine, const struct audit_query *query,
                       bool (*on_record)(void *user, const struct audit_record *),
                       void *user)
{
    struct walk walk = { query, on_record, user, .last = query->after_seq,
                         .goes_on = true };
    enum err err;

    do
        err = read_page(postgres_of(engine), &walk);
    while (!err && !walk.err && walk.goes_on && walk.rows);
    return err ? err : walk.err;
}
