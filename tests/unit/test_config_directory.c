/* SPDX-License-Identifier: Apache-2.0 */
/* directory: and identity: of the configuration. */
#include "config/config.h"
#include "harness.h"

#define SECRET "0123456789abcdef0123456789abcdef"

static struct config *parse(struct str text)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    enum err err = config_parse(text, "t.yaml", NULL, &config, &problem);

    CHECK_STR(str_of(err ? problem.message : ""), S(""));
    return config;
}

TEST(without_a_word_there_is_a_door_for_agents_and_no_jwt)
{
    struct config *config = config_default();

    CHECK(config->directory.open);
    CHECK_INT(config->directory.subscribe_timeout_ms, 10'000);
    CHECK_INT(config->directory.events, 10'000);
    CHECK_INT(config->directory.event_bytes, 16 << 20);
    CHECK_STR(config->identity.jwt.secret, S(""));
    config_free(config);
}

TEST(everything_can_be_said_of_jwts)
{
    struct config *config =
        parse(S("identity:\n"
                "  jwt: { secret: " SECRET ", audience: us, issuer: them,\n"
                "         profile: reader, topics: [a, 'b*'] }\n"));
    const struct config_jwt *jwt = &config->identity.jwt;

    CHECK_STR(jwt->secret, S(SECRET));
    CHECK_STR(jwt->audience, S("us"));
    CHECK_STR(jwt->issuer, S("them"));
    CHECK_STR(jwt->profile, S("reader"));
    CHECK_INT(jwt->topics.count, 2);
    config_free(config);
}

TEST(what_is_wrong_with_them_is_said)
{
    static const struct {
        struct str text;
        const char *why;
    } cases[] = {
        { S("identity: { jwt: { audience: us } }"),
          "jwt needs \"secret\" or \"secret_file\"" },
        { S("identity: { jwt: { secret: " SECRET " } }"), "jwt needs \"audience\"" },
        { S("identity: { jwt: { secret: 0123456789abcdef0123456789abcde, audience: us } }"),
          "the secret of jwt has at least 32 bytes" },
        { S("identity: { jwt: { secret: " SECRET ", secret_file: f, audience: us } }"),
          "jwt has both \"secret\" and \"secret_file\"" },
        { S("identity: { jwt: { secret_file: f, audience: us } }"),
          "secret_file is not possible here" },
#define PROVIDER(more) S("identity: { provider: { " more " } }")
        { PROVIDER("client_id: us"), "provider needs \"issuer\"" },
        { PROVIDER("profile: human"), "provider needs \"issuer\"" },
        { PROVIDER("issuer: them, profile: human"),
          "provider needs \"client_id\", \"audience\" or both" },
        { PROVIDER("issuer: them, client_id: us"),
          "provider needs \"profile\", \"profiles\" or both" },
        { PROVIDER("issuer: them, client_id: us, profiles: [{ value: a, profile: b }]"),
          "profiles need a claim: claims.profile" },
        { PROVIDER("issuer: them, client_id: us, profile: human, claims: { id: \"\" }"),
          "id must not be empty" },
        { PROVIDER("issuer: them, audience: us, profile: human, client_secret_file: f"),
          "client_secret_file needs \"client_id\"" },
        { PROVIDER("issuer: them, client_id: us, profile: human, client_secret_file: f"),
          "client_secret_file is not possible here" },
        { PROVIDER("issuer: them, client_id: us, profile: human, session: 13h"),
          "session must be between 1m and 12h, not \"13h\"" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};
        struct config *config = NULL;

        CHECK_INT(config_parse(c->text, "t.yaml", NULL, &config, &problem), ERR_INVALID);
        CHECK_STR(str_of(problem.message), str_of(c->why));
    }
}
