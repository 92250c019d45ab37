/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings that administrators have made at run time: which, by whom and when. They
 * lie over the file (config/overlay.h) and are kept in the store, one item each. A value
 * of its own: whoever changes it changes a copy, and that is put into force as a whole.
 */
#pragma once

#include "config/overlay.h"
#include "store/store.h"

struct tuned {
    char *name, *value, *by;
    uint64_t at_ms; /* wall clock */
};

struct tuning {
    struct tuned items[CONFIG_OVERLAY_MAX];
    size_t count;
};

void tuning_done(struct tuning *tuning);
void tuning_copy(struct tuning *to, const struct tuning *from); /* `to` is empty */

const struct tuned *tuning_find(const struct tuning *tuning, struct str name);

/* Copies the texts; in place of the one of that name. Only live ones: there is room. */
void tuning_set(struct tuning *tuning, const struct config_setting *setting,
                struct str by, uint64_t at_ms);
void tuning_remove(struct tuning *tuning, struct str name); /* also where it is not */

/* Borrows; `items` is room for all. */
struct config_overlay tuning_overlay(const struct tuning *tuning,
                                     struct config_setting items[CONFIG_OVERLAY_MAX]);

/* As it is kept, and read back: at the start, in the order of names. What cannot be read,
 * or is no longer live, is logged and left out. */
void tuned_write(const struct tuned *tuned, struct buf *out);
enum err tuning_restore(struct tuning *tuning, struct store *store);
