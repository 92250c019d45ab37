/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to the record. All that is given must hold; a text with ptr NULL is not
 * given. The same questions are asked by GET /admin/audit, by the command line and by the
 * exporters, of SQLite and of PostgreSQL, and get the same answers.
 */
#pragma once

#include "audit/record.h"
#include "audit/words.h"

enum audit_order { AUDIT_NEWEST_FIRST, AUDIT_OLDEST_FIRST };

enum { AUDIT_MAX_WORDS = 32, AUDIT_MAX_LIMIT = 1000 };

struct audit_query {
    uint64_t since_ms;      /* at or after; 0: not given */
    uint64_t until_ms;      /* before; 0: not given */
    struct str event;       /* its name */
    struct str topic;       /* exactly, as the next */
    struct str participant; /* who did it */
    struct str kind;        /* exactly, or with * at the end all that begin so */
    struct str verdict;
    struct str thread; /* an id: all that hangs together with it by correlation_id */
    struct str
        text; /* words of the body, all of them; with * at the end of a word all
               * that begin so. Case of ASCII letters does not matter; see words.h */
    enum audit_order order;
    uint64_t after_seq; /* the cursor: behind it in this order; 0: from the beginning */
    size_t limit;       /* at most so many; 0: all */
    bool without_bodies;
};

/* The words of query.text. ERR_INVALID: there are none; ERR_TOO_BIG: there are more than
 * AUDIT_MAX_WORDS. Nothing fits such a text. */
struct audit_terms {
    struct audit_term {
        char space[AUDIT_WORD_BYTES];
        size_t len;
        bool is_prefix;
    } items[AUDIT_MAX_WORDS];
    size_t count;
};

enum err audit_terms_parse(struct str text, struct audit_terms *ret);

/* "2026-11-15T18:00:00Z", or how long ago: "90s", "15m", "2h", "3d", "1w". Never 0, which
 * is no bound. ERR_INVALID. */
enum err audit_time_parse(struct str text, uint64_t now_ms, uint64_t *ret);

/* Does the record itself fit? For what no index covers; `thread` and the cursor are not
 * looked at. */
bool audit_query_fits(const struct audit_query *query, const struct audit_record *record);
