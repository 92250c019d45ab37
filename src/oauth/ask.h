/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a client of OAuth: a document or an answer in JSON, from an address that
 * somebody may have named. What has the origin of `home`, which the operator wrote, may
 * be anywhere; all else is public and https, or on this machine where home is. Where the
 * operator did not write it, everything is public.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "fetch/fetch.h"
#include "oauth/uri.h"

struct oauth_asking {
    struct fetch *fetch;
    const struct uri *home;
    bool is_public;
    uint64_t timeout_ms;
    size_t max_answer;
};

struct oauth_message {
    struct str url;
    struct str type; /* of the body, as a field; "": a GET without one */
    struct str body;
    const char *field; /* one more, or NULL */
};

struct fetch_call *oauth_ask(const struct oauth_asking *asking,
                             const struct oauth_message *message,
                             const struct fetch_ops *ops, void *user);

/* https, or this very machine where home is there as well (AUTH-C10); or "". */
bool oauth_is_safe(const struct uri *home, struct str url);
