/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "oauth/challenge.h"

TEST(what_a_server_wants_is_read_from_its_challenge)
{
    static const struct {
        struct str fields;
        struct bearer_challenge is;
    } cases[] = {
        { S("Bearer"), {} },
        { S("Bearer resource_metadata=\"https://a/x\", scope=\"a b\""),
          { S("https://a/x"), S("a b"), S("") } },
        { S("bearer SCOPE=a,error=insufficient_scope"),
          { S(""), S("a"), S("insufficient_scope") } },
        { S("Bearer realm=\"a, Bearer scope=\\\"no\\\"\", scope=\"\\yes\""),
          { S(""), S("yes"), S("") } },
        { S("Basic realm=\"x\", Bearer scope=\"a\", DPoP algs=\"ES256\", scope=\"b\""),
          { S(""), S("a"), S("") } },
        { S("Negotiate dGVzdA==, Bearer scope=a"), { S(""), S("a"), S("") } },
        { S("Negotiate abc/+=, Bearer scope=a"), { S(""), S("a"), S("") } },
        { S("Basic realm=x, Bearer scope=a"), { S(""), S("a"), S("") } },
        { S("Negotiate\nBearer  scope = \"a\" , error = x"), { S(""), S("a"), S("x") } },
        { S(",, Bearer ,scope=a, ,"), { S(""), S("a"), S("") } },
        { S("Bearer scope=first, scope=second"), { S(""), S("first"), S("") } },
    };

    FOR_EACH_CASE(c, cases) {
        struct bearer_challenge got = {};
        struct arena arena;

        arena_init(&arena, 1000);
        CHECK_INT(bearer_challenge_read(c->fields, &arena, &got), OK);
        CHECK_STR(got.resource_metadata, c->is.resource_metadata);
        CHECK_STR(got.scope, c->is.scope);
        CHECK_STR(got.error, c->is.error);
        arena_done(&arena);
    }
}

TEST(what_is_no_bearer_challenge_says_nothing)
{
    static const struct {
        struct str fields;
        enum err err;
    } cases[] = {
        { S(""), ERR_NOT_FOUND },
        { S("Basic realm=\"Bearer\""), ERR_NOT_FOUND },
        { S("DPoP scope=a"), ERR_NOT_FOUND },
        { S("Bearer scope=\"open"), ERR_INVALID },
        { S("Bearer scope=\"open\\"), ERR_INVALID },
        { S("Bearer scope="), ERR_INVALID },
        { S("Bearer =x"), ERR_INVALID },
        { S("\"Bearer\""), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct bearer_challenge got = {};
        struct arena arena;

        arena_init(&arena, 1000);
        CHECK_INT(bearer_challenge_read(c->fields, &arena, &got), c->err);
        CHECK_STR(got.scope, S(""));
        arena_done(&arena);
    }
}
