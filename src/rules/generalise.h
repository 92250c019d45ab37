/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From examples to shapes: the narrowest that cover enough of them, and no rejected one.
 *
 * All examples have the same members, so they are a table: a row for each, a column for
 * each member that is no object itself. A column becomes a value, a few values that each
 * were seen often enough, or something wider: a range, a directory, a prefix, a text.
 * Rows that do not go with the others are left out, and count for nothing.
 *
 *     values and something wider      one shape for each of the values: what is allowed
 *                                     for one of them is not allowed for another
 *     values and values               all combinations were seen, else the same
 *     a rejected example is covered   the same, then values alone, then nothing
 */
#pragma once

#include "rules/shape.h"

enum {
    GENERALISE_VALUES = 8,   /* at most in a list */
    GENERALISE_SUPPORT = 3,  /* approvals that each of them needs */
    GENERALISE_DISTINCT = 5, /* values that something wider needs */
    GENERALISE_FOUND = 16,   /* shapes of one table */
};

/* A row. */
struct sample {
    const struct json *arguments; /* of the canonical text: members by name */
    const struct json *leaves[SHAPE_MEMBERS];
    struct str texts[SHAPE_MEMBERS]; /* canonical */
    const void *example;             /* whose it is */
};

struct generalise_table {
    const struct sample *const *approved;
    size_t approved_count;
    const struct sample *const *rejected;
    size_t rejected_count;
    size_t columns;
    size_t min_rows;
    struct arena *arena;   /* of shapes */
    struct arena *scratch; /* of the rest */
};

/* Fills in the leaves. ERR_INVALID: there are too many, or they are too deep. */
enum err sample_init(struct sample *sample, const struct json *arguments,
                     struct arena *scratch, size_t *ret_columns);

struct generalised {
    const struct shape *arguments;
    const struct sample **rows; /* what it rests on, in their order; in the scratch */
    size_t row_count;
};

/* At most GENERALISE_FOUND; `ret_count` of them are in `ret`. ERR_TOO_BIG: an arena is
 * full. */
enum err generalise(const struct generalise_table *table, struct generalised *ret,
                    size_t *ret_count);

/* --- behind it: columns that are wider than values (generalise_wide.c) --- */

struct column {
    struct str key;
    const struct json **values;
    size_t count;
    bool *drops; /* rows to be left out; NULL: none may be */
    struct arena *arena, *scratch;
};

/* Different values, and how often each is there. */
struct run {
    struct str text;
    const struct json *value;
    size_t count;
};

enum widened {
    WIDENED,         /* *ret is it */
    WIDENED_DROPPED, /* some rows have to go first */
    WIDENED_NOT,
};

enum widened widen(const struct column *column, const struct run *runs, size_t run_count,
                   struct shape *ret);

/* Of canonical texts. NULL: the arena is full. */
struct run *runs_of(const struct str *texts, const struct json **values, size_t count,
                    struct arena *scratch, size_t *ret_count);

/* May the values be listed; then as exactly, boolean or one_of. */
bool list_values(const struct run *runs, size_t count, struct arena *arena,
                 struct shape *ret);
