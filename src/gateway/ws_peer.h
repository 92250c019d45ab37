/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every WebSocket of the gateway is, whatever is said on it: frames in, pings and
 * their deadlines, a reader that does not read, and the closing handshake.
 *
 *     OPEN ──ws_peer_close()──► CLOSING (tail of bytes and a close frame) ──► finished
 *
 * A door embeds it and supplies the rest: what a message means, and what is to be sent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gateway/exchange.h"
#include "gateway/upgrade.h"
#include "gateway/worker.h"
#include "net/conn.h"
#include "ws/ws.h"

struct ws_peer {
    struct conn conn;
    struct ws_decoder decoder;
    struct worker *worker;
    struct loop_timer timer; /* ping, stall, or the end of closing */
    struct buf *tail;        /* closing: what is still to be sent */
    uint32_t heard_ms;       /* low bits of the time: only the distance matters */
    bool is_closing;
    bool peer_has_closed;
    bool awaits_pong;
};

struct ws_peer_ops {
    /* on_bytes is ws_peer_bytes(); on_pull, on_taken and on_blocked begin with the
     * functions of that name below; on_end ends with ws_peer_done(). */
    struct conn_ops conn;
    void (*on_message)(struct ws_peer *peer, const struct ws_event *message);
    void (*on_ping)(struct ws_peer *peer, struct str body); /* is to be answered */
    void (*send_frame)(struct ws_peer *peer, struct str frame);
    /* It closes: puts what may still be sent into peer->tail, and leaves. */
    void (*on_closing)(struct ws_peer *peer, uint16_t code, struct str reason);
    struct str (*id)(const struct ws_peer *peer); /* for the log */
};

static inline struct ws_peer *ws_peer_of(struct conn *conn)
{
    return CONTAINER_OF(conn, struct ws_peer, conn);
}

/* Is the request a WebSocket's? False: it has been answered why not. Compression as in
 * upgrade_check(). */
bool ws_peer_handshake(struct exchange *x, int min_bits, struct upgrade *ret);

/* Before the connection is taken over with conn_init_from(). */
void ws_peer_init(struct ws_peer *peer, struct worker *worker,
                  const struct upgrade *upgrade);

/* In on_end, before the door's own struct is freed. */
void ws_peer_done(struct ws_peer *peer);

/* Sends what is waiting and says good-bye; twice is harmless. */
void ws_peer_close(struct ws_peer *peer, uint16_t code, struct str reason);

/* The word that the record has for it; 0: it is gone without a word. */
struct str ws_peer_ending(uint16_t code);

/* Until when a blocked one must have read something, or when a silent one is asked. */
void ws_peer_watch(struct ws_peer *peer);

size_t ws_peer_bytes(struct conn *conn, struct str bytes);

/* While it closes: what is left to be sent; and so much of it was. */
size_t ws_peer_pull(const struct ws_peer *peer, struct iovec *out);
void ws_peer_taken(struct ws_peer *peer, size_t bytes);

/* What a message says, unmasked to `place`, which has room for it. */
void ws_peer_unmask(char *place, const struct ws_event *message);
