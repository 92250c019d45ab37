/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"
#include "oauth/uri.h"

TEST(an_address_has_parts)
{
    static const struct {
        struct str text, host;
        unsigned port;
        struct str path, query;
        bool is_secure, has_fragment;
    } cases[] = {
        { S("https://a.example"), S("a.example"), 443, S(""), {}, true, false },
        { S("HTTP://A/x?y#z"), S("A"), 80, S("/x"), S("y"), false, true },
        { S("http://[::1]:81/"), S("[::1]"), 81, S("/"), {}, false, false },
        { S("https://a?q"), S("a"), 443, S(""), S("q"), true, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct uri uri;

        CHECK_INT(uri_parse(c->text, &uri), OK);
        CHECK_STR(uri.host, c->host);
        CHECK_INT(uri.port, c->port);
        CHECK_STR(uri.path, c->path);
        CHECK_STR(uri.query, c->query);
        CHECK_INT(uri.is_secure, c->is_secure);
        CHECK_INT(uri.has_fragment, c->has_fragment);
    }
}

TEST(what_is_no_address_of_the_web_is_refused)
{
    static const struct str cases[] = {
        S(""),
        S("a.example"),
        S("ftp://a"),
        S("file:///etc/passwd"),
        S("javascript:alert(1)"),
        S("https://"),
        S("https:///x"),
        S("https://user@a"),
        S("https://user:pass@a/"),
        S("https://a:0"),
        S("https://a:65536"),
        S("https://a:x"),
        S("https://[::1"),
        S("https://[x]"),
        S("https://a b"),
        S("https://a/\r\nX: y"),
        S("https://a/\"x"),
        S("https://a/\\x"),
        S("https://\xc3\xa9.example"),
    };

    FOR_EACH_CASE(c, cases) {
        struct uri uri;

        CHECK_INT(uri_parse(*c, &uri), ERR_INVALID);
    }
}

TEST(a_resource_is_above_a_server_by_whole_segments)
{
    static const struct {
        struct str resource, server;
        bool is_above;
    } cases[] = {
        { S("https://a/mcp"), S("https://a/mcp"), true },
        { S("https://A:443/mcp"), S("https://a/mcp"), true },
        { S("https://a"), S("https://a/mcp"), true },
        { S("https://a/"), S("https://a/mcp"), true },
        { S("https://a/x"), S("https://a/x/mcp"), true },
        { S("https://a/x/"), S("https://a/x/mcp"), true },
        { S("https://a/mc"), S("https://a/mcp"), false },
        { S("https://a/mcp/x"), S("https://a/mcp"), false },
        { S("https://b/mcp"), S("https://a/mcp"), false },
        { S("http://a/mcp"), S("https://a/mcp"), false },
        { S("https://a:444/mcp"), S("https://a/mcp"), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct uri resource, server;

        CHECK_INT(uri_parse(c->resource, &resource), OK);
        CHECK_INT(uri_parse(c->server, &server), OK);
        CHECK_INT(uri_is_above(&resource, &server), c->is_above);
    }
}

TEST(documents_stand_where_the_rfcs_say)
{
    static const struct {
        struct str uri;
        enum uri_place place;
        struct str text;
    } cases[] = {
        { S("https://a"), URI_AT_ROOT, S("https://a/.well-known/n") },
        { S("https://A:8443/"), URI_AT_ROOT, S("https://a:8443/.well-known/n") },
        { S("https://a/t/1"), URI_AT_ROOT, S("https://a/.well-known/n") },
        { S("https://a/t/1"), URI_BEFORE_PATH, S("https://a/.well-known/n/t/1") },
        { S("https://a/t/1/"), URI_BEFORE_PATH, S("https://a/.well-known/n/t/1") },
        { S("https://a/t/1"), URI_AFTER_PATH, S("https://a/t/1/.well-known/n") },
        { S("http://[::1]:80/t?q"), URI_AFTER_PATH, S("http://[::1]/t/.well-known/n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct uri uri;
        struct buf out;

        buf_init(&out, 100);
        CHECK_INT(uri_parse(c->uri, &uri), OK);
        uri_put_well_known(&out, &uri, S("n"), c->place);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}

TEST(a_canonical_resource_has_neither_query_nor_fragment_nor_a_bare_slash)
{
    static const struct {
        struct str uri, text;
    } cases[] = {
        { S("HTTPS://A.Example:443/"), S("https://a.example") },
        { S("https://a/Mcp?x=1#y"), S("https://a/Mcp") },
        { S("http://a:8080/mcp"), S("http://a:8080/mcp") },
    };

    FOR_EACH_CASE(c, cases) {
        struct uri uri;
        struct buf out;

        buf_init(&out, 100);
        CHECK_INT(uri_parse(c->uri, &uri), OK);
        uri_put_canonical(&out, &uri);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}

TEST(loopback_is_known_by_its_looks)
{
    static const struct {
        struct str uri;
        bool is_loopback;
    } cases[] = {
        { S("http://localhost:1"), true },     { S("http://127.0.0.1"), true },
        { S("http://127.9.9.9"), true },       { S("http://[::1]:1/"), true },
        { S("http://127.0.0.1.evil"), false }, { S("http://localhost.evil"), false },
        { S("http://10.0.0.1"), false },       { S("http://127.evil"), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct uri uri;

        CHECK_INT(uri_parse(c->uri, &uri), OK);
        CHECK_INT(uri_is_loopback(&uri), c->is_loopback);
    }
}

TEST(text_is_escaped)
{
    struct buf out;

    buf_init(&out, 100);
    uri_put_escaped(&out, S("aZ0-._~ /?&=+%\xc3\xa9"));
    CHECK_STR(buf_str(&out), S("aZ0-._~%20%2F%3F%26%3D%2B%25%C3%A9"));
    buf_done(&out);
}
