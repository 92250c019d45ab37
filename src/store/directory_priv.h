/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside store/: what an engine does for the directory. It keeps resources as JSON beside
 * their marks (directory/match.h) and looks up who has certain marks, in the order of
 * rank; how that becomes an answer is directory_search.c's.
 */
#pragma once

#include "store/directory.h"
#include "store/engine.h"

/* A resource as it is kept. */
struct directory_row {
    struct str id;
    uint64_t rank;
    bool has_rate;
    uint64_t hourly;
    uint64_t updated_ms;
    struct str json;
    struct str marks;
};

/* A mark that a resource has to have, or that begins one of its marks. */
struct directory_need {
    char mark[DIRECTORY_MARK];
    size_t len;
    bool is_beginning;
};

enum { DIRECTORY_NEEDS = DIRECTORY_TERMS + DIRECTORY_SKILLS + DIRECTORY_PLACES + 3 };

/* Whom to look up: everybody that has all of it. */
struct directory_find {
    struct directory_need needs[DIRECTORY_NEEDS];
    size_t need_count;
    bool has_max_rate;
    uint64_t max_hourly;
    uint64_t first, end; /* ranks from here on, and before there */
    size_t limit;
};

struct store_directory {
    const struct directory_ops *ops;
    char problem[256];
    const atomic_bool *is_cancelled; /* may be NULL, as the next: */
    const atomic_bool *is_closing;   /* then what was begun does not go on */
    bool is_begun;                   /* store_directory_begin() */
    bool is_lost;                    /* of no use any more: to be opened again */
};

/* ERR_IO: `problem` says what happened. */
struct directory_ops {
    enum err (*open)(const struct store_setup *setup, struct store_directory **ret,
                     char **ret_why);
    void (*close)(struct store_directory *directory);

    /* What changes something stands between these, and so do the questions of one search,
     * which then see one state. */
    enum err (*begin)(struct store_directory *directory);
    enum err (*read_begin)(struct store_directory *directory);
    enum err (*commit)(struct store_directory *directory);
    void (*rollback)(struct store_directory *directory);

    /* In ascending order of rank; no id stands twice. */
    enum err (*put_all)(struct store_directory *directory,
                        const struct directory_row *rows, size_t count);
    enum err (*remove)(struct store_directory *directory, struct str id, bool *ret_found);

    /* Ranks in ascending order. */
    enum err (*find)(struct store_directory *directory, const struct directory_find *find,
                     uint64_t *ret, size_t *ret_count);

    /* The JSON of those that are there, in any order. */
    enum err (*load)(struct store_directory *directory, const uint64_t *ranks,
                     size_t count,
                     void (*on_json)(void *user, uint64_t rank, struct str json),
                     void *user);
    enum err (*get)(struct store_directory *directory, struct str id,
                    void (*on_json)(void *user, uint64_t rank, struct str json),
                    void *user);

    /* In the order of ids. */
    enum err (*each)(struct store_directory *directory, struct str after, size_t limit,
                     void (*on_json)(void *user, uint64_t rank, struct str json),
                     void *user);
    enum err (*count)(struct store_directory *directory, uint64_t *ret);
};

extern const struct directory_ops sqlite_directory;
extern const struct directory_ops postgres_directory;

/* Remembers what went wrong; returns ERR_IO. */
enum err directory_fail(struct store_directory *directory, const char *what);

/* Is it to end? */
static inline bool directory_is_cancelled(const struct store_directory *directory)
{
    return directory->is_cancelled && atomic_load(directory->is_cancelled);
}

/* --- directory_search.c --- */

/* Within read_begin. */
enum err directory_search(struct store_directory *directory,
                          const struct directory_ask *ask, struct directory_page *ret);

/* Reads what is kept. ERR_IO: it is damaged; ERR_TOO_BIG. */
enum err directory_read(struct str json, struct arena *arena, struct resource *ret);

/* --- directory_pool.c: the threads --- */

struct directory_pool;

struct directory_pool *directory_pool_new(const struct store_setup *setup);
void directory_pool_free(struct directory_pool *pool); /* NULL: nothing */
void directory_pool_submit(struct directory_pool *pool, struct store_directory_job *job);
