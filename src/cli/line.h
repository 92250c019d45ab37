/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a server for one request and its answer, plain or with TLS: a
 * client/channel that waits, but not for ever.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "client/channel.h"
#include "client/url.h"

struct line {
    struct channel channel;
    struct tls_client *trust;
    int patience_ms; /* with silence; may be changed */
};

/* `ca` is a PEM file of what is trusted; NULL: what the system trusts. On failure
 * (ERR_NOT_FOUND: nobody answers there; ERR_IO) `why` has a sentence about it. To be
 * closed in any case. */
enum err line_open(struct line *line, const struct url *url, const char *ca,
                   struct buf *why);
void line_close(struct line *line);

/* All of it. ERR_AGAIN: it took too long. ERR_CLOSED, ERR_IO. */
enum err line_send(struct line *line, struct str bytes);

/* What comes next, at least one byte. ERR_CLOSED: the end. ERR_AGAIN, ERR_IO. */
enum err line_read(struct line *line, char *out, size_t size, size_t *ret_len);
