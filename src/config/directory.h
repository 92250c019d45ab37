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

/* What a value of the claim `claims.profile` stands for. */
struct config_provider_profile {
    struct config_mark mark;
    struct str name; /* unused, as in all lists */
    struct str value;
    struct str profile;
};

/* Which claims say what; "": none does. */
struct config_claims {
    struct str id, profile, topics, type;
};

/* An OpenID provider: people sign in there, and its JWTs are accepted. */
struct config_provider {
    struct config_mark mark;
    struct str issuer; /* "": there is none */
    struct str title;  /* on the button; "": the issuer's host */
    struct str client_id;
    struct str client_secret_file; /* "": a public client */
    struct str client_secret;      /* what it holds */
    struct str scopes;
    struct str origin; /* "": where the browser asks */
    uint64_t session_ms;
    struct str audience; /* of bearers; "": they are not accepted */
    struct str profile;  /* of whoever has none by his claims; "": he is refused */
    struct config_mark profile_mark;
    struct {
        const struct config_provider_profile *items;
        size_t count;
    } profiles;
    struct config_strs topics;
    struct config_claims claims;
};

struct config_identity {
    struct config_jwt jwt;
    struct config_provider provider;
};
