/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity provider of the configuration (OpenID Connect): what it says of itself and
 * the keys it signs with. Both are fetched when somebody first needs them and kept for a
 * while; a key that is not known has them fetched anew, but not again and again. It lives
 * on the first worker, and takes nothing where none is configured.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "gateway/worker.h"
#include "identity/jwt.h"
#include "oauth/ask.h"
#include "oauth/document.h"

struct provider;

/* That of the worker's settings, which name one; on the first worker. NULL: libcurl is
 * missing, which the log tells. */
struct provider *provider_of(struct worker *worker);

/* Whoever waits is told ERR_UNAVAILABLE. */
void provider_free(struct provider *provider);

/* --- what it says of itself --- */

/* Somebody who waits for it: `document` is valid during the call; NULL: `why`, static. */
struct provider_wait {
    struct link link;
    void (*on_ready)(struct provider_wait *wait, const struct server_document *document,
                     const char *why);
};

/* on_ready may come inside. */
void provider_want(struct provider *provider, struct provider_wait *wait);

struct fetch_call *provider_ask(struct provider *provider,
                                const struct oauth_message *message,
                                const struct fetch_ops *ops, void *user);

/* Seals what a browser keeps for us; of this process alone. */
const uint8_t *provider_seal_key(const struct provider *provider);

/* Sign-ins that wait for a token of it; provider_door.c, which ends them. */
struct link *provider_sign_ins(struct provider *provider);
void provider_end_sign_ins(struct provider *provider);

/* --- its tokens --- */

/* A token of which is asked whether it is good. `claims` are valid during the call; NULL:
 * ERR_UNAUTHORIZED, or ERR_UNAVAILABLE where the keys cannot be had; `why` is static. */
struct provider_check {
    struct provider_wait wait;
    struct provider *provider;
    struct str token; /* borrowed, as the next one, until on_done */
    struct str nonce; /* "": a bearer token; else the ID token of a sign-in */
    bool has_waited;
    void (*on_done)(struct provider_check *check, const struct jwt_claims *claims,
                    enum err err, const char *why);
};

void provider_check(struct provider *provider, struct provider_check *check);

/* --- whom its claims stand for (provider_claims.c) --- */

/* Id, topics, profile and type; texts are in the arena, in the claims or the settings'.
 * ERR_FORBIDDEN: *ret_why, static. */
enum err provider_read_claims(const struct provider_settings *settings,
                              const struct json *claims, struct arena *arena,
                              struct identity *ret, const char **ret_why);
