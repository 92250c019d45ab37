/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "net/tls_client.h"

enum { PATIENCE_MS = 30'000, WHY_BYTES = 256 };

/* Until something can be done; ERR_AGAIN: nothing could for long. */
static enum err wait_for(const struct line *line, bool has_output)
{
    struct pollfd fd = { .fd = line->channel.fd,
                         .events = channel_events(&line->channel, has_output) };
    int count;

    do
        count = poll(&fd, 1, line->patience_ms);
    while (count < 0 && errno == EINTR);
    return count > 0 ? OK : ERR_AGAIN;
}

static enum err connect_to(struct line *line, const struct address *address)
{
    enum err err = channel_connect(&line->channel, address);

    while (err == ERR_AGAIN && wait_for(line, true) == OK)
        err = channel_connect_more(&line->channel, address);
    return err;
}

static enum err handshake(struct line *line, const char *host)
{
    enum err err = channel_secure(&line->channel, line->trust, host);

    while (!err) {
        err = channel_handshake(&line->channel);
        if (!err)
            return OK;
        if (err == ERR_AGAIN)
            err = wait_for(line, false);
    }
    return err;
}

/* "nothing answers at host:1: Connection refused" */
static void explain(struct line *line, const struct url *url, const char *what,
                    enum err err, struct buf *why)
{
    char text[WHY_BYTES];

    buf_clear(why);
    buf_putf(why, "%s ", what);
    url_put_place(why, url);
    buf_putf(why, ": %s",
             err == ERR_AGAIN ? "it takes too long"
                              : channel_why(&line->channel, text, sizeof(text)));
}

/* The first of its addresses that answers. */
static enum err reach(struct line *line, const struct url *url, struct buf *why)
{
    struct resolve *resolve = url_resolve(url, RESOLVE_HERE);
    struct addresses *addresses = NULL;
    enum err err = resolve_take(resolve, &addresses);

    if (err) {
        url_put_place(why, url);
        buf_putf(why, " cannot be found: %s", resolve_why(resolve));
    }
    for (size_t i = 0; addresses && i < addresses->count; i++) {
        err = connect_to(line, &addresses->list[i]);
        if (!err)
            break;
        explain(line, url, "nothing answers at", err, why);
        channel_close(&line->channel);
    }
    free(addresses);
    resolve_free(resolve);
    return err ? ERR_NOT_FOUND : OK;
}

static enum err secure(struct line *line, const struct url *url, const char *ca,
                       struct buf *why)
{
    CLEANUP(xfreep) char *bad = NULL;
    enum err err =
        tls_client_new(&(struct tls_trust){ .cacert = ca }, &line->trust, &bad);

    if (err) {
        buf_put(why, str_of(bad));
        return ERR_IO;
    }
    err = handshake(line, url->host);
    if (!err)
        return OK;
    explain(line, url, "cannot connect securely to", err, why);
    return ERR_IO;
}

enum err line_open(struct line *line, const struct url *url, const char *ca,
                   struct buf *why)
{
    enum err err;

    *line = (struct line){ .patience_ms = PATIENCE_MS };
    channel_init(&line->channel);
    err = reach(line, url, why);
    if (!err && url->is_secure)
        err = secure(line, url, ca, why);
    return err;
}

void line_close(struct line *line)
{
    channel_close(&line->channel);
    tls_client_free(TAKE(line->trust));
}

enum err line_send(struct line *line, struct str bytes)
{
    while (bytes.len) {
        size_t len = 0;
        enum err err = channel_write(&line->channel, bytes, &len);

        if (err == ERR_AGAIN)
            err = wait_for(line, true);
        if (err)
            return err;
        bytes = str_slice(bytes, len, bytes.len);
    }
    return OK;
}

enum err line_read(struct line *line, char *out, size_t size, size_t *ret_len)
{
    enum err err = channel_read(&line->channel, out, size, ret_len);

    while (err == ERR_AGAIN) {
        err = wait_for(line, false);
        if (!err)
            err = channel_read(&line->channel, out, size, ret_len);
        else
            return err;
    }
    return err;
}
