/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record in the store: how it is kept, and how it is read while the store writes.
 *
 * Readers are a few threads with connections of their own; they get a question and give
 * back a page. The command line has one such reader without threads, on a data directory,
 * a copy of audit.db, or a PostgreSQL database.
 */
#pragma once

#include <stdatomic.h>

#include "audit/line.h"
#include "store/store.h"

/* How much of the bodies is kept: of one topic; or, with topic "", of all that have no
 * entry of their own and of what belongs to none, taken together. */
struct store_retention {
    struct str topic;
    uint64_t age_ms; /* 0: for ever */
    uint64_t bytes;  /* 0: any number */
};

struct store_audit {
    struct audit_redactor *redactor;
    struct store_retention *retention;
    size_t retention_count;
    struct arena arena; /* what the above point to, besides the redactor */
};

/* Puts it into force behind what has been handed over; takes it. From any thread. Where
 * bodies are to be removed the writer begins to run. */
void store_set_audit(struct store *store, struct store_audit *audit);
void store_audit_free(struct store_audit *audit);

/* What redactors hash with: redact.key. From any thread, as long as the store is open. */
struct str store_redact_key(const struct store *store);

/* --- keys: DIR/audit.key (0600, made at first), DIR/audit.pub, DIR/redact.key; and
 * DIR/audit.check, which tells that key and record belong together --- */

struct store_keys {
    struct ed25519_key signing;
    uint8_t redacting[SHA256_BYTES];
};

/* `expected`: the public key of the record, or NULL; whether it is the one of audit.key
 * is for the caller to compare. ERR_IO: *ret_why as in store_open(). */
enum err store_keys_open(const char *data, const uint8_t *expected,
                         struct store_keys *ret, char **ret_why);

/* audit.pub holds the installation and its public key as the first line of an export, so
 * that `path` may be one, too. ERR_NOT_FOUND; ERR_IO: it is none. */
enum err store_public_read(const char *path, struct audit_origin *ret,
                           char installation[static AUDIT_INSTALLATION], char **ret_why);

/* --- how it is going --- */

struct store_health {
    bool is_failing;
    uint64_t failing_since_ms; /* wall clock */
    char why[160];
    size_t queued_bytes;
    uint64_t commits, records, failures;
    struct audit_head head;  /* durable */
    uint64_t checkpoint_seq; /* covered by a signature */
    uint64_t indexed_seq;    /* found by search without looking through */
};

void store_health(struct store *store, struct store_health *ret); /* from any thread */

/* Of its files in the data directory, 0 where it has none there; asks the disk. */
uint64_t store_disk_bytes(const struct store *store);

/* Whose record it is; lives as long as the store. */
void store_origin(const struct store *store, struct audit_origin *ret);

/* --- questions from a loop --- */

struct store_read {
    struct loop *loop;
    void (*done)(struct store_read *self); /* on the loop; the read is its own again */
    struct audit_query query;              /* a limit is given; texts stay until `done` */
    atomic_bool is_cancelled;              /* set it, and `done` comes soon */
    bool wants_checkpoints;                /* of the page; the oldest first only */
    struct audit_batch page;               /* what was found */
    struct audit_checkpoint *checkpoints;  /* that sign a record of the page */
    size_t checkpoint_count;
    bool has_more;           /* go on from here: */
    uint64_t reached_seq;    /* the cursor behind all that was looked at */
    enum err err;            /* ERR_IO; ERR_CLOSED: it was cancelled */
    struct store_read *next; /* the store's, as below */
    struct loop_mail mail;
};

/* A page ends with the limit, with a few MiB, or after half a second, so that others get
 * their turn: it may be empty and there may be more nevertheless. From any thread; all
 * reads have been answered when the store is closed. */
enum { STORE_PAGE_BYTES = 4 << 20 };
void store_read_init(struct store_read *read, struct loop *loop);
void store_read_done(struct store_read *read);
void store_query(struct store *store, struct store_read *read);

/* --- questions without a store --- */

struct store_reader;

/* `file`: a copy of audit.db, whose search goes through all of it; NULL: what the setup
 * names. Never writes. */
enum err store_reader_open(const struct store_setup *setup, const char *file,
                           struct store_reader **ret, char **ret_why);
void store_reader_close(struct store_reader *reader);
const char *store_reader_problem(const struct store_reader *reader);

/* Calls on_record for each until it says false. ERR_IO: store_reader_problem() says what;
 * what came before is good. */
enum err
store_reader_records(struct store_reader *reader, const struct audit_query *query,
                     bool (*on_record)(void *user, const struct audit_record *record),
                     void *user);
enum err store_reader_checkpoints(struct store_reader *reader, uint64_t after_seq,
                                  bool (*on_checkpoint)(void *user,
                                                        const struct audit_checkpoint *),
                                  void *user);
enum err store_reader_head(struct store_reader *reader, struct audit_head *ret);
enum err store_reader_origin(struct store_reader *reader, struct audit_origin *ret,
                             char installation[static AUDIT_INSTALLATION]);
