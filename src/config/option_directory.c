/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `directory` and `identity`. */
#include "base/cleanup.h"
#include "config/config_priv.h"

/* clang-format off */
#define T(member, sort) ROW(struct config_directory, member, sort)
static const struct option directory_options[] = {
    { T(open,        OPTION_BOOL),  .preset = "true",                                          .help = "whether there is /agents at all" },
    { ROW_MS(struct config_directory, subscribe_timeout), .preset = "10s", .min = "100ms", .max = "10m", .help = "time for an agent to subscribe, after it has connected" },
    { T(events,      OPTION_COUNT), .preset = "10000", .min = "1",    .max = "1000000", .needs_restart = true, .help = "events kept in memory for agents that come back" },
    { T(event_bytes, OPTION_SIZE),  .preset = "16MiB", .min = "1MiB", .max = "1GiB",    .needs_restart = true, .help = "bytes of them" },
    { T(team_profile, OPTION_TEXT), .preset = "proposer", .mark = offsetof(struct config_directory, team_profile_mark), .help = "what members of a team are granted in its room, as far as its creator holds it" },
    { T(max_teams,   OPTION_COUNT), .preset = "10000", .min = "1",    .max = "1000000", .help = "teams there may be, those that are dissolved not counted" },
    { T(max_teams_each, OPTION_COUNT), .preset = "250", .min = "1",   .max = "1000000", .help = "teams that one creator may have" },
};
#undef T

#define T(member, sort) ROW(struct config_jwt, member, sort)
static const struct option jwt_options[] = {
    { T(secret,      OPTION_SECRET), .unless = offsetof(struct config_jwt, secret_file), .help = "the secret with which they are signed (HS256), at least 32 bytes; none are accepted without" },
    { T(secret_file, OPTION_PATH),                                                       .help = "file that holds the secret, instead of secret" },
    { T(audience,    OPTION_TEXT),                                                       .help = "what they must name as their audience (aud)" },
    { T(issuer,      OPTION_TEXT),                                                       .help = "what they must name as their issuer (iss); any when not given" },
    { T(profile,     OPTION_TEXT),  .preset = "directory", .mark = offsetof(struct config_jwt, profile_mark), .help = "what whoever comes with one may do; not one with the role of an administrator" },
    { T(topics,      OPTION_TEXTS), .preset = "team-*",                                  .help = "topics he may enter; * at the end stands for anything" },
};
#undef T

static const struct schema jwt_schema = SCHEMA(struct config_jwt, jwt_options, "jwt", check_jwt);

#define T(member, sort) ROW(struct config_claims, member, sort)
static const struct option claims_options[] = {
    { T(id,      OPTION_TEXT), .preset = "sub", .help = "his participant id; one that people cannot choose themselves. Of email only a verified one (email_verified) counts" },
    { T(profile, OPTION_TEXT),                  .help = "what `profiles` goes by: a text or a list of texts, such as groups" },
    { T(topics,  OPTION_TEXT),                  .help = "topics he may enter, instead of `topics`: a text or a list of texts" },
    { T(type,    OPTION_TEXT),                  .help = "human, agent or service, instead of what his profile says" },
};
#undef T

#define T(member, sort) ROW(struct config_provider_profile, member, sort)
static const struct option provider_profile_options[] = {
    { T(value,   OPTION_TEXT), .is_required = true, .help = "what the claim says, or one of what it says" },
    { T(profile, OPTION_TEXT), .is_required = true, .help = "the profile that this stands for" },
};
#undef T

static const struct schema claims_schema = SCHEMA(struct config_claims, claims_options, "claims", NULL);
static const struct schema provider_profile_schema = SCHEMA(struct config_provider_profile, provider_profile_options, "profiles", NULL);

#define T(member, sort) ROW(struct config_provider, member, sort)
static const struct option provider_options[] = {
    { T(issuer,             OPTION_TEXT),  .help = "its address, as it names itself: https, or http on this machine" },
    { .name = "name", .kind = OPTION_TEXT, .offset = offsetof(struct config_provider, title), .help = "what the button says: \"Sign in with NAME\"; its host when not given" },
    { T(client_id,          OPTION_TEXT),  .help = "what it calls this gateway; nobody signs in there without" },
    { T(client_secret_file, OPTION_PATH),  .help = "file that holds the secret of that client; a public client when not given" },
    { T(scopes,             OPTION_TEXT),  .preset = "openid profile email", .help = "scopes to ask for, separated by spaces" },
    { T(origin,             OPTION_TEXT),  .help = "where browsers come back to, https://HOST; where they asked when not given. The provider must know ORIGIN/session/callback" },
    { ROW_MS(struct config_provider, session), .preset = "12h", .min = "1m", .max = "12h", .help = "how long somebody is signed in" },
    { T(audience,           OPTION_TEXT),  .help = "what its JWTs must name as their audience (aud) to be accepted as bearer tokens; none are when not given" },
    { T(profile,            OPTION_TEXT),  .mark = offsetof(struct config_provider, profile_mark), .help = "what everybody may do whom it knows and of whom `profiles` says nothing; they are refused when not given. Not one with the role of an administrator" },
    { T(profiles,           OPTION_LIST),  .schema = &provider_profile_schema, .help = "what people may do by a claim of theirs; the first that fits counts" },
    { T(topics,             OPTION_TEXTS), .preset = "*", .help = "topics they may enter; * at the end stands for anything" },
    { T(claims,             OPTION_SECTION), .schema = &claims_schema, .help = "which claims say what" },
};
#undef T

static const struct schema provider_schema = SCHEMA(struct config_provider, provider_options, "provider", check_provider);

#define T(member, sort) ROW(struct config_identity, member, sort)
static const struct option identity_options[] = {
    { T(jwt, OPTION_SECTION), .schema = &jwt_schema, .help = "JSON Web Tokens of another issuer, as good as a token at every door; their subject (sub) is the participant id, and they must expire (exp)" },
    { T(provider, OPTION_SECTION), .schema = &provider_schema, .help = "an OpenID provider where people sign in, and whose JWTs are accepted" },
};
#undef T
/* clang-format on */

const struct schema directory_schema =
    SCHEMA(struct config_directory, directory_options, "directory", NULL);
const struct schema identity_schema =
    SCHEMA(struct config_identity, identity_options, "identity", NULL);
