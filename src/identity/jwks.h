/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public keys with which an issuer signs (JWK Set, RFC 7517 5). Keys that are not for
 * signatures, of another kind, too weak or broken are passed over, as the standard says;
 * shared secrets (`oct`) are such: what everybody can fetch is no secret.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum {
    JWKS_MAX_BYTES = 256 << 10,
    JWKS_MAX_KEYS = 64, /* those after them are passed over */
};

struct jwks;

/* ERR_INVALID: no set of keys, or none that is of use; *ret_why is static. */
enum err jwks_parse(struct str text, struct jwks **ret, const char **ret_why);
void jwks_free(struct jwks *set);
size_t jwks_count(const struct jwks *set);

/* What a token says of its signature; `kid` "": any key that fits. */
struct jwks_signature {
    struct str algorithm, kid;
    struct str text, signature;
};

/* ERR_NOT_FOUND: there is no such key, or none that fits the algorithm, or none that was
 * named and none fits the signature: others may have come since. ERR_UNAUTHORIZED: the
 * signature does not fit the key that it names. */
enum err jwks_verify(const struct jwks *set, const struct jwks_signature *signature);
