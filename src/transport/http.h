/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server behind a URL: Streamable HTTP in both eras, and the older HTTP+SSE where the
 * server knows no other (HTTP-35), which nobody above notices.
 *
 *     send ─► POST ─► JSON, or an event stream (resumed: Last-Event-ID, retry)
 *     settled ─► GET stream (legacy), 405 is fine          http_close ─► DELETE
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "mcp/carrier.h"
#include "transport/credential.h"

struct http_carrier;

struct http_carrier_settings {
    const char *url;
    const struct str *fields; /* of the configuration: "Name: value" */
    size_t field_count;
    struct credential *credential; /* NULL: none */
    enum fetch_reach reach;
    size_t max_message;
    size_t max_streams;  /* at a time */
    uint64_t connect_ms; /* 0: the usual, as the next one */
    uint64_t silence_ms; /* for what has no answer; calls have times of their own */
};

struct http_carrier_ops {
    /* The server cannot be reached, or ended what cannot go on; mcp_session_ended() was
     * called before. May be freed inside. */
    void (*on_ended)(void *user, const char *why);
};

struct http_carrier *http_carrier_open(struct fetch *fetch, struct loop *loop,
                                       const struct http_carrier_settings *settings,
                                       const struct http_carrier_ops *ops, void *user);
struct carrier *http_carrier_of(struct http_carrier *http);
void http_carrier_close(struct http_carrier *http); /* DELETE, then on_ended */
void http_carrier_free(struct http_carrier *http);
