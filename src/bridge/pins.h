/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server offers, verbatim, and whether a person has seen it. The first catalogue
 * is trusted; from then on whatever is new or has changed (name, description, schema,
 * annotations: the canonical text) is held until somebody approves it.
 *
 *     listed ─► pins_judge ─► shown, or held with a difference that people can read
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/offer.h"

enum pin_mode { PIN_HOLD, PIN_WARN, PIN_OFF };

enum pin_verdict {
    PIN_SEEN,
    PIN_IS_NEW,
    PIN_HAS_CHANGED,
    PIN_DROPPED, /* it cannot be used at all: `why` */
};

/* Something offered. */
struct listed {
    enum offer_type type;
    struct str key;  /* the name, URI or template, unescaped */
    struct str json; /* as the server wrote it */
    enum pin_verdict verdict;
    const char *why;          /* PIN_DROPPED: static */
    bool is_held;             /* by verdict and mode: neither listed nor called */
    bool wants_authorization; /* a tool that says something about that (gate_terms.h) */
    struct str said;          /* what a pin is compared with */
};

struct listing; /* all that one server offers */

/* `keep` is called with what is to be kept (JSON), whenever that changes. */
struct listing *listing_new(enum pin_mode mode, void (*keep)(void *user, struct str json),
                            void *user);
void listing_free(struct listing *listing);

/* What was kept. ERR_INVALID: it is not ours; everything is new then. */
enum err listing_restore(struct listing *listing, struct str json);

/* A new list of one type, page by page; what was listed before and is not again is gone.
 * Ambiguous names (twice, or equal but for their case or look) and invalid ones are
 * dropped, all of them. Returns whether anything that is shown has changed. */
void listing_begin(struct listing *listing, enum offer_type type);
enum err listing_add_page(struct listing *listing, struct str result);
bool listing_end(struct listing *listing, uint64_t wall_ms);

/* The first catalogue ends here: what comes later is compared with it. */
void listing_trust(struct listing *listing, struct str by, uint64_t wall_ms);
bool listing_is_trusted(const struct listing *listing); /* there was a first one */
struct str listing_name(enum offer_type type);          /* "tools", "resources", … */

const struct listed *listing_find(const struct listing *listing, enum offer_type type,
                                  struct str key);
/* Start with *at = 0; NULL at the end. In the server's order. */
const struct listed *listing_next(const struct listing *listing, enum offer_type type,
                                  size_t *at);

/* The result of …/list for a caller: what is not held, in pages of about `page_bytes`.
 * ERR_INVALID: a cursor that is none of ours. */
enum err listing_put_page(const struct listing *listing, enum offer_type type,
                          struct str cursor, size_t page_bytes, struct buf *out);

/* A person has looked at it. "" is everything. ERR_NOT_FOUND. */
enum err listing_approve(struct listing *listing, enum offer_type type, struct str key,
                         struct str by, uint64_t wall_ms);

/* What changed, line by line ("- …", "+ …"), of one that is held. */
void listing_put_difference(const struct listing *listing, const struct listed *listed,
                            struct buf *out);

/* Names what an approval pins, of one or, with NULL, of all that is listed. Whoever shows
 * it to a person sends this back, and nothing else is approved. 64 hexadecimal digits. */
void listing_put_digest(const struct listing *listing, const struct listed *listed,
                        struct buf *out);

/* Everything, for /admin/servers/NAME/tools. */
void listing_put_json(const struct listing *listing, struct buf *out);
