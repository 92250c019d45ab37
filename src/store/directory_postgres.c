/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory on PostgreSQL: moot.resource, with the marks as a tsvector that is made
 * here. Its index tells quickly who has all of some marks, but in no order, and whoever
 * it names is fetched before the first is known: that is what takes time. So a resource
 * has marks of its rank as well, coarse and fine, of ever smaller slots:
 *
 *     rank 0x05a3…   q0   r5   s2d   t168
 *
 * A question goes along the ranks for a while. What that finds tells how far it has to go
 * on, and the index is asked for marks within the slots up to there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"
#include "store/postgres_priv.h"
#include "store/store_priv.h"

enum {
    SAMPLE = 500, /* resources: along the ranks */
    SLOT_BITS = 3,
    LEVELS = 4,
    SLOTS_MAX = 1 << SLOT_BITS, /* of one question */
};

enum statement { BEGIN, READ_BEGIN, COMMIT, PUT };

/* clang-format off */
static const struct postgres_statement statements[] = {
    [BEGIN]      = { "begin",      "BEGIN" },
    [READ_BEGIN] = { "read_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" },
    [COMMIT]     = { "commit",     "COMMIT" },
    [PUT]        = { "put",        "INSERT INTO moot.resource (id, rank, hourly, updated_ms, json, marks)"
                                   " VALUES ($1, $2, nullif($3::bigint, -1), $4, $5, $6::text::tsvector)"
                                   " ON CONFLICT (id) DO UPDATE SET rank = excluded.rank,"
                                   " hourly = excluded.hourly, updated_ms = excluded.updated_ms,"
                                   " json = excluded.json, marks = excluded.marks" },
};
/* clang-format on */

struct postgres_dir {
    struct store_directory directory;
    struct postgres pg;
    struct buf text;
    bool has_reach; /* of this search: from the first to how far the sample went */
    uint64_t reach_first, reach_end, reach;
};

static struct postgres_dir *postgres_dir(struct store_directory *directory)
{
    return CONTAINER_OF(directory, struct postgres_dir, directory);
}

/* Takes over what went wrong. */
static enum err tell(struct postgres_dir *d, enum err err)
{
    if (err != ERR_IO)
        return err;
    if (directory_is_cancelled(&d->directory) && !d->pg.is_lost)
        return ERR_CLOSED;
    d->directory.is_lost = true;
    return directory_fail(&d->directory, d->pg.engine.problem);
}

/* Questions can be cancelled while the server works on them. */
static struct postgres *pg_of(struct postgres_dir *d)
{
    d->pg.engine.is_cancelled = d->directory.is_cancelled;
    return &d->pg;
}

/* --- opening --- */

static void dir_close(struct store_directory *directory)
{
    struct postgres_dir *d = postgres_dir(directory);

    postgres_disconnect(&d->pg);
    buf_done(&d->text);
    free(d);
}

static enum err connect_all(struct postgres_dir *d, const struct store_setup *setup)
{
    enum err err = postgres_connect(&d->pg, setup->url, ENGINE_DIRECTORY);

    if (!err)
        err = postgres_schema_open(&d->pg, ENGINE_DIRECTORY);
    return err ? err : postgres_prepare(&d->pg, statements, COUNT(statements));
}

static enum err dir_open(const struct store_setup *setup, struct store_directory **ret,
                         char **ret_why)
{
    struct postgres_dir *d = xcalloc(1, sizeof(*d));
    enum err err;

    d->directory.ops = &postgres_directory;
    buf_init(&d->text, SIZE_MAX / 2);
    err = connect_all(d, setup);
    if (!err) {
        *ret = &d->directory;
        return OK;
    }
    (void)store_fail(err, ret_why, "PostgreSQL: %s", d->pg.engine.problem);
    dir_close(&d->directory);
    return err;
}

/* --- transactions --- */

static enum err dir_begin(struct store_directory *directory)
{
    struct postgres_dir *d = postgres_dir(directory);

    d->has_reach = false;
    return tell(d, postgres_queue(pg_of(d), statements[BEGIN].name, NULL));
}

static enum err dir_read_begin(struct store_directory *directory)
{
    struct postgres_dir *d = postgres_dir(directory);

    d->has_reach = false;
    return tell(d, postgres_queue(pg_of(d), statements[READ_BEGIN].name, NULL));
}

/* What was added waits in a list that every search goes through, until it is moved to its
 * place in the index. A failure only makes searches slower. */
static void tidy(struct postgres_dir *d)
{
    static const char *const question =
        "SELECT gin_clean_pending_list('moot.resource_marks')";
    PGresult *r = NULL;

    (void)postgres_ask(&d->pg, question, NULL, &r);
    postgres_clear(&d->pg, r);
}

/* The commit of a transaction that has failed says ROLLBACK and calls it a success. */
static enum err dir_commit(struct store_directory *directory)
{
    struct postgres_dir *d = postgres_dir(directory);
    char tag[POSTGRES_TAG] = "";
    enum err err = postgres_queue(pg_of(d), statements[COMMIT].name, NULL);

    if (!err)
        err = postgres_settle(&d->pg, tag);
    if (!err && strcmp(tag, "COMMIT") != 0)
        err = postgres_fail(&d->pg, ERR_IO, "the transaction had failed before");
    if (!err)
        tidy(d);
    return tell(d, err);
}

static void dir_rollback(struct store_directory *directory)
{
    struct postgres_dir *d = postgres_dir(directory);

    (void)postgres_settle(&d->pg, NULL);
    (void)postgres_run(&d->pg, "ROLLBACK");
}

/* --- changes --- */

static uint64_t slot_width(size_t level)
{
    return UINT64_C(1) << (RESOURCE_RANK_BITS - SLOT_BITS * (level + 1));
}

/* The slot that a rank is in: a letter for the level, and its number. */
static void write_slot(struct buf *out, uint64_t rank, size_t level)
{
    buf_putf(out, "'%c%llx'", (char)('q' + level),
             (unsigned long long)(rank / slot_width(level)));
}

/* A mark holds no quotes. */
static void write_marks(struct buf *out, struct str marks, uint64_t rank)
{
    buf_clear(out);
    for (size_t level = 0; level < LEVELS; level++) {
        write_slot(out, rank, level);
        buf_putc(out, ' ');
    }
    while (marks.len) {
        struct str mark = str_cut(&marks, ' ');

        if (mark.len)
            buf_putf(out, "'" STR_FMT "' ", STR_ARG(mark));
    }
}

static enum err put(struct postgres_dir *d, const struct directory_row *row)
{
    struct postgres_args args = {};

    write_marks(&d->text, row->marks, row->rank);
    postgres_arg_bytes(&args, row->id);
    postgres_arg_number(&args, row->rank);
    postgres_arg_number(&args, row->has_rate ? row->hourly : UINT64_MAX);
    postgres_arg_number(&args, row->updated_ms);
    postgres_arg_bytes(&args, row->json);
    postgres_arg_bytes(&args, buf_str(&d->text));
    return postgres_queue(pg_of(d), statements[PUT].name, &args);
}

static enum err dir_put_all(struct store_directory *directory,
                            const struct directory_row *rows, size_t count)
{
    struct postgres_dir *d = postgres_dir(directory);
    enum err err = OK;

    d->has_reach = false;
    for (size_t i = 0; i < count && !err; i++)
        err = put(d, &rows[i]);
    return tell(d, err ? err : postgres_settle(&d->pg, NULL));
}

static enum err dir_remove(struct store_directory *directory, struct str id,
                           bool *ret_found)
{
    struct postgres_dir *d = postgres_dir(directory);
    struct postgres_args args = {};
    PGresult *r = NULL;
    enum err err;

    d->has_reach = false;
    postgres_arg_bytes(&args, id);
    err = postgres_ask(pg_of(d), "DELETE FROM moot.resource WHERE id = $1", &args, &r);
    if (!err)
        *ret_found = strcmp(d->pg.pq.PQcmdTuples(r), "1") == 0;
    postgres_clear(&d->pg, r);
    return tell(d, err);
}

/* --- finding --- */

static void write_need(struct buf *out, const struct directory_need *need)
{
    if (out->len)
        buf_put(out, S(" & "));
    buf_putf(out, "'%.*s'%s", (int)need->len, need->mark, need->is_beginning ? ":*" : "");
}

/* Along the ranks: of the next few. By marks: of all in a range, or in some slots that
 * cover it; in an order that is no column's, lest the server goes along the ranks. */
enum way { ALONG, BY_MARKS };

struct range {
    uint64_t first, end;
    size_t level; /* of slots; LEVELS: without */
};

static void write_marks_asked(struct buf *out, const struct directory_find *find,
                              const struct range *range)
{
    buf_clear(out);
    for (size_t i = 0; i < find->need_count; i++)
        write_need(out, &find->needs[i]);
    for (uint64_t at = range->first; range->level < LEVELS && at < range->end;) {
        buf_put(out, at == range->first ? S(" & (") : S(" | "));
        write_slot(out, at, range->level);
        at = (at / slot_width(range->level) + 1) * slot_width(range->level);
    }
    if (range->level < LEVELS)
        buf_putc(out, ')');
}

static void write_question(struct postgres_dir *d, const struct directory_find *find,
                           const struct range *range, enum way way, struct buf *sql,
                           struct postgres_args *args)
{
    bool is_along = way == ALONG;

    buf_put(sql, S("SELECT rank FROM "));
    buf_put(sql, is_along ? S("(SELECT rank, hourly, marks FROM moot.resource"
                              " WHERE rank >= $1::bigint AND rank < $3::bigint")
                          : S("moot.resource WHERE rank + 0 >= $1::bigint"
                              " AND rank + 0 < $3::bigint"));
    if (is_along)
        buf_putf(sql, " ORDER BY rank LIMIT %d) AS sample WHERE true", SAMPLE);
    postgres_arg_number(args, range->first);
    postgres_arg_number(args, find->limit);
    postgres_arg_number(args, range->end);
    write_marks_asked(&d->text, find, range);
    postgres_arg_bytes(args, buf_str(&d->text));
    buf_putf(sql, " AND marks @@ $%d::text::tsquery", args->count);
    if (find->has_max_rate) {
        postgres_arg_number(args, find->max_hourly);
        buf_putf(sql, " AND hourly <= $%d::bigint", args->count);
    }
    buf_put(sql, is_along ? S(" ORDER BY rank LIMIT $2::bigint")
                          : S(" ORDER BY rank + 0 LIMIT $2::bigint"));
}

/* Takes ranks behind those that are there; the first may be the last one again. */
static void take_ranks(struct postgres_dir *d, const PGresult *r, size_t limit,
                       uint64_t *ranks, size_t *count)
{
    for (int i = 0; i < d->pg.pq.PQntuples(r) && *count < limit; i++) {
        uint64_t rank = postgres_number(&d->pg, r, i, 0);

        if (!*count || rank > ranks[*count - 1])
            ranks[(*count)++] = rank;
    }
}

static enum err ask_ranks(struct postgres_dir *d, const struct directory_find *find,
                          const struct range *range, enum way way, uint64_t *ranks,
                          size_t *count)
{
    struct postgres_args args = {};
    PGresult *r = NULL;
    struct buf sql;
    enum err err;

    buf_init(&sql, 1024);
    write_question(d, find, range, way, &sql, &args);
    err = postgres_ask(pg_of(d), buf_cstr(&sql), &args, &r);
    if (!err)
        take_ranks(d, r, find->limit, ranks, count);
    postgres_clear(&d->pg, r);
    buf_done(&sql);
    return err;
}

/* Nothing is asked for but filters of the rank. */
static enum err list_ranks(struct postgres_dir *d, const struct directory_find *find,
                           uint64_t *ranks, size_t *count)
{
    struct postgres_args args = {};
    PGresult *r = NULL;
    enum err err;

    postgres_arg_number(&args, find->first);
    postgres_arg_number(&args, find->end);
    postgres_arg_number(&args, find->has_max_rate ? find->max_hourly : INT64_MAX);
    postgres_arg_number(&args, find->limit);
    postgres_arg_bool(&args, !find->has_max_rate);
    err = postgres_ask(pg_of(d),
                       "SELECT rank FROM moot.resource WHERE rank >= $1::bigint"
                       " AND rank < $2::bigint AND ($5::bool OR hourly <= $3::bigint)"
                       " ORDER BY rank LIMIT $4::bigint",
                       &args, &r);
    if (!err)
        take_ranks(d, r, find->limit, ranks, count);
    postgres_clear(&d->pg, r);
    return err;
}

/* How far the sample went: the end of the range, if that is all. */
static enum err ask_reach(struct postgres_dir *d, const struct directory_find *find,
                          uint64_t *ret)
{
    struct postgres_args args = {};
    PGresult *r = NULL;
    enum err err;

    if (d->has_reach && d->reach_first == find->first && d->reach_end == find->end) {
        *ret = d->reach;
        return OK;
    }
    postgres_arg_number(&args, find->first);
    postgres_arg_number(&args, find->end);
    postgres_arg_number(&args, SAMPLE - 1);
    err = postgres_ask(pg_of(d),
                       "SELECT rank FROM moot.resource WHERE rank >= $1::bigint"
                       " AND rank < $2::bigint ORDER BY rank OFFSET $3::bigint LIMIT 1",
                       &args, &r);
    if (!err)
        *ret = d->pg.pq.PQntuples(r) ? postgres_number(&d->pg, r, 0, 0) : find->end;
    postgres_clear(&d->pg, r);
    if (err)
        return err;
    d->has_reach = true;
    d->reach_first = find->first;
    d->reach_end = find->end;
    d->reach = *ret;
    return OK;
}

/* To ask once more takes longer than to fetch some in vain, above all where the server
 * gathers all that begin so before it knows any. */
static double reserve(const struct directory_find *find)
{
    for (size_t i = 0; i < find->need_count; i++)
        if (find->needs[i].is_beginning)
            return 16;
    return 4;
}

/* Where to look next, when `count` were found before `reach`: as far as they lead one to
 * expect the rest, and further. */
static struct range next_range(const struct directory_find *find, uint64_t reach,
                               size_t count)
{
    uint64_t last = (uint64_t)RESOURCE_AVAILABILITIES << RESOURCE_RANK_BITS;
    double seen = (double)(reach - find->first + 1), found = count ? (double)count : 1;
    double far = seen / found * reserve(find) * (double)(find->limit - count);
    struct range all = { .first = reach, .end = find->end, .level = LEVELS };

    if (find->end < last)
        last = find->end;
    if (last <= reach)
        return all;
    for (size_t level = LEVELS; level-- > 0;) {
        uint64_t width = slot_width(level), end;

        if (far > (double)(SLOTS_MAX * width))
            continue;
        end = (reach + (uint64_t)far) / width * width + width;
        return end < last ? (struct range){ reach, end, level } : all;
    }
    return all;
}

static enum err find_by_marks(struct postgres_dir *d, const struct directory_find *find,
                              uint64_t *ranks, size_t *count)
{
    struct range all = { find->first, find->end, LEVELS };
    uint64_t reach = find->end;
    enum err err = ask_ranks(d, find, &all, ALONG, ranks, count);

    if (!err && *count < find->limit)
        err = ask_reach(d, find, &reach);
    while (!err && *count < find->limit && reach < find->end) {
        struct range next = next_range(find, reach, *count);

        err = ask_ranks(d, find, &next, BY_MARKS, ranks, count);
        reach = next.end;
    }
    return err;
}

static enum err dir_find(struct store_directory *directory,
                         const struct directory_find *find, uint64_t *ret,
                         size_t *ret_count)
{
    struct postgres_dir *d = postgres_dir(directory);
    size_t count = 0;
    enum err err = find->need_count ? find_by_marks(d, find, ret, &count)
                                    : list_ranks(d, find, ret, &count);

    if (!err)
        *ret_count = count;
    return tell(d, err);
}

/* --- reading --- */

struct reading {
    void (*on_json)(void *user, uint64_t rank, struct str json);
    void *user;
    size_t count;
};

static bool on_row(void *user, struct postgres *pg, const PGresult *row)
{
    struct reading *reading = user;

    reading->count++;
    reading->on_json(reading->user, postgres_number(pg, row, 0, 0),
                     postgres_bytes(pg, row, 0, 1));
    return true;
}

static enum err dir_load(struct store_directory *directory, const uint64_t *ranks,
                         size_t count,
                         void (*on_json)(void *user, uint64_t rank, struct str json),
                         void *user)
{
    struct reading reading = { .on_json = on_json, .user = user };
    struct postgres_dir *d = postgres_dir(directory);
    struct postgres_args args = {};

    buf_clear(&d->text);
    for (size_t i = 0; i < count; i++) {
        buf_putc(&d->text, i ? ',' : '{');
        buf_putu(&d->text, ranks[i]);
    }
    buf_putc(&d->text, '}');
    postgres_arg_bytes(&args, buf_str(&d->text));
    return tell(d, postgres_each(pg_of(d),
                                 "SELECT rank, json FROM moot.resource"
                                 " WHERE rank = ANY ($1::text::bigint[])",
                                 &args, on_row, &reading));
}

static enum err dir_get(struct store_directory *directory, struct str id,
                        void (*on_json)(void *user, uint64_t rank, struct str json),
                        void *user)
{
    struct reading reading = { .on_json = on_json, .user = user };
    struct postgres_dir *d = postgres_dir(directory);
    struct postgres_args args = {};
    enum err err;

    postgres_arg_bytes(&args, id);
    err = tell(d, postgres_each(pg_of(d),
                                "SELECT rank, json FROM moot.resource WHERE id = $1",
                                &args, on_row, &reading));
    return err || reading.count ? err : ERR_NOT_FOUND;
}

static enum err dir_each(struct store_directory *directory, struct str after,
                         size_t limit,
                         void (*on_json)(void *user, uint64_t rank, struct str json),
                         void *user)
{
    struct reading reading = { .on_json = on_json, .user = user };
    struct postgres_dir *d = postgres_dir(directory);
    struct postgres_args args = {};

    postgres_arg_bytes(&args, after);
    postgres_arg_number(&args, limit);
    return tell(d, postgres_each(pg_of(d),
                                 "SELECT rank, json FROM moot.resource WHERE id > $1"
                                 " ORDER BY id LIMIT $2::bigint",
                                 &args, on_row, &reading));
}

static enum err dir_count(struct store_directory *directory, uint64_t *ret)
{
    struct postgres_dir *d = postgres_dir(directory);
    PGresult *r = NULL;
    enum err err = postgres_ask(pg_of(d), "SELECT count(*) FROM moot.resource", NULL, &r);

    if (!err)
        *ret = postgres_number(&d->pg, r, 0, 0);
    postgres_clear(&d->pg, r);
    return tell(d, err);
}

const struct directory_ops postgres_directory = {
    .open = dir_open,
    .close = dir_close,
    .begin = dir_begin,
    .read_begin = dir_read_begin,
    .commit = dir_commit,
    .rollback = dir_rollback,
    .put_all = dir_put_all,
    .remove = dir_remove,
    .find = dir_find,
    .load = dir_load,
    .get = dir_get,
    .each = dir_each,
    .count = dir_count,
};
