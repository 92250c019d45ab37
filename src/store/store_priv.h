/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside store/: who owns what. The connection and all that goes with it belong to the
 * thread that opened the store, and once the writers run to the one whose turn it is; the
 * queue is shared.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "store/engine.h"
#include "store/record.h"
#include "store/store.h"

/* What is committed at once. It is made up, chained and signed once, however often it has
 * to be written. */
struct store_group {
    struct store_entry *first; /* the batches */
    struct store_entry **end;
    size_t bytes;
    struct audit_record *records;
    size_t count, size;
    struct arena bodies;    /* as they are recorded */
    struct buf body;        /* the one just being redacted */
    struct audit_head head; /* behind the last record */
    bool has_checkpoint;
    struct audit_checkpoint checkpoint;
};

/* Where retention stands. */
struct store_retaining {
    const struct str *named; /* topics with a rule of their own; in the settings' arena */
    size_t named_count;
    size_t rule;                             /* the next one */
    enum { RETAIN_AGE, RETAIN_SIZE } reason; /* and which half of it */
    uint64_t due_ms;                         /* monotonic; UINT64_MAX: never */
    struct engine_stripped stripped;         /* by the last step, */
    struct str stripped_topic;               /* of this topic; "": of those not named */
};

/* One of the two that write, in turn (turns.c). */
struct store_writer {
    struct store *store;
    pthread_t thread;
    pthread_cond_t wake;
    uint64_t until_ms;         /* so long it waits; UINT64_MAX: until it is called */
    pid_t thread_id;           /* of the patient one, as the rest */
    bool may_be_idle, is_idle; /* SCHED_IDLE */
};

struct store {
    char *data, *url;
    struct store_setup setup; /* made of these */
    const struct engine_ops *ops;

    struct engine *engine; /* NULL: it failed and was closed */
    struct store_keys keys;
    char installation[AUDIT_INSTALLATION];
    struct audit_redactor *plain; /* as long as `audit` has none */
    struct store_audit *audit;    /* may be NULL */
    bool is_known;                /* what the record should be: it has been seen once */
    struct audit_head head;       /* durable */
    uint64_t checkpoint_seq;      /* durable */
    uint64_t signed_ms;           /* monotonic */
    struct store_retaining retaining;
    uint64_t backoff_ms;
    struct store_entry *taken; /* out of the queue, in order */
    struct store_group group;

    struct reader_pool *readers;
    struct directory_pool *directory;
    char origin_name[AUDIT_INSTALLATION]; /* `installation` as of the start, for all */
    atomic_size_t queued;
    atomic_bool is_failing;

    pthread_mutex_t mutex; /* guards all below */
    struct store_entry *first, **end;
    bool has_writers;
    bool is_closing;
    struct store_writer prompt, patient;
    struct store_writer *writing; /* the connection is its own; NULL: nobody's */
    pthread_t owner;              /* who has it, or had it last */
    uint64_t prompt_until_ms;     /* monotonic, as all below: whose turn it is */
    uint64_t moved_ms;            /* the queue began, or something of it was written */
    uint64_t due_ms;              /* there is something to sign or to remove */
    struct store_health health;
    struct indexer *indexer; /* SQLite: from the first record that was written */
};

/* Opens the connection; looks that the record is ours, and how far it has come. */
enum err store_connect(struct store *store, char **ret_why);

/* The connection; NULL while it fails. Asserts that the caller owns it. */
struct engine *store_engine(struct store *store);

/* Ends a transaction: commits it, or rolls it back where `err` tells that something is
 * wrong with it. After ERR_IO there is no connection any more. */
enum err store_end(struct store *store, enum err err);

/* The store is well, or well again. */
void store_recovered(struct store *store);

/* One writer's work, until the store closes. */
void store_write_all(struct store_writer *self);

/* --- turns.c --- */

void store_turns_init(struct store *store);

/* Until all that was queued is written. */
void store_turns_stop(struct store *store);

void store_turns_done(struct store *store);

/* Waits until it is this one's turn and there is something to do: what is queued is then
 * in `taken`. False: the store closes; the prompt one is the last to have the
 * connection. */
bool store_turn_begin(struct store *store, struct store_writer *self);

/* due_ms: when there is something to sign or to remove. */
void store_turn_end(struct store *store, uint64_t due_ms);

/* With the mutex held. The writers start with the first entry. */
void store_enqueue(struct store *store, struct store_entry *entry);

/* Out of the queue, in order. With the mutex held. */
struct store_entry *store_queue_take(struct store *store);

/* The same within a turn, when something is queued or the time is up. False: the store
 * closes. */
bool store_queue_wait(struct store *store, uint64_t until_ms, struct store_entry **ret);

/* --- retention.c --- */

/* Is there anything to do, ever? */
bool store_has_retention(const struct store_audit *audit);

/* The settings have changed. */
void store_retention_begin(struct store *store);

/* One step within a transaction: what it has removed is in *ret, with its text in `body`;
 * an event other than AUDIT_RETENTION: nothing. */
enum err store_retention_step(struct store *store, struct audit_record *ret,
                              struct buf *body);

/* What it has removed is gone for good. */
void store_retention_tell(const struct store *store);

/* It failed: not again at once. */
void store_retention_postpone(struct store *store);

/* Records were committed: whoever keeps the index goes on. */
void store_index(struct store *store);

void store_group_init(struct store_group *group);
void store_group_done(struct store_group *group);

/* Walks the changes of a batch: begin with *at = 0; false at the end. */
bool store_batch_next(const struct store_batch *batch, size_t *at, bool *ret_is_put,
                      struct store_item *ret);

/* Puts DIR/audit.pub there, unless it is. ERR_IO */
enum err store_public_keep(const char *data, const struct audit_origin *origin,
                           char **ret_why);

struct str store_section_name(enum store_section section);

/* Says what happened in *ret_why, if anyone asks, and returns err. */
enum err store_fail(enum err err, char **ret_why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
