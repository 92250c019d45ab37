/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words by which bodies are found: runs of letters and digits (and of whatever is not
 * ASCII) in the texts, keys and numbers of the JSON, ASCII letters small, escapes
 * resolved; of very long runs the beginning. Both engines index exactly these.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum { AUDIT_WORD_BYTES = 64, AUDIT_BODY_WORDS = 65536 };

/* Appends the words of a body, each once or more, separated by spaces. */
void audit_words(struct str body, struct buf *out);

/* The next word of such a text, or of what somebody asks for (see audit_query.text):
 * false at the end. *ret_is_prefix (may be NULL): it ended with a *. The word is small
 * and stands in `space`. */
bool audit_next_word(struct str text, size_t *at, char space[static AUDIT_WORD_BYTES],
                     struct str *ret, bool *ret_is_prefix);
