/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a server is spoken to: what a client writes to be accepted, to enter its topic and
 * to publish, and how what arrives is read. All of it is pure: text in, bytes out.
 *
 *     connect ──► UNIT_ACCEPTED ──► subscribe ──► UNIT_READY ──► publish, UNIT_MESSAGE …
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Who a client is to its server. */
struct seat {
    struct str host; /* with the port */
    struct str path;
    struct str topic;
    struct str token;    /* may be empty */
    struct str presence; /* how it wants to hear of others; may be empty */
    uint32_t client;
    bool has_echo;  /* wants its own messages back */
    bool is_dotted; /* speaks the dotted dialect */
};

enum unit_type {
    UNIT_NOTHING,  /* nobody waits for it */
    UNIT_ACCEPTED, /* the connection stands */
    UNIT_READY,    /* the subscription stands */
    UNIT_MESSAGE,
    UNIT_PING, /* wants protocol.pong */
    UNIT_REFUSED,
    UNIT_END, /* the server closes */
};

/* The next thing that has arrived. */
struct unit {
    enum unit_type type;
    struct str body; /* the message, the reason */
    size_t size;     /* bytes taken */
};

struct protocol {
    const char *name; /* and scheme of its URL */
    uint16_t port;    /* without one in the URL */
    /* NULL: the server speaks first. */
    void (*connect)(const struct seat *seat, struct buf *out);
    /* NULL: being accepted is being subscribed. */
    void (*subscribe)(const struct seat *seat, struct buf *out);
    /* ERR_TOO_BIG. */
    enum err (*publish)(struct str topic, struct str text, uint32_t mask,
                        struct buf *out);
    /* NULL: the server asks for no sign of life. */
    void (*pong)(struct str body, uint32_t mask, struct buf *out);
    /* ERR_AGAIN while the unit is not complete, ERR_INVALID, ERR_TOO_BIG. */
    enum err (*parse)(struct str bytes, struct unit *ret);
};

extern const struct protocol protocol_ws;
extern const struct protocol protocol_nats;
extern const struct protocol protocol_redis;
extern const struct protocol protocol_mqtt;

/* NULL if there is none of that name. */
const struct protocol *protocol_find(struct str name);
