/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record as it is read: in pages, so that no statement lasts and none is kept whole.
 * The lexemes of a record (postgres_priv.h) answer what a question asks for but for
 * times, which become seqs; candidates are then checked by audit_query_fits().
 */
#include <stdio.h>

#include "audit/marks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/bounds.h"
#include "store/conversation.h"
#include "store/postgres_priv.h"

enum {
    PAGE = 256,
    RARE_PAGE = 4096, /* each page of what is rare looks for all of it */
    SAMPLE = 4096,    /* records that are looked through to see how rare */
    MATCH_BYTES = 64 << 10,
};

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
    struct postgres *pg;
    const struct audit_query *query;
    bool (*on_record)(void *user, const struct audit_record *record);
    void *user;
    struct bounds bounds;
    struct buf match; /* a tsquery; "": everything */
    bool is_rare;     /* what it asks for: go by the lexemes, not along the record */
    size_t rows;      /* of this page */
    size_t count;     /* given */
    bool is_over;     /* enough were given */
    enum err err;
};

static bool is_up(const struct walk *walk)
{
    return walk->query->order == AUDIT_OLDEST_FIRST;
}

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

/* --- what to look for --- */

static void put_lexeme(struct buf *out, struct str word, const char *joint)
{
    buf_putf(out, "%s'" STR_FMT "'", out->len ? joint : "", STR_ARG(word));
}

/* Of a record whose words did not all fit, any may be among the others. */
static void put_words(const struct audit_query *query, struct buf *out)
{
    struct audit_terms terms;
    struct buf words;

    if (!query->text.ptr || audit_terms_parse(query->text, &terms))
        return; /* without a word nothing fits, which the check finds out */
    buf_init(&words, MATCH_BYTES);
    for (size_t i = 0; i < terms.count; i++) {
        put_lexeme(&words, (struct str){ terms.items[i].space, terms.items[i].len },
                   " & ");
        buf_put(&words, terms.items[i].is_prefix ? S(":*") : S(""));
    }
    buf_putf(out, "%s((" STR_FMT ") | '" POSTGRES_MORE "')", out->len ? " & " : "",
             STR_ARG(buf_str(&words)));
    buf_done(&words);
}

static void write_match(const struct audit_query *query, struct buf *out)
{
    struct buf marks;
    struct str rest;

    buf_init(&marks, MATCH_BYTES);
    audit_query_marks(query, &marks);
    rest = str_trim(buf_str(&marks));
    while (rest.len)
        put_lexeme(out, str_cut(&rest, ' '), " & ");
    buf_done(&marks);
    put_words(query, out);
}

/* --- pages --- */

/* Goes on behind this seq. */
static void move_on(struct walk *walk, uint64_t seq)
{
    if (is_up(walk))
        walk->bounds.above = seq;
    else
        walk->bounds.below = seq;
    walk->pg->engine.reached_seq = seq;
}

static bool on_row(void *user, struct postgres *pg, const PGresult *row)
{
    struct walk *walk = user;
    struct audit_record record;

    walk->err = read_record(pg, row, &record);
    if (walk->err)
        return false;
    walk->rows++;
    if (audit_query_fits(walk->query, &record)) {
        if (walk->query->without_bodies)
            record.body = (struct str){};
        walk->count++;
        walk->is_over =
            !walk->on_record(walk->user, &record) || walk->count == walk->query->limit;
    }
    move_on(walk, record.seq);
    return !walk->is_over;
}

/* Between the bounds. The planner cannot know how rare a word is: in an order that is no
 * column's it has to go by the lexemes. */
static enum err read_page(struct walk *walk, size_t limit)
{
    bool has_bodies = walk->query->text.ptr || !walk->query->without_bodies;
    struct postgres_args args = {};
    char sql[512];
    enum err err;

    (void)snprintf(sql, sizeof(sql),
                   "SELECT seq, at_ms, event, topic, participant, kind, id, correlation,"
                   " verdict, by, body_bytes, body_hash, hash, %s FROM moot.record"
                   " WHERE seq > $1::bigint AND seq < $2::bigint%s ORDER BY seq%s %s"
                   " LIMIT $3::bigint",
                   has_bodies ? "body" : "NULL::bytea",
                   walk->match.len ? " AND words @@ $4::text::tsquery" : "",
                   walk->is_rare ? " + 0" : "", is_up(walk) ? "ASC" : "DESC");
    postgres_arg_number(&args, walk->bounds.above);
    postgres_arg_number(&args, walk->bounds.below);
    postgres_arg_number(&args, limit);
    if (walk->match.len)
        postgres_arg_bytes(&args, buf_str(&walk->match));
    walk->rows = 0;
    err = postgres_each(walk->pg, sql, &args, on_row, walk);
    return err ? err : walk->err;
}

static enum err look_at_clock(const struct engine *engine)
{
    if (engine_is_cancelled(engine))
        return ERR_CLOSED;
    return engine->until_ns && clock_mono_ns() >= engine->until_ns ? ERR_AGAIN : OK;
}

/* How many are left? The newest is the last number, since there are no gaps. */
static enum err count_records(struct walk *walk, uint64_t *ret)
{
    struct audit_head head;
    uint64_t unused, last;
    enum err err = walk->pg->engine.ops->head(&walk->pg->engine, &head, &unused);

    if (err)
        return err;
    last = walk->bounds.below - 1 < head.seq ? walk->bounds.below - 1 : head.seq;
    *ret = last > walk->bounds.above ? last - walk->bounds.above : 0;
    walk->bounds.below = last + 1;
    return OK;
}

/* Looks through the first of them, and so finds out what is cheaper for the rest. Of N
 * records a share d fits: along the record `limit / d` have to be read, by the lexemes
 * `d * N`. */
static enum err search_sample(struct walk *walk, size_t limit)
{
    struct bounds all;
    uint64_t count, edge;
    double share;
    enum err err = count_records(walk, &count);

    if (err || count <= SAMPLE)
        return err;
    all = walk->bounds;
    edge = is_up(walk) ? all.above + SAMPLE : all.below - SAMPLE;
    walk->bounds = is_up(walk) ? (struct bounds){ all.above, edge + 1 }
                               : (struct bounds){ edge - 1, all.below };
    err = read_page(walk, limit);
    share = (double)walk->rows / SAMPLE;
    walk->is_rare = share * share * (double)count < (double)limit;
    if (walk->rows < limit)
        move_on(walk, edge);
    if (is_up(walk))
        walk->bounds.below = all.below;
    else
        walk->bounds.above = all.above;
    return err;
}

static enum err search(struct walk *walk)
{
    size_t limit = walk->query->limit;
    size_t page = limit && limit < PAGE ? limit : PAGE;
    enum err err = engine_is_cancelled(&walk->pg->engine) ? ERR_CLOSED : OK;

    if (!err && walk->match.len)
        err = search_sample(walk, page);
    if (walk->is_rare && page == PAGE)
        page = RARE_PAGE;
    while (!err && !walk->is_over) {
        err = read_page(walk, page);
        if (err || walk->rows < page)
            break;
        err = walk->is_over ? OK : look_at_clock(&walk->pg->engine);
    }
    return err;
}

/* --- threads --- */

struct finder {
    struct conversation_finder finder;
    struct walk *walk;
    struct conversation *talk;
};

static bool on_link(void *user, struct postgres *pg, const PGresult *row)
{
    struct conversation *talk = user;

    conversation_add(talk, &(struct audit_record){
                               .seq = postgres_number(pg, row, 0, 0),
                               .topic = postgres_bytes(pg, row, 0, 1),
                               .id = postgres_bytes(pg, row, 0, 2),
                               .correlation = postgres_bytes(pg, row, 0, 3),
                           });
    return !conversation_is_full(talk);
}

static enum err find_links(struct conversation_finder *self, struct conversation *talk,
                           const struct str *ids, size_t count)
{
    struct walk *walk = CONTAINER_OF(self, struct finder, finder)->walk;
    struct postgres_args args = {};
    char mark[AUDIT_MARK];

    if (count == 0)
        return OK; /* the index covers everything */
    if (engine_is_cancelled(&walk->pg->engine))
        return ERR_CLOSED;
    buf_clear(&walk->match);
    for (size_t i = 0; i < count; i++)
        put_lexeme(&walk->match, audit_link_mark(ids[i], mark), " | ");
    postgres_arg_bytes(&args, buf_str(&walk->match));
    postgres_arg_number(&args, CONVERSATION_RECORDS);
    return postgres_each(
        walk->pg,
        "SELECT seq, topic, id, correlation FROM moot.record"
        " WHERE words @@ $1::text::tsquery ORDER BY seq LIMIT $2::bigint",
        &args, on_link, talk);
}

static enum err give_thread(struct walk *walk, const struct conversation *talk)
{
    struct bounds all = walk->bounds;
    enum err err = OK;

    buf_clear(&walk->match);
    for (size_t i = 0; !err && !walk->is_over && i < talk->count; i++) {
        uint64_t seq = talk->seqs[is_up(walk) ? i : talk->count - 1 - i];

        if (seq <= all.above || seq >= all.below)
            continue;
        walk->bounds = (struct bounds){ seq - 1, seq + 1 };
        err = engine_is_cancelled(&walk->pg->engine) ? ERR_CLOSED : read_page(walk, 1);
    }
    return err;
}

static enum err follow_thread(struct walk *walk)
{
    struct finder finder = { .finder.find = find_links, .walk = walk };
    struct conversation talk;
    enum err err = conversation_walk(&talk, walk->query, &finder.finder);

    if (!err)
        err = give_thread(walk, &talk);
    conversation_done(&talk);
    return err;
}

/* --- a question --- */

static enum err time_from(struct engine *engine, uint64_t seq, uint64_t *ret_ms)
{
    struct postgres *pg = postgres_of(engine);
    struct postgres_args args = {};
    PGresult *result = NULL;
    enum err err;

    postgres_arg_number(&args, seq);
    err = postgres_ask(pg,
                       "SELECT at_ms FROM moot.record WHERE seq >= $1::bigint"
                       " ORDER BY seq LIMIT 1",
                       &args, &result);
    if (!err)
        *ret_ms =
            pg->pq.PQntuples(result) ? postgres_number(pg, result, 0, 0) : UINT64_MAX;
    postgres_clear(pg, result);
    return err;
}

enum err postgres_read(struct engine *engine, const struct audit_query *query,
                       bool (*on_record)(void *user, const struct audit_record *),
                       void *user)
{
    struct walk walk = {
        .pg = postgres_of(engine), .query = query, .on_record = on_record, .user = user
    };
    enum err err = bounds_find(engine, query, time_from, &walk.bounds);

    buf_init(&walk.match, MATCH_BYTES);
    if (err || bounds_are_empty(&walk.bounds)) {
        ; /* nothing lies between */
    } else if (query->thread.ptr) {
        err = follow_thread(&walk);
    } else {
        write_match(query, &walk.match);
        err = search(&walk);
    }
    buf_done(&walk.match);
    return err == ERR_IO && engine_is_cancelled(engine) && !postgres_of(engine)->is_lost
               ? ERR_CLOSED
               : err;
}
