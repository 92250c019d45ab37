/* SPDX-License-Identifier: Apache-2.0 */
/* Behind rulebook.h: a book is a list of pages, a page is a rule and all that it says. */
#pragma once

#include "base/cleanup.h"
#include "base/list.h"
#include "rules/rulebook.h"

enum {
    PAGE_MEMORY = 4 * RULEBOOK_TEXT,
    PAGE_MARGIN = 6 << 10, /* of a rule's text: for who changed it, why, and when it was
                            * used, so that nothing of this ever finds no room */
};

struct page {
    struct held_rule held; /* the first: a held rule is known by its page */
    struct link link;
    struct arena arena;
    size_t text_bytes; /* of the rule */
    bool is_dropped;   /* among those gone: it made room */
};

/* By when they were made, then by name: also after a restart. */
struct rulebook {
    struct str topic;
    struct link pages;
    struct link gone; /* with the last change */
    struct arena arena;
    size_t count;
};

/* A copy of all of it. ERR_INVALID, ERR_UTF8, ERR_TOO_BIG: it cannot be kept. */
enum err page_new(const struct held_rule *held, struct page **ret);
void page_free(struct page *page);
CLEANUP_FOR(struct page, page_free)

/* Of the bytes that a book has. */
size_t page_cost(const struct page *page);

struct page *book_find(const struct rulebook *book, struct str id);
void book_insert(struct rulebook *book, struct page *page);
/* It is gone, and lives until the next change. */
void book_take_out(struct rulebook *book, struct page *page);

/* --- the hour --- */

void rule_hour_use(struct rule_hour *hour, uint64_t at_ms);

/* Members of the object that is open, and read back. ERR_INVALID */
void rule_hour_write(const struct rule_hour *hour, struct json_writer *w);
enum err rule_hour_read(uint64_t newest_ms, const struct json *counts,
                        struct rule_hour *ret);
