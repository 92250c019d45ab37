/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"
#include "http/answer.h"

enum { MAX = 120 };

#define LINE "HTTP/1.1 101 Switching Protocols\r\n"

TEST(an_answer_is_read_up_to_its_empty_line)
{
    struct str text =
        S(LINE "A: 1\r\na:2 \r\nConnection: keep-alive, Upgrade\r\n\r\nrest");
    struct http_answer answer;
    const char *why;
    size_t used = 0, count = 0;

    CHECK_INT(http_answer_parse(text, 1000, &answer, &used, &why), OK);
    CHECK_INT(answer.status, 101);
    CHECK_INT(answer.header_count, 3);
    CHECK_STR(str_slice(text, used, text.len), S("rest"));
    CHECK_STR(http_answer_find(&answer, S("a"), &count), S("1"));
    CHECK_INT(count, 2);
    CHECK(http_answer_find(&answer, S("b"), NULL).ptr == NULL);
    CHECK(http_answer_has_token(&answer, S("connection"), S("upgrade")));
    CHECK(!http_answer_has_token(&answer, S("connection"), S("keep")));
}

TEST(status_lines_are_read_strictly)
{
    static const struct {
        struct str text;
        enum err err;
        int status;
    } cases[] = {
        { S("HTTP/1.1 200 OK\r\n\r\n"), OK, 200 },
        { S("HTTP/1.0 404 \r\n\r\n"), OK, 404 },
        { S("HTTP/1.1 599 Not \xc3\xa9 here\r\n\r\n"), OK, 599 },
        { S("HTTP/1.1 100 x\r\n\r\n"), OK, 100 },
        { S("HTTP/1.1 600 x\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 099 x\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 200\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/2.0 200 OK\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("http/1.1 200 OK\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1  200 OK\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 2x0 OK\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 200 O\0K\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 200 O\rK\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 200 OK\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S("HTTP/1.1 200 OK\r\n\n"), ERR_BAD_REQUEST, 0 },
        { S("SSH-2.0-x\r\n"), ERR_BAD_REQUEST, 0 },
        { S("\n"), ERR_BAD_REQUEST, 0 },
        { S(LINE "no colon\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S(LINE " folded: 1\r\n\r\n"), ERR_BAD_REQUEST, 0 },
        { S(LINE "a: \x01\r\n\r\n"), ERR_BAD_REQUEST, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct http_answer answer = { .status = -1 };
        const char *why = NULL;
        size_t used = 77;

        CHECK_INT(http_answer_parse(c->text, MAX, &answer, &used, &why), c->err);
        CHECK_INT(answer.status, c->err ? -1 : c->status);
        CHECK_INT(used, c->err ? 77 : c->text.len);
        CHECK(!c->err || (why && *why));
    }
}

TEST(a_part_of_an_answer_wants_more)
{
    struct str text = S(LINE "A: 1\r\nConnection: Upgrade\r\n\r\n");

    for (size_t len = 0; len < text.len; len++) {
        struct http_answer answer;
        const char *why;
        size_t used;

        CHECK_INT(http_answer_parse(str_slice(text, 0, len), MAX, &answer, &used, &why),
                  ERR_AGAIN);
    }
}

TEST(a_head_without_an_end_is_refused)
{
    static const char header[] = "a: 1\r\n";
    struct http_answer answer;
    const char *why = "";
    struct buf text;
    size_t used;

    buf_init(&text, 100'000);
    buf_put(&text, S(LINE));
    while (text.len < MAX)
        buf_putc(&text, 'a');
    CHECK_INT(http_answer_parse(buf_str(&text), MAX, &answer, &used, &why),
              ERR_HEAD_TOO_LARGE);
    CHECK_STR(str_of(why), S("the head of the answer is too large"));
    text.len = sizeof(LINE) - 1;
    for (int i = 0; i <= HTTP_MAX_HEADERS; i++)
        buf_put(&text, str_of(header));
    CHECK_INT(http_answer_parse(buf_str(&text), 100'000, &answer, &used, &why),
              ERR_HEAD_TOO_LARGE);
    CHECK_STR(str_of(why), S("too many header lines"));
    buf_done(&text);
}
