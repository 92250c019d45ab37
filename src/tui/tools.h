/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tools participants offer, as far as they were asked (tools/list). What they
 * answer is foreign: tools whose name cannot be called are left out, and everything is
 * bounded; of many participants the one that was asked first is forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { TOOLS_SHELVES = 64, TOOLS_EACH = 1000, TOOLS_PAGES = 20, TOOLS_ID = 40 };

enum shelf_state { SHELF_ASKED, SHELF_KNOWN, SHELF_SILENT };

struct shelf {
    char *owner;
    enum shelf_state state;
    char **names;
    char **descriptions; /* plain, one line, maybe "" */
    size_t count;
    size_t pages;
    char *why;            /* SHELF_SILENT: what came instead, plain */
    char asked[TOOLS_ID]; /* by which request: tools_find_asked() */
};

struct tools {
    struct shelf *shelves[TOOLS_SHELVES]; /* the oldest first */
    size_t count;
};

void tools_done(struct tools *tools);

/* NULL: never asked, or forgotten. */
struct shelf *tools_find(const struct tools *tools, struct str owner);

struct shelf *tools_find_asked(const struct tools *tools, struct str id);

/* It is asked now: what was known of it goes. */
struct shelf *tools_ask(struct tools *tools, struct str owner);

/* A result of tools/list. True: there is more, and `cursor` is how to ask for it. */
bool shelf_add(struct shelf *shelf, struct str result, struct buf *cursor);
void shelf_fail(struct shelf *shelf, struct str why);

void tools_forget(struct tools *tools, struct str owner);

/* For people: a tool a line, or why there are none. */
void shelf_put(struct buf *out, const struct shelf *shelf);
