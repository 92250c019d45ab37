/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory in the store: resources, kept and found. It stands beside the rest, with
 * connections of its own (SQLite: in a file of its own, directory.db), so that a large
 * one, or the import of one, does not hold up the state of rooms and the record.
 *
 * A connection belongs to one thread. The command line opens one; a loop hands over jobs
 * (store_directory_submit()), which run on threads of the directory: one that writes, in
 * the order submitted, and two that read.
 */
#pragma once

#include "directory/match.h"
#include "store/store.h"

struct store_directory;

/* Opens or creates it. The schema of PostgreSQL is store_open()'s, which has to be run
 * before. Errors as there. */
enum err store_directory_open(const struct store_setup *setup,
                              struct store_directory **ret, char **ret_why);
void store_directory_close(struct store_directory *directory); /* NULL: nothing */

/* What happened last, without secrets. */
const char *store_directory_problem(const struct store_directory *directory);

/* --- blocking; ERR_IO, also for a directory that is NULL --- */

/* Adds them or replaces those with the same id, all or nothing. Each has an id, and no id
 * stands twice (ERR_INVALID); the rest was checked by resource_read(). */
enum err store_resource_put_all(struct store_directory *directory,
                                const struct resource *resources, size_t count);
enum err store_resource_remove(struct store_directory *directory, struct str id,
                               bool *ret_found);

/* For more than fits into one call, as an import: what is put and removed between these
 * is made durable together, or not at all. Within one job. */
enum err store_directory_begin(struct store_directory *directory);
enum err store_directory_commit(struct store_directory *directory);
void store_directory_rollback(struct store_directory *directory);

/* In the arena. ERR_NOT_FOUND; ERR_TOO_BIG: the arena is full (RESOURCE_TEXT and
 * RESOURCE_ARENA are enough for one). */
enum err store_resource_get(struct store_directory *directory, struct str id,
                            struct arena *arena, struct resource *ret);

/* In the order of their ids, behind `after` ("": from the beginning), until on_resource
 * says false. They are valid during the call. */
enum err store_resource_each(struct store_directory *directory, struct str after,
                             bool (*on_resource)(void *user, const struct resource *),
                             void *user);
enum err store_resource_count(struct store_directory *directory, uint64_t *ret);

/* --- searching --- */

struct directory_hit {
    struct resource resource;
    struct directory_match match;
};

struct directory_page {
    struct directory_hit hits[DIRECTORY_PAGE];
    size_t count;
    char cursor[DIRECTORY_CURSOR + 1]; /* for the next page; "": this is the last */
    bool is_partial;     /* better ones may have been missed: time was up, or
                          * more words are frequent than can be weighed */
    size_t finds, loads; /* what it took: questions, resources looked at */
    struct arena arena;  /* what the hits point to */
};

void directory_page_init(struct directory_page *page);
void directory_page_done(struct directory_page *page);

/* Best first: by score, then availability, then an order of their own. Without words in
 * the query all that pass its filters. */
enum err store_resource_search(struct store_directory *directory,
                               const struct directory_ask *ask,
                               struct directory_page *ret);

/* --- from a loop --- */

enum store_directory_lane { DIRECTORY_READS, DIRECTORY_WRITES };

/* `work` runs on a thread of the directory and uses the blocking forms above; it may be
 * given NULL, when there is no connection. Then `done` runs on the loop, and the job is
 * the caller's again. When the store closes, writes that wait are made, but for those
 * between begin and commit; reads are done without a connection. */
struct store_directory_job {
    struct loop *loop;
    enum store_directory_lane lane;
    void (*work)(struct store_directory_job *job, struct store_directory *directory);
    void (*done)(struct store_directory_job *job);
    struct store_directory_job *next; /* the store's, as below */
    struct loop_mail mail;
};

/* From any thread; never blocks on the disk. */
void store_directory_submit(struct store *store, struct store_directory_job *job);
