/* SPDX-License-Identifier: Apache-2.0 */
/* A socket to a gateway, plain or with TLS: a stream of bytes that never blocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "net/resolve.h"

struct tls_client;
struct tls_session;

struct channel {
    int fd; /* -1: closed */
    struct tls_session *tls;
    bool wants_write; /* TLS: nothing more is read before something was written */
    int error;        /* errno of the last ERR_IO, or 0 */
};

void channel_init(struct channel *c); /* closed */
void channel_close(struct channel *c);

/* ERR_AGAIN: asked again when it is writable. OK: connected. ERR_IO. */
enum err channel_connect(struct channel *c, const struct address *address);
enum err channel_connect_more(struct channel *c, const struct address *address);

/* From here on everything goes through TLS, with a certificate for `host`. ERR_IO. */
enum err channel_secure(struct channel *c, struct tls_client *tls, const char *host);
enum err channel_handshake(struct channel *c); /* ERR_AGAIN, ERR_IO */

/* OK with at least one byte, ERR_AGAIN, ERR_CLOSED, ERR_IO. Where `size` bytes came there
 * may be more that no event announces. */
enum err channel_read(struct channel *c, char *out, size_t size, size_t *ret_len);
enum err channel_write(struct channel *c, struct str bytes, size_t *ret_len);

/* As of poll(2), while it is open, with or without something to write. */
short channel_events(const struct channel *c, bool has_output);

/* What the last ERR_IO was about, until it is closed; for people. */
const char *channel_why(const struct channel *c, char *out, size_t size);
bool channel_is_untrusted(const struct channel *c); /* the certificate */
