/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the body of a retention record says: which bodies were removed. They are always
 * the oldest that were left of what it names; so up to last_seq none is left, and a body
 * that is missing behind it was removed by somebody else. Retention records keep their
 * own.
 *
 *     {"topic":"room","count":3,"bytes":300,"first_seq":1,"last_seq":7,"reason":"age"}
 *
 * Without a topic it is of all but those in "except".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct audit_removal {
    struct str topic; /* ptr NULL: all but the following; "": what belongs to none */
    struct str_list except;
    uint64_t count;
    uint64_t bytes;
    uint64_t first_seq;
    uint64_t last_seq;
    struct str reason; /* age, size */
};

void audit_removal_write(const struct audit_removal *removal, struct buf *out);

/* Borrows from the body and the arena. ERR_INVALID, ERR_TOO_BIG (arena). */
enum err audit_removal_parse(struct str body, struct arena *arena,
                             struct audit_removal *ret);

/* Is the topic among those it is of? */
bool audit_removal_is_of(const struct audit_removal *removal, struct str topic);
