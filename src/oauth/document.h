/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The documents and answers of OAuth that a client reads: what a resource says of itself
 * (RFC 9728), what an authorization server does (RFC 8414, OpenID Connect Discovery), a
 * registration (RFC 7591) and tokens (RFC 6749 5). Members that are not known are passed
 * over; those that are must have their type and characters, since they go into headers
 * and addresses.
 *
 * All of them live in the arena and borrow from the text. ERR_INVALID: *ret_why, static,
 * says what is wrong; ERR_TOO_BIG: the arena is full.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct resource_document {
    struct str resource;
    struct str_list authorization_servers; /* one at least */
    struct str scopes;                     /* separated by blanks; "": none were named */
};

enum err resource_document_read(struct str text, struct arena *arena,
                                struct resource_document *ret, const char **ret_why);

/* NULL, or why it does not describe the server at that URL (static): its resource is the
 * server itself or something above it. */
const char *resource_document_fault(const struct resource_document *document,
                                    struct str server_url);

/* How a client proves who it is at the token endpoint, the best first. */
enum token_method { TOKEN_BASIC, TOKEN_POST, TOKEN_NONE, TOKEN_METHODS };
extern const struct str token_method_names[TOKEN_METHODS];

struct server_document {
    struct str issuer;
    struct str authorization_endpoint;
    struct str token_endpoint;
    struct str registration_endpoint; /* or "" */
    struct str jwks_uri;              /* or "" */
    struct str scopes;
    bool has_method[TOKEN_METHODS];
    bool has_s256;            /* PKCE */
    bool takes_metadata_urls; /* as client ids (CIMD) */
    bool sends_issuer;        /* RFC 9207 */
};

/* `issuer` is who was asked for: the document must say the same, text for text. */
enum err server_document_read(struct str text, struct str issuer, struct arena *arena,
                              struct server_document *ret, const char **ret_why);

struct client_document {
    struct str client_id;
    struct str client_secret; /* or "" */
    struct str method;        /* of the token endpoint; "": was not said */
};

enum err client_document_read(struct str text, struct arena *arena,
                              struct client_document *ret, const char **ret_why);

struct token_document {
    struct str access_token;
    struct str refresh_token; /* or "" */
    struct str id_token;      /* or "" */
    struct str scope;         /* "": what was asked for */
    uint64_t lasts_s;         /* UINT64_MAX: it was not said */
};

enum err token_document_read(struct str text, struct arena *arena,
                             struct token_document *ret, const char **ret_why);

/* The code of an error answer, for people and decisions; "" where it is none. */
struct str oauth_error_read(struct str text, struct arena *arena);

/* --- sets of scopes, as texts with blanks between them --- */

/* Tokens of RFC 6749 3.3. */
bool scopes_are_valid(struct str scopes);
bool scopes_have(struct str scopes, struct str scope);
bool scopes_have_all(struct str scopes, struct str wanted);

/* Appends those that `out` does not have yet. */
void scopes_put(struct buf *out, struct str scopes);
