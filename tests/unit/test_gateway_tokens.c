/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "gateway/tokens.h"
#include "harness.h"

#define FORM                                                                        \
    "The body is not a JSON object of the right form: id, topics, capabilities or " \
    "profile, type, name, expires_at, admin."
#define ONE_OF   "Exactly one of `capabilities` and `profile` is needed."
#define TYPES    "`type` is human, agent or service."
#define EXPIRES  "`expires_at` is an RFC 3339 date-time in the future."
#define TOPICS   "a topic pattern is a topic name, the beginning of one and *, or * alone"
#define BAD_ID   "a participant id has 1 to 256 bytes"
#define RESERVED "participant ids that begin with system: belong to the gateway"

TEST(a_request_for_a_token_is_read_or_the_answer_says_what_is_wrong)
{
    /* clang-format off */
    static const struct { struct str body; const char *why; } cases[] = {
        { S("{\"id\":\"a\",\"capabilities\":[\"chat\"]}"),                                    NULL },
        { S("{\"id\":\"a\",\"capabilities\":[]}"),                                            NULL },
        { S("{\"id\":\"a\",\"profile\":\"human\"}"),                                          NULL },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"topics\":[],\"name\":\"n\",\"admin\":true}"), NULL },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"type\":\"service\",\"expires_at\":\"2999-01-01T00:00:00Z\"}"), NULL },
        { S(""),                                                                              FORM },
        { S("[]"),                                                                            FORM },
        { S("{}"),                                                                            FORM },
        { S("{\"id\":1,\"profile\":\"human\"}"),                                              FORM },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"extra\":1}"),                              FORM },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"admin\":\"yes\"}"),                        FORM },
        { S("{\"id\":\"a\",\"capabilities\":[{\"kind\":\"chat\",\"payload\":{\"a\":1}}]}"),     NULL },
        { S("{\"id\":\"a\",\"capabilities\":[1]}"),                                           "a capability is a pattern or an object" },
        { S("{\"id\":\"a\",\"capabilities\":\"chat\"}"),                                      "capabilities are a list" },
        { S("{\"id\":\"a\",\"capabilities\":[{\"payload\":{}}]}"),                            "an object has `kind`, a pattern" },
        { S("{\"id\":\"a\",\"id\":\"b\",\"profile\":\"human\"}"),                             FORM },
        { S("{\"id\":\"a\",\"profile\":\"human\"} x"),                                        FORM },
        { S("{\"id\":\"a\"}"),                                                                ONE_OF },
        { S("{\"id\":\"a\",\"profile\":\"\"}"),                                               ONE_OF },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"capabilities\":[]}"),                      ONE_OF },
        { S("{\"id\":\"a\",\"profile\":\"Human\"}"),                                          "There is no such profile; there are: full, proposer, responder, reader, tools, human, admin, bridge, orchestrator, directory." },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"type\":\"robot\"}"),                       TYPES },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"expires_at\":\"tomorrow\"}"),              EXPIRES },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"expires_at\":\"1999-01-01T00:00:00Z\"}"),  EXPIRES },
        { S("{\"id\":\"\",\"profile\":\"human\"}"),                                           BAD_ID },
        { S("{\"id\":\"system:x\",\"profile\":\"human\"}"),                                   RESERVED },
        { S("{\"id\":\"a\",\"profile\":\"human\",\"topics\":[\"a/b\"]}"),                     TOPICS },
        { S("{\"id\":\"a\",\"capabilities\":[\"a b\"]}"),                                     "a pattern cannot contain spaces or control characters" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct identity identity = {};
        const char *why = NULL;
        struct arena arena;
        enum err err;

        arena_init(&arena, 1 << 16);
        err = token_read_request(c->body, NULL, &arena, &identity, &why);
        CHECK_INT(err, c->why ? ERR_BAD_REQUEST : OK);
        if (c->why)
            CHECK_STR(str_of(why), str_of(c->why));
        else
            CHECK_STR(identity.id, S("a"));
        arena_done(&arena);
    }
}

TEST(what_a_request_leaves_out_is_made_up)
{
    struct identity a = {}, b = {};
    const char *why = "";
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(token_read_request(S("{\"id\":\"bot\",\"profile\":\"admin\"}"), NULL,
                                 &arena, &a, &why),
              OK);
    CHECK_INT(a.topics.count, 1);
    CHECK_STR(a.topics.items[0], S("*"));
    CHECK_INT(a.capabilities.count, 7);
    CHECK_STR(a.profile, S("admin"));
    CHECK_INT(a.type, TYPE_HUMAN);
    CHECK(a.is_admin);
    CHECK_INT(a.source, FROM_STORE);
    CHECK_INT(a.expires_ms, 0);
    CHECK(str_starts(a.token_name, S("bot-")));
    CHECK_INT(a.token_name.len, 4 + 6);
    CHECK_INT(token_read_request(S("{\"id\":\"bot\",\"capabilities\":[\"chat\"],"
                                   "\"topics\":[]}"),
                                 NULL, &arena, &b, &why),
              OK);
    CHECK(!str_eq(a.token_name, b.token_name));
    CHECK_INT(b.topics.count, 0); /* asked for: may enter nowhere */
    CHECK_STR(b.profile, S(""));
    CHECK_INT(b.type, TYPE_AGENT);
    CHECK(!b.is_admin);
    arena_done(&arena);
}

TEST(profiles_of_the_configuration_can_be_asked_for)
{
    struct config *config = NULL;
    struct settings *settings = NULL;
    struct config_problem problem = {};
    struct identity identity = {};
    const char *why = "";
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(
        config_parse(S("profiles: { own: { capabilities: [chat], type: service } }"),
                     "moot.yaml", NULL, &config, &problem),
        OK);
    CHECK_INT(settings_new(config, &settings, &problem), OK);
    CHECK_INT(token_read_request(S("{\"id\":\"a\",\"profile\":\"own\"}"), settings,
                                 &arena, &identity, &why),
              OK);
    CHECK_INT(identity.type, TYPE_SERVICE);
    CHECK_STR(identity.capabilities.items[0], S("chat"));
    CHECK_INT(token_read_request(S("{\"id\":\"a\",\"profile\":\"own\"}"), NULL, &arena,
                                 &identity, &why),
              ERR_BAD_REQUEST);
    settings_unref(settings);
    arena_done(&arena);
}

TEST(a_secret_is_drawn_behind_what_stands_there_and_only_its_hash_is_kept)
{
    struct identity identity = {};
    uint8_t hash[SHA256_BYTES];
    struct str secret;
    struct buf out;

    buf_init(&out, 256);
    buf_put(&out, S("Token: "));
    token_draw(&identity, &out);
    secret = str_slice(buf_str(&out), 7, out.len);
    CHECK(str_starts(secret, S("moot_")));
    CHECK_INT(secret.len, 5 + 43);
    crypto_sha256(secret, hash);
    CHECK(crypto_equal(identity.token_hash, hash, SHA256_BYTES));
    buf_done(&out);
}

static const struct str some_topics[] = { S("a"), S("b*") };
static const struct str some_capabilities[] = { S("chat"), S("mcp/\"x\":*") };
static const struct str object_capabilities[] = {
    S("{\"kind\":\"x/*\",\"payload\":{\"a\":\"\\n\",\"b\":1}}"),
    S("chat"),
};

/* clang-format off */
static const struct identity identities[] = {
    { .id = S("a"), .token_name = S("n"), .topics = { some_topics, 2 }, .capabilities = { some_capabilities, 2 },
      .type = TYPE_HUMAN, .source = FROM_STORE, .is_admin = true, .created_ms = 5000, .expires_ms = 1'700'000'000'000, .token_hash = { 1, 2, 3 } },
    { .id = S("o"), .token_name = S("o"), .capabilities = { object_capabilities, 2 }, .type = TYPE_AGENT, .source = FROM_STORE, .created_ms = 1 },
    { .id = S("\u00e9 \"q\""), .token_name = S("x y"), .profile = S("full"), .type = TYPE_SERVICE, .source = FROM_STORE, .created_ms = 1 },
};
static const struct str as_json[] = {
    S("{\"name\":\"n\",\"id\":\"a\",\"type\":\"human\",\"topics\":[\"a\",\"b*\"],\"capabilities\":[\"chat\",\"mcp/\\\"x\\\":*\"],"
      "\"admin\":true,\"source\":\"store\",\"created_at\":\"1970-01-01T00:00:05.000Z\",\"expires_at\":\"2023-11-14T22:13:20.000Z\"}"),
    S("{\"name\":\"o\",\"id\":\"o\",\"type\":\"agent\",\"topics\":[],\"capabilities\":[\"chat\"],"
      "\"moot\":{\"capabilities\":[{\"kind\":\"x/*\",\"payload\":{\"a\":\"\\n\",\"b\":1}}]},"
      "\"admin\":false,\"source\":\"store\",\"created_at\":\"1970-01-01T00:00:00.001Z\"}"),
    S("{\"name\":\"x y\",\"id\":\"\u00e9 \\\"q\\\"\",\"type\":\"service\",\"topics\":[],\"capabilities\":[],\"profile\":\"full\","
      "\"admin\":false,\"source\":\"store\",\"created_at\":\"1970-01-01T00:00:00.001Z\"}"),
};
/* clang-format on */

static void check_json(const struct identity *identity, struct str want)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, 4096);
    json_write_init(&w, &out);
    token_write_json(identity, &w);
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(a_token_comes_back_from_its_record_as_it_was)
{
    FOR_EACH_CASE(identity, identities) {
        struct store_token record;
        struct identity *back;
        struct arena arena;

        arena_init(&arena, 1 << 16);
        token_to_record(identity, &arena, &record);
        CHECK_STR(record.topics, test_case ? S("[]") : S("[\"a\",\"b*\"]"));
        back = token_from_record(&record);
        CHECK(back != NULL);
        check_json(identity, as_json[test_case]);
        if (back) {
            check_json(back, as_json[test_case]);
            CHECK_INT(back->created_ms, identity->created_ms);
            CHECK(memcmp(back->token_hash, identity->token_hash, SHA256_BYTES) == 0);
        }
        identity_unref(back);
        arena_done(&arena);
    }
}

TEST(a_record_that_cannot_be_understood_gives_no_token)
{
    /* clang-format off */
    static const struct { struct str id, topics, capabilities, type; bool is_good; } cases[] = {
        { S("a"),      S("[\"*\"]"),   S("[\"chat\"]"),  S("agent"), true  },
        { S("a"),      S("[]"),        S("[]"),          S("human"), true  },
        { S(""),       S("[]"),        S("[]"),          S("agent"), false },
        { S("system"), S("[]"),        S("[]"),          S("agent"), false },
        { S("a"),      S(""),          S("[]"),          S("agent"), false },
        { S("a"),      S("{}"),        S("[]"),          S("agent"), false },
        { S("a"),      S("[1]"),       S("[]"),          S("agent"), false },
        { S("a"),      S("[\"a b\"]"), S("[]"),          S("agent"), false },
        { S("a"),      S("[]"),        S("[\"\"]"),      S("agent"), false },
        { S("a"),      S("[]"),        S("[\"chat\""),   S("agent"), false },
        { S("a"),      S("[]"),        S("[]"),          S(""),      false },
        { S("a"),      S("[]"),        S("[]"),          S("robot"), false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct identity *made =
            token_from_record(&(struct store_token){ .name = S("n"),
                                                     .id = c->id,
                                                     .topics = c->topics,
                                                     .capabilities = c->capabilities,
                                                     .type = c->type });

        CHECK_INT(made != NULL, c->is_good);
        identity_unref(made);
    }
}
