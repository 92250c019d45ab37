/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request. The chunk syntax is a table of steps and classes of bytes, so
 * that a body may be cut anywhere:
 *
 *     5;name=value CR LF hello CR LF 0 CR LF Trailer: value CR LF CR LF
 *
 * The white space that RFC 9112 7.1.1 tolerates around a size is refused; those who
 * disagree on where a chunk begins are those who forward it.
 */
#include "http/body.h"

#include "http/http_priv.h"

enum { SIZE_DIGITS = 15, CHUNK_LINE_BYTES = 256, TRAILER_BYTES = 8192 };

enum step {
    STEP_REFUSED,
    STEP_SIZE_START,
    STEP_SIZE,
    STEP_EXTENSION,
    STEP_SIZE_LF,
    STEP_CONTENT, /* takes content, no syntax */
    STEP_CONTENT_CR,
    STEP_CONTENT_LF,
    STEP_TRAILER, /* at the start of a line */
    STEP_TRAILER_NAME,
    STEP_TRAILER_VALUE,
    STEP_TRAILER_LF,
    STEP_LAST_LF,
    STEP_DONE,
};

/* clang-format off */
static const uint8_t next_step[STEP_DONE][BYTE_CLASSES] = {
    [STEP_SIZE_START] = {
        [BYTE_HEX]                    = STEP_SIZE,
    },
    [STEP_SIZE] = {
        [BYTE_HEX]                    = STEP_SIZE,
        [BYTE_SEMICOLON]              = STEP_EXTENSION,
        [BYTE_CR]                     = STEP_SIZE_LF,
    },
    [STEP_EXTENSION] = {
        [BYTE_SPACE ... BYTE_TEXT]    = STEP_EXTENSION,
        [BYTE_CR]                     = STEP_SIZE_LF,
    },
    [STEP_SIZE_LF]       = { [BYTE_LF] = STEP_CONTENT },
    [STEP_CONTENT_CR]    = { [BYTE_CR] = STEP_CONTENT_LF },
    [STEP_CONTENT_LF]    = { [BYTE_LF] = STEP_SIZE_START },
    [STEP_TRAILER] = {
        [BYTE_HEX ... BYTE_TOKEN]     = STEP_TRAILER_NAME,
        [BYTE_CR]                     = STEP_LAST_LF,
    },
    [STEP_TRAILER_NAME] = {
        [BYTE_HEX ... BYTE_TOKEN]     = STEP_TRAILER_NAME,
        [BYTE_COLON]                  = STEP_TRAILER_VALUE,
    },
    [STEP_TRAILER_VALUE] = {
        [BYTE_TAB ... BYTE_HIGH]      = STEP_TRAILER_VALUE,
        [BYTE_CR]                     = STEP_TRAILER_LF,
    },
    [STEP_TRAILER_LF]    = { [BYTE_LF] = STEP_TRAILER },
    [STEP_LAST_LF]       = { [BYTE_LF] = STEP_DONE },
};
/* clang-format on */

void http_body_init_chunked(struct http_body *body, uint64_t max_bytes)
{
    *body = (struct http_body){ .state = HTTP_BODY_CHUNKED,
                                .step = STEP_SIZE_START,
                                .max_bytes = max_bytes };
}

enum err http_body_init(struct http_body *body, const struct http_request *req,
                        uint64_t max_bytes)
{
    *body = (struct http_body){ .max_bytes = max_bytes };
    if (req->is_chunked) {
        http_body_init_chunked(body, max_bytes);
    } else if (req->length > 0) {
        body->state = HTTP_BODY_LENGTH;
        body->left = req->length;
    }
    return req->has_length && req->length > max_bytes ? ERR_TOO_LARGE : OK;
}

static struct str take(struct http_body *body, struct str *bytes)
{
    size_t count = bytes->len < body->left ? bytes->len : (size_t)body->left;
    struct str piece = str_slice(*bytes, 0, count);

    *bytes = str_slice(*bytes, count, bytes->len);
    body->left -= count;
    body->total += count;
    return piece;
}

static enum err take_digit(struct http_body *body, char c)
{
    if (body->line > SIZE_DIGITS)
        return ERR_BAD_REQUEST;
    body->left = body->left * 16 + (uint64_t)str_hex_digit(c);
    return body->left > body->max_bytes - body->total ? ERR_TOO_LARGE : OK;
}

/* What entering a step does; `line` counts since the last reset here. */
static enum err enter(struct http_body *body, enum step step, char c)
{
    body->step = (uint8_t)step;
    if (step == STEP_REFUSED)
        return ERR_BAD_REQUEST;
    if (step == STEP_SIZE)
        return take_digit(body, c);
    if (step >= STEP_TRAILER)
        return body->line > TRAILER_BYTES ? ERR_TOO_LARGE : OK;
    if (step == STEP_EXTENSION && body->line > CHUNK_LINE_BYTES)
        return ERR_BAD_REQUEST;
    if (step == STEP_CONTENT || step == STEP_SIZE_START)
        body->line = 0;
    if (step == STEP_CONTENT && body->left == 0)
        body->step = STEP_TRAILER;
    return OK;
}

static enum err take_syntax(struct http_body *body, char c)
{
    enum step step = (enum step)next_step[body->step][http_byte(c)];
    enum err err;

    body->line++;
    err = enter(body, step, c);
    if (err)
        body->step = STEP_REFUSED;
    if (step == STEP_DONE)
        body->state = HTTP_BODY_DONE;
    return err;
}

static enum err next_of_chunks(struct http_body *body, struct str *bytes,
                               struct str *ret_piece)
{
    struct str piece = {};

    while (bytes->len && piece.len == 0 && body->state == HTTP_BODY_CHUNKED) {
        enum err err;

        if (body->step == STEP_CONTENT) {
            piece = take(body, bytes);
            if (body->left == 0)
                body->step = STEP_CONTENT_CR;
            continue;
        }
        err = take_syntax(body, bytes->ptr[0]);
        if (err)
            return err;
        *bytes = str_slice(*bytes, 1, bytes->len);
    }
    *ret_piece = piece;
    return OK;
}

enum err http_body_next(struct http_body *body, struct str *bytes, struct str *ret_piece)
{
    switch (body->state) {
    case HTTP_BODY_DONE: break;
    case HTTP_BODY_CHUNKED: return next_of_chunks(body, bytes, ret_piece);
    case HTTP_BODY_LENGTH:
        *ret_piece = take(body, bytes);
        if (body->left == 0)
            body->state = HTTP_BODY_DONE;
        return OK;
    }
    *ret_piece = (struct str){};
    return OK;
}
