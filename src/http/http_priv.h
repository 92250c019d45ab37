/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the classes of bytes, and the steps of parsing a
 * request that have a file of their own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "http/request.h"

/* Every byte is in exactly one class. */
enum http_byte {
    BYTE_CONTROL, /* NUL and every control byte without a class of its own */
    BYTE_CR,
    BYTE_LF,
    BYTE_TAB,
    BYTE_SPACE,
    BYTE_HEX,   /* token characters that are hexadecimal digits */
    BYTE_TOKEN, /* the other token characters, RFC 9110 5.6.2 */
    BYTE_COLON,
    BYTE_SEMICOLON,
    BYTE_TEXT, /* the other visible ASCII characters */
    BYTE_HIGH, /* obs-text, 0x80 and above */
    BYTE_CLASSES,
};

extern const uint8_t http_bytes[256];

static inline enum http_byte http_byte(char c)
{
    return (enum http_byte)http_bytes[(unsigned char)c];
}

static inline bool http_is_token(char c)
{
    enum http_byte class = http_byte(c);

    return class == BYTE_HEX || class == BYTE_TOKEN;
}

/* Field content, and the white space around it. */
static inline bool http_is_value(char c)
{
    return http_byte(c) > BYTE_LF;
}

/* True for a name, an IPv4 address or a bracketed IPv6 address, with or without a port.
 * RFC 3986 3.2.2 lets a name hold commas and escapes as well; no host on earth does. */
bool http_is_host(struct str text);

/* Finds the empty line behind the header lines that begin at `from`; *ret is the position
 * behind it. ERR_AGAIN, ERR_BAD_REQUEST, ERR_HEAD_TOO_LARGE, the last two with *ret_why.
 */
enum err http_headers_end(struct str bytes, size_t from, size_t *ret,
                          const char **ret_why);

/* Reads lines that http_headers_end() has found, with the empty one. ERR_BAD_REQUEST. */
enum err http_headers_read(struct str lines,
                           struct http_header out[static HTTP_MAX_HEADERS],
                           size_t *ret_count, const char **ret_why);

/* As http_header_find() and http_header_has_token(). */
struct str http_headers_find(const struct http_header *headers, size_t count,
                             struct str name, size_t *ret_count);
bool http_headers_have(const struct http_header *headers, size_t count, struct str name,
                       struct str token);

/* Fills in target, path and query of a request whose request line and Host are known.
 * On failure *ret_why says what was wrong. */
enum err http_target_read(struct http_request *req, struct str target,
                          const struct http_limits *limits, struct arena *scratch,
                          const char **ret_why);
