/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite: how a question is answered. Times become seqs, since times never go back. What
 * the index covers it is asked for, part by part; what it does not cover is looked
 * through. Every candidate is checked by audit_query_fits(), so the index decides how
 * long it takes and nothing else.
 *
 *     newest first:   tail, not indexed ◄── last part ◄── … ◄── first part
 *
 * Without filters, or without an index, all between the bounds is looked through.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/marks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/bounds.h"
#include "store/conversation.h"
#include "store/search.h"
#include "store/sqlite_priv.h"

enum { CLOCK_ROWS = 64, MATCH_BYTES = 64 << 10 };

struct walk {
    struct sqlite_engine *sqlite;
    const struct audit_query *query;
    struct audit_query heads; /* the same, without the words */
    bool (*on_record)(void *user, const struct audit_record *);
    void *user;
    struct bounds bounds;
    struct search_state index; /* seq 0: there is none, or it covers nothing */
    struct buf match;
    size_t count; /* records given */
    size_t rows;  /* looked at */
    bool is_over; /* enough were given */
    enum err err;
};

static bool is_down(const struct walk *walk)
{
    return walk->query->order == AUDIT_NEWEST_FIRST;
}

/* --- ending in time --- */

/* Behind this seq it can go on another time. */
static enum err look_at_clock(struct walk *walk, uint64_t seq)
{
    struct engine *engine = &walk->sqlite->engine;

    if (walk->is_over)
        return OK; /* whoever has enough has perhaps not taken the last one */
    engine->reached_seq = seq;
    if (engine_is_cancelled(engine))
        return ERR_CLOSED;
    if (!engine->until_ns || ++walk->rows % CLOCK_ROWS ||
        clock_mono_ns() < engine->until_ns)
        return OK;
    return ERR_AGAIN;
}

/* --- giving records --- */

static void give(struct walk *walk, struct audit_record *record)
{
    if (walk->query->without_bodies)
        record->body = (struct str){};
    walk->count++;
    walk->is_over =
        !walk->on_record(walk->user, record) || walk->count == walk->query->limit;
}

static bool wants_bodies(const struct walk *walk)
{
    return walk->query->text.ptr || !walk->query->without_bodies;
}

/* A candidate. */
static enum err check(struct walk *walk, uint64_t seq)
{
    struct sqlite_engine *sqlite = walk->sqlite;
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_READ_ONE);
    struct audit_record record;
    enum err err = OK;
    int result;

    sqlite_bind_u64(select, 1, seq - 1);
    sqlite_bind_u64(select, 2, seq + 1);
    sqlite_bind_u64(select, 3, wants_bodies(walk));
    result = sqlite3_step(select);
    if (result == SQLITE_ROW)
        err = sqlite_record(sqlite, select, &record);
    if (!err && result == SQLITE_ROW && audit_query_fits(walk->query, &record))
        give(walk, &record);
    return err ? (void)sqlite3_reset(select), err : sqlite_finish(sqlite, select, result);
}

/* --- looking through --- */

struct range {
    uint64_t above, below;
    enum audit_order order;
    bool has_bodies;
};

/* A damaged tree may lead anywhere. */
static bool is_behind(const struct range *range, uint64_t before, uint64_t seq)
{
    if (seq <= range->above || seq >= range->below)
        return false;
    if (!before)
        return true;
    return range->order == AUDIT_OLDEST_FIRST ? seq > before : seq < before;
}

/* Calls on_row until it leaves an error or the walk is over. */
static enum err each_row(struct walk *walk, const struct range *range,
                         enum err (*on_row)(struct walk *, struct audit_record *))
{
    struct sqlite_engine *sqlite = walk->sqlite;
    sqlite3_stmt *select = sqlite_statement(
        sqlite, range->order == AUDIT_OLDEST_FIRST ? SQL_READ_UP : SQL_READ_DOWN);
    struct audit_record record = {};
    int result = SQLITE_DONE;
    enum err err = OK;

    sqlite_bind_u64(select, 1, range->above);
    sqlite_bind_u64(select, 2, range->below);
    sqlite_bind_u64(select, 3, range->has_bodies);
    while (!err && !walk->is_over && (result = sqlite3_step(select)) == SQLITE_ROW) {
        uint64_t before = record.seq;

        err = sqlite_record(sqlite, select, &record);
        if (!err && !is_behind(range, before, record.seq))
            err = sqlite_damaged(sqlite, "record", record.seq);
        if (!err)
            err = on_row(walk, &record);
    }
    return err ? (void)sqlite3_reset(select), err : sqlite_finish(sqlite, select, result);
}

static enum err on_plain_row(struct walk *walk, struct audit_record *record)
{
    uint64_t seq = record->seq;

    give(walk, record);
    return look_at_clock(walk, seq);
}

/* Bodies are read of what fits otherwise. */
static enum err on_row(struct walk *walk, struct audit_record *record)
{
    uint64_t seq = record->seq;
    enum err err = OK;

    if (audit_query_fits(&walk->heads, record)) {
        if (wants_bodies(walk))
            err = check(walk, seq);
        else
            give(walk, record);
    }
    return err ? err : look_at_clock(walk, seq);
}

static bool has_filters(const struct audit_query *query)
{
    return query->event.ptr || query->topic.ptr || query->participant.ptr ||
           query->kind.ptr || query->verdict.ptr || query->text.ptr;
}

static enum err look_through(struct walk *walk, uint64_t above, uint64_t below)
{
    struct range range = { above, below, walk->query->order, false };

    if (walk->is_over || above + 1 >= below)
        return OK;
    if (has_filters(walk->query))
        return each_row(walk, &range, on_row);
    range.has_bodies = !walk->query->without_bodies;
    return each_row(walk, &range, on_plain_row);
}

/* --- the index --- */

static enum err compare(struct walk *walk, struct audit_record *record)
{
    walk->count = memcmp(record->hash, walk->index.hash, SHA256_BYTES) == 0;
    return OK;
}

/* Is its last record one of ours? */
static bool is_of_record(const struct walk *walk)
{
    struct walk inner = { .sqlite = walk->sqlite, .index = walk->index };
    struct range last = { walk->index.seq - 1, walk->index.seq + 1, AUDIT_OLDEST_FIRST,
                          false };
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;

    return walk->index.seq &&
           sqlite_origin(&walk->sqlite->engine, &origin, installation) == OK &&
           memcmp(installation, walk->index.installation, AUDIT_INSTALLATION) == 0 &&
           each_row(&inner, &last, compare) == OK && inner.count == 1;
}

static void open_index(struct walk *walk)
{
    struct sqlite_engine *sqlite = walk->sqlite;

    if (!sqlite->index_path)
        return;
    if (sqlite->index && search_reader_is_old(sqlite->index)) {
        search_reader_close(sqlite->index);
        sqlite->index = NULL;
    }
    if (!sqlite->index)
        sqlite->index = search_reader_open(sqlite->index_path, &sqlite->engine);
    if (!sqlite->index || search_begin(sqlite->index, &walk->index))
        return;
    if (!is_of_record(walk)) {
        walk->index.seq = 0;
        search_end(sqlite->index);
    }
}

static void close_index(struct walk *walk)
{
    if (walk->sqlite->index)
        search_end(walk->sqlite->index);
}

static void put_term(struct buf *out, struct str term, const char *joint)
{
    buf_putf(out, "%s\"" STR_FMT "\"", out->len ? joint : "", STR_ARG(term));
}

/* Left empty where no mark and no word would help. */
static void write_match(const struct audit_query *query, struct buf *out)
{
    struct audit_terms terms = {};
    struct str rest;
    struct buf marks;

    buf_init(&marks, MATCH_BYTES);
    audit_query_marks(query, &marks);
    rest = str_trim(buf_str(&marks));
    while (rest.len)
        put_term(out, str_cut(&rest, ' '), " AND ");
    buf_done(&marks);
    if (query->text.ptr && audit_terms_parse(query->text, &terms))
        terms.count = 0; /* nothing fits, which the check finds out */
    for (size_t i = 0; i < terms.count; i++) {
        put_term(out, (struct str){ terms.items[i].space, terms.items[i].len }, " AND ");
        buf_put(out, terms.items[i].is_prefix ? S("*") : S(""));
    }
}

static bool on_candidate(void *user, uint64_t seq)
{
    struct walk *walk = user;

    walk->err = check(walk, seq);
    if (!walk->err)
        walk->err = look_at_clock(walk, seq);
    return !walk->err && !walk->is_over;
}

static enum err ask_part(struct walk *walk, uint64_t part)
{
    struct search_range range = {
        .match = { buf_cstr(&walk->match), walk->match.len },
        .part = part,
        .above = walk->bounds.above,
        .below = walk->bounds.below,
        .order = walk->query->order,
    };
    uint64_t first = search_part_first(&walk->index, part);
    uint64_t last = first + walk->index.part_records - 1;
    enum err err;

    if (last > walk->index.seq)
        last = walk->index.seq;
    walk->err = OK;
    err = search_find(walk->sqlite->index, &range, on_candidate, walk);
    if (walk->err)
        return walk->err;
    if (err == ERR_IO)
        return ERR_NOT_FOUND; /* not the record is damaged */
    if (err || walk->is_over)
        return err;
    walk->rows = CLOCK_ROWS - 1; /* a part is worth a look at the clock */
    return look_at_clock(walk, is_down(walk) ? first : last);
}

/* The parts between these seqs, in the order asked for. */
static enum err ask_parts(struct walk *walk, uint64_t first_seq, uint64_t last_seq)
{
    uint64_t first = search_part_of(&walk->index, first_seq);
    uint64_t last = search_part_of(&walk->index, last_seq);
    enum err err = OK;

    for (uint64_t i = 0; !err && !walk->is_over && i <= last - first; i++)
        err = ask_part(walk, is_down(walk) ? last - i : first + i);
    return err;
}

/* What is left behind the point at which the index failed. */
static enum err go_on_without(struct walk *walk, uint64_t end)
{
    struct engine *engine = &walk->sqlite->engine;

    engine->has_damaged_index = true;
    if (is_down(walk))
        return look_through(walk, walk->bounds.above,
                            engine->reached_seq ? engine->reached_seq : end);
    return look_through(
        walk, engine->reached_seq ? engine->reached_seq : walk->bounds.above, end);
}

static enum err ask_index(struct walk *walk)
{
    uint64_t end = walk->index.seq + 1 < walk->bounds.below ? walk->index.seq + 1
                                                            : walk->bounds.below;
    enum err err;

    if (walk->is_over || walk->bounds.above + 1 >= end)
        return OK;
    walk->sqlite->engine.reached_seq = 0;
    err = ask_parts(walk, walk->bounds.above + 1, end - 1);
    return err == ERR_NOT_FOUND ? go_on_without(walk, end) : err;
}

static enum err search(struct walk *walk)
{
    uint64_t tail =
        walk->bounds.above > walk->index.seq ? walk->bounds.above : walk->index.seq;
    enum err err;

    if (is_down(walk)) {
        err = look_through(walk, tail, walk->bounds.below);
        return err ? err : ask_index(walk);
    }
    err = ask_index(walk);
    return err ? err : look_through(walk, tail, walk->bounds.below);
}

/* --- threads --- */

struct finder {
    struct conversation_finder finder;
    struct walk *walk;
    struct conversation *talk;
};

static enum err on_link(struct walk *walk, struct audit_record *record)
{
    struct conversation *talk = walk->user;

    conversation_add(talk, record);
    walk->is_over = conversation_is_full(talk);
    return engine_is_cancelled(&walk->sqlite->engine) ? ERR_CLOSED : OK;
}

static bool on_linked_seq(void *user, uint64_t seq)
{
    struct walk *walk = user;
    struct range one = { seq - 1, seq + 1, AUDIT_OLDEST_FIRST, false };

    walk->err = each_row(walk, &one, on_link);
    return !walk->err && !walk->is_over;
}

static enum err find_in_parts(struct walk *walk, struct str match)
{
    struct search_range range = { .match = match,
                                  .below = INT64_MAX,
                                  .order = AUDIT_OLDEST_FIRST };
    uint64_t last = search_part_of(&walk->index, walk->index.seq);
    enum err err = OK;

    walk->err = OK;
    for (; !err && !walk->err && !walk->is_over && range.part <= last; range.part++)
        err = search_find(walk->sqlite->index, &range, on_linked_seq, walk);
    if (walk->err)
        return walk->err;
    if (err != ERR_IO)
        return err;
    walk->sqlite->engine.has_damaged_index = true;
    walk->index.seq = 0; /* so the next round looks through all */
    return OK;
}

static enum err find_links(struct conversation_finder *self, struct conversation *talk,
                           const struct str *ids, size_t count)
{
    struct walk *walk = CONTAINER_OF(self, struct finder, finder)->walk;
    struct walk inner = { .sqlite = walk->sqlite, .index = walk->index, .user = talk };
    struct range tail = { walk->index.seq, INT64_MAX, AUDIT_OLDEST_FIRST, false };
    char mark[AUDIT_MARK];
    enum err err;

    if (count == 0)
        return each_row(&inner, &tail, on_link);
    if (walk->index.seq == 0)
        return OK;
    buf_clear(&walk->match);
    for (size_t i = 0; i < count; i++)
        put_term(&walk->match, audit_link_mark(ids[i], mark), " OR ");
    err = find_in_parts(&inner, buf_str(&walk->match));
    walk->index.seq = inner.index.seq;
    return err;
}

static enum err give_thread(struct walk *walk, const struct conversation *talk)
{
    enum err err = OK;

    for (size_t i = 0; !err && !walk->is_over && i < talk->count; i++) {
        uint64_t seq = talk->seqs[is_down(walk) ? talk->count - 1 - i : i];

        if (seq > walk->bounds.above && seq < walk->bounds.below)
            err = check(walk, seq);
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

/* --- bounds --- */

static enum err time_from(struct engine *engine, uint64_t seq, uint64_t *ret_ms)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_TIME_FROM);
    int result;

    sqlite_bind_u64(select, 1, seq);
    result = sqlite3_step(select);
    *ret_ms =
        result == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(select, 0) : UINT64_MAX;
    return sqlite_finish(sqlite, select, result);
}

enum err sqlite_read(struct engine *engine, const struct audit_query *query,
                     bool (*on_record)(void *user, const struct audit_record *),
                     void *user)
{
    struct walk walk = {
        .sqlite = sqlite_of(engine),
        .query = query,
        .heads = *query,
        .on_record = on_record,
        .user = user,
    };
    enum err err = bounds_find(engine, query, time_from, &walk.bounds);

    walk.heads.text = (struct str){};
    buf_init(&walk.match, MATCH_BYTES);
    write_match(query, &walk.match);
    if (walk.match.len || query->thread.ptr)
        open_index(&walk);
    if (err || bounds_are_empty(&walk.bounds))
        ; /* nothing lies between */
    else if (query->thread.ptr)
        err = follow_thread(&walk);
    else
        err = search(&walk);
    close_index(&walk);
    buf_done(&walk.match);
    return err;
}
