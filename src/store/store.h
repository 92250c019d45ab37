/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What survives a restart: tokens, the state of rooms, and the record. One interface, two
 * engines (engine.h): SQLite in the data directory, or PostgreSQL.
 *
 * One writer thread owns the engine's connection; loops hand over whole values and get
 * their answer through loop_post(). At start and in the command line the blocking forms
 * are used directly: the connection belongs to the thread that opened the store until the
 * first job or batch is handed over, and to the writer afterwards. An assertion holds
 * callers to it.
 *
 * When a commit fails the writer closes the connection, opens it again until that works,
 * looks what is there and writes the rest anew: a failed fsync is never simply repeated.
 * Meanwhile store_is_failing() tells everybody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/batch.h"
#include "audit/chain.h"
#include "audit/query.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "loop/loop.h"

struct audit_redactor;
struct store;

struct store_setup {
    const char *data; /* the data directory: keys, and the files of SQLite */
    struct str url;   /* "postgresql://…"; "": SQLite */
};

/* Opens or creates it and runs the migrations. ERR_IO; ERR_CONFLICT for a store of a
 * newer version, of another program, or in use by another gateway. On failure *ret_why
 * (owned by the caller; the parameter may be NULL) says what happened, without secrets.
 */
enum err store_open(const struct store_setup *setup, struct store **ret, char **ret_why);

/* Waits for what was handed over and signs a last checkpoint. Answers are still posted:
 * loops are freed after this. */
void store_stop(struct store *store);

/* The same, where it has not been done, and frees it. */
void store_close(struct store *store);

/* --- tokens; blocking --- */

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

/* They come in the order of their creation and are valid during the call. */
enum err store_token_each(struct store *store,
                          void (*on_token)(void *user, const struct store_token *token),
                          void *user);

/* ERR_CONFLICT: there is one with this name or this hash. ERR_INVALID: times beyond 2^63,
 * an empty name. */
enum err store_token_add(struct store *store, const struct store_token *token);
enum err store_token_remove(struct store *store, struct str name, bool *ret_found);

/* --- the state of rooms --- */

/* What things are kept as. The value is JSON that only its owner reads. */
/* clang-format off */
#define STORE_SECTIONS(X)                                                    \
    X(GRANT,         "grant")         /* policy: given to a participant */   \
    X(STRIKE,        "strike")        /* policy: taken from one */           \
    X(STANDING,      "standing")      /* a participant's pauses and bars */  \
    X(PROPOSAL,      "proposal")      /* open, with its envelope */          \
    X(AUTHORIZATION, "authorization") /* a tool that asked to be allowed */  \
    X(RULE,          "rule")          /* what people taught */               \
    X(PROFILE,       "profile")       /* named sets of capabilities */       \
    X(TOPIC,         "topic")         /* settings made at run time */        \
    X(MEMBER,        "member")        /* settings of one in a topic */       \
    X(RESOURCE,      "resource")      /* of the directory */                 \
    X(EXPORT,        "export")        /* how far an exporter has come */     \
    X(SERVER,        "server")        /* an MCP server added at run time */  \
    X(UPSTREAM,      "upstream")      /* … its era, the pin of its package */ \
    X(CATALOGUE,     "catalogue")     /* … what it offers, what was seen */  \
    X(SECRET,        "secret")        /* … its tokens, sealed */              \
    X(UID,           "uid")           /* … whom it becomes, started by root */ \
    X(TEAM,          "team")          /* of the directory */                 \
    X(SETTING,       "setting")       /* made at run time */
/* clang-format on */

enum store_section {
#define X(name, text) STORE_##name,
    STORE_SECTIONS(X)
#undef X
        STORE_SECTION_COUNT
};

/* One thing: section, topic ("": none) and key name it. */
struct store_item {
    enum store_section section;
    struct str topic;
    struct str key;
    struct str value;
};

/* Blocking. In the order of topic and key; valid during the call. */
enum err store_item_each(struct store *store, enum store_section section,
                         void (*on_item)(void *user, const struct store_item *item),
                         void *user);

/* --- what a loop hands over in one turn --- */

/* A place in the writer's queue; the store's. */
struct store_entry {
    struct store_entry *next;
    void (*take)(struct store *store, struct store_entry *self);
    bool can_wait;
};

/* Changes of state and records, made durable together and in their order. */
struct store_batch {
    struct loop *loop;
    void (*done)(struct store_batch *self); /* on the loop; the batch is its own again */
    struct buf changes;                     /* store_batch_put(), store_batch_remove() */
    struct audit_batch records; /* seq, hash and body_hash are the writer's; so is
                                 * redacting the bodies */
    bool can_wait;              /* until the machine has nothing better to do */
    enum err err;               /* OK: all of it is durable. ERR_IO: the store was closed
                                 * before it could be */
    struct store_entry entry;   /* the store's, as all below */
    struct loop_mail mail;
    size_t bytes;
};

void store_batch_init(struct store_batch *batch, struct loop *loop);
void store_batch_done(struct store_batch *batch);
void store_batch_put(struct store_batch *batch, const struct store_item *item);

/* The value is not looked at. */
void store_batch_remove(struct store_batch *batch, const struct store_item *item);

/* From any thread; never blocks on the disk. The batch is the store's until `done`, which
 * comes when it is durable, however long that takes: many are committed at once. */
void store_commit(struct store *store, struct store_batch *batch);

/* Bytes handed over and not yet durable. Cheap, from any thread, as the next. */
size_t store_queued(const struct store *store);
bool store_is_failing(const struct store *store);

/* --- other work on the writer's thread --- */

/* `work` runs there with the store, then `done` on the loop. Jobs and batches run in the
 * order submitted; but while the store fails, jobs do not wait for it: what they ask of
 * it is ERR_IO then. The job is the caller's again in `done`. */
struct store_job {
    struct loop *loop;
    void (*work)(struct store_job *job, struct store *store);
    void (*done)(struct store_job *job);
    struct store_entry entry; /* the store's */
    struct loop_mail mail;    /* the store's */
};

/* From any thread; never blocks on the disk. */
void store_submit(struct store *store, struct store_job *job);
