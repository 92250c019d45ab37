/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of bytes in HTTP/1.1 (RFC 9110 5.5 and 5.6, RFC 5234 B.1). */
#include "http/http_priv.h"

/* clang-format off */
const uint8_t http_bytes[256] = {
    [0 ... 8]       = BYTE_CONTROL,
    ['\t']          = BYTE_TAB,
    ['\n']          = BYTE_LF,
    [11 ... 12]     = BYTE_CONTROL,
    ['\r']          = BYTE_CR,
    [14 ... 31]     = BYTE_CONTROL,
    [' ']           = BYTE_SPACE,
    ['!']           = BYTE_TOKEN,
    ['"']           = BYTE_TEXT,
    ['#' ... '\'']  = BYTE_TOKEN,
    ['(' ... ')']   = BYTE_TEXT,
    ['*' ... '+']   = BYTE_TOKEN,
    [',']           = BYTE_TEXT,
    ['-' ... '.']   = BYTE_TOKEN,
    ['/']           = BYTE_TEXT,
    ['0' ... '9']   = BYTE_HEX,
    [':']           = BYTE_COLON,
    [';']           = BYTE_SEMICOLON,
    ['<' ... '@']   = BYTE_TEXT,
    ['A' ... 'F']   = BYTE_HEX,
    ['G' ... 'Z']   = BYTE_TOKEN,
    ['[' ... ']']   = BYTE_TEXT,
    ['^' ... '`']   = BYTE_TOKEN,
    ['a' ... 'f']   = BYTE_HEX,
    ['g' ... 'z']   = BYTE_TOKEN,
    ['{']           = BYTE_TEXT,
    ['|']           = BYTE_TOKEN,
    ['}']           = BYTE_TEXT,
    ['~']           = BYTE_TOKEN,
    [127]           = BYTE_CONTROL,
    [128 ... 255]   = BYTE_HIGH,
};
/* clang-format on */
