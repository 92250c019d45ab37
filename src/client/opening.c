/* SPDX-License-Identifier: Apache-2.0 */
#include "client/opening.h"

#include "base/arena.h"
#include "client/foreign.h"
#include "crypto/crypto.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/response.h"
#include "json/json.h"
#include "ws/handshake.h"

enum {
    HEAD_BYTES = 16 * 1024,
    BODY_BYTES = 16 * 1024,
    TREE_BYTES = 256 * 1024,
    SWITCHING_PROTOCOLS = 101,
    OK_STATUS = 200,
    RETRY_MAX_S = 86'400,
};

/* --- the request --- */

void opening_key_write(struct buf *out, const uint8_t random[static 16])
{
    base64_write(out, (struct str){ (const char *)random, 16 });
}

/* RFC 9110 11.4: visible ASCII; anything else would begin another header. */
static bool is_visible(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
            return false;
    return true;
}

enum err opening_check(const struct opening *opening, struct buf *why)
{
    if (!opening->topic.len)
        buf_put(why, S("no topic is given"));
    else if (opening->topic.len > OPENING_TOPIC)
        buf_put(why, S("the name of the topic is too long"));
    else if (opening->token.len > OPENING_TOKEN)
        buf_put(why, S("the token is too long"));
    else if (!is_visible(opening->token))
        buf_put(why, S("the token holds a character that no token has"));
    else
        return OK;
    return ERR_INVALID;
}

/* RFC 3986 2.3: what needs no escape anywhere. */
static bool is_unreserved(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '-' || c == '.' || c == '_' || c == '~';
}

static void put_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_unreserved(text.ptr[i]))
            buf_putc(out, text.ptr[i]);
        else
            buf_putf(out, "%%%02X", (unsigned char)text.ptr[i]);
}

static void put_target(struct buf *out, const struct opening *opening)
{
    buf_putf(out, "%s/ws?topic=", opening->url->path);
    put_escaped(out, opening->topic);
    buf_put(out, S("&presence=batch"));
    if (opening->is_directed)
        buf_put(out, S("&routing=directed"));
    if (!opening->echoes)
        buf_put(out, S("&echo=off"));
    if (opening->after.len)
        buf_put(out, S("&after="));
    put_escaped(out, opening->after);
}

void opening_write(struct buf *out, const struct opening *opening)
{
    if (buf_reserve(out, OPENING_REQUEST)) {
        out->is_full = true;
        return;
    }
    buf_put(out, S("GET "));
    put_target(out, opening);
    buf_put(out, S(" HTTP/1.1\r\nHost: "));
    url_put_host(out, opening->url);
    buf_put(out, S("\r\nUser-Agent: libmoot/" MOOT_VERSION "\r\n"
                   "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "));
    buf_put(out, opening->key);
    if (opening->token.len) {
        buf_put(out, S("\r\nAuthorization: Bearer "));
        buf_put(out, opening->token);
    }
    buf_put(out, S("\r\n\r\n"));
}

/* --- the answer: an upgrade --- */

static bool is_accepted(const struct http_answer *answer, struct str key)
{
    struct buf expected;
    struct str accept;
    size_t count;
    bool is_right;

    buf_init(&expected, 64);
    ws_accept_write(&expected, key);
    accept = http_answer_find(answer, S("sec-websocket-accept"), &count);
    is_right = count == 1 && str_eq(accept, buf_str(&expected));
    buf_done(&expected);
    return is_right;
}

/* What RFC 6455 4.1 demands of the answer; nothing was offered, so nothing may be agreed
 * on. */
static const char *fault_of(const struct http_answer *answer, struct str key)
{
    if (!http_answer_has_token(answer, S("upgrade"), S("websocket")) ||
        !http_answer_has_token(answer, S("connection"), S("upgrade")))
        return "the server changed to something that is not WebSocket";
    if (!is_accepted(answer, key))
        return "the server's Sec-WebSocket-Accept is wrong";
    if (http_answer_find(answer, S("sec-websocket-extensions"), NULL).ptr)
        return "the server chose an extension that was not offered";
    if (http_answer_find(answer, S("sec-websocket-protocol"), NULL).ptr)
        return "the server chose a subprotocol that was not offered";
    return NULL;
}

/* --- the answer: a refusal --- */

static enum err read_chunks(struct str rest, struct buf *out)
{
    struct http_body body;

    http_body_init_chunked(&body, BODY_BYTES);
    for (;;) {
        struct str piece;

        if (http_body_next(&body, &rest, &piece))
            return OK; /* broken: what there is will do */
        buf_put(out, piece);
        if (!piece.len)
            return body.state == HTTP_BODY_DONE ? OK : ERR_AGAIN;
    }
}

/* The body as far as it is of use. ERR_AGAIN: it is not complete. */
static enum err read_body(const struct http_answer *answer, struct str rest,
                          struct buf *out)
{
    struct str length = http_answer_find(answer, S("content-length"), NULL);
    uint64_t missing = BODY_BYTES;

    if (http_answer_has_token(answer, S("transfer-encoding"), S("chunked")))
        return read_chunks(rest, out);
    if (length.ptr)
        (void)str_to_u64(length, BODY_BYTES, &missing);
    rest = str_slice(rest, 0, (size_t)missing);
    buf_put(out, rest);
    return rest.len < missing ? ERR_AGAIN : OK;
}

/* RFC 9457: {"detail":"You may not enter this topic."} */
static void put_detail(struct buf *why, struct str body)
{
    const struct json *root, *detail = NULL;
    struct arena arena;

    arena_init(&arena, TREE_BYTES);
    if (json_parse(body, &arena, &root, NULL) == OK)
        detail = json_find(root, S("detail"));
    if (detail && detail->type == JSON_STRING && detail->text.len) {
        buf_put(why, S(": "));
        foreign_put(why, detail->text);
    }
    arena_done(&arena);
}

static void describe(const struct http_answer *answer, struct str body, struct buf *why)
{
    struct str phrase = http_phrase(answer->status);

    if (answer->status < 400)
        buf_put(why, S("this is no gateway, or not its address: "));
    buf_putf(why, "the server answered %d " STR_FMT, answer->status, STR_ARG(phrase));
    put_detail(why, body);
}

static uint64_t wait_of(const struct http_answer *answer)
{
    struct str text = http_answer_find(answer, S("retry-after"), NULL);
    uint64_t seconds;

    /* A date would have to be trusted; seconds are what gateways send. */
    if (!text.ptr || str_to_u64(text, RETRY_MAX_S, &seconds))
        return 0;
    return seconds * 1000;
}

static enum err read_refusal(const struct http_answer *answer, struct str rest,
                             enum opening_more more, struct buf *why)
{
    struct buf body;
    enum err err;

    buf_init(&body, BODY_BYTES);
    err = read_body(answer, rest, &body);
    if (more == OPENING_ENDS)
        err = OK;
    if (!err)
        describe(answer, buf_str(&body), why);
    buf_done(&body);
    return err;
}

/* --- the answer --- */

static enum err fail(struct buf *why, const char *what)
{
    buf_put(why, str_of(what));
    return ERR_INVALID;
}

/* The last head: those of other 1xx are passed over (RFC 9110 15.2). */
static enum err read_head(struct str bytes, struct http_answer *answer, size_t *ret_used,
                          struct buf *why)
{
    size_t at = 0;

    for (;;) {
        const char *fault;
        size_t used;
        enum err err = http_answer_parse(str_slice(bytes, at, bytes.len), HEAD_BYTES,
                                         answer, &used, &fault);

        if (err == ERR_AGAIN)
            return at + HEAD_BYTES > OPENING_ANSWER ? fail(why, "the answer is too long")
                                                    : ERR_AGAIN;
        if (err) {
            buf_put(why, S("this is no gateway: "));
            return fail(why, fault);
        }
        at += used;
        if (answer->status == SWITCHING_PROTOCOLS || answer->status >= OK_STATUS)
            break;
    }
    *ret_used = at;
    return OK;
}

enum err opening_read(struct str bytes, enum opening_more more, struct str key,
                      struct opening_answer *ret, struct buf *why)
{
    struct http_answer answer;
    size_t used;
    enum err err = read_head(bytes, &answer, &used, why);

    if (err == ERR_AGAIN && more == OPENING_ENDS)
        return fail(why, "the server closed the connection without an answer");
    if (err)
        return err;
    if (answer.status == SWITCHING_PROTOCOLS) {
        const char *fault = fault_of(&answer, key);

        if (fault)
            return fail(why, fault);
    } else {
        err = read_refusal(&answer, str_slice(bytes, used, bytes.len), more, why);
        if (err)
            return err;
    }
    *ret = (struct opening_answer){ answer.status, used, wait_of(&answer) };
    return OK;
}
