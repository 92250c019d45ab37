/* SPDX-License-Identifier: Apache-2.0 */
#include "client/channel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/tls_client.h"

void channel_init(struct channel *c)
{
    *c = (struct channel){ .fd = -1 };
}

void channel_close(struct channel *c)
{
    tls_session_free(c->tls);
    if (c->fd >= 0)
        (void)close(c->fd);
    channel_init(c);
}

static enum err fail(struct channel *c)
{
    c->error = errno;
    return ERR_IO;
}

enum err channel_connect(struct channel *c, const struct address *address)
{
    static const int on = 1;
    int family = address->socket.ss_family;

    c->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return fail(c);
    if (family != AF_UNIX)
        (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return channel_connect_more(c, address);
}

/* Linux tells of a connection under way when it is asked to connect again: whoever steps
 * without an event does no harm. */
enum err channel_connect_more(struct channel *c, const struct address *address)
{
    int result;

    do
        result = connect(c->fd, (const struct sockaddr *)&address->socket, address->size);
    while (result < 0 && errno == EINTR);
    if (result == 0 || errno == EISCONN)
        return OK;
    return errno == EINPROGRESS || errno == EALREADY ? ERR_AGAIN : fail(c);
}

enum err channel_secure(struct channel *c, struct tls_client *tls, const char *host)
{
    return tls_session_new(tls, c->fd, host, true, &c->tls);
}

enum err channel_handshake(struct channel *c)
{
    enum err err = tls_session_handshake(c->tls);

    c->wants_write = err == ERR_AGAIN && tls_session_wants_write(c->tls);
    return err;
}

/* TLS gives a record at a time; all that are there are taken, because no event announces
 * them. */
static enum err read_records(struct channel *c, char *out, size_t size, size_t *ret_len)
{
    size_t all = 0;
    enum err err;

    do {
        size_t len = 0;

        err = tls_session_read(c->tls, out + all, size - all, &len);
        all += len;
    } while (!err && all < size && tls_session_has_pending(c->tls));
    c->wants_write = err == ERR_AGAIN && tls_session_wants_write(c->tls);
    if (!all)
        return err; /* an end that came with bytes is seen again */
    *ret_len = all;
    return OK;
}

enum err channel_read(struct channel *c, char *out, size_t size, size_t *ret_len)
{
    ssize_t got;

    if (c->tls)
        return read_records(c, out, size, ret_len);
    do
        got = recv(c->fd, out, size, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return ERR_CLOSED;
    if (got < 0)
        return errno == EAGAIN ? ERR_AGAIN : fail(c);
    *ret_len = (size_t)got;
    return OK;
}

enum err channel_write(struct channel *c, struct str bytes, size_t *ret_len)
{
    ssize_t sent;

    if (c->tls)
        return tls_session_write(c->tls, bytes, ret_len);
    do
        sent = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno == EAGAIN ? ERR_AGAIN : fail(c);
    *ret_len = (size_t)sent;
    return OK;
}

short channel_events(const struct channel *c, bool has_output)
{
    return (short)(POLLIN | (has_output || c->wants_write ? POLLOUT : 0));
}

const char *channel_why(const struct channel *c, char *out, size_t size)
{
    if (c->error)
        return strerror_r(c->error, out, size);
    return c->tls ? tls_session_why(c->tls) : "";
}

bool channel_is_untrusted(const struct channel *c)
{
    return c->tls && tls_session_is_untrusted(c->tls);
}
