/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the payload say what the kind says (D21)? What is let in by its kind must not ask
 * for something else inside.
 *
 *     request, proposal   payload.method is METHOD, and neither `result` nor `error`
 *                         stands beside it; CONTEXT, where there is one, is params.name,
 *                         params.uri (resources/…) or what params.ref refers to
 *                         (completion/complete)
 *     response            exactly one of `result` and `error`, no `method`
 *     all others          whatever they like
 *
 * Readers disagree about names that stand twice or that only look like another one, so
 * such a name among those that are read is a mismatch, whatever it holds.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/kind.h"
#include "json/scan.h"

/* What differed, for the error that goes back. */
struct strict_problem {
    struct str field; /* "payload.params.name"; static */
    struct str
        expected;     /* what the kind says; borrows from it, "" where it says nothing */
    const char *what; /* static text */
};

/*
 * The payload is an object that was scanned before. OK, ERR_KIND_PAYLOAD_MISMATCH, or
 * ERR_TOO_LARGE when the arena, which holds names with escapes only, is full.
 */
enum err strict_check(const struct kind *kind, struct json_span payload,
                      struct arena *scratch, struct strict_problem *problem);
