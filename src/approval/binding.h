/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proposal binds its fulfilment to, inside the payload: of tools/call the name and
 * the arguments (none are {}), of all other methods all params but `_meta`. Compared by
 * meaning (json/canonical.h). A name that stands twice, anywhere in the payload, means
 * different things to different readers, and so does one that looks like a name that
 * counts (`Arguments`): such a payload is compared with nothing.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/kind.h"
#include "json/canonical.h"
#include "json/scan.h"

enum {
    BINDING_BYTES = 16 << 20, /* of a payload as a tree; what has more is refused */
    BINDING_MAX = 32,         /* differences that are told, */
    BINDING_PATH = 512,       /* and so many bytes of their paths */
    BINDING_VALUE = 1024,     /* and values */
};

/* Can the payload be compared? ERR_INVALID: a name stands twice or looks like another, or
 * it is too deep; ERR_TOO_BIG. */
enum err binding_check(struct str method, struct json_span payload);

/* Payloads of a proposal and of its fulfilment, both of this method. `ret` lives in the
 * arena and borrows from both texts. Errors as above. */
enum err binding_compare(struct str method, struct json_span proposed,
                         struct json_span asked, struct arena *arena,
                         struct json_differences *ret);

/* [{"path":…,"from":…,"to":…}]: what was not there, or is no longer, is left out. Of a
 * value that is too long only its size is told: "from_bytes", "to_bytes". */
void binding_write(const struct json_differences *differences, struct buf *out);

/* "METHOD:NAME" of what a request, or the proposal of one, is about, in the arena: as the
 * kind says; where that names no CONTEXT, as params do. ptr NULL: the arena is full. */
struct str binding_subject(const struct kind *kind, struct json_span payload,
                           struct arena *arena);
