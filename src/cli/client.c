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
#include "json/json.h"

enum { ANSWER_MAX = 64 << 20, WHY_BYTES = 1024 };
enum { LOCAL_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) };

struct asked {
    const char *method;
    struct str path, body;
};

static enum err write_request(const struct cli_server *server, const struct url *url,
                              const struct asked *asked, struct buf *out)
{
    struct buf token;
    enum err err = OK;

    buf_putf(out, "%s %s" STR_FMT " HTTP/1.1\r\nHost: ", asked->method, url->path,
             STR_ARG(asked->path));
    url_put_host(out, url);
    buf_put(out, S("\r\nConnection: close\r\n"));
    buf_init(&token, CLI_TOKEN_MAX);
    if (server->url) {
        err = cli_read_token(server->token_file, &token) ? ERR_UNAUTHORIZED : OK;
        buf_putf(out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(buf_str(&token)));
        crypto_wipe(token.ptr, token.len);
    }
    buf_done(&token);
    if (asked->body.len)
        buf_put(out, S("Content-Type: application/json\r\n"));
    buf_putf(out, "Content-Length: %zu\r\n\r\n", asked->body.len);
    buf_put(out, asked->body);
    return err;
}

/* "HTTP/1.1 200 OK … \r\n\r\n" and the body, which the end of the connection ends. */
static enum err split_answer(const struct buf *all, struct cli_answer *ret)
{
    const char *end = memmem(all->ptr, all->len, "\r\n\r\n", 4);
    uint64_t status;

    if (!end || all->len < 12 ||
        str_to_u64((struct str){ all->ptr + 9, 3 }, 599, &status))
        return ERR_INVALID;
    ret->status = (int)status;
    buf_init(&ret->body, ANSWER_MAX);
    buf_put(&ret->body, str_slice(buf_str(all), (size_t)(end + 4 - all->ptr), all->len));
    return OK;
}

static const char *describe(enum err err)
{
    if (err == ERR_AGAIN)
        return "it takes too long";
    if (err == ERR_TOO_BIG)
        return "there is too much of it";
    return err == ERR_INVALID ? "this is no HTTP" : "the connection broke";
}

static enum err exchange(struct line *line, struct str request, struct cli_answer *ret)
{
    struct buf all;
    enum err err;

    buf_init(&all, ANSWER_MAX);
    err = line_send(line, request);
    if (!err)
        err = line_receive(line, &all);
    if (!err)
        err = split_answer(&all, ret);
    if (err)
        (void)cli_fail("no answer of the server can be read: %s", describe(err));
    crypto_wipe(all.ptr, all.len);
    buf_done(&all);
    return err;
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

enum err cli_call(const struct cli_server *server, const char *method, struct str path,
                  struct str body, struct cli_answer *ret)
{
    struct line line;
    struct url url;
    struct buf request;
    enum err err = read_url(server, &url);

    if (err)
        return err;
    buf_init(&request, ANSWER_MAX);
    err = open_line(server, &url, &line);
    if (!err)
        err =
            write_request(server, &url, &(struct asked){ method, path, body }, &request);
    if (!err)
        err = exchange(&line, buf_str(&request), ret);
    line_close(&line);
    crypto_wipe(request.ptr, request.len);
    buf_done(&request);
    return err;
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
