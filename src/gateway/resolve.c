/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/provider.h"
#include "gateway/tokens.h"
#include "identity/jwt.h"

enum { JWTS_MAX = 20'000 }; /* known at a time */

static const char unknown[] = "The token is not known or has expired.";
static const char overfull[] = "The token cannot be taken now; try again later.";

struct resolving {
    struct gather gather;
    struct identity *identity;
    struct resolve_asker asker;
    const struct settings *settings; /* that it was verified by: compared, no more */
    uint64_t entered_at;             /* a bit for each worker that did not know it */

    /* Of the identity provider's: asked for by mail, and answered by mail. */
    struct loop_mail mail;
    struct worker *asked_at; /* NULL: all of it happens in one place */
    struct worker *keeper;
    struct provider_check check;
    char *token;
    uint8_t token_hash[SHA256_BYTES];
    enum err err;
    const char *why;
};

static bool takes_secret(const struct settings *settings)
{
    return settings->jwt.terms.secret.len > 0;
}

static bool takes_keys(const struct settings *settings)
{
    return settings->provider.said && settings->provider.said->audience.len > 0;
}

bool resolve_may_help(const struct worker *worker, struct str token)
{
    return (takes_secret(worker->settings) || takes_keys(worker->settings)) &&
           jwt_is_likely(token);
}

/* --- into every table --- */

static size_t count_issued(const struct worker *worker)
{
    struct identity *identity;
    size_t count = 0;

    MAP_FOREACH(identity, &worker->tokens.by_hash)
        count += identity_is_from(identity, SOURCES_ISSUERS);
    return count;
}

static bool has_same_rights(const struct identity *a, const struct identity *b)
{
    return a->type == b->type && a->is_admin == b->is_admin &&
           str_list_eq(a->topics, b->topics) &&
           str_list_eq(a->capabilities, b->capabilities);
}

/* What came of it at one worker. */
enum entering { NOT_ENTERED, WAS_THERE, IS_NEW };

/* NOT_ENTERED: there are too many. */
static enum entering enter(struct worker *worker, struct identity *identity)
{
    struct identity *known = token_table_find_hash(&worker->tokens, identity->token_hash);

    if (known && identity->source == FROM_JWT)
        return WAS_THERE;
    if (!known && count_issued(worker) >= JWTS_MAX)
        return NOT_ENTERED;
    if (known && !has_same_rights(known, identity)) {
        (void)identity_ref(known);
        (void)worker_end_token(worker, known);
        identity_unref(known);
    }
    worker_add_token(worker, identity);
    return known ? WAS_THERE : IS_NEW;
}

static void visit(struct gather *gather, struct gather_part *part)
{
    const struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);
    struct worker *worker = part->worker;

    if (worker->settings != r->settings)
        return; /* the secret may be another by now */
    token_table_drop_expired(&worker->tokens, SOURCES_ISSUERS,
                             loop_wall_ms(worker->loop));
    part->count = enter(worker, r->identity);
}

/* What was there before stays, and all that others have come by: nobody was told yet. */
static void visit_undo(struct gather *gather, struct gather_part *part)
{
    const struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);

    if (r->entered_at >> part->worker->index & 1)
        worker_drop_token(part->worker, r->identity);
}

/* Is it in all tables? Notes which of them did not have it. */
static bool is_everywhere(struct resolving *r)
{
    const struct gather *gather = &r->gather;
    bool is_missing = false;

    for (size_t i = 0; i < gather->part_count; i++) {
        const struct gather_part *part = &gather->parts[i];

        is_missing |= part->count == NOT_ENTERED;
        if (part->count == IS_NEW)
            r->entered_at |= 1ULL << part->worker->index;
    }
    return !is_missing;
}

static void resolving_free(struct resolving *r)
{
    gather_done(&r->gather);
    identity_unref(r->identity);
    if (r->token)
        crypto_wipe(r->token, strlen(r->token));
    free(r->token);
    free(r);
}

/* Every table has it, this one too, unless it has ended meanwhile. */
static void on_answer(struct loop_mail *mail)
{
    struct resolving *r = CONTAINER_OF(mail, struct resolving, mail);
    struct identity *known =
        r->err ? NULL : token_table_find_hash(&r->asked_at->tokens, r->token_hash);

    if (known)
        r->asker.on_done(r->asker.user, identity_ref(known), OK, NULL);
    else
        r->asker.on_done(r->asker.user, NULL, r->err ? r->err : ERR_UNAUTHORIZED,
                         r->err ? r->why : unknown);
    resolving_free(r);
}

static void finish(struct resolving *r, struct identity *identity, enum err err,
                   const char *why)
{
    if (r->asked_at) {
        r->err = err;
        r->why = why;
        r->mail.deliver = on_answer;
        loop_post(r->asked_at->loop, &r->mail);
        return;
    }
    r->asker.on_done(r->asker.user, identity ? identity_ref(identity) : NULL, err, why);
    resolving_free(r);
}

static void on_undone(struct gather *gather)
{
    finish(CONTAINER_OF(gather, struct resolving, gather), NULL, ERR_UNAVAILABLE,
           overfull);
}

/* It is known everywhere or nowhere; and here still, or it has ended meanwhile. */
static void on_known(struct gather *gather)
{
    struct resolving *r = CONTAINER_OF(gather, struct resolving, gather);
    struct worker *origin = gather->origin;
    struct identity *known =
        token_table_find_hash(&origin->tokens, r->identity->token_hash);

    if (is_everywhere(r)) {
        finish(r, known, known ? OK : ERR_UNAUTHORIZED, known ? NULL : unknown);
        return;
    }
    gather_done(&r->gather);
    r->gather = (struct gather){ .visit = visit_undo, .done = on_undone };
    gather_start(&r->gather, origin);
}

static void spread(struct resolving *r, struct worker *worker, struct identity *identity)
{
    r->identity = identity;
    r->settings = worker->settings;
    r->gather = (struct gather){ .visit = visit, .done = on_known };
    gather_start(&r->gather, worker);
}

void resolve_signed_in(struct worker *worker, struct identity *identity,
                       const struct resolve_asker *asker)
{
    struct resolving *r = xcalloc(1, sizeof(*r));

    r->asker = *asker;
    spread(r, worker, identity);
}

/* --- signed with a secret --- */

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

static void resolve_by_secret(struct worker *worker, struct str token,
                              const struct resolve_asker *asker)
{
    CLEANUP(arena_done) struct arena arena;
    struct identity *identity;
    struct resolving *r;
    const char *why = unknown;

    arena_init(&arena, JWT_ARENA);
    identity = identity_of(worker, token, &arena, &why);
    if (!identity) {
        asker->on_done(asker->user, NULL, ERR_UNAUTHORIZED, why);
        return;
    }
    r = xcalloc(1, sizeof(*r));
    r->asker = *asker;
    spread(r, worker, identity);
}

/* --- signed with a key of the identity provider --- */

static void on_checked(struct provider_check *check, const struct jwt_claims *claims,
                       enum err err, const char *why)
{
    struct resolving *r = CONTAINER_OF(check, struct resolving, check);
    CLEANUP(arena_done) struct arena arena;
    struct worker *keeper = r->keeper;
    struct identity template;

    arena_init(&arena, JWT_ARENA);
    if (!err && provider_read_claims(&keeper->settings->provider, claims->all, &arena,
                                     &template, &why))
        err = ERR_UNAUTHORIZED;
    if (err) {
        finish(r, NULL, err, why);
        return;
    }
    template.token_name = token_make_name(S("jwt"), &arena);
    template.source = FROM_JWT;
    template.created_ms = loop_wall_ms(keeper->loop);
    template.expires_ms = claims->expires_ms + JWT_LEEWAY_MS;
    memcpy(template.token_hash, r->token_hash, SHA256_BYTES);
    spread(r, keeper, identity_new(&template));
}

static void on_question(struct loop_mail *mail)
{
    struct resolving *r = CONTAINER_OF(mail, struct resolving, mail);
    struct provider *provider = NULL;

    if (takes_keys(r->keeper->settings))
        provider = provider_of(r->keeper);
    if (!provider) {
        finish(r, NULL, ERR_UNAVAILABLE, overfull);
        return;
    }
    r->check =
        (struct provider_check){ .token = str_of(r->token), .on_done = on_checked };
    provider_check(provider, &r->check);
}

static void resolve_by_keys(struct worker *worker, struct str token,
                            const struct resolve_asker *asker)
{
    struct resolving *r = xcalloc(1, sizeof(*r));

    r->asker = *asker;
    r->asked_at = worker;
    r->keeper = gateway_worker(worker->gateway, 0);
    r->token = str_dup(token);
    crypto_sha256(token, r->token_hash);
    r->mail.deliver = on_question;
    loop_post(r->keeper->loop, &r->mail);
}

/* --- any --- */

/* What the token says of its algorithm chooses whom to ask, and nothing more: neither
 * takes what the other signs. */
static void resolve_jwt(struct worker *worker, struct str token,
                        const struct resolve_asker *asker)
{
    if (!takes_keys(worker->settings) ||
        (takes_secret(worker->settings) && jwt_names_secret(token)))
        resolve_by_secret(worker, token, asker);
    else
        resolve_by_keys(worker, token, asker);
}

void resolve_start(struct worker *worker, struct str token,
                   const struct resolve_asker *asker)
{
    struct identity *identity =
        token_table_find(&worker->tokens, token, loop_wall_ms(worker->loop));

    if (identity)
        asker->on_done(asker->user, identity_ref(identity), OK, NULL);
    else if (resolve_may_help(worker, token))
        resolve_jwt(worker, token, asker);
    else
        asker->on_done(asker->user, NULL, ERR_UNAUTHORIZED, unknown);
}

static struct identity *find_issued(const struct worker *worker)
{
    struct identity *identity;

    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (identity_is_from(identity, SOURCES_ISSUERS))
            return identity_ref(identity);
    return NULL;
}

void resolve_end_jwts(struct worker *worker)
{
    struct identity *identity;

    while ((identity = find_issued(worker))) {
        (void)worker_end_token(worker, identity);
        identity_unref(identity);
    }
}
