/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "client/opening.h"
#include "harness.h"

/* The example of RFC 6455 1.3. */
#define KEY      S("dGhlIHNhbXBsZSBub25jZQ==")
#define ACCEPT   "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define SWITCH   "HTTP/1.1 101 Switching Protocols\r\n"
#define UPGRADE  "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define ACCEPTED SWITCH UPGRADE ACCEPT "\r\n"

static struct url url_of(struct str text)
{
    struct url url = {};
    struct buf why;

    buf_init(&why, 1000);
    CHECK_INT(url_parse(text, &url, &why), OK);
    buf_done(&why);
    return url;
}

TEST(a_request_asks_for_the_topic_with_the_options_of_a_participant)
{
    static const struct {
        struct str url, topic, token, after;
        bool is_directed, echoes;
        struct str target, host, authorization;
    } cases[] = {
        /* clang-format off */
        { S("ws://h:8420"), S("lobby"), S("t0k"), S(""), false, false,
          S("/ws?topic=lobby&presence=batch&echo=off"), S("h:8420"), S("\r\nAuthorization: Bearer t0k") },
        { S("wss://h/base/"), S("a-b.c_d~"), S(""), S("x-1"), true, true,
          S("/base/ws?topic=a-b.c_d~&presence=batch&routing=directed&after=x-1"), S("h"), S("") },
        { S("unix:/run/s"), S("a b&c=d#%?/+é\r\n"), S("t"), S("\0\"<ä>"), false, true,
          S("/ws?topic=a%20b%26c%3Dd%23%25%3F%2F%2B%C3%A9%0D%0A&presence=batch&after=%00%22%3C%C3%A4%3E"), S("localhost"), S("\r\nAuthorization: Bearer t") },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct url url = url_of(c->url);
        struct opening opening = { &url, c->topic,       c->token, c->after,
                                   KEY,  c->is_directed, c->echoes };
        struct buf out, expected;

        buf_init(&out, OPENING_REQUEST);
        buf_init(&expected, OPENING_REQUEST);
        buf_putf(&expected,
                 "GET " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT
                 "\r\nUser-Agent: libmoot/" MOOT_VERSION
                 "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " STR_FMT STR_FMT
                 "\r\n\r\n",
                 STR_ARG(c->target), STR_ARG(c->host), STR_ARG(KEY),
                 STR_ARG(c->authorization));
        opening_write(&out, &opening);
        CHECK(!out.is_full);
        CHECK_STR(buf_str(&out), buf_str(&expected));
        buf_done(&out);
        buf_done(&expected);
    }
}

TEST(a_key_is_made_of_sixteen_bytes)
{
    struct buf out;

    buf_init(&out, 100);
    opening_key_write(&out, (const uint8_t *)"the sample nonce");
    CHECK_STR(buf_str(&out), KEY);
    CHECK_INT(out.len, OPENING_KEY);
    buf_done(&out);
}

TEST(topics_and_tokens_that_cannot_be_right_are_refused)
{
    static char many[OPENING_TOKEN + 1];
    const struct {
        struct str topic, token, why;
    } cases[] = {
        { S("a"), S("moot_x-Y.~+/="), S("") },
        { S("a"), S(""), S("") },
        { { many, OPENING_TOPIC }, { many, OPENING_TOKEN }, S("") },
        { S(""), S("t"), S("no topic is given") },
        { { many, OPENING_TOPIC + 1 }, S("t"), S("the name of the topic is too long") },
        { S("a"), { many, OPENING_TOKEN + 1 }, S("the token is too long") },
        { S("a"), S("a b"), S("the token holds a character that no token has") },
        { S("a"), S("a\r\nHost: b"), S("the token holds a character that no token has") },
        { S("a"), S("a\n"), S("the token holds a character that no token has") },
        { S("a"), S("é"), S("the token holds a character that no token has") },
        { S("a"), S("a\x7f"), S("the token holds a character that no token has") },
        { S("a"), S("\0"), S("the token holds a character that no token has") },
    };

    memset(many, 'x', sizeof(many));
    FOR_EACH_CASE(c, cases) {
        struct buf why;

        buf_init(&why, 1000);
        CHECK_INT(opening_check(&(struct opening){ .topic = c->topic, .token = c->token },
                                &why),
                  c->why.len ? ERR_INVALID : OK);
        CHECK_STR(buf_str(&why), c->why);
        buf_done(&why);
    }
}

TEST(the_longest_request_fits)
{
    static char many[OPENING_TOKEN];
    struct url url = url_of(S("ws://h"));
    struct opening opening = { &url,
                               { many, OPENING_TOPIC },
                               { many, OPENING_TOKEN },
                               { many, OPENING_AFTER },
                               KEY,
                               true,
                               false };
    struct buf out;

    memset(url.host, 'h', URL_HOST - 1);
    memset(url.path, '/', URL_PATH - 1);
    memset(many, '\x80', sizeof(many));
    buf_init(&out, OPENING_REQUEST);
    opening_write(&out, &opening);
    CHECK(!out.is_full);
    CHECK_INT(out.size, OPENING_REQUEST);
    buf_done(&out);
}

struct reading {
    enum err err;
    struct opening_answer answer;
    char why[600];
};

static struct reading read_answer(struct str text, enum opening_more more)
{
    struct reading reading = {};
    struct buf why;

    buf_init(&why, 1000);
    reading.err = opening_read(text, more, KEY, &reading.answer, &why);
    (void)snprintf(reading.why, sizeof(reading.why), STR_FMT, STR_ARG(buf_str(&why)));
    buf_done(&why);
    return reading;
}

TEST(an_upgrade_is_accepted_when_everything_is_right)
{
    static const struct str cases[] = {
        S(ACCEPTED),
        S(SWITCH "UPGRADE:WebSocket\r\nConnection: keep-alive, upgrade\r\n" ACCEPT
                 "X: y\r\n\r\n"),
        S("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 \r\n\r\n" ACCEPTED),
    };

    FOR_EACH_CASE(c, cases) {
        struct reading got = read_answer(*c, OPENING_GOES_ON);

        CHECK_INT(got.err, OK);
        CHECK_STR(str_of(got.why), S(""));
        CHECK_INT(got.answer.status, 101);
        CHECK_INT(got.answer.used, c->len);
        for (size_t len = 0; len < c->len; len++)
            CHECK_INT(read_answer(str_slice(*c, 0, len), OPENING_GOES_ON).err, ERR_AGAIN);
    }
}

TEST(frames_may_follow_an_upgrade_at_once)
{
    struct reading got = read_answer(S(ACCEPTED "\x81\x02hi"), OPENING_GOES_ON);

    CHECK_INT(got.err, OK);
    CHECK_INT(got.answer.used, sizeof(ACCEPTED) - 1);
}

TEST(an_upgrade_that_is_not_ours_is_refused)
{
    static const struct {
        struct str text, why;
    } cases[] = {
        /* clang-format off */
        { S(SWITCH "Connection: Upgrade\r\n" ACCEPT "\r\n"), S("the server changed to something that is not WebSocket") },
        { S(SWITCH "Upgrade: h2c\r\nConnection: Upgrade\r\n" ACCEPT "\r\n"), S("the server changed to something that is not WebSocket") },
        { S(SWITCH "Upgrade: websocket\r\n" ACCEPT "\r\n"), S("the server changed to something that is not WebSocket") },
        { S(SWITCH UPGRADE "\r\n"), S("the server's Sec-WebSocket-Accept is wrong") },
        { S(SWITCH UPGRADE ACCEPT ACCEPT "\r\n"), S("the server's Sec-WebSocket-Accept is wrong") },
        { S(SWITCH UPGRADE "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"), S("the server's Sec-WebSocket-Accept is wrong") },
        { S(SWITCH UPGRADE ACCEPT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"), S("the server chose an extension that was not offered") },
        { S(SWITCH UPGRADE ACCEPT "Sec-WebSocket-Extensions:\r\n\r\n"), S("the server chose an extension that was not offered") },
        { S(SWITCH UPGRADE ACCEPT "Sec-WebSocket-Protocol: mcpx.v0.1\r\n\r\n"), S("the server chose a subprotocol that was not offered") },
        { S("SSH-2.0-OpenSSH_9.2\r\n"), S("this is no gateway: not an HTTP status line") },
        { S(SWITCH "a b\r\n\r\n"), S("this is no gateway: malformed header name") },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct reading got = read_answer(c->text, OPENING_GOES_ON);

        CHECK_INT(got.err, ERR_INVALID);
        CHECK_STR(str_of(got.why), c->why);
        CHECK_INT(got.answer.status, 0);
    }
}

#define PROBLEM "{\"type\":\"about:blank\",\"detail\":\"You may not enter this topic.\"}"

TEST(a_refusal_is_told_with_its_detail)
{
    static const struct {
        struct str text;
        int status;
        uint64_t wait_ms;
        struct str why;
    } cases[] = {
        /* clang-format off */
        { S("HTTP/1.1 403 Whatever\r\nContent-Length: 63\r\n\r\n" PROBLEM), 403, 0,
          S("the server answered 403 Forbidden: You may not enter this topic.") },
        { S("HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n"), 401, 0, S("the server answered 401 Unauthorized") },
        { S("HTTP/1.1 503 x\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno"), 503, 7000, S("the server answered 503 Service Unavailable") },
        { S("HTTP/1.1 429 x\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n"), 429, 0, S("the server answered 429 Too Many Requests") },
        { S("HTTP/1.1 429 x\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"), 429, 0, S("the server answered 429 Too Many Requests") },
        { S("HTTP/1.1 404 x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"det\r\nc;x=y\r\nail\":\"no\xc3\xa9\"}\r\n0\r\n\r\n"), 404, 0,
          S("the server answered 404 Not Found: no\xc3\xa9") },
        { S("HTTP/1.1 400 x\r\nContent-Length: 17\r\n\r\n{\"detail\":\"a\\n\\u001b[2Jb\\u202e\"}"), 400, 0, S("the server answered 400 Bad Request") },
        { S("HTTP/1.1 400 x\r\nContent-Length: 33\r\n\r\n{\"detail\":\"a\\n\\u001b[2Jb\\u202ec\"} "), 400, 0, S("the server answered 400 Bad Request: a\\n\\u001b[2Jb\\u202ec") },
        { S("HTTP/1.1 400 x\r\nContent-Length: 12\r\n\r\n{\"detail\":1}"), 400, 0, S("the server answered 400 Bad Request") },
        { S("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), 200, 0, S("this is no gateway, or not its address: the server answered 200 OK") },
        { S("HTTP/1.1 301 x\r\nContent-Length: 0\r\n\r\n"), 301, 0, S("this is no gateway, or not its address: the server answered 301 Moved Permanently") },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct reading got = read_answer(c->text, OPENING_GOES_ON);

        CHECK_INT(got.err, OK);
        CHECK_INT(got.answer.status, c->status);
        CHECK_INT(got.answer.wait_ms, c->wait_ms);
        CHECK_STR(str_of(got.why), c->why);
    }
}

TEST(a_refusal_is_awaited_as_a_whole_but_not_for_ever)
{
    static const struct {
        struct str text;
        struct str why;
    } cases[] = {
        { S("HTTP/1.1 403 x\r\nContent-Length: 64\r\n\r\n" PROBLEM),
          S("the server answered 403 Forbidden: You may not enter this topic.") },
        { S("HTTP/1.1 403 x\r\n\r\n" PROBLEM),
          S("the server answered 403 Forbidden: You may not enter this topic.") },
        { S("HTTP/1.1 403 x\r\nTransfer-Encoding: chunked\r\n\r\n3f\r\n" PROBLEM),
          S("the server answered 403 Forbidden: You may not enter this topic.") },
        { S("HTTP/1.1 403 x\r\nContent-Length: 9\r\n\r\n{\"deta"),
          S("the server answered 403 Forbidden") },
    };

    FOR_EACH_CASE(c, cases) {
        struct reading got = read_answer(c->text, OPENING_ENDS);

        CHECK_INT(read_answer(c->text, OPENING_GOES_ON).err, ERR_AGAIN);
        CHECK_INT(got.err, OK);
        CHECK_INT(got.answer.status, 403);
        CHECK_STR(str_of(got.why), c->why);
    }
}

TEST(an_end_without_an_answer_is_told)
{
    struct reading got = read_answer(S("HTTP/1.1 101 Swi"), OPENING_ENDS);

    CHECK_INT(got.err, ERR_INVALID);
    CHECK_STR(str_of(got.why), S("the server closed the connection without an answer"));
}

TEST(answers_that_go_on_for_ever_end)
{
    static const struct str heads[] = {
        S("HTTP/1.1 403 x\r\n\r\n"),
        S("HTTP/1.1 403 x\r\nContent-Length: 9223372036854775807\r\n\r\n"),
        S("HTTP/1.1 403 x\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"),
    };
    struct buf text;

    FOR_EACH_CASE(head, heads) {
        struct reading got;

        buf_init(&text, OPENING_ANSWER);
        buf_put(&text, *head);
        while (text.len < OPENING_ANSWER)
            buf_putc(&text, 'a');
        got = read_answer(buf_str(&text), OPENING_GOES_ON);
        CHECK_INT(got.err, OK);
        CHECK_INT(got.answer.status, 403);
        buf_done(&text);
    }
    buf_init(&text, OPENING_ANSWER);
    for (int i = 0; !text.is_full; i++)
        buf_put(&text, S("HTTP/1.1 100 x\r\n\r\n"));
    CHECK_INT(read_answer(buf_str(&text), OPENING_GOES_ON).err, ERR_INVALID);
    buf_done(&text);
}

TEST(a_long_detail_is_cut_between_characters)
{
    struct reading got;
    struct buf text;

    buf_init(&text, 4000);
    buf_put(&text, S("HTTP/1.1 403 x\r\n\r\n{\"detail\":\"."));
    for (int i = 0; i < 1000; i++)
        buf_put(&text, S("é"));
    buf_put(&text, S("\"}"));
    got = read_answer(buf_str(&text), OPENING_ENDS);
    CHECK_INT(strlen(got.why), strlen("the server answered 403 Forbidden: ") + 199 + 3);
    CHECK(str_ends(str_of(got.why), S("é…")));
    buf_done(&text);
}
