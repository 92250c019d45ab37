/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: list, create, revoke. A new token is on disk before it works; a revoked one is
 * off the disk before it stops working, and then its connections end at once.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/tokens.h"
#include "gateway/ws_door.h"

void tokens_list(struct exchange *x)
{
    const struct identity *identity;
    struct json_writer w;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("tokens"));
    json_array_open(&w);
    MAP_FOREACH(identity, &x->worker->tokens.by_hash)
        if (identity->source != FROM_SERVER) /* no token stands for it */
            token_write_json(identity, &w);
    json_array_close(&w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* A change on its way: to the store's thread, then to every worker, then the answer. */
struct change {
    struct store_job job;
    struct gather gather;
    struct exchange *x;
    struct identity *identity;
    struct buf secret;
    enum err err;
    bool was_found;
};

static void change_free(struct change *change)
{
    if (change->gather.parts)
        gather_done(&change->gather);
    crypto_wipe(change->secret.ptr, change->secret.len);
    buf_done(&change->secret);
    identity_unref(change->identity);
    free(change);
}

static void change_start(struct exchange *x, struct change *change)
{
    change->x = x;
    change->job.loop = x->worker->loop;
    exchange_suspend(x);
    store_submit(gateway_store(x->worker->gateway), &change->job);
}

static void fail_change(struct change *change)
{
    if (exchange_resume(change->x)) {
        if (change->err == ERR_CONFLICT)
            exchange_fail(change->x, change->err, "There is a token of that name.");
        else
            exchange_fail(change->x, ERR_UNAVAILABLE, "The store cannot be written.");
    }
    change_free(change);
}

/* --- creating --- */

static void create_in_store(struct store_job *job, struct store *store)
{
    struct change *change = CONTAINER_OF(job, struct change, job);
    struct store_token record;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    token_to_record(change->identity, &arena, &record);
    change->err = store_token_add(store, &record);
    arena_done(&arena);
}

static void visit_create(struct gather *gather, struct gather_part *part)
{
    const struct change *change = CONTAINER_OF(gather, struct change, gather);

    worker_add_token(part->worker, change->identity);
}

static void answer_create(struct gather *gather)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);
    struct json_writer w;
    struct buf out;

    if (exchange_resume(change->x)) {
        log_info("token.create", "name=%s id=%s by=%s",
                 LOG_TEXT(change->identity->token_name), LOG_TEXT(change->identity->id),
                 LOG_TEXT(change->x->identity->id));
        buf_init(&out, 1 << 20);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, S("token"), buf_str(&change->secret));
        json_key(&w, S("about"));
        token_write_json(change->identity, &w);
        json_object_close(&w);
        exchange_json(change->x, 201, &out);
        buf_done(&out);
    }
    change_free(change);
}

static void created_in_store(struct store_job *job)
{
    struct change *change = CONTAINER_OF(job, struct change, job);

    if (change->err) {
        fail_change(change);
        return;
    }
    change->gather.visit = visit_create;
    change->gather.done = answer_create;
    gather_start(&change->gather, change->x->worker);
}

void tokens_create(struct exchange *x)
{
    struct change *change;
    struct identity identity;
    const struct identity *guest;
    const char *why = "";
    enum err err =
        token_read_request(x->body, x->worker->settings, &x->arena, &identity, &why);

    if (err) {
        exchange_fail(x, err, "%s", why);
        return;
    }
    if (token_table_find_named(&x->worker->tokens, identity.token_name)) {
        exchange_fail(x, ERR_CONFLICT, "There is a token of that name.");
        return;
    }
    token_table_drop_expired(&x->worker->tokens, SOURCES_GUESTS,
                             loop_wall_ms(x->worker->loop));
    guest = token_table_find_like(&x->worker->tokens, identity.id, SOURCES_GUESTS);
    if (guest) {
        exchange_fail(x, ERR_CONFLICT,
                      "Somebody was invited under that id; revoke `" STR_FMT "` first.",
                      STR_ARG(guest->token_name));
        return;
    }
    change = xcalloc(1, sizeof(*change));
    buf_init(&change->secret, 256);
    token_draw(&identity, &change->secret);
    change->identity = identity_new(&identity);
    change->job.work = create_in_store;
    change->job.done = created_in_store;
    change_start(x, change);
}

/* --- revoking --- */

static void revoke_in_store(struct store_job *job, struct store *store)
{
    struct change *change = CONTAINER_OF(job, struct change, job);

    change->err =
        store_token_remove(store, change->identity->token_name, &change->was_found);
}

static void visit_revoke(struct gather *gather, struct gather_part *part)
{
    const struct change *change = CONTAINER_OF(gather, struct change, gather);

    part->count = worker_end_token(part->worker, change->identity);
}

static void reply_revoked(const struct change *change)
{
    size_t closed = gather_total(&change->gather);
    struct json_writer w;
    struct buf out;

    log_info("token.revoke", "name=%s id=%s by=%s connections=%zu",
             LOG_TEXT(change->identity->token_name), LOG_TEXT(change->identity->id),
             LOG_TEXT(change->x->identity->id), closed);
    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("revoked"), change->identity->token_name);
    json_put_uint(&w, S("connections_closed"), closed);
    json_object_close(&w);
    exchange_json(change->x, 200, &out);
    buf_done(&out);
}

static void answer_revoke(struct gather *gather)
{
    struct change *change = CONTAINER_OF(gather, struct change, gather);

    if (gather->err) {
        change->err = gather->err;
        fail_change(change);
        return;
    }
    if (exchange_resume(change->x))
        reply_revoked(change);
    change_free(change);
}

static void revoked_in_store(struct store_job *job)
{
    struct change *change = CONTAINER_OF(job, struct change, job);

    if (change->err) {
        fail_change(change);
        return;
    }
    change->gather.visit = visit_revoke;
    change->gather.done = answer_revoke;
    change->gather.is_lasting = true; /* the rights that go with it */
    gather_start(&change->gather, change->x->worker);
}

void tokens_revoke(struct exchange *x)
{
    struct identity *identity = token_table_find_named(&x->worker->tokens, x->params[0]);
    struct change *change;

    if (!identity || identity->source == FROM_SERVER) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no token of that name.");
        return;
    }
    if (identity->source == FROM_CONFIG) {
        exchange_fail(
            x, ERR_CONFLICT,
            "That token stands in the configuration; remove it there and reload.");
        return;
    }
    if (identity->source == FROM_JWT) {
        exchange_fail(x, ERR_CONFLICT,
                      "That is a JWT of another issuer; it ends when it expires, or when "
                      "the settings of its issuer are changed.");
        return;
    }
    change = xcalloc(1, sizeof(*change));
    change->identity = identity_ref(identity);
    change->job.work = revoke_in_store;
    change->job.done = revoked_in_store;
    change_start(x, change);
}
