/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request parser. Whatever the bytes: every front of them asks for more or gives the
 * answer of the whole; what is accepted lies inside the buffers, holds no byte that could
 * split a line, and is understood in the same way when it is written again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "http/encoding.h"
#include "http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static const struct http_limits limits = { .head_bytes = 1500, .target_bytes = 300 };

struct answer {
    enum err err;
    size_t used;
    const char *why;
};

static struct answer parse(struct str bytes, struct arena *arena,
                           struct http_request *ret)
{
    struct answer answer = {};

    answer.err =
        http_request_parse(bytes, &limits, arena, ret, &answer.used, &answer.why);
    must((answer.err == OK) == (answer.used > 0));
    must((answer.err == OK || answer.err == ERR_AGAIN) == !answer.why);
    return answer;
}

static void check_front(struct str bytes, size_t len, struct answer whole)
{
    /* Exactly the size, so that the sanitizer sees the first byte behind. */
    char *copy = malloc(len ? len : 1);
    struct http_request req;
    struct answer front;
    struct arena arena;

    must(copy);
    if (len)
        memcpy(copy, bytes.ptr, len);
    arena_init(&arena, 4096);
    front = parse((struct str){ copy, len }, &arena, &req);
    if (front.err != ERR_AGAIN) {
        must(front.err == whole.err && front.used == whole.used);
        must(front.why == whole.why);
    }
    arena_done(&arena);
    free(copy);
}

static bool is_inside(struct str part, struct str whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static bool has_any(struct str text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < text.len; i++)
        if (memchr(bytes, text.ptr[i], count))
            return true;
    return false;
}

static void check_headers(const struct http_request *req, struct str head)
{
    must(req->header_count <= HTTP_MAX_HEADERS);
    for (size_t i = 0; i < req->header_count; i++) {
        struct str name = req->headers[i].name;
        struct str value = req->headers[i].value;

        must(name.len > 0 && is_inside(name, head) && is_inside(value, head));
        must(!has_any(name, "\0\r\n\t :", 6));
        must(!has_any(value, "\0\r\n", 3));
        must(str_eq(value, str_trim(value)));
    }
}

static void check_query(struct str query)
{
    size_t left = query.len + 1;
    struct arena arena;

    arena_init(&arena, 65536);
    while (query.ptr) {
        struct http_param param;

        must(left-- > 0);
        if (http_query_next(&query, &arena, &param))
            break;
        must(!has_any(param.name, "\0", 1) && utf8_is_valid(param.name));
        must(!has_any(param.value, "\0", 1) && utf8_is_valid(param.value));
    }
    arena_done(&arena);
}

static void check_meaning(const struct http_request *req)
{
    struct str slashed = req->path;
    size_t hosts, lengths, codings;

    (void)http_header_find(req, S("Host"), &hosts);
    (void)http_header_find(req, S("Content-Length"), &lengths);
    (void)http_header_find(req, S("Transfer-Encoding"), &codings);
    must(hosts == 1 || (hosts == 0 && req->minor_version == 0));
    must((hosts == 1) == (req->host.len > 0));
    must(lengths + codings <= 1);
    must(req->has_length == (lengths == 1) && req->is_chunked == (codings == 1));
    must(req->has_length || req->length == 0);
    must(!req->is_chunked || req->minor_version == 1);
    must(str_starts(req->target, S("/")) || req->method == HTTP_OPTIONS);
    must(utf8_is_valid(req->path) && !has_any(req->path, "\0", 1));
    while (slashed.ptr) {
        struct str segment = str_cut(&slashed, '/');

        must(!str_eq(segment, S(".")) && !str_eq(segment, S("..")));
    }
}

static void write_again(const struct http_request *req, struct buf *out)
{
    buf_put(out, req->method_text);
    buf_putc(out, ' ');
    buf_put(out, req->target);
    buf_putf(out, " HTTP/1.%u\r\n", req->minor_version);
    for (size_t i = 0; i < req->header_count; i++) {
        buf_put(out, req->headers[i].name);
        buf_putc(out, ':');
        buf_put(out, req->headers[i].value);
        buf_put(out, S("\r\n"));
    }
    buf_put(out, S("\r\n"));
    must(!out->is_full);
}

static void check_same(const struct http_request *a, const struct http_request *b)
{
    must(a->method == b->method && a->minor_version == b->minor_version);
    must(str_eq(a->target, b->target) && str_eq(a->path, b->path));
    must(str_eq(a->query, b->query) && !a->query.ptr == !b->query.ptr);
    must(str_eq(a->host, b->host));
    must(a->header_count == b->header_count && a->keeps_alive == b->keeps_alive);
    must(a->is_chunked == b->is_chunked && a->has_length == b->has_length);
    must(a->length == b->length && a->expects_continue == b->expects_continue);
}

static void check_again(const struct http_request *req)
{
    struct http_request again;
    struct answer answer;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 4096);
    buf_init(&out, 65536);
    write_again(req, &out);
    answer = parse(buf_str(&out), &arena, &again);
    must(answer.err == OK && answer.used == out.len);
    check_same(req, &again);
    buf_done(&out);
    arena_done(&arena);
}

static void check_accepted(const struct http_request *req, struct str head)
{
    must(head.len <= limits.head_bytes && str_ends(head, S("\r\n\r\n")));
    must(req->target.len <= limits.target_bytes);
    must(is_inside(req->method_text, head));
    check_headers(req, head);
    check_meaning(req);
    check_query(req->query);
    check_again(req);
}

/* A coding is accepted only where its header is there. */
static void check_encodings(const struct http_request *req)
{
    bool is_named = http_accepts_encoding(req, S("br"));

    must(!is_named || http_header_find(req, S("Accept-Encoding"), NULL).ptr);
    must(!http_accepts_encoding(req, S("no coding, this")));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    size_t step = size / 64 + 1;
    struct http_request req;
    struct answer whole;
    struct arena arena;

    arena_init(&arena, 4096);
    whole = parse(text, &arena, &req);
    if (!whole.err) {
        check_accepted(&req, str_slice(text, 0, whole.used));
        check_encodings(&req);
    }
    for (size_t len = size % step; len < size; len += step)
        check_front(text, len, whole);
    if (!whole.err)
        check_front(text, whole.used - 1, whole);
    arena_done(&arena);
    return 0;
}
