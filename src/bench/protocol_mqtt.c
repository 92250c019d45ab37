/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MQTT 3.1.1 over TCP, quality of service 0. A packet is a type, the length of what
 * follows in seven bits a byte, and that:
 *
 *     0x30  length  topic length (2 bytes)  topic  message
 */
#include "bench/protocol.h"

enum {
    CONNECT = 0x10,
    CONNACK = 0x20,
    PUBLISH = 0x30,
    SUBSCRIBE = 0x82, /* with the flags that section 3.8.1 wants */
    SUBACK = 0x90,
    PINGRESP = 0xd0,
    TYPE = 0xf0,
};
enum { CLEAN_SESSION = 2, LENGTH_BYTES = 4, ID_MAX = 32, BODY_MAX = 32 * 1024 * 1024 };

static void put_head(struct buf *out, uint8_t type, size_t len)
{
    buf_putc(out, (char)type);
    do {
        buf_putc(out, (char)(len % 128 | (len > 127 ? 128 : 0)));
        len /= 128;
    } while (len);
}

static void put_u16(struct buf *out, size_t value)
{
    buf_putc(out, (char)(value >> 8));
    buf_putc(out, (char)value);
}

static void put_text(struct buf *out, struct str text)
{
    put_u16(out, text.len);
    buf_put(out, text);
}

/* No keep-alive: a client that only listens sends nothing. */
static void greet(const struct seat *seat, struct buf *out)
{
    struct buf id;

    buf_init(&id, ID_MAX);
    buf_putf(&id, "bench%u", (unsigned)seat->client);
    put_head(out, CONNECT, 10 + 2 + id.len);
    put_text(out, S("MQTT"));
    buf_putc(out, 4);
    buf_putc(out, CLEAN_SESSION);
    put_u16(out, 0);
    put_text(out, buf_str(&id));
    buf_done(&id);
}

static void subscribe(const struct seat *seat, struct buf *out)
{
    put_head(out, SUBSCRIBE, 2 + 2 + seat->topic.len + 1);
    put_u16(out, 1);
    put_text(out, seat->topic);
    buf_putc(out, 0);
}

static enum err publish(struct str topic, struct str text, uint32_t mask [[maybe_unused]],
                        struct buf *out)
{
    enum err err = buf_reserve(out, topic.len + text.len + 16);

    if (err)
        return err;
    put_head(out, PUBLISH, 2 + topic.len + text.len);
    put_text(out, topic);
    buf_put(out, text);
    return OK;
}

/* Takes the head off `rest`. */
static enum err take_length(struct str *rest, size_t *ret)
{
    size_t value = 0;

    for (size_t i = 0; i < LENGTH_BYTES; i++) {
        if (i + 1 >= rest->len)
            return ERR_AGAIN;
        value |= (size_t)(rest->ptr[i + 1] & 127) << (7 * i);
        if (rest->ptr[i + 1] & 128)
            continue;
        *rest = str_slice(*rest, i + 2, rest->len);
        *ret = value;
        return value > BODY_MAX ? ERR_TOO_BIG : OK;
    }
    return ERR_INVALID;
}

/* The answers to CONNECT and SUBSCRIBE end in a code, 128 and more or not 0. */
static struct unit answer(struct str packet, enum unit_type good)
{
    if (packet.len && packet.ptr[packet.len - 1] == 0)
        return (struct unit){ .type = good };
    return (struct unit){ .type = UNIT_REFUSED, .body = S("by a code in its answer") };
}

static struct unit message(struct str packet)
{
    size_t topic;

    if (packet.len < 2)
        return (struct unit){ .type = UNIT_NOTHING };
    topic = (size_t)((uint8_t)packet.ptr[0] << 8 | (uint8_t)packet.ptr[1]);
    return (struct unit){ .type = UNIT_MESSAGE,
                          .body = str_slice(packet, 2 + topic, packet.len) };
}

static enum err parse(struct str bytes, struct unit *ret)
{
    struct str rest = bytes;
    struct str packet;
    size_t len = 0;
    enum err err = take_length(&rest, &len);

    if (err)
        return err;
    if (rest.len < len)
        return ERR_AGAIN;
    packet = str_slice(rest, 0, len);
    switch (bytes.ptr[0] & TYPE) {
    case PUBLISH: *ret = message(packet); break;
    case CONNACK: *ret = answer(packet, UNIT_ACCEPTED); break;
    case SUBACK: *ret = answer(packet, UNIT_READY); break;
    case PINGRESP: *ret = (struct unit){ .type = UNIT_NOTHING }; break;
    default: return ERR_INVALID;
    }
    ret->size = bytes.len - rest.len + len;
    return OK;
}

const struct protocol protocol_mqtt = {
    .name = "mqtt",
    .port = 1883,
    .connect = greet,
    .subscribe = subscribe,
    .publish = publish,
    .parse = parse,
};
