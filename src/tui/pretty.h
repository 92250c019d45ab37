/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON of others, written for people. Strings are unescaped and escaped anew, so that
 * "\u0072\u006d" is seen as "rm", while what acts on a terminal, and what the locale has
 * no sign for, is seen as an escape; the value stays the same.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum pretty {
    PRETTY_LINE,  /* one line, a space behind ':' and ',' */
    PRETTY_LINES, /* indented; still JSON */
    PRETTY_SHOWN, /* indented, and broken inside strings behind each \n: for reading */
};

/* ERR_INVALID: it is no JSON, and nothing was written. Stops where `out` is full; what
 * is too long to be shown makes it full. */
enum err pretty_put(struct buf *out, struct str json, enum pretty how);

/* The members of an object on one line without its braces: `path: "/tmp", lines: 3`. */
enum err pretty_put_members(struct buf *out, struct str json);
