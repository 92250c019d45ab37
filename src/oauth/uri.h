/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of the web as OAuth compares and composes them: http and https alone, without
 * user names. Everything borrows from the text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct uri {
    bool is_secure;   /* https */
    struct str host;  /* a name or an address; IPv6 with its brackets */
    uint16_t port;    /* the usual one where none is written */
    struct str path;  /* "" or "/…" */
    struct str query; /* without '?'; ptr NULL: none */
    bool has_fragment;
};

/* ERR_INVALID: another scheme, a user name, a host or port that is none, or characters
 * that no URI has. */
enum err uri_parse(struct str text, struct uri *ret);

bool uri_is_same_origin(const struct uri *a, const struct uri *b);

/* By its looks: what a name means is judged when it is connected to. */
bool uri_is_loopback(const struct uri *uri);

/* Is `server` at or below `resource`? Whole segments count: /a is not above /ab. */
bool uri_is_above(const struct uri *resource, const struct uri *server);

/* "https://host:port", small letters, without the usual port. */
void uri_put_origin(struct buf *out, const struct uri *uri);

/* The canonical form of a resource (RFC 8707 2): the origin and the path, without query
 * and fragment, and without a slash that is the whole path. */
void uri_put_canonical(struct buf *out, const struct uri *uri);

/* Where a document of that name is (RFC 8615). */
enum uri_place {
    URI_AT_ROOT,     /* https://host/.well-known/NAME */
    URI_BEFORE_PATH, /* https://host/.well-known/NAME/path (RFC 8414 3.1, RFC 9728 3.1) */
    URI_AFTER_PATH,  /* https://host/path/.well-known/NAME (OpenID Connect) */
};
void uri_put_well_known(struct buf *out, const struct uri *uri, struct str name,
                        enum uri_place place);

/* Has a path that is more than a slash. */
bool uri_has_path(const struct uri *uri);

/* Percent-encoded, but for letters, digits and -._~ (RFC 3986 2.3). */
void uri_put_escaped(struct buf *out, struct str text);
