/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes, signatures, random bytes and their text forms: the only user of libcrypto and
 * libsodium.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { SHA256_BYTES = 32, SHA1_BYTES = 20 };

void crypto_sha256(struct str text, uint8_t ret[static SHA256_BYTES]);

/* Of all of them, one behind the other. */
void crypto_sha256_parts(const struct str *parts, size_t count,
                         uint8_t ret[static SHA256_BYTES]);
void crypto_sha1(struct str text, uint8_t ret[static SHA1_BYTES]);
void crypto_hmac_sha256(struct str key, struct str text,
                        uint8_t ret[static SHA256_BYTES]);

/* Random bytes fit for keys and tokens. Ends the process if there are none. */
void crypto_random(void *out, size_t size);

/* Equality in constant time. */
bool crypto_equal(const void *a, const void *b, size_t size);

/* Sealed boxes (XChaCha20-Poly1305): a fresh nonce, then the bytes, then the tag.
 * `about` is not in the box but must be the same when it is opened. ERR_INVALID: another
 * key, or not what was sealed; ERR_TOO_BIG. Sealing sets out->is_full like any writer. */
enum { SEAL_KEY = 32, SEAL_MORE = 24 + 16 };
void crypto_seal(const uint8_t key[static SEAL_KEY], struct str about, struct str bytes,
                 struct buf *out);
enum err crypto_open(const uint8_t key[static SEAL_KEY], struct str about, struct str box,
                     struct buf *out);

/* Overwrites memory that held a secret. */
void crypto_wipe(void *memory, size_t size);

/* Base64 with padding (RFC 4648 4), and the unpadded URL form (5). */
void base64_write(struct buf *out, struct str bytes);
void base64url_write(struct buf *out, struct str bytes);

/* Strict: padding and unused bits must be right, so a text has one spelling. ERR_INVALID,
 * ERR_TOO_BIG. */
enum err base64_parse(struct str text, struct buf *out);
enum err base64url_parse(struct str text, struct buf *out);

void hex_write(struct buf *out, struct str bytes);

/* Two small digits per byte, and exactly `size` bytes. ERR_INVALID. */
enum err hex_parse(struct str text, uint8_t *ret, size_t size);

/* --- signatures (RFC 8032) --- */

enum { ED25519_SECRET = 32, ED25519_PUBLIC = 32, ED25519_SIGNATURE = 64 };

struct ed25519_key {
    uint8_t secret[ED25519_SECRET];
    uint8_t public[ED25519_PUBLIC];
};

void ed25519_make(struct ed25519_key *ret);

/* The key of a secret that was kept. */
void ed25519_from_secret(const uint8_t secret[static ED25519_SECRET],
                         struct ed25519_key *ret);
void ed25519_sign(const struct ed25519_key *key, struct str text,
                  uint8_t ret[static ED25519_SIGNATURE]);
bool ed25519_verify(const uint8_t public_key[static ED25519_PUBLIC], struct str text,
                    const uint8_t signature[static ED25519_SIGNATURE]);
