/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite: bodies that are kept no longer. There is no index by topic, so each rule (one
 * topic, or all but some) has a tally: up to where nothing of it is left, and how many
 * bytes it has from there to where they were counted. Every call goes on from there, over
 * a bounded number of bodies.
 *
 *     1 ··· gone ··· done_seq ─── bytes ─── counted_seq ··· not looked at ··· head
 *
 * When bodies are removed by one rule, tallies of other rules that may have counted them
 * are dropped. Such rules are not in force together; a tally that is missing begins anew.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "store/sqlite_priv.h"

enum { SCAN_ROWS = 50000, MAX_RULE = 1 << 20 };

struct tally {
    struct str rule; /* "=TOPIC", or "*" and "/OTHER/OTHER/" */
    uint64_t done_seq;
    uint64_t counted_seq;
    uint64_t bytes;
};

/* A body, without its text. */
struct row {
    uint64_t seq, at_ms, bytes;
    struct str topic;
    bool is_of_rule;
};

static void write_rule(const struct engine_strip *strip, struct buf *out)
{
    buf_init(out, MAX_RULE);
    if (strip->topic.len) {
        buf_putc(out, '=');
        buf_put(out, strip->topic);
        return;
    }
    buf_put(out, S("*/"));
    for (size_t i = 0; i < strip->other_count; i++) {
        buf_put(out, strip->others[i]);
        buf_putc(out, '/');
    }
}

static bool is_of_rule(const struct engine_strip *strip, struct str topic)
{
    if (strip->topic.len)
        return str_eq(topic, strip->topic);
    for (size_t i = 0; i < strip->other_count; i++)
        if (str_eq(topic, strip->others[i]))
            return false;
    return true;
}

/* --- tallies --- */

static enum err load_tally(struct sqlite_engine *sqlite, struct tally *tally)
{
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_TALLY);
    int result;

    sqlite_bind(select, 1, tally->rule);
    result = sqlite3_step(select);
    if (result == SQLITE_ROW) {
        tally->done_seq = (uint64_t)sqlite3_column_int64(select, 0);
        tally->counted_seq = (uint64_t)sqlite3_column_int64(select, 1);
        tally->bytes = (uint64_t)sqlite3_column_int64(select, 2);
    }
    return sqlite_finish(sqlite, select, result);
}

static enum err save_tally(struct sqlite_engine *sqlite, const struct tally *tally)
{
    sqlite3_stmt *put = sqlite_statement(sqlite, SQL_TALLY_PUT);

    sqlite_bind(put, 1, tally->rule);
    sqlite_bind_u64(put, 2, tally->done_seq);
    sqlite_bind_u64(put, 3, tally->counted_seq);
    sqlite_bind_u64(put, 4, tally->bytes);
    return sqlite_finish(sqlite, put, sqlite3_step(put));
}

/* Drops the tallies of other rules that speak of this topic as well. */
static enum err drop_others(struct sqlite_engine *sqlite, const struct tally *tally,
                            struct str topic)
{
    sqlite3_stmt *drop = sqlite_statement(sqlite, SQL_TALLY_DROP);

    sqlite_bind(drop, 1, tally->rule);
    sqlite_bind(drop, 2, topic);
    return sqlite_finish(sqlite, drop, sqlite3_step(drop));
}

/* --- bodies --- */

/* Calls on_row for the bodies behind `after`, until it says false or it is enough for
 * once, which sets *has_more. */
static enum err each_body(struct sqlite_engine *sqlite, const struct engine_strip *strip,
                          uint64_t after,
                          bool (*on_row)(void *user, const struct row *row), void *user,
                          bool *has_more)
{
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_BODIES);
    int result = SQLITE_ROW;
    size_t count = 0;

    sqlite_bind_u64(select, 1, after);
    for (; count < SCAN_ROWS && (result = sqlite3_step(select)) == SQLITE_ROW; count++) {
        struct row row = {
            .seq = (uint64_t)sqlite3_column_int64(select, 0),
            .at_ms = (uint64_t)sqlite3_column_int64(select, 1),
            .bytes = (uint64_t)sqlite3_column_int64(select, 3),
            .topic = sqlite_text(select, 4),
        };

        /* What tells of removals stays. */
        row.is_of_rule = sqlite3_column_int64(select, 2) != AUDIT_RETENTION &&
                         is_of_rule(strip, row.topic);
        if (!on_row(user, &row))
            break;
    }
    if (count == SCAN_ROWS)
        *has_more = true;
    return sqlite_finish(sqlite, select, result);
}

static bool count_row(void *user, const struct row *row)
{
    struct tally *tally = user;

    tally->counted_seq = row->seq;
    if (row->is_of_rule)
        tally->bytes += row->bytes;
    return true;
}

struct choice {
    const struct engine_strip *strip;
    struct tally *tally;
    uint64_t *seqs; /* to be removed; `count` of them */
    struct engine_stripped stripped;
};

static bool choose_row(void *user, const struct row *row)
{
    struct choice *choice = user;
    const struct engine_strip *strip = choice->strip;
    struct tally *tally = choice->tally;
    struct engine_stripped *stripped = &choice->stripped;
    bool is_counted = row->seq <= tally->counted_seq;
    bool is_over = strip->max_bytes && is_counted && tally->bytes > strip->max_bytes;

    if (row->at_ms >= strip->before_ms && !is_over)
        return false;
    if (row->is_of_rule) {
        if (stripped->count == strip->limit) {
            stripped->has_more = true;
            return false;
        }
        choice->seqs[stripped->count++] = row->seq;
        stripped->bytes += row->bytes;
        stripped->last_seq = row->seq;
        if (is_counted)
            tally->bytes -= row->bytes;
    }
    tally->done_seq = row->seq;
    return true;
}

static enum err remove_body(struct sqlite_engine *sqlite, uint64_t seq)
{
    sqlite3_stmt *delete = sqlite_statement(sqlite, SQL_BODY_REMOVE);

    sqlite_bind_u64(delete, 1, seq);
    return sqlite_finish(sqlite, delete, sqlite3_step(delete));
}

static enum err remove_chosen(struct sqlite_engine *sqlite, struct choice *choice)
{
    size_t count = choice->stripped.count;
    enum err err = OK;

    for (size_t i = 0; i < count && !err; i++)
        err = remove_body(sqlite, choice->seqs[i]);
    if (count)
        choice->stripped.first_seq = choice->seqs[0];
    if (count && !err)
        err = drop_others(sqlite, choice->tally, choice->strip->topic);
    return err ? err : save_tally(sqlite, choice->tally);
}

static enum err strip_rule(struct sqlite_engine *sqlite, struct choice *choice)
{
    struct tally *tally = choice->tally;
    bool *has_more = &choice->stripped.has_more;
    enum err err = load_tally(sqlite, tally);

    if (!err && choice->strip->max_bytes)
        err = each_body(sqlite, choice->strip, tally->counted_seq, count_row, tally,
                        has_more);
    if (!err)
        err = each_body(sqlite, choice->strip, tally->done_seq, choose_row, choice,
                        has_more);
    if (err)
        return err;
    if (tally->counted_seq < tally->done_seq)
        tally->counted_seq = tally->done_seq;
    return remove_chosen(sqlite, choice);
}

enum err sqlite_strip(struct engine *engine, const struct engine_strip *strip,
                      struct engine_stripped *ret)
{
    struct tally tally = {};
    struct choice choice = { .strip = strip, .tally = &tally };
    struct buf rule;
    enum err err;

    write_rule(strip, &rule);
    tally.rule = buf_str(&rule);
    choice.seqs = xcalloc(strip->limit, sizeof(choice.seqs[0]));
    err = strip_rule(sqlite_of(engine), &choice);
    if (!err)
        *ret = choice.stripped;
    free(choice.seqs);
    buf_done(&rule);
    return err;
}
