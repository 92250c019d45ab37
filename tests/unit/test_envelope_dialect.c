/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "envelope/dialect.h"
#include "harness.h"

static char there[KIND_MAX_BYTES], back[KIND_MAX_BYTES];

TEST(adr_m3p_the_migration_list_maps_both_ways)
{
    /* clang-format off */
    static const struct {
        struct str slash, dotted;
    } cases[] = {
        { S("mcp/request:tools/call"),             S("mcp.request.tools/call") },
        { S("mcp/request:tools/call:read_file"),   S("mcp.request.tools/call:read_file") },
        { S("mcp/response:tools/call"),            S("mcp.response.tools/call") },
        { S("mcp/proposal:tools/call"),            S("mcp.proposal.tools/call") },
        { S("mcp/request:x.y.z/v1.2:a.b/c:d"),     S("mcp.request.x.y.z/v1.2:a.b/c:d") },
        { S("mcp/request:request:request.x"),      S("mcp.request.request:request.x") },
        { S("mcp/withdraw"),                       S("mcpx.withdraw.proposal") },
        { S("mcp/reject"),                         S("mcpx.reject.proposal") },
        { S("mcp/approve"),                        S("mcpx.approve.proposal") },
        { S("chat"),                               S("chat.message") },
        { S("system/welcome"),                     S("system.welcome") },
        { S("system/presence"),                    S("system.presence") },
        { S("system/error"),                       S("system.error") },
        { S("system/gap"),                         S("system.gap") },
        { S("participant/routing"),                S("participant.routing") },
        { S("participant/status"),                 S("participant.status") },
        { S("capability/grant-ack"),               S("capability.grant-ack") },
        { S("a/b/c-9"),                            S("a.b.c-9") },
        { S("hello"),                              S("hello") },
        { S("x/chat/mcp"),                         S("x.chat.mcp") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct str ret = {};

        CHECK_INT(kind_to_dotted(c->slash, there, &ret), OK);
        CHECK_STR(ret, c->dotted);
        CHECK_INT(kind_to_slash(c->dotted, there, &ret), OK);
        CHECK_STR(ret, c->slash);
        CHECK_STR(kind_in(c->slash, DIALECT_DOTTED, there), c->dotted);
        CHECK_STR(kind_in(c->slash, DIALECT_SLASH, there), c->slash);
    }
}

TEST(d20_what_is_no_dotted_kind_becomes_none)
{
    static const struct str cases[] = {
        S(""),
        S("."),
        S("a."),
        S(".a"),
        S("a..b"),
        S("chat"),
        S("chat."),
        S("chat.x"),
        S("chat.message.text"),
        S("chat.message.x"),
        S("mcp"),
        S("mcp."),
        S("mcp.request"),
        S("mcp.request."),
        S("mcp.request.:x"),
        S("mcp.request./x"),
        S("mcp.request.tools/call:"),
        S("mcp.withdraw"),
        S("mcp.approve.proposal"),
        S("mcp.withdraw.proposal"),
        S("mcpx"),
        S("mcpx.withdraw"),
        S("mcpx.withdraw.proposal.x"),
        S("mcpx.withdraw.proposals"),
        S("mcpx.request.tools/call"),
        S("a/b"),
        S("a.b/c"),
        S("a.b:c"),
        S("mcp/request:tools/call"),
        S("mcp/withdraw"),
        S("mcp.request:tools/call"),
        S("mcp/request.tools/call"),
        S("presence.x"),
        S("A.b"),
        S("a.b "),
        S("a.b\0"),
        S("proposal.withdraw"),
        S("proposal.reject"),
    };

    FOR_EACH_CASE(c, cases) {
        struct str slash = {};
        struct kind kind;
        enum err err = kind_to_slash(*c, there, &slash);

        if (!err)
            err = kind_parse(slash, &kind);
        CHECK_INT(err, ERR_MALFORMED_KIND);
    }
}

TEST(d13_the_gateways_kinds_stay_reserved_in_dots)
{
    static const struct str cases[] = { S("system"), S("system.welcome"), S("system.x.y"),
                                        S("presence") };

    FOR_EACH_CASE(c, cases) {
        struct str slash = {};

        CHECK_INT(kind_to_slash(*c, there, &slash), OK);
        CHECK_INT(kind_parse(slash, &(struct kind){}), ERR_RESERVED_NAMESPACE);
    }
}

TEST(d20_a_form_of_other_documents_or_of_the_other_spelling_names_what_is_meant)
{
    /* clang-format off */
    static const struct {
        struct str text;
        enum dialect dialect;
        struct str meant;
    } cases[] = {
        { S("chat.message.text"),          DIALECT_DOTTED, S("chat.message") },
        { S("chat.message.text"),          DIALECT_SLASH,  S("chat") },
        { S("system.welcome.participant"), DIALECT_DOTTED, S("system.welcome") },
        { S("system.presence.join"),       DIALECT_DOTTED, S("system.presence") },
        { S("system.presence.leave"),      DIALECT_SLASH,  S("system/presence") },
        { S("system.error.capability"),    DIALECT_DOTTED, S("system.error") },
        { S("proposal/withdraw"),          DIALECT_SLASH,  S("mcp/withdraw") },
        { S("proposal/withdraw"),          DIALECT_DOTTED, S("mcpx.withdraw.proposal") },
        { S("proposal.withdraw"),          DIALECT_DOTTED, S("mcpx.withdraw.proposal") },
        { S("proposal/reject"),            DIALECT_SLASH,  S("mcp/reject") },
        { S("proposal.reject"),            DIALECT_DOTTED, S("mcpx.reject.proposal") },
        { S("mcp.request.tools/call:x"),   DIALECT_SLASH,  S("mcp/request:tools/call:x") },
        { S("mcp/request:tools/call:x"),   DIALECT_DOTTED, S("mcp.request.tools/call:x") },
        { S("chat"),                       DIALECT_DOTTED, S("chat.message") },
        { S("chat.message"),               DIALECT_SLASH,  S("chat") },
        { S("mcp/approve"),                DIALECT_DOTTED, S("mcpx.approve.proposal") },
        { S("mcpx.approve.proposal"),      DIALECT_SLASH,  S("mcp/approve") },
        { S("a/b"),                        DIALECT_DOTTED, S("a.b") },
        { S("a.b"),                        DIALECT_SLASH,  S("a/b") },
        { S("nonsense!"),                  DIALECT_SLASH,  S("") },
        { S("nonsense!"),                  DIALECT_DOTTED, S("") },
        { S("mcp/x"),                      DIALECT_DOTTED, S("") },
        { S("mcp.x"),                      DIALECT_SLASH,  S("") },
        { S("system/welcome"),             DIALECT_DOTTED, S("") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_STR(kind_meant(c->text, c->dialect, there), c->meant);
}

TEST(d20_refused_forms_fail_the_grammar_in_both_spellings)
{
    static const struct {
        struct str text;
        enum dialect dialect;
    } cases[] = {
        { S("proposal/withdraw"), DIALECT_SLASH },
        { S("proposal/reject"), DIALECT_SLASH },
        { S("proposal.withdraw"), DIALECT_DOTTED },
        { S("chat.message.text"), DIALECT_DOTTED },
        { S("system.welcome.participant"), DIALECT_DOTTED },
        { S("system.presence.join"), DIALECT_DOTTED },
        { S("system.presence.leave"), DIALECT_DOTTED },
        { S("system.error.capability"), DIALECT_DOTTED },
    };

    FOR_EACH_CASE(c, cases) {
        struct str slash = c->text;
        struct kind kind;
        enum err err = OK;

        if (c->dialect == DIALECT_DOTTED)
            err = kind_to_slash(c->text, there, &slash);
        if (!err)
            err = kind_parse(slash, &kind);
        CHECK_INT(err, ERR_MALFORMED_KIND);
    }
}

/* The n-th text over a few characters that matter to both grammars. */
static struct str nth_text(size_t n, char *space)
{
    static const char *const parts[] = { "mcp",     "mcpx",     "chat",     "message",
                                         "request", "withdraw", "proposal", "system",
                                         "a",       "/",        ".",        ":" };
    size_t len = 0;

    while (n) {
        const char *part = parts[--n % 12];

        memcpy(space + len, part, strlen(part));
        len += strlen(part);
        n /= 12;
    }
    return (struct str){ space, len };
}

TEST(d20_the_mapping_is_a_bijection_on_kinds)
{
    char text[128];
    size_t kinds = 0;

    for (size_t n = 0; n < 12 * 12 * 12 * 12 * 12 * 2; n++) {
        struct str one = nth_text(n, text);
        struct str other = {};
        struct str again = {};
        struct kind kind;

        if (kind_parse(one, &kind) == OK) {
            kinds++;
            CHECK_INT(kind_to_dotted(one, there, &other), OK);
            CHECK_INT(kind_to_slash(other, back, &again), OK);
            CHECK_STR(again, one);
        }
        /* Nothing else comes from dots: two texts never become one kind. */
        if (kind_to_slash(one, there, &other) == OK && kind_parse(other, &kind) == OK) {
            CHECK_INT(kind_to_dotted(other, back, &again), OK);
            CHECK_STR(again, one);
        }
    }
    CHECK(kinds > 1000);
}

TEST(the_longest_kind_has_place_in_both_spellings)
{
    char text[KIND_MAX_BYTES + 1];
    struct str ret = {};

    memset(text, 'a', sizeof(text));
    memcpy(text, "mcp/request:", 12);
    CHECK_INT(kind_to_dotted((struct str){ text, KIND_MAX_BYTES }, there, &ret), OK);
    CHECK_INT(ret.len, KIND_MAX_BYTES);
    CHECK_INT(kind_to_dotted((struct str){ text, sizeof(text) }, there, &ret),
              ERR_MALFORMED_KIND);
    memcpy(text, "x/", 2);
    memset(text + 2, 'a', 10);
    CHECK_INT(kind_to_dotted((struct str){ text, KIND_MAX_BYTES }, there, &ret), OK);
    CHECK_INT(kind_to_dotted((struct str){ text, sizeof(text) }, there, &ret),
              ERR_MALFORMED_KIND);
}

TEST(dialects_have_names)
{
    enum dialect dialect = DIALECT_SLASH;

    CHECK(dialect_parse(S("dotted"), &dialect));
    CHECK_INT(dialect, DIALECT_DOTTED);
    CHECK(dialect_parse(S("slash"), &dialect));
    CHECK_INT(dialect, DIALECT_SLASH);
    CHECK(!dialect_parse(S("Slash"), &dialect));
    CHECK(!dialect_parse(S(""), &dialect));
    CHECK_STR(dialect_name(DIALECT_DOTTED), S("dotted"));
    CHECK_STR(dialect_protocol(DIALECT_SLASH), S("mcpx/v0.1"));
    CHECK_STR(dialect_protocol(DIALECT_DOTTED), S("mcpx/draft"));
    CHECK_STR(dialect_subprotocol(DIALECT_SLASH), S("mcpx.v0.1"));
    CHECK_STR(dialect_subprotocol(DIALECT_DOTTED), S("mcpx.draft"));
}
