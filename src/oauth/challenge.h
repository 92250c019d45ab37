/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says with a 401 or 403 (WWW-Authenticate, RFC 9110 11.6.1), as far as it
 * is about bearer tokens (RFC 6750 3, RFC 9728 5.1).
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Each is "" where it was not given. */
struct bearer_challenge {
    struct str resource_metadata;
    struct str scope;
    struct str error;
};

/* Of all fields, one per line, each of which may hold several challenges; the first for
 * Bearer counts. Texts without escapes are borrowed. ERR_NOT_FOUND: there is none;
 * ERR_INVALID: it cannot be read; ERR_TOO_BIG. */
enum err bearer_challenge_read(struct str fields, struct arena *arena,
                               struct bearer_challenge *ret);
