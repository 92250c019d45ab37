/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as its callers see it: opened, asked, handed things. The writers (turns.c,
 * writer.c) start with the first job or batch, so that a command that only looks up a
 * token starts no thread.
 */
#include "store/store.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/redact.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"
#include "store/indexer.h"
#include "store/reader_pool.h"
#include "store/store_priv.h"

enum err store_fail(enum err err, char **ret_why, const char *format, ...)
{
    va_list args;

    if (!ret_why)
        return err;
    va_start(args, format);
    if (vasprintf(ret_why, format, args) < 0)
        *ret_why = NULL;
    va_end(args);
    return err;
}

struct str store_section_name(enum store_section section)
{
    static const struct str names[] = {
#define X(name, text) [STORE_##name] = S(text),
        STORE_SECTIONS(X)
#undef X
    };

    return names[section];
}

/* --- opening and closing --- */

static enum err open_engine(struct store *store, char **ret_why)
{
    enum err err;

    err = store_connect(store, ret_why);
    if (err)
        return err;
    store->signed_ms = clock_mono_ms();
    store_retention_begin(store);
    return audit_redactor_new((struct str_list){}, (struct str){}, &store->plain, NULL,
                              NULL);
}

enum err store_open(const struct store_setup *setup, struct store **ret, char **ret_why)
{
    struct store *store = xcalloc(1, sizeof(*store));
    enum err err;

    if (ret_why)
        *ret_why = NULL;
    store_turns_init(store);
    store_group_init(&store->group);
    store->data = xstrdup(setup->data);
    store->url = str_dup(setup->url);
    store->setup = (struct store_setup){ .data = store->data, .url = str_of(store->url) };
    store->ops = engine_for(&store->setup);
    store->readers = reader_pool_new(&store->setup);
    store->directory = directory_pool_new(&store->setup);
    err = open_engine(store, ret_why);
    if (err) {
        store_close(store);
        return err;
    }
    memcpy(store->origin_name, store->installation, AUDIT_INSTALLATION);
    *ret = store;
    return OK;
}

void store_stop(struct store *store)
{
    store_turns_stop(store);
    reader_pool_free(store->readers);
    store->readers = NULL;
    directory_pool_free(store->directory);
    store->directory = NULL;
    indexer_free(store->indexer);
    store->indexer = NULL;
    if (store->engine)
        store->ops->close(store->engine);
    store->engine = NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store_stop(store);
    store_group_done(&store->group);
    store_audit_free(store->audit);
    audit_redactor_free(store->plain);
    crypto_wipe(&store->keys, sizeof(store->keys));
    store_turns_done(store);
    free(store->data);
    free(store->url);
    free(store);
}

/* --- what is handed over --- */

struct audit_change {
    struct store_entry entry;
    struct store_audit *audit;
};

static void change_audit(struct store *store, struct store_entry *entry)
{
    struct audit_change *change = CONTAINER_OF(entry, struct audit_change, entry);

    store_audit_free(store->audit);
    store->audit = change->audit;
    store_retention_begin(store);
    free(change);
}

void store_set_audit(struct store *store, struct store_audit *audit)
{
    struct audit_change *change = xcalloc(1, sizeof(*change));

    *change = (struct audit_change){ .entry = { .take = change_audit }, .audit = audit };
    (void)pthread_mutex_lock(&store->mutex);
    if (store->has_writers || store_has_retention(audit))
        store_enqueue(store, &change->entry);
    else
        change_audit(store, &change->entry);
    (void)pthread_mutex_unlock(&store->mutex);
}

struct str store_redact_key(const struct store *store)
{
    return (struct str){ (const char *)store->keys.redacting,
                         sizeof(store->keys.redacting) };
}

void store_audit_free(struct store_audit *audit)
{
    if (!audit)
        return;
    audit_redactor_free(audit->redactor);
    arena_done(&audit->arena);
    free(audit);
}

size_t store_queued(const struct store *store)
{
    return atomic_load_explicit(&store->queued, memory_order_relaxed);
}

bool store_is_failing(const struct store *store)
{
    return atomic_load_explicit(&store->is_failing, memory_order_relaxed);
}

uint64_t store_disk_bytes(const struct store *store)
{
    return store->ops->disk_bytes ? store->ops->disk_bytes(store->data) : 0;
}

void store_health(struct store *store, struct store_health *ret)
{
    (void)pthread_mutex_lock(&store->mutex);
    *ret = store->health;
    if (store->setup.url.len)
        ret->indexed_seq = ret->head.seq; /* the engine does it as it writes */
    else
        ret->indexed_seq = store->indexer ? indexer_seq(store->indexer) : 0;
    (void)pthread_mutex_unlock(&store->mutex);
    ret->queued_bytes = store_queued(store);
}

void store_index(struct store *store)
{
    if (store->setup.url.len)
        return;
    if (store->indexer) {
        indexer_wake(store->indexer);
        return;
    }
    (void)pthread_mutex_lock(&store->mutex);
    store->indexer = indexer_new(&store->setup);
    (void)pthread_mutex_unlock(&store->mutex);
    reader_pool_watch(store->readers, store->indexer);
}

void store_origin(const struct store *store, struct audit_origin *ret)
{
    ret->installation = (struct str){ store->origin_name, AUDIT_INSTALLATION };
    memcpy(ret->public_key, store->keys.signing.public, ED25519_PUBLIC);
}

/* --- blocking --- */

static bool is_owner(struct store *store)
{
    pthread_t owner;

    (void)pthread_mutex_lock(&store->mutex);
    owner = store->owner;
    (void)pthread_mutex_unlock(&store->mutex);
    return pthread_equal(owner, pthread_self());
}

struct engine *store_engine(struct store *store)
{
    assert(is_owner(store));
    return store->engine;
}

enum err store_token_each(struct store *store,
                          void (*on_token)(void *user, const struct store_token *token),
                          void *user)
{
    struct engine *engine = store_engine(store);

    return engine ? engine->ops->token_each(engine, on_token, user) : ERR_IO;
}

enum err store_token_add(struct store *store, const struct store_token *token)
{
    struct engine *engine = store_engine(store);
    enum err err;

    if (token->name.len == 0 || token->created_ms > INT64_MAX ||
        token->expires_ms > INT64_MAX)
        return ERR_INVALID;
    if (!engine)
        return ERR_IO;
    err = engine->ops->begin(engine);
    if (!err)
        err = engine->ops->token_add(engine, token);
    return store_end(store, err);
}

enum err store_token_remove(struct store *store, struct str name, bool *ret_found)
{
    struct engine *engine = store_engine(store);
    bool was_found = false;
    enum err err;

    if (!engine)
        return ERR_IO;
    err = engine->ops->begin(engine);
    if (!err)
        err = engine->ops->token_remove(engine, name, &was_found);
    err = store_end(store, err);
    if (!err)
        *ret_found = was_found;
    return err;
}

enum err store_item_each(struct store *store, enum store_section section,
                         void (*on_item)(void *user, const struct store_item *item),
                         void *user)
{
    struct engine *engine = store_engine(store);

    return engine ? engine->ops->item_each(engine, section, on_item, user) : ERR_IO;
}
