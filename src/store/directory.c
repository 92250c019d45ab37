/* SPDX-License-Identifier: Apache-2.0 */
/* The directory as its callers see it: what is common to both engines. */
#include "store/directory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"
#include "store/store_priv.h"

enum { EACH_PAGE = 256 };

enum err directory_fail(struct store_directory *directory, const char *what)
{
    (void)snprintf(directory->problem, sizeof(directory->problem), "%s", what);
    return ERR_IO;
}

/* --- opening --- */

enum err store_directory_open(const struct store_setup *setup,
                              struct store_directory **ret, char **ret_why)
{
    const struct directory_ops *ops =
        setup->url.len ? &postgres_directory : &sqlite_directory;

    if (ret_why)
        *ret_why = NULL;
    return ops->open(setup, ret, ret_why);
}

void store_directory_close(struct store_directory *directory)
{
    if (!directory)
        return;
    if (directory->is_begun)
        directory->ops->rollback(directory);
    directory->ops->close(directory);
}

const char *store_directory_problem(const struct store_directory *directory)
{
    return directory ? directory->problem : "the directory could not be opened";
}

/* --- transactions --- */

enum err store_directory_begin(struct store_directory *directory)
{
    enum err err = directory ? directory->ops->begin(directory) : ERR_IO;

    if (err)
        return err;
    directory->is_begun = true;
    if (directory->is_closing)
        directory->is_cancelled = directory->is_closing;
    return OK;
}

static void end_begun(struct store_directory *directory)
{
    directory->is_begun = false;
    if (directory->is_closing)
        directory->is_cancelled = NULL;
}

enum err store_directory_commit(struct store_directory *directory)
{
    enum err err;

    if (!directory)
        return ERR_IO;
    end_begun(directory);
    err = directory->ops->commit(directory);
    if (err)
        directory->ops->rollback(directory);
    return err;
}

void store_directory_rollback(struct store_directory *directory)
{
    if (!directory)
        return;
    end_begun(directory);
    directory->ops->rollback(directory);
}

/* What a caller has begun, it ends. */
static enum err begin(struct store_directory *directory)
{
    return directory->is_begun ? OK : directory->ops->begin(directory);
}

static enum err end(struct store_directory *directory, enum err err)
{
    if (directory->is_begun)
        return err;
    if (!err)
        err = directory->ops->commit(directory);
    if (err)
        directory->ops->rollback(directory);
    return err;
}

/* --- putting and removing --- */

/* Rows whose texts stand one behind the other in a buffer that may move: their places are
 * made good at the end. */
struct rows {
    struct directory_row *items;
    size_t count;
    struct buf texts;
};

static void add_row(struct rows *rows, const struct resource *resource)
{
    struct directory_row *row = &rows->items[rows->count++];
    struct json_writer w;
    size_t begin_json = rows->texts.len, begin_marks;

    json_write_init(&w, &rows->texts);
    resource_write(&w, resource, RESOURCE_DETAILS);
    begin_marks = rows->texts.len;
    directory_marks(resource, &rows->texts);
    *row = (struct directory_row){
        .id = resource->id,
        .rank = resource_rank(resource),
        .updated_ms = resource->updated_ms,
        .json.len = begin_marks - begin_json,
        .marks.len = rows->texts.len - begin_marks,
    };
    row->has_rate = resource_hourly(&resource->rate, &row->hourly);
}

static void place_texts(struct rows *rows)
{
    const char *at = rows->texts.ptr;

    for (size_t i = 0; i < rows->count; i++) {
        struct directory_row *row = &rows->items[i];

        row->json.ptr = at;
        row->marks.ptr = at + row->json.len;
        at += row->json.len + row->marks.len;
    }
}

static int compare_ids(const void *a, const void *b)
{
    const struct directory_row *x = a, *y = b;

    return str_cmp(x->id, y->id);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct directory_row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return str_cmp(x->id, y->id);
}

static bool has_twice(struct rows *rows)
{
    qsort(rows->items, rows->count, sizeof(rows->items[0]), compare_ids);
    for (size_t i = 1; i < rows->count; i++)
        if (str_eq(rows->items[i - 1].id, rows->items[i].id))
            return true;
    return false;
}

static enum err put_rows(struct store_directory *directory, struct rows *rows)
{
    enum err err;

    if (has_twice(rows))
        return ERR_INVALID;
    qsort(rows->items, rows->count, sizeof(rows->items[0]), compare_ranks);
    err = begin(directory);
    if (!err)
        err = directory->ops->put_all(directory, rows->items, rows->count);
    return end(directory, err);
}

enum err store_resource_put_all(struct store_directory *directory,
                                const struct resource *resources, size_t count)
{
    struct rows rows = {};
    enum err err = OK;

    if (!directory || !count)
        return directory ? OK : ERR_IO;
    rows.items = xcalloc(count, sizeof(rows.items[0]));
    buf_init(&rows.texts, SIZE_MAX / 2);
    for (size_t i = 0; i < count && !err; i++) {
        if (!resources[i].id.len)
            err = ERR_INVALID;
        else
            add_row(&rows, &resources[i]);
    }
    place_texts(&rows);
    if (!err)
        err = put_rows(directory, &rows);
    buf_done(&rows.texts);
    free(rows.items);
    return err;
}

enum err store_resource_remove(struct store_directory *directory, struct str id,
                               bool *ret_found)
{
    bool was_found = false;
    enum err err;

    if (!directory)
        return ERR_IO;
    err = begin(directory);
    if (!err)
        err = directory->ops->remove(directory, id, &was_found);
    err = end(directory, err);
    if (!err)
        *ret_found = was_found;
    return err;
}

/* --- reading --- */

struct getting {
    struct arena *arena;
    struct resource *ret;
    enum err err;
};

static void get_one(void *user, uint64_t rank [[maybe_unused]], struct str json)
{
    struct getting *getting = user;
    struct str kept = arena_str(getting->arena, json);

    getting->err =
        kept.ptr ? directory_read(kept, getting->arena, getting->ret) : ERR_TOO_BIG;
}

enum err store_resource_get(struct store_directory *directory, struct str id,
                            struct arena *arena, struct resource *ret)
{
    struct getting getting = { .arena = arena, .ret = ret };
    enum err err =
        directory ? directory->ops->get(directory, id, get_one, &getting) : ERR_IO;

    return err ? err : getting.err;
}

struct listing {
    bool (*on_resource)(void *user, const struct resource *);
    void *user;
    struct arena arena;
    char after[RESOURCE_ID];
    size_t after_len;
    size_t count; /* of this page */
    bool is_over;
    enum err err;
};

static void list_one(void *user, uint64_t rank [[maybe_unused]], struct str json)
{
    struct listing *listing = user;
    struct resource resource;

    listing->count++;
    if (listing->is_over || listing->err)
        return;
    arena_reset(&listing->arena);
    listing->err = directory_read(json, &listing->arena, &resource);
    if (listing->err)
        return;
    memcpy(listing->after, resource.id.ptr, resource.id.len);
    listing->after_len = resource.id.len;
    listing->is_over = !listing->on_resource(listing->user, &resource);
}

enum err store_resource_each(struct store_directory *directory, struct str after,
                             bool (*on_resource)(void *user, const struct resource *),
                             void *user)
{
    struct listing listing = { .on_resource = on_resource, .user = user };
    enum err err = OK;

    if (!directory || after.len > sizeof(listing.after))
        return directory ? ERR_INVALID : ERR_IO;
    arena_init(&listing.arena, RESOURCE_ARENA);
    if (after.len)
        memcpy(listing.after, after.ptr, after.len);
    listing.after_len = after.len;
    do {
        listing.count = 0;
        err = directory->ops->each(directory,
                                   (struct str){ listing.after, listing.after_len },
                                   EACH_PAGE, list_one, &listing);
        if (!err && directory_is_cancelled(directory))
            err = ERR_CLOSED;
    } while (!err && !listing.err && !listing.is_over && listing.count == EACH_PAGE);
    arena_done(&listing.arena);
    return err ? err : listing.err;
}

enum err store_resource_count(struct store_directory *directory, uint64_t *ret)
{
    return directory ? directory->ops->count(directory, ret) : ERR_IO;
}

enum err store_resource_search(struct store_directory *directory,
                               const struct directory_ask *ask,
                               struct directory_page *ret)
{
    enum err err;

    if (!directory)
        return ERR_IO;
    if (directory->is_begun)
        return directory_search(directory, ask, ret);
    err = directory->ops->read_begin(directory);
    if (!err)
        err = directory_search(directory, ask, ret);
    directory->ops->rollback(directory);
    return err;
}

/* --- from a loop --- */

void store_directory_submit(struct store *store, struct store_directory_job *job)
{
    directory_pool_submit(store->directory, job);
}
