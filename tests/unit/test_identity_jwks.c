/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "identity/jwks.h"
#include "identity/jwt.h"
#include "jwks_vectors.h"

#define NOW ((uint64_t)1'800'000'000'000)

static struct jwks *set_of(struct str text)
{
    struct jwks *set = NULL;
    const char *why = "";

    CHECK_INT(jwks_parse(text, &set, &why), OK);
    return set;
}

static struct jwt_terms terms_of(const struct jwks *set)
{
    return (struct jwt_terms){ .audience = S("moot"),
                               .issuer = S("https://login.example"),
                               .keys = set };
}

static enum err verify(struct str token, const struct jwt_terms *terms)
{
    struct jwt_claims claims = {};
    const char *why = NULL;
    struct arena arena;
    enum err err;

    arena_init(&arena, JWT_ARENA);
    err = jwt_verify(token, terms, NOW, &arena, &claims, &why);
    if (err)
        CHECK(why && *why);
    else
        CHECK_STR(claims.subject, S("zoe"));
    arena_done(&arena);
    return err;
}

TEST(each_algorithm_verifies_with_its_key)
{
    static const struct str cases[] = {
        S(TOKEN_RS256), S(TOKEN_RS384), S(TOKEN_RS512),       S(TOKEN_PS256),
        S(TOKEN_PS384), S(TOKEN_PS512), S(TOKEN_ES256),       S(TOKEN_ES384),
        S(TOKEN_ES512), S(TOKEN_EDDSA), S(TOKEN_WITHOUT_KID),
    };
    struct jwks *set = set_of(S(KEY_SET));
    struct jwt_terms terms = terms_of(set);

    CHECK_INT(jwks_count(set), 5);
    FOR_EACH_CASE(c, cases)
        CHECK_INT(verify(*c, &terms), OK);
    jwks_free(set);
}

TEST(any_change_of_a_signature_is_refused)
{
    static const struct str cases[] = { S(TOKEN_RS256), S(TOKEN_PS256), S(TOKEN_ES256),
                                        S(TOKEN_ES512), S(TOKEN_EDDSA) };
    struct jwks *set = set_of(S(KEY_SET));
    struct jwt_terms terms = terms_of(set);

    FOR_EACH_CASE(c, cases) {
        struct buf text;

        buf_init(&text, JWT_MAX_BYTES);
        buf_put(&text, *c);
        text.ptr[text.len - 20] = text.ptr[text.len - 20] == 'A' ? 'B' : 'A';
        CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
        buf_clear(&text);
        buf_put(&text, str_slice(*c, 0, c->len - 4));
        CHECK_INT(verify(buf_str(&text), &terms), ERR_UNAUTHORIZED);
        buf_done(&text);
    }
    jwks_free(set);
}

TEST(a_key_that_is_not_there_may_come_and_one_that_does_not_fit_may_not)
{
    struct jwks *set = set_of(S(KEY_SET));
    struct jwt_terms terms = terms_of(set);

    CHECK_INT(verify(S(TOKEN_OF_NEW_KEY), &terms), ERR_NOT_FOUND);
    CHECK_INT(verify(S(TOKEN_OF_STRANGER), &terms), ERR_UNAUTHORIZED);
    CHECK_INT(verify(S(TOKEN_OF_OTHER_ISSUER), &terms), ERR_UNAUTHORIZED);
    jwks_free(set);
}

static enum err try(const struct jwks *set, struct str algorithm, struct str kid)
{
    return jwks_verify(set, &(struct jwks_signature){ .algorithm = algorithm,
                                                      .kid = kid,
                                                      .text = S("a.b"),
                                                      .signature = S("") });
}

TEST(an_algorithm_of_another_kind_finds_no_key)
{
    static const struct {
        struct str algorithm, kid;
    } cases[] = {
        { S("none"), S("rsa") },  { S("HS256"), S("rsa") },   { S("HS256"), S("") },
        { S("ES256"), S("rsa") }, { S("RS256"), S("p256") },  { S("ES384"), S("p256") },
        { S("EdDSA"), S("rsa") }, { S("Ed25519"), S("ed") },  { S(""), S("rsa") },
        { S("rs256"), S("rsa") }, { S("RS256\0"), S("rsa") }, { S("RS256"), S("RSA") },
    };
    struct jwks *set = set_of(S(KEY_SET));

    FOR_EACH_CASE(c, cases)
        CHECK_INT(try(set, c->algorithm, c->kid), ERR_NOT_FOUND);
    CHECK_INT(try(set, S("RS256"), S("rsa")), ERR_UNAUTHORIZED);
    jwks_free(set);
}

TEST(an_id_token_has_our_nonce_and_is_made_out_to_us)
{
    struct jwks *set = set_of(S(KEY_SET));
    struct jwt_terms terms = terms_of(set);

    terms.nonce = S("n-0S6_WzA2Mj");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), OK);
    CHECK_INT(verify(S(TOKEN_WITHOUT_AZP), &terms), ERR_UNAUTHORIZED);
    terms.audience = S("rooms");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), ERR_UNAUTHORIZED);
    terms = terms_of(set);
    terms.nonce = S("another");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), ERR_UNAUTHORIZED);
    jwks_free(set);
}

TEST(keys_serve_nobody_without_an_issuer_or_beside_a_secret)
{
    struct jwks *set = set_of(S(KEY_SET));
    struct jwt_terms terms = terms_of(set);

    terms.issuer = S("");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), ERR_UNAUTHORIZED);
    terms = terms_of(set);
    terms.secret = S("0123456789abcdef0123456789abcdef");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), ERR_UNAUTHORIZED);
    terms = terms_of(set);
    terms.audience = S("");
    CHECK_INT(verify(S(TOKEN_EDDSA), &terms), ERR_UNAUTHORIZED);
    jwks_free(set);
}

#define X  "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y  "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define EC "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\""

TEST(keys_that_are_of_no_use_are_passed_over)
{
    static const struct {
        struct str text;
        size_t count; /* 0: it is no set at all */
    } cases[] = {
        { S("{\"keys\":[{" EC "}]}"), 1 },
        { S("{\"keys\":[{" EC ",\"use\":\"enc\"}]}"), 0 },
        { S("{\"keys\":[{" EC ",\"key_ops\":[\"sign\"]}]}"), 0 },
        { S("{\"keys\":[{" EC ",\"key_ops\":\"verify\"}]}"), 0 },
        { S("{\"keys\":[{" EC ",\"kid\":7}]}"), 0 },
        { S("{\"keys\":[{" EC ",\"alg\":null}]}"), 0 },
        { S("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" X
            "\"}]}"),
          0 },
        { S("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" X "\",\"y\":\"" Y
            "\"}]}"),
          0 },
        { S("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\"}]}"), 0 },
        { S("{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}]}"), 0 },
        { S("{\"keys\":[{\"kty\":\"oct\",\"k\":\"" X "\"}]}"), 0 },
        { S("{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" X "\",\"e\":\"AQAB\"}]}"), 0 },
        { S("{\"keys\":[" WEAK_KEY "]}"), 0 },
        { S("{\"keys\":[1,null,{},{" EC "}]}"), 1 },
        { S("{\"keys\":[]}"), 0 },
        { S("{\"keys\":{}}"), 0 },
        { S("{}"), 0 },
        { S("[]"), 0 },
        { S(""), 0 },
        { S("<html>"), 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct jwks *set = NULL;
        const char *why = NULL;

        CHECK_INT(jwks_parse(c->text, &set, &why), c->count ? OK : ERR_INVALID);
        if (c->count)
            CHECK_INT(jwks_count(set), c->count);
        else
            CHECK(why && *why);
        jwks_free(set);
    }
}

TEST(a_set_has_an_end)
{
    struct jwks *set = NULL;
    const char *why = NULL;
    struct buf text;

    buf_init(&text, 2 * JWKS_MAX_BYTES);
    buf_put(&text, S("{\"keys\":["));
    for (size_t i = 0; i < 2 * JWKS_MAX_KEYS; i++)
        buf_put(&text, i ? S(",{" EC "}") : S("{" EC "}"));
    buf_put(&text, S("]}"));
    CHECK_INT(jwks_parse(buf_str(&text), &set, &why), OK);
    CHECK_INT(jwks_count(set), JWKS_MAX_KEYS);
    jwks_free(set);
    while (text.len <= JWKS_MAX_BYTES)
        buf_putc(&text, ' ');
    CHECK_INT(jwks_parse(buf_str(&text), &set, &why), ERR_INVALID);
    buf_done(&text);
}

TEST(what_a_token_says_of_its_algorithm_is_told_without_trust)
{
    CHECK(!jwt_names_secret(S(TOKEN_ES256)));
    CHECK(jwt_names_secret(S("eyJhbGciOiJIUzI1NiJ9.e30.AA")));
    CHECK(!jwt_names_secret(S("eyJhbGciOiJub25lIn0.e30.AA")));
    CHECK(!jwt_names_secret(S("AAAA.e30.AA")));
    CHECK(!jwt_names_secret(S("nothing")));
}
