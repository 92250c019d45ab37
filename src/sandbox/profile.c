/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/profile.h"

#include "base/cleanup.h"
#include "sandbox/package.h"

/* clang-format off */
static const struct str none[] = { S("") };
static const struct str github_hosts[] = { S("api.github.com"), S("") };
static const struct str github_variables[] = { S("GITHUB_PERSONAL_ACCESS_TOKEN"), S("") };
static const struct str gitlab_hosts[] = { S("gitlab.com"), S("") };
static const struct str gitlab_variables[] = { S("GITLAB_PERSONAL_ACCESS_TOKEN"), S("") };
static const struct str slack_hosts[] = { S("slack.com"), S("") };
static const struct str slack_variables[] = { S("SLACK_BOT_TOKEN"), S("SLACK_TEAM_ID"), S("") };
static const struct str brave_hosts[] = { S("api.search.brave.com"), S("") };
static const struct str brave_variables[] = { S("BRAVE_API_KEY"), S("") };
static const struct str maps_hosts[] = { S("maps.googleapis.com"), S("") };
static const struct str maps_variables[] = { S("GOOGLE_MAPS_API_KEY"), S("") };

static const struct sandbox_profile profiles[] = {
    { .name = S("everything"), .package = S("@modelcontextprotocol/server-everything"),
      .hosts = none, .variables = none },
    { .name = S("filesystem"), .package = S("@modelcontextprotocol/server-filesystem"),
      .hosts = none, .variables = none, .writes_arguments = true },
    { .name = S("memory"), .package = S("@modelcontextprotocol/server-memory"),
      .hosts = none, .variables = none, .home_variable = S("MEMORY_FILE_PATH") },
    { .name = S("sequential-thinking"),
      .package = S("@modelcontextprotocol/server-sequential-thinking"),
      .hosts = none, .variables = none },
    { .name = S("time"), .package = S("mcp-server-time"),
      .hosts = none, .variables = none },
    { .name = S("git"), .package = S("mcp-server-git"),
      .hosts = none, .variables = none },
    { .name = S("sqlite"), .package = S("mcp-server-sqlite"),
      .hosts = none, .variables = none },
    { .name = S("github"), .package = S("@modelcontextprotocol/server-github"),
      .network = NETWORK_HOSTS, .hosts = github_hosts,
      .variables = github_variables },
    { .name = S("gitlab"), .package = S("@modelcontextprotocol/server-gitlab"),
      .network = NETWORK_HOSTS, .hosts = gitlab_hosts,
      .variables = gitlab_variables },
    { .name = S("slack"), .package = S("@modelcontextprotocol/server-slack"),
      .network = NETWORK_HOSTS, .hosts = slack_hosts,
      .variables = slack_variables },
    { .name = S("brave-search"), .package = S("@modelcontextprotocol/server-brave-search"),
      .network = NETWORK_HOSTS, .hosts = brave_hosts,
      .variables = brave_variables },
    { .name = S("google-maps"), .package = S("@modelcontextprotocol/server-google-maps"),
      .network = NETWORK_HOSTS, .hosts = maps_hosts,
      .variables = maps_variables },
};
/* clang-format on */

const struct sandbox_profile *sandbox_profile_find(struct str name)
{
    for (size_t i = 0; i < COUNT(profiles); i++)
        if (str_eq(profiles[i].name, name))
            return &profiles[i];
    return NULL;
}

const struct sandbox_profile *sandbox_profile_next(const struct sandbox_profile *after)
{
    const struct sandbox_profile *next = after ? after + 1 : profiles;

    return next < profiles + COUNT(profiles) ? next : NULL;
}

/* A path such as …/node_modules/NAME/dist/index.js means the package as well. */
static bool names_package(struct str word, struct str package)
{
    static const struct str before = S("/node_modules/");

    for (size_t at = 0; at + before.len + package.len < word.len; at++) {
        struct str rest = str_slice(word, at, word.len);

        if (str_starts(rest, before) &&
            str_starts(str_slice(rest, before.len, rest.len), package) &&
            rest.ptr[before.len + package.len] == '/')
            return true;
    }
    return false;
}

const struct sandbox_profile *sandbox_profile_guess(const struct sandbox_command *command)
{
    struct package package = {};
    bool has_package = package_of(command, &package);

    for (size_t i = 0; i < COUNT(profiles); i++) {
        if (has_package && str_eq(package.name, profiles[i].package))
            return &profiles[i];
        for (size_t w = 0; !has_package && w < command->count && w < 2; w++)
            if (names_package(command->words[w], profiles[i].package))
                return &profiles[i];
    }
    return NULL;
}
