/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a resource fits what is asked, and why: computed here for both engines, which
 * only look up who comes into question (by the marks below).
 *
 * A word counts once, where it weighs most; one that only begins a word of the resource
 * counts half. The score is their sum.
 *
 *     skills 8+3   role 5+3   name 3+3   location, languages, availability, time zone 2+3
 *     profile, kind 1+3
 *
 * The 3 is for the word itself, wherever it stands: whoever has all that is asked for,
 * some of it in running text, comes before somebody who has one of it as a skill. Scores
 * are twice that, so that halves are whole.
 *
 * Pure.
 */
#pragma once

#include "directory/query.h"

/* How much the places of words weigh, and the letters of their marks: a word of the role
 * has the marks a, b, c and d, so that "role or better" is one of them. */
/* clang-format off */
#define DIRECTORY_CLASSES(X)                                       \
    X(PROFILE,  8, 'a') /* what stands in running text */          \
    X(PLACE,   10, 'b')                                            \
    X(NAME,    12, 'c')                                            \
    X(ROLE,    16, 'd')                                            \
    X(SKILL,   22, 'e')
/* clang-format on */

enum directory_class {
#define X(name, weight, letter) DIRECTORY_##name,
    DIRECTORY_CLASSES(X)
#undef X
        DIRECTORY_CLASS_COUNT
};

unsigned directory_weight(enum directory_class place);

struct directory_match {
    uint32_t score;
    uint32_t terms;  /* bits: those that were found */
    uint64_t skills; /* bits: those of the resource that were asked for or found */
};

void directory_match(const struct directory_ask *ask, const struct resource *resource,
                     struct directory_match *ret);

/* Do all filters hold? Whether it is of a team is not looked at. */
bool directory_passes(const struct directory_ask *ask, const struct resource *resource);

/* {"words":["python"],"skills":["Python"]} */
void directory_reason_write(struct json_writer *w, const struct directory_ask *ask,
                            const struct resource *resource,
                            const struct directory_match *match);

/* --- marks: what an index holds of a resource --- */

enum { DIRECTORY_MARK = DIRECTORY_WORD + 1 }; /* bytes */

/* Appends the marks of a resource, separated by spaces, some perhaps twice. They are made
 * of small letters, digits, '+', '#' and what is not ASCII. */
void directory_marks(const struct resource *resource, struct buf *out);

/* The filters as marks, each with its space behind it; all of them hold. A mark ends with
 * '*' where it is the beginning of one. Availabilities that have a rank of their own are
 * none: see directory_ranks(). */
void directory_filter_marks(const struct directory_ask *ask, struct buf *out);

/* The letter before a word that stands in such a place or a better one. */
char directory_letter(enum directory_class place);
