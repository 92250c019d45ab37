/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of others, by the algorithms of JSON Web Signatures (RFC 7518 3.1, RFC 8037
 * 3.1). A key knows what it is good for: an algorithm of another kind of key never
 * verifies. libcrypto's tables for these take memory, from the first key on.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum key_kind { KEY_RSA, KEY_P256, KEY_P384, KEY_P521, KEY_ED25519 };

/* The public numbers of a key, as bytes with the highest first. */
struct key_numbers {
    enum key_kind kind;
    struct str n, e; /* RSA: 2048 to 8192 bits; the exponent up to 64 */
    struct str x, y; /* of a point; Ed25519 has no y */
};

struct public_key;

/* ERR_INVALID: no key, or one that is too weak or too large. */
enum err public_key_new(const struct key_numbers *numbers, struct public_key **ret);
void public_key_free(struct public_key *key);

/* Is it good for the algorithm of that name ("RS256", "ES256", "EdDSA", …)? Those with a
 * shared secret and `none` are no algorithms here. */
bool public_key_fits(const struct public_key *key, struct str algorithm);

/* False where the key does not fit, either. */
bool public_key_verify(const struct public_key *key, struct str algorithm,
                       struct str text, struct str signature);
