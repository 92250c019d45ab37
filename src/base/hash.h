/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-1-3: a keyed hash fit for tables whose keys come from outside. With a secret
 * key two different texts are equal under it with probability 2^-64.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct hash_key {
    uint64_t k0, k1;
};

/* Fresh random key. */
void hash_key_random(struct hash_key *ret);

uint64_t hash_of(const struct hash_key *key, struct str text);
