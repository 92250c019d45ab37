/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topic as an MCP server on standard input and output: a hall (mcpdoor/hall.h) with one
 * attendee, whose seat is a WebSocket. Standard output is MCP alone, a line for each
 * message; everything else goes to standard error.
 */
#pragma once

#include <stdbool.h>

#include "cli/session.h"

struct mcp_stdio {
    const struct session_options *session;
    struct session_target *target;
    bool has_room_tools;
};

/* Until standard input ends, a signal comes, or the room is lost for good. */
int mcp_stdio_run(const struct mcp_stdio *order);
