/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of MCP authorization (MCP.md 1.14, 2.1): from a 401 to a token.
 *
 *     challenge ─► resource metadata ─► server metadata ─► client id ─► a person signs in
 *               (RFC 9728)           (RFC 8414, OIDC)   (given, CIMD,  (PKCE S256, state,
 *                                                        registration)  iss, resource)
 *               ─► tokens ─► kept, encrypted by the owner ─► refreshed, stepped up (≤ 3)
 *
 * Addresses that the server names are fetched under a guard: public and https, or
 * loopback where the server's own URL is. Issuers are compared as texts. Credentials are
 * kept by issuer: another issuer is another registration.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "loop/loop.h"
#include "transport/credential.h"

struct oauth;

struct oauth_settings {
    struct str server_url; /* the resource, before it is made canonical */
    struct str client_name;
    struct str redirect_uri;  /* where oauth_returned() is called from; "": nobody is
                               * there until oauth_sign_in() */
    struct str client_id;     /* registered beforehand; "" as the next ones: not */
    struct str client_secret; /* wiped at the end */
    struct str metadata_url;  /* CIMD: what is used as client id where that is possible */
    struct str scopes;        /* asked for in any case, separated by blanks */
    uint64_t sign_in_ms;      /* how long a person may take */
    bool is_public;           /* nothing but public addresses is asked */
};

struct oauth_ops {
    /* A person must go there (https, or http on loopback); the whole address is shown,
     * never opened through a shell. NULL: nobody is there, and it fails. */
    void (*on_sign_in)(void *user, struct str url);
    /* A person is needed, and nobody is there. Once, until there is a token again. May
     * be NULL. */
    void (*on_missed)(void *user);
    /* The sign-in is over, one way or the other; or what was missed is no longer needed.
     * May be NULL. */
    void (*on_signed_in)(void *user, enum err err, const char *why);
    /* To be kept, sealed (crypto_seal); holds tokens and the client's registration. */
    void (*on_keep)(void *user, struct str json);
};

struct oauth *oauth_new(struct loop *loop, struct fetch *fetch,
                        const struct oauth_settings *settings,
                        const struct oauth_ops *ops, void *user);
void oauth_free(struct oauth *oauth);

/* What was kept. ERR_INVALID: it is not ours, and is ignored. */
enum err oauth_restore(struct oauth *oauth, struct str json);

struct credential *oauth_credential(struct oauth *oauth);

/* Somebody is there for once, and comes back to that address: the way to a token begins
 * anew, with what the server asked for last. on_sign_in says where to go, on_signed_in
 * how it ended; neither comes inside. A sign-in that was under way no longer counts. */
void oauth_sign_in(struct oauth *oauth, struct str redirect_uri);

/* The query with which the browser came back. ERR_INVALID: it belongs to no sign-in of
 * ours (state), or another issuer answered. */
enum err oauth_returned(struct oauth *oauth, struct str query, const char **ret_why);

/* Forgets the tokens. */
void oauth_sign_out(struct oauth *oauth);
