/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "bench/protocol.h"
#include "harness.h"

static const struct seat seat = {
    .host = S("127.0.0.1:8420"),
    .path = S("/ws"),
    .topic = S("bench-7"),
    .token = S("secret"),
    .client = 12,
    .has_echo = true,
};

static bool contains(const struct buf *text, struct str part)
{
    return memmem(text->ptr, text->len, part.ptr, part.len) != NULL;
}

TEST(a_protocol_is_found_by_its_scheme)
{
    CHECK(protocol_find(S("ws")) == &protocol_ws);
    CHECK(protocol_find(S("nats")) == &protocol_nats);
    CHECK(protocol_find(S("redis")) == &protocol_redis);
    CHECK(protocol_find(S("mqtt")) == &protocol_mqtt);
    CHECK(!protocol_find(S("wss")));
    CHECK(!protocol_find(S("")));
}

TEST(an_upgrade_names_topic_token_and_echo)
{
    static const struct {
        struct str path, line;
        bool has_echo;
        struct str presence;
    } cases[] = {
        { S("/ws"), S("GET /ws?topic=bench-7 HTTP/1.1\r\n"), true, S("") },
        { S("/ws"), S("GET /ws?topic=bench-7&echo=off HTTP/1.1\r\n"), false, S("") },
        { S(""), S("GET /?topic=bench-7 HTTP/1.1\r\n"), true, S("") },
        { S("?a=b"), S("GET /?a=b&topic=bench-7 HTTP/1.1\r\n"), true, S("") },
        { S("/ws"), S("GET /ws?topic=bench-7&presence=off HTTP/1.1\r\n"), true,
          S("off") },
    };

    FOR_EACH_CASE(c, cases) {
        struct seat mine = seat;
        struct buf out;

        mine.path = c->path;
        mine.has_echo = c->has_echo;
        mine.presence = c->presence;
        buf_init(&out, 4096);
        protocol_ws.connect(&mine, &out);
        CHECK(str_starts(buf_str(&out), c->line));
        CHECK(contains(&out, S("\r\nHost: 127.0.0.1:8420\r\n")));
        CHECK(contains(&out, S("\r\nAuthorization: Bearer secret\r\n")));
        CHECK(str_ends(buf_str(&out), S("\r\n\r\n")));
        buf_done(&out);
    }
}

struct vector {
    struct str bytes;
    enum unit_type type;
    struct str body;
};

/* Whole it is this unit, whatever follows; cut anywhere it is waited for. */
static void check_vector(const struct protocol *protocol, const struct vector *v)
{
    struct unit unit = {};
    struct buf more;

    CHECK_INT(protocol->parse(v->bytes, &unit), OK);
    CHECK_INT(unit.type, v->type);
    CHECK_STR(unit.body, v->body);
    CHECK_INT(unit.size, v->bytes.len);
    for (size_t cut = 0; cut < v->bytes.len; cut++)
        CHECK_INT(protocol->parse(str_slice(v->bytes, 0, cut), &unit), ERR_AGAIN);
    buf_init(&more, 4096);
    buf_put(&more, v->bytes);
    buf_put(&more, v->bytes);
    CHECK_INT(protocol->parse(buf_str(&more), &unit), OK);
    CHECK_INT(unit.size, v->bytes.len);
    buf_done(&more);
}

TEST(what_a_websocket_server_sends_is_told_apart)
{
    static const struct vector cases[] = {
        { S("HTTP/1.1 101 Switching Protocols\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
          UNIT_ACCEPTED, S("") },
        { S("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: no\r\n\r\n"),
          UNIT_REFUSED, S("wrong Sec-WebSocket-Accept") },
        { S("HTTP/1.1 401 Unauthorized\r\n\r\n"), UNIT_REFUSED,
          S("HTTP/1.1 401 Unauthorized") },
        { S("\x81\x02hi"), UNIT_MESSAGE, S("hi") },
        { S("\x82\x02hi"), UNIT_MESSAGE, S("hi") },
        { S("\x89\x01p"), UNIT_PING, S("p") },
        { S("\x8a\x01p"), UNIT_NOTHING, S("p") },
        { S("\x88\x02\x03\xe9"), UNIT_END, S("\x03\xe9") },
    };

    FOR_EACH_CASE(c, cases)
        check_vector(&protocol_ws, c);
}

TEST(what_a_nats_server_sends_is_told_apart)
{
    static const struct vector cases[] = {
        { S("INFO {\"a\":1}\r\n"), UNIT_ACCEPTED, S("INFO {\"a\":1}") },
        { S("PONG\r\n"), UNIT_READY, S("PONG") },
        { S("PING\r\n"), UNIT_PING, S("PING") },
        { S("+OK\r\n"), UNIT_NOTHING, S("+OK") },
        { S("-ERR 'Slow'\r\n"), UNIT_REFUSED, S("-ERR 'Slow'") },
        { S("MSG bench-7 1 5\r\na\r\nbc\r\n"), UNIT_MESSAGE, S("a\r\nbc") },
        { S("MSG bench-7 1 answer 2\r\nhi\r\n"), UNIT_MESSAGE, S("hi") },
        { S("MSG bench-7 1 0\r\n\r\n"), UNIT_MESSAGE, S("") },
    };

    FOR_EACH_CASE(c, cases)
        check_vector(&protocol_nats, c);
}

TEST(what_a_redis_server_sends_is_told_apart)
{
    static const struct vector cases[] = {
        { S("%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*0\r\n"),
          UNIT_ACCEPTED, S("") },
        { S(">3\r\n$9\r\nsubscribe\r\n$7\r\nbench-7\r\n:1\r\n"), UNIT_READY, S("") },
        { S(">3\r\n$7\r\nmessage\r\n$7\r\nbench-7\r\n$5\r\na\r\nbc\r\n"), UNIT_MESSAGE,
          S("a\r\nbc") },
        { S(":100\r\n"), UNIT_NOTHING, S("") },
        { S("$-1\r\n"), UNIT_NOTHING, S("") },
        { S("-NOPROTO no\r\n"), UNIT_REFUSED, S("NOPROTO no") },
        { S("*2\r\n*1\r\n:1\r\n+OK\r\n"), UNIT_NOTHING, S("") },
    };

    FOR_EACH_CASE(c, cases)
        check_vector(&protocol_redis, c);
}

TEST(what_an_mqtt_server_sends_is_told_apart)
{
    static const struct vector cases[] = {
        { S("\x20\x02\x00\x00"), UNIT_ACCEPTED, S("") },
        { S("\x20\x02\x00\x05"), UNIT_REFUSED, S("by a code in its answer") },
        { S("\x90\x03\x00\x01\x00"), UNIT_READY, S("") },
        { S("\x90\x03\x00\x01\x80"), UNIT_REFUSED, S("by a code in its answer") },
        { S("\x30\x06\x00\x02t1hi"), UNIT_MESSAGE, S("hi") },
        { S("\x30\x86\x00\x00\x02t1hi"), UNIT_MESSAGE, S("hi") },
        { S("\xd0\x00"), UNIT_NOTHING, S("") },
    };

    FOR_EACH_CASE(c, cases)
        check_vector(&protocol_mqtt, c);
}

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const struct protocol *protocol;
        struct str bytes;
        enum err want;
    } cases[] = {
        { &protocol_nats, S("\n"), ERR_INVALID },
        { &protocol_nats, S("HELLO\r\n"), ERR_INVALID },
        { &protocol_nats, S("MSG a 1 x\r\n"), ERR_INVALID },
        { &protocol_nats, S("MSG a 1 99999999999\r\n"), ERR_INVALID },
        { &protocol_redis, S("\r\n"), ERR_INVALID },
        { &protocol_redis, S("?\r\n"), ERR_INVALID },
        { &protocol_redis, S("$x\r\n"), ERR_INVALID },
        { &protocol_redis, S("$99999999999\r\n"), ERR_INVALID },
        { &protocol_redis, S("*99999999999\r\n"), ERR_INVALID },
        { &protocol_mqtt, S("\x30\xff\xff\xff\xff\x01"), ERR_INVALID },
        { &protocol_mqtt, S("\x30\xff\xff\xff\x7f"), ERR_TOO_BIG },
        { &protocol_mqtt, S("\xf0\x00"), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct unit unit = {};

        CHECK_INT(c->protocol->parse(c->bytes, &unit), c->want);
    }
}

TEST(a_message_is_published_as_each_protocol_wants_it)
{
    static const struct {
        const struct protocol *protocol;
        struct str want;
    } cases[] = {
        { &protocol_ws, S("\x81\x82\x01\x01\x01\x01ih") },
        { &protocol_nats, S("PUB bench-7 2\r\nhi\r\n") },
        { &protocol_redis, S("*3\r\n$7\r\nPUBLISH\r\n$7\r\nbench-7\r\n$2\r\nhi\r\n") },
        { &protocol_mqtt, S("\x30\x0b\x00\x07"
                            "bench-7hi") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(c->protocol->publish(seat.topic, S("hi"), 0x01010101, &out), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
        buf_init(&out, 4);
        CHECK_INT(c->protocol->publish(seat.topic, S("hi"), 0, &out), ERR_TOO_BIG);
        CHECK_INT(out.len, 0);
        buf_done(&out);
    }
}

TEST(a_broker_is_subscribed_to_the_topic)
{
    static const struct {
        const struct protocol *protocol;
        struct str want;
    } cases[] = {
        { &protocol_nats, S("\r\nSUB bench-7 1\r\nPING\r\n") },
        { &protocol_redis, S("SUBSCRIBE\r\n$7\r\nbench-7\r\n") },
        { &protocol_mqtt, S("\x82\x0c\x00\x01\x00\x07"
                            "bench-7\x00") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        c->protocol->subscribe(&seat, &out);
        CHECK(str_ends(buf_str(&out), c->want));
        buf_done(&out);
    }
}

TEST(an_mqtt_client_has_a_name_of_its_own_and_a_clean_session)
{
    struct buf out;

    buf_init(&out, 4096);
    protocol_mqtt.connect(&seat, &out);
    CHECK_STR(buf_str(&out), S("\x10\x13\x00\x04MQTT\x04\x02\x00\x00\x00\x07"
                               "bench12"));
    buf_done(&out);
}
