/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes by the functions themselves. EVP looks them up among all that libcrypto knows,
 * which takes longer than the digest of a short text and makes every gateway hold 1.2 MB
 * of tables; they are marked as deprecated, but stay in every version 3.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "crypto/crypto.h"

enum { BLOCK = SHA256_CBLOCK };
_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH && SHA1_BYTES == SHA_DIGEST_LENGTH);

/* None of them can fail. */
static void add(SHA256_CTX *ctx, struct str text)
{
    if (text.len)
        (void)SHA256_Update(ctx, text.ptr, text.len);
}

void crypto_sha256_parts(const struct str *parts, size_t count,
                         uint8_t ret[static SHA256_BYTES])
{
    SHA256_CTX ctx;

    (void)SHA256_Init(&ctx);
    for (size_t i = 0; i < count; i++)
        add(&ctx, parts[i]);
    (void)SHA256_Final(ret, &ctx);
}

void crypto_sha256(struct str text, uint8_t ret[static SHA256_BYTES])
{
    crypto_sha256_parts(&text, 1, ret);
}

/* RFC 2104: H(key ^ outer, H(key ^ inner, text)). */
static void add_pad(uint8_t block[static BLOCK], uint8_t pad)
{
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= pad;
}

void crypto_hmac_sha256(struct str key, struct str text, uint8_t ret[static SHA256_BYTES])
{
    enum { INNER = 0x36, OUTER = 0x5c };
    uint8_t block[BLOCK] = {};
    const struct str padded = { (const char *)block, BLOCK };
    const struct str sum = { (const char *)ret, SHA256_BYTES };

    if (key.len > BLOCK)
        crypto_sha256(key, block);
    else if (key.len)
        memcpy(block, key.ptr, key.len);
    add_pad(block, INNER);
    crypto_sha256_parts((const struct str[]){ padded, text }, 2, ret);
    add_pad(block, INNER ^ OUTER);
    crypto_sha256_parts((const struct str[]){ padded, sum }, 2, ret);
    crypto_wipe(block, sizeof(block));
}

void crypto_sha1(struct str text, uint8_t ret[static SHA1_BYTES])
{
    SHA_CTX ctx;

    (void)SHA1_Init(&ctx);
    if (text.len)
        (void)SHA1_Update(&ctx, text.ptr, text.len);
    (void)SHA1_Final(ret, &ctx);
}
