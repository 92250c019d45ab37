/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web console: its page, which is asked for again each time and rarely sent again,
 * and its assets, whose names change with their content, so that they never are.
 */
#include <assert.h>
#include <stdio.h>

#include "gateway/console.h"
#include "gateway/doors.h"
#include "http/encoding.h"

/* Nothing runs that did not come from here as a file, nothing is loaded from elsewhere,
 * and nobody shows it in a frame. Trusted Types: a text never becomes a script, whatever
 * the console does by mistake. */
#define POLICY                                                                           \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; " \
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; "                  \
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "                      \
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"                       \
    "Referrer-Policy: no-referrer\r\n"                                                   \
    "Permissions-Policy: camera=(), display-capture=(), geolocation=(), "                \
    "microphone=(), payment=(), usb=()\r\n"                                              \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                        \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

#define WITHOUT_CONSOLE \
    "This gateway was built without its web console (-Dconsole=false).\n"

static const struct str encoding_names[CONSOLE_ENCODINGS] = {
    [CONSOLE_BR] = S("br"),
    [CONSOLE_GZIP] = S("gzip"),
};

static const struct console_file *file_find(struct str name)
{
    for (size_t i = 0; i < console_file_count; i++)
        if (str_eq(console_files[i].name, name))
            return &console_files[i];
    return NULL;
}

static enum console_encoding encoding_for(const struct console_file *file,
                                          const struct http_request *req)
{
    for (size_t i = 0; i < CONSOLE_IDENTITY; i++)
        if (file->bodies[i].bytes.len && http_accepts_encoding(req, encoding_names[i]))
            return (enum console_encoding)i;
    return CONSOLE_IDENTITY;
}

/* If-None-Match compares weakly: a proxy on the way may have marked what is equal. */
static bool is_known(const struct http_request *req, struct str etag)
{
    char weak[80];

    assert(etag.len + 3 <= sizeof(weak)); /* console/build.mjs makes them */
    (void)snprintf(weak, sizeof(weak), "W/" STR_FMT, STR_ARG(etag));
    return http_header_has_token(req, S("If-None-Match"), S("*")) ||
           http_header_has_token(req, S("If-None-Match"), etag) ||
           http_header_has_token(req, S("If-None-Match"), str_of(weak));
}

static void send_file(struct exchange *x, const struct console_file *file,
                      const char *cache_control)
{
    enum console_encoding encoding = encoding_for(file, &x->request);
    const struct console_body *body = &file->bodies[encoding];
    bool is_fresh = is_known(&x->request, body->etag);
    struct buf headers;

    buf_init(&headers, 4096);
    buf_putf(&headers, POLICY "Cache-Control: %s\r\nVary: Accept-Encoding\r\n",
             cache_control);
    buf_putf(&headers, "ETag: " STR_FMT "\r\n", STR_ARG(body->etag));
    if (encoding != CONSOLE_IDENTITY && !is_fresh)
        buf_putf(&headers, "Content-Encoding: " STR_FMT "\r\n",
                 STR_ARG(encoding_names[encoding]));
    exchange_reply_with(x, &(struct reply){ .status = is_fresh ? 304 : 200,
                                            .type = file->type,
                                            .body = is_fresh ? S("") : body->bytes,
                                            .headers = buf_str(&headers) });
    buf_done(&headers);
}

void console_page_get(struct exchange *x)
{
    const struct console_file *file = file_find(S("index.html"));

    if (file)
        send_file(x, file, "no-cache");
    else
        exchange_reply(x, 200, S("text/plain; charset=utf-8"), S(WITHOUT_CONSOLE));
}

void console_asset_get(struct exchange *x)
{
    const struct console_file *file = file_find(x->params[0]);

    if (file && !str_eq(file->name, S("index.html")))
        send_file(x, file, "public, max-age=31536000, immutable");
    else
        exchange_fail(x, ERR_NOT_FOUND, "There is no such file.");
}
