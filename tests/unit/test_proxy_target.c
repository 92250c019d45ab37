/* SPDX-License-Identifier: Apache-2.0 */
/* What a request through the proxy wants, whole and in pieces, and which hosts it may. */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "proxy/target.h"

enum { SCRATCH = 256 * 1024 };

static const struct {
    const char *text;
    enum err err;
    struct str host;
    uint16_t port;
    bool is_tunnel;
    const char *head;
} heads[] = {
    { "CONNECT a.org:443 HTTP/1.1\r\nHost: b.org\r\n\r\n", OK, S("a.org"), 443, true,
      "" },
    { "CONNECT A.org.:8443 HTTP/1.0\r\n\r\n", OK, S("A.org"), 8443, true, "" },
    { "CONNECT [::1]:443 HTTP/1.1\r\n\r\n", OK, S("::1"), 443, true, "" },
    { "CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", OK, S("127.0.0.1"), 443, true, "" },
    { "CONNECT a.org HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "CONNECT a.org:0 HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "CONNECT a.org:99999 HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "CONNECT a.org:443\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "CONNECT a/b@c:443 HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "CONNECT :443 HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "GET http://a.org/x?y HTTP/1.1\r\nHost: a.org\r\nProxy-Authorization: z\r\n"
      "Connection: keep-alive\r\nAccept: t\r\n\r\n",
      OK, S("a.org"), 80, false,
      "GET /x?y HTTP/1.1\r\nConnection: close\r\nHost: a.org\r\nAccept: t\r\n\r\n" },
    { "GET http://a.org:81 HTTP/1.1\r\nHost: a.org:81\r\n\r\n", OK, S("a.org"), 81, false,
      "GET / HTTP/1.1\r\nConnection: close\r\nHost: a.org:81\r\n\r\n" },
    { "GET http://a.org/@a%2fb/../%zz HTTP/1.1\r\nHost: a.org\r\n\r\n", OK, S("a.org"),
      80, false,
      "GET /@a%2fb/../%zz HTTP/1.1\r\nConnection: close\r\nHost: a.org\r\n\r\n" },
    { "GET http://a.org/ HTTP/1.1\r\nHost: b.org\r\n\r\n",
      ERR_BAD_REQUEST,
      {},
      0,
      false,
      "" },
    { "GET /x HTTP/1.1\r\nHost: a.org\r\n\r\n", ERR_BAD_REQUEST, {}, 0, false, "" },
    { "GET https://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
      ERR_BAD_REQUEST,
      {},
      0,
      false,
      "" },
    { "\x16\x03\x01 what is this", ERR_BAD_REQUEST, {}, 0, false, "" },
};

TEST(a_head_says_where_it_wants_to_go)
{
    FOR_EACH_CASE(c, heads) {
        struct proxy_target target = {};
        const char *why = NULL;
        struct arena arena;
        size_t used = 0;

        arena_init(&arena, SCRATCH);
        CHECK_INT(proxy_target_parse(str_of(c->text), &arena, &target, &used, &why),
                  c->err);
        if (c->err) {
            CHECK(why != NULL);
        } else {
            CHECK_INT(used, strlen(c->text));
            CHECK_STR(target.host, c->host);
            CHECK_INT(target.port, c->port);
            CHECK_INT(target.is_tunnel, c->is_tunnel);
            CHECK_STR(target.head, str_of(c->head));
        }
        arena_done(&arena);
    }
}

TEST(a_head_in_pieces_waits_or_is_refused_as_the_whole)
{
    FOR_EACH_CASE(c, heads)
        for (size_t len = 0; len < strlen(c->text); len++) {
            struct proxy_target target;
            const char *why = NULL;
            struct arena arena;
            size_t used;
            enum err err;

            arena_init(&arena, SCRATCH);
            err = proxy_target_parse((struct str){ c->text, len }, &arena, &target, &used,
                                     &why);
            CHECK(err == ERR_AGAIN || (c->err && err == c->err));
            arena_done(&arena);
        }
}

TEST(a_head_that_does_not_end_is_refused)
{
    static char text[2 * PROXY_MAX_HEAD];
    struct proxy_target target;
    const char *why = NULL;
    struct arena arena;
    size_t used;

    memset(text, 'a', sizeof(text));
    memcpy(text, "CONNECT ", 8);
    arena_init(&arena, SCRATCH);
    CHECK_INT(proxy_target_parse((struct str){ text, sizeof(text) }, &arena, &target,
                                 &used, &why),
              ERR_BAD_REQUEST);
    arena_done(&arena);
}

TEST(hosts_are_permitted_by_name_and_port)
{
    static const struct {
        struct str pattern, host;
        uint16_t port;
        bool is_permitted;
    } cases[] = {
        { S("a.org"), S("a.org"), 443, true },
        { S("a.org"), S("A.ORG"), 443, true },
        { S("a.org"), S("a.org"), 80, true },
        { S("a.org"), S("a.org"), 8443, false },
        { S("a.org:8443"), S("a.org"), 8443, true },
        { S("a.org:8443"), S("a.org"), 443, false },
        { S("a.org"), S("b.a.org"), 443, false },
        { S("a.org"), S("ba.org"), 443, false },
        { S("a.org"), S("a.org.evil.net"), 443, false },
        { S("*.a.org"), S("b.a.org"), 443, true },
        { S("*.a.org"), S("c.b.a.org"), 443, true },
        { S("*.a.org"), S("a.org"), 443, false },
        { S("*.a.org"), S("ba.org"), 443, false },
        { S("*.a.org"), S(".a.org"), 443, false },
        { S("*.a.org:22"), S("b.a.org"), 22, true },
        { S("*"), S("x"), 443, true },
        { S("*"), S("x"), 22, false },
        { S("[::1]:5"), S("::1"), 5, true },
        { S("::1"), S("::1"), 443, true },
        { S(""), S("x"), 443, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct proxy_target target = { .host = c->host, .port = c->port };
        struct str found = proxy_target_permitted(&target, &c->pattern, 1);

        CHECK_STR(found, c->is_permitted ? c->pattern : S(""));
    }
}

TEST(literal_hosts_are_known_as_such)
{
    CHECK(proxy_host_is_literal(S("localhost")));
    CHECK(proxy_host_is_literal(S("127.0.0.1:80")));
    CHECK(proxy_host_is_literal(S("[fd00::1]:80")));
    CHECK(!proxy_host_is_literal(S("localhost.evil.org")));
    CHECK(!proxy_host_is_literal(S("*")));
    CHECK(!proxy_host_is_literal(S("")));
}

TEST(a_host_that_cannot_be_meant_is_told_why)
{
    static const struct {
        struct str host;
        const char *why; /* a part of it; NULL: it is fine */
    } cases[] = {
        { S("a.org"), NULL },
        { S("A-1_b.example.org."), NULL },
        { S("localhost:1"), NULL },
        { S("a.org:65535"), NULL },
        { S("*"), NULL },
        { S("*:8443"), NULL },
        { S("*.a.org:8443"), NULL },
        { S("192.0.2.1:80"), NULL },
        { S("2001:db8::1"), NULL },
        { S("[2001:db8::1]:443"), NULL },
        { S("3com.org"), NULL },
        { S(""), "empty" },
        { S("https://a.org"), "no URL" },
        { S("a.org/path"), "no URL" },
        { S("user@a.org"), "no URL" },
        { S("a.org b.org"), "no URL" },
        { S("a.org\n"), "no URL" },
        { S("a.org:"), "a port" },
        { S("a.org:0"), "a port" },
        { S("a.org:65536"), "a port" },
        { S("a.org:http"), "a port" },
        { S(":80"), "a port" },
        { S("[::1"), "a port" },
        { S("[a.org]:80"), "IPv6" },
        { S("[127.0.0.1]:80"), "IPv6" },
        { S("*a.org"), "*.DOMAIN" },
        { S("a.*.org"), "*.DOMAIN" },
        { S("**"), "*.DOMAIN" },
        { S("*."), "a domain" },
        { S(".a.org"), "between dots" },
        { S("a..org"), "between dots" },
        { S("-a.org"), "between dots" },
        { S("m\xc3\xbc.org"), "xn--" },
        { S("a:b:c"), "between dots" },
        { S("127.1"), "no address" },
        { S("256.0.0.1"), "no address" },
        { S("0x7f000001"), "no address" },
        { S("2130706433"), "no address" },
    };

    FOR_EACH_CASE(c, cases) {
        const char *why = proxy_host_fault(c->host);

        CHECK_INT(why == NULL, c->why == NULL);
        CHECK(!c->why || (why && strstr(why, c->why)));
    }
}
