/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine does: one connection, used by one thread at a time. The store (store.c)
 * knows no SQL, an engine knows no threads. The same tests run on both
 * (tests/unit/test_store_*.c, tests/harness/store_suite.c).
 */
#pragma once

#include <stdatomic.h>

#include "audit/line.h"
#include "store/record.h"
#include "store/store.h"

/* The directory has connections of its own (directory_priv.h), which write without the
 * writer's lock. */
enum engine_role { ENGINE_WRITER, ENGINE_READER, ENGINE_DIRECTORY };

struct engine {
    const struct engine_ops *ops;
    char problem[256]; /* what happened last, without secrets */
    /* How long `read` may take, which nothing else heeds: */
    const atomic_bool *is_cancelled; /* set by anyone: ERR_CLOSED; may be NULL */
    uint64_t until_ns;               /* monotonic: ERR_AGAIN when it is later; 0: never */
    uint64_t reached_seq;            /* then the cursor behind all it has looked at */
    bool has_damaged_index;          /* it was found so, and not used */
};

static inline bool engine_is_cancelled(const struct engine *engine)
{
    return engine->is_cancelled && atomic_load(engine->is_cancelled);
}

/* Which bodies go: of this topic, recorded before this time, or the oldest until so many
 * bytes are left. Never those of retention records. Rules that overlap are not in force
 * together. */
struct engine_strip {
    struct str topic;
    const struct str *others; /* topic "": all but these */
    size_t other_count;
    uint64_t before_ms; /* 0: none for their age */
    uint64_t max_bytes; /* 0: none for their size */
    size_t limit;       /* so many bodies at once */
};

struct engine_stripped {
    uint64_t count, bytes;
    uint64_t first_seq, last_seq;
    bool has_more; /* that may have to go, or was not looked at: ask again soon */
};

/* Texts may hold any bytes, NUL as well, and an engine takes them all: what it refused
 * would be written again and again. ERR_IO: `problem` says what happened. */
struct engine_ops {
    /* A writer creates, migrates and keeps other writers out; a reader does not. `file`:
     * see store_reader_open(). */
    enum err (*open)(const struct store_setup *setup, enum engine_role role,
                     const char *file, struct engine **ret, char **ret_why);
    void (*close)(struct engine *engine);

    /* Everything that changes something stands between these. */
    enum err (*begin)(struct engine *engine);
    enum err (*commit)(struct engine *engine); /* OK: durable. Else: nobody knows */
    void (*rollback)(struct engine *engine);

    enum err (*token_each)(struct engine *engine,
                           void (*on_token)(void *user, const struct store_token *),
                           void *user);
    enum err (*token_add)(struct engine *engine, const struct store_token *token);
    enum err (*token_remove)(struct engine *engine, struct str name, bool *ret_found);

    enum err (*item_each)(struct engine *engine, enum store_section section,
                          void (*on_item)(void *user, const struct store_item *),
                          void *user);
    enum err (*item_put)(struct engine *engine, const struct store_item *item);
    enum err (*item_remove)(struct engine *engine, const struct store_item *item);

    /* The name of the installation and its public key, kept when it is made.
     * ERR_NOT_FOUND: it has not been. */
    enum err (*origin)(struct engine *engine, struct audit_origin *ret,
                       char installation[static AUDIT_INSTALLATION]);
    enum err (*origin_set)(struct engine *engine, const struct audit_origin *origin);

    /* Chained and sealed. */
    enum err (*append)(struct engine *engine, const struct audit_record *records,
                       size_t count);
    /* One that is there already is replaced. */
    enum err (*checkpoint)(struct engine *engine, const struct audit_checkpoint *);
    /* Without records: seq 0, and the hash is left to the caller. */
    enum err (*head)(struct engine *engine, struct audit_head *ret,
                     uint64_t *ret_checkpoint_seq);
    enum err (*strip)(struct engine *engine, const struct engine_strip *strip,
                      struct engine_stripped *ret);

    enum err (*read)(struct engine *engine, const struct audit_query *query,
                     bool (*on_record)(void *user, const struct audit_record *),
                     void *user);
    enum err (*checkpoints)(struct engine *engine, uint64_t after_seq,
                            bool (*on_checkpoint)(void *user,
                                                  const struct audit_checkpoint *),
                            void *user);

    /* Of all files that it keeps in the data directory; from any thread. NULL: none. */
    uint64_t (*disk_bytes)(const char *data);
};

extern const struct engine_ops sqlite_engine;
extern const struct engine_ops postgres_engine;

/* The one that the setup names. */
const struct engine_ops *engine_for(const struct store_setup *setup);
