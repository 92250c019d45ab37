/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds: the grammar of D13, and what a kind says.
 *
 *     mcp/request:tools/call:read_file
 *         └ type  └ method   └ context
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum kind_type {
    KIND_REQUEST,
    KIND_RESPONSE,
    KIND_PROPOSAL,
    KIND_APPROVE,
    KIND_WITHDRAW,
    KIND_REJECT,
    KIND_CHAT,
    KIND_OTHER,
    /* From here on the gateway does something itself. */
    KIND_ROUTING, /* participant/routing: D3 */
    KIND_COMMAND, /* grants, moderation, invitations, rules: admit/command.h */
};

enum { KIND_MAX_BYTES = 2048 };

struct kind {
    enum kind_type type;
    struct str text;    /* the whole */
    struct str method;  /* of request, response, proposal; else empty */
    struct str context; /* ptr NULL where there is none */
};

/* Of a request: it is one that nobody answers. */
static inline bool kind_is_notification(const struct kind *kind)
{
    return str_starts(kind->method, S("notifications/"));
}

/* All but what concerns only oneself (D3), and taking back what one proposed. */
static inline bool kind_needs_capability(const struct kind *kind)
{
    return kind->type != KIND_ROUTING && kind->type != KIND_WITHDRAW;
}

/* Who is paused may still answer and talk. */
static inline bool kind_passes_pause(const struct kind *kind)
{
    return kind->type == KIND_RESPONSE || kind->type == KIND_CHAT ||
           kind->type == KIND_ROUTING;
}

/* ERR_RESERVED_NAMESPACE for `system`, `system/…` and bare `presence`, ERR_MALFORMED_KIND
 * for whatever else fails the grammar. The result borrows from `text`. */
enum err kind_parse(struct str text, struct kind *ret);
