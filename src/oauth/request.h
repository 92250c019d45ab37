/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of OAuth says: the address to sign in at, the forms of the token
 * endpoint, a registration; and what it reads when a browser comes back.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "oauth/document.h"

/* PKCE with S256 (RFC 7636 4.2): the challenge of a verifier. */
void pkce_put_challenge(struct buf *out, struct str verifier);

/* Random text for verifiers and states: 43 characters, 256 bits. */
enum { OAUTH_NONCE = 43 };
void oauth_put_nonce(struct buf *out);

struct sign_in {
    struct str endpoint; /* may have a query */
    struct str client_id, redirect_uri, resource;
    struct str scope; /* "": is not said */
    struct str state, verifier;
    struct str nonce; /* of OpenID Connect; "": is not said */
};

void sign_in_put_url(struct buf *out, const struct sign_in *sign_in);

/* What a browser brings back. */
struct sign_in_answer {
    struct str code;   /* or "" */
    struct str state;  /* or "" */
    struct str error;  /* or "" */
    struct str issuer; /* ptr NULL: was not said */
};

/* ERR_INVALID: no query of OAuth: something is there twice, or broken; ERR_TOO_BIG. */
enum err sign_in_answer_read(struct str query, struct arena *arena,
                             struct sign_in_answer *ret);

/* NULL, or why it must not be acted upon (RFC 9207 2.4): static. */
const char *sign_in_answer_fault(const struct sign_in_answer *answer, struct str issuer,
                                 bool server_sends_issuer);

struct token_request {
    struct str client_id, client_secret;
    enum token_method method;
    struct str resource;
    struct str code, verifier, redirect_uri; /* either these … */
    struct str refresh_token, scope;         /* … or these; the scope may be "" */
};

void token_request_put_form(struct buf *out, const struct token_request *request);

/* "Authorization: Basic …", or nothing where the method is another. */
void token_request_put_field(struct buf *out, const struct token_request *request);

/* How a client with or without a secret shows itself to this server. `wanted` is what the
 * registration said, or "". TOKEN_METHODS: there is no way. */
enum token_method token_method_choose(const struct server_document *server,
                                      struct str wanted, bool has_secret);

struct registration {
    struct str client_name, redirect_uri;
    enum token_method method;
};

void registration_put_json(struct buf *out, const struct registration *registration);
