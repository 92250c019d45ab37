/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed boxes: nonce, ciphertext, tag. The nonce is random: 2^32 boxes of one key are
 * safe, and a key of ours seals a handful a day.
 */
#include <openssl/evp.h>
#include <stdlib.h>

#include "crypto/crypto.h"

enum { NONCE = 12, TAG = 16, MAX_BOX = 1 << 30 /* lengths are int in libcrypto */ };
_Static_assert(NONCE + TAG == SEAL_MORE);

enum direction { OPENING, SEALING };

/* NULL only without memory or without the algorithm. */
static EVP_CIPHER_CTX *begin(const uint8_t *key, const uint8_t *nonce, struct str about,
                             enum direction direction)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int used;

    if (!ctx || !EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce, direction) ||
        (about.len &&
         !EVP_CipherUpdate(ctx, NULL, &used, (const uint8_t *)about.ptr, (int)about.len)))
        abort();
    return ctx;
}

static void run(EVP_CIPHER_CTX *ctx, struct str bytes, char *out)
{
    int used;

    if (bytes.len && !EVP_CipherUpdate(ctx, (uint8_t *)out, &used,
                                       (const uint8_t *)bytes.ptr, (int)bytes.len))
        abort();
}

void crypto_seal(const uint8_t key[static SEAL_KEY], struct str about, struct str bytes,
                 struct buf *out)
{
    EVP_CIPHER_CTX *ctx;
    uint8_t none[TAG];
    int used;
    char *box;

    if (bytes.len > MAX_BOX || buf_reserve(out, bytes.len + SEAL_MORE)) {
        out->is_full = true;
        return;
    }
    box = out->ptr + out->len;
    crypto_random(box, NONCE);
    ctx = begin(key, (const uint8_t *)box, about, SEALING);
    run(ctx, bytes, box + NONCE);
    if (!EVP_CipherFinal_ex(ctx, none, &used) ||
        !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, box + NONCE + bytes.len))
        abort();
    EVP_CIPHER_CTX_free(ctx);
    out->len += bytes.len + SEAL_MORE;
}

enum err crypto_open(const uint8_t key[static SEAL_KEY], struct str about, struct str box,
                     struct buf *out)
{
    EVP_CIPHER_CTX *ctx;
    uint8_t none[TAG], tag[TAG];
    size_t size;
    char *into;
    int used;
    bool is_ours;

    if (box.len < SEAL_MORE || box.len > MAX_BOX)
        return ERR_INVALID;
    size = box.len - SEAL_MORE;
    if (buf_reserve(out, size))
        return ERR_TOO_BIG;
    into = size ? out->ptr + out->len : NULL; /* for nothing there may be no memory */
    memcpy(tag, box.ptr + NONCE + size, TAG);
    ctx = begin(key, (const uint8_t *)box.ptr, about, OPENING);
    run(ctx, str_slice(box, NONCE, NONCE + size), into);
    is_ours = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, tag) &&
              EVP_CipherFinal_ex(ctx, none, &used);
    EVP_CIPHER_CTX_free(ctx);
    if (!is_ours) {
        if (into)
            crypto_wipe(into, size);
        return ERR_INVALID;
    }
    out->len += size;
    return OK;
}
