/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "harness.h"
#include "participant/check.h"

enum { ROOM = 1 << 20 };

struct verdict_case {
    const char *text; /* what stands between the braces, after `protocol` */
    enum err err;
    const char *field;
};

#define IDS     "\"id\":\"1\",\"from\":\"ann\","
#define GATEWAY "\"id\":\"1\",\"from\":\"system:gateway\","

/* The name of what is wrong with it, the field, and who is at fault. */
static void check(const char *rest, enum err want, const char *field, struct str from)
{
    struct str got = S("");
    struct heard heard;
    struct arena scratch;
    struct buf text;
    enum err err;

    arena_init(&scratch, ROOM);
    buf_init(&text, ROOM);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\",%s}", rest);
    err = check_text(buf_str(&text), 128, &scratch, &heard, &got);
    CHECK_STR(str_of(err_name(err)), str_of(err_name(want)));
    CHECK_STR(got, str_of(field));
    CHECK_STR(heard.env.text, buf_str(&text));
    if (from.ptr)
        CHECK_STR(heard.env.from, from);
    buf_done(&text);
    arena_done(&scratch);
}

static void check_case(const struct verdict_case *c)
{
    check(c->text, c->err, c->field, (struct str){});
}

/* clang-format off */
TEST(an_envelope_is_one)
{
    static const struct verdict_case cases[] = {
        { IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"hi\"}", OK, "" },
        { "\"from\":\"ann\",\"kind\":\"chat\",\"payload\":{\"text\":\"hi\"}", ERR_MALFORMED_ENVELOPE, "id" },
        { "\"id\":\"1\",\"kind\":\"chat\",\"payload\":{\"text\":\"hi\"}", ERR_MALFORMED_ENVELOPE, "from" },
        { IDS "\"payload\":{\"text\":\"hi\"}", ERR_MALFORMED_ENVELOPE, "kind" },
        { IDS "\"kind\":\"chat\"", ERR_MALFORMED_ENVELOPE, "payload" },
        { IDS "\"kind\":\"chat\",\"payload\":[]", ERR_MALFORMED_ENVELOPE, "payload" },
        { IDS "\"kind\":\"chat\",\"kind\":\"x/y\",\"payload\":{}", ERR_MALFORMED_ENVELOPE, "kind" },
        { IDS "\"kind\":\"chat\",\"Kind\":\"x/y\",\"payload\":{}", ERR_MALFORMED_ENVELOPE, "Kind" },
        { IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"hi\"},\"ts\":\"yesterday\"", ERR_MALFORMED_ENVELOPE, "ts" },
        { IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"hi\"", ERR_MALFORMED_ENVELOPE, "" },
        { IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"\xff\"}", ERR_UTF8, "" },
        { IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"\xed\xa0\x80\"}", ERR_UTF8, "" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(control_characters_stand_nowhere_but_in_payloads)
{
    static const struct verdict_case cases[] = {
        { "\"id\":\"1\\u0000\",\"from\":\"ann\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "id" },
        { "\"id\":\"1\",\"from\":\"ann\\u0000\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "from" },
        { "\"id\":\"1\",\"from\":\"ann\\u009b\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "from" },
        { IDS "\"kind\":\"chat\\u0000\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"kind\":\"mcp/request:tools/call:a\\u001b\",\"payload\":{}", ERR_MALFORMED_KIND, "kind" },
        { GATEWAY "\"kind\":\"system/error\\u0000\",\"payload\":{}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"correlation_id\":\"a\\u0000b\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "correlation_id" },
        { IDS "\"correlation_id\":\"a\\nb\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "correlation_id" },
        { IDS "\"to\":[\"bob\",\"eve\\u0000\"],\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "to" },
        { IDS "\"to\":[\"bob\",\"eve\\u0085\"],\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_ENVELOPE, "to" },
        { IDS "\"to\":[\"bob\",\"eve\"],\"kind\":\"chat\",\"payload\":{\"text\":\"\\u0000\"}", OK, "" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(the_gateway_alone_is_the_gateway)
{
    static const struct verdict_case cases[] = {
        { GATEWAY "\"kind\":\"system/presence\",\"payload\":{}", OK, "" },
        { GATEWAY "\"kind\":\"system/something-new\",\"payload\":{}", OK, "" },
        { GATEWAY "\"kind\":\"capability/grant-ack\",\"payload\":{}", OK, "" },
        { GATEWAY "\"kind\":\"topic/invite\",\"payload\":{}", OK, "" },
        { GATEWAY "\"kind\":\"mcp/response:tools/list\",\"correlation_id\":\"q\",\"payload\":{\"result\":{}}", OK, "" },
        { GATEWAY "\"kind\":\"mcp/response:tools/list\",\"payload\":{\"result\":{}}", ERR_MISSING_CORRELATION, "correlation_id" },
        { GATEWAY "\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_RESERVED_NAMESPACE, "from" },
        { GATEWAY "\"kind\":\"mcp/request:tools/list\",\"payload\":{\"method\":\"tools/list\"}", ERR_RESERVED_NAMESPACE, "from" },
        { GATEWAY "\"kind\":\"capability/grant\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "from" },
        { GATEWAY "\"kind\":\"system\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "from" },
        { GATEWAY "\"kind\":\"presence\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "from" },
        { IDS "\"kind\":\"system/welcome\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "kind" },
        { IDS "\"kind\":\"system\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "kind" },
        { IDS "\"kind\":\"presence\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "kind" },
        { IDS "\"kind\":\"capability/grant-ack\",\"payload\":{}", OK, "" },
        { "\"id\":\"1\",\"from\":\"system\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_RESERVED_NAMESPACE, "from" },
        { "\"id\":\"1\",\"from\":\"system:bob\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", ERR_RESERVED_NAMESPACE, "from" },
        { "\"id\":\"1\",\"from\":\"system:bob\",\"kind\":\"system/error\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "from" },
        { "\"id\":\"1\",\"from\":\"systems\",\"kind\":\"chat\",\"payload\":{\"text\":\"\"}", OK, "" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(kinds_are_of_this_protocol_and_in_slashes)
{
    static const struct verdict_case cases[] = {
        { IDS "\"kind\":\"participant/status\",\"payload\":{\"any\":[1]}", OK, "" },
        { IDS "\"kind\":\"chat.message\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"kind\":\"Chat\",\"payload\":{\"text\":\"\"}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"kind\":\"mcp/request\",\"payload\":{}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"kind\":\"mcp/other:x\",\"payload\":{}", ERR_MALFORMED_KIND, "kind" },
        { IDS "\"kind\":\"\",\"payload\":{}", ERR_MALFORMED_KIND, "kind" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(a_payload_says_what_its_kind_says)
{
    static const struct verdict_case cases[] = {
        { IDS "\"kind\":\"mcp/request:tools/call:a\",\"payload\":{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}", OK, "" },
        { IDS "\"kind\":\"mcp/request:tools/call:a\",\"payload\":{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"b\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.params.name" },
        { IDS "\"kind\":\"mcp/request:tools/list\",\"payload\":{\"id\":1,\"method\":\"tools/call\"}", ERR_KIND_PAYLOAD_MISMATCH, "payload.method" },
        { IDS "\"kind\":\"mcp/request:tools/list\",\"payload\":{\"id\":1}", ERR_KIND_PAYLOAD_MISMATCH, "payload.method" },
        { IDS "\"kind\":\"mcp/request:tools/list\",\"payload\":{\"id\":1,\"method\":\"tools/list\",\"Method\":\"x\"}", ERR_KIND_PAYLOAD_MISMATCH, "payload.method" },
        { IDS "\"kind\":\"mcp/proposal:tools/list\",\"payload\":{\"method\":\"tools/call\"}", ERR_KIND_PAYLOAD_MISMATCH, "payload.method" },
        { IDS "\"correlation_id\":\"q\",\"kind\":\"mcp/response:tools/list\",\"payload\":{\"result\":{},\"error\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { IDS "\"correlation_id\":\"q\",\"kind\":\"mcp/response:tools/list\",\"payload\":{\"id\":1}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { IDS "\"correlation_id\":\"q\",\"kind\":\"mcp/response:tools/list\",\"payload\":{\"method\":\"tools/list\",\"result\":{}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.method" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(requests_are_json_rpc)
{
#define LIST IDS "\"kind\":\"mcp/request:tools/list\",\"payload\":{\"method\":\"tools/list\","
#define NOTE IDS "\"kind\":\"mcp/request:notifications/progress\",\"payload\":{\"method\":\"notifications/progress\""
    static const struct verdict_case cases[] = {
        { LIST "\"id\":1}", OK, "" },
        { LIST "\"id\":-1.5e3}", OK, "" },
        { LIST "\"id\":\"a\",\"params\":{}}", OK, "" },
        { LIST "\"jsonrpc\":\"2.0\"}", OK, "" },
        { LIST "\"id\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload.id" },
        { LIST "\"id\":[1]}", ERR_KIND_PAYLOAD_MISMATCH, "payload.id" },
        { LIST "\"id\":true}", ERR_KIND_PAYLOAD_MISMATCH, "payload.id" },
        { LIST "\"id\":1,\"id\":2}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { LIST "\"id\":1,\"i\\u0064\":2}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { LIST "\"id\":1,\"params\":[]}", ERR_KIND_PAYLOAD_MISMATCH, "payload.params" },
        { LIST "\"id\":1,\"params\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload.params" },
        { LIST "\"id\":1,\"params\":{},\"params\":{}}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { NOTE "}", OK, "" },
        { NOTE ",\"params\":{}}", OK, "" },
        { NOTE ",\"id\":1}", ERR_KIND_PAYLOAD_MISMATCH, "payload.id" },
        { NOTE ",\"id\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload.id" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(answers_are_json_rpc_and_name_their_request)
{
#define ANSWER IDS "\"correlation_id\":\"q\",\"kind\":\"mcp/response:tools/call\",\"payload\":"
    static const struct verdict_case cases[] = {
        { ANSWER "{\"id\":1,\"result\":{}}", OK, "" },
        { ANSWER "{\"id\":1,\"result\":null}", OK, "" },
        { ANSWER "{\"id\":1,\"id\":2,\"result\":{}}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}", OK, "" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\",\"data\":{}}}", OK, "" },
        { ANSWER "{\"id\":1,\"error\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error" },
        { ANSWER "{\"id\":1,\"error\":\"no\"}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error" },
        { ANSWER "{\"id\":1,\"error\":{\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.code" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.code" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":1.5,\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.code" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":1e3,\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.code" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":-999999999999999999,\"message\":\"no\"}}", OK, "" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":9999999999999999999,\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.code" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":1}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.message" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":1,\"message\":1}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error.message" },
        { ANSWER "{\"id\":1,\"error\":{\"code\":1,\"code\":2,\"message\":\"no\"}}", ERR_KIND_PAYLOAD_MISMATCH, "payload.error" },
        { IDS "\"kind\":\"mcp/response:tools/call\",\"payload\":{\"result\":{}}", ERR_MISSING_CORRELATION, "correlation_id" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(chat_is_text)
{
#define CHAT IDS "\"kind\":\"chat\",\"payload\":"
    static const struct verdict_case cases[] = {
        { CHAT "{\"text\":\"hi\",\"format\":\"markdown\"}", OK, "" },
        { CHAT "{\"text\":\"hi\",\"more\":{}}", OK, "" },
        { CHAT "{}", ERR_KIND_PAYLOAD_MISMATCH, "payload.text" },
        { CHAT "{\"text\":1}", ERR_KIND_PAYLOAD_MISMATCH, "payload.text" },
        { CHAT "{\"text\":\"a\",\"text\":\"b\"}", ERR_KIND_PAYLOAD_MISMATCH, "payload" },
        { CHAT "{\"text\":\"hi\",\"format\":null}", ERR_KIND_PAYLOAD_MISMATCH, "payload.format" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}

TEST(proposals_cite_nothing_and_decisions_what_they_decide)
{
#define PROPOSAL IDS "\"kind\":\"mcp/proposal:tools/call\",\"payload\":{\"method\":\"tools/call\"}"
    static const struct verdict_case cases[] = {
        { PROPOSAL, OK, "" },
        { IDS "\"kind\":\"mcp/proposal:tools/call\",\"payload\":{\"id\":null,\"method\":\"tools/call\"}", OK, "" },
        { PROPOSAL ",\"correlation_id\":\"q\"", ERR_MALFORMED_ENVELOPE, "correlation_id" },
        { PROPOSAL ",\"expires_at\":\"2030-01-01T00:00:00Z\"", OK, "" },
        { PROPOSAL ",\"expires_at\":\"soon\"", ERR_MALFORMED_ENVELOPE, "expires_at" },
        { PROPOSAL ",\"expires_at\":1", ERR_MALFORMED_ENVELOPE, "expires_at" },
        { IDS "\"kind\":\"mcp/proposal:tools/call\",\"payload\":{\"method\":\"tools/call\",\"params\":[]}", ERR_KIND_PAYLOAD_MISMATCH, "payload.params" },
        { IDS "\"kind\":\"mcp/reject\",\"payload\":{}", ERR_MISSING_CORRELATION, "correlation_id" },
        { IDS "\"kind\":\"mcp/approve\",\"payload\":{}", ERR_MISSING_CORRELATION, "correlation_id" },
        { IDS "\"kind\":\"mcp/withdraw\",\"payload\":{}", ERR_MISSING_CORRELATION, "correlation_id" },
        { IDS "\"kind\":\"mcp/reject\",\"correlation_id\":\"q\",\"payload\":{}", OK, "" },
        { IDS "\"kind\":\"mcp/approve\",\"correlation_id\":\"q\",\"payload\":{}", OK, "" },
        { IDS "\"kind\":\"mcp/withdraw\",\"correlation_id\":\"q\",\"payload\":{}", OK, "" },
    };

    FOR_EACH_CASE(c, cases)
        check_case(c);
}
/* clang-format on */

TEST(another_protocol_is_not_spoken)
{
    struct str text = S("{\"protocol\":\"mcpx/draft\",\"id\":\"1\",\"from\":\"ann\","
                        "\"kind\":\"chat.message\",\"payload\":{\"text\":\"hi\"}}");
    struct str field = S("");
    struct arena scratch;
    struct heard heard;

    arena_init(&scratch, ROOM);
    CHECK_INT(check_text(text, 128, &scratch, &heard, &field), ERR_UNSUPPORTED_PROTOCOL);
    CHECK_STR(field, S("protocol"));
    arena_done(&scratch);
}

TEST(who_is_at_fault_is_known_once_the_envelope_is)
{
    check(IDS "\"kind\":\"system/gap\",\"payload\":{}", ERR_RESERVED_NAMESPACE, "kind",
          S("ann"));
    check(IDS "\"kind\":\"chat\",\"payload\":{}", ERR_KIND_PAYLOAD_MISMATCH,
          "payload.text", S("ann"));
    check(IDS "\"kind\":\"chat\"", ERR_MALFORMED_ENVELOPE, "payload", S(""));
}

static void put_many(struct buf *out, const char *what, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_put(out, str_of(what));
}

/* {…,"payload":{"text":"","deep":[[[…]]]}} */
static enum err check_deep(size_t depth)
{
    struct str field = S("");
    struct arena scratch;
    struct heard heard;
    struct buf text;
    enum err err;

    arena_init(&scratch, ROOM);
    buf_init(&text, ROOM);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\"," IDS
                    "\"kind\":\"chat\",\"payload\":{\"text\":\"\",\"deep\":");
    put_many(&text, "[", depth - 2);
    put_many(&text, "]", depth - 2);
    buf_putf(&text, "}}");
    err = check_text(buf_str(&text), 20, &scratch, &heard, &field);
    buf_done(&text);
    arena_done(&scratch);
    return err;
}

TEST(depth_is_bounded)
{
    CHECK_INT(check_deep(20), OK);
    CHECK_INT(check_deep(21), ERR_MALFORMED_ENVELOPE);
    CHECK_INT(check_deep(100'000), ERR_MALFORMED_ENVELOPE);
}

/* A field of a mebibyte. */
static enum err check_long(const char *before, const char *after, struct str *field)
{
    struct arena scratch;
    struct heard heard;
    struct buf text;
    enum err err;

    arena_init(&scratch, ROOM);
    buf_init(&text, 4 * ROOM);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\",%s", before);
    put_many(&text, "x", ROOM);
    buf_putf(&text, "%s}", after);
    *field = S("");
    err = check_text(buf_str(&text), 128, &scratch, &heard, field);
    buf_done(&text);
    arena_done(&scratch);
    return err;
}

TEST(fields_are_not_longer_than_they_may_be)
{
    struct str field;

    CHECK_INT(check_long("\"id\":\"", "\",\"from\":\"a\",\"kind\":\"x\",\"payload\":{}",
                         &field),
              ERR_MALFORMED_ENVELOPE);
    CHECK_STR(field, S("id"));
    CHECK_INT(check_long("\"from\":\"", "\",\"id\":\"a\",\"kind\":\"x\",\"payload\":{}",
                         &field),
              ERR_MALFORMED_ENVELOPE);
    CHECK_STR(field, S("from"));
    CHECK_INT(check_long(IDS "\"kind\":\"", "\",\"payload\":{}", &field),
              ERR_MALFORMED_ENVELOPE);
    CHECK_STR(field, S("kind"));
    CHECK_INT(check_long(IDS "\"kind\":\"x\",\"payload\":{},\"correlation_id\":\"", "\"",
                         &field),
              ERR_MALFORMED_ENVELOPE);
    CHECK_STR(field, S("correlation_id"));
    CHECK_INT(check_long(IDS "\"kind\":\"chat\",\"payload\":{\"text\":\"", "\"}", &field),
              OK);
}

TEST(escapes_are_not_resolved_without_end)
{
    struct str field = S("");
    struct arena scratch;
    struct heard heard;
    struct buf text;

    arena_init(&scratch, 4096);
    buf_init(&text, 4 * ROOM);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\"," IDS "\"to\":[\"\\n");
    put_many(&text, "x", ROOM);
    buf_putf(&text, "\"],\"kind\":\"chat\",\"payload\":{\"text\":\"\"}}");
    CHECK_INT(check_text(buf_str(&text), 128, &scratch, &heard, &field), ERR_TOO_LARGE);
    buf_done(&text);
    arena_done(&scratch);
}

TEST(what_is_heard_keeps_its_fields)
{
    struct str text = S(
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"q\",\"from\":\"ann\",\"to\":[\"bob\"],"
        "\"kind\":\"mcp/request:tools/call:a\",\"correlation_id\":\"p\","
        "\"payload\":{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}}");
    struct str field = S("");
    struct arena scratch;
    struct heard heard;

    arena_init(&scratch, ROOM);
    CHECK_INT(check_text(text, 128, &scratch, &heard, &field), OK);
    CHECK_INT(heard.env.kind.type, KIND_REQUEST);
    CHECK_STR(heard.env.kind.method, S("tools/call"));
    CHECK_STR(heard.env.kind.context, S("a"));
    CHECK_STR(heard.env.correlation_id, S("p"));
    CHECK_INT(heard.env.to_count, 1);
    CHECK(!heard.is_system && !heard.is_mine && !heard.is_replay && !heard.names_me);
    arena_done(&scratch);
}
