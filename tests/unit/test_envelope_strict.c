/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/strict.h"
#include "harness.h"

enum { ROOM = 4096 };

struct verdict {
    enum err err;
    struct strict_problem problem;
};

static struct verdict check_in(struct str kind_text, struct str payload_text, size_t room)
{
    struct verdict verdict = {};
    struct json_span payload = {};
    struct json_scan scan;
    struct arena scratch;
    struct kind kind = {};

    arena_init(&scratch, room);
    CHECK_INT(kind_parse(kind_text, &kind), OK);
    json_scan_init(&scan, payload_text, JSON_MAX_DEPTH);
    CHECK_INT(json_value(&scan, &payload), OK);
    CHECK_INT(payload.type, JSON_OBJECT);
    verdict.err = strict_check(&kind, payload, &scratch, &verdict.problem);
    arena_done(&scratch);
    return verdict;
}

static struct verdict check(struct str kind, struct str payload)
{
    return check_in(kind, payload, ROOM);
}

TEST(d21_a_payload_that_says_what_the_kind_says_passes)
{
    static const struct {
        struct str kind, payload;
    } cases[] = {
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/list\"}") },
        { S("mcp/request:tools/list"),
          S("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}") },
        { S("mcp/request:tools/call:read_file"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\","
            "\"arguments\":{\"name\":\"write_file\",\"method\":\"x\"}}}") },
        { S("mcp/proposal:tools/call:write_file"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\"}}") },
        { S("mcp/request:tools/call"), /* without CONTEXT any tool is asked for */
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"anything\"}}") },
        { S("mcp/request:prompts/get:greet"),
          S("{\"method\":\"prompts/get\",\"params\":{\"name\":\"greet\"}}") },
        { S("mcp/request:x/y:z"), /* methods that nobody knows go by the name */
          S("{\"method\":\"x/y\",\"params\":{\"name\":\"z\"}}") },
        { S("mcp/request:resources/read:file:///a:b"),
          S("{\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///a:b\","
            "\"name\":\"other\"}}") },
        { S("mcp/request:resources/subscribe:u"),
          S("{\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"u\"}}") },
        { S("mcp/request:resources/unsubscribe:u"),
          S("{\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"u\"}}") },
        { S("mcp/request:completion/complete:greet"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{"
            "\"type\":\"ref/prompt\",\"name\":\"greet\"},\"name\":\"other\"}}") },
        { S("mcp/request:completion/complete:file:///{path}"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{"
            "\"type\":\"ref/resource\",\"uri\":\"file:///{path}\"}}}") },
        { S("mcp/request:completion/complete:greet"), /* the type decides what is read */
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"uri\":\"u\","
            "\"URI\":\"u\",\"type\":\"ref/prompt\",\"name\":\"greet\"}}}") },
        { S("mcp/response:tools/call:read_file"), S("{\"result\":{}}") },
        { S("mcp/response:tools/call"), S("{\"result\":null}") },
        { S("mcp/response:tools/call"),
          S("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}") },
        { S("mcp/response:tools/call"),
          S("{\"result\":{\"method\":\"x\",\"error\":1,\"result\":2,\"Result\":3}}") },
        /* escapes mean what they mean */
        { S("mcp/request:tools/call:read_file"),
          S("{\"m\\u0065thod\":\"tools\\/call\",\"params\":{\"\\u006eame\":"
            "\"read\\u005Ffile\"}}") },
        { S("mcp/request:tools/call:\xc3\xa9\xf0\x9f\x98\x80"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"\\u00e9\\ud83d\\ude00\"}}") },
        /* names that are not read may stand twice and look as they like */
        { S("mcp/request:tools/list"),
          S("{\"x\":1,\"x\":2,\"method\":\"tools/list\",\"params\":1,\"PARAMS\":2}") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"uri\":1,\"URI\":2,\"name\":\"a\"}}") },
        /* other kinds hold what they like */
        { S("chat"), S("{\"method\":\"tools/call\",\"method\":1,\"result\":1}") },
        { S("mcp/approve"), S("{\"method\":1}") },
        { S("mcp/reject"), S("{}") },
        { S("mcp/withdraw"), S("{}") },
        { S("reasoning/start"), S("{\"METHOD\":\"x\"}") },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(check(c->kind, c->payload).err, OK);
    }
}

struct attack {
    struct str kind, payload, field;
};

static void expect_refused(const struct attack *attack)
{
    struct verdict verdict = check(attack->kind, attack->payload);

    CHECK_INT(verdict.err, ERR_KIND_PAYLOAD_MISMATCH);
    CHECK_STR(verdict.problem.field, attack->field);
    CHECK(verdict.problem.what != NULL);
}

TEST(adr_m3p_spoofed_methods_are_found)
{
    static const struct attack cases[] = {
        { S("mcp/request:tools/read"), /* the example of the ADR */
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\","
            "\"arguments\":{\"path\":\"/etc/passwd\",\"content\":\"...\"}}}"),
          S("payload.method") },
        { S("mcp/proposal:tools/list"), S("{\"method\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{}"), S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"params\":{\"method\":\"tools/list\"}}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"payload\":{\"method\":\"tools/list\"}}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/list:x\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"Tools/list\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/list \"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"\"}"), S("payload.method") },
        /* escapes */
        { S("mcp/request:tools/list"), S("{\"method\":\"tools\\/c\\u0061ll\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"m\\u0065thod\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/list\\u0000\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/li\\\\u0073t\"}"),
          S("payload.method") },
        /* other types */
        { S("mcp/request:tools/list"), S("{\"method\":null}"), S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":true}"), S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":1}"), S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":[\"tools/list\"]}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"method\":{\"method\":\"tools/list\"}}"),
          S("payload.method") },
        { S("mcp/request:1"), S("{\"method\":1}"), S("payload.method") },
        { S("mcp/request:null"), S("{\"method\":null}"), S("payload.method") },
    };

    FOR_EACH_CASE(c, cases)
        expect_refused(c);
}

TEST(d21_names_that_stand_twice_or_look_alike_are_found)
{
    static const struct attack cases[] = {
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"method\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/call\",\"method\":\"tools/list\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"method\":\"tools/list\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"m\\u0065thod\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"Method\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"METHOD\":\"tools/call\",\"method\":\"tools/list\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"), S("{\"Method\":\"tools/list\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"\\uff4dethod\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"met\xe2\x80\x8bhod\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/list"),
          S("{\"method\":\"tools/list\",\"method\\u0000\":\"tools/call\"}"),
          S("payload.method") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"a\"},"
            "\"params\":{\"name\":\"b\"}}"),
          S("payload.params") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"a\"},"
            "\"Params\":{\"name\":\"b\"}}"),
          S("payload.params") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"name\":\"b\"}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"b\",\"name\":\"a\"}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"NAME\":\"b\"}}"),
          S("payload.params.name") },
        { S("mcp/request:resources/read:a"),
          S("{\"method\":\"resources/read\",\"params\":{\"uri\":\"a\",\"URI\":\"b\"}}"),
          S("payload.params.uri") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{"
            "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"a\"},"
            "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"b\"}}}"),
          S("payload.params.ref") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\","
            "\"type\":\"ref/prompt\",\"Type\":\"ref/resource\",\"uri\":\"b\"}}}"),
          S("payload.params.ref.type") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\","
            "\"type\":\"ref/prompt\",\"n\\u0061me\":\"b\"}}}"),
          S("payload.params.ref.name") },
        { S("mcp/response:x"), S("{\"result\":1,\"result\":2}"), S("payload.result") },
        { S("mcp/response:x"), S("{\"result\":1,\"RESULT\":2}"), S("payload.result") },
        { S("mcp/response:x"), S("{\"result\":1,\"Error\":2}"), S("payload.error") },
        { S("mcp/response:x"), S("{\"error\":1,\"error\":2}"), S("payload.error") },
    };

    FOR_EACH_CASE(c, cases)
        expect_refused(c);
}

TEST(adr_m3p_spoofed_contexts_are_found)
{
    static const struct attack cases[] = {
        { S("mcp/request:tools/call:read_file"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\"}}"),
          S("payload.params.name") },
        { S("mcp/proposal:tools/call:read_file"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\"}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"), S("{\"method\":\"tools/call\"}"),
          S("payload.params") },
        { S("mcp/request:tools/call:a"), S("{\"method\":\"tools/call\",\"params\":null}"),
          S("payload.params") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":[{\"name\":\"a\"}]}"),
          S("payload.params") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":\"a\"}"), S("payload.params") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"name\":\"a\",\"params\":{}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":[\"a\"]}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:1"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":1}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"arguments\":{\"name\":\"a\"}}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"params\":{\"name\":\"a\"}}}"),
          S("payload.params.name") },
        { S("mcp/request:tools/call:a"),
          S("{\"method\":\"tools/call\",\"params\":{\"n\\u0061me\":\"\\u0062\"}}"),
          S("payload.params.name") },
        /* each method is compared with its own name */
        { S("mcp/request:resources/read:file:///a"),
          S("{\"method\":\"resources/read\",\"params\":{\"name\":\"file:///a\","
            "\"uri\":\"file:///b\"}}"),
          S("payload.params.uri") },
        { S("mcp/request:resources/subscribe:a"),
          S("{\"method\":\"resources/subscribe\",\"params\":{\"name\":\"a\"}}"),
          S("payload.params.uri") },
        { S("mcp/request:resources/unsubscribe:a"),
          S("{\"method\":\"resources/unsubscribe\",\"params\":{\"name\":\"a\"}}"),
          S("payload.params.uri") },
        { S("mcp/request:resources/list:a"),
          S("{\"method\":\"resources/list\",\"params\":{\"uri\":\"a\"}}"),
          S("payload.params.name") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"name\":\"a\"}}"),
          S("payload.params.ref") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":\"a\"}}"),
          S("payload.params.ref") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\"}}}"),
          S("payload.params.ref.type") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\","
            "\"type\":\"ref/tool\"}}}"),
          S("payload.params.ref.type") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\","
            "\"type\":[\"ref/prompt\"]}}}"),
          S("payload.params.ref.type") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"a\","
            "\"uri\":\"b\",\"type\":\"ref/resource\"}}}"),
          S("payload.params.ref.uri") },
        { S("mcp/request:completion/complete:a"),
          S("{\"method\":\"completion/complete\",\"params\":{\"ref\":{\"name\":\"b\","
            "\"uri\":\"a\",\"type\":\"ref/prompt\"}}}"),
          S("payload.params.ref.name") },
    };

    FOR_EACH_CASE(c, cases)
        expect_refused(c);
}

TEST(d21_requests_and_responses_do_not_pass_for_each_other)
{
    static const struct attack cases[] = {
        { S("mcp/request:x"), S("{\"method\":\"x\",\"result\":{}}"),
          S("payload.result") },
        { S("mcp/request:x"), S("{\"method\":\"x\",\"error\":null}"),
          S("payload.error") },
        { S("mcp/proposal:x"), S("{\"Result\":1,\"method\":\"x\"}"),
          S("payload.result") },
        { S("mcp/request:x"), S("{\"result\":{}}"), S("payload.method") },
        { S("mcp/response:x"), S("{}"), S("payload") },
        { S("mcp/response:x"), S("{\"result\":1,\"error\":2}"), S("payload") },
        { S("mcp/response:x"), S("{\"result\":1,\"error\":null}"), S("payload") },
        { S("mcp/response:x"), S("{\"method\":\"x\"}"), S("payload.method") },
        { S("mcp/response:x"), S("{\"result\":1,\"method\":\"x\"}"),
          S("payload.method") },
        { S("mcp/response:x"), S("{\"result\":1,\"method\":null}"), S("payload.method") },
        { S("mcp/response:x"), S("{\"result\":1,\"\\u004dethod\":\"x\"}"),
          S("payload.method") },
    };

    FOR_EACH_CASE(c, cases)
        expect_refused(c);
}

TEST(a_mismatch_says_what_was_expected)
{
    struct str kind = S("mcp/request:tools/call:read_file");

    CHECK_STR(check(kind, S("{\"method\":\"x\"}")).problem.expected, S("tools/call"));
    CHECK_STR(check(kind, S("{\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"))
                  .problem.expected,
              S("read_file"));
    CHECK_STR(check(S("mcp/response:x"), S("{}")).problem.expected, S(""));
}

TEST(only_names_with_escapes_need_memory)
{
    struct str plain = S("{\"Zoe\":1,\"method\":\"\\u0078\"}");
    struct str escaped = S("{\"method\":\"x\",\"\\u0041\":1}");

    CHECK_INT(check_in(S("mcp/request:x"), plain, 0).err, OK);
    CHECK_INT(check_in(S("mcp/request:x"), escaped, 0).err, ERR_TOO_LARGE);
}
