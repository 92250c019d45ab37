/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket (RFC 6455): the topic stands in the query, so an upgrade is a subscription.
 */
#include <string.h>

#include "bench/frame.h"
#include "bench/protocol.h"

/* The example of RFC 6455 1.3: a constant key has a constant answer. */
#define KEY    "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

enum { HEAD_MAX = 16 * 1024 };

static void upgrade(const struct seat *seat, struct buf *out)
{
    bool has_query = str_find(seat->path, '?', 0) < seat->path.len;

    buf_putf(out, "GET %s" STR_FMT "%ctopic=" STR_FMT "%s",
             str_starts(seat->path, S("/")) ? "" : "/", STR_ARG(seat->path),
             has_query ? '&' : '?', STR_ARG(seat->topic),
             seat->has_echo ? "" : "&echo=off");
    if (seat->is_dotted)
        buf_put(out, S("&dialect=dotted"));
    if (seat->presence.len)
        buf_putf(out, "&presence=" STR_FMT, STR_ARG(seat->presence));
    buf_put(out, S(" HTTP/1.1\r\n"));
    buf_putf(out, "Host: " STR_FMT "\r\n", STR_ARG(seat->host));
    buf_put(out, S("Connection: Upgrade\r\nUpgrade: websocket\r\n"));
    buf_put(out, S("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n"));
    if (seat->token.len)
        buf_putf(out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(seat->token));
    buf_put(out, S("\r\n"));
}

static enum err parse_head(struct str bytes, struct unit *ret)
{
    const char *end = memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4);
    size_t head;

    if (!end)
        return bytes.len < HEAD_MAX ? ERR_AGAIN : ERR_TOO_BIG;
    head = (size_t)(end - bytes.ptr) + 4;
    *ret = (struct unit){ .type = UNIT_REFUSED, .size = head };
    if (!str_starts(bytes, S("HTTP/1.1 101 ")))
        ret->body = str_slice(bytes, 0, str_find(bytes, '\r', 0));
    else if (!memmem(bytes.ptr, head, ACCEPT, strlen(ACCEPT)))
        ret->body = S("wrong Sec-WebSocket-Accept");
    else
        ret->type = UNIT_ACCEPTED;
    return OK;
}

static enum err parse(struct str bytes, struct unit *ret)
{
    struct frame frame;
    enum err err;

    /* The first byte of a frame is never an H: that has reserved bits. */
    if (bytes.len && bytes.ptr[0] == 'H')
        return parse_head(bytes, ret);
    err = frame_parse(bytes, &frame);
    if (err)
        return err;
    *ret = (struct unit){ .body = frame.body, .size = frame.size };
    switch (frame.opcode) {
    case FRAME_TEXT:
    case FRAME_BINARY: ret->type = UNIT_MESSAGE; break;
    case FRAME_PING: ret->type = UNIT_PING; break;
    case FRAME_PONG: ret->type = UNIT_NOTHING; break;
    case FRAME_CLOSE: ret->type = UNIT_END; break;
    default: return ERR_INVALID;
    }
    return OK;
}

static enum err publish(struct str topic [[maybe_unused]], struct str text, uint32_t mask,
                        struct buf *out)
{
    return frame_write_masked(out, FRAME_TEXT, text, mask);
}

static void pong(struct str body, uint32_t mask, struct buf *out)
{
    (void)frame_write_masked(out, FRAME_PONG, body, mask);
}

const struct protocol protocol_ws = {
    .name = "ws",
    .port = 80,
    .connect = upgrade,
    .publish = publish,
    .pong = pong,
    .parse = parse,
};
