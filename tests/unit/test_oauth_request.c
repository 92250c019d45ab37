/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"
#include "oauth/grant.h"
#include "oauth/request.h"

TEST(the_challenge_is_that_of_rfc_7636)
{
    struct buf out;

    buf_init(&out, 100);
    pkce_put_challenge(&out, S("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
    CHECK_STR(buf_str(&out), S("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
    buf_done(&out);
}

TEST(nonces_are_long_and_differ)
{
    struct buf a, b;

    buf_init(&a, 100);
    buf_init(&b, 100);
    oauth_put_nonce(&a);
    oauth_put_nonce(&b);
    CHECK_INT(a.len, OAUTH_NONCE);
    CHECK(!str_eq(buf_str(&a), buf_str(&b)));
    buf_done(&a);
    buf_done(&b);
}

TEST(the_address_to_sign_in_at_says_everything_that_is_asked)
{
    struct sign_in sign_in = {
        .endpoint = S("https://b/authorize"),
        .client_id = S("https://c/client.json"),
        .redirect_uri = S("http://127.0.0.1:1/callback"),
        .resource = S("https://a/mcp"),
        .scope = S("r offline_access"),
        .state = S("st"),
        .verifier = S("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
    };
    struct buf out;

    buf_init(&out, 1000);
    sign_in_put_url(&out, &sign_in);
    CHECK_STR(
        buf_str(&out),
        S("https://b/authorize?response_type=code&client_id=https%3A%2F%2Fc%2Fclient."
          "json&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&scope=r%20offline_"
          "access&state=st&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
          "&code_challenge_method=S256&resource=https%3A%2F%2Fa%2Fmcp&prompt=consent"));
    buf_clear(&out);
    sign_in = (struct sign_in){ .endpoint = S("https://b/?t=1"), .client_id = S("i") };
    sign_in_put_url(&out, &sign_in);
    CHECK(str_starts(buf_str(&out),
                     S("https://b/?t=1&response_type=code&client_id=i&code")));
    buf_done(&out);
}

TEST(what_a_browser_brings_back_is_read_strictly)
{
    static const struct {
        struct str query;
        enum err err;
        struct sign_in_answer is;
    } cases[] = {
        { S("code=a%2Bb&state=s&iss=https%3A%2F%2Fb"),
          OK,
          { S("a+b"), S("s"), S(""), S("https://b") } },
        { S("error=access_denied&state=s&x=y"),
          OK,
          { S(""), S("s"), S("access_denied"), S("") } },
        { S("code=a&code=b&state=s"), ERR_INVALID, {} },
        { S("code=a&state=s&state="), ERR_INVALID, {} },
        { S("code=%zz"), ERR_INVALID, {} },
    };

    FOR_EACH_CASE(c, cases) {
        struct sign_in_answer answer = {};
        struct arena arena;

        arena_init(&arena, 1000);
        CHECK_INT(sign_in_answer_read(c->query, &arena, &answer), c->err);
        CHECK_STR(answer.code, c->is.code);
        CHECK_STR(answer.state, c->is.state);
        CHECK_STR(answer.error, c->is.error);
        CHECK_STR(answer.issuer, c->is.issuer);
        arena_done(&arena);
    }
}

/* RFC 9207 2.4, and no normalisation. */
TEST(an_answer_of_another_issuer_is_not_acted_upon)
{
    static const struct {
        struct str issuer; /* ptr NULL: not said */
        bool is_advertised, is_good;
    } cases[] = {
        { S("https://b"), true, true },
        { S("https://b"), false, true },
        { {}, true, false },
        { {}, false, true },
        { S("https://b/"), true, false },
        { S("https://B"), false, false },
        { S("https://evil"), false, false },
        { S(""), false, false },
        { S("https://b:443"), true, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct sign_in_answer answer = { .issuer = c->issuer };

        CHECK_INT(!sign_in_answer_fault(&answer, S("https://b"), c->is_advertised),
                  c->is_good);
    }
}

TEST(the_token_endpoint_is_told_who_we_are_in_one_way)
{
    static const struct {
        enum token_method method;
        struct str form, field;
    } cases[] = {
        { TOKEN_NONE,
          S("grant_type=authorization_code&code=c&code_verifier=v&redirect_uri=http%3A%2F%"
            "2Fr&resource=https%3A%2F%2Fa&client_id=i%3A"),
          S("") },
        { TOKEN_POST,
          S("grant_type=authorization_code&code=c&code_verifier=v&redirect_uri=http%3A%2F%"
            "2Fr&resource=https%3A%2F%2Fa&client_id=i%3A&client_secret=s%20"),
          S("") },
        { TOKEN_BASIC,
          S("grant_type=authorization_code&code=c&code_verifier=v&redirect_uri=http%3A%2F%"
            "2Fr&resource=https%3A%2F%2Fa"),
          S("Authorization: Basic aSUzQTpzJTIw") },
    };

    FOR_EACH_CASE(c, cases) {
        struct token_request request = { .client_id = S("i:"),
                                         .client_secret = S("s "),
                                         .method = c->method,
                                         .resource = S("https://a"),
                                         .code = S("c"),
                                         .verifier = S("v"),
                                         .redirect_uri = S("http://r") };
        struct buf form, field;

        buf_init(&form, 1000);
        buf_init(&field, 1000);
        token_request_put_form(&form, &request);
        token_request_put_field(&field, &request);
        CHECK_STR(buf_str(&form), c->form);
        CHECK_STR(buf_str(&field), c->field);
        buf_done(&form);
        buf_done(&field);
    }
}

TEST(a_refresh_names_the_resource_as_well)
{
    struct token_request request = { .client_id = S("i"),
                                     .method = TOKEN_NONE,
                                     .resource = S("https://a"),
                                     .refresh_token = S("r") };
    struct buf form;

    buf_init(&form, 1000);
    token_request_put_form(&form, &request);
    CHECK_STR(buf_str(&form),
              S("grant_type=refresh_token&refresh_token=r&resource=https%3A"
                "%2F%2Fa&client_id=i"));
    buf_done(&form);
}

TEST(the_method_is_one_that_both_sides_know)
{
    static const struct {
        bool basic, post, none;
        struct str wanted;
        bool has_secret;
        enum token_method method;
    } cases[] = {
        { true, true, true, S(""), true, TOKEN_BASIC },
        { false, true, true, S(""), true, TOKEN_POST },
        { false, false, true, S(""), true, TOKEN_NONE },
        { false, false, false, S(""), true, TOKEN_METHODS },
        { true, true, true, S(""), false, TOKEN_NONE },
        { true, true, true, S("client_secret_post"), true, TOKEN_POST },
        { true, true, true, S("client_secret_post"), false, TOKEN_NONE },
        { true, true, true, S("none"), true, TOKEN_NONE },
        { true, false, false, S("private_key_jwt"), true, TOKEN_BASIC },
    };

    FOR_EACH_CASE(c, cases) {
        struct server_document server = { .has_method = { c->basic, c->post, c->none } };

        CHECK_INT(token_method_choose(&server, c->wanted, c->has_secret), c->method);
    }
}

TEST(a_registration_says_what_kind_of_program_we_are)
{
    static const struct {
        struct str redirect_uri, type;
    } cases[] = {
        { S("http://127.0.0.1:1/callback"), S("native") },
        { S("https://moot.example/oauth/callback"), S("web") },
    };

    FOR_EACH_CASE(c, cases) {
        struct registration registration = { .client_name = S("Moot"),
                                             .redirect_uri = c->redirect_uri,
                                             .method = TOKEN_NONE };
        struct buf json, want;

        buf_init(&json, 1000);
        buf_init(&want, 1000);
        buf_putf(&want,
                 "{\"client_name\":\"Moot\",\"redirect_uris\":[\"" STR_FMT
                 "\"],\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
                 "\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"none\","
                 "\"application_type\":\"" STR_FMT "\"}",
                 STR_ARG(c->redirect_uri), STR_ARG(c->type));
        registration_put_json(&json, &registration);
        CHECK_STR(buf_str(&json), buf_str(&want));
        buf_done(&json);
        buf_done(&want);
    }
}

TEST(a_grant_is_kept_as_a_whole)
{
    struct oauth_grant grant = {}, again = {};
    struct buf json;

    buf_init(&json, 4000);
    for (enum grant_text i = 0; i < GRANT_TEXTS; i++) {
        char text[] = { 'a', '"', (char)('a' + i), '\0' };

        oauth_grant_set(&grant, i, str_of(text));
    }
    oauth_grant_set(&grant, GRANT_CLIENT_SECRET, S(""));
    grant.ends_ms = 12345;
    oauth_grant_write(&json, &grant);
    CHECK_INT(oauth_grant_read(buf_str(&json), &again), OK);
    for (enum grant_text i = 0; i < GRANT_TEXTS; i++)
        CHECK_STR(oauth_grant_get(&again, i), oauth_grant_get(&grant, i));
    CHECK_INT(again.ends_ms, 12345);
    CHECK_INT(oauth_grant_read(S("{\"issuer\":1,\"ends_ms\":0}"), &again), ERR_INVALID);
    CHECK_INT(oauth_grant_read(S("{\"issuer\":\"x\"}"), &again), ERR_INVALID);
    CHECK_INT(oauth_grant_read(S("nonsense"), &again), ERR_INVALID);
    CHECK_STR(oauth_grant_get(&again, GRANT_ISSUER),
              oauth_grant_get(&grant, GRANT_ISSUER));
    oauth_grant_done(&grant);
    oauth_grant_done(&again);
    CHECK_STR(oauth_grant_get(&again, GRANT_ISSUER), S(""));
    buf_done(&json);
}
