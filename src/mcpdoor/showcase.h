/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the participants of a topic offer to MCP clients: once per topic, in
 * the words of who offers it. Whoever looks sees what he may call or propose (a filter),
 * under the names that it has here:
 *
 *     one owner                verbatim
 *     several                  OWNER.TOOL, at most 64 characters, the same for ever
 *     a URI of several owners  OWNER+URI; of one: verbatim
 *
 * Names depend on owner and key alone. Longer ones are cut, with six digits of their
 * SHA-256 behind; those that are still equal are not shown at all. Calls may use the
 * plain name or the long one, where only one thing can be meant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/offer.h"

enum {
    SHOWCASE_NAME = 64,
    SHOWCASE_ITEMS = 4000,
    SHOWCASE_BYTES = 8 << 20,
    SHOWCASE_OWNERS = 256,
};

struct showcase;

struct exhibit {
    enum offer_type type;
    struct str owner; /* participant */
    struct str key;   /* the owner's own name, URI or template */
    struct str name;  /* here */
    struct str json;  /* as the owner wrote it */
    bool is_hidden;   /* ambiguous */
};

struct showcase *showcase_new(bool is_always_prefixed);
void showcase_free(struct showcase *showcase);

/* All that an owner offers of one type, page by page: `items` is the JSON array of one
 * page (ERR_INVALID: it is none; ERR_OVERLOAD: the rest of it has no room). Malformed
 * items, and those of a key that the list has already, are passed over. One list at a
 * time. Returns bits of enum offer_type: of what the list that is shown has changed, if
 * only in names. */
void showcase_begin(struct showcase *showcase, struct str owner, enum offer_type type);
enum err showcase_add(struct showcase *showcase, struct str items);
unsigned showcase_end(struct showcase *showcase);
/* These two likewise. */
unsigned showcase_drop(struct showcase *showcase, struct str owner);
unsigned showcase_prefix(struct showcase *showcase, bool is_always_prefixed);

size_t showcase_owners(const struct showcase *showcase);
/* The only one who offers anything, or "". */
struct str showcase_only_owner(const struct showcase *showcase);

/* By the name that a client uses: the one in lists, else the other form of it. NULL:
 * nothing, or more than one thing. */
const struct exhibit *showcase_find(const struct showcase *showcase, enum offer_type type,
                                    struct str name);
/* The same of this owner alone ("": of any), who may also be meant by its own name. */
const struct exhibit *showcase_find_of(const struct showcase *showcase,
                                       enum offer_type type, struct str owner,
                                       struct str name);
/* All of them, in the order of lists; NULL: the first, at the end NULL. */
const struct exhibit *showcase_next(const struct showcase *showcase, enum offer_type type,
                                    const struct exhibit *after);
/* A resource of that URI, else the one template that it matches; `ret_uri` is what the
 * owner calls it, in `out`. */
const struct exhibit *showcase_find_uri(const struct showcase *showcase, struct str uri,
                                        struct buf *out, struct str *ret_uri);
/* What a URI of this owner is called here; itself, where nobody else has it. */
struct str showcase_uri(const struct showcase *showcase, struct str owner, struct str uri,
                        struct buf *out);
/* Does anything have to be renamed in what this owner says? */
bool showcase_renames(const struct showcase *showcase, struct str owner);

struct showcase_view {
    bool (*may)(void *user, const struct exhibit *exhibit);
    void *user;
    struct str more; /* items of our own, finished JSON, comma-separated; behind them */
};

/* {"tools":[…],"nextCursor":…} in a fixed order: owners by id, items as listed. One page
 * holds everything up to `page_bytes`. ERR_INVALID: the cursor is none of ours. */
enum err showcase_put_page(const struct showcase *showcase, enum offer_type type,
                           const struct showcase_view *view, struct str cursor,
                           size_t page_bytes, struct buf *out);

/* The best `limit` tools for these words, best first, as an array of definitions: matches
 * in names before titles before descriptions, words rare here before common ones. */
void showcase_search(const struct showcase *showcase, const struct showcase_view *view,
                     struct str words, size_t limit, struct buf *out);
