/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens. The first byte chooses: the rest is a token, which nobody has signed
 * and which must be refused; or it is header, newline and claims, which are signed here
 * and may be anything: what is accepted has a subject and has not expired.
 */
#include <stdint.h>
#include <stdlib.h>

#include "crypto/crypto.h"
#include "identity/jwt.h"

enum { ROOM = 1 << 20 };

#define NOW ((uint64_t)1'800'000'000'000)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void sign(struct str text, struct str secret, struct buf *out)
{
    uint8_t mac[SHA256_BYTES];
    struct str header = str_cut(&text, '\n');

    base64url_write(out, header);
    buf_putc(out, '.');
    base64url_write(out, text.ptr ? text : S("{}"));
    crypto_hmac_sha256(secret, buf_str(out), mac);
    buf_putc(out, '.');
    base64url_write(out, (struct str){ (const char *)mac, sizeof(mac) });
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct jwt_terms terms = { S("0123456789abcdef0123456789abcdef"), S("moot"), {} };
    struct str text = { (const char *)bytes + 1, size ? size - 1 : 0 };
    struct jwt_claims claims = {};
    const char *why = NULL;
    struct arena arena;
    struct buf token;

    if (size == 0)
        return 0;
    arena_init(&arena, JWT_ARENA);
    buf_init(&token, ROOM);
    if (bytes[0] & 1)
        sign(text, terms.secret, &token);
    else
        buf_put(&token, text);
    if (jwt_verify(buf_str(&token), &terms, NOW, &arena, &claims, &why)) {
        expect(why && *why);
    } else {
        expect(bytes[0] & 1);
        expect(claims.subject.len > 0);
        expect(claims.expires_ms + JWT_LEEWAY_MS > NOW);
    }
    buf_done(&token);
    arena_done(&arena);
    return 0;
}
