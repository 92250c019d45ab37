/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer.h"

#include "http/http_priv.h"

/* RFC 9112 4: "HTTP/1.1 101 Switching Protocols"; d: a digit. The phrase may be empty and
 * says nothing. */
static const char status_form[] = "HTTP/1.d ddd ";
enum { STATUS_AT = 9, STATUS_DIGITS = 3, FORM_BYTES = sizeof(status_form) - 1 };

static bool fits(char form, char c)
{
    return form == 'd' ? c >= '0' && c <= '9' : c == form;
}

/* *ret_end is the position behind the line. */
static enum err read_status(struct str bytes, int *ret, size_t *ret_end,
                            const char **ret_why)
{
    struct str front = str_slice(bytes, 0, FORM_BYTES);
    size_t end = str_find(bytes, '\n', 0);
    uint64_t status;

    *ret_why = "not an HTTP status line";
    for (size_t i = 0; i < front.len; i++)
        if (!fits(status_form[i], front.ptr[i]))
            return ERR_BAD_REQUEST;
    if (end == bytes.len)
        return ERR_AGAIN;
    for (size_t i = FORM_BYTES; i < end; i++)
        if (!http_is_value(bytes.ptr[i]) && !(i + 1 == end && bytes.ptr[i] == '\r'))
            return ERR_BAD_REQUEST;
    if (bytes.ptr[end - 1] != '\r' ||
        str_to_u64(str_slice(bytes, STATUS_AT, STATUS_AT + STATUS_DIGITS), 599,
                   &status) ||
        status < 100)
        return ERR_BAD_REQUEST;
    *ret = (int)status;
    *ret_end = end + 1;
    return OK;
}

enum err http_answer_parse(struct str bytes, size_t max, struct http_answer *ret,
                           size_t *ret_used, const char **ret_why)
{
    struct str seen = str_slice(bytes, 0, max);
    struct http_answer answer;
    const char *why = "";
    size_t from = 0, end = 0;
    enum err err = read_status(seen, &answer.status, &from, &why);

    if (!err)
        err = http_headers_end(seen, from, &end, &why);
    if (err == ERR_AGAIN && bytes.len >= max) {
        why = "the head of the answer is too large";
        err = ERR_HEAD_TOO_LARGE;
    }
    if (!err)
        err = http_headers_read(str_slice(seen, from, end), answer.headers,
                                &answer.header_count, &why);
    if (err) {
        *ret_why = why;
        return err;
    }
    *ret = answer;
    *ret_used = end;
    return OK;
}

struct str http_answer_find(const struct http_answer *answer, struct str name,
                            size_t *ret_count)
{
    return http_headers_find(answer->headers, answer->header_count, name, ret_count);
}

bool http_answer_has_token(const struct http_answer *answer, struct str name,
                           struct str token)
{
    return http_headers_have(answer->headers, answer->header_count, name, token);
}
