/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/crypto.h"
#include "harness.h"
#include "identity/jwt.h"

enum { TEXT = 64 << 10 };

#define SECRET S("0123456789abcdef0123456789abcdef")
#define NOW    ((uint64_t)1'800'000'000'000)

static const struct jwt_terms terms = {
    .secret = { "0123456789abcdef0123456789abcdef", 32 },
    .audience = { "moot", 4 },
};

static void sign(struct str header, struct str claims, struct str secret, struct buf *out)
{
    uint8_t mac[SHA256_BYTES];

    buf_clear(out);
    base64url_write(out, header);
    buf_putc(out, '.');
    base64url_write(out, claims);
    crypto_hmac_sha256(secret, buf_str(out), mac);
    buf_putc(out, '.');
    base64url_write(out, (struct str){ (const char *)mac, sizeof(mac) });
}

#define HEAD "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define GOOD "\"sub\":\"scout\",\"aud\":\"moot\",\"exp\":1800000060"

TEST(a_good_one_says_who_and_until_when)
{
    struct jwt_claims claims = {};
    const char *why = "";
    struct arena arena;
    struct buf text;

    arena_init(&arena, JWT_ARENA);
    buf_init(&text, TEXT);
    sign(S(HEAD), S("{" GOOD "}"), SECRET, &text);
    CHECK(jwt_is_likely(buf_str(&text)));
    CHECK_INT(jwt_verify(buf_str(&text), &terms, NOW, &arena, &claims, &why), OK);
    CHECK_STR(claims.subject, S("scout"));
    CHECK_INT(claims.expires_ms, NOW + 60'000);
    buf_done(&text);
    arena_done(&arena);
}

/* The example of RFC 7515, A.1: made by somebody else. */
TEST(the_example_of_the_standard_verifies)
{
    static const char secret[] =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9"
        "CAow";
    struct str text = S(
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19y"
        "b290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    struct jwt_terms others = { .audience = S("moot") };
    struct jwt_claims claims = {};
    const char *why = "";
    struct arena arena;
    struct buf key;

    arena_init(&arena, JWT_ARENA);
    buf_init(&key, 256);
    CHECK_INT(base64url_parse(str_of(secret), &key), OK);
    others.secret = buf_str(&key);
    CHECK_INT(
        jwt_verify(text, &others, (uint64_t)1300819000 * 1000, &arena, &claims, &why),
        ERR_UNAUTHORIZED);
    CHECK_STR(str_of(why), S("The JWT is not for this gateway (aud)."));
    buf_done(&key);
    arena_done(&arena);
}

TEST(claims_are_checked)
{
    static const struct {
        struct str header, claims;
        const char *why; /* NULL: it is good */
    } cases[] = {
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":[\"x\",\"moot\"],\"exp\":1800000060}"),
          NULL },
        { S("{\"alg\":\"HS256\",\"kid\":\"../../dev/null\"}"), S("{" GOOD "}"), NULL },
        { S(HEAD), S("{" GOOD ",\"nbf\":1800000000.5,\"iat\":1799999999}"), NULL },
        { S(HEAD), S("{" GOOD ",\"nbf\":1800000029}"), NULL },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":1799999971}"), NULL },
        { S("{\"alg\":\"none\"}"), S("{" GOOD "}"),
          "The JWT must be signed with HS256." },
        { S("{\"alg\":\"hs256\"}"), S("{" GOOD "}"),
          "The JWT must be signed with HS256." },
        { S("{\"alg\":\"RS256\"}"), S("{" GOOD "}"),
          "The JWT must be signed with HS256." },
        { S("{\"alg\":[\"HS256\"]}"), S("{" GOOD "}"),
          "The JWT must be signed with HS256." },
        { S("{\"typ\":\"JWT\"}"), S("{" GOOD "}"), "The JWT must be signed with HS256." },
        { S("[]"), S("{" GOOD "}"), "The header of the JWT is no JSON object." },
        { S("{\"alg\":\"HS256\",\"alg\":\"HS256\"}"), S("{" GOOD "}"),
          "The header of the JWT is no JSON object." },
        { S("{\"alg\":\"HS256\",\"crit\":[\"exp\"]}"), S("{" GOOD "}"),
          "The JWT has critical extensions that are not known." },
        { S(HEAD), S("x"), "The claims of the JWT are no JSON object." },
        { S(HEAD), S("{" GOOD ",\"sub\":\"admin\"}"),
          "The claims of the JWT are no JSON object." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\"}"),
          "The JWT must say when it expires (exp)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":\"1800000060\"}"),
          "The JWT must say when it expires (exp)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":1e30}"),
          "The JWT must say when it expires (exp)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":18446744073709551615}"),
          "The JWT must say when it expires (exp)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":-1}"),
          "The JWT must say when it expires (exp)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moot\",\"exp\":1799999970}"),
          "The JWT has expired." },
        { S(HEAD), S("{" GOOD ",\"nbf\":1800000031}"),
          "The JWT is not valid yet (nbf)." },
        { S(HEAD), S("{" GOOD ",\"nbf\":\"now\"}"), "The JWT is not valid yet (nbf)." },
        { S(HEAD), S("{" GOOD ",\"iat\":1800000031}"),
          "The JWT was issued in the future (iat)." },
        { S(HEAD), S("{\"sub\":\"a\",\"exp\":1800000060}"),
          "The JWT is not for this gateway (aud)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":\"moots\",\"exp\":1800000060}"),
          "The JWT is not for this gateway (aud)." },
        { S(HEAD), S("{\"sub\":\"a\",\"aud\":[[\"moot\"]],\"exp\":1800000060}"),
          "The JWT is not for this gateway (aud)." },
        { S(HEAD), S("{\"sub\":\"\",\"aud\":\"moot\",\"exp\":1800000060}"),
          "The JWT must say whose it is (sub)." },
        { S(HEAD), S("{\"sub\":7,\"aud\":\"moot\",\"exp\":1800000060}"),
          "The JWT must say whose it is (sub)." },
    };
    struct buf text;

    buf_init(&text, TEXT);
    FOR_EACH_CASE(c, cases) {
        struct jwt_claims claims = {};
        const char *why = "";
        struct arena arena;
        enum err err;

        arena_init(&arena, JWT_ARENA);
        sign(c->header, c->claims, SECRET, &text);
        err = jwt_verify(buf_str(&text), &terms, NOW, &arena, &claims, &why);
        CHECK_INT(err, c->why ? ERR_UNAUTHORIZED : OK);
        CHECK_STR(str_of(why), str_of(c->why));
        arena_done(&arena);
    }
    buf_done(&text);
}

TEST(an_issuer_that_is_configured_is_required)
{
    struct jwt_terms strict = terms;
    struct jwt_claims claims = {};
    const char *why = "";
    struct arena arena;
    struct buf text;

    arena_init(&arena, JWT_ARENA);
    buf_init(&text, TEXT);
    strict.issuer = S("hub");
    sign(S(HEAD), S("{" GOOD "}"), SECRET, &text);
    CHECK_INT(jwt_verify(buf_str(&text), &strict, NOW, &arena, &claims, &why),
              ERR_UNAUTHORIZED);
    sign(S(HEAD), S("{" GOOD ",\"iss\":\"hub\"}"), SECRET, &text);
    CHECK_INT(jwt_verify(buf_str(&text), &strict, NOW, &arena, &claims, &why), OK);
    buf_done(&text);
    arena_done(&arena);
}

static enum err verify(struct str text, const struct jwt_terms *by)
{
    struct jwt_claims claims = {};
    const char *why = "";
    struct arena arena;
    enum err err;

    arena_init(&arena, JWT_ARENA);
    err = jwt_verify(text, by, NOW, &arena, &claims, &why);
    arena_done(&arena);
    return err;
}

TEST(any_change_of_any_byte_is_refused)
{
    struct buf text;

    buf_init(&text, TEXT);
    sign(S(HEAD), S("{" GOOD "}"), SECRET, &text);
    for (size_t i = 0; i < text.len; i++) {
        char was = text.ptr[i];

        text.ptr[i] = was == 'A' ? 'B' : 'A';
        CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
        text.ptr[i] = was;
        CHECK_INT(verify(str_slice(buf_str(&text), 0, i), &terms), ERR_UNAUTHORIZED);
    }
    CHECK_INT(verify(buf_str(&text), &terms), OK);
    buf_done(&text);
}

TEST(without_a_signature_or_with_another_secret_it_is_refused)
{
    static const struct str headers[] = { S("{\"alg\":\"none\"}"), S(HEAD) };
    struct buf text;

    buf_init(&text, TEXT);
    sign(S(HEAD), S("{" GOOD "}"), S("another secret of more than 32 bytes."), &text);
    CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
    FOR_EACH_CASE(header, headers) {
        buf_clear(&text);
        base64url_write(&text, *header);
        buf_putc(&text, '.');
        base64url_write(&text, S("{" GOOD "}"));
        buf_putc(&text, '.');
        CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
        buf_put(&text, S("AAAA"));
        CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
    }
    buf_done(&text);
}

TEST(nothing_is_accepted_without_a_secret_of_the_right_size)
{
    struct jwt_terms weak = { .secret = S("0123456789abcdef0123456789abcde"),
                              .audience = S("moot") };
    struct jwt_terms none = { .audience = S("moot") };
    struct jwt_terms anybody = { .secret = SECRET };
    struct buf text;

    buf_init(&text, TEXT);
    sign(S(HEAD), S("{" GOOD "}"), weak.secret, &text);
    CHECK_INT(verify(buf_str(&text), &weak), ERR_UNAUTHORIZED);
    sign(S(HEAD), S("{" GOOD "}"), S(""), &text);
    CHECK_INT(verify(buf_str(&text), &none), ERR_UNAUTHORIZED);
    sign(S(HEAD), S("{\"sub\":\"a\",\"aud\":\"\",\"exp\":1800000060}"), SECRET, &text);
    CHECK_INT(verify(buf_str(&text), &anybody), ERR_UNAUTHORIZED);
    buf_done(&text);
}

TEST(other_forms_are_none)
{
    static const struct str cases[] = {
        S(""),     S("a"),       S("a.b"),    S("a.b."),    S(".b.c"),
        S("a..c"), S("a.b.c.d"), S("a.b=.c"), S("a.b c.d"), S("moot_abc"),
    };
    struct buf long_one;

    FOR_EACH_CASE(c, cases)
        CHECK(!jwt_is_likely(*c));
    buf_init(&long_one, TEXT);
    while (long_one.len < JWT_MAX_BYTES)
        buf_putc(&long_one, 'a');
    buf_put(&long_one, S(".a.a"));
    CHECK(!jwt_is_likely(buf_str(&long_one)));
    buf_done(&long_one);
}
