/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "envelope/translate.h"
#include "harness.h"

static struct arena scratch;
static char space[KIND_MAX_BYTES];
static char out[4096];

/* The text in the other dialect. */
static struct str translated(struct str text, enum dialect from)
{
    struct envelope env = {};
    struct translation t;
    struct str slash = {};

    arena_init(&scratch, 1 << 20);
    CHECK_INT(envelope_scan(text, 128, from, &scratch, &env, NULL), OK);
    slash = env.kind_text;
    if (from == DIALECT_DOTTED)
        CHECK_INT(kind_to_slash(env.kind_text, space, &slash), OK);
    CHECK_INT(kind_parse(slash, &env.kind), OK);
    translation_init(&t, &env, dialect_other(from));
    CHECK(t.len <= sizeof(out));
    translation_write(&t, out);
    arena_done(&scratch);
    return (struct str){ out, t.len };
}

TEST(d20_only_protocol_and_kind_differ_between_the_dialects)
{
    /* clang-format off */
    static const struct { struct str slash, dotted; } cases[] = {
        { S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"chat\",\"payload\":{}}"),
          S("{\"protocol\":\"mcpx/draft\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"chat.message\",\"payload\":{}}") },
        /* any order, any space, numbers as they are, the words elsewhere */
        { S(" {\t\"kind\" :\"mcp/withdraw\", \"x\":1.50e+0,\"payload\":{\"kind\":\"chat\",\"protocol\":\"mcpx/v0.1\"},\n"
            "\"from\":\"mcpx/v0.1\",\"id\":\"chat\",\"protocol\": \"mcpx/v0.1\"}\n"),
          S(" {\t\"kind\" :\"mcpx.withdraw.proposal\", \"x\":1.50e+0,\"payload\":{\"kind\":\"chat\",\"protocol\":\"mcpx/v0.1\"},\n"
            "\"from\":\"mcpx/v0.1\",\"id\":\"chat\",\"protocol\": \"mcpx/draft\"}\n") },
        { S("{\"protocol\":\"mcpx/v0.1\",\"kind\":\"mcp/request:a.b/c:d.e/f:\xc3\xbc\",\"id\":\"\\u0041\",\"from\":\"a\",\"payload\":{\"\\u0041\":1}}"),
          S("{\"protocol\":\"mcpx/draft\",\"kind\":\"mcp.request.a.b/c:d.e/f:\xc3\xbc\",\"id\":\"\\u0041\",\"from\":\"a\",\"payload\":{\"\\u0041\":1}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CHECK_STR(translated(c->slash, DIALECT_SLASH), c->dotted);
        CHECK_STR(translated(c->dotted, DIALECT_DOTTED), c->slash);
    }
}

TEST(d20_escapes_in_the_two_values_are_resolved_where_they_are_not_needed)
{
    /* clang-format off */
    static const struct { struct str text; enum dialect from; struct str got; } cases[] = {
        { S("{\"protocol\":\"mcpx\\/v0.1\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"mcp\\/request:a:\\\"\\u00e4\\\\\",\"payload\":{}}"),
          DIALECT_SLASH,
          S("{\"protocol\":\"mcpx/draft\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"mcp.request.a:\\\"\xc3\xa4\\\\\",\"payload\":{}}") },
        { S("{\"protocol\":\"mcpx\\u002fdraft\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"chat\\u002emessage\",\"payload\":{}}"),
          DIALECT_DOTTED,
          S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"a\",\"kind\":\"chat\",\"payload\":{}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_STR(translated(c->text, c->from), c->got);
}
