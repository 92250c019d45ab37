/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "envelope/kind.h"
#include "harness.h"

TEST(d13_kinds_of_the_grammar_are_read)
{
    static const struct {
        struct str text;
        enum kind_type type;
        struct str method, context;
    } cases[] = {
        { S("chat"), KIND_CHAT, {}, {} },
        { S("mcp/approve"), KIND_APPROVE, {}, {} },
        { S("mcp/withdraw"), KIND_WITHDRAW, {}, {} },
        { S("mcp/reject"), KIND_REJECT, {}, {} },
        { S("participant/routing"), KIND_ROUTING, {}, {} },
        { S("participant/status"), KIND_OTHER, {}, {} },
        { S("participant/routing/x"), KIND_OTHER, {}, {} },
        { S("participant"), KIND_OTHER, {}, {} },
        { S("participant/pause"), KIND_COMMAND, {}, {} },
        { S("participant/resume"), KIND_COMMAND, {}, {} },
        { S("participant/kick"), KIND_COMMAND, {}, {} },
        { S("participant/kick/x"), KIND_OTHER, {}, {} },
        { S("topic/invite"), KIND_COMMAND, {}, {} },
        { S("topic/set"), KIND_COMMAND, {}, {} },
        { S("topic/set/x"), KIND_OTHER, {}, {} },
        { S("rule/suggest"), KIND_COMMAND, {}, {} },
        { S("rule/add"), KIND_COMMAND, {}, {} },
        { S("rule/accept"), KIND_COMMAND, {}, {} },
        { S("rule/decline"), KIND_COMMAND, {}, {} },
        { S("rule/disable"), KIND_COMMAND, {}, {} },
        { S("rule/enable"), KIND_COMMAND, {}, {} },
        { S("rule/remove"), KIND_COMMAND, {}, {} },
        { S("rule/shadow"), KIND_OTHER, {}, {} },
        { S("rule/use"), KIND_OTHER, {}, {} },
        { S("capability/grant"), KIND_COMMAND, {}, {} },
        { S("capability/revoke"), KIND_COMMAND, {}, {} },
        { S("capability/grant-ack"), KIND_OTHER, {}, {} },
        { S("a"), KIND_OTHER, {}, {} },
        { S("a-/b9-/c"), KIND_OTHER, {}, {} },
        { S("systems/x"), KIND_OTHER, {}, {} },
        { S("systems"), KIND_OTHER, {}, {} },
        { S("system-x"), KIND_OTHER, {}, {} },
        { S("presences"), KIND_OTHER, {}, {} },
        { S("chats"), KIND_OTHER, {}, {} },
        { S("mcpy/approve"), KIND_OTHER, {}, {} },
        { S("x/mcp/chat/system/presence"), KIND_OTHER, {}, {} },
        { S("mcp/request:tools/call"), KIND_REQUEST, S("tools/call"), {} },
        { S("mcp/response:tools/call"), KIND_RESPONSE, S("tools/call"), {} },
        { S("mcp/proposal:tools/call"), KIND_PROPOSAL, S("tools/call"), {} },
        { S("mcp/request:ping"), KIND_REQUEST, S("ping"), {} },
        { S("mcp/request:_x/9.-_/A"), KIND_REQUEST, S("_x/9.-_/A"), {} },
        { S("mcp/request:sampling/createMessage"),
          KIND_REQUEST,
          S("sampling/createMessage"),
          {} },
        { S("mcp/request:tools/call:read_file"), KIND_REQUEST, S("tools/call"),
          S("read_file") },
        { S("mcp/request:resources/read:file:///a/b?c#d"), KIND_REQUEST,
          S("resources/read"), S("file:///a/b?c#d") },
        { S("mcp/proposal:tools/call::"), KIND_PROPOSAL, S("tools/call"), S(":") },
        { S("mcp/request:a:/"), KIND_REQUEST, S("a"), S("/") },
        { S("mcp/request:a:\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x98\x80"), KIND_REQUEST, S("a"),
          S("\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x98\x80") },
        { S("mcp/request:a:\"\\<>{}|^`'"), KIND_REQUEST, S("a"), S("\"\\<>{}|^`'") },
    };

    FOR_EACH_CASE(c, cases) {
        struct kind kind = {};

        CHECK_INT(kind_parse(c->text, &kind), OK);
        CHECK_INT(kind.type, c->type);
        CHECK_STR(kind.text, c->text);
        CHECK_STR(kind.method, c->method);
        CHECK_STR(kind.context, c->context);
        CHECK_INT(kind.context.ptr != NULL, c->context.ptr != NULL);
    }
}

TEST(d13_the_gateways_own_kinds_are_reserved)
{
    static const struct str cases[] = {
        S("system"),        S("system/"),   S("system/welcome"), S("system/error"),
        S("system/a/b"),    S("system/\0"), S("system/WELCOME"), S("system/*"),
        S("system/\x7f x"), S("system//"),  S("presence"),
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(kind_parse(*c, &(struct kind){}), ERR_RESERVED_NAMESPACE);
}

static const struct str malformed[] = {
    S(""),
    S("/"),
    S("a/"),
    S("/a"),
    S("a//b"),
    S("A"),
    S("a/B"),
    S("9a"),
    S("-a"),
    S("a/-b"),
    S("a_b"),
    S("a.b"),
    S("a b"),
    S(" a"),
    S("a "),
    S("a\n"),
    S("a\0"),
    S("\0"),
    S("a*"),
    S("*"),
    S("a:b"),
    S("\xd0\xb0"),
    S("\xef\xbd\x83hat"),
    S("chat\0"),
    S("chat/"),
    S("chat/cancel"),
    S("chat:x"),
    S("Chat"),
    S("CHAT"),
    S("presence/x"),
    S("presence/"),
    S("Presence"),
    S("System"),
    S("SYSTEM/x"),
    S("system\0"),
    S("system:x"),
    S("system "),
    S(" system/x"),
    S("\xe2\x80\x8bsystem/x"),
    S("\xef\xbd\x93ystem/x"),
    S("mcp"),
    S("mcp/"),
    S("mcp/x"),
    S("mcp/request"),
    S("mcp/request:"),
    S("mcp/request:/"),
    S("mcp/request::"),
    S("mcp/request::x"),
    S("mcp/request:a/"),
    S("mcp/request:/a"),
    S("mcp/request:a//b"),
    S("mcp/request:.a"),
    S("mcp/request:-a"),
    S("mcp/request:a/.b"),
    S("mcp/request:a b"),
    S("mcp/request:a*"),
    S("mcp/request:*"),
    S("mcp/request:a\0"),
    S("mcp/request:\xc3\xa4"),
    S("mcp/request:tools/call:"),
    S("mcp/request/tools/call"),
    S("mcp/Request:a"),
    S("MCP/request:a"),
    S("mcp/requests:a"),
    S("mcp/approve/x"),
    S("mcp/approve:x"),
    S("mcp/approve "),
    S("mcp/approved"),
    S("mcpx"),
    S("mcpx/approve"),
    S("mcp.request.tools/call"),
    S("mcpx.withdraw.proposal"),
};

TEST(d13_whatever_fails_the_grammar_is_malformed)
{
    FOR_EACH_CASE(c, malformed) {
        struct kind kind = { .type = KIND_CHAT, .text = S("untouched") };

        CHECK_INT(kind_parse(*c, &kind), ERR_MALFORMED_KIND);
        CHECK_STR(kind.text, S("untouched"));
    }
}

TEST(d13_a_context_holds_no_controls_no_spaces_and_no_wildcard)
{
    static const struct str cases[] = {
        S(" "),
        S("a b"),
        S("a "),
        S("*"),
        S("a*b"),
        S("\t"),
        S("\n"),
        S("\0"),
        S("a\0"),
        S("\x1f"),
        S("\x7f"),
        S("\xc2\x80"),
        S("\xc2\x85"),
        S("\xc2\x9f"),
        S("\xc2\xa0"),
        S("\xe1\x9a\x80"),
        S("\xe2\x80\x80"),
        S("\xe2\x80\x8a"),
        S("\xe2\x80\xa8"),
        S("\xe2\x80\xa9"),
        S("\xe2\x80\xaf"),
        S("\xe2\x81\x9f"),
        S("\xe3\x80\x80"),
        S("a\xff"),
        S("\xe2\x82"),
        S("\xed\xa0\x80"),
    };
    static const struct str neighbours[] = {
        S("!"),
        S("\xc2\xa1"),
        S("\xe2\x80\x8b"),
        S("\xe2\x80\xa7"),
        S("\xe3\x80\x81"),
        S("\xe1\x9a\x81"),
        S("\xe2\x80\xb0"),
    };
    char text[64] = "mcp/request:tools/call:";
    size_t start = strlen(text);

    FOR_EACH_CASE(c, cases) {
        memcpy(text + start, c->ptr, c->len);
        CHECK_INT(kind_parse((struct str){ text, start + c->len }, &(struct kind){}),
                  ERR_MALFORMED_KIND);
    }
    FOR_EACH_CASE(c, neighbours) {
        memcpy(text + start, c->ptr, c->len);
        CHECK_INT(kind_parse((struct str){ text, start + c->len }, &(struct kind){}), OK);
    }
}

TEST(d7_a_kind_is_at_most_2048_bytes_long)
{
    static char text[KIND_MAX_BYTES + 1];
    struct kind kind;

    memset(text, 'a', sizeof(text));
    CHECK_INT(kind_parse((struct str){ text, KIND_MAX_BYTES }, &kind), OK);
    CHECK_INT(kind_parse((struct str){ text, KIND_MAX_BYTES + 1 }, &kind),
              ERR_MALFORMED_KIND);
    CHECK_INT(kind_parse((struct str){}, &kind), ERR_MALFORMED_KIND);
}
