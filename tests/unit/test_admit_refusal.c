/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "admit/admit.h"
#include "base/xalloc.h"
#include "harness.h"

/* A sender "a" with two capabilities, and a kind it tried. */
struct desk {
    struct capsets *capsets;
    struct participant *sender;
    struct admission admission;
};

static void desk_init(struct desk *desk)
{
    static const struct str capabilities[] = { S("mcp/proposal:*"), S("chat") };

    desk->capsets = capsets_new();
    desk->sender = xcalloc(1, sizeof(*desk->sender));
    desk->sender->id = S("a\"1");
    CHECK_INT(capset_intern(desk->capsets, (struct str_list){ capabilities, 2 },
                            &desk->sender->capabilities, NULL),
              OK);
    desk->admission =
        (struct admission){ .sender = desk->sender,
                            .env = { .kind_text = S("mcp/request:a/\"b\"") } };
}

static void desk_done(struct desk *desk)
{
    capset_unref(desk->sender->capabilities);
    free(desk->sender);
    capsets_free(desk->capsets);
}

#define KIND "mcp/request:a/\\\"b\\\""

/* clang-format off */
static const struct {
    struct refusal refusal;
    struct str message; /* as JSON */
    struct str details;
} cases[] = {
    { { .err = ERR_MALFORMED_ENVELOPE, .what = "must not be empty", .field = S("id"), .at = 27 },
      S("`id`: must not be empty"), S(",\"field\":\"id\",\"offset\":27") },
    { { .err = ERR_MALFORMED_ENVELOPE, .what = "trailing text", .at = 0 },
      S("trailing text"), S(",\"offset\":0") },
    { { .err = ERR_UNSUPPORTED_PROTOCOL, .what = "mcpx/v0.1 is spoken here; mcpx/draft is with dialect=dotted", .field = S("protocol"), .at = 12 },
      S("`protocol`: mcpx/v0.1 is spoken here; mcpx/draft is with dialect=dotted"), S(",\"field\":\"protocol\",\"supported\":[\"mcpx/v0.1\"]") },
    { { .err = ERR_MALFORMED_KIND, .what = "not a kind of this protocol", .field = S("kind") },
      S("`kind`: not a kind of this protocol"), S(",\"field\":\"kind\",\"attempted_kind\":\"" KIND "\"") },
    { { .err = ERR_RESERVED_NAMESPACE, .what = "reserved", .field = S("kind") },
      S("`kind`: reserved"), S(",\"field\":\"kind\",\"attempted_kind\":\"" KIND "\"") },
    { { .err = ERR_FROM_MISMATCH, .what = "unused", .field = S("from") },
      S("`from` must be your own participant id, 'a\\\"1'"), S(",\"field\":\"from\"") },
    { { .err = ERR_CAPABILITY_VIOLATION, .what = "unused", .field = S("kind") },
      S("You lack capability for '" KIND "'"),
      S(",\"field\":\"kind\",\"attempted_kind\":\"" KIND "\",\"your_capabilities\":[\"mcp/proposal:*\",\"chat\"]") },
    { { .err = ERR_KIND_PAYLOAD_MISMATCH, .what = "must be what the kind says", .field = S("payload.method"), .expected = S("tools/call") },
      S("`payload.method`: must be what the kind says"), S(",\"field\":\"payload.method\",\"expected\":\"tools/call\"") },
    { { .err = ERR_KIND_PAYLOAD_MISMATCH, .what = "must not stand here", .field = S("payload.result") },
      S("`payload.result`: must not stand here"), S(",\"field\":\"payload.result\"") },
    { { .err = ERR_LOOP_GUARD, .what = "a human must speak", .count = 7, .limit = 5 },
      S("a human must speak"), S(",\"count\":7,\"limit\":5") },
    { { .err = ERR_RATE_LIMITED, .what = "unused", .retry_after_ms = 1250 },
      S("You send faster than you may; try again in 1250 ms"), S(",\"retry_after_ms\":1250") },
    { { .err = ERR_PROPOSAL_STATE, .what = "the proposal is no longer open", .field = S("correlation_id"), .state = "rejected" },
      S("`correlation_id`: the proposal is no longer open"), S(",\"field\":\"correlation_id\",\"state\":\"rejected\"") },
    { { .err = ERR_PROPOSAL_STATE, .what = "no such proposal is known here", .field = S("correlation_id") },
      S("`correlation_id`: no such proposal is known here"), S(",\"field\":\"correlation_id\"") },
    { { .err = ERR_PROPOSAL_STATE, .what = "it needs approvals, and a rule gives none", .field = S("correlation_id"), .rule = S("r-1"), .state = "open", .needed = 2 },
      S("`correlation_id`: it needs approvals, and a rule gives none: 0 of 2"), S(",\"field\":\"correlation_id\",\"rule\":\"r-1\",\"state\":\"open\",\"needed\":2,\"given\":0") },
    { { .err = ERR_RULE_STATE, .what = "does not cover the proposal", .field = S("rule"), .rule = S("r-1"), .state = "active", .path = S("arguments.path") },
      S("`rule`: does not cover the proposal: see arguments.path"), S(",\"field\":\"rule\",\"rule\":\"r-1\",\"state\":\"active\",\"path\":\"arguments.path\"") },
    { { .err = ERR_RULE_STATE, .what = "was used up", .field = S("rule"), .rule = S("r-1"), .state = "used up", .retry_after_ms = 5 },
      S("`rule`: was used up"), S(",\"field\":\"rule\",\"retry_after_ms\":5,\"rule\":\"r-1\",\"state\":\"used up\"") },
    { { .err = ERR_CAPABILITY_VIOLATION, .what = "you lack the capability rule/use", .field = S("rule"), .capability = S("rule/use") },
      S("`rule`: you lack the capability rule/use"),
      S(",\"field\":\"rule\",\"attempted_kind\":\"" KIND "\",\"your_capabilities\":[\"mcp/proposal:*\",\"chat\"],\"capability\":\"rule/use\"") },
    { { .err = ERR_PAUSED, .what = "you are paused" },
      S("you are paused"), S("") },
    { { .err = ERR_DUPLICATE_ID, .what = "this id is already in use here", .field = S("id") },
      S("`id`: this id is already in use here"), S(",\"field\":\"id\"") },
};
/* clang-format on */

TEST(a_refusal_says_error_message_and_what_belongs_to_the_error)
{
    struct desk desk;

    desk_init(&desk);
    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf got, want;

        buf_init(&got, 4096);
        buf_init(&want, 4096);
        json_write_init(&w, &got);
        json_object_open(&w);
        refusal_write(&c->refusal, &desk.admission, &w);
        json_object_close(&w);
        buf_putf(&want, "{\"error\":\"%s\",\"message\":\"", err_name(c->refusal.err));
        buf_put(&want, c->message);
        buf_putc(&want, '"');
        buf_put(&want, c->details);
        buf_putc(&want, '}');
        CHECK_STR(buf_str(&got), buf_str(&want));
        buf_done(&got);
        buf_done(&want);
    }
    desk_done(&desk);
}

TEST(D15_capabilities_that_look_into_the_payload_stand_apart)
{
    static const struct str capabilities[] = {
        S("{\"kind\":\"mcp/request:*\",\"payload\":{\"a\":1}}"),
        S("chat"),
    };
    struct refusal refusal = { .err = ERR_CAPABILITY_VIOLATION, .field = S("payload") };
    struct json_writer w;
    struct desk desk;
    struct buf got;

    desk_init(&desk);
    capset_unref(desk.sender->capabilities);
    CHECK_INT(capset_intern(desk.capsets, (struct str_list){ capabilities, 2 },
                            &desk.sender->capabilities, NULL),
              OK);
    buf_init(&got, 4096);
    json_write_init(&w, &got);
    refusal_write(&refusal, &desk.admission, &w);
    CHECK_STR(
        buf_str(&got),
        S("\"error\":\"capability_violation\",\"message\":\"You lack capability for '" KIND
          "' with this payload\",\"field\":\"payload\",\"attempted_kind\":\"" KIND
          "\",\"your_capabilities\":[\"chat\"],\"moot\":{\"capabilities\":"
          "[{\"kind\":\"mcp/request:*\",\"payload\":{\"a\":1}}]}"));
    buf_done(&got);
    desk_done(&desk);
}

TEST(the_details_alone_are_the_same_without_error_and_message)
{
    struct desk desk;

    desk_init(&desk);
    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf got;

        buf_init(&got, 4096);
        json_write_init(&w, &got);
        w.needs_comma = true;
        refusal_write_details(&c->refusal, &desk.admission, &w);
        CHECK_STR(buf_str(&got), c->details);
        buf_done(&got);
    }
    desk_done(&desk);
}

/* A kind may have 2048 bytes, every one of which is two when it is escaped. */
TEST(the_longest_kind_and_id_fit)
{
    static char kind[KIND_MAX_BYTES], id[ENVELOPE_MAX_ID];
    static const enum err errors[] = { ERR_CAPABILITY_VIOLATION, ERR_FROM_MISMATCH };
    struct desk desk;

    for (size_t i = 0; i < sizeof(kind); i++)
        kind[i] = '"';
    for (size_t i = 0; i < sizeof(id); i++)
        id[i] = '\\';
    desk_init(&desk);
    desk.admission.env.kind_text = (struct str){ kind, sizeof(kind) };
    desk.sender->id = (struct str){ id, sizeof(id) };
    FOR_EACH_CASE(err, errors) {
        struct refusal refusal = { .err = *err, .what = "" };
        struct buf message;

        buf_init(&message, 8192);
        refusal_message(&refusal, &desk.admission, &message);
        CHECK(!message.is_full);
        CHECK(
            str_ends(buf_str(&message), *err == ERR_FROM_MISMATCH ? S("\\'") : S("\"'")));
        buf_done(&message);
    }
    desk_done(&desk);
}
