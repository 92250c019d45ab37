/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP client in the loop. It waits for nobody: names are asked for in threads of
 * their own, everything else happens when a descriptor is ready. Connections are kept for
 * the next call to the same place.
 *
 * It goes where the URL says and nowhere else: redirects are answers like any other, and
 * proxies of the environment are not used. Certificates are verified against those of the
 * system, or of the file that SSL_CERT_FILE names. Cookies, passwords of ~/.netrc and
 * other protocols than HTTP do not exist.
 *
 * libcurl does the work and is loaded with the first client.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct fetch;      /* a client: one per loop */
struct fetch_call; /* a request under way */

/* ERR_NOT_FOUND: libcurl is missing; *ret_why (owned by the caller) names the package. */
enum err fetch_new(struct loop *loop, struct fetch **ret, char **ret_why);

/* Cancels what is under way. Not inside on_done. */
void fetch_free(struct fetch *fetch);

struct fetch_request {
    const char *url;           /* http:// or https:// */
    const char *const *fields; /* "Name: value" each, without line ends */
    size_t field_count;
    struct str body; /* borrowed until on_done */
    uint64_t timeout_ms;
    size_t max_answer; /* bytes of its body */
};

struct fetch_answer {
    enum err err; /* OK: there is a status, whichever. ERR_TIMEOUT, ERR_TOO_BIG, ERR_IO */
    unsigned status; /* 0: none came */
    struct str body; /* valid during the call */
    const char *why; /* what went wrong, for people: without the URL and its secrets */
};

/* Sends a POST. Texts besides the body are copied. on_done is called exactly once and
 * never before this has returned, unless the call is cancelled. */
struct fetch_call *
fetch_post(struct fetch *fetch, const struct fetch_request *request,
           void (*on_done)(void *user, const struct fetch_answer *answer), void *user);

/* Ends it without a word. The call is gone, as it is when on_done has begun. */
void fetch_cancel(struct fetch_call *call);
