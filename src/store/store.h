/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What survives a restart. SQLite in WAL mode behind one writer thread; loops hand over
 * whole values and get their answer through loop_post(). At start and in the command line
 * the blocking forms are used directly.
 *
 * The database belongs to one thread at a time: to the one that opened it until the first
 * job is submitted, to the writer afterwards. The blocking functions are called there and
 * nowhere else; an assertion holds callers to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "loop/loop.h"

struct store;

/* A token as kept: only the hash of its secret. Lists are JSON texts. */
struct store_token {
    struct str name;
    struct str id;
    struct str topics;       /* JSON array */
    struct str capabilities; /* JSON array */
    struct str profile;
    struct str type;
    bool is_admin;
    uint64_t created_ms;
    uint64_t expires_ms; /* 0: never */
    uint8_t hash[SHA256_BYTES];
};

/* Opens or creates `path` (mode 0600) and runs the migrations. ERR_IO, and ERR_CONFLICT
 * for a file of a newer version or of another program. On failure *ret_why (owned by the
 * caller; the parameter may be NULL) says what happened. */
enum err store_open(const char *path, struct store **ret, char **ret_why);

/* Waits for what was handed over. Answers are still posted: loops are freed after this.
 */
void store_close(struct store *store);

/* Blocking. Tokens come in the order of their creation and are valid during the call. */
enum err store_token_each(struct store *store,
                          void (*on_token)(void *user, const struct store_token *token),
                          void *user);

/* ERR_CONFLICT: there is one with this name or this hash. ERR_INVALID: times beyond 2^63,
 * an empty name. */
enum err store_token_add(struct store *store, const struct store_token *token);
enum err store_token_remove(struct store *store, struct str name, bool *ret_found);

/* From a loop: `work` runs on the writer thread with the store, then `done` on the loop.
 * Jobs run in the order submitted; the job is the caller's again in `done`. */
struct store_job {
    struct loop *loop;
    void (*work)(struct store_job *job, struct store *store);
    void (*done)(struct store_job *job);
    struct store_job *next; /* the store's */
    struct loop_mail mail;  /* the store's */
};

/* From any thread; never blocks on the disk. */
void store_submit(struct store *store, struct store_job *job);
