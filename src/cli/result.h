/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call brought, as text for people and pipes: the texts of a tool's content, what
 * else there is by a word in brackets, structured content or any other result as JSON.
 */
#pragma once

#include "base/buf.h"

enum result_form {
    RESULT_RAW,   /* for a pipe or a file: the text, byte for byte */
    RESULT_PLAIN, /* for a terminal: through base/plain.h */
};

/* Each piece ends with a line break. What is no JSON is written as it is. */
void result_put(struct buf *out, struct str result, enum result_form form);

/* One JSON text on one line: for a terminal plain, else as it came but for its line
 * breaks. Ends with one. */
void result_put_json(struct buf *out, struct str json, enum result_form form);
