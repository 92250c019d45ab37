/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens are looked up by their SHA-256: what the table compares tells nothing about the
 * tokens it holds, so its timing does not either.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "identity/identity.h"

static struct str key_of(const uint8_t hash[static SHA256_BYTES])
{
    return (struct str){ (const char *)hash, SHA256_BYTES };
}

void token_table_init(struct token_table *table)
{
    map_init(&table->by_hash);
}

void token_table_done(struct token_table *table)
{
    struct identity *identity;

    MAP_FOREACH(identity, &table->by_hash)
        identity_unref(identity);
    map_done(&table->by_hash);
}

void token_table_add(struct token_table *table, struct identity *identity)
{
    struct str key = key_of(identity->token_hash);
    struct identity *old;

    (void)identity_ref(identity);
    old = map_remove(&table->by_hash, key);
    map_set(&table->by_hash, key, identity);
    identity_unref(old);
}

bool token_table_remove(struct token_table *table,
                        const uint8_t hash[static SHA256_BYTES])
{
    struct identity *identity = map_remove(&table->by_hash, key_of(hash));

    identity_unref(identity);
    return identity != NULL;
}

static struct identity *find_named(const struct token_table *table, struct str token_name)
{
    struct identity *identity;

    MAP_FOREACH(identity, &table->by_hash)
        if (str_eq(identity->token_name, token_name))
            return identity;
    return NULL;
}

bool token_table_remove_named(struct token_table *table, struct str token_name)
{
    const struct identity *identity = find_named(table, token_name);

    return identity && token_table_remove(table, identity->token_hash);
}

struct identity *token_table_find(const struct token_table *table, struct str token,
                                  uint64_t wall_ms)
{
    uint8_t hash[SHA256_BYTES];
    struct identity *identity;

    crypto_sha256(token, hash);
    identity = map_find(&table->by_hash, key_of(hash));
    if (!identity || !crypto_equal(identity->token_hash, hash, sizeof(hash)))
        return NULL;
    if (identity->expires_ms && wall_ms >= identity->expires_ms)
        return NULL;
    return identity;
}

void token_write(struct buf *out)
{
    uint8_t secret[32];

    crypto_random(secret, sizeof(secret));
    buf_put(out, S("moot_"));
    base64url_write(out, (struct str){ (const char *)secret, sizeof(secret) });
    crypto_wipe(secret, sizeof(secret));
}

struct identity *token_table_find_hash(const struct token_table *table,
                                       const uint8_t hash[static SHA256_BYTES])
{
    return map_find(&table->by_hash, key_of(hash));
}

struct identity *token_table_find_named(const struct token_table *table,
                                        struct str token_name)
{
    struct identity *identity;

    MAP_FOREACH(identity, &table->by_hash)
        if (str_eq(identity->token_name, token_name))
            return identity;
    return NULL;
}

struct identity *token_table_find_id(const struct token_table *table, struct str id)
{
    struct identity *identity;

    MAP_FOREACH(identity, &table->by_hash)
        if (str_eq(identity->id, id))
            return identity;
    return NULL;
}

struct identity *token_table_find_like(const struct token_table *table, struct str id,
                                       unsigned sources)
{
    struct identity *identity;

    MAP_FOREACH(identity, &table->by_hash)
        if (identity_is_from(identity, sources) && str_ieq(identity->id, id))
            return identity;
    return NULL;
}

static bool is_over(const struct identity *identity, uint64_t wall_ms)
{
    uint64_t ends_ms = identity->expires_ms ? identity->expires_ms : UINT64_MAX;

    return ends_ms <= wall_ms;
}

void token_table_drop_expired(struct token_table *table, unsigned sources,
                              uint64_t wall_ms)
{
    const struct identity **found = xcalloc(table->by_hash.count + 1, sizeof(*found));
    const struct identity *identity;
    size_t count = 0;

    MAP_FOREACH(identity, &table->by_hash)
        if (identity_is_from(identity, sources) && is_over(identity, wall_ms))
            found[count++] = identity;
    for (size_t i = 0; i < count; i++)
        (void)token_table_remove(table, found[i]->token_hash);
    free(found);
}

void token_table_drop_source(struct token_table *table, enum identity_source source)
{
    token_table_drop_expired(table, 1U << source, UINT64_MAX);
}
