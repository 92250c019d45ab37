/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection: a non-blocking byte stream, plain or TLS, that holds no buffer while
 * idle. It keeps no output queue: when it can write it *pulls* spans from its owner and
 * reports what was taken, at most one send per turn (per 16 KiB record with TLS).
 *
 * The owner embeds a struct conn and frees it, at the earliest, in on_end(): that is the
 * last thing a connection does, after dispatch.
 *
 *     idle ──conn_wake()──► pending in the turn's flush list ──► one sendmsg
 *       ▲                                                          │ short
 *       └──────────── on_taken ◄── EPOLLOUT ── blocked ◄───────────┘
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "loop/loop.h"

struct conn;
struct tls;
struct ssl_st;

struct conn_ops {
    /* Bytes have arrived; they are writable memory, valid during the call. Returns how
     * many were consumed; the rest is kept and offered again together with more. */
    size_t (*on_bytes)(struct conn *conn, struct str bytes);
    /* Fills up to `max` spans with what to send next; fewer than `max`: there is no more
     * until conn_wake(). The spans stay valid until on_taken. */
    size_t (*on_pull)(struct conn *conn, struct iovec *out, size_t max);
    /* The first `bytes` of the `offered` ones that were pulled have left. */
    void (*on_taken)(struct conn *conn, size_t bytes, size_t offered);
    /* Bytes are about to be received: a chance to have fetched from memory what they will
     * need. May be NULL. */
    void (*on_expect)(const struct conn *conn);
    /* Output is blocked (true) or moves again (false). May be NULL. */
    void (*on_blocked)(struct conn *conn, bool is_blocked);
    /* The peer has ended its side or the connection failed; nothing more will come, the
     * descriptor is closed. What was waiting to be sent when the peer ended its side is
     * sent first. Called at most once, never from inside a call of the owner. ERR_CLOSED:
     * orderly end. */
    void (*on_end)(struct conn *conn, enum err why);
};

enum conn_state {
    CONN_HANDSHAKE, /* TLS */
    CONN_OPEN,
    CONN_FINISHING, /* what is pulled goes out, then the sending side is shut */
    CONN_LINGERING, /* it is shut: waits for the peer to end its side */
    CONN_CLOSED,    /* or detached */
};

enum {
    CONN_SPANS = 64,               /* pulled at once */
    CONN_MAX_REST = 256 * 1024,    /* kept unconsumed: ERR_TOO_BIG above */
    CONN_UNSENT = 128 * 1024,      /* in the kernel, ahead of what the peer can take */
    CONN_HANDSHAKE_MS = 10 * 1000, /* for the whole TLS handshake */
    CONN_DRAIN_MS = 10 * 1000,     /* finishing: without progress */
    CONN_LINGER_MS = 2 * 1000,
};

struct conn_flusher; /* the list of connections to flush on one loop */

struct conn {
    struct loop_fd io;
    struct conn_flusher *flusher; /* knows the loop */
    const struct conn_ops *ops;
    struct ssl_st *ssl;             /* NULL: plain */
    struct buf *rest;               /* received, not consumed; on demand */
    struct buf *ciphertext;         /* TLS: encrypted, not yet sent; on demand */
    struct link flush_link;         /* waits for the end of the turn to send */
    union {                         /* what it waits for besides depends on the state */
        struct link resume_link;    /* open: to be offered what is already here */
        struct loop_task end_task;  /* closed: for on_end */
        struct loop_timer deadline; /* otherwise */
    };
    uint8_t state;
    uint8_t end_why; /* enum err */
    bool is_blocked;
    bool is_reading; /* inside on_bytes */
    bool is_read_paused;
    bool is_end_watched;
    bool has_ended; /* the peer: no byte comes any more */
};

/* Every idle connection has one: see docs/PERFORMANCE.md. */
_Static_assert(sizeof(struct conn) <= 104, "an idle connection has grown");

/* Whoever has more connections to wake than should stand in one line, such as the members
 * of rooms, wakes them a few at a time when asked. Returns how many; 0: no more. */
struct flush_source {
    size_t (*wake_some)(struct flush_source *self, size_t max);
};

/* One per loop: flushes woken connections at the end of each turn, taking turns with
 * those of the source (or NULL), within a budget of 512 of either or 1 ms; the rest is
 * first next turn. */
struct conn_flusher *conn_flusher_new(struct loop *loop, struct flush_source *source);
void conn_flusher_free(struct conn_flusher *flusher);

/* Takes the descriptor (non-blocking), also on failure. With `tls` the handshake starts
 * as a server. ERR_IO. */
enum err conn_init(struct conn *conn, struct conn_flusher *flusher, int fd,
                   struct tls *tls, const struct conn_ops *ops);

/* There is something to pull: the connection is flushed at the end of this turn. */
void conn_wake(struct conn *conn);

/* Stops or resumes reading from the peer; resuming offers the kept rest again, at the end
 * of this turn. */
void conn_pause_reads(struct conn *conn, bool is_paused);

/* The peer has ended its side, read or not: asks the kernel, for who pauses reads. */
bool conn_peer_has_ended(const struct conn *conn);

/* While reads are paused, this time: when the peer ends its side, the connection closes,
 * whatever is still to be sent. For owners that work for it alone, and for long. */
void conn_watch_end(struct conn *conn);

/* Sends what can still be pulled, shuts the sending side, waits up to 2 s for the peer to
 * close (bytes it still sends are dropped), then on_end. No further on_bytes. */
void conn_finish(struct conn *conn);

/* Closes at once; on_end still comes, deferred. Closing twice is harmless. */
void conn_close(struct conn *conn, enum err why);

/* Ciphertext that waits for the network: counts towards a member's outbox. */
size_t conn_unsent(const struct conn *conn);

/*
 * Moving to another loop: the source gives everything up as a value (its struct may be
 * freed in a deferred task, no on_end comes), the target builds its own struct from it,
 * which first offers the unread bytes, including what TLS has already decrypted.
 */
struct conn_cargo {
    int fd;
    struct ssl_st *ssl;
    struct buf *rest;
    struct buf *ciphertext;
};

/* Only while open, from inside on_bytes or while nothing is being sent. Inside on_bytes
 * `unread` are the offered bytes that were not consumed (they are copied); outside it is
 * empty, and what was kept goes along. */
void conn_detach(struct conn *conn, struct str unread, struct conn_cargo *ret);

/* Empties the cargo; on failure (ERR_IO) leaves it as it was. */
enum err conn_init_from(struct conn *conn, struct conn_flusher *flusher,
                        struct conn_cargo *cargo, const struct conn_ops *ops);
void conn_cargo_done(struct conn_cargo *cargo); /* closes what nobody took */
