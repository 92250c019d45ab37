/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens. The first byte chooses: the rest is a token, which nobody has signed
 * and which must be refused, by a secret and by keys; or it is header, newline and
 * claims, which are signed here and may be anything: what is accepted has a subject and
 * has not expired. Keys never accept what is signed with a secret.
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

/* The keys of RFC 7517 A.1 and RFC 8037 A.2, whose secrets nobody here uses. */
static const struct jwks *keys(void)
{
    static struct jwks *set;
    const char *why;

    if (!set)
        expect(!jwks_parse(S("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
                             "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","
                             "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"},"
                             "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"ed\","
                             "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}"),
                           &set, &why));
    return set;
}

static void try_keys(struct str token, struct arena *arena)
{
    struct jwt_terms terms = { .audience = S("moot"),
                               .issuer = S("https://login.example"),
                               .keys = keys() };
    struct jwt_claims claims;
    const char *why = NULL;

    (void)jwt_names_secret(token);
    expect(jwt_verify(token, &terms, NOW, arena, &claims, &why) != OK);
    expect(why && *why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct jwt_terms terms = { .secret = S("0123456789abcdef0123456789abcdef"),
                               .audience = S("moot") };
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
    try_keys(buf_str(&token), &arena);
    buf_done(&token);
    arena_done(&arena);
    return 0;
}
