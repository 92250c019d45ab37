/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/crypto.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

/* The kernel's own: a generator of libcrypto's besides is seeded from it, and its tables
 * are larger than all that a gateway at rest allocates. */
void crypto_random(void *out, size_t size)
{
    char *at = out;

    while (size) {
        ssize_t got = getrandom(at, size, 0);

        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

bool crypto_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

void crypto_wipe(void *memory, size_t size)
{
    OPENSSL_cleanse(memory, size);
}
