/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the engine: how it begins, what must be true of the record it leads
 * to, and how it ends when something fails.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

#define WITHOUT_KEY                                                                    \
    ": bring back the one that belongs to it, or move the record away, so that a new " \
    "one begins"

/* --- failing --- */

static void note_failure(struct store *store, const char *why)
{
    struct store_health *health = &store->health;
    bool was_failing = atomic_exchange(&store->is_failing, true);

    (void)pthread_mutex_lock(&store->mutex);
    health->failures++;
    health->is_failing = true;
    if (!was_failing)
        health->failing_since_ms = clock_wall_ms();
    (void)snprintf(health->why, sizeof(health->why), "%s", why);
    (void)pthread_mutex_unlock(&store->mutex);
    if (!was_failing)
        log_error("store.fail", "why=%s", LOG_TEXT(str_of(why)));
}

static void disconnect(struct store *store)
{
    struct engine *engine = TAKE(store->engine);

    note_failure(store, engine->problem);
    engine->ops->rollback(engine);
    engine->ops->close(engine);
}

enum err store_end(struct store *store, enum err err)
{
    struct engine *engine = store->engine;

    if (!err)
        err = engine->ops->commit(engine);
    else if (err != ERR_IO)
        engine->ops->rollback(engine);
    if (err == ERR_IO)
        disconnect(store);
    return err;
}

void store_recovered(struct store *store)
{
    if (!atomic_exchange(&store->is_failing, false))
        return;
    (void)pthread_mutex_lock(&store->mutex);
    store->health.is_failing = false;
    store->health.why[0] = '\0';
    (void)pthread_mutex_unlock(&store->mutex);
    log_info("store.recover", "seq=%llu", (unsigned long long)store->head.seq);
}

/* --- whose record it is --- */

/* A record begins with a name for the installation. */
static enum err make_origin(struct store *store, struct engine *engine,
                            struct audit_origin *ret)
{
    uint8_t random[AUDIT_INSTALLATION / 2];
    struct buf name;
    enum err err;

    buf_init(&name, AUDIT_INSTALLATION);
    crypto_random(random, sizeof(random));
    hex_write(&name, (struct str){ (const char *)random, sizeof(random) });
    memcpy(store->installation, name.ptr, AUDIT_INSTALLATION);
    buf_done(&name);
    ret->installation = (struct str){ store->installation, AUDIT_INSTALLATION };
    memcpy(ret->public_key, store->keys.signing.public, ED25519_PUBLIC);
    err = engine->ops->begin(engine);
    if (!err)
        err = engine->ops->origin_set(engine, ret);
    if (!err)
        return engine->ops->commit(engine);
    engine->ops->rollback(engine);
    return err;
}

static bool has_key(const struct store *store, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", store->setup.data, name);
    return access(path, F_OK) == 0;
}

/* The key that signs is made only where nothing was signed with it yet. */
static enum err open_keys(struct store *store, const struct audit_origin *origin,
                          char **ret_why)
{
    bool has_record = origin != NULL;

    if (has_record && !has_key(store, "audit.key"))
        return store_fail(ERR_CONFLICT, ret_why, "%s/audit.key is missing" WITHOUT_KEY,
                          store->setup.data);
    if (has_record && !has_key(store, "redact.key"))
        log_warn("store.redact_key",
                 "reason=\"redact.key was missing and is made anew: what is redacted "
                 "from now on does not compare with what was redacted before\"");
    return store_keys_open(store->setup.data, has_record ? origin->public_key : NULL,
                           &store->keys, ret_why);
}

static enum err check_origin(struct store *store, struct engine *engine, char **ret_why)
{
    struct audit_origin origin;
    enum err err = engine->ops->origin(engine, &origin, store->installation);
    bool has_record = !err;

    if (err && err != ERR_NOT_FOUND)
        return store_fail(err, ret_why, "%s", engine->problem);
    if (!has_record && store->is_known)
        return store_fail(ERR_CONFLICT, ret_why, "the record is gone");
    err = store->is_known ? OK : open_keys(store, has_record ? &origin : NULL, ret_why);
    if (err)
        return err;
    if (!has_record && make_origin(store, engine, &origin))
        return store_fail(ERR_IO, ret_why, "%s", engine->problem);
    if (memcmp(origin.public_key, store->keys.signing.public, ED25519_PUBLIC) != 0)
        return store_fail(ERR_CONFLICT, ret_why,
                          "%s/audit.key is not the key of this record" WITHOUT_KEY,
                          store->setup.data);
    return store_public_keep(store->setup.data, &origin, ret_why);
}

/* Are they the same place in the same chain? */
static bool is_same(const struct audit_head *a, const struct audit_head *b)
{
    return a->seq == b->seq && memcmp(a->hash, b->hash, sizeof(a->hash)) == 0;
}

/* Has a record that was written before got as far as what we know to be durable, or some
 * part of what was being written? */
static bool is_expected(const struct store *store, const struct audit_head *head)
{
    const struct store_group *group = &store->group;
    uint64_t behind = head->seq - store->head.seq;

    if (!store->is_known || is_same(head, &store->head))
        return true;
    return head->seq > store->head.seq && behind <= group->count &&
           memcmp(head->hash, group->records[behind - 1].hash, sizeof(head->hash)) == 0;
}

static enum err check_head(struct store *store, struct engine *engine, char **ret_why)
{
    struct audit_head head;
    uint64_t checkpoint_seq;
    enum err err = engine->ops->head(engine, &head, &checkpoint_seq);

    if (err)
        return store_fail(err, ret_why, "%s", engine->problem);
    if (head.seq == 0)
        audit_chain_begin((struct str){ store->installation, AUDIT_INSTALLATION }, &head);
    if (!is_expected(store, &head))
        return store_fail(ERR_CONFLICT, ret_why,
                          "record %llu is not what was written: somebody else writes, or "
                          "an older state was put back",
                          (unsigned long long)head.seq);
    if (checkpoint_seq > head.seq)
        return store_fail(ERR_CONFLICT, ret_why,
                          "the record ends with %llu, and was signed up to %llu: what "
                          "stood between them was removed",
                          (unsigned long long)head.seq,
                          (unsigned long long)checkpoint_seq);
    store->head = head;
    store->checkpoint_seq = checkpoint_seq;
    store->is_known = true;
    (void)pthread_mutex_lock(&store->mutex);
    store->health.head = head;
    store->health.checkpoint_seq = checkpoint_seq;
    (void)pthread_mutex_unlock(&store->mutex);
    return OK;
}

enum err store_connect(struct store *store, char **ret_why)
{
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;
    enum err err = store->ops->open(&store->setup, ENGINE_WRITER, NULL, &engine, &why);

    if (!err)
        err = check_origin(store, engine, &why);
    if (!err)
        err = check_head(store, engine, &why);
    if (!err) {
        store->engine = engine;
        return OK;
    }
    if (engine)
        engine->ops->close(engine);
    if (store_is_failing(store))
        note_failure(store, why ? why : err_name(err));
    if (ret_why)
        *ret_why = TAKE(why);
    return err;
}
