/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words by which bodies are found: runs of letters and digits (and of whatever is not
 * ASCII) in the texts, keys and numbers of the JSON, ASCII letters small, escapes
 * resolved; of very long runs the beginning. Both engines index exactly these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { AUDIT_WORD_BYTES = 64, AUDIT_BODY_WORDS = 65536 /* what follows is not found */ };

/* Appends the words of a body, each once or more, separated by spaces. */
void audit_words(struct str body, struct buf *out);

/* The same, one by one: begin with the body and zeros. The word stands in `space`. Any
 * bytes may be a body; all words are UTF-8. */
struct audit_word_scan {
    struct str body;
    size_t at;
    size_t count;
    enum { AUDIT_OUTSIDE, AUDIT_IN_NUMBER, AUDIT_IN_STRING } place;
};

bool audit_next_body_word(struct audit_word_scan *scan,
                          char space[static AUDIT_WORD_BYTES], struct str *ret);

/* The next word of such a text, or of what somebody asks for (see audit_query.text):
 * false at the end. *ret_is_prefix (may be NULL): it ended with a *. The word is small
 * and stands in `space`. */
bool audit_next_word(struct str text, size_t *at, char space[static AUDIT_WORD_BYTES],
                     struct str *ret, bool *ret_is_prefix);
