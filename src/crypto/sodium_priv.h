/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sodium.h>
#include <stdlib.h>

#include "crypto/crypto.h"

/* Before anything of libsodium; again and again, by any thread. */
static inline void sodium_prepare(void)
{
    if (sodium_init() < 0)
        abort();
}
