/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP client in the loop. It waits for nobody: names are asked for in threads of
 * their own, everything else happens when a descriptor is ready. Connections are kept for
 * the next call to the same place.
 *
 * It goes where the URL says and nowhere else: redirects are answers like any other, and
 * proxies of the environment are used by who asks for it. Certificates are verified
 * against those of the system, or of the file that SSL_CERT_FILE names. Cookies,
 * passwords of ~/.netrc and other protocols than HTTP do not exist.
 *
 * libcurl does the work and is loaded with the first client.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
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
    enum err err; /* OK: there is a status, whichever. ERR_TIMEOUT, ERR_TOO_BIG, ERR_IO;
                   * of an order also ERR_FORBIDDEN: the address must not be reached, and
                   * ERR_INVALID: of its URL or a field */
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

/* --- calls of any method, whose answer is taken as it comes --- */

/* Which addresses may be connected to, judged when a socket is made for one, so that no
 * name can mean something else by then. With a proxy of the environment only addresses
 * that stand in the URL can be judged. */
enum fetch_reach {
    FETCH_ANYWHERE, /* what the operator wrote: all but link-local */
    FETCH_PUBLIC,   /* and https alone */
    FETCH_LOCAL, /* public (https), or loopback: for what a server on this machine says */
};

/* May it be reached? Private, shared, link-local, multicast, documentation and reserved
 * ranges of both families are not public, nor are IPv4 addresses inside IPv6 ones. */
bool fetch_may_reach(enum fetch_reach reach, const struct sockaddr *address);

struct fetch_order {
    const char *method; /* GET, POST, DELETE */
    const char *url;    /* http:// or https:// */
    const char *const *fields;
    size_t field_count;
    struct str body; /* copied */
    enum fetch_reach reach;
    bool uses_proxies;   /* of the environment: https_proxy, no_proxy, … */
    uint64_t connect_ms; /* 0: the usual */
    uint64_t silence_ms; /* without a byte, in whole seconds; 0: as long as it likes */
    uint64_t timeout_ms; /* of all of it; 0: none */
    size_t max_answer;   /* bytes of its body, all together; 0: who takes them counts */
};

struct fetch_head {
    unsigned status;
    struct str type; /* the media type, small letters, without parameters */
};

/* All but on_done may be NULL, and each may begin and cancel calls. */
struct fetch_ops {
    /* The head has come; fetch_field() tells more, until on_done returns. */
    void (*on_head)(void *user, struct fetch_call *call, const struct fetch_head *head);
    void (*on_bytes)(void *user, struct str bytes);
    /* Once, the last. Without on_bytes it has the whole body, else none. */
    void (*on_done)(void *user, const struct fetch_answer *answer);
};

/* Never calls back inside, and never sends a body twice. fetch_cancel() ends it, also
 * inside on_head and on_bytes. */
struct fetch_call *fetch_start(struct fetch *fetch, const struct fetch_order *order,
                               const struct fetch_ops *ops, void *user);

/* All fields of that name, one per line; "" where there is none. Valid until it is asked
 * for the next one. */
struct str fetch_field(struct fetch_call *call, struct str name);

/* --- addresses that somebody names --- */

/* Appends what `reference` means where it stands at `base`. ERR_INVALID: nothing that can
 * be fetched. */
enum err fetch_join(const struct fetch *fetch, const char *base, const char *reference,
                    struct buf *out);

/* The same scheme, host and port? */
bool fetch_is_same_origin(const struct fetch *fetch, const char *a, const char *b);
