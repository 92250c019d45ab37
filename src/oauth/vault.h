/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tokens rest: sealed (crypto_seal) with a key that stands in a file of its own,
 * DIR/secret.key, 32 random bytes that its owner alone may read. Who has the boxes but
 * not the key has nothing. A box is of one name, and opens for no other.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"

enum { VAULT_NAME = 128, VAULT_BYTES = 256 << 10 };

struct vault {
    uint8_t key[SEAL_KEY];
};

/* Reads the key, or makes it. ERR_FORBIDDEN: others may read it; ERR_INVALID: it is none;
 * ERR_IO. Small and local, so it is read where it is wanted. */
enum err vault_open(struct vault *vault, const char *dir);
void vault_close(struct vault *vault); /* wipes it */

/* For owners that keep boxes elsewhere, such as the store. */
void vault_seal(const struct vault *vault, struct str name, struct str secret,
                struct buf *out);
enum err vault_unseal(const struct vault *vault, struct str name, struct str box,
                      struct buf *out);

/* Boxes in files, DIR/secrets/NAME (0600), replaced as a whole. A name has letters,
 * digits and -._ and does not begin with a dot: ERR_INVALID. ERR_NOT_FOUND, ERR_IO;
 * ERR_TOO_BIG above VAULT_BYTES. */
enum err vault_keep(const struct vault *vault, const char *dir, struct str name,
                    struct str secret);
enum err vault_recall(const struct vault *vault, const char *dir, struct str name,
                      struct buf *out);
enum err vault_forget(const char *dir, struct str name);
