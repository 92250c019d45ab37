/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "http/request.h"

static const struct http_limits limits = { .head_bytes = 8192, .target_bytes = 2000 };

struct answer {
    enum err err;
    size_t used;
    const char *why;
};

/* It knows no headers: what it refuses is refused by the other for the same reason, and
 * what it finds complete is complete. */
static void check_measured(struct str bytes, const struct answer *parsed)
{
    const char *why = NULL;
    size_t end = 0;
    enum err err = http_request_measure(bytes, &limits, &end, &why);

    if (err) {
        CHECK_INT(err, parsed->err);
        CHECK_STR(str_of(why), str_of(parsed->why));
    } else if (!parsed->err)
        CHECK_INT(end, parsed->used);
    CHECK(err == ERR_AGAIN || parsed->err != ERR_AGAIN);
}

/* Parses a copy of exactly that size, so that a sanitizer sees the first byte behind. */
static struct answer parse_front(struct str bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    struct answer answer = {};
    struct http_request req;
    struct arena arena;

    memcpy(copy, bytes.ptr, len);
    arena_init(&arena, 65536);
    answer.err = http_request_parse((struct str){ copy, len }, &limits, &arena, &req,
                                    &answer.used, &answer.why);
    check_measured((struct str){ copy, len }, &answer);
    arena_done(&arena);
    free(copy);
    return answer;
}

static void check_same(struct answer got, struct answer want)
{
    CHECK_INT(got.err, want.err);
    CHECK_INT(got.used, want.used);
    CHECK_STR(str_of(got.why), str_of(want.why));
}

/* Every front of the bytes either asks for more or gives the answer of the whole, and
 * once it gave an answer it keeps to it. Covers byte by byte and every split in two. */
static void check_fronts(struct str bytes, struct answer whole)
{
    bool is_decided = false;

    for (size_t len = 0; len < bytes.len; len++) {
        struct answer front = parse_front(bytes, len);

        if (front.err != ERR_AGAIN || is_decided)
            check_same(front, whole);
        is_decided = front.err != ERR_AGAIN;
    }
}

static void check_answer(struct str bytes, enum err err, const char *why)
{
    struct answer whole = parse_front(bytes, bytes.len);

    CHECK_INT(whole.err, err);
    CHECK_STR(str_of(whole.why), str_of(why));
    check_fronts(bytes, whole);
}

struct refusal {
    struct str bytes;
    enum err err;
    const char *why;
};

#define CHECK_REFUSALS(cases) \
    FOR_EACH_CASE(c, cases)   \
    check_answer(c->bytes, c->err, c->why)

#define GET      "GET / HTTP/1.1\r\n"
#define POST     "POST / HTTP/1.1\r\nHost: a\r\n"
#define END      "\r\n\r\n"
#define BAD(why) ERR_BAD_REQUEST, why

/* Parses what must be right; the result borrows from `arena` and `bytes`. */
static struct http_request parse(struct str bytes, struct arena *arena)
{
    struct http_request req = {};
    const char *why = "";
    size_t used = 0;

    CHECK_INT(http_request_parse(bytes, &limits, arena, &req, &used, &why), OK);
    CHECK_STR(str_of(why), S(""));
    CHECK_INT(used, bytes.len);
    check_fronts(bytes, (struct answer){ .err = OK, .used = bytes.len });
    return req;
}

TEST(a_request_is_taken_apart)
{
    struct arena arena;
    struct http_request req;
    size_t count = 0;

    arena_init(&arena, 65536);
    req = parse(S("GET /topics/a%20b/%C3%A9?after=3&wait= HTTP/1.1\r\n"
                  "Host: example.org:8080\r\n"
                  "X-Empty:\r\n"
                  "X-Spaces: \t a b \t\r\n"
                  "Accept: text/html, */*;q=0.1\r\n"
                  "accept: caf\xe9\r\n"
                  "\r\n"),
                &arena);
    CHECK_INT(req.method, HTTP_GET);
    CHECK_STR(req.method_text, S("GET"));
    CHECK_STR(req.target, S("/topics/a%20b/%C3%A9?after=3&wait="));
    CHECK_STR(req.path, S("/topics/a b/\xc3\xa9"));
    CHECK_STR(req.query, S("after=3&wait="));
    CHECK_INT(req.minor_version, 1);
    CHECK_STR(req.host, S("example.org:8080"));
    CHECK_INT(req.header_count, 5);
    CHECK(req.keeps_alive && !req.expects_continue);
    CHECK(!req.is_chunked && !req.has_length);
    CHECK_STR(http_header_find(&req, S("x-empty"), &count), S(""));
    CHECK_INT(count, 1);
    CHECK_STR(http_header_find(&req, S("x-spaces"), NULL), S("a b"));
    CHECK_STR(http_header_find(&req, S("ACCEPT"), &count), S("text/html, */*;q=0.1"));
    CHECK_INT(count, 2);
    CHECK(http_header_find(&req, S("none"), &count).ptr == NULL);
    CHECK_INT(count, 0);
    arena_done(&arena);
}

TEST(what_follows_the_head_is_left_alone)
{
    struct str head = S(GET "Host: a" END);
    struct str more = S(GET "Host: a" END "GET /\0 nonsense\n\n");
    struct answer answer = parse_front(more, more.len);

    CHECK_INT(answer.err, OK);
    CHECK_INT(answer.used, head.len);
    check_fronts(more, answer);
}

TEST(one_empty_line_may_precede_a_request)
{
    struct answer answer = parse_front(S("\r\n" GET "Host: a" END), 29);

    CHECK_INT(answer.err, OK);
    CHECK_INT(answer.used, 29);
    check_answer(S("\r\n\r\n" GET "Host: a" END), BAD("not a request line"));
    check_answer(S("\r\r\n" GET "Host: a" END), BAD("CR without LF"));
    check_answer(S("\n" GET "Host: a" END), BAD("not a request line"));
}

TEST(methods_are_told_apart_by_case)
{
    static const struct {
        struct str bytes;
        enum http_method method;
    } cases[] = {
        { S("GET / HTTP/1.1\r\nHost: a" END), HTTP_GET },
        { S("HEAD / HTTP/1.1\r\nHost: a" END), HTTP_HEAD },
        { S("POST / HTTP/1.1\r\nHost: a" END), HTTP_POST },
        { S("PUT / HTTP/1.1\r\nHost: a" END), HTTP_PUT },
        { S("PATCH / HTTP/1.1\r\nHost: a" END), HTTP_PATCH },
        { S("DELETE / HTTP/1.1\r\nHost: a" END), HTTP_DELETE },
        { S("OPTIONS / HTTP/1.1\r\nHost: a" END), HTTP_OPTIONS },
        { S("get / HTTP/1.1\r\nHost: a" END), HTTP_OTHER },
        { S("GETS / HTTP/1.1\r\nHost: a" END), HTTP_OTHER },
        { S("TRACE / HTTP/1.1\r\nHost: a" END), HTTP_OTHER },
        { S("!#$%&'*+-.^_`|~09azAZ / HTTP/1.1\r\nHost: a" END), HTTP_OTHER },
        { S("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 / HTTP/1.1\r\nHost: a" END), HTTP_OTHER },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;

        arena_init(&arena, 65536);
        CHECK_INT(parse(c->bytes, &arena).method, c->method);
        arena_done(&arena);
    }
}

TEST(targets_are_read_in_the_forms_a_server_gets)
{
    static const struct {
        struct str bytes, target, path, query;
    } cases[] = {
        { S(GET "Host: a" END), S("/"), S("/"), {} },
        { S("GET /? HTTP/1.1\r\nHost: a" END), S("/?"), S("/"), S("") },
        { S("GET /a?b?c=/../%2f HTTP/1.1\r\nHost: a" END), S("/a?b?c=/../%2f"), S("/a"),
          S("b?c=/../%2f") },
        { S("GET //a//b/ HTTP/1.1\r\nHost: a" END), S("//a//b/"), S("//a//b/"), {} },
        { S("GET /.well-known/..x/x../... HTTP/1.1\r\nHost: a" END),
          S("/.well-known/..x/x../..."),
          S("/.well-known/..x/x../..."),
          {} },
        { S("GET /%41%c3%a9+%25 HTTP/1.1\r\nHost: a" END),
          S("/%41%c3%a9+%25"),
          S("/A\xc3\xa9+%"),
          {} },
        { S("GET /a:b@c;d=e,f!$&'()*~_-{}|^` HTTP/1.1\r\nHost: a" END),
          S("/a:b@c;d=e,f!$&'()*~_-{}|^`"),
          S("/a:b@c;d=e,f!$&'()*~_-{}|^`"),
          {} },
        { S("OPTIONS * HTTP/1.1\r\nHost: a" END), S("*"), S("*"), {} },
        { S("GET http://a:1/b?c HTTP/1.1\r\nHost: A:1" END), S("/b?c"), S("/b"), S("c") },
        { S("GET HTTPS://a HTTP/1.1\r\nHost: a" END), S("/"), S("/"), {} },
        { S("GET http://a?b/c HTTP/1.1\r\nHost: a" END), S("/?b/c"), S("/"), S("b/c") },
        { S("GET http://[::1]:80/ HTTP/1.0\r\nHost: [::1]:80" END), S("/"), S("/"), {} },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct http_request req;

        arena_init(&arena, 65536);
        req = parse(c->bytes, &arena);
        CHECK_STR(req.target, c->target);
        CHECK_STR(req.path, c->path);
        CHECK_STR(req.query, c->query);
        CHECK_INT(req.query.ptr != NULL, c->query.ptr != NULL);
        arena_done(&arena);
    }
}

#define TARGET(t) S("GET " t " HTTP/1.1\r\nHost: a" END)
static const struct refusal bad_targets[] = {
    { TARGET("a"), BAD("malformed request target") },
    { TARGET("a/b"), BAD("malformed request target") },
    { TARGET("?a"), BAD("malformed request target") },
    { TARGET("*a"), BAD("malformed request target") },
    { TARGET("*"), BAD("'*' is a target for OPTIONS only") },
    { TARGET("a:443"), BAD("malformed request target") },
    { TARGET("ftp://a/"), BAD("malformed request target") },
    { TARGET("http:/a/"), BAD("malformed request target") },
    { TARGET("http:a"), BAD("malformed request target") },
    { TARGET("http://"), BAD("the request target names another host") },
    { TARGET("http:///"), BAD("the request target names another host") },
    { TARGET("http://b/"), BAD("the request target names another host") },
    { TARGET("http://a:80/"), BAD("the request target names another host") },
    { TARGET("http://u@a/"), BAD("the request target names another host") },
    { TARGET("http://a@b/"), BAD("the request target names another host") },
    { TARGET("http://ab/"), BAD("the request target names another host") },
    { S("GET http://a/ HTTP/1.0" END), BAD("the request target names another host") },
    { S("GET http:/// HTTP/1.0" END), BAD("the request target names another host") },
    { S("CONNECT a:443 HTTP/1.1\r\nHost: a:443" END), BAD("malformed request target") },
    { TARGET("/%2f"), BAD("encoded slash in the path") },
    { TARGET("/a%2Fb"), BAD("encoded slash in the path") },
    { TARGET("/%%2f"), BAD("encoded slash in the path") },
    { TARGET("/%00"), BAD("malformed escape in the path") },
    { TARGET("/%"), BAD("malformed escape in the path") },
    { TARGET("/%4"), BAD("malformed escape in the path") },
    { TARGET("/%4?1"), BAD("malformed escape in the path") },
    { TARGET("/%g1"), BAD("malformed escape in the path") },
    { TARGET("/%1g"), BAD("malformed escape in the path") },
    { TARGET("/%-1"), BAD("malformed escape in the path") },
    { TARGET("/%u0041"), BAD("malformed escape in the path") },
    { TARGET("/%ff"), BAD("malformed escape in the path") },
    { TARGET("/%c0%af"), BAD("malformed escape in the path") },
    { TARGET("/%c3"), BAD("malformed escape in the path") },
    { TARGET("/%ed%a0%80"), BAD("malformed escape in the path") },
    { TARGET("/."), BAD("dot segment in the path") },
    { TARGET("/.."), BAD("dot segment in the path") },
    { TARGET("/a/../b"), BAD("dot segment in the path") },
    { TARGET("/a/./b"), BAD("dot segment in the path") },
    { TARGET("/a/.?b"), BAD("dot segment in the path") },
    { TARGET("/%2e%2E/b"), BAD("dot segment in the path") },
    { TARGET("/.%2e"), BAD("dot segment in the path") },
    { TARGET("http://a/.."), BAD("dot segment in the path") },
    { TARGET("/#a"), BAD("illegal character in the request target") },
    { TARGET("#"), BAD("no request target") },
    { TARGET("/\\a"), BAD("illegal character in the request target") },
    { TARGET("/\"a"), BAD("illegal character in the request target") },
    { TARGET("/<a"), BAD("illegal character in the request target") },
    { TARGET("/>a"), BAD("illegal character in the request target") },
    { TARGET("/\xc3\xa9"), BAD("illegal character in the request target") },
    { TARGET("/\x7f"), BAD("illegal character in the request target") },
    { TARGET("/\x01"), BAD("illegal character in the request target") },
    { TARGET("/\0"), BAD("illegal character in the request target") },
    { TARGET("/\t"), BAD("illegal character in the request target") },
    { TARGET("/\r"), BAD("illegal character in the request target") },
    { TARGET("/\n"), BAD("illegal character in the request target") },
};

TEST(targets_that_readers_understand_differently_are_refused)
{
    CHECK_REFUSALS(bad_targets);
}

TEST(a_request_line_has_three_words_and_two_spaces)
{
    static const struct refusal cases[] = {
        { S(" GET / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("\tGET / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("GET\t/ HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("GET\r\n"), BAD("not a request line") },
        { S("GET: / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("G(T / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("G\0T / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("G\xc9T / HTTP/1.1\r\nHost: a" END), BAD("not a request line") },
        { S("GET  / HTTP/1.1\r\nHost: a" END), BAD("no request target") },
        { S("GET \r\n"), BAD("no request target") },
        { S("GET /  HTTP/1.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / /b HTTP/1.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.1 \r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.1\t\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.1\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.1\rHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.1\r\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / http/1.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1,1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/11.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.10\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/+1.1\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTTP/1.x\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("GET / HTCPCP/1.0\r\nHost: a" END), BAD("malformed HTTP version") },
        { S("\x16\x03\x01\x02\0\x01"), BAD("not a request line") },
        { S("SSH-2.0-OpenSSH_9.2\r\n"), BAD("not a request line") },
        { S("{\"jsonrpc\":\"2.0\"}"), BAD("not a request line") },
    };

    CHECK_REFUSALS(cases);
}

TEST(other_versions_of_http_are_told_which_are_spoken)
{
    static const char spoken[] = "only HTTP/1.0 and HTTP/1.1 are spoken";
    static const struct refusal cases[] = {
        { S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ERR_HTTP_VERSION, spoken },
        { S("GET / HTTP/0.9" END), ERR_HTTP_VERSION, spoken },
        { S("GET / HTTP/1.2" END), ERR_HTTP_VERSION, spoken },
        { S("GET / HTTP/1.9" END), ERR_HTTP_VERSION, spoken },
        { S("GET / HTTP/2" END), ERR_HTTP_VERSION, spoken },
        { S("GET / HTTP/3.1" END), ERR_HTTP_VERSION, spoken },
        { S("GET /\r\n"), ERR_HTTP_VERSION, "request line without a version" },
    };

    CHECK_REFUSALS(cases);
}

TEST(garbage_is_refused_before_the_line_is_complete)
{
    static const struct refusal cases[] = {
        { S("\x16"), BAD("not a request line") },
        { S("\0"), BAD("not a request line") },
        { S("\n"), BAD("not a request line") },
        { S("GET /\x01"), BAD("illegal character in the request target") },
        { S("GET / X"), BAD("malformed HTTP version") },
        { S("GET / HTTP/2"), ERR_HTTP_VERSION, "only HTTP/1.0 and HTTP/1.1 are spoken" },
        { S(GET "\n"), BAD("LF without CR") },
        { S(GET "Host: a\n"), BAD("LF without CR") },
    };

    CHECK_REFUSALS(cases);
}

TEST(header_lines_that_hide_something_are_refused)
{
    static const struct refusal cases[] = {
        { S(GET "Host: a\n\r\n"), BAD("LF without CR") },
        { S(GET "Host: a\r\nX: b\nY: c" END), BAD("LF without CR") },
        { S(GET "Host: a\r\n\n"), BAD("LF without CR") },
        { S(GET "Host: a\rX: b" END), BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: b\r\r\n\r\n"),
          BAD("control character in a header value") },
        { S(GET "Host: a\r\n\rX: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX: \0" END), BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: b\x0b" END), BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: \x0c" END), BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: \x7f" END), BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: \x1b[1m" END),
          BAD("control character in a header value") },
        { S(GET "Host: a\r\nX: b\r\n c" END), BAD("folded header line") },
        { S(GET "Host: a\r\nX: b\r\n\tc" END), BAD("folded header line") },
        { S(GET "Host: a\r\nX: b\r\n " END), BAD("folded header line") },
        { S(GET " Host: a" END), BAD("folded header line") },
        { S(GET "\tX: b\r\nHost: a" END), BAD("folded header line") },
        { S(GET "Host : a" END), BAD("malformed header name") },
        { S(GET "Host\t: a" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX Y: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\n: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nnothing" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX\0: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX\x80: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX(y): b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\n\"X\": b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\nX=1: b" END), BAD("malformed header name") },
        { S(GET "Host: a\r\n\xef\xbb\xbfX: b" END), BAD("malformed header name") },
    };

    CHECK_REFUSALS(cases);
}

TEST(a_length_has_one_spelling)
{
#define LENGTH(v) S(POST "Content-Length: " v END), BAD("malformed Content-Length")
    static const char twice[] = "more than one Content-Length";
    static const struct refusal cases[] = {
        { LENGTH("") },
        { LENGTH("+5") },
        { LENGTH("-5") },
        { LENGTH("-0") },
        { LENGTH("0x5") },
        { LENGTH("5 5") },
        { LENGTH("5,5") },
        { LENGTH("5, 5") },
        { LENGTH("5;") },
        { LENGTH("5.0") },
        { LENGTH("5e1") },
        { LENGTH("five") },
        { LENGTH("\"5\"") },
        { LENGTH("05") },
        { LENGTH("00") },
        { LENGTH("1_000") },
        { LENGTH("\xd9\xa5") },
        { LENGTH("\xa0"
                 "5") },
        { LENGTH("9223372036854775808") },
        { LENGTH("18446744073709551616") },
        { LENGTH("18446744073709551621") },
        { LENGTH("99999999999999999999999999999999") },
        { S(POST "Content-Length: 5\r\nContent-Length: 5" END), BAD(twice) },
        { S(POST "Content-Length: 5\r\nContent-Length: 6" END), BAD(twice) },
        { S(POST "Content-Length: 0\r\ncontent-length: 6" END), BAD(twice) },
        { S(POST "Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH:" END), BAD(twice) },
        { S(POST "Content-Length : 5" END), BAD("malformed header name") },
        { S(POST "Content-Length: 5\r\n 0" END), BAD("folded header line") },
        { S(POST "Content-Length: \x0b"
                 "5" END),
          BAD("control character in a header value") },
        { S(POST "Content-Length: 5\0" END), BAD("control character in a header value") },
        { S(POST "Content Length: 5" END), BAD("malformed header name") },
    };

    CHECK_REFUSALS(cases);
}

#define CODING(v)        S(POST "Transfer-Encoding: " v END)
#define CODING_MALFORMED "malformed Transfer-Encoding"
#define CODING_TWICE     "more than one Transfer-Encoding"
#define CODING_BOTH      "Content-Length with Transfer-Encoding"
#define CODING_UNKNOWN   "only the chunked transfer coding is known"

static const struct refusal bad_codings[] = {
    { CODING("gzip, chunked"), ERR_NOT_IMPLEMENTED, CODING_UNKNOWN },
    { CODING("identity,chunked"), ERR_NOT_IMPLEMENTED, CODING_UNKNOWN },
    { CODING("gzip ,\tdeflate , Chunked"), ERR_NOT_IMPLEMENTED, CODING_UNKNOWN },
    { CODING(""), BAD(CODING_MALFORMED) },
    { CODING("gzip"), BAD(CODING_MALFORMED) },
    { CODING("identity"), BAD(CODING_MALFORMED) },
    { CODING("xchunked"), BAD(CODING_MALFORMED) },
    { CODING("chunkedx"), BAD(CODING_MALFORMED) },
    { CODING("chunked, gzip"), BAD(CODING_MALFORMED) },
    { CODING("chunked, identity"), BAD(CODING_MALFORMED) },
    { CODING("chunked, chunked"), BAD(CODING_MALFORMED) },
    { CODING("chunked,"), BAD(CODING_MALFORMED) },
    { CODING(",chunked"), BAD(CODING_MALFORMED) },
    { CODING("chunked;"), BAD(CODING_MALFORMED) },
    { CODING("chunked;q=1"), BAD(CODING_MALFORMED) },
    { CODING("chunked foo"), BAD(CODING_MALFORMED) },
    { CODING("'chunked'"), BAD(CODING_MALFORMED) },
    { CODING("\"chunked\""), BAD(CODING_MALFORMED) },
    { CODING("chunk"), BAD(CODING_MALFORMED) },
    { CODING("c hunked"), BAD(CODING_MALFORMED) },
    { CODING("chunked\xa0"), BAD(CODING_MALFORMED) },
    { CODING("\xff"
             "chunked"),
      BAD(CODING_MALFORMED) },
    { CODING("chun\xc5\xbf"
             "ed"),
      BAD(CODING_MALFORMED) },
    { CODING("\x0b"
             "chunked"),
      BAD("control character in a header value") },
    { CODING("chunked\x0c"), BAD("control character in a header value") },
    { CODING("chunked\0"), BAD("control character in a header value") },
    { CODING("chunked\r\n , identity"), BAD("folded header line") },
    { CODING("\r\n chunked"), BAD("folded header line") },
    { CODING("chunked\r\nTransfer-Encoding: chunked"), BAD(CODING_TWICE) },
    { CODING("chunked\r\nTransfer-Encoding: identity"), BAD(CODING_TWICE) },
    { CODING("identity\r\ntransfer-encoding: chunked"), BAD(CODING_TWICE) },
    { CODING("chunked\r\nTransfer-Encoding:"), BAD(CODING_TWICE) },
    { CODING("chunked\nTransfer-Encoding: x"), BAD("LF without CR") },
    { CODING("chunked\r\nContent-Length: 5"), BAD(CODING_BOTH) },
    { CODING("x\r\nContent-Length: 5"), BAD(CODING_BOTH) },
    { S(POST "Content-Length: 5\r\nTransfer-Encoding: chunked" END), BAD(CODING_BOTH) },
    { S(POST "Content-Length: 0\r\ntransfer-encoding: CHUNKED" END), BAD(CODING_BOTH) },
    { S(POST "Content-Length: 5\r\nTransfer-Encoding:" END), BAD(CODING_BOTH) },
    { S(POST "Transfer-Encoding : chunked" END), BAD("malformed header name") },
    { S(POST "Transfer-Encoding\x0b: chunked" END), BAD("malformed header name") },
    { S(POST " Transfer-Encoding: chunked" END), BAD("folded header line") },
    { S(POST "X: y\rTransfer-Encoding: chunked" END),
      BAD("control character in a header value") },
    { S("POST / HTTP/1.0\r\nTransfer-Encoding: chunked" END),
      BAD("Transfer-Encoding in HTTP/1.0") },
    { S("POST / HTTP/1.0\r\nTransfer-Encoding: x\r\nContent-Length: 5" END),
      BAD("Transfer-Encoding in HTTP/1.0") },
};

TEST(a_transfer_coding_is_chunked_or_nothing)
{
    CHECK_REFUSALS(bad_codings);
}

TEST(the_framing_of_a_body_is_told)
{
    static const struct {
        struct str bytes;
        bool is_chunked, has_length, expects_continue;
        uint64_t length;
    } cases[] = {
        { .bytes = S(POST "\r\n") },
        { .bytes = S(POST "Content-Length: 0" END), .has_length = true },
        { .bytes = S(POST "Content-Length:\t17 " END), .has_length = true, .length = 17 },
        { .bytes = S(POST "content-length:9223372036854775807" END),
          .has_length = true,
          .length = INT64_MAX },
        { .bytes = S("POST / HTTP/1.0\r\nContent-Length: 3" END),
          .has_length = true,
          .length = 3 },
        { .bytes = S(POST "Transfer-Encoding: chunked" END), .is_chunked = true },
        { .bytes = S(POST "TRANSFER-ENCODING:CHUNKED\t" END), .is_chunked = true },
        { .bytes = S(POST "TE: trailers, gzip\r\nX-Content-Length: x" END) },
        { .bytes = S(POST "Expect: 100-Continue\r\nTransfer-Encoding: chunked" END),
          .is_chunked = true,
          .expects_continue = true },
        { .bytes = S(POST "Expect: 100-continue\r\nContent-Length: 1" END),
          .has_length = true,
          .length = 1,
          .expects_continue = true },
        { .bytes = S(POST "Expect: 100-continue" END) },
        { .bytes = S(POST "Expect: 100-continue\r\nContent-Length: 0" END),
          .has_length = true },
        { .bytes = S("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1" END),
          .has_length = true,
          .length = 1 },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct http_request req;

        arena_init(&arena, 65536);
        req = parse(c->bytes, &arena);
        CHECK_INT(req.is_chunked, c->is_chunked);
        CHECK_INT(req.has_length, c->has_length);
        CHECK_INT(req.length, c->length);
        CHECK_INT(req.expects_continue, c->expects_continue);
        arena_done(&arena);
    }
}

TEST(only_the_continue_expectation_is_met)
{
    static const char only[] = "only 100-continue may be expected";
    static const struct refusal cases[] = {
        { S(POST "Expect: 200-ok" END), ERR_EXPECTATION, only },
        { S(POST "Expect:" END), ERR_EXPECTATION, only },
        { S(POST "Expect: 100-continue, x" END), ERR_EXPECTATION, only },
        { S(POST "Expect: 100-continue\r\nExpect: x" END), ERR_EXPECTATION, only },
    };

    CHECK_REFUSALS(cases);
}

TEST(a_host_is_a_name_or_an_address_with_or_without_a_port)
{
    static const struct str cases[] = {
        S(GET "Host: a" END),           S(GET "Host: A-b_c.example." END),
        S(GET "Host: localhost:0" END), S(GET "Host: 127.0.0.1:65535" END),
        S(GET "Host: [::1]" END),       S(GET "Host: [2001:DB8::ffff:1.2.3.4]:443" END),
        S("GET / HTTP/1.0" END),        S("GET / HTTP/1.0\r\nHost: a" END),
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct http_request req;

        arena_init(&arena, 65536);
        req = parse(*c, &arena);
        CHECK(req.host.ptr != NULL);
        CHECK_INT(req.host.len > 0, req.header_count > 0);
        arena_done(&arena);
    }
}

TEST(a_host_that_is_doubtful_is_refused)
{
#define HOST(v) S(GET "Host: " v END), BAD("malformed Host")
    static const char twice[] = "more than one Host";
    static const struct refusal cases[] = {
        { S(GET "\r\n"), BAD("no Host") },
        { S(GET "X-Host: a" END), BAD("no Host") },
        { S(GET "Host: a\r\nHost: a" END), BAD(twice) },
        { S(GET "Host: a\r\nhost: b" END), BAD(twice) },
        { S(GET "Host:\r\nHOST: b" END), BAD(twice) },
        { S("GET / HTTP/1.0\r\nHost: a\r\nHost: a" END), BAD(twice) },
        { HOST("") },
        { HOST("a b") },
        { HOST("a,b") },
        { HOST("a/b") },
        { HOST("a@b") },
        { HOST("a%41") },
        { HOST("a?") },
        { HOST("a#") },
        { HOST("a\\b") },
        { HOST("http://a") },
        { HOST("caf\xc3\xa9") },
        { HOST(":80") },
        { HOST("a:") },
        { HOST("a:b") },
        { HOST("a:-1") },
        { HOST("a:65536") },
        { HOST("a:000080") },
        { HOST("a:80:80") },
        { HOST("::1") },
        { HOST("[]") },
        { HOST("[::1") },
        { HOST("::1]") },
        { HOST("[a]") },
        { HOST("[1:2]") },
        { HOST("[::1]x") },
        { HOST("[::1]:") },
        { HOST("[::1]80") },
        { HOST("[::g]") },
        { HOST("[fe80::1%25eth0]") },
        { HOST("[[::1]]") },
        { HOST("a[::1]") },
    };

    CHECK_REFUSALS(cases);
}

TEST(a_connection_is_kept_as_its_version_and_header_say)
{
    static const struct {
        struct str bytes;
        bool keeps_alive;
    } cases[] = {
        { S(GET "Host: a" END), true },
        { S(GET "Host: a\r\nConnection: keep-alive" END), true },
        { S(GET "Host: a\r\nConnection: Upgrade" END), true },
        { S(GET "Host: a\r\nConnection: close" END), false },
        { S(GET "Host: a\r\nConnection: keep-alive, CLOSE" END), false },
        { S(GET "Host: a\r\nConnection: x\r\nconnection: y ,close" END), false },
        { S(GET "Host: a\r\nConnection: closed" END), true },
        { S("GET / HTTP/1.0" END), false },
        { S("GET / HTTP/1.0\r\nConnection: Keep-Alive" END), true },
        { S("GET / HTTP/1.0\r\nConnection: close, keep-alive" END), false },
        { S("GET / HTTP/1.0\r\nConnection: x" END), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;

        arena_init(&arena, 65536);
        CHECK_INT(parse(c->bytes, &arena).keeps_alive, c->keeps_alive);
        arena_done(&arena);
    }
}

TEST(a_token_is_found_in_lists_and_repeated_headers)
{
    struct arena arena;
    struct http_request req;

    arena_init(&arena, 65536);
    req =
        parse(S(GET "Host: a\r\nConnection: a, ,Upgrade\t\r\nconnection: b" END), &arena);
    CHECK(http_header_has_token(&req, S("Connection"), S("upgrade")));
    CHECK(http_header_has_token(&req, S("Connection"), S("b")));
    CHECK(!http_header_has_token(&req, S("Connection"), S("up")));
    CHECK(!http_header_has_token(&req, S("Connection"), S("upgrades")));
    CHECK(!http_header_has_token(&req, S("Upgrade"), S("b")));
    arena_done(&arena);
}

/* `count` times `unit` between `front` and `back`. */
static struct str repeat(struct str front, struct str unit, size_t count, struct str back)
{
    static char text[65536];
    char *at = text;

    at = mempcpy(at, front.ptr, front.len);
    for (size_t i = 0; i < count; i++)
        at = mempcpy(at, unit.ptr, unit.len);
    at = mempcpy(at, back.ptr, back.len);
    return (struct str){ text, (size_t)(at - text) };
}

TEST(limits_hold_to_the_byte_and_without_waiting_for_the_end)
{
    static const char too_large[] = "request head too large";
    static const char too_long[] = "request target too long";
    static const char too_many[] = "too many header lines";
    static const struct {
        struct str front, unit;
        size_t count;
        struct str back;
        enum err err;
        const char *why;
    } cases[] = {
        { S("GET /"), S("a"), 1999, S(" HTTP/1.1\r\nHost: a" END), OK, NULL },
        { S("GET /"), S("a"), 2000, S(" HTTP/1.1\r\n"), ERR_URI_TOO_LONG, too_long },
        { S("GET /"), S("a"), 2000, S(""), ERR_URI_TOO_LONG, too_long },
        { S("GET /"), S("a"), 1999, S(""), ERR_AGAIN, NULL },
        { S("GET /"), S("a"), 9000, S(""), ERR_URI_TOO_LONG, too_long },
        { S(""), S("A"), 32, S(""), ERR_AGAIN, NULL },
        { S(""), S("A"), 33, S(""), ERR_NOT_IMPLEMENTED, "method too long" },
        { S(""), S("A"), 9000, S("\0"), ERR_NOT_IMPLEMENTED, "method too long" },
        { S(GET "Host: a\r\n"), S("A: b\r\n"), 63, S("\r\n"), OK, NULL },
        { S(GET "Host: a\r\n"), S("A: b\r\n"), 64, S("\r\n"), ERR_HEAD_TOO_LARGE,
          too_many },
        { S(GET "Host: a\r\n"), S("A: b\r\n"), 64, S(""), ERR_HEAD_TOO_LARGE, too_many },
        { S(GET "Host: a\r\n"), S("A: b\r\n"), 63, S("A"), ERR_AGAIN, NULL },
        { S(GET "Host: a\r\nX: "), S("a"), 8192 - 32, S(END), OK, NULL },
        { S(GET "Host: a\r\nX: "), S("a"), 8192 - 31, S(END), ERR_HEAD_TOO_LARGE,
          too_large },
        { S(GET "Host: a\r\nX: "), S("a"), 8192 - 28, S(""), ERR_HEAD_TOO_LARGE,
          too_large },
        { S(GET "Host: a\r\nX: "), S("a"), 8192 - 29, S(""), ERR_AGAIN, NULL },
        { S(GET "Host: a\r\nX: "), S("a"), 9000, S("\n"), ERR_HEAD_TOO_LARGE, too_large },
        { S(GET "Host: a\r\n"), S("A"), 9000, S(""), ERR_HEAD_TOO_LARGE, too_large },
        { S(GET "Host: "), S("a"), 261, S(END), OK, NULL },
        { S(GET "Host: "), S("a"), 262, S(END), BAD("malformed Host") },
    };

    FOR_EACH_CASE(c, cases)
        check_answer(repeat(c->front, c->unit, c->count, c->back), c->err, c->why);
}

TEST(a_full_arena_is_an_error_and_leaves_the_result_alone)
{
    static const struct str cases[] = {
        S("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a" END),
        S("GET http://a?aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a" END),
    };

    FOR_EACH_CASE(c, cases) {
        struct http_request req = { .header_count = 77 };
        size_t used = 88;
        const char *why = NULL;
        struct arena arena;

        arena_init(&arena, 16);
        CHECK_INT(http_request_parse(*c, &limits, &arena, &req, &used, &why),
                  ERR_TOO_BIG);
        CHECK_INT(req.header_count, 77);
        CHECK_INT(used, 88);
        CHECK(why != NULL);
        arena_done(&arena);
    }
}
