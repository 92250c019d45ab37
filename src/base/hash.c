/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void hash_key_random(struct hash_key *ret)
{
    /* Up to 256 bytes are never interrupted; without randomness nothing is safe. */
    if (getrandom(ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
        abort();
}

struct sip {
    uint64_t a, b, c, d;
};

static inline uint64_t rotl(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline void sip_round(struct sip *v)
{
    v->a += v->b;
    v->b = rotl(v->b, 13) ^ v->a;
    v->a = rotl(v->a, 32);
    v->c += v->d;
    v->d = rotl(v->d, 16) ^ v->c;
    v->a += v->d;
    v->d = rotl(v->d, 21) ^ v->a;
    v->c += v->b;
    v->b = rotl(v->b, 17) ^ v->c;
    v->c = rotl(v->c, 32);
}

static inline void sip_word(struct sip *v, uint64_t word)
{
    v->d ^= word;
    sip_round(v);
    v->a ^= word;
}

static inline uint64_t load64(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

/* The last `len % 8` bytes, the first of them lowest. Where there are eight bytes, the
 * last eight hold them, and no loop is needed. */
static inline uint64_t tail_of(struct str text)
{
    size_t left = text.len % 8;
    uint64_t word = 0;

    if (left && text.len >= 8)
        return load64(text.ptr + text.len - 8) >> (64 - 8 * left);
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)(unsigned char)text.ptr[i] << (8 * i);
    return word;
}

uint64_t hash_of(const struct hash_key *key, struct str text)
{
    struct sip v = { key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d,
                     key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573 };
    const char *at = text.ptr;

    for (size_t left = text.len; left >= 8; at += 8, left -= 8)
        sip_word(&v, load64(at));
    sip_word(&v, tail_of(text) | (uint64_t)text.len << 56);
    v.c ^= 0xff;
    sip_round(&v);
    sip_round(&v);
    sip_round(&v);
    return v.a ^ v.b ^ v.c ^ v.d;
}
