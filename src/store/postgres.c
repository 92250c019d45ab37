/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on PostgreSQL: tokens, items, origin, checkpoints. Changes are queued and
 * answered together at the commit; what may be refused is asked at once, and in a form
 * that does not fail, because a failed command ends its transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/postgres_priv.h"
#include "store/store_priv.h"

enum { WORDS_MAX = 64 << 20 };

enum statement { BEGIN, COMMIT, ITEM_PUT, ITEM_REMOVE, ORIGIN_SET, CHECKPOINT };

/* clang-format off */
static const struct postgres_statement statements[] = {
    [BEGIN]       = { "begin",       "BEGIN" },
    [COMMIT]      = { "commit",      "COMMIT" },
    [ITEM_PUT]    = { "item_put",    "INSERT INTO moot.item (section, topic, key, value) VALUES ($1, $2, $3, $4)"
                                     " ON CONFLICT (section, name) DO UPDATE SET value = excluded.value" },
    [ITEM_REMOVE] = { "item_remove", "DELETE FROM moot.item WHERE section = $1 AND name = sha256(sha256($2) || $3)" },
    [ORIGIN_SET]  = { "origin_set",  "INSERT INTO moot.origin (installation, public_key) VALUES ($1, $2)"
                                     " ON CONFLICT (one) DO UPDATE SET installation = excluded.installation,"
                                     " public_key = excluded.public_key" },
    [CHECKPOINT]  = { "checkpoint",  "INSERT INTO moot.checkpoint (seq, at_ms, hash, signature)"
                                     " VALUES ($1, $2, $3, $4) ON CONFLICT (seq) DO UPDATE"
                                     " SET at_ms = excluded.at_ms, hash = excluded.hash, signature = excluded.signature" },
};
/* clang-format on */

static enum err queue(struct postgres *pg, enum statement which,
                      const struct postgres_args *args)
{
    return postgres_queue(pg, statements[which].name, args);
}

static struct str bytes_of(const uint8_t *bytes, size_t len)
{
    return (struct str){ (const char *)bytes, len };
}

/* --- opening --- */

static void postgres_close(struct engine *engine)
{
    struct postgres *pg = postgres_of(engine);

    if (!engine)
        return;
    postgres_disconnect(pg);
    buf_done(&pg->copy);
    buf_done(&pg->words);
    buf_done(&pg->lexemes);
    free(pg);
}

static enum err connect_all(struct postgres *pg, const struct store_setup *setup,
                            enum engine_role role, const char *file)
{
    enum err err;

    if (file)
        return postgres_fail(pg, ERR_IO, "a file is no database of PostgreSQL");
    err = postgres_connect(pg, setup->url, role);
    if (!err)
        err = postgres_schema_open(pg, role);
    if (err || role == ENGINE_READER)
        return err;
    return postgres_prepare(pg, statements, COUNT(statements));
}

static enum err postgres_open(const struct store_setup *setup, enum engine_role role,
                              const char *file, struct engine **ret, char **ret_why)
{
    struct postgres *pg = xcalloc(1, sizeof(*pg));
    enum err err;

    pg->engine.ops = &postgres_engine;
    buf_init(&pg->copy, SIZE_MAX / 2);
    buf_init(&pg->words, WORDS_MAX);
    buf_init(&pg->lexemes, WORDS_MAX);
    err = connect_all(pg, setup, role, file);
    if (!err) {
        *ret = &pg->engine;
        return OK;
    }
    (void)store_fail(err, ret_why, "PostgreSQL: %s", pg->engine.problem);
    postgres_close(&pg->engine);
    return err;
}

/* --- transactions --- */

static enum err postgres_begin(struct engine *engine)
{
    return queue(postgres_of(engine), BEGIN, NULL);
}

/* The commit of a transaction that has failed says ROLLBACK and calls it a success. */
static enum err postgres_commit(struct engine *engine)
{
    struct postgres *pg = postgres_of(engine);
    char tag[POSTGRES_TAG] = "";
    enum err err = queue(pg, COMMIT, NULL);

    if (!err)
        err = postgres_settle(pg, tag);
    if (!err && strcmp(tag, "COMMIT") != 0)
        err = postgres_fail(pg, ERR_IO, "the transaction had failed before");
    return err;
}

static void postgres_rollback(struct engine *engine)
{
    struct postgres *pg = postgres_of(engine);

    (void)postgres_settle(pg, NULL);
    (void)postgres_run(pg, "ROLLBACK");
}

/* --- tokens --- */

struct token_walk {
    void (*on_token)(void *user, const struct store_token *token);
    void *user;
};

static bool on_token_row(void *user, struct postgres *pg, const PGresult *row)
{
    const struct token_walk *walk = user;
    struct store_token token = {
        .name = postgres_bytes(pg, row, 0, 0),
        .id = postgres_bytes(pg, row, 0, 1),
        .topics = postgres_bytes(pg, row, 0, 2),
        .capabilities = postgres_bytes(pg, row, 0, 3),
        .profile = postgres_bytes(pg, row, 0, 4),
        .type = postgres_bytes(pg, row, 0, 5),
        .is_admin = postgres_bool(pg, row, 0, 6),
        .created_ms = postgres_number(pg, row, 0, 7),
        .expires_ms = postgres_number(pg, row, 0, 8),
    };

    if (postgres_fixed(pg, row, 9, sizeof(token.hash), token.hash))
        walk->on_token(walk->user, &token);
    return true;
}

static enum err
postgres_token_each(struct engine *engine,
                    void (*on_token)(void *user, const struct store_token *), void *user)
{
    struct token_walk walk = { on_token, user };

    return postgres_each(postgres_of(engine),
                         "SELECT name, id, topics, capabilities, profile, type, is_admin,"
                         " created_ms, expires_ms, hash FROM moot.token"
                         " ORDER BY created_ms, name",
                         NULL, on_token_row, &walk);
}

/* How many rows the command has changed. */
static enum err ask_count(struct postgres *pg, const char *sql,
                          const struct postgres_args *args, uint64_t *ret)
{
    PGresult *r = NULL;
    enum err err = postgres_ask(pg, sql, args, &r);

    if (!err && str_to_u64(str_of(pg->pq.PQcmdTuples(r)), UINT64_MAX, ret))
        err = postgres_fail(pg, ERR_IO, "the server does not tell what it changed");
    postgres_clear(pg, r);
    return err;
}

static enum err postgres_token_add(struct engine *engine, const struct store_token *token)
{
    struct postgres_args args = {};
    uint64_t added = 0;
    enum err err;

    if (token->name.len == 0 || token->created_ms > INT64_MAX ||
        token->expires_ms > INT64_MAX)
        return ERR_INVALID;
    postgres_arg_bytes(&args, token->name);
    postgres_arg_bytes(&args, token->id);
    postgres_arg_bytes(&args, token->topics);
    postgres_arg_bytes(&args, token->capabilities);
    postgres_arg_bytes(&args, token->profile);
    postgres_arg_bytes(&args, token->type);
    postgres_arg_bool(&args, token->is_admin);
    postgres_arg_number(&args, token->created_ms);
    postgres_arg_number(&args, token->expires_ms);
    postgres_arg_bytes(&args, bytes_of(token->hash, sizeof(token->hash)));
    err = ask_count(postgres_of(engine),
                    "INSERT INTO moot.token (name, id, topics, capabilities, profile,"
                    " type, is_admin, created_ms, expires_ms, hash)"
                    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
                    " ON CONFLICT DO NOTHING",
                    &args, &added);
    if (err)
        return err;
    return added ? OK : ERR_CONFLICT;
}

static enum err postgres_token_remove(struct engine *engine, struct str name,
                                      bool *ret_found)
{
    struct postgres_args args = {};
    uint64_t removed = 0;
    enum err err;

    postgres_arg_bytes(&args, name);
    err = ask_count(postgres_of(engine),
                    "DELETE FROM moot.token WHERE sha256(name) = sha256($1)", &args,
                    &removed);
    if (err)
        return err;
    *ret_found = removed > 0;
    return OK;
}

/* --- items --- */

struct item_walk {
    enum store_section section;
    void (*on_item)(void *user, const struct store_item *item);
    void *user;
};

static bool on_item_row(void *user, struct postgres *pg, const PGresult *row)
{
    const struct item_walk *walk = user;

    walk->on_item(walk->user, &(struct store_item){
                                  .section = walk->section,
                                  .topic = postgres_bytes(pg, row, 0, 0),
                                  .key = postgres_bytes(pg, row, 0, 1),
                                  .value = postgres_bytes(pg, row, 0, 2),
                              });
    return true;
}

static enum err postgres_item_each(struct engine *engine, enum store_section section,
                                   void (*on_item)(void *user, const struct store_item *),
                                   void *user)
{
    struct item_walk walk = { section, on_item, user };
    struct postgres_args args = {};

    postgres_arg_bytes(&args, store_section_name(section));
    return postgres_each(postgres_of(engine),
                         "SELECT topic, key, value FROM moot.item WHERE section = $1"
                         " ORDER BY topic, key",
                         &args, on_item_row, &walk);
}

static void add_item_name(struct postgres_args *args, const struct store_item *item)
{
    postgres_arg_bytes(args, store_section_name(item->section));
    postgres_arg_bytes(args, item->topic);
    postgres_arg_bytes(args, item->key);
}

static enum err postgres_item_put(struct engine *engine, const struct store_item *item)
{
    struct postgres_args args = {};

    add_item_name(&args, item);
    postgres_arg_bytes(&args, item->value);
    return queue(postgres_of(engine), ITEM_PUT, &args);
}

static enum err postgres_item_remove(struct engine *engine, const struct store_item *item)
{
    struct postgres_args args = {};

    add_item_name(&args, item);
    return queue(postgres_of(engine), ITEM_REMOVE, &args);
}

/* --- the record's frame --- */

static enum err postgres_origin(struct engine *engine, struct audit_origin *ret,
                                char installation[static AUDIT_INSTALLATION])
{
    struct postgres *pg = postgres_of(engine);
    struct audit_origin origin = {};
    PGresult *r = NULL;
    enum err err =
        postgres_ask(pg, "SELECT installation, public_key FROM moot.origin", NULL, &r);

    if (err)
        return err;
    if (pg->pq.PQntuples(r) == 0)
        err = ERR_NOT_FOUND;
    else if (pg->pq.PQgetlength(r, 0, 0) != AUDIT_INSTALLATION ||
             !postgres_fixed(pg, r, 1, sizeof(origin.public_key), origin.public_key))
        err = postgres_fail(pg, ERR_IO, "the name of the installation is damaged");
    if (!err) {
        memcpy(installation, pg->pq.PQgetvalue(r, 0, 0), AUDIT_INSTALLATION);
        origin.installation = (struct str){ installation, AUDIT_INSTALLATION };
        *ret = origin;
    }
    postgres_clear(pg, r);
    return err;
}

static enum err postgres_origin_set(struct engine *engine,
                                    const struct audit_origin *origin)
{
    struct postgres_args args = {};

    postgres_arg_bytes(&args, origin->installation);
    postgres_arg_bytes(&args, bytes_of(origin->public_key, sizeof(origin->public_key)));
    return queue(postgres_of(engine), ORIGIN_SET, &args);
}

static enum err postgres_checkpoint(struct engine *engine,
                                    const struct audit_checkpoint *checkpoint)
{
    const struct audit_head *head = &checkpoint->head;
    struct postgres_args args = {};

    postgres_arg_number(&args, head->seq);
    postgres_arg_number(&args, head->at_ms);
    postgres_arg_bytes(&args, bytes_of(head->hash, sizeof(head->hash)));
    postgres_arg_bytes(&args,
                       bytes_of(checkpoint->signature, sizeof(checkpoint->signature)));
    return queue(postgres_of(engine), CHECKPOINT, &args);
}

static enum err postgres_head(struct engine *engine, struct audit_head *ret,
                              uint64_t *ret_checkpoint_seq)
{
    struct postgres *pg = postgres_of(engine);
    struct audit_head head = {};
    PGresult *r = NULL;
    enum err err = postgres_ask(
        pg,
        "SELECT (SELECT coalesce(max(seq), 0) FROM moot.checkpoint), seq, at_ms, hash"
        " FROM moot.record ORDER BY seq DESC LIMIT 1",
        NULL, &r);

    if (err)
        return err;
    if (pg->pq.PQntuples(r) > 0) {
        *ret_checkpoint_seq = postgres_number(pg, r, 0, 0);
        head.seq = postgres_number(pg, r, 0, 1);
        head.at_ms = postgres_number(pg, r, 0, 2);
        (void)postgres_fixed(pg, r, 3, sizeof(head.hash), head.hash);
    } else {
        *ret_checkpoint_seq = 0;
    }
    postgres_clear(pg, r);
    *ret = head;
    return OK;
}

struct checkpoint_walk {
    bool (*on_checkpoint)(void *user, const struct audit_checkpoint *checkpoint);
    void *user;
    uint64_t last;
    bool goes_on;
    size_t rows;
};

static bool on_checkpoint_row(void *user, struct postgres *pg, const PGresult *row)
{
    struct checkpoint_walk *walk = user;
    struct audit_checkpoint checkpoint = {
        .head = { .seq = postgres_number(pg, row, 0, 0),
                  .at_ms = postgres_number(pg, row, 0, 1) },
    };

    walk->rows++;
    walk->last = checkpoint.head.seq;
    (void)postgres_fixed(pg, row, 2, SHA256_BYTES, checkpoint.head.hash);
    (void)postgres_fixed(pg, row, 3, ED25519_SIGNATURE, checkpoint.signature);
    walk->goes_on = walk->on_checkpoint(walk->user, &checkpoint);
    return walk->goes_on;
}

static enum err
postgres_checkpoints(struct engine *engine, uint64_t after_seq,
                     bool (*on_checkpoint)(void *user, const struct audit_checkpoint *),
                     void *user)
{
    struct checkpoint_walk walk = { on_checkpoint, user, after_seq, true, 1 };
    enum err err = OK;

    while (!err && walk.goes_on && walk.rows) {
        struct postgres_args args = {};

        walk.rows = 0;
        postgres_arg_number(&args, walk.last);
        err = postgres_each(postgres_of(engine),
                            "SELECT seq, at_ms, hash, signature FROM moot.checkpoint"
                            " WHERE seq > $1 ORDER BY seq LIMIT 1000",
                            &args, on_checkpoint_row, &walk);
    }
    return err;
}

const struct engine_ops postgres_engine = {
    .open = postgres_open,
    .close = postgres_close,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .token_each = postgres_token_each,
    .token_add = postgres_token_add,
    .token_remove = postgres_token_remove,
    .item_each = postgres_item_each,
    .item_put = postgres_item_put,
    .item_remove = postgres_item_remove,
    .origin = postgres_origin,
    .origin_set = postgres_origin_set,
    .append = postgres_append,
    .checkpoint = postgres_checkpoint,
    .head = postgres_head,
    .strip = postgres_strip,
    .read = postgres_read,
    .checkpoints = postgres_checkpoints,
};
