/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What opens the door of an HTTP server, behind one interface: nothing, a fixed header of
 * the configuration, or OAuth (oauth/oauth.h).
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct credential;

struct challenge {
    unsigned status;             /* 401 or 403 */
    struct str www_authenticate; /* all such fields, one per line, or "" */
    struct str used;             /* what `current` had given for it; ptr NULL: unknown.
                                  * Where another is current by now, that is the answer */
};

struct credential_ops {
    /* The value of Authorization for the next request, or "". Valid until the next call.
     */
    struct str (*current)(struct credential *credential);
    /* What is current was not good enough. `on_done` comes once, never inside: OK: try
     * again; ERR_FORBIDDEN: it is of no use; ERR_TIMEOUT: nobody came to sign in. */
    void (*renew)(struct credential *credential, const struct challenge *challenge,
                  void (*on_done)(void *user, enum err err, const char *why), void *user);
    /* Who waits for `on_done` has gone. */
    void (*forget)(struct credential *credential, void *user);
};

struct credential {
    const struct credential_ops *ops;
};
