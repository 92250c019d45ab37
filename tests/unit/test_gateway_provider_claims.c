/* SPDX-License-Identifier: Apache-2.0 */
/* identity.provider of the configuration, and whom claims stand for by it. */
#include "base/cleanup.h"
#include "gateway/provider.h"
#include "harness.h"

enum { ARENA = 1 << 20 };

#define PROVIDER(more)                                                                  \
    S("identity: { provider: { issuer: \"https://login.example\", client_id: us, " more \
      " } }")

static struct settings *load(struct str yaml, struct config_problem *problem)
{
    struct settings *settings = NULL;
    struct config *config = NULL;

    CHECK_INT(config_parse(yaml, "t.yaml", NULL, &config, problem), OK);
    if (config && settings_new(config, &settings, problem))
        config_free(config);
    return settings;
}

static enum err read_claims(struct settings *settings, struct str text,
                            struct arena *arena, struct identity *ret)
{
    const struct json *claims = NULL;
    const char *why = NULL;
    enum err err;

    CHECK_INT(json_parse(text, arena, &claims, NULL), OK);
    err = provider_read_claims(&settings->provider, claims, arena, ret, &why);
    if (err)
        CHECK(why && *why);
    return err;
}

TEST(addresses_profiles_topics_and_scopes_are_checked)
{
    static const struct {
        struct str text;
        const char *why;
    } cases[] = {
        { S("identity: { provider: { issuer: \"http://login.example\", client_id: us, "
            "profile: human } }"),
          "issuer \"http://login.example\" must be https://HOST[/PATH], or http on this "
          "machine" },
        { S("identity: { provider: { issuer: \"https://a@b\", client_id: us, profile: "
            "human } }"),
          "issuer \"https://a@b\" must be https://HOST[/PATH], or http on this machine" },
        { PROVIDER("profile: human, origin: \"https://a/b\""),
          "origin \"https://a/b\" must be https://HOST, or http on this machine" },
        { PROVIDER("profile: human, origin: \"http://a\""),
          "origin \"http://a\" must be https://HOST, or http on this machine" },
        { PROVIDER("profile: human, scopes: email"),
          "scopes must be separated by spaces, and openid be one" },
        { PROVIDER("profile: admin"),
          "not everybody is an administrator; profiles say who is" },
        { PROVIDER("profile: human, topics: [\"a b\"]"),
          "a topic pattern is a topic name, the beginning of one and *, or * alone" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};

        CHECK(load(c->text, &problem) == NULL);
        CHECK_STR(str_of(problem.message), str_of(c->why));
    }
}

TEST(without_one_there_is_none_and_its_name_may_be_left_out)
{
    struct config_problem problem = {};
    struct settings *without = load(S("{}"), &problem);
    struct settings *with = load(PROVIDER("profile: human"), &problem);

    CHECK(without->provider.said == NULL);
    CHECK_STR(with->provider.title, S("login.example"));
    CHECK(!settings_provider_equal(without, with));
    CHECK(settings_provider_equal(with, with));
    settings_unref(without);
    settings_unref(with);
}

#define MAPPED                                                                \
    PROVIDER(                                                                 \
        "claims: { profile: groups, topics: rooms, type: kind }, profiles: [" \
        "{ value: admins, profile: admin }, { value: staff, profile: human }], topics: [a]")

TEST(claims_say_who_and_what_he_may)
{
    static const struct {
        struct str claims, id, profile, topic;
        enum participant_type type;
        bool is_admin;
    } cases[] = {
        { S("{\"sub\":\"zoe\",\"groups\":\"staff\"}"), S("zoe"), S("human"), S("a"),
          TYPE_HUMAN, false },
        { S("{\"sub\":\"adam\",\"groups\":[\"x\",\"staff\",\"admins\"]}"), S("adam"),
          S("admin"), S("a"), TYPE_HUMAN, true },
        { S("{\"sub\":\"bot\",\"groups\":[\"staff\"],\"kind\":\"service\"}"), S("bot"),
          S("human"), S("a"), TYPE_SERVICE, false },
        { S("{\"sub\":\"zoe\",\"groups\":[\"staff\"],\"rooms\":\"b\"}"), S("zoe"),
          S("human"), S("b"), TYPE_HUMAN, false },
        { S("{\"sub\":\"zoe\",\"groups\":[\"staff\"],\"rooms\":[\"c-*\"],\"\":\"d\"}"),
          S("zoe"), S("human"), S("c-*"), TYPE_HUMAN, false },
    };
    struct config_problem problem = {};
    struct settings *settings = load(MAPPED, &problem);

    FOR_EACH_CASE(c, cases) {
        struct identity identity = {};
        struct arena arena;

        arena_init(&arena, ARENA);
        CHECK_INT(read_claims(settings, c->claims, &arena, &identity), OK);
        CHECK_STR(identity.id, c->id);
        CHECK_STR(identity.profile, c->profile);
        CHECK_INT(identity.topics.count, 1);
        CHECK_STR(identity.topics.items[0], c->topic);
        CHECK_INT(identity.type, c->type);
        CHECK_INT(identity.is_admin, c->is_admin);
        arena_done(&arena);
    }
    settings_unref(settings);
}

TEST(whoever_they_do_not_name_or_give_nothing_is_refused)
{
    static const struct str cases[] = {
        S("{\"sub\":\"zoe\"}"),
        S("{\"sub\":\"zoe\",\"groups\":[]}"),
        S("{\"sub\":\"zoe\",\"groups\":\"Staff\"}"),
        S("{\"sub\":\"zoe\",\"groups\":{\"staff\":true}}"),
        S("{\"sub\":\"zoe\",\"groups\":[[\"staff\"]]}"),
        S("{\"groups\":\"staff\"}"),
        S("{\"sub\":\"\",\"groups\":\"staff\"}"),
        S("{\"sub\":7,\"groups\":\"staff\"}"),
        S("{\"sub\":\"system:gateway\",\"groups\":\"staff\"}"),
        S("{\"sub\":\"a\\u0000b\",\"groups\":\"staff\"}"),
        S("{\"sub\":\"zoe\",\"groups\":\"staff\",\"rooms\":7}"),
        S("{\"sub\":\"zoe\",\"groups\":\"staff\",\"rooms\":[7]}"),
        S("{\"sub\":\"zoe\",\"groups\":\"staff\",\"rooms\":[\"a b\"]}"),
        S("{\"sub\":\"zoe\",\"groups\":\"staff\",\"kind\":\"god\"}"),
        S("{\"sub\":\"zoe\",\"groups\":\"staff\",\"kind\":null}"),
    };
    struct config_problem problem = {};
    struct settings *settings = load(MAPPED, &problem);

    FOR_EACH_CASE(c, cases) {
        struct identity identity = {};
        struct arena arena;

        arena_init(&arena, ARENA);
        CHECK_INT(read_claims(settings, *c, &arena, &identity), ERR_FORBIDDEN);
        arena_done(&arena);
    }
    settings_unref(settings);
}

TEST(an_address_counts_once_it_is_verified)
{
    static const struct {
        struct str claims;
        enum err err;
    } cases[] = {
        { S("{\"email\":\"a@b\",\"email_verified\":true}"), OK },
        { S("{\"email\":\"a@b\",\"email_verified\":\"true\"}"), OK },
        { S("{\"email\":\"a@b\",\"email_verified\":false}"), ERR_FORBIDDEN },
        { S("{\"email\":\"a@b\",\"email_verified\":\"false\"}"), ERR_FORBIDDEN },
        { S("{\"email\":\"a@b\"}"), ERR_FORBIDDEN },
        { S("{\"email_verified\":true}"), ERR_FORBIDDEN },
    };
    struct config_problem problem = {};
    struct settings *settings =
        load(PROVIDER("profile: human, claims: { id: email }"), &problem);

    FOR_EACH_CASE(c, cases) {
        struct identity identity = {};
        struct arena arena;

        arena_init(&arena, ARENA);
        CHECK_INT(read_claims(settings, c->claims, &arena, &identity), c->err);
        arena_done(&arena);
    }
    settings_unref(settings);
}

TEST(what_changes_rights_makes_other_settings_and_a_name_does_not)
{
    static const struct {
        struct str text;
        bool is_equal;
    } cases[] = {
        { PROVIDER("profile: human"), true },
        { PROVIDER("profile: human, name: Other"), true },
        { PROVIDER("profile: reader"), false },
        { PROVIDER("profile: human, topics: [a]"), false },
        { PROVIDER("profile: human, audience: a"), false },
        { PROVIDER("profile: human, session: 1h"), false },
        { PROVIDER("profile: human, claims: { id: oid }"), false },
        { PROVIDER("profile: human, claims: { profile: g }, profiles: [{ value: a, "
                   "profile: admin }]"),
          false },
    };
    struct config_problem problem = {};
    struct settings *one = load(PROVIDER("profile: human"), &problem);

    FOR_EACH_CASE(c, cases) {
        struct settings *other = load(c->text, &problem);

        CHECK_STR(str_of(problem.message), S(""));
        CHECK_INT(settings_provider_equal(one, other), c->is_equal);
        settings_unref(other);
    }
    settings_unref(one);
}
