/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder tell each other: receiving, flushing and TLS of one conn.
 */
#pragma once

#include "net/conn.h"

enum { TLS_RECORD = 16 * 1024 }; /* the most plain text that one record holds */

/* The connections of a loop that want something at the end of the turn. */
struct conn_flusher {
    struct loop *loop;
    struct loop_hook hook;
    struct loop_task nudge;      /* keeps the loop from sleeping */
    struct flush_source *source; /* or NULL */
    bool is_asking;              /* the source: whoever it wakes is flushed at once */
    struct link waking;
    struct link resuming;
    char record[TLS_RECORD]; /* where spans are gathered */
};

/* Watches what the state of the connection asks for. */
void conn_watch(struct conn *conn);

/* Offers what was kept, and what TLS holds, at the end of this turn. */
void conn_resume_later(struct conn *conn);
void conn_resume(struct conn *conn);

/* The network takes no more, or again. */
void conn_block(struct conn *conn);
void conn_unblock(struct conn *conn);

/* Everything pulled has left: shuts the sending side if the connection is finishing. */
void conn_drained(struct conn *conn);

/* Some bytes have left. */
void conn_progress(struct conn *conn);

void conn_buf_free(struct buf **buf);

/* One send without waiting: *ret_sent is 0 where the network takes nothing. ERR_IO. */
enum err conn_send(const struct conn *conn, struct str bytes, size_t *ret_sent);

/* Starts a TLS session on the connection. ERR_IO. */
enum err conn_tls_start(struct conn *conn, struct tls *tls);

/* The session now belongs to this connection. */
void conn_tls_bind(struct conn *conn);
void conn_tls_free(struct ssl_st *ssl); /* NULL is harmless */

/* OK, ERR_AGAIN, ERR_CLOSED (the peer ended), ERR_IO. */
enum err conn_tls_handshake(struct conn *conn);

/* Reads until the record layer runs dry or the buffer is full (OK). Otherwise the error
 * tells why it stopped: ERR_AGAIN, ERR_CLOSED, ERR_IO. *ret_len is always set. */
enum err conn_tls_read(struct conn *conn, char *buffer, size_t size, size_t *ret_len);
bool conn_tls_has_pending(const struct conn *conn);

/* One record; what the network does not take becomes ciphertext. ERR_IO. */
enum err conn_tls_write(struct conn *conn, struct str text);

/* Writes close_notify, once. */
void conn_tls_shut(struct conn *conn);

/* Sends ciphertext; frees it when all has left. ERR_IO. */
enum err conn_tls_flush(struct conn *conn);
