/* SPDX-License-Identifier: Apache-2.0 */
#include "ws/handshake.h"

#include "crypto/crypto.h"

enum { KEY_BYTES = 16, KEY_TEXT = 24 };

/* RFC 6455 1.3: what proves that the server speaks WebSocket. */
static const struct str guid = { "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36 };

enum err ws_key_check(struct str key)
{
    struct buf nonce;
    enum err err;

    if (key.len != KEY_TEXT)
        return ERR_BAD_REQUEST;
    buf_init(&nonce, KEY_BYTES);
    err = base64_parse(key, &nonce); /* of that length never less than 16 bytes */
    buf_done(&nonce);
    return err ? ERR_BAD_REQUEST : OK;
}

void ws_accept_write(struct buf *out, struct str key)
{
    uint8_t digest[SHA1_BYTES];
    struct buf text;

    buf_init(&text, key.len + guid.len);
    buf_put(&text, key);
    buf_put(&text, guid);
    crypto_sha1(buf_str(&text), digest);
    buf_done(&text);
    base64_write(out, (struct str){ (const char *)digest, sizeof(digest) });
}
