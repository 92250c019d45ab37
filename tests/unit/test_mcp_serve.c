/* SPDX-License-Identifier: Apache-2.0 */
/* The order of checks at an endpoint of both eras, step by step: what a client is told
 * depends on the first one that fails. */
#include "harness.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"

enum { ROOM = 1 << 16, DEPTH = 16 };

#define P       "io.modelcontextprotocol/"
#define VERSION "\"" P "protocolVersion\":\"2026-07-28\""
#define CAPABLE "\"" P "clientCapabilities\":{}"
#define META    "\"_meta\":{" VERSION "," CAPABLE "}"
#define REQUEST(method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method "\",\"params\":{" params "}}"
#define LIST REQUEST("tools/list", META)
#define CALL REQUEST("tools/call", "\"name\":\"add\"," META)

/* A post that is right, but for what a case changes. */
struct sent {
    const char *body;
    const char *content_type, *accept;   /* NULL: the right ones; "-": not sent */
    const char *version, *method, *name; /* NULL: not sent */
    const char *agreed;
    bool is_stdio;
};

struct told {
    unsigned status;
    int64_t code;
    struct str error; /* the whole message; ptr NULL: whatever it is */
};

static struct str field(const char *text, const char *usual)
{
    if (!text)
        text = usual;
    if (!text || str_eq(str_of(text), S("-")))
        return (struct str){};
    return str_of(text);
}

static struct serve_post post_of(const struct sent *sent)
{
    return (struct serve_post){
        .body = str_of(sent->body),
        .is_http = !sent->is_stdio,
        .content_type = field(sent->content_type, "application/json"),
        .accept = field(sent->accept, "application/json, text/event-stream"),
        .version = field(sent->version, NULL),
        .method = field(sent->method, NULL),
        .name = field(sent->name, NULL),
        .agreed = str_of(sent->agreed),
        .max_depth = DEPTH,
    };
}

static int64_t code_of(struct str error)
{
    static const struct str path[] = { S("error"), S("code") };
    struct json_span code = mcp_message_find(
        (struct json_span){ .type = JSON_OBJECT, .text = error }, path, 2);
    uint64_t number = 0;

    if (!code.text.ptr ||
        str_to_u64(str_slice(code.text, 1, code.text.len), 99'999, &number))
        return 0;
    return -(int64_t)number;
}

static void check(const struct sent *sent, const struct told *told)
{
    struct serve_post post = post_of(sent);
    struct serve_incoming in;
    struct mcp_message message;
    const char *what;
    struct buf error;

    buf_init(&error, ROOM);
    CHECK_INT(serve_judge(&post, &in, &error), told->status);
    CHECK_INT(error.len ? code_of(buf_str(&error)) : 0, told->code);
    if (told->error.ptr)
        CHECK_STR(buf_str(&error), told->error);
    if (told->status)
        CHECK_INT(mcp_message_read(buf_str(&error), DEPTH, &message, &what), OK);
    else
        CHECK_INT(error.len, 0);
    buf_done(&error);
}

#define LEGACY "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}"

TEST(step_4_media_types_come_before_the_body_is_read)
{
    static const struct {
        struct sent sent;
        struct told told;
    } cases[] = {
        { { .body = LEGACY }, { 0, 0, {} } },
        { { .body = "no", .content_type = "text/plain" }, { 415, -32000, {} } },
        { { .body = LEGACY, .content_type = "-" }, { 415, -32000, {} } },
        { { .body = LEGACY, .content_type = "" }, { 415, -32000, {} } },
        { { .body = LEGACY, .content_type = "application/jsonx" }, { 415, -32000, {} } },
        { { .body = LEGACY, .content_type = "application/JSON; charset=utf-8" },
          { 0, 0, {} } },
        /* 415 before 406 */
        { { .body = LEGACY, .content_type = "text/plain", .accept = "-" },
          { 415, -32000, {} } },
        { { .body = "no", .accept = "application/json" }, { 406, -32000, {} } },
        { { .body = LEGACY, .accept = "text/event-stream" }, { 406, -32000, {} } },
        { { .body = LEGACY, .accept = "-" }, { 406, -32000, {} } },
        { { .body = LEGACY, .accept = "" }, { 406, -32000, {} } },
        { { .body = LEGACY, .accept = "text/event-stream;q=0.5,\tApplication/Json" },
          { 0, 0, {} } },
        { { .body = LEGACY, .accept = "*/*" }, { 0, 0, {} } },
        { { .body = LEGACY, .accept = "application/*, text/*" }, { 0, 0, {} } },
        { { .body = LEGACY, .accept = "application/json, text/event-stream; Q=0.0" },
          { 406, -32000, {} } },
        /* an error of the transport knows no id yet, and null is none (BASE-04) */
        { { .body = LEGACY, .accept = "-" },
          { 406, -32000,
            S("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":\"Accept must "
              "list application/json and text/event-stream\"}}") } },
        /* there are no headers on stdio */
        { { .body = LEGACY, .content_type = "-", .accept = "-", .is_stdio = true },
          { 0, 0, {} } },
    };

    FOR_EACH_CASE(c, cases)
        check(&c->sent, &c->told);
}

TEST(a_get_takes_events)
{
    CHECK(serve_takes_events(S("text/event-stream")));
    CHECK(serve_takes_events(S("application/json, text/event-stream")));
    CHECK(serve_takes_events(S("*/*")));
    CHECK(!serve_takes_events(S("application/json")));
    CHECK(!serve_takes_events(S("text/event-stream;q=0")));
    CHECK(!serve_takes_events((struct str){}));
}

#define DEEP "[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]"

TEST(step_5_a_body_is_one_message)
{
    static const struct {
        struct sent sent;
        struct told told;
    } cases[] = {
        { { .body = "" }, { 400, -32700, {} } },
        { { .body = "{" }, { 400, -32700, {} } },
        { { .body = "{} {}" }, { 400, -32700, {} } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\"" },
          { 400, -32700, {} } },
        { { .body = "\"\xff\"" }, { 400, -32700, {} } },
        { { .body = "{\"a\":" DEEP "}" }, { 400, -32600, {} } },
        { { .body = "7" }, { 400, -32600, {} } },
        { { .body = "null" }, { 400, -32600, {} } },
        { { .body = "[]" }, { 400, -32600, {} } },
        { { .body = "[" LEGACY "]" }, { 400, -32600, {} } },
        { { .body = "[" LEGACY "]", .agreed = "2025-06-18" }, { 400, -32600, {} } },
        { { .body = "[" LEGACY "]", .agreed = "2024-11-05" }, { 400, -32600, {} } },
        /* an object that is none: with its id, where it has one */
        { { .body = "{}" },
          { 400, -32600,
            S("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"jsonrpc is "
              "not \\\"2.0\\\"\"}}") } },
        { { .body = "{\"id\":\"a\\\"b\",\"method\":\"x\"}" },
          { 400, -32600,
            S("{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"error\":{\"code\":-32600,"
              "\"message\":\"jsonrpc is not \\\"2.0\\\"\"}}") } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"method\":1}" },
          { 400, -32600,
            S("{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"error\":{\"code\":"
              "-32600,\"message\":\"method is not a string\"}}") } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}" },
          { 400, -32600, {} } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"x\"}" },
          { 400, -32600, {} } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}" },
          { 400, -32600, {} } },
        /* on stdio the same, and nobody looks at the status */
        { { .body = "{", .is_stdio = true }, { 400, -32700, {} } },
    };

    FOR_EACH_CASE(c, cases)
        check(&c->sent, &c->told);
}

#define INITIALIZE \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\",\"params\":{}}"
#define RESPONSE "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"
#define NOTICE   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

TEST(step_6_the_body_decides_the_era)
{
    static const struct {
        struct sent sent;
        struct told told;
        enum mcp_era era;
    } cases[] = {
        { { .body = LIST, .version = "2026-07-28", .method = "tools/list" },
          { 0, 0, {} },
          ERA_MODERN },
        { { .body = LIST, .is_stdio = true }, { 0, 0, {} }, ERA_MODERN },
        { { .body = LEGACY }, { 0, 0, {} }, ERA_LEGACY },
        { { .body = LEGACY, .version = "2025-11-25" }, { 0, 0, {} }, ERA_LEGACY },
        { { .body = LEGACY, .version = " 2024-11-05\t" }, { 0, 0, {} }, ERA_LEGACY },
        { { .body = LEGACY, .is_stdio = true }, { 0, 0, {} }, ERA_LEGACY },
        /* initialize is legacy, whatever the headers say */
        { { .body = INITIALIZE }, { 0, 0, {} }, ERA_LEGACY },
        { { .body = INITIALIZE, .version = "2025-11-25", .method = "initialize" },
          { 0, 0, {} },
          ERA_LEGACY },
        { { .body = INITIALIZE, .version = "2026-07-28", .method = "initialize" },
          { 0, 0, {} },
          ERA_LEGACY },
        { { .body = INITIALIZE, .version = "1999" }, { 0, 0, {} }, ERA_LEGACY },
        /* no claim, but a modern header: what is missing is named */
        { { .body = LEGACY, .version = "2026-07-28", .method = "tools/list" },
          { 400, -32602,
            S("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":"
              "\"params._meta lacks io.modelcontextprotocol/protocolVersion and "
              "io.modelcontextprotocol/clientCapabilities\"}}") },
          ERA_LEGACY },
        { { .body = REQUEST("tools/list", "\"_meta\":{" CAPABLE "}"),
            .version = "2026-07-28",
            .method = "tools/list" },
          { 400, -32602,
            S("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":"
              "\"params._meta lacks io.modelcontextprotocol/protocolVersion\"}}") },
          ERA_LEGACY },
        /* _meta that is none claims nothing */
        { { .body = REQUEST("tools/list", "\"_meta\":7") }, { 0, 0, {} }, ERA_LEGACY },
        /* HTTP-34 */
        { { .body = LEGACY, .version = "1999-01-01" }, { 400, -32000, {} }, ERA_LEGACY },
        { { .body = LEGACY, .version = "" }, { 400, -32000, {} }, ERA_LEGACY },
        { { .body = NOTICE, .version = "not-a-version" },
          { 400, -32000, {} },
          ERA_LEGACY },
        { { .body = RESPONSE, .version = "1999-01-01" },
          { 400, -32000, {} },
          ERA_LEGACY },
        { { .body = LEGACY, .version = "1999-01-01", .is_stdio = true },
          { 0, 0, {} },
          ERA_LEGACY },
        /* answers and notifications without a claim */
        { { .body = RESPONSE, .version = "2025-11-25" }, { 0, 0, {} }, ERA_LEGACY },
        { { .body = NOTICE, .version = "2025-11-25" }, { 0, 0, {} }, ERA_LEGACY },
        /* … and an answer makes none */
        { { .body = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{},\"params\":{" META "}}",
            .version = "2026-07-28" },
          { 0, 0, {} },
          ERA_LEGACY },
        { { .body = NOTICE, .version = "2026-07-28" }, { 0, 0, {} }, ERA_LEGACY },
    };

    FOR_EACH_CASE(c, cases) {
        struct serve_post post = post_of(&c->sent);
        struct serve_incoming in;
        struct buf error;

        check(&c->sent, &c->told);
        buf_init(&error, ROOM);
        if (!serve_judge(&post, &in, &error))
            CHECK_INT(in.era, c->era);
        buf_done(&error);
    }
}

#define OTHER_VERSION(version) \
    REQUEST("tools/list", "\"_meta\":{\"" P "protocolVersion\":" version "," CAPABLE "}")

TEST(step_7_a_claim_is_whole_and_of_a_version_that_is_spoken)
{
    static const struct {
        struct sent sent;
        struct told told;
    } cases[] = {
        { { .body = REQUEST("tools/list", "\"_meta\":{" VERSION "}"),
            .version = "2026-07-28",
            .method = "tools/list" },
          { 400, -32602, {} } },
        { { .body = REQUEST("tools/list",
                            "\"_meta\":{" VERSION ",\"" P "clientCapabilities\":[]}"),
            .version = "2026-07-28",
            .method = "tools/list" },
          { 400, -32602, {} } },
        /* … even before the headers are looked at */
        { { .body = REQUEST("tools/list", "\"_meta\":{" VERSION "}") },
          { 400, -32602, {} } },
        { { .body = OTHER_VERSION("7"), .version = "2026-07-28" }, { 400, -32602, {} } },
        { { .body = LIST, .version = "2025-11-25", .method = "tools/list" },
          { 400, -32020, {} } },
        /* a mismatch comes before a version that nobody speaks */
        { { .body = OTHER_VERSION("\"2030-01-01\""), .version = "2026-07-28" },
          { 400, -32020, {} } },
        { { .body = OTHER_VERSION("\"2030-01-01\""), .version = "2030-01-01" },
          { 400, -32022,
            S("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32022,\"message\":"
              "\"this version is not spoken here\",\"data\":{\"supported\":"
              "[\"2026-07-28\"],\"requested\":\"2030-01-01\"}}}") } },
        /* … and that before a header that is missing */
        { { .body = OTHER_VERSION("\"2030-01-01\"") }, { 400, -32022, {} } },
        /* the legacy ones cannot be claimed */
        { { .body = OTHER_VERSION("\"2025-11-25\""), .version = "2025-11-25" },
          { 400, -32022, {} } },
        { { .body = OTHER_VERSION("\"2025-\\u00311-25\\\"\""), .is_stdio = true },
          { 400, -32022, {} } },
        { { .body = LIST, .version = " 2026-07-28 ", .method = "tools/list" },
          { 0, 0, {} } },
        { { .body = REQUEST("tools/list",
                            "\"_meta\":{" VERSION "," CAPABLE ",\"" P "clientInfo\":1}"),
            .is_stdio = true },
          { 400, -32602, {} } },
        { { .body = REQUEST("tools/list", "\"_meta\":{" VERSION "," CAPABLE ",\"" P
                                          "logLevel\":\"loud\"}"),
            .is_stdio = true },
          { 400, -32602, {} } },
    };

    FOR_EACH_CASE(c, cases)
        check(&c->sent, &c->told);
}

TEST(step_8_the_headers_say_what_the_body_says)
{
    static const struct {
        struct sent sent;
        struct told told;
    } cases[] = {
        { { .body = LIST, .method = "tools/list" }, { 400, -32020, {} } },
        { { .body = LIST, .version = "2026-07-28" }, { 400, -32020, {} } },
        { { .body = LIST, .version = "2026-07-28", .method = "prompts/list" },
          { 400, -32020, {} } },
        { { .body = LIST, .version = "2026-07-28", .method = "TOOLS/LIST" },
          { 400, -32020, {} } },
        { { .body = LIST, .version = "2026-07-28", .method = " tools/list\t" },
          { 0, 0, {} } },
        /* a name that nobody asked for is nobody's business */
        { { .body = LIST, .version = "2026-07-28", .method = "tools/list", .name = "x" },
          { 0, 0, {} } },
        { { .body = CALL,
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "add" },
          { 0, 0, {} } },
        { { .body = CALL,
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "  add\t" },
          { 0, 0, {} } },
        { { .body = CALL, .version = "2026-07-28", .method = "tools/call" },
          { 400, -32020,
            S("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32020,\"message\":"
              "\"Mcp-Name is missing\"}}") } },
        { { .body = CALL,
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "Add" },
          { 400, -32020, {} } },
        { { .body = CALL,
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "=?base64?YWRk?=" },
          { 0, 0, {} } },
        { { .body = CALL,
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "=?base64?YWR?=" },
          { 400, -32020, {} } },
        { { .body = REQUEST("tools/call", "\"name\":\"=?base64?YWR\"," META),
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "=?base64?YWR" },
          { 0, 0, {} } },
        { { .body = REQUEST("prompts/get", "\"name\":\"\\u00e9\"," META),
            .version = "2026-07-28",
            .method = "prompts/get",
            .name = "=?base64?w6k=?=" },
          { 0, 0, {} } },
        { { .body = REQUEST("resources/read", "\"uri\":\"x:y\",\"name\":\"n\"," META),
            .version = "2026-07-28",
            .method = "resources/read",
            .name = "n" },
          { 400, -32020, {} } },
        { { .body = REQUEST("resources/read", "\"uri\":\"x:y\"," META),
            .version = "2026-07-28",
            .method = "resources/read",
            .name = "x:y" },
          { 0, 0, {} } },
        { { .body = REQUEST("tasks/get", "\"taskId\":\"t\"," META),
            .version = "2026-07-28",
            .method = "tasks/get",
            .name = "u" },
          { 400, -32020, {} } },
        /* what the body does not name is for the handler to miss */
        { { .body = REQUEST("tools/call", META),
            .version = "2026-07-28",
            .method = "tools/call" },
          { 0, 0, {} } },
        { { .body = REQUEST("tools/call", "\"name\":7," META),
            .version = "2026-07-28",
            .method = "tools/call",
            .name = "7" },
          { 400, -32020, {} } },
        /* notifications */
        { { .body =
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{" META
                "}}",
            .version = "2026-07-28" },
          { 0, 0, {} } },
        { { .body =
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{" META
                "}}",
            .version = "2026-07-28",
            .method = "notifications/y" },
          { 400, -32020, {} } },
        { { .body = "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{"
                    "\"name\":\"a\"," META "}}",
            .version = "2026-07-28" },
          { 0, 0, {} } },
        { { .body = CALL, .is_stdio = true, .name = "other" }, { 0, 0, {} } },
    };

    FOR_EACH_CASE(c, cases)
        check(&c->sent, &c->told);
}

/* Each of the modern era is let through, and none of the legacy one. */
TEST(step_9_the_method_exists_in_its_era)
{
    static const struct {
        const char *method;
        bool is_modern;
    } cases[] = {
        { "server/discover", true },
        { "subscriptions/listen", true },
        { "tools/list", true },
        { "tools/call", true },
        { "resources/list", true },
        { "resources/templates/list", true },
        { "resources/read", true },
        { "prompts/list", true },
        { "prompts/get", true },
        { "completion/complete", true },
        { "tasks/get", true },
        { "tasks/update", true },
        { "tasks/cancel", true },
        { "initialize", false },
        { "ping", false },
        { "logging/setLevel", false },
        { "resources/subscribe", false },
        { "resources/unsubscribe", false },
        { "tasks/list", false },
        { "tasks/result", false },
        { "nothing/like/it", false },
        { "", false },
        { "tools\\/call", false },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf body;
        struct told told = { .status = c->is_modern ? 0 : 404,
                             .code = c->is_modern ? 0 : -32601 };

        buf_init(&body, ROOM);
        buf_putf(&body,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s}}",
                 c->method, META);
        check(&(struct sent){ .body = buf_cstr(&body), .is_stdio = true }, &told);
        check(&(struct sent){ .body = buf_cstr(&body),
                              .version = "2026-07-28",
                              .method = c->method },
              &told);
        /* a wrong header comes first */
        check(&(struct sent){ .body = buf_cstr(&body),
                              .version = "2026-07-28",
                              .method = "x" },
              &(struct told){ 400, -32020, {} });
        buf_done(&body);
    }
}

/* --- step 10 --- */

#define TOOL(properties)                                                               \
    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" properties \
    "}}}"
#define A    "\"a\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}"
#define B    "\"b\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"}"
#define C    "\"c\":{\"type\":\"boolean\",\"x-mcp-header\":\"Fast\"}"
#define BASE "SGVsbG8="

TEST(step_10_parameters_that_a_tool_wants_in_headers_are_there)
{
    static const struct {
        const char *tool, *arguments;
        struct serve_param params[2];
        unsigned status;
    } cases[] = {
        { TOOL(A), "{\"a\":\"eu\"}", { { S("Region"), S("eu") } }, 0 },
        { TOOL(A), "{\"a\":\"eu\"}", { { S("rEGION"), S(" eu\t") } }, 0 },
        { TOOL(A), "{\"a\":\"eu\"}", { { S("Region"), S("EU") } }, 400 },
        { TOOL(A), "{\"a\":\"eu\"}", { { S("Other"), S("eu") } }, 400 },
        { TOOL(A), "{\"a\":\"eu\"}", {}, 400 },
        { TOOL(A), "{}", {}, 0 },
        { TOOL(A), "{\"a\":null}", {}, 0 },
        /* a header that routes to where the body does not go */
        { TOOL(A), "{}", { { S("Region"), S("eu") } }, 400 },
        { TOOL(A), "{\"a\":null}", { { S("Region"), S("") } }, 400 },
        { TOOL(A), "{\"a\":{}}", { { S("Region"), S("{}") } }, 400 },
        /* what the tool does not name is carried past */
        { TOOL(A), "{}", { { S("Else"), S("x") } }, 0 },
        { TOOL("\"a\":{\"type\":\"string\"}"), "{\"a\":\"eu\"}", {}, 0 },
        /* base64, strictly; without its marks a value is literal */
        { TOOL(A),
          "{\"a\":\"Hello\"}",
          { { S("Region"), S("=?base64?" BASE "?=") } },
          0 },
        { TOOL(A),
          "{\"a\":\"Hello\"}",
          { { S("Region"), S("=?base64?SGVsbG8?=") } },
          400 },
        { TOOL(A),
          "{\"a\":\"Hello\"}",
          { { S("Region"), S("=?base64?SGVs!!!bG8=?=") } },
          400 },
        { TOOL(A), "{\"a\":\"" BASE "\"}", { { S("Region"), S(BASE) } }, 0 },
        { TOOL(A),
          "{\"a\":\"=?base64?" BASE "\"}",
          { { S("Region"), S("=?base64?" BASE) } },
          0 },
        { TOOL(A), "{\"a\":\"" BASE "?=\"}", { { S("Region"), S(BASE "?=") } }, 0 },
        { TOOL(A), "{\"a\":\"\"}", { { S("Region"), S("=?base64?\?=") } }, 0 },
        { TOOL(A), "{\"a\":\"\\u00e9\"}", { { S("Region"), S("=?base64?w6k=?=") } }, 0 },
        /* numbers are compared as such, however large */
        { TOOL(B), "{\"b\":42}", { { S("Count"), S("42") } }, 0 },
        { TOOL(B), "{\"b\":42}", { { S("Count"), S("42.0") } }, 0 },
        { TOOL(B), "{\"b\":4.2e1}", { { S("Count"), S("42") } }, 0 },
        { TOOL(B), "{\"b\":42}", { { S("Count"), S("43") } }, 400 },
        { TOOL(B), "{\"b\":42}", { { S("Count"), S("0x2a") } }, 400 },
        { TOOL(B), "{\"b\":42}", { { S("Count"), S("") } }, 400 },
        { TOOL(B),
          "{\"b\":9007199254740993}",
          { { S("Count"), S("9007199254740992") } },
          400 },
        { TOOL(C), "{\"c\":true}", { { S("Fast"), S("true") } }, 0 },
        { TOOL(C), "{\"c\":true}", { { S("Fast"), S("false") } }, 400 },
        { TOOL(C), "{\"c\":true}", { { S("Fast"), S("True") } }, 400 },
        /* more than one */
        { TOOL(A "," B),
          "{\"a\":\"x\",\"b\":1}",
          { { S("Count"), S("1") }, { S("Region"), S("x") } },
          0 },
        { TOOL(A "," B), "{\"a\":\"x\",\"b\":1}", { { S("Region"), S("x") } }, 400 },
        { TOOL("\"o\":{\"type\":\"object\",\"properties\":{" A "}}"),
          "{\"o\":{\"a\":\"x\"}}",
          { { S("Region"), S("x") } },
          0 },
        { TOOL("\"o\":{\"type\":\"object\",\"properties\":{" A "}}"),
          "{\"o\":{\"a\":\"x\"}}",
          {},
          400 },
        /* which of them is meant? */
        { TOOL(A), "{\"a\":\"eu\",\"a\":\"us\"}", { { S("Region"), S("eu") } }, 400 },
        { TOOL(A), "7", {}, 0 },
        { "", "{\"a\":\"eu\"}", {}, 0 },
        { "{\"x-mcp-header\"", "{\"a\":\"eu\"}", {}, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct serve_post post = { .is_http = true,
                                   .params = c->params,
                                   .param_count = (c->params[0].name.len > 0) +
                                                  (size_t)(c->params[1].name.len > 0) };
        struct serve_incoming in = { .era = ERA_MODERN };
        struct buf params, error;

        buf_init(&params, ROOM);
        buf_init(&error, ROOM);
        buf_putf(&params, "{\"name\":\"t\",\"arguments\":%s}", c->arguments);
        in.message.params = (struct json_span){ JSON_OBJECT, false, buf_str(&params) };
        in.message.id = (struct json_span){ JSON_NUMBER, false, S("7") };
        CHECK_INT(serve_judge_params(&post, &in, str_of(c->tool), &error), c->status);
        CHECK_INT(error.len ? code_of(buf_str(&error)) : 0, c->status ? -32020 : 0);
        if (c->status)
            CHECK(str_starts(buf_str(&error), S("{\"jsonrpc\":\"2.0\",\"id\":7,")));
        buf_clear(&error);
        /* not the legacy era's, and not on stdio */
        in.era = ERA_LEGACY;
        CHECK_INT(serve_judge_params(&post, &in, str_of(c->tool), &error), 0);
        in.era = ERA_MODERN;
        post.is_http = false;
        CHECK_INT(serve_judge_params(&post, &in, str_of(c->tool), &error), 0);
        CHECK_INT(error.len, 0);
        buf_done(&params);
        buf_done(&error);
    }
}

/* Steps 11 and 12. */
TEST(errors_of_a_handler_are_in_band_but_for_those_of_the_hop)
{
    static const struct {
        int64_t code;
        unsigned modern;
    } cases[] = {
        { -32021, 400 }, { -32020, 400 }, { -32022, 400 }, { -32601, 404 },
        { -32602, 200 }, { -32603, 200 }, { -32002, 200 }, { 7, 200 },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(serve_status(ERA_MODERN, c->code), c->modern);
        CHECK_INT(serve_status(ERA_LEGACY, c->code), 200);
    }
}

/* --- what is read out of a message --- */

TEST(what_a_request_says_of_itself_is_found)
{
    struct sent sent = {
        .body = REQUEST("tools/call", "\"name\":\"a\",\"_meta\":{\"progressToken\":1.50,"
                                      "\"" P "clientInfo\":{\"name\":\"c\"}," VERSION
                                      ",\"" P "clientCapabilities\":{\"roots\":{}},\"" P
                                      "logLevel\":\"warning\",\"x\":1}"),
        .is_stdio = true,
    };
    struct serve_post post = post_of(&sent);
    struct serve_incoming in;
    struct buf error;

    buf_init(&error, ROOM);
    CHECK_INT(serve_judge(&post, &in, &error), 0);
    CHECK_INT(in.era, ERA_MODERN);
    CHECK_STR(in.version, S("2026-07-28"));
    CHECK_STR(in.progress.text, S("1.50"));
    CHECK_STR(in.capable.text, S("{\"roots\":{}}"));
    CHECK_STR(in.client.text, S("{\"name\":\"c\"}"));
    CHECK_STR(in.log_level, S("warning"));
    CHECK_INT(serve_level(in.log_level), 3);
    CHECK_STR(in.message.id.text, S("7"));
    buf_done(&error);
}

TEST(a_legacy_request_has_a_token_and_the_agreed_version)
{
    static const struct {
        const char *meta;
        struct str progress;
    } cases[] = {
        { "{\"progressToken\":\"t\"}", S("t") },
        { "{\"progressToken\":0}", S("0") },
        { "{\"progressToken\":null}", {} },
        { "{\"progressToken\":[]}", {} },
        { "{\"progressToken\":1,\"progressToken\":2}", S("1") },
        { "{}", {} },
        { "[]", {} },
    };

    FOR_EACH_CASE(c, cases) {
        struct serve_post post;
        struct serve_incoming in;
        struct buf body, error;

        buf_init(&body, ROOM);
        buf_init(&error, ROOM);
        buf_putf(&body,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"ping\",\"params\":"
                 "{\"_meta\":%s}}",
                 c->meta);
        post = post_of(&(struct sent){ .body = buf_cstr(&body), .agreed = "2025-06-18" });
        CHECK_INT(serve_judge(&post, &in, &error), 0);
        CHECK_STR(in.version, S("2025-06-18"));
        CHECK(!in.progress.text.ptr == !c->progress.ptr);
        CHECK_STR(in.progress.text, c->progress);
        CHECK(!in.capable.text.ptr && !in.log_level.len);
        buf_done(&body);
        buf_done(&error);
    }
}

/* --- batches (BASE-06) --- */

static void put_batch(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_putf(out, "%s{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"ping\"}",
                 i ? "," : "[", i);
    buf_putc(out, ']');
}

TEST(a_session_of_2025_03_26_sends_batches)
{
    static const struct {
        const char *body;
        unsigned status;
    } cases[] = {
        { "[" LEGACY "]", 0 },
        { " [" LEGACY "," NOTICE "," RESPONSE "]", 0 },
        { "[]", 400 },
        { "[" LEGACY ",{}]", 400 },
        { "[" LEGACY ",7]", 400 },
        { "[[" LEGACY "]]", 400 },
        { "[" INITIALIZE "]", 400 },
        { "[" LEGACY "," INITIALIZE "]", 400 },
    };

    FOR_EACH_CASE(c, cases)
        check(&(struct sent){ .body = c->body, .agreed = "2025-03-26" },
              &(struct told){ c->status, c->status ? -32600 : 0, {} });
    check(&(struct sent){ .body = "[" LEGACY, .agreed = "2025-03-26" },
          &(struct told){ 400, -32700, {} });
    check(&(struct sent){ .body = "[" LEGACY "]",
                          .agreed = "2025-03-26",
                          .version = "1999" },
          &(struct told){ 400, -32000, {} });
}

TEST(a_batch_is_bounded)
{
    for (size_t count = SERVE_BATCH; count <= SERVE_BATCH + 1; count++) {
        struct buf body;

        buf_init(&body, ROOM);
        put_batch(&body, count);
        check(&(struct sent){ .body = buf_cstr(&body), .agreed = "2025-03-26" },
              count > SERVE_BATCH ? &(struct told){ 400, -32600, {} }
                                  : &(struct told){ 0, 0, {} });
        buf_done(&body);
    }
}

TEST(the_items_of_a_batch_are_messages_of_their_own)
{
    struct sent sent = {
        .body = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                "\"_meta\":{\"progressToken\":\"p\"}}}," NOTICE "," RESPONSE "]",
        .agreed = "2025-03-26",
    };
    struct serve_post post = post_of(&sent);
    struct serve_incoming batch, item;
    struct mcp_message_walk walk;
    struct buf error;

    buf_init(&error, ROOM);
    CHECK_INT(serve_judge(&post, &batch, &error), 0);
    CHECK(batch.is_batch && batch.era == ERA_LEGACY);
    CHECK_INT(mcp_message_walk_begin(&walk, post.body, DEPTH), OK);
    CHECK(serve_batch_next(&batch, &walk, &item));
    CHECK_INT(item.message.type, MESSAGE_REQUEST);
    CHECK_STR(item.progress.text, S("p"));
    CHECK_STR(item.version, S("2025-03-26"));
    CHECK_INT(item.era, ERA_LEGACY);
    CHECK(serve_batch_next(&batch, &walk, &item));
    CHECK_INT(item.message.type, MESSAGE_NOTIFICATION);
    CHECK(!item.progress.text.ptr && !item.is_batch);
    CHECK(serve_batch_next(&batch, &walk, &item));
    CHECK_INT(item.message.type, MESSAGE_RESULT);
    CHECK(!serve_batch_next(&batch, &walk, &item));
    buf_done(&error);
}

TEST(levels_are_those_of_syslog)
{
    CHECK_INT(serve_level(S("debug")), 0);
    CHECK_INT(serve_level(S("emergency")), 7);
    CHECK_INT(serve_level(S("Debug")), -1);
    CHECK_INT(serve_level(S("")), -1);
}
