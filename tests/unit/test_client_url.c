/* SPDX-License-Identifier: Apache-2.0 */
#include "client/url.h"
#include "harness.h"

#define LONG_100                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(a_url_is_read_into_its_parts)
{
    static const struct {
        struct str text;
        const char *host, *path;
        int port;
        bool is_secure, is_local;
        struct str header, place;
    } cases[] = {
        /* clang-format off */
        { S("ws://127.0.0.1:8420"),        "127.0.0.1", "",      8420, false, false, S("127.0.0.1:8420"), S("127.0.0.1:8420") },
        { S("ws://localhost"),             "localhost", "",      80,   false, false, S("localhost"), S("localhost:80") },
        { S("http://a-b.example_1:80/"),   "a-b.example_1", "",  80,   false, false, S("a-b.example_1"), S("a-b.example_1:80") },
        { S("wss://moot.example"),         "moot.example", "",   443,  true,  false, S("moot.example"), S("moot.example:443") },
        { S("HTTPS://Moot.Example:80/"),   "Moot.Example", "",   80,   true,  false, S("Moot.Example:80"), S("Moot.Example:80") },
        { S("wss://h:65535/base"),         "h", "/base",         65535, true, false, S("h:65535"), S("h:65535") },
        { S("ws://h:1/a/b%20c//"),         "h", "/a/b%20c",      1,    false, false, S("h:1"), S("h:1") },
        { S("ws://h/ws"),                  "h", "",              80,   false, false, S("h"), S("h:80") },
        { S("ws://h/base/ws/"),            "h", "/base",         80,   false, false, S("h"), S("h:80") },
        { S("ws://h/cows"),                "h", "/cows",         80,   false, false, S("h"), S("h:80") },
        { S("ws://[::1]:8420/x"),          "::1", "/x",          8420, false, false, S("[::1]:8420"), S("[::1]:8420") },
        { S("wss://[2001:db8::192.0.2.1]"), "2001:db8::192.0.2.1", "", 443, true, false, S("[2001:db8::192.0.2.1]"), S("[2001:db8::192.0.2.1]:443") },
        { S("unix:/run/moot dir/é?#@.sock"), "/run/moot dir/é?#@.sock", "", 0, false, true, S("localhost"), S("/run/moot dir/é?#@.sock") },
        { S("ws://h:00080"),               "h", "",              80,   false, false, S("h"), S("h:80") },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct url url = {};
        struct buf out;

        buf_init(&out, 1000);
        CHECK_INT(url_parse(c->text, &url, &out), OK);
        CHECK_INT(out.len, 0);
        CHECK_STR(str_of(url.host), str_of(c->host));
        CHECK_STR(str_of(url.path), str_of(c->path));
        CHECK_INT(url.port, c->port);
        CHECK_INT(url.is_secure, c->is_secure);
        CHECK_INT(url.is_local, c->is_local);
        url_put_host(&out, &url);
        CHECK_STR(buf_str(&out), c->header);
        buf_clear(&out);
        url_put_place(&out, &url);
        CHECK_STR(buf_str(&out), c->place);
        buf_done(&out);
    }
}

TEST(what_is_no_url_of_a_gateway_is_refused_with_a_sentence)
{
    static const struct {
        struct str text, why;
    } cases[] = {
        /* clang-format off */
        { S(""),                         S("the URL begins with none of ws://, wss://, http://, https://, unix:") },
        { S("localhost:8420"),           S("the URL begins with none of ws://, wss://, http://, https://, unix:") },
        { S("ftp://h"),                  S("the URL begins with none of ws://, wss://, http://, https://, unix:") },
        { S("ws:/h"),                    S("the URL begins with none of ws://, wss://, http://, https://, unix:") },
        { S("ws://"),                    S("the URL names no host") },
        { S("ws:///path"),               S("the URL names no host") },
        { S("ws://:80"),                 S("the URL names no host") },
        { S("ws://a:secret@h"),          S("the URL holds a name or password; the token is given apart") },
        { S("ws://@h"),                  S("the URL holds a name or password; the token is given apart") },
        { S("ws://h?topic=x"),           S("the URL has a query; topic and options are given apart") },
        { S("ws://h/x?"),                S("the URL has a query; topic and options are given apart") },
        { S("ws://h/#"),                 S("the URL has a fragment") },
        { S("ws://h:"),                  S("the port is not a number from 1 to 65535") },
        { S("ws://h:0"),                 S("the port is not a number from 1 to 65535") },
        { S("ws://h:65536"),             S("the port is not a number from 1 to 65535") },
        { S("ws://h:+80"),               S("the port is not a number from 1 to 65535") },
        { S("ws://h:8x"),                S("the port is not a number from 1 to 65535") },
        { S("ws://[::1]80"),             S("the port is not a number from 1 to 65535") },
        { S("ws://[::1"),                S("what stands in brackets is not an IPv6 address") },
        { S("ws://[]"),                  S("what stands in brackets is not an IPv6 address") },
        { S("ws://[127.0.0.1]"),         S("what stands in brackets is not an IPv6 address") },
        { S("ws://[fe80::1%25eth0]"),    S("what stands in brackets is not an IPv6 address") },
        { S("ws://[" LONG_100 "]"),      S("what stands in brackets is not an IPv6 address") },
        { S("ws://::1"),                 S("the URL names no host") },
        { S("ws://fe80::1"),             S("an IPv6 address is written in brackets, as in ws://[::1]:8420") },
        { S("ws://-h"),                  S("the host is neither a name nor an address") },
        { S("ws://a,b"),                 S("the host is neither a name nor an address") },
        { S("ws://a%2eb"),               S("the host is neither a name nor an address") },
        { S("ws://" LONG_100 LONG_100 LONG_100), S("the host is neither a name nor an address") },
        { S("ws://h /"),                 S("the URL holds a character that no URL has") },
        { S("ws://h/a\r\nb"),            S("the URL holds a character that no URL has") },
        { S("ws://h/\0"),                S("the URL holds a character that no URL has") },
        { S("ws://h\\a"),                S("the URL holds a character that no URL has") },
        { S("ws://hé"),                  S("the URL holds a character that no URL has") },
        { S("ws://h/%2"),                S("the path of the URL has a broken escape") },
        { S("ws://h/%zz/a"),             S("the path of the URL has a broken escape") },
        { S("ws://h/a/../b"),            S("the path of the URL has a dot segment") },
        { S("ws://h/./"),                S("the path of the URL has a dot segment") },
        { S("ws://h/" LONG_100 LONG_100 LONG_100), S("the path of the URL is too long") },
        { S("unix:moot.sock"),           S("unix: takes the whole path of a socket, as in unix:/run/moot.sock") },
        { S("unix:"),                    S("unix: takes the whole path of a socket, as in unix:/run/moot.sock") },
        { S("unix:/a\0b"),               S("the path of the socket holds a NUL") },
        { S("unix:/" LONG_100 "12345678"), S("the path of the socket is longer than sockets' paths can be") },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct url url = { .port = 7 };
        struct buf why;

        buf_init(&why, 1000);
        CHECK_INT(url_parse(c->text, &url, &why), ERR_INVALID);
        CHECK_STR(buf_str(&why), c->why);
        CHECK_INT(url.port, 7);
        buf_done(&why);
    }
}

TEST(the_longest_parts_fit)
{
    struct url url;
    struct buf text, why;

    buf_init(&text, 2000);
    buf_init(&why, 1000);
    buf_put(&text, S("ws://" LONG_100 LONG_100 LONG_100));
    text.len = 5 + 253;
    buf_put(&text, S("/" LONG_100 LONG_100 LONG_100));
    text.len = 5 + 253 + 255;
    CHECK_INT(url_parse(buf_str(&text), &url, &why), OK);
    CHECK_INT(strlen(url.host), 253);
    CHECK_INT(strlen(url.path), 255);
    buf_done(&text);
    buf_done(&why);
}
