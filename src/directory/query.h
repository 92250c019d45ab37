/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks the directory, and how it is understood.
 *
 *     "Python developer with experience in finance"   →   python  develop  financ*
 *
 * Fillers are dropped, words are asked for by their stem, the last one also as the
 * beginning of a word, unless many have it as it is. No word need be found: whoever has
 * more of them, in places that weigh more, comes first (match.h). Filters, on the other
 * hand, all hold.
 *
 * Pure.
 */
#pragma once

#include "directory/resource.h"
#include "directory/words.h"

enum {
    DIRECTORY_TEXT = 4096, /* bytes */
    DIRECTORY_TERMS = 16,  /* words that are looked for; what follows is not */
    DIRECTORY_SKILLS = 16, /* asked for at once */
    DIRECTORY_PLACES = 8,  /* words of a location */
    DIRECTORY_MEMBERS = 1024,
    DIRECTORY_PAGE = 100,
    DIRECTORY_PRESET_PAGE = 20,
    DIRECTORY_PREFIX = 3,     /* letters; less begin too many words */
    DIRECTORY_FINISHED = 128, /* more than so many have the last word: it begins none */
    DIRECTORY_CURSOR = 64,
};

/* Empty texts and lists ask for nothing. Filters compare without case. */
struct directory_query {
    struct str text;
    struct str_list skills; /* all of them */
    struct str availability;
    struct str kind;         /* "human", "agent" */
    struct str location;     /* each word begins one of the location */
    struct str max_rate;     /* a decimal number, by the hour: see resource_hourly() */
    struct str currency;     /* of the rate */
    struct str_list members; /* of a team: nobody else. What the team is called is for */
    bool is_of_team;         /* the caller to look up; false: everybody */
    size_t limit;            /* 0: DIRECTORY_PRESET_PAGE */
    struct str cursor;       /* of the page before; "": the first page */
};

struct directory_term {
    char word[DIRECTORY_WORD], stem[DIRECTORY_WORD];
    size_t word_len, stem_len;
    bool may_begin; /* a longer word */
};

/* Where a page begins: behind this hit. */
struct directory_place {
    uint32_t score;
    uint64_t rank;
};

/* The query, understood. It borrows from the query. */
struct directory_ask {
    const struct directory_query *query;
    struct directory_term terms[DIRECTORY_TERMS];
    size_t term_count;
    bool has_text; /* something was asked for, even if no word is in it */
    bool has_max_rate;
    uint64_t max_hourly;
    bool has_cursor;
    struct directory_place after;
    size_t limit;
};

/* ERR_INVALID: `problem` (may be NULL) says what; its field is one of the query. */
enum err directory_ask_read(const struct directory_query *query,
                            struct directory_ask *ret, struct resource_problem *problem);

/* What a client gets to ask for the next page. It says nothing but a place, so there is
 * nothing to be gained from a forged one. */
void directory_cursor_write(struct buf *out, const struct directory_place *place);
enum err directory_cursor_parse(struct str text, struct directory_place *ret);

/* A rate by the hour in millionths: a day has 8 hours, a month 160. False: none is
 * given. */
bool resource_hourly(const struct resource_rate *rate, uint64_t *ret);

/* The order among those with the same score: who is available first, then one that never
 * changes and favours nobody, in so many bits. */
enum { RESOURCE_RANK_BITS = 59 };
uint64_t resource_rank(const struct resource *resource);

/* Between which ranks those are that the filters ask for: from *ret_first on, and before
 * *ret_end. */
void directory_ranks(const struct directory_ask *ask, uint64_t *ret_first,
                     uint64_t *ret_end);

/* The rank of resource_availability_rank() that is not of one availability alone. */
enum { RESOURCE_OTHERWISE = 3 };
