/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server may ask of its client, and what it may be answered: the insides of
 * sampling/createMessage, elicitation/create and roots/list, in the legacy shape, which
 * is what a session gives (session.h). Pure; neither side is trusted.
 *
 *     server ── params ──► question_check ──► participant
 *     server ◄── out ── question_put_answer ◄── result ── participant
 *
 * A form is a flat object of strings, numbers, booleans and choices; its `$schema` is
 * that of 2020-12 or of draft-07, between which this much of JSON Schema does not differ.
 * `pattern` and keywords that are not known are left to the server: a regular expression
 * of a stranger is not run here.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { QUESTION_WHY = 512 }; /* bytes that `why` has room for */

/* ERR_INVALID: `why` says what is wrong, and where. Other methods are OK. `params` is an
 * object, or "". The scratch holds what is only looked at; where it does not suffice the
 * question is invalid, too. */
enum err question_check(struct str method, struct str params, struct arena *scratch,
                        struct buf *why);

/* Likewise for `result`, which answers it; into `out` goes what the server is to get.
 * Fields of an accepted form that are left out have their defaults there, and there is
 * content for accepted forms alone. The question was checked before. */
struct question_asked {
    struct str method, params;
};
enum err question_put_answer(struct buf *out, const struct question_asked *asked,
                             struct str result, struct arena *scratch, struct buf *why);

/* NULL, or why it is no root: static text that goes on from "a root". */
const char *question_root_fault(struct str uri);
