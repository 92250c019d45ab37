/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words by which resources are found, whichever engine looks for them: runs of
 * letters and digits, small and without accents ("Zürich" is "zurich"), with the signs
 * that names of skills end with ("c++", "f#"). Characters of scripts that are written
 * without spaces are words by themselves. Words are found by their stem ("developers",
 * "development": "develop").
 *
 * The index of a store holds such words: whoever changes what a word is writes a
 * migration that builds the index again.
 *
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { DIRECTORY_WORD = 64 }; /* bytes; of longer words the beginning */

/* The next word of a text: begin with *at = 0; false at the end. It stands in `space`.
 * Any bytes may be a text; words are UTF-8 without quotes, spaces and NUL. */
bool directory_next_word(struct str text, size_t *at, char space[static DIRECTORY_WORD],
                         struct str *ret);

/* Words that say nothing about whom somebody looks for: "with", "experience", "in". */
bool directory_is_filler(struct str word);

/* The stem of a word (Porter, 1980), in `space`. What is not English letters stays. */
struct str directory_stem(struct str word, char space[static DIRECTORY_WORD]);
