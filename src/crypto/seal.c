/* SPDX-License-Identifier: Apache-2.0 */
/* Sealed boxes, by libsodium. The nonce is long enough to be random, whatever the number
 * of boxes is. */

#include "crypto/sodium_priv.h"

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    MAX_BOX = 1 << 30,
};
_Static_assert(NONCE + TAG == SEAL_MORE);
_Static_assert(SEAL_KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

static const uint8_t *bytes_of(struct str text)
{
    return (const uint8_t *)text.ptr;
}

void crypto_seal(const uint8_t key[static SEAL_KEY], struct str about, struct str bytes,
                 struct buf *out)
{
    uint8_t *box;

    if (bytes.len > MAX_BOX || buf_reserve(out, bytes.len + SEAL_MORE)) {
        out->is_full = true;
        return;
    }
    box = (uint8_t *)out->ptr + out->len;
    crypto_random(box, NONCE);
    sodium_prepare();
    crypto_aead_xchacha20poly1305_ietf_encrypt(box + NONCE, NULL, bytes_of(bytes),
                                               bytes.len, bytes_of(about), about.len,
                                               NULL, box, key);
    out->len += bytes.len + SEAL_MORE;
}

enum err crypto_open(const uint8_t key[static SEAL_KEY], struct str about, struct str box,
                     struct buf *out)
{
    uint8_t *into;

    if (box.len < SEAL_MORE || box.len > MAX_BOX)
        return ERR_INVALID;
    if (buf_reserve(out, box.len - SEAL_MORE))
        return ERR_TOO_BIG;
    into = box.len == SEAL_MORE ? NULL : (uint8_t *)out->ptr + out->len;
    sodium_prepare();
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            into, NULL, NULL, bytes_of(box) + NONCE, box.len - NONCE, bytes_of(about),
            about.len, bytes_of(box), key))
        return ERR_INVALID;
    out->len += box.len - SEAL_MORE;
    return OK;
}
