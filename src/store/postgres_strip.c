/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention: bodies go, the oldest first, and with them the words they are found by. The
 * question is put together from constant parts.
 */
#include <stdlib.h>

#include "store/postgres_priv.h"

enum { BYTEA_OID = 17, LIST_MAX = 1 << 24 };

/* Of one topic, or of all but a list of them. */
static const char *const topic_is[] = { "sha256(topic) = sha256($1::bytea)",
                                        "topic <> ALL ($1::bytea[])" };

/* What stands around that condition. */
struct question {
    const char *before, *after;
};

/* Before a time, that is, before the first record of that time or later, so that what is
 * younger is not looked at; or what has so many bytes, or more, of later bodies behind
 * it. */
static const struct question by_age = {
    "SELECT seq FROM moot.record WHERE body IS NOT NULL AND event <> $5::bigint AND ",
    " AND $3::bigint = 0"
    " AND seq < coalesce((SELECT seq FROM moot.record WHERE at_ms >= $2::bigint"
    " ORDER BY at_ms, seq LIMIT 1), 9223372036854775807) ORDER BY seq LIMIT $4::bigint + 1",
};
static const struct question by_both = {
    "SELECT seq FROM (SELECT seq, at_ms, sum(body_bytes) OVER (ORDER BY seq DESC) AS kept"
    " FROM moot.record WHERE body IS NOT NULL AND event <> $5::bigint AND ",
    ") AS bodies"
    " WHERE at_ms < $2::bigint OR kept > $3::bigint ORDER BY seq LIMIT $4::bigint + 1",
};

/* One more is chosen than may go, which tells whether there are more. */
static const char *const remove_them =
    "), going AS (SELECT seq FROM chosen ORDER BY seq LIMIT $4::bigint), gone AS ("
    "UPDATE moot.record r SET body = NULL, words = ts_delete(r.words, ARRAY("
    "SELECT lexeme FROM unnest(r.words) WHERE lexeme NOT LIKE ':%' OR lexeme = ':*'))"
    " FROM going WHERE r.seq = going.seq RETURNING r.seq, r.body_bytes)"
    " SELECT count(*), coalesce(sum(body_bytes), 0)::bigint, coalesce(min(seq), 0),"
    " coalesce(max(seq), 0), (SELECT count(*) FROM chosen) > $4::bigint FROM gone";

static void put_number(struct buf *out, size_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_putc(out, (char)(number >> shift));
}

/* bytea[] in binary: dimensions, no NULLs, type, length, first index, elements. */
static void put_list(struct buf *out, const struct str *items, size_t count)
{
    put_number(out, count > 0);
    put_number(out, 0);
    put_number(out, BYTEA_OID);
    if (count == 0)
        return;
    put_number(out, count);
    put_number(out, 1);
    for (size_t i = 0; i < count; i++) {
        put_number(out, items[i].len);
        buf_put(out, items[i]);
    }
}

enum err postgres_strip(struct engine *engine, const struct engine_strip *strip,
                        struct engine_stripped *ret)
{
    const struct question *question = strip->max_bytes ? &by_both : &by_age;
    struct postgres *pg = postgres_of(engine);
    bool is_rest = strip->topic.len == 0;
    struct postgres_args args = {};
    struct buf sql, list;
    PGresult *r = NULL;
    enum err err;

    buf_init(&sql, 4096);
    buf_init(&list, LIST_MAX);
    put_list(&list, strip->others, strip->other_count);
    buf_putf(&sql, "WITH chosen AS (%s%s%s%s", question->before, topic_is[is_rest],
             question->after, remove_them);
    postgres_arg_bytes(&args, is_rest ? buf_str(&list) : strip->topic);
    postgres_arg_number(&args, strip->before_ms);
    postgres_arg_number(&args, strip->max_bytes);
    postgres_arg_number(&args, strip->limit);
    postgres_arg_number(&args, AUDIT_RETENTION); /* what tells of removals stays */
    err = postgres_ask(pg, buf_cstr(&sql), &args, &r);
    if (!err)
        *ret = (struct engine_stripped){ .count = postgres_number(pg, r, 0, 0),
                                         .bytes = postgres_number(pg, r, 0, 1),
                                         .first_seq = postgres_number(pg, r, 0, 2),
                                         .last_seq = postgres_number(pg, r, 0, 3),
                                         .has_more = postgres_bool(pg, r, 0, 4) };
    postgres_clear(pg, r);
    buf_done(&list);
    buf_done(&sql);
    return err;
}
