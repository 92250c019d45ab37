/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"
#include "oauth/document.h"

enum { ROOM = 64 << 10 };

TEST(a_resource_names_who_gives_tokens_for_it)
{
    struct resource_document document;
    struct arena arena;
    const char *why = NULL;

    arena_init(&arena, ROOM);
    CHECK_INT(resource_document_read(
                  S("{\"resource\":\"https://a/mcp\",\"x\":1,\"authorization_servers\":"
                    "[\"https://b/t\",\"https://c\"],\"scopes_supported\":"
                    "[\"r\",\"w\",\"r\"]}"),
                  &arena, &document, &why),
              OK);
    CHECK_STR(document.resource, S("https://a/mcp"));
    CHECK_INT(document.authorization_servers.count, 2);
    CHECK_STR(document.authorization_servers.items[1], S("https://c"));
    CHECK_STR(document.scopes, S("r w"));
    CHECK(!resource_document_fault(&document, S("https://a/mcp")));
    CHECK(!resource_document_fault(&document, S("https://a/mcp/x")));
    CHECK(resource_document_fault(&document, S("https://a/other")));
    CHECK(resource_document_fault(&document, S("https://evil/mcp")));
    arena_done(&arena);
}

TEST(a_resource_that_does_not_say_enough_is_refused)
{
    static const struct str cases[] = {
        S(""),
        S("[]"),
        S("{}"),
        S("{\"resource\":\"https://a\"}"),
        S("{\"resource\":\"https://a\",\"authorization_servers\":[]}"),
        S("{\"resource\":\"https://a\",\"authorization_servers\":[1]}"),
        S("{\"resource\":\"https://a\",\"authorization_servers\":[\"file:///x\"]}"),
        S("{\"resource\":\"https://a\",\"authorization_servers\":[\"https://b?x\"]}"),
        S("{\"resource\":\"https://a#x\",\"authorization_servers\":[\"https://b\"]}"),
        S("{\"resource\":7,\"authorization_servers\":[\"https://b\"]}"),
        S("{\"resource\":\"https://a\",\"authorization_servers\":[\"https://b\"],"
          "\"scopes_supported\":[\"a\\\"b\"]}"),
    };

    FOR_EACH_CASE(c, cases) {
        struct resource_document document;
        struct arena arena;
        const char *why = NULL;

        arena_init(&arena, ROOM);
        CHECK_INT(resource_document_read(*c, &arena, &document, &why), ERR_INVALID);
        CHECK(why != NULL);
        arena_done(&arena);
    }
}

#define ENDPOINTS \
    "\"authorization_endpoint\":\"https://b/a\",\"token_endpoint\":\"https://b/t\""

TEST(a_server_says_what_it_does)
{
    struct server_document d;
    struct arena arena;
    const char *why;

    arena_init(&arena, ROOM);
    CHECK_INT(
        server_document_read(
            S("{\"issuer\":\"https://b\"," ENDPOINTS
              ",\"registration_endpoint\":\"https://b/r\",\"scopes_supported\":"
              "[\"offline_access\"],\"code_challenge_methods_supported\":[\"plain\","
              "\"S256\"],\"token_endpoint_auth_methods_supported\":"
              "[\"private_key_jwt\",\"client_secret_post\"],"
              "\"client_id_metadata_document_supported\":true,"
              "\"authorization_response_iss_parameter_supported\":true}"),
            S("https://b"), &arena, &d, &why),
        OK);
    CHECK_STR(d.authorization_endpoint, S("https://b/a"));
    CHECK_STR(d.token_endpoint, S("https://b/t"));
    CHECK_STR(d.registration_endpoint, S("https://b/r"));
    CHECK_STR(d.scopes, S("offline_access"));
    CHECK(d.has_s256 && d.takes_metadata_urls && d.sends_issuer);
    CHECK(!d.has_method[TOKEN_BASIC] && d.has_method[TOKEN_POST] &&
          !d.has_method[TOKEN_NONE]);
    CHECK_INT(server_document_read(S("{\"issuer\":\"https://b\"," ENDPOINTS "}"),
                                   S("https://b"), &arena, &d, &why),
              OK);
    CHECK(!d.has_s256 && !d.takes_metadata_urls && !d.sends_issuer);
    CHECK(d.has_method[TOKEN_BASIC] && !d.has_method[TOKEN_POST] &&
          d.has_method[TOKEN_NONE]);
    arena_done(&arena);
}

TEST(a_server_that_is_another_or_leads_elsewhere_is_refused)
{
    static const struct str cases[] = {
        S("{" ENDPOINTS "}"),
        S("{\"issuer\":\"https://b/\"," ENDPOINTS "}"),
        S("{\"issuer\":\"https://B\"," ENDPOINTS "}"),
        S("{\"issuer\":\"https://b:443\"," ENDPOINTS "}"),
        S("{\"issuer\":\"https://evil\"," ENDPOINTS "}"),
        S("{\"issuer\":\"https://b\"}"),
        S("{\"issuer\":\"https://b\",\"authorization_endpoint\":\"javascript:x\","
          "\"token_endpoint\":\"https://b/t\"}"),
        S("{\"issuer\":\"https://b\",\"authorization_endpoint\":\"https://b/a\","
          "\"token_endpoint\":\"file:///t\"}"),
        S("{\"issuer\":\"https://b\",\"issuer\":\"https://b\"," ENDPOINTS "}"),
    };

    FOR_EACH_CASE(c, cases) {
        struct server_document document;
        struct arena arena;
        const char *why = NULL;

        arena_init(&arena, ROOM);
        CHECK_INT(server_document_read(*c, S("https://b"), &arena, &document, &why),
                  ERR_INVALID);
        CHECK(why != NULL);
        arena_done(&arena);
    }
}

TEST(a_registration_is_a_client_id_and_perhaps_a_secret)
{
    static const struct {
        struct str text;
        enum err err;
        struct str id, secret, method;
    } cases[] = {
        { S("{\"client_id\":\"i\"}"), OK, S("i"), S(""), S("") },
        { S("{\"client_id\":\"i\",\"client_secret\":\"s\","
            "\"token_endpoint_auth_method\":\"none\"}"),
          OK, S("i"), S("s"), S("none") },
        { S("{\"client_id\":\"i\",\"client_secret\":null}"), OK, S("i"), S(""), S("") },
        { S("{\"client_id\":\"\"}"), ERR_INVALID, {}, {}, {} },
        { S("{\"client_id\":\"a\\nb\"}"), ERR_INVALID, {}, {}, {} },
        { S("{\"client_id\":\"i\",\"client_secret\":1}"), ERR_INVALID, {}, {}, {} },
        { S("null"), ERR_INVALID, {}, {}, {} },
    };

    FOR_EACH_CASE(c, cases) {
        struct client_document document = {};
        struct arena arena;
        const char *why;

        arena_init(&arena, ROOM);
        CHECK_INT(client_document_read(c->text, &arena, &document, &why), c->err);
        CHECK_STR(document.client_id, c->id);
        CHECK_STR(document.client_secret, c->secret);
        CHECK_STR(document.method, c->method);
        arena_done(&arena);
    }
}

TEST(tokens_are_bearer_tokens_that_fit_into_a_header)
{
    static const struct {
        struct str text;
        enum err err;
        struct str access, refresh, scope;
        uint64_t lasts_s;
    } cases[] = {
        { S("{\"access_token\":\"t\",\"token_type\":\"bearer\"}"), OK, S("t"), S(""),
          S(""), UINT64_MAX },
        { S("{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"refresh_token\":\"r\","
            "\"scope\":\"a b\",\"expires_in\":3600}"),
          OK, S("t"), S("r"), S("a b"), 3600 },
        { S("{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":\"60\"}"),
          OK, S("t"), S(""), S(""), 60 },
        { S("{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":-1}"), OK,
          S("t"), S(""), S(""), UINT64_MAX },
        { S("{\"access_token\":\"t\\r\\nX: y\",\"token_type\":\"Bearer\"}"),
          ERR_INVALID,
          {},
          {},
          {},
          0 },
        { S("{\"access_token\":\"t\"}"), ERR_INVALID, {}, {}, {}, 0 },
        { S("{\"access_token\":\"t\",\"token_type\":\"mac\"}"),
          ERR_INVALID,
          {},
          {},
          {},
          0 },
        { S("{\"error\":\"invalid_grant\"}"), ERR_INVALID, {}, {}, {}, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct token_document document = {};
        struct arena arena;
        const char *why;

        arena_init(&arena, ROOM);
        CHECK_INT(token_document_read(c->text, &arena, &document, &why), c->err);
        CHECK_STR(document.access_token, c->access);
        CHECK_STR(document.refresh_token, c->refresh);
        CHECK_STR(document.scope, c->scope);
        CHECK_INT(document.lasts_s, c->lasts_s);
        arena_done(&arena);
    }
}

TEST(scopes_are_sets)
{
    struct buf all;

    buf_init(&all, 100);
    scopes_put(&all, S("a  b"));
    scopes_put(&all, S(""));
    scopes_put(&all, S("b c a"));
    CHECK_STR(buf_str(&all), S("a b c"));
    CHECK(scopes_have_all(buf_str(&all), S("c a")));
    CHECK(scopes_have_all(buf_str(&all), S("")));
    CHECK(!scopes_have_all(buf_str(&all), S("a d")));
    CHECK(!scopes_have(buf_str(&all), S("a b")));
    CHECK(!scopes_are_valid(S("a\"")) && !scopes_are_valid(S("a\n")));
    buf_done(&all);
}
