/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures, by libsodium: the first one by libcrypto takes 3 MB that stay. */
#include <string.h>

#include "crypto/sodium_priv.h"

_Static_assert(ED25519_SECRET == crypto_sign_SEEDBYTES);
_Static_assert(ED25519_PUBLIC == crypto_sign_PUBLICKEYBYTES);
_Static_assert(ED25519_SIGNATURE == crypto_sign_BYTES);

void ed25519_make(struct ed25519_key *ret)
{
    uint8_t secret[ED25519_SECRET];

    crypto_random(secret, sizeof(secret));
    ed25519_from_secret(secret, ret);
    crypto_wipe(secret, sizeof(secret));
}

void ed25519_from_secret(const uint8_t secret[static ED25519_SECRET],
                         struct ed25519_key *ret)
{
    uint8_t both[crypto_sign_SECRETKEYBYTES];

    sodium_prepare();
    crypto_sign_seed_keypair(ret->public, both, secret);
    memmove(ret->secret, secret, ED25519_SECRET);
    crypto_wipe(both, sizeof(both));
}

void ed25519_sign(const struct ed25519_key *key, struct str text,
                  uint8_t ret[static ED25519_SIGNATURE])
{
    uint8_t
        both[crypto_sign_SECRETKEYBYTES]; /* the secret, and behind it the public one */

    memcpy(both, key->secret, ED25519_SECRET);
    memcpy(both + ED25519_SECRET, key->public, ED25519_PUBLIC);
    sodium_prepare();
    crypto_sign_detached(ret, NULL, (const uint8_t *)text.ptr, text.len, both);
    crypto_wipe(both, sizeof(both));
}

bool ed25519_verify(const uint8_t public_key[static ED25519_PUBLIC], struct str text,
                    const uint8_t signature[static ED25519_SIGNATURE])
{
    sodium_prepare();
    return crypto_sign_verify_detached(signature, (const uint8_t *)text.ptr, text.len,
                                       public_key) == 0;
}
