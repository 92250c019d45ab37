/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/upgrade.h"
#include "harness.h"

#define KEY    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define ASK    "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
#define V13    "Sec-WebSocket-Version: 13\r\n"
#define OFFERS "Sec-WebSocket-Extensions: "

/* Parses a head and judges it. */
static enum err judge(struct str head, struct arena *scratch, struct buf *answer)
{
    static const struct http_limits limits = { .head_bytes = 16 * 1024,
                                               .target_bytes = 8 * 1024 };
    struct http_request req;
    struct upgrade upgrade;
    const char *why = "";
    size_t used = 0;
    enum err err;

    CHECK_INT(http_request_parse(head, &limits, scratch, &req, &used, &why), OK);
    err = upgrade_check(&req, 9, &upgrade, &why);
    if (!err)
        upgrade_write(answer, &upgrade);
    return err;
}

TEST(a_request_is_a_handshake_or_gets_the_right_refusal)
{
    static const struct {
        struct str head;
        enum err err;
    } cases[] = {
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY "\r\n"), OK },
        { S("GET /a?b HTTP/1.1\r\n" ASK V13 KEY "Content-Length: 0\r\n\r\n"), OK },
        { S("GET / HTTP/1.1\r\nHost: x\r\nUPGRADE: h2c, WebSocket\r\n"
            "connection: keep-alive, UPGRADE\r\n" V13 KEY "\r\n"),
          OK },
        { S("POST / HTTP/1.1\r\n" ASK V13 KEY "\r\n"), ERR_METHOD },
        { S("HEAD / HTTP/1.1\r\n" ASK V13 KEY "\r\n"), ERR_METHOD },
        { S("GET / HTTP/1.0\r\n" ASK V13 KEY "\r\n"), ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n" V13 KEY
            "\r\n"),
          ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websockets\r\nConnection: "
            "Upgrade\r\n" V13 KEY "\r\n"),
          ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n" V13 KEY "\r\n"),
          ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: close\r\n" V13
                KEY "\r\n"),
          ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK KEY "\r\n"), ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\n" ASK "Sec-WebSocket-Version: 8\r\n" KEY "\r\n"),
          ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\n" ASK "Sec-WebSocket-Version: 013\r\n" KEY "\r\n"),
          ERR_UPGRADE_REQUIRED },
        { S("GET / HTTP/1.1\r\n" ASK V13 V13 KEY "\r\n"), ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 "\r\n"), ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY KEY "\r\n"), ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 "Sec-WebSocket-Key: short\r\n\r\n"),
          ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 "Sec-WebSocket-Key:\r\n\r\n"), ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY "Content-Length: 1\r\n\r\n"),
          ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY "Transfer-Encoding: chunked\r\n\r\n"),
          ERR_BAD_REQUEST },
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY OFFERS "x;=\r\n\r\n"), ERR_BAD_REQUEST },
    };
    struct arena scratch;
    struct buf answer;

    arena_init(&scratch, 1024 * 1024);
    buf_init(&answer, 4096);
    FOR_EACH_CASE(c, cases) {
        buf_clear(&answer);
        CHECK_INT(judge(c->head, &scratch, &answer), c->err);
        CHECK_INT(answer.len > 0, c->err == OK);
    }
    buf_done(&answer);
    arena_done(&scratch);
}

TEST(the_answer_proves_the_key_and_names_the_extension)
{
    static const struct {
        struct str head;
        struct str answer;
    } cases[] = {
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY "\r\n"),
          S("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n") },
        { S("GET / HTTP/1.1\r\n" ASK V13 KEY OFFERS "foo\r\n" OFFERS
            "permessage-deflate; server_max_window_bits=10\r\n\r\n"),
          S("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
            "client_no_context_takeover; server_max_window_bits=10\r\n\r\n") },
    };
    struct arena scratch;
    struct buf answer;

    arena_init(&scratch, 1024 * 1024);
    buf_init(&answer, 4096);
    FOR_EACH_CASE(c, cases) {
        buf_clear(&answer);
        CHECK_INT(judge(c->head, &scratch, &answer), OK);
        CHECK_STR(buf_str(&answer), c->answer);
    }
    buf_done(&answer);
    arena_done(&scratch);
}

#define WANTS "Sec-WebSocket-Protocol: "

TEST(rfc6455_4_2_2_the_first_known_offer_is_chosen_in_the_order_of_the_client)
{
    static const struct str known[] = { S("a"), S("b.c") };
    static const struct {
        struct str headers;
        size_t chosen;
    } cases[] = {
        { S(""), 2 },
        { S(WANTS "a\r\n"), 0 },
        { S(WANTS "x, b.c, a\r\n"), 1 },
        { S(WANTS " ,, a ,b.c\r\n"), 0 },
        { S(WANTS "x\r\n" WANTS "b.c\r\n"), 1 },
        { S(WANTS "x\r\nsec-websocket-PROTOCOL: a\r\n"), 0 },
        { S(WANTS "A, b.C, b, bxc\r\n"), 2 },
        { S(WANTS "\r\n"), 2 },
    };
    static const struct http_limits limits = { .head_bytes = 16 * 1024,
                                               .target_bytes = 8 * 1024 };
    struct arena scratch;
    struct buf head;

    arena_init(&scratch, 1024 * 1024);
    buf_init(&head, 4096);
    FOR_EACH_CASE(c, cases) {
        struct http_request req;
        const char *why = "";
        size_t used = 0;

        buf_clear(&head);
        buf_putf(&head, "GET / HTTP/1.1\r\nHost: x\r\n" STR_FMT "\r\n",
                 STR_ARG(c->headers));
        CHECK_INT(
            http_request_parse(buf_str(&head), &limits, &scratch, &req, &used, &why), OK);
        CHECK_INT(upgrade_choose(&req, (struct str_list){ known, 2 }), c->chosen);
    }
    buf_done(&head);
    arena_done(&scratch);
}

TEST(the_answer_names_the_subprotocol_that_was_chosen)
{
    struct upgrade upgrade = { .key = S("dGhlIHNhbXBsZSBub25jZQ=="),
                               .subprotocol = S("mcpx.draft") };
    struct buf answer;

    buf_init(&answer, 4096);
    upgrade_write(&answer, &upgrade);
    CHECK(
        str_ends(buf_str(&answer), S("\r\nSec-WebSocket-Protocol: mcpx.draft\r\n\r\n")));
    buf_done(&answer);
}

TEST(refusals_say_what_would_have_been_right)
{
    CHECK_STR(upgrade_refusal_headers(ERR_METHOD), S("Allow: GET\r\n"));
    CHECK(str_ends(upgrade_refusal_headers(ERR_UPGRADE_REQUIRED),
                   S("Sec-WebSocket-Version: 13\r\n")));
    CHECK_STR(upgrade_refusal_headers(ERR_BAD_REQUEST), S(""));
}
