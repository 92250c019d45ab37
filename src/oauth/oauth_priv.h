/* SPDX-License-Identifier: Apache-2.0 */
/* An authorization from inside: oauth.c keeps it and its waiters, flow.c gets tokens. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "oauth/challenge.h"
#include "oauth/document.h"
#include "oauth/grant.h"
#include "oauth/oauth.h"
#include "oauth/uri.h"

enum {
    OAUTH_MAX_ATTEMPTS = 3,      /* sign-ins in a row that did not help */
    OAUTH_ROW_MS = 60'000,       /* a token that lived longer did help */
    OAUTH_AHEAD_MS = 60'000,     /* before its end a token is refreshed … */
    OAUTH_LEAST_MS = 10'000,     /* … but not sooner than after this */
    OAUTH_CALL_MS = 30'000,      /* for each call */
    OAUTH_MAX_ANSWER = 64 << 10, /* bytes of a document */
    OAUTH_MAX_ASKED = 16 << 10,  /* … of a challenge that is remembered */
    OAUTH_MAX_FLOW = 8 << 20,    /* memory of one way to a token */
    OAUTH_MAX_CANDIDATES = 3 + 1,
};

/* What is waited for. */
enum oauth_step {
    OAUTH_IDLE,
    OAUTH_RESOURCE,
    OAUTH_SERVER,
    OAUTH_CLIENT,
    OAUTH_SIGN_IN, /* a person */
    OAUTH_TOKEN,
    OAUTH_REFRESH,
    OAUTH_STEPS,
};

struct oauth {
    struct credential credential;
    struct loop *loop;
    struct fetch *fetch;
    struct oauth_ops ops;
    void *user;

    char *server_url, *client_name, *redirect_uri, *metadata_url, *scopes;
    char *client_id, *client_secret;
    uint64_t sign_in_ms;
    struct uri server; /* of server_url */
    bool has_server;
    bool is_public;

    struct oauth_grant grant;
    struct buf header; /* "Bearer …", or "" */
    struct loop_timer refresh, patience;
    struct link waiters, telling;

    struct buf asked; /* the challenge that was heard last */
    bool is_visited;  /* redirect_uri is there for this one sign-in */
    bool is_missed;   /* a person was needed, and nobody was there … */
    bool was_told;    /* … which on_missed said */

    unsigned attempts, refusals; /* in a row; of scopes that were asked for */
    bool has_refreshed;          /* in this row */
    uint64_t tried_ms;           /* when a token was got the last time */

    /* One way to a token; the texts stand in the arena. */
    enum oauth_step step;
    struct arena arena;
    struct str candidates[OAUTH_MAX_CANDIDATES];
    size_t candidate_count, candidate;
    struct fetch_call *call;
    struct buf answer;
    unsigned status;
    struct bearer_challenge challenge;
    bool is_step_up;
    struct str issuer, resource, resource_scopes;
    struct server_document document;
    struct str state, verifier, scope;

    struct loop_task tell;
    enum err outcome;
    const char *why;
    bool had_sign_in;
};

/* Begins the way from a challenge to a token. */
void flow_begin(struct oauth *oauth, const struct challenge *challenge);
void flow_refresh_ahead(struct oauth *oauth);
enum err flow_returned(struct oauth *oauth, struct str query, const char **ret_why);

/* Ends it; whoever waits is told later. `why` is static. */
void oauth_finish(struct oauth *oauth, enum err err, const char *why);

/* The grant has changed: what is current, what is kept, when it is refreshed. */
void oauth_use_grant(struct oauth *oauth);
