/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/stream.h"

#include <errno.h>
#include <sys/socket.h>

#include "net/tls_client.h"

enum { READ_SIZE = 256 * 1024 };

enum err stream_read(int fd, struct buf *rest, struct buf *rx)
{
    enum err err;
    ssize_t got;

    buf_clear(rx);
    err = buf_append(rx, buf_str(rest));
    if (!err)
        err = buf_reserve(rx, READ_SIZE);
    if (err)
        return err;
    do
        got = recv(fd, rx->ptr + rx->len, READ_SIZE, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return ERR_CLOSED;
    if (got < 0)
        return errno == EAGAIN ? ERR_AGAIN : ERR_IO;
    rx->len += (size_t)got;
    return OK;
}

enum err stream_keep(struct buf *rest, struct str unused)
{
    buf_clear(rest);
    if (unused.len)
        return buf_append(rest, unused);
    if (rest->ptr)
        buf_done(rest);
    return OK;
}

enum err stream_send(int fd, struct buf *out)
{
    while (out->len) {
        ssize_t sent = send(fd, out->ptr, out->len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN ? ERR_AGAIN : ERR_CLOSED;
        buf_drop(out, (size_t)sent);
    }
    return OK;
}

enum err stream_read_tls(struct tls_session *tls, struct buf *rest, struct buf *rx)
{
    size_t all = 0;
    size_t len;
    enum err err;

    buf_clear(rx);
    err = buf_append(rx, buf_str(rest));
    while (!err && (all < READ_SIZE || tls_session_has_pending(tls))) {
        err = buf_reserve(rx, READ_SIZE);
        if (!err)
            err = tls_session_read(tls, rx->ptr + rx->len, READ_SIZE, &len);
        if (err)
            break;
        rx->len += len;
        all += len;
    }
    return all ? OK : err; /* an end that came with bytes is seen again */
}

enum err stream_send_tls(struct tls_session *tls, struct buf *out)
{
    while (out->len) {
        size_t sent;
        enum err err = tls_session_write(tls, buf_str(out), &sent);

        if (err)
            return err == ERR_AGAIN ? ERR_AGAIN : ERR_CLOSED;
        buf_drop(out, sent);
    }
    return OK;
}
