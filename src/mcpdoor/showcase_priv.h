/* SPDX-License-Identifier: Apache-2.0 */
/* What a showcase is made of; for showcase*.c alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "mcpdoor/showcase.h"

/* One thing, its texts behind it. `shown.name` is `shown.key` or `long_name`. */
struct show_item {
    struct exhibit shown; /* first: whoever has it has the item */
    struct show_owner *owner;
    struct str long_name; /* OWNER.KEY, of URIs OWNER+KEY */
    uint64_t mark;        /* of type, owner and key: what a cursor says */
    struct link link;     /* of its owner's shelf, as listed */
    /* How many have this key or long name; true of the one that the index leads to. */
    size_t key_count, long_count;
};

struct show_shelf {
    struct link items;
    size_t count, bytes;
};

struct show_owner {
    struct link link; /* by id */
    struct str id;
    struct str tag; /* the id as it stands in names */
    struct show_shelf shelves[OFFER_TYPES];
    char texts[];
};

/* Values are the first item, in order, of that key or name. */
struct show_index {
    struct map by_key, by_long;
};

/* A list that comes in. */
struct show_incoming {
    struct show_owner *owner; /* NULL: none, or one too many */
    enum offer_type type;
    struct show_shelf shelf;
    struct map keys;
};

struct showcase {
    struct link owners;
    struct show_index index[OFFER_TYPES];
    struct show_incoming incoming;
    size_t owner_count;
    size_t count, bytes; /* of all shelves */
    bool is_always_prefixed;
    bool is_prefixed; /* tools and prompts, now */
};

/* In the order of lists; NULL: the first, at the end NULL. */
const struct show_item *show_next(const struct showcase *s, enum offer_type type,
                                  const struct show_item *after);
bool show_may(const struct showcase_view *view, const struct show_item *item);

/* The definition under the name that it has here; all else as its owner wrote it. */
void show_put_item(struct buf *out, const struct show_item *item);

/* --- showcase_names.c --- */

enum { SHOW_TAG = 256 };

/* The id as it stands in names, which has the same length. */
void show_write_tag(struct str id, char *ret);
void show_write_long_name(struct buf *out, const struct show_owner *owner,
                          enum offer_type type, struct str key);
/* After a change of these lists: who is called what. Returns them, and those that are
 * called otherwise because of it. */
unsigned show_name_all(struct showcase *s, unsigned types);
