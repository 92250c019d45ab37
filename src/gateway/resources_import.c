/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /admin/resources/import: rows, as many as there are, all or nothing.
 *
 *     loop:    body ──► rows ──► chunk that is filled ──┐           … last one, the end
 *                                                       ▼ one at a time       │
 *     writer:  begin ──────────────────────────► put, put, put … ──────► commit
 *
 * The loop reads rows while the directory's writer puts those before; where it is slower,
 * the upload waits. So two chunks are held, whatever the length. The writer's job begins
 * with the first chunk and ends with the import. The first bad row ends it without a
 * trace; the rest is read only to say what else is wrong.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "directory/idset.h"
#include "gateway/directory.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/resources.h"
#include "store/directory.h"

enum {
    CHUNK_ROWS = 512,
    CHUNK_BYTES = 1 << 20,
    CHUNK_ARENA = CHUNK_BYTES + RESOURCE_ARENA,
    PROBLEMS = 100, /* that are told */
    PROBLEM_BYTES = 512 << 10,
    REST_BYTES = 1 << 20, /* more than comes at once */
    SMALL_BYTES = 4096,
};

struct chunk {
    struct arena arena;
    struct resource items[CHUNK_ROWS];
    size_t count;
};

/* How the writer's job goes on, once the chunk that waits is put. */
enum plan { GO_ON, COMMIT, ROLL_BACK };

struct import {
    struct store_directory_job job;
    struct exchange *x;
    struct gateway *gateway;
    struct sheet sheet;
    struct idset ids;
    struct chunk *filling;
    struct buf rest;     /* of a piece that came when both chunks were full */
    struct buf problems; /* items of a JSON array */
    uint64_t row_count, bad_rows;
    uint64_t now_ms;
    bool is_dry;
    bool is_gone;    /* nobody waits for the answer: the exchange is no more */
    bool has_ended;  /* the body is there */
    bool has_job;    /* the writer works for it */
    bool is_offered; /* a chunk is the writer's */
    struct loop_mail taken;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t told;
    struct chunk *offered;
    enum plan plan;
    enum err err; /* the writer's, until its job is done */
    uint64_t count_before, count_after;
};

/* --- chunks --- */

static struct chunk *chunk_new(void)
{
    struct chunk *chunk = xcalloc(1, sizeof(*chunk));

    arena_init(&chunk->arena, CHUNK_ARENA);
    return chunk;
}

static void chunk_free(struct chunk *chunk)
{
    if (!chunk)
        return;
    arena_done(&chunk->arena);
    free(chunk);
}

/* No row can be taken until the writer has put the chunk before. */
static bool has_full_chunk(const struct import *import)
{
    const struct chunk *chunk = import->filling;

    return chunk && (chunk->count == CHUNK_ROWS || chunk->arena.total >= CHUNK_BYTES);
}

/* --- lifetime --- */

static void import_free(struct import *import)
{
    if (!import->is_dry)
        gateway_import_end(import->gateway);
    sheet_done(&import->sheet);
    idset_done(&import->ids);
    chunk_free(import->filling);
    chunk_free(import->offered);
    buf_done(&import->rest);
    buf_done(&import->problems);
    (void)pthread_mutex_destroy(&import->lock);
    (void)pthread_cond_destroy(&import->told);
    free(import);
}

/* --- the writer's side --- */

/* The next chunk, or NULL when there will be none. */
static struct chunk *take_chunk(struct import *import, enum plan *ret_plan)
{
    struct chunk *chunk;

    (void)pthread_mutex_lock(&import->lock);
    while (!import->offered && import->plan == GO_ON)
        (void)pthread_cond_wait(&import->told, &import->lock);
    chunk = TAKE(import->offered);
    *ret_plan = import->plan;
    (void)pthread_mutex_unlock(&import->lock);
    return chunk;
}

/* A chunk that comes when nothing works any more is let go, so that the loop goes on. */
static enum plan put_chunks(struct import *import, struct store_directory *directory)
{
    enum plan plan = GO_ON;
    struct chunk *chunk;

    while ((chunk = take_chunk(import, &plan)) != NULL) {
        if (!import->err && plan != ROLL_BACK)
            import->err = store_resource_put_all(directory, chunk->items, chunk->count);
        chunk_free(chunk);
        loop_post(import->job.loop, &import->taken);
    }
    return plan;
}

/* Told here, in the order of all changes, whether anybody waits for the answer or not. */
static void commit(struct import *import, struct store_directory *directory)
{
    import->err = store_directory_commit(directory);
    if (!import->err)
        directory_tell_import(gateway_worker(import->gateway, 0), import->row_count);
}

static void write_all(struct store_directory_job *job, struct store_directory *directory)
{
    struct import *import = CONTAINER_OF(job, struct import, job);
    enum plan plan;

    import->err = store_resource_count(directory, &import->count_before);
    if (!import->err)
        import->err = store_directory_begin(directory);
    if (import->err) {
        (void)put_chunks(import, directory);
        return;
    }
    plan = put_chunks(import, directory);
    if (!import->err && plan == COMMIT)
        import->err = store_resource_count(directory, &import->count_after);
    if (!import->err && plan == COMMIT)
        commit(import, directory);
    else
        store_directory_rollback(directory);
}

/* --- the loop's side --- */

static void tell(struct import *import, struct chunk *chunk, enum plan plan)
{
    (void)pthread_mutex_lock(&import->lock);
    import->offered = chunk;
    import->plan = plan;
    (void)pthread_cond_signal(&import->told);
    (void)pthread_mutex_unlock(&import->lock);
}

/* Whatever was put is forgotten. */
static void give_up(struct import *import)
{
    struct chunk *unwanted;

    (void)pthread_mutex_lock(&import->lock);
    import->plan = ROLL_BACK;
    (void)pthread_cond_signal(&import->told);
    (void)pthread_mutex_unlock(&import->lock);
    unwanted = TAKE(import->filling);
    chunk_free(unwanted);
}

static void on_written(struct store_directory_job *job);

static void start_job(struct import *import)
{
    if (import->has_job)
        return;
    import->has_job = true;
    import->job.loop = import->x->worker->loop;
    import->job.lane = DIRECTORY_WRITES;
    import->job.work = write_all;
    import->job.done = on_written;
    store_directory_submit(gateway_store(import->gateway), &import->job);
}

static void offer(struct import *import)
{
    start_job(import);
    import->is_offered = true;
    tell(import, TAKE(import->filling), GO_ON);
}

static void answer(struct import *import);

/* All rows are there: the last chunk, and then the end. */
static void finish(struct import *import)
{
    if (import->bad_rows || import->is_dry || !import->row_count) {
        if (import->has_job)
            return; /* it was given up, and answers when it has ended */
        answer(import);
        import_free(import);
        return;
    }
    if (import->is_offered)
        return;
    if (import->filling)
        offer(import);
    else
        tell(import, NULL, COMMIT);
}

static void on_written(struct store_directory_job *job)
{
    struct import *import = CONTAINER_OF(job, struct import, job);

    import->has_job = false;
    if (!import->is_gone && !import->has_ended)
        return; /* a bad row ended it, and the others are looked at */
    if (!import->is_gone)
        answer(import);
    import_free(import);
}

/* --- rows --- */

static void put_problem(struct import *import, const struct row *row)
{
    CLEANUP(buf_done) struct buf message;
    struct json_writer w;

    buf_init(&message, SMALL_BYTES);
    row_put_problem(&message, row);
    json_write_init(&w, &import->problems);
    w.needs_comma = import->problems.len > 0;
    json_object_open(&w);
    json_put_uint(&w, S("row"), row->number);
    json_put_uint(&w, S("line"), row->line);
    json_put_uint(&w, S("column"), row->column);
    if (row->problem.field.len && row->problem.field.len <= RESOURCE_WORD)
        json_put_str(&w, S("field"), row->problem.field);
    json_put_str(&w, S("message"), buf_str(&message));
    json_object_close(&w);
}

static void note_problem(struct import *import, const struct row *row)
{
    if (import->bad_rows == 0)
        give_up(import);
    if (import->bad_rows < PROBLEMS)
        put_problem(import, row);
    import->bad_rows++;
}

static void fail_row(struct import *import, struct row *row, struct str field,
                     const char *what)
{
    row->problem = (struct resource_problem){ .field = field, .what = what };
    note_problem(import, row);
}

/* There is room in the chunk that is filled. */
static void take_resource(struct import *import, struct row *row)
{
    char id[RESOURCE_NEW_ID + 1];
    struct chunk *chunk;

    import->row_count++;
    if (row->resource.id.len == 0) {
        row->resource.id = resource_draw_id(id);
    } else if (!idset_add(&import->ids, row->resource.id)) {
        fail_row(import, row, S("id"), "stands in a row above as well");
        return;
    }
    if (import->bad_rows || import->is_dry)
        return;
    if (!import->filling)
        import->filling = chunk_new();
    chunk = import->filling;
    row->resource.updated_ms = import->now_ms;
    if (resource_copy(&row->resource, &chunk->arena, &chunk->items[chunk->count]))
        fail_row(import, row, S(""), "is too large");
    else
        chunk->count++;
}

static void take_row(struct import *import, struct row *row)
{
    if (row->type == ROW_PROBLEM) {
        import->row_count += row->number > 0;
        note_problem(import, row);
    } else {
        take_resource(import, row);
    }
    if (has_full_chunk(import) && !import->is_offered)
        offer(import);
}

/* Returns what there was no room for. */
static struct str take_rows(struct import *import, struct str bytes)
{
    struct row row;

    while (!has_full_chunk(import)) {
        row = sheet_next(&import->sheet, &bytes);
        if (row.type == ROW_NEED_MORE)
            break;
        take_row(import, &row);
    }
    return bytes;
}

static void on_piece(void *user, struct str piece)
{
    struct import *import = user;

    piece = take_rows(import, piece);
    buf_put(&import->rest, piece);
    if (has_full_chunk(import))
        exchange_upload_pause(import->x, true);
}

/* The writer has put a chunk. */
static void on_taken(struct loop_mail *mail)
{
    struct import *import = CONTAINER_OF(mail, struct import, taken);
    struct str left;

    import->is_offered = false;
    if (import->is_gone)
        return;
    if (import->has_ended) {
        finish(import);
        return;
    }
    if (has_full_chunk(import))
        offer(import);
    left = take_rows(import, buf_str(&import->rest));
    buf_drop(&import->rest, import->rest.len - left.len);
    if (!has_full_chunk(import))
        exchange_upload_pause(import->x, false);
}

static void on_end(void *user)
{
    struct import *import = user;
    struct row row = sheet_end(&import->sheet);

    if (row.type != ROW_NEED_MORE)
        take_row(import, &row);
    import->has_ended = true;
    finish(import);
}

static void on_gone(void *user)
{
    struct import *import = user;

    import->is_gone = true;
    if (!import->has_job) {
        import_free(import);
        return;
    }
    give_up(import);
}

/* --- answers --- */

static void answer_problems(struct import *import)
{
    CLEANUP(buf_done) struct buf members;
    CLEANUP(buf_done) struct buf detail;

    buf_init(&members, PROBLEM_BYTES + SMALL_BYTES);
    buf_init(&detail, SMALL_BYTES);
    buf_putf(&members, ",\"rows\":%llu,\"bad_rows\":%llu,\"problems\":[",
             (unsigned long long)import->row_count, (unsigned long long)import->bad_rows);
    buf_put(&members, buf_str(&import->problems));
    buf_putc(&members, ']');
    if (import->row_count)
        buf_putf(&detail, "%llu of %llu rows cannot be taken; nothing was changed.",
                 (unsigned long long)import->bad_rows,
                 (unsigned long long)import->row_count);
    else
        buf_put(&detail, S("The header cannot be taken; nothing was changed."));
    exchange_fail_with(import->x, &(struct failure){ .err = ERR_BAD_REQUEST,
                                                     .detail = buf_str(&detail),
                                                     .members = buf_str(&members) });
}

static void answer_done(struct import *import)
{
    uint64_t added = import->count_after - import->count_before;
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, SMALL_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_uint(&w, S("rows"), import->row_count);
    if (!import->is_dry) {
        json_put_uint(&w, S("added"), added);
        json_put_uint(&w, S("replaced"), import->row_count - added);
    }
    json_put_bool(&w, S("dry_run"), import->is_dry);
    json_object_close(&w);
    if (!import->is_dry)
        log_info("resource.import", "rows=%llu added=%llu by=%s",
                 (unsigned long long)import->row_count, (unsigned long long)added,
                 LOG_TEXT(import->x->identity->id));
    exchange_json(import->x, 200, &out);
}

static void answer(struct import *import)
{
    if (import->bad_rows)
        answer_problems(import);
    else if (import->err)
        exchange_fail(import->x, ERR_UNAVAILABLE,
                      "The directory cannot be written now; nothing was changed.");
    else
        answer_done(import);
}

/* --- the route --- */

static bool resources_sent(const struct exchange *x, enum sheet_format *ret)
{
    struct str type = http_header_find(&x->request, S("Content-Type"), NULL);
    struct str name = str_trim(str_cut(&type, ';'));

    if (str_ieq(name, S("text/csv")))
        *ret = SHEET_CSV;
    else if (str_ieq(name, S("application/x-ndjson")) ||
             str_ieq(name, S("application/jsonl")))
        *ret = SHEET_JSON;
    else
        return false;
    return true;
}

/* ?dry_run=true; false if that already answered. */
static bool read_dry_run(struct exchange *x, bool *ret)
{
    struct str rest = x->request.query;
    struct http_param param;
    bool was_given = false;

    *ret = false;
    while (rest.ptr && rest.len) {
        if (http_query_next(&rest, &x->arena, &param) || was_given ||
            !str_eq(param.name, S("dry_run")) ||
            (!str_eq(param.value, S("true")) && !str_eq(param.value, S("false")))) {
            exchange_fail(x, ERR_BAD_REQUEST,
                          "The only parameter is `dry_run`: true or false.");
            return false;
        }
        was_given = true;
        *ret = str_eq(param.value, S("true"));
    }
    return true;
}

static struct import *import_new(struct exchange *x, enum sheet_format format)
{
    struct import *import = xcalloc(1, sizeof(*import));
    struct hash_key key;

    hash_key_random(&key);
    idset_init(&import->ids, &key);
    import->x = x;
    import->gateway = x->worker->gateway;
    import->now_ms = loop_wall_ms(x->worker->loop);
    import->taken.deliver = on_taken;
    sheet_init(&import->sheet, format);
    buf_init(&import->rest, REST_BYTES);
    buf_init(&import->problems, PROBLEM_BYTES);
    (void)pthread_mutex_init(&import->lock, NULL);
    (void)pthread_cond_init(&import->told, NULL);
    return import;
}

void resources_import(struct exchange *x)
{
    static const struct upload_ops ops = { on_piece, on_end, on_gone };
    enum sheet_format format;
    struct import *import;
    bool is_dry;

    if (!resources_sent(x, &format)) {
        exchange_fail(x, ERR_MEDIA_TYPE,
                      "Rows are application/x-ndjson or text/csv, by Content-Type.");
        return;
    }
    if (!read_dry_run(x, &is_dry))
        return;
    if (!is_dry && !gateway_import_begin(x->worker->gateway)) {
        exchange_fail(x, ERR_CONFLICT, "Another import is under way.");
        return;
    }
    import = import_new(x, format);
    import->is_dry = is_dry;
    exchange_upload(x, &ops, import);
}
