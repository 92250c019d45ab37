/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "envelope/envelope.h"
#include "envelope/system.h"
#include "harness.h"

#define BEGIN(more)                                                                     \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"sys-1\",\"ts\":\"2026-01-02T03:04:05.678Z\"," \
    "\"from\":\"system:gateway\"," more

TEST(a_system_envelope_has_the_same_head_whatever_it_says)
{
    /* clang-format off */
    static const struct { struct system_head head; struct str text; } cases[] = {
        { { .kind = S("system/gap"), .id = S("sys-1"), .wall_ms = 1767323045678 },
          S(BEGIN("\"kind\":\"system/gap\",\"payload\":{}}")) },
        { { .kind = S("system/error"), .id = S("sys-1"), .wall_ms = 1767323045678, .to = S("a\"b") },
          S(BEGIN("\"to\":[\"a\\\"b\"],\"kind\":\"system/error\",\"payload\":{}}")) },
        { { .kind = S("system/error"), .id = S("sys-1"), .wall_ms = 1767323045678, .to = S("a"), .correlation_id = S("x\\y") },
          S(BEGIN("\"to\":[\"a\"],\"kind\":\"system/error\",\"correlation_id\":\"x\\\\y\",\"payload\":{}}")) },
        { { .kind = S("system/error"), .id = S("sys-1"), .wall_ms = 1767323045678, .correlation_id = S("1") },
          S(BEGIN("\"kind\":\"system/error\",\"correlation_id\":\"1\",\"payload\":{}}")) },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf out;

        buf_init(&out, 4096);
        system_begin(&w, &out, &c->head);
        system_end(&w);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}

TEST(what_the_gateway_says_is_an_envelope_that_others_could_not_send)
{
    struct envelope env;
    struct arena arena;
    struct json_writer w;
    struct buf out;
    struct kind kind;

    buf_init(&out, 4096);
    arena_init(&arena, 4096);
    system_begin(&w, &out,
                 &(struct system_head){ .kind = S("system/welcome"),
                                        .id = S("1"),
                                        .to = S("\u00e9"),
                                        .correlation_id = S("2") });
    json_put_str(&w, S("text"), S("x"));
    json_key(&w, S("you"));
    system_participant(&w, S("a"), (struct system_capabilities){ .patterns = S("[]") },
                       S("agent"));
    system_end(&w);
    CHECK_INT(
        envelope_scan(buf_str(&out), JSON_MAX_DEPTH, DIALECT_SLASH, &arena, &env, NULL),
        OK);
    CHECK_STR(env.from, S(SYSTEM_SENDER));
    CHECK_STR(env.correlation_id, S("2"));
    CHECK(envelope_names(&env, S("\u00e9")));
    CHECK_STR(env.payload.text,
              S("{\"text\":\"x\",\"you\":{\"id\":\"a\",\"capabilities\":[],"
                "\"moot\":{\"type\":\"agent\"}}}"));
    CHECK_INT(kind_parse(env.kind_text, &kind), ERR_RESERVED_NAMESPACE);
    buf_done(&out);
    arena_done(&arena);
}

TEST(a_participant_is_shown_with_its_capabilities_unless_it_leaves)
{
    /* clang-format off */
    static const struct { struct str id; struct system_capabilities capabilities; struct str type, text; } cases[] = {
        { S("a"),   { S("[\"chat\"]"), S("[{}]") }, S("agent"),
          S("{\"id\":\"a\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"agent\",\"capabilities\":[{}]}}") },
        { S("a"),   { S("[\"chat\"]"), S("") }, S("agent"),   S("{\"id\":\"a\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"agent\"}}") },
        { S("a"),   { S("[]"), S("") }, S("human"),   S("{\"id\":\"a\",\"capabilities\":[],\"moot\":{\"type\":\"human\"}}") },
        { S("\"\n"), { S(""), S("") }, S("service"), S("{\"id\":\"\\\"\\n\",\"moot\":{\"type\":\"service\"}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf out;

        buf_init(&out, 4096);
        json_write_init(&w, &out);
        system_participant(&w, c->id, c->capabilities, c->type);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}
