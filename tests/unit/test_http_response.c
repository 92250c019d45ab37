/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "http/response.h"

#define COMMON "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"

TEST(an_answer_has_its_status_headers_and_body)
{
    static const struct {
        struct http_response res;
        struct str text;
    } cases[] = {
        { { .status = 200,
            .type = S("text/plain"),
            .body = S("hi\n"),
            .keeps_alive = true },
          S("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            "Connection: keep-alive\r\n" COMMON "\r\nhi\n") },
        { { .status = 404 },
          S("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n" COMMON
            "\r\n") },
        { { .status = 200, .type = S("a/b"), .body = S("hello"), .is_head = true },
          S("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n"
            "Connection: close\r\n" COMMON "\r\n") },
        { { .status = 204, .type = S("a/b"), .body = S("x"), .keeps_alive = true },
          S("HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n" COMMON "\r\n") },
        { { .status = 304,
            .body = S("x"),
            .keeps_alive = true,
            .extra = S("ETag: \"1\"\r\n") },
          S("HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n" COMMON
            "ETag: \"1\"\r\n\r\n") },
        { { .status = 101, .extra = S("Upgrade: websocket\r\nConnection: Upgrade\r\n") },
          S("HTTP/1.1 101 Switching Protocols\r\n" COMMON
            "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n") },
        { { .status = 299, .body = S("x") },
          S("HTTP/1.1 299 Unknown\r\nContent-Length: 1\r\nConnection: close\r\n" COMMON
            "\r\nx") },
        { { .status = 200, .extra = S("X: Cache-Control: y\r\nX-Cache-Control: z\r\n") },
          S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n" COMMON
            "X: Cache-Control: y\r\nX-Cache-Control: z\r\n\r\n") },
        { { .status = 200, .extra = S("X: y\r\ncache-control: max-age=9\r\n") },
          S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n"
            "X-Content-Type-Options: nosniff\r\nX: y\r\ncache-control: max-age=9\r\n\r\n") },
        { { .status = 200, .type = S("a/b"), .framing = HTTP_CHUNKED },
          S("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n" COMMON "\r\n") },
        { { .status = 200, .framing = HTTP_UNTIL_CLOSE },
          S("HTTP/1.1 200 OK\r\nConnection: close\r\n" COMMON "\r\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1000);
        http_write(&out, &c->res);
        CHECK_STR(buf_str(&out), c->text);
        CHECK(!out.is_full);
        buf_done(&out);
    }
}

TEST(a_body_can_be_written_in_chunks)
{
    struct buf out;

    buf_init(&out, 1000);
    http_write_chunk(&out, S("seventeen letters"));
    http_write_chunk(&out, S("\r\n"));
    http_write_chunk(&out, S(""));
    CHECK_STR(buf_str(&out), S("11\r\nseventeen letters\r\n2\r\n\r\n\r\n0\r\n\r\n"));
    buf_done(&out);
}

TEST(an_answer_that_does_not_fit_says_so)
{
    struct buf out;

    buf_init(&out, 20);
    http_write(&out, &(struct http_response){ .status = 200 });
    CHECK(out.is_full);
    buf_done(&out);
}

TEST(an_interim_answer_is_one_line)
{
    struct buf out;

    buf_init(&out, 100);
    http_write_continue(&out);
    CHECK_STR(buf_str(&out), S("HTTP/1.1 100 Continue\r\n\r\n"));
    buf_done(&out);
}

TEST(every_error_has_a_phrase)
{
#define STATUS(code, name, status) status,
    static const int cases[] = { ERR_LIST(STATUS) };
#undef STATUS

    FOR_EACH_CASE(c, cases)
        CHECK(!str_eq(http_phrase(*c), S("Unknown")));
    CHECK_STR(http_phrase(431), S("Request Header Fields Too Large"));
    CHECK_STR(http_phrase(0), S("Unknown"));
}

TEST(a_problem_is_json_whatever_the_detail_holds)
{
#define NOT_FOUND                                                       \
    "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404," \
    "\"error\":\"not_found\",\"detail\":"
    static const struct {
        struct str detail, members, text;
    } cases[] = {
        { S(""), S(""), S(NOT_FOUND "\"\"}") },
        { S("no such topic"), S(""), S(NOT_FOUND "\"no such topic\"}") },
        { S("x"), S(",\"topic\":1"), S(NOT_FOUND "\"x\",\"topic\":1}") },
        { S("\"\\/\n\r\t\0\x1f\x7f"), S(""),
          S(NOT_FOUND "\"\\\"\\\\/\\u000a\\u000d\\u0009\\u0000\\u001f\x7f\"}") },
        { S("caf\xc3\xa9"), S(""), S(NOT_FOUND "\"caf\xc3\xa9\"}") },
        { S("caf\xe9 \xff"), S(""), S(NOT_FOUND "\"caf\\ufffd \\ufffd\"}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1000);
        http_problem_body(&out, ERR_NOT_FOUND, c->detail, c->members);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}
