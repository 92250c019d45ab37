/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of TLS: settings that many connections may share, and the session of
 * one connection over a non-blocking socket that stays its owner's. Tickets that servers
 * send are kept, the last one at a time, for whoever resumes. No SIGPIPE is raised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct tls_client;
struct tls_session;

struct tls_trust {
    const char *cacert; /* PEM file of what is trusted; NULL: what the system trusts */
    bool is_insecure;   /* no certificate is checked */
};

/* On failure (ERR_INVALID) *ret_why, owned by the caller, says what was wrong. */
enum err tls_client_new(const struct tls_trust *trust, struct tls_client **ret,
                        char **ret_why);
void tls_client_free(struct tls_client *client);

/* A session, to be freed before the settings, for a connected socket to `host`, a name or
 * an address, which the certificate must be for. `resumes` offers the last ticket, if
 * there is one. ERR_IO. */
enum err tls_session_new(struct tls_client *client, int fd, const char *host,
                         bool resumes, struct tls_session **ret);
void tls_session_free(struct tls_session *session);

/* ERR_AGAIN while it is not complete; ERR_IO, and then tls_session_why() says why. */
enum err tls_session_handshake(struct tls_session *session);
const char *tls_session_why(const struct tls_session *session);

/* Whether it was the certificate: unknown, expired, or for another host. */
bool tls_session_is_untrusted(const struct tls_session *session);

/* Whether the last ERR_AGAIN waits for the socket to be writable. */
bool tls_session_wants_write(const struct tls_session *session);
bool tls_session_is_resumed(const struct tls_session *session);

/* Reads up to `size` bytes. OK with at least one byte, ERR_AGAIN, ERR_CLOSED, ERR_IO.
 * What has been received and decrypted but not asked for is told by
 * tls_session_has_pending(); no event announces it. */
enum err tls_session_read(struct tls_session *session, char *out, size_t size,
                          size_t *ret_len);
bool tls_session_has_pending(const struct tls_session *session);

/* Writes the front of `bytes`. ERR_AGAIN, ERR_IO. */
enum err tls_session_write(struct tls_session *session, struct str bytes,
                           size_t *ret_len);
