/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>

/* EVP_sha256() is looked up anew for every digest, which takes longer than the digest of
 * a short text; so it is fetched once. A constant but for the time before its first use.
 */
static EVP_MD *sha256;
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;

static void fetch_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!sha256)
        abort(); /* only without memory or without the algorithm, as below */
}

void crypto_sha256_parts(const struct str *parts, size_t count,
                         uint8_t ret[static SHA256_BYTES])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool works;

    (void)pthread_once(&sha256_once, fetch_sha256);
    works = ctx && EVP_DigestInit_ex2(ctx, sha256, NULL);
    for (size_t i = 0; works && i < count; i++)
        works = parts[i].len == 0 || EVP_DigestUpdate(ctx, parts[i].ptr, parts[i].len);
    if (!works || !EVP_DigestFinal_ex(ctx, ret, NULL))
        abort();
    EVP_MD_CTX_free(ctx);
}

void crypto_sha256(struct str text, uint8_t ret[static SHA256_BYTES])
{
    crypto_sha256_parts(&text, 1, ret);
}

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
