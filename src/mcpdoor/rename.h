/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and URIs on their way: what a client calls something becomes what its owner calls
 * it, and back. Everything else stays byte for byte, and all of it where nothing has
 * another name here.
 *
 *     client ── files.read, files+file:///x ──► rename_params ──► read, file:///x ──
 * owner ◄── files+file:///x ── rename_result ◄── file:///x ──
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcpdoor/showcase.h"

/* What the params of a request are about. */
struct named {
    enum offer_type type; /* OFFER_RESOURCE: a URI, of a template as well */
    struct str name;      /* as the client gave it; borrowed, or in the arena */
};

/* False: requests of this method are about nothing that is offered, or these do not say
 * what. tools/call, prompts/get, resources/read, resources/subscribe,
 * resources/unsubscribe, completion/complete. */
bool rename_read(struct str method, struct json_span params, struct arena *scratch,
                 struct named *ret);

/* The params with the owner's own name in the place of the client's; as they are, where
 * there is none. ERR_TOO_BIG. */
enum err rename_params(struct buf *out, struct str method, struct json_span params,
                       struct str key);

/* A result of this owner, or the params of one of its notifications, with the URIs as
 * they are here: contents, resource links and embedded resources. ERR_TOO_BIG. */
enum err rename_result(struct buf *out, const struct showcase *showcase, struct str owner,
                       struct str method, struct json_span result);
