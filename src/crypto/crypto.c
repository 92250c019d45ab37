/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>

void crypto_sha1(struct str text, uint8_t ret[static SHA1_BYTES])
{
    if (!EVP_Digest(text.ptr, text.len, ret, NULL, EVP_sha1(), NULL))
        abort();
}

void crypto_hmac_sha256(struct str key, struct str text, uint8_t ret[static SHA256_BYTES])
{
    if (!HMAC(EVP_sha256(), key.ptr, (int)key.len, (const unsigned char *)text.ptr,
              text.len, ret, NULL))
        abort();
}

void crypto_random(void *out, size_t size)
{
    if (RAND_bytes(out, (int)size) != 1)
        abort();
}

bool crypto_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

void crypto_wipe(void *memory, size_t size)
{
    OPENSSL_cleanse(memory, size);
}
