/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A non-blocking socket as a stream of bytes. Many connections share one receive buffer;
 * a connection keeps bytes of its own only while a frame is incomplete, so that an idle
 * one holds none.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct tls_session;

enum { STREAM_MAX = 64 * 1024 * 1024 };

/* Fills `rx` with what `rest` kept and one read of the socket. ERR_AGAIN when there is
 * nothing to read, ERR_CLOSED at the end, ERR_IO. */
enum err stream_read(int fd, struct buf *rest, struct buf *rx);

/* Keeps what was not used of `rx` for the next read; an empty `unused` frees `rest`.
 * ERR_TOO_BIG. */
enum err stream_keep(struct buf *rest, struct str unused);

/* Sends and drops what the socket takes of `out`. ERR_AGAIN when something is left,
 * ERR_CLOSED. */
enum err stream_send(int fd, struct buf *out);

/* The same through TLS. A read takes all that has been decrypted, because no event
 * announces what is left of it. */
enum err stream_read_tls(struct tls_session *tls, struct buf *rest, struct buf *rx);
enum err stream_send_tls(struct tls_session *tls, struct buf *out);
