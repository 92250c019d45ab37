/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/arena.h"
#include "base/plain.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/line.h"
#include "client/url.h"
#include "crypto/crypto.h"
#include "http/answer.h"
#include "http/body.h"
#include "json/json.h"

enum { ANSWER_MAX = 64 << 20, HEAD_MAX = 65536, READ_BYTES = 65536, WHY_BYTES = 1024 };
enum { LOCAL_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) };

static enum err write_request(const struct cli_server *server, const struct url *url,
                              const struct cli_request *asked, struct buf *out)
{
    struct buf token;
    enum err err = OK;

    buf_putf(out, "%s %s" STR_FMT " HTTP/1.1\r\nHost: ", asked->method, url->path,
             STR_ARG(asked->path));
    url_put_host(out, url);
    buf_put(out, S("\r\nConnection: close\r\n"));
    buf_init(&token, CLI_TOKEN_MAX);
    if (server->url) {
        if (server->token.len)
            buf_put(&token, server->token);
        else if (cli_read_token(server->token_file, &token))
            err = ERR_UNAUTHORIZED;
        buf_putf(out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(buf_str(&token)));
        crypto_wipe(token.ptr, token.len);
    }
    buf_done(&token);
    if (asked->accept.len)
        buf_putf(out, "Accept: " STR_FMT "\r\n", STR_ARG(asked->accept));
    if (asked->type.len)
        buf_putf(out, "Content-Type: " STR_FMT "\r\n", STR_ARG(asked->type));
    else if (asked->body.len)
        buf_put(out, S("Content-Type: application/json\r\n"));
    if (asked->on_upload) {
        buf_put(out, S("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"));
        return err;
    }
    buf_putf(out, "Content-Length: %zu\r\n\r\n", asked->body.len);
    buf_put(out, asked->body);
    return err;
}

/* --- an answer, as it comes --- */

struct reading {
    struct line *line;
    const struct cli_request *request;
    struct cli_answer *answer;
    struct buf bytes; /* read and not yet looked at */
    bool has_head;    /* of the answer */
    struct http_body body;
    bool ends_with_line; /* nothing else says where the body ends */
    bool has_enough;
};

static enum err read_more(struct reading *r)
{
    size_t len = 0;
    enum err err = buf_reserve(&r->bytes, READ_BYTES);

    if (!err)
        err = line_read(r->line, r->bytes.ptr + r->bytes.len, READ_BYTES, &len);
    if (!err)
        r->bytes.len += len;
    return err;
}

/* How long the body is: RFC 9112 6.3. */
static enum err frame_body(struct reading *r, const struct http_answer *head)
{
    size_t count = 0;
    struct str length = http_answer_find(head, S("content-length"), &count);

    r->body = (struct http_body){ .max_bytes = UINT64_MAX };
    if (http_answer_has_token(head, S("transfer-encoding"), S("chunked"))) {
        http_body_init_chunked(&r->body, UINT64_MAX);
        return OK;
    }
    r->ends_with_line = count == 0 && head->status != 204;
    if (count && str_to_u64(length, UINT64_MAX, &r->body.left))
        return ERR_INVALID;
    if (r->body.left)
        r->body.state = HTTP_BODY_LENGTH;
    return OK;
}

static enum err read_head(struct reading *r)
{
    struct http_answer head;
    const char *why;
    size_t used = 0;
    enum err err;

    do {
        err = http_answer_parse(buf_str(&r->bytes), HEAD_MAX, &head, &used, &why);
        if (err != ERR_AGAIN)
            break;
        err = read_more(r);
    } while (!err);
    if (err == ERR_BAD_REQUEST || err == ERR_HEAD_TOO_LARGE)
        return ERR_INVALID;
    if (err)
        return err;
    r->answer->status = head.status;
    err = frame_body(r, &head);
    buf_drop(&r->bytes, used);
    return err;
}

static enum err take_piece(struct reading *r, struct str piece)
{
    if (!r->request->on_bytes || r->answer->status >= 300)
        return buf_append(&r->answer->body, piece);
    if (piece.len)
        r->has_enough = !r->request->on_bytes(r->request->user, piece);
    return OK;
}

static bool is_whole(const struct reading *r)
{
    return r->has_enough || (!r->ends_with_line && r->body.state == HTTP_BODY_DONE);
}

/* What has been read of the body. */
static enum err take_bytes(struct reading *r)
{
    struct str bytes = buf_str(&r->bytes);
    enum err err = OK;

    if (r->ends_with_line)
        err = take_piece(r, bytes);
    while (!r->ends_with_line && !err && !is_whole(r)) {
        struct str piece = S("");

        err = http_body_next(&r->body, &bytes, &piece);
        if (err || !piece.len)
            break;
        err = take_piece(r, piece);
    }
    buf_clear(&r->bytes);
    return err == ERR_BAD_REQUEST || err == ERR_TOO_LARGE ? ERR_INVALID : err;
}

static enum err read_answer(struct reading *r)
{
    enum err err = r->has_head ? OK : read_head(r);

    while (!err) {
        err = take_bytes(r);
        if (err || is_whole(r))
            return err;
        err = read_more(r);
    }
    return err == ERR_CLOSED && r->ends_with_line ? OK : err;
}

/* --- a body in pieces --- */

static enum err send_piece(struct line *line, struct str piece, struct buf *framed)
{
    buf_clear(framed);
    buf_putf(framed, "%zx\r\n", piece.len);
    buf_put(framed, piece);
    buf_put(framed, S("\r\n"));
    return line_send(line, buf_str(framed));
}

/* ERR_CONFLICT: broken off. */
static enum err send_pieces(const struct reading *r)
{
    struct buf piece, framed;
    bool has_more = true;
    enum err err = OK;

    buf_init(&piece, CLI_PIECE);
    buf_init(&framed, CLI_PIECE + WHY_BYTES);
    while (!err && has_more) {
        buf_clear(&piece);
        if (!r->request->on_upload(r->request->user, &piece)) {
            err = ERR_CONFLICT;
            break;
        }
        has_more = piece.len > 0;
        err = send_piece(r->line, buf_str(&piece), &framed);
    }
    buf_done(&piece);
    buf_done(&framed);
    return err;
}

/* When the server wants it. That it stops reading has a reason, which it tells. */
static enum err send_upload(struct reading *r)
{
    enum err err = read_head(r);

    if (err)
        return err;
    if (r->answer->status != 100) {
        r->has_head = true;
        return OK;
    }
    err = send_pieces(r);
    return err == ERR_CLOSED || err == ERR_IO ? OK : err;
}

static const char *describe(enum err err)
{
    if (err == ERR_AGAIN)
        return "it takes too long";
    if (err == ERR_TOO_BIG)
        return "there is too much of it";
    return err == ERR_INVALID ? "this is no HTTP" : "the connection broke";
}

static enum err exchange(struct line *line, struct str text,
                         const struct cli_request *request, struct cli_answer *ret)
{
    struct reading r = { .line = line, .request = request, .answer = ret };
    enum err err;

    buf_init(&r.bytes, HEAD_MAX + 2 * READ_BYTES);
    buf_init(&ret->body, ANSWER_MAX);
    if (request->patience_ms)
        line->patience_ms = request->patience_ms;
    err = line_send(line, text);
    if (!err && request->on_upload)
        err = send_upload(&r);
    if (!err)
        err = read_answer(&r);
    if (err && err != ERR_CONFLICT) /* else whoever broke it off has said why */
        (void)cli_fail("no answer of the server can be read: %s", describe(err));
    if (err)
        buf_done(&ret->body);
    crypto_wipe(r.bytes.ptr, r.bytes.size);
    buf_done(&r.bytes);
    return err == ERR_NOT_FOUND ? ERR_IO : err;
}

/* Where to: ERR_INVALID has been reported; ERR_NOT_FOUND: no socket has such a name. */
static enum err read_url(const struct cli_server *server, struct url *ret)
{
    struct url local = { .is_local = true };
    struct buf why;
    enum err err;
    int len;

    if (!server->url) {
        len = snprintf(local.host, sizeof(local.host), "%s/moot.sock", server->data);
        *ret = local;
        return len > 0 && (size_t)len < LOCAL_MAX ? OK : ERR_NOT_FOUND;
    }
    buf_init(&why, WHY_BYTES);
    err = url_parse(str_of(server->url), ret, &why);
    if (err)
        (void)cli_fail("--server: %s", buf_cstr(&why));
    buf_done(&why);
    return err;
}

/* That nobody listens on the local socket is for the caller to say. */
static enum err open_line(const struct cli_server *server, const struct url *url,
                          struct line *line)
{
    struct buf why;
    enum err err;

    buf_init(&why, WHY_BYTES);
    err = line_open(line, url, server->ca, &why);
    if (err && server->url) {
        (void)cli_fail("%s", buf_cstr(&why));
        err = ERR_IO;
    }
    buf_done(&why);
    return err;
}

enum err cli_stream(const struct cli_server *server, const struct cli_request *request,
                    struct cli_answer *ret)
{
    struct line line;
    struct url url;
    struct buf text;
    enum err err = read_url(server, &url);

    if (err)
        return err;
    buf_init(&text, ANSWER_MAX);
    err = open_line(server, &url, &line);
    if (!err)
        err = write_request(server, &url, request, &text);
    if (!err)
        err = exchange(&line, buf_str(&text), request, ret);
    line_close(&line);
    crypto_wipe(text.ptr, text.len);
    buf_done(&text);
    return err;
}

enum err cli_call(const struct cli_server *server, const char *method, struct str path,
                  struct str body, struct cli_answer *ret)
{
    return cli_stream(
        server, &(struct cli_request){ .method = method, .path = path, .body = body },
        ret);
}

void cli_put_segment(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_putf(out, "%%%02X", (unsigned char)text.ptr[i]);
}

int cli_report(const struct cli_answer *answer)
{
    const struct json *root, *detail = NULL;
    struct arena arena;
    struct buf text;

    arena_init(&arena, 1 << 20);
    buf_init(&text, 1 << 20);
    if (json_parse(buf_str(&answer->body), &arena, &root, NULL) == OK)
        detail = json_find(root, S("detail"));
    if (detail)
        plain_put(&text, detail->text, PLAIN_LINE);
    if (text.len)
        (void)cli_fail("%s", buf_cstr(&text));
    else
        (void)cli_fail("the server answered with status %d", answer->status);
    buf_done(&text);
    arena_done(&arena);
    return CLI_FAILED;
}
