/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where messages to an MCP client go: the answer to one HTTP request, or standard output.
 * Made by the transport, one for each request that is under way; the hall tells it what
 * to say.
 *
 *     reply                         one message, as JSON, and the end
 *     event … event, end            a stream, where something comes before the answer
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct outlet;
struct strand;

struct outlet_reply {
    unsigned status;    /* of HTTP; stdio writes the message, if there is one */
    struct str message; /* JSON; "": none (202, 405) */
    struct str visit;   /* Mcp-Session-Id, or "" */
    struct str allow;   /* 405: which methods there are, or "" */
};

/* With an id it has a data line, even an empty one: else readers pass over it. Nothing in
 * it at all: the stream begins, and nothing is written yet. */
struct outlet_event {
    struct str message; /* JSON, one line; "": priming, or a retry alone */
    struct str id;      /* "": none */
    uint64_t retry_ms;  /* 0: not said */
    struct str visit;   /* Mcp-Session-Id of a stream that begins with this, or "" */
};

struct outlet_ops {
    /* Instead of everything else; the outlet is gone when this returns. */
    void (*reply)(struct outlet *outlet, const struct outlet_reply *reply);
    /* The first one makes a stream of it (`is_stream` is still false then). False: too
     * much waits to be written, and the client is closed: strand_lost() comes later, and
     * nothing else is called meanwhile. */
    bool (*event)(struct outlet *outlet, const struct outlet_event *event);
    /* A comment, so that nobody in between takes the stream for dead. stdio: nothing. */
    void (*murmur)(struct outlet *outlet);
    /* The stream ends; the outlet is gone when this returns. */
    void (*end)(struct outlet *outlet);
};

/* Nothing of the hall is called from inside these. */
struct outlet {
    const struct outlet_ops *ops;
    struct strand *strand; /* the hall's: to whom it belongs; NULL: nobody any more */
    bool is_stream;        /* set by whoever called `event` */
};
