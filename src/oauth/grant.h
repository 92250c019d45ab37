/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was granted to us, and how to use it: the tokens of one resource, the client to
 * which one authorization server gave them, and that server. It is kept as a whole and
 * belongs together: nothing of it is shown to another issuer.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum grant_text {
    GRANT_ISSUER,
    GRANT_RESOURCE,
    GRANT_TOKEN_ENDPOINT,
    GRANT_CLIENT_ID,
    GRANT_CLIENT_SECRET,
    GRANT_METHOD,       /* of the token endpoint */
    GRANT_REDIRECT_URI, /* with which the client was registered */
    GRANT_ACCESS_TOKEN,
    GRANT_REFRESH_TOKEN,
    GRANT_SCOPE, /* that was asked for */
    GRANT_TEXTS,
};

struct oauth_grant {
    char *texts[GRANT_TEXTS]; /* NULL: "" */
    uint64_t ends_ms;         /* wall clock; 0: not known */
};

void oauth_grant_done(struct oauth_grant *grant); /* wipes it; it may be used again */
struct str oauth_grant_get(const struct oauth_grant *grant, enum grant_text which);
void oauth_grant_set(struct oauth_grant *grant, enum grant_text which, struct str text);

/* As JSON. ERR_INVALID: it is none that was written, and `ret` stays as it is. */
void oauth_grant_write(struct buf *out, const struct oauth_grant *grant);
enum err oauth_grant_read(struct str json, struct oauth_grant *ret);
