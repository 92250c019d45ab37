/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the listing: items as they are listed, pins as people have seen them. */
#pragma once

#include "base/map.h"
#include "bridge/canonical.h"
#include "bridge/pins.h"
#include "crypto/crypto.h"
#include "envelope/lookalike.h"
#include "json/json.h"

enum {
    LISTING_ITEMS = 2000,
    LISTING_BYTES = 4 << 20,
    LISTING_KEPT_BYTES = 32 << 20, /* items, and pins of others */
    LISTING_PINS = 2 * LISTING_ITEMS,
    LISTING_FOLD = 128,
};

struct listing_item {
    struct listed listed;
    char *key, *json;
    char *text;       /* canonical.h */
    bool is_nameless; /* it has no key: dropped */
};

struct listing_items {
    struct listing_item **items;
    size_t count, size;
    size_t bytes;
};

/* What a person has seen. */
struct pin {
    enum offer_type type;
    char *key, *text, *by;
    uint64_t wall_ms;
};

struct listing {
    enum pin_mode mode;
    void (*keep)(void *user, struct str json);
    void *user;
    bool is_trusted;
    struct listing_items lists[OFFER_TYPES];
    struct listing_items next; /* what is being listed */
    enum offer_type next_type;
    struct map pins[OFFER_TYPES];
    uint8_t shown[OFFER_TYPES][SHA256_BYTES];
    bool was_shown[OFFER_TYPES];
};

/* pins.c */
struct pin *listing_pin_find(const struct listing *listing, enum offer_type type,
                             struct str key);
void listing_pin_set(struct listing *listing, const struct pin *what); /* copies */
bool listing_restore_list(struct listing *listing); /* listing_end() without a word */
void listing_judge(struct listing *listing);
void listing_keep(struct listing *listing);

/* pins_item.c: one of a list; judged by itself. */
struct listing_item *listing_item_make(enum offer_type type, const struct json *json);

/* pins_kept.c */
void listing_write(const struct listing *listing, struct buf *out);
