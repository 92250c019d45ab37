/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/upgrade.h"

#include "base/cleanup.h"
#include "http/response.h"
#include "ws/handshake.h"

/* Room for all extension headers of a request, whose head is smaller than this. */
enum { MAX_OFFERS = 64 * 1024 };

static enum err check_method(const struct http_request *req, struct upgrade *,
                             const char **ret_why)
{
    *ret_why = "a WebSocket begins with GET";
    return req->method == HTTP_GET ? OK : ERR_METHOD;
}

static enum err check_upgrade(const struct http_request *req, struct upgrade *,
                              const char **ret_why)
{
    *ret_why = "this address speaks WebSocket only";
    return http_header_has_token(req, S("upgrade"), S("websocket"))
               ? OK
               : ERR_UPGRADE_REQUIRED;
}

static enum err check_connection(const struct http_request *req, struct upgrade *,
                                 const char **ret_why)
{
    *ret_why = "HTTP/1.0 cannot be upgraded";
    if (req->minor_version == 0)
        return ERR_BAD_REQUEST;
    *ret_why = "Upgrade without Connection: Upgrade";
    return http_header_has_token(req, S("connection"), S("upgrade")) ? OK
                                                                     : ERR_BAD_REQUEST;
}

static enum err check_version(const struct http_request *req, struct upgrade *,
                              const char **ret_why)
{
    size_t count;
    struct str version = http_header_find(req, S("sec-websocket-version"), &count);

    *ret_why = "more than one Sec-WebSocket-Version";
    if (count > 1)
        return ERR_BAD_REQUEST;
    *ret_why = "only version 13 is spoken";
    return str_eq(version, S("13")) ? OK : ERR_UPGRADE_REQUIRED;
}

static enum err check_key(const struct http_request *req, struct upgrade *upgrade,
                          const char **ret_why)
{
    size_t count;

    upgrade->key = http_header_find(req, S("sec-websocket-key"), &count);
    *ret_why = "there must be one Sec-WebSocket-Key";
    if (count != 1)
        return ERR_BAD_REQUEST;
    *ret_why = "Sec-WebSocket-Key is not the base64 form of 16 bytes";
    return ws_key_check(upgrade->key);
}

static enum err check_body(const struct http_request *req, struct upgrade *,
                           const char **ret_why)
{
    *ret_why = "a WebSocket cannot begin with a body";
    return req->is_chunked || req->length > 0 ? ERR_BAD_REQUEST : OK;
}

/* RFC 6455 9.1: several headers read as one, joined by commas. */
static enum err check_extensions(const struct http_request *req, int min_bits,
                                 struct upgrade *upgrade, const char **ret_why)
{
    struct buf offers;
    enum err err;

    buf_init(&offers, MAX_OFFERS);
    for (size_t i = 0; i < req->header_count; i++) {
        if (!str_ieq(req->headers[i].name, S("sec-websocket-extensions")))
            continue;
        if (offers.len)
            buf_putc(&offers, ',');
        buf_put(&offers, req->headers[i].value);
    }
    *ret_why = "malformed Sec-WebSocket-Extensions";
    err = offers.is_full
              ? ERR_BAD_REQUEST
              : ws_extension_choose(buf_str(&offers), min_bits, &upgrade->extension);
    buf_done(&offers);
    if (min_bits == 0)
        upgrade->extension = (struct ws_extension){};
    return err;
}

static enum err (*const checks[])(const struct http_request *, struct upgrade *,
                                  const char **) = {
    check_method, check_upgrade, check_connection, check_version, check_key, check_body,
};

enum err upgrade_check(const struct http_request *req, int min_bits, struct upgrade *ret,
                       const char **ret_why)
{
    struct upgrade upgrade = {};
    enum err err;

    for (size_t i = 0; i < COUNT(checks); i++) {
        err = checks[i](req, &upgrade, ret_why);
        if (err)
            return err;
    }
    err = check_extensions(req, min_bits, &upgrade, ret_why);
    if (err)
        return err;
    *ret = upgrade;
    return OK;
}

static size_t choose_from(struct str offers, struct str_list known)
{
    while (offers.ptr) {
        struct str offer = str_trim(str_cut(&offers, ','));

        for (size_t i = 0; i < known.count; i++)
            if (str_eq(offer, known.items[i]))
                return i;
    }
    return known.count;
}

size_t upgrade_choose(const struct http_request *req, struct str_list known)
{
    size_t chosen = known.count;

    for (size_t i = 0; i < req->header_count && chosen == known.count; i++)
        if (str_ieq(req->headers[i].name, S("sec-websocket-protocol")))
            chosen = choose_from(req->headers[i].value, known);
    return chosen;
}

struct str upgrade_refusal_headers(enum err err)
{
    if (err == ERR_METHOD)
        return S("Allow: GET\r\n");
    if (err == ERR_UPGRADE_REQUIRED)
        return S("Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
                 "Sec-WebSocket-Version: 13\r\n");
    return S("");
}

/* Written by hand: the standard headers of other answers have no meaning here. */
void upgrade_write(struct buf *out, const struct upgrade *upgrade)
{
    buf_put(out, S("HTTP/1.1 101 "));
    buf_put(out, http_phrase(101));
    buf_put(out, S("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Accept: "));
    ws_accept_write(out, upgrade->key);
    if (upgrade->extension.is_on) {
        buf_put(out, S("\r\nSec-WebSocket-Extensions: "));
        ws_extension_write(out, &upgrade->extension);
    }
    if (upgrade->subprotocol.len) {
        buf_put(out, S("\r\nSec-WebSocket-Protocol: "));
        buf_put(out, upgrade->subprotocol);
    }
    buf_put(out, S("\r\n\r\n"));
}
