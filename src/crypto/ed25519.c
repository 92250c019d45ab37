/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures. Whatever fails here but the signature itself fails for want of memory or of
 * the algorithm, and ends the process. */
#include <openssl/evp.h>
#include <stdlib.h>

#include "crypto/crypto.h"

void ed25519_make(struct ed25519_key *ret)
{
    uint8_t secret[ED25519_SECRET];

    crypto_random(secret, sizeof(secret));
    ed25519_from_secret(secret, ret);
    crypto_wipe(secret, sizeof(secret));
}

static EVP_PKEY *open_secret(const uint8_t *secret)
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, ED25519_SECRET);

    if (!key)
        abort();
    return key;
}

void ed25519_from_secret(const uint8_t secret[static ED25519_SECRET],
                         struct ed25519_key *ret)
{
    EVP_PKEY *key = open_secret(secret);
    size_t size = ED25519_PUBLIC;

    if (!EVP_PKEY_get_raw_public_key(key, ret->public, &size))
        abort();
    memmove(ret->secret, secret, ED25519_SECRET);
    EVP_PKEY_free(key);
}

void ed25519_sign(const struct ed25519_key *key, struct str text,
                  uint8_t ret[static ED25519_SIGNATURE])
{
    EVP_PKEY *secret = open_secret(key->secret);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t size = ED25519_SIGNATURE;

    if (!ctx || !EVP_DigestSignInit(ctx, NULL, NULL, NULL, secret) ||
        !EVP_DigestSign(ctx, ret, &size, (const uint8_t *)text.ptr, text.len))
        abort();
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(secret);
}

bool ed25519_verify(const uint8_t public_key[static ED25519_PUBLIC], struct str text,
                    const uint8_t signature[static ED25519_SIGNATURE])
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, ED25519_PUBLIC);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool holds;

    if (!key || !ctx || !EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key))
        abort();
    holds = EVP_DigestVerify(ctx, signature, ED25519_SIGNATURE, (const uint8_t *)text.ptr,
                             text.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return holds;
}
