/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NATS over TCP. The server speaks first; a PONG after the subscription says it stands.
 *
 *     MSG bench-0 1 300\r\n…300 bytes…\r\n
 */
#include <string.h>

#include "base/cleanup.h"
#include "bench/protocol.h"

enum { LINE_MAX_BYTES = 64 * 1024, BODY_MAX = 32 * 1024 * 1024 };

static void subscribe(const struct seat *seat, struct buf *out)
{
    buf_putf(out,
             "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":%s,\"lang\":\"c\","
             "\"version\":\"1\",\"protocol\":1}\r\nSUB " STR_FMT " 1\r\nPING\r\n",
             seat->has_echo ? "true" : "false", STR_ARG(seat->topic));
}

static enum err publish(struct str topic, struct str text, uint32_t mask [[maybe_unused]],
                        struct buf *out)
{
    enum err err = buf_reserve(out, topic.len + text.len + 64);

    if (err)
        return err;
    buf_put(out, S("PUB "));
    buf_put(out, topic);
    buf_putc(out, ' ');
    buf_putu(out, text.len);
    buf_put(out, S("\r\n"));
    buf_put(out, text);
    buf_put(out, S("\r\n"));
    return OK;
}

static void pong(struct str body [[maybe_unused]], uint32_t mask [[maybe_unused]],
                 struct buf *out)
{
    buf_put(out, S("PONG\r\n"));
}

/* `line` is without its end, `bytes` begin with it. */
static enum err parse_message(struct str line, struct str bytes, struct unit *ret)
{
    const char *space = memrchr(line.ptr, ' ', line.len);
    size_t head = line.len + 2;
    uint64_t size;

    if (!space || str_to_u64(str_slice(line, (size_t)(space + 1 - line.ptr), line.len),
                             BODY_MAX, &size))
        return ERR_INVALID;
    if (bytes.len - head < size + 2)
        return ERR_AGAIN;
    *ret = (struct unit){ .type = UNIT_MESSAGE,
                          .body = { bytes.ptr + head, (size_t)size },
                          .size = head + (size_t)size + 2 };
    return OK;
}

static enum err parse(struct str bytes, struct unit *ret)
{
    static const struct {
        struct str word;
        enum unit_type type;
    } lines[] = {
        { S("INFO "), UNIT_ACCEPTED }, { S("PING"), UNIT_PING },
        { S("PONG"), UNIT_READY },     { S("-ERR "), UNIT_REFUSED },
        { S("+OK"), UNIT_NOTHING },
    };
    size_t end = str_find(bytes, '\n', 0);
    struct str line;

    if (end == bytes.len)
        return bytes.len < LINE_MAX_BYTES ? ERR_AGAIN : ERR_TOO_BIG;
    if (end == 0 || bytes.ptr[end - 1] != '\r')
        return ERR_INVALID;
    line = str_slice(bytes, 0, end - 1);
    if (str_starts(line, S("MSG ")))
        return parse_message(line, bytes, ret);
    for (size_t i = 0; i < COUNT(lines); i++) {
        if (!str_starts(line, lines[i].word))
            continue;
        *ret = (struct unit){ .type = lines[i].type, .body = line, .size = end + 1 };
        return OK;
    }
    return ERR_INVALID;
}

const struct protocol protocol_nats = {
    .name = "nats",
    .port = 4222,
    .subscribe = subscribe,
    .publish = publish,
    .pong = pong,
    .parse = parse,
};
