/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/resolve.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/tokens.h"
#include "identity/jwt.h"

enum { JWTS_MAX = 20'000 }; /* known at a time */

static const char unknown[] = "The token is not known or has expired.";

struct resolving {
    struct gather gather;
    struct identity *identity;
    struct resolve_asker asker;
    const struct settings *settings; /* that it was verified by: compared, no more */
};

bool resolve_may_help(const struct worker *worker, struct str token)
{
    return worker->settings->jwt.terms.secret.len > 0 && jwt_is_likely(token);
}

static size_t count_jwts(const struct worker *worker)
{
    struct identity *identity;
    size_t count = 0;

    MAP_FOREACH(identity, &worker->tokens.by_hash)
        count += identity->source == FROM_JWT;
    return count;
}

static void visit(struct gather *gather, struct gather_part *part)
{
    const struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);
    struct worker *worker = part->worker;

    if (worker->settings != r->settings)
        return; /* the secret may be another by now */
    token_table_drop_expired(&worker->tokens, 1U << FROM_JWT, loop_wall_ms(worker->loop));
    if (!token_table_find_hash(&worker->tokens, r->identity->token_hash)) {
        if (count_jwts(worker) >= JWTS_MAX)
            return;
        worker_add_token(worker, r->identity);
    }
    part->count = 1;
}

static void visit_undo(struct gather *gather, struct gather_part *part)
{
    const struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);

    (void)worker_end_token(part->worker, r->identity);
}

static void finish(struct resolving *r, struct identity *identity, const char *why)
{
    gather_done(&r->gather);
    r->asker.on_done(r->asker.user, identity ? identity_ref(identity) : NULL, why);
    identity_unref(r->identity);
    free(r);
}

static void on_undone(struct gather *gather)
{
    finish(CONTAINER_OF(gather, struct resolving, gather), NULL,
           "The token cannot be taken now; try again later.");
}

/* It is known everywhere or nowhere; and here still, or it has ended meanwhile. */
static void on_known(struct gather *gather)
{
    struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);
    struct worker *origin = gather->origin;
    struct identity *known =
        token_table_find_hash(&origin->tokens, r->identity->token_hash);

    if (gather_total(gather) == gather->part_count) {
        finish(r, known, known ? NULL : unknown);
        return;
    }
    gather_done(&r->gather);
    r->gather = (struct gather){ .visit = visit_undo, .done = on_undone };
    gather_start(&r->gather, origin);
}

/* Who the claims say it is; NULL with why it is nobody. */
static struct identity *identity_of(struct worker *worker, struct str token,
                                    struct arena *arena, const char **ret_why)
{
    const struct jwt_settings *jwt = &worker->settings->jwt;
    uint64_t wall_ms = loop_wall_ms(worker->loop);
    struct jwt_claims claims;
    struct identity template;

    if (jwt_verify(token, &jwt->terms, wall_ms, arena, &claims, ret_why))
        return NULL;
    template = (struct identity){ .id = claims.subject,
                                  .token_name = token_make_name(S("jwt"), arena),
                                  .topics = jwt->topics,
                                  .capabilities = jwt->profile.capabilities,
                                  .profile = jwt->profile.name,
                                  .type = jwt->profile.type,
                                  .source = FROM_JWT,
                                  .created_ms = wall_ms,
                                  .expires_ms = claims.expires_ms + JWT_LEEWAY_MS };
    crypto_sha256(token, template.token_hash);
    if (identity_check(&template, ret_why) == OK)
        return identity_new(&template);
    *ret_why = "The subject of the JWT (sub) cannot be a participant id.";
    return NULL;
}

static void resolve_jwt(struct worker *worker, struct str token,
                        const struct resolve_asker *asker)
{
    CLEANUP(arena_done) struct arena arena;
    struct identity *identity;
    struct resolving *r;
    const char *why = unknown;

    arena_init(&arena, JWT_ARENA);
    identity = identity_of(worker, token, &arena, &why);
    if (!identity) {
        asker->on_done(asker->user, NULL, why);
        return;
    }
    r = xcalloc(1, sizeof(*r));
    r->identity = identity;
    r->asker = *asker;
    r->settings = worker->settings;
    r->gather = (struct gather){ .visit = visit, .done = on_known };
    gather_start(&r->gather, worker);
}

void resolve_start(struct worker *worker, struct str token,
                   const struct resolve_asker *asker)
{
    struct identity *identity =
        token_table_find(&worker->tokens, token, loop_wall_ms(worker->loop));

    if (identity)
        asker->on_done(asker->user, identity_ref(identity), NULL);
    else if (resolve_may_help(worker, token))
        resolve_jwt(worker, token, asker);
    else
        asker->on_done(asker->user, NULL, unknown);
}

static struct identity *find_jwt(const struct worker *worker)
{
    struct identity *identity;

    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (identity->source == FROM_JWT)
            return identity_ref(identity);
    return NULL;
}

void resolve_end_jwts(struct worker *worker)
{
    struct identity *identity;

    while ((identity = find_jwt(worker))) {
        (void)worker_end_token(worker, identity);
        identity_unref(identity);
    }
}
