/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens (RFC 7519) in their compact form. Which algorithms count is what the
 * terms say and not the token: with a shared secret HS256 (RFC 7518 3.2) and no other,
 * with the keys of an issuer those that fit the keys, and never a shared secret's. The
 * signature is verified before anything of the claims is read.
 *
 * Pure: the secret, the keys and the time are arguments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "identity/jwks.h"
#include "json/json.h"

enum {
    JWT_MAX_BYTES = 8 << 10,
    JWT_ARENA = 1 << 20, /* enough to read any */
    JWT_MIN_SECRET = 32, /* bytes (RFC 7518 3.2: as long as the hash) */
    JWT_LEEWAY_MS = 30 * 1000,
};

/* What a token must say to be ours. */
struct jwt_terms {
    struct str secret;       /* at least JWT_MIN_SECRET bytes */
    struct str audience;     /* one of `aud` */
    struct str issuer;       /* `iss`; "": any, or none */
    const struct jwks *keys; /* instead of a secret; with them there must be an issuer */
    struct str nonce;        /* of an ID token (OpenID Connect Core 3.1.3.7), which then
                              * must be made out to the audience (azp); "": any */
};

struct jwt_claims {
    struct str subject;  /* `sub`: not empty; in the arena */
    uint64_t expires_ms; /* `exp`, wall clock, without the leeway */
    const struct json *all;
};

/* Does the text look like one: three parts of base64url? Nothing is verified. */
bool jwt_is_likely(struct str text);

/* Does it say that it is signed with a shared secret? Nothing is verified. */
bool jwt_names_secret(struct str text);

/* ERR_UNAUTHORIZED with a static text for people in *ret_why, which says nothing that the
 * holder of the token does not know: another algorithm, a signature that does not fit, no
 * or another `aud` or `iss`, no `exp` or one that has passed, `nbf` or `iat` that has not
 * come, no `sub`, another nonce, critical extensions (`crit`). ERR_NOT_FOUND: its key is
 * not among the keys. With a secret `kid` is not looked at. */
enum err jwt_verify(struct str text, const struct jwt_terms *terms, uint64_t wall_ms,
                    struct arena *arena, struct jwt_claims *ret, const char **ret_why);
