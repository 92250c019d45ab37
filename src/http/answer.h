/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an HTTP/1.1 answer, as a client reads it: as strictly as a request is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "http/request.h"

struct http_answer {
    int status; /* 100 to 599 */
    struct http_header headers[HTTP_MAX_HEADERS];
    size_t header_count;
};

/* Parses one head of at most `max` bytes from the front of `bytes`, from which the result
 * borrows. ERR_AGAIN: more is needed. OK: *ret_used is the length of the head with its
 * empty line. Otherwise it is no answer, and *ret_why, a static text, says why:
 * ERR_BAD_REQUEST, ERR_HEAD_TOO_LARGE. */
enum err http_answer_parse(struct str bytes, size_t max, struct http_answer *ret,
                           size_t *ret_used, const char **ret_why);

/* As http_header_find() and http_header_has_token() of a request. */
struct str http_answer_find(const struct http_answer *answer, struct str name,
                            size_t *ret_count);
bool http_answer_has_token(const struct http_answer *answer, struct str name,
                           struct str token);
