/* SPDX-License-Identifier: Apache-2.0 */
/* Topics as MCP servers: what the configuration says of that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "config/mark.h"

enum config_mcp_names { CONFIG_MCP_NAMES_AUTO, CONFIG_MCP_NAMES_PREFIXED };

/* Who comes without a token, by MCP and from this machine alone. */
struct config_anonymous {
    struct config_mark mark;
    struct str id; /* "": nobody does */
    struct str profile;
    struct config_mark profile_mark;
    struct config_strs topics;
};

struct config_mcp {
    bool open;        /* false: there is no /mcp */
    struct str topic; /* of /mcp without one; "": it has to be named */
    struct config_mark topic_mark;
    struct str id; /* under which the gateway asks what is offered */
    struct config_mark id_mark;
    struct config_anonymous anonymous;
    bool room_tools;
    enum config_mcp_names names;
    uint64_t idle_ms; /* a session without a request or stream */
    uint64_t hold_ms; /* a modern call that waits for a decision, at a time */
    uint64_t poll_ms; /* a legacy stream, before it is closed to be resumed; 0: never */
    size_t sessions;  /* of one participant in one topic */
    size_t calls;     /* under way, likewise */
};
