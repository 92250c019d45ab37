/* SPDX-License-Identifier: Apache-2.0 */
/* The directory and its door for agents; and credentials that others issue. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "config/mark.h"

struct config_directory {
    bool open; /* false: there is no /agents */
    uint64_t subscribe_timeout_ms;
    size_t events; /* remembered for those who come back */
    size_t event_bytes;
    struct str team_profile;
    struct config_mark team_profile_mark;
    size_t max_teams;      /* that are not dissolved */
    size_t max_teams_each; /* of one creator */
};

/* JSON Web Tokens, signed with a secret that their issuer and the gateway share. */
struct config_jwt {
    struct config_mark mark;
    struct str secret;      /* wherever it came from; "": none are accepted */
    struct str secret_file; /* "" when it stands in the configuration */
    struct str audience;
    struct str issuer; /* "": any */
    struct str profile;
    struct config_mark profile_mark;
    struct config_strs topics;
};

struct config_identity {
    struct config_jwt jwt;
};
