/* SPDX-License-Identifier: Apache-2.0 */
#include <netinet/in.h>
#include <string.h>

#include "bench/bench_priv.h"
#include "harness.h"

static uint16_t port_of(const struct address *address)
{
    struct sockaddr_in in;

    memcpy(&in, &address->socket, sizeof(in));
    return ntohs(in.sin_port);
}

TEST(a_url_names_protocol_host_port_and_path)
{
    static const struct {
        const char *url;
        const struct protocol *protocol;
        struct str host, path, name;
        uint16_t port;
        bool is_secure;
    } cases[] = {
        { "ws://127.0.0.1:8420/ws?a=b", &protocol_ws, S("127.0.0.1:8420"), S("/ws?a=b"),
          S("127.0.0.1"), 8420, false },
        { "ws://127.0.0.1", &protocol_ws, S("127.0.0.1"), S(""), S("127.0.0.1"), 80,
          false },
        { "wss://127.0.0.1:8420/ws", &protocol_ws, S("127.0.0.1:8420"), S("/ws"),
          S("127.0.0.1"), 8420, true },
        { "wss://127.0.0.1/ws", &protocol_ws, S("127.0.0.1"), S("/ws"), S("127.0.0.1"),
          443, true },
        { "nats://127.0.0.1", &protocol_nats, S("127.0.0.1"), S(""), S("127.0.0.1"), 4222,
          false },
    };

    FOR_EACH_CASE(c, cases) {
        struct address address;
        struct buf why;

        buf_init(&why, 4096);
        CHECK_INT(address_parse(c->url, NULL, &why, &address), OK);
        CHECK(address.protocol == c->protocol);
        CHECK_STR(address.host, c->host);
        CHECK_STR(address.path, c->path);
        CHECK_STR(str_of(address.name), c->name);
        CHECK_INT(port_of(&address), c->port);
        CHECK_INT(address.is_secure, c->is_secure);
        CHECK(address.is_loopback);
        buf_done(&why);
    }
}

TEST(what_is_no_url_is_refused_with_a_reason)
{
    static const struct {
        const char *url, *protocol;
    } cases[] = {
        { "http://127.0.0.1", NULL },   { "ws://", NULL },
        { "ws://127.0.0.1:0", NULL },   { "ws://127.0.0.1:65536", NULL },
        { "ws://[::1", NULL },          { "ws://[::1]x", NULL },
        { "wss://127.0.0.1", "nats" },  { "nats://127.0.0.1", "ws" },
        { "127.0.0.1:8420", "gopher" },
    };

    FOR_EACH_CASE(c, cases) {
        struct address address;
        struct buf why;

        buf_init(&why, 4096);
        CHECK_INT(address_parse(c->url, c->protocol, &why, &address), ERR_INVALID);
        CHECK(why.len > 0);
        buf_done(&why);
    }
}
