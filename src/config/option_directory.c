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

#define T(member, sort) ROW(struct config_identity, member, sort)
static const struct option identity_options[] = {
    { T(jwt, OPTION_SECTION), .schema = &jwt_schema, .help = "JSON Web Tokens of another issuer, as good as a token at every door; their subject (sub) is the participant id, and they must expire (exp)" },
};
#undef T
/* clang-format on */

const struct schema directory_schema =
    SCHEMA(struct config_directory, directory_options, "directory", NULL);
const struct schema identity_schema =
    SCHEMA(struct config_identity, identity_options, "identity", NULL);
