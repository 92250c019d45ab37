/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

#include "crypto/crypto.h"

/* EVP_sha256() is looked up anew for every digest, which takes longer than the digest of
 * a short text; so it is fetched once. A constant but for the time before its first use.
 * It has a file of its own because libmoot, which needs no such digest, has no variables.
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
