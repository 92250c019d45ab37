/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is here, in the order in which it is shown: people, agents, services, each by name;
 * and in a few words what they may do. Of very many only the first that came are kept,
 * the rest is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { PEOPLE_MAX = 2000 };

struct person {
    char *id;
    char *type;
    char *rights; /* "talks, proposes" */
    bool is_me;
};

struct people {
    struct person *list;
    size_t count; /* in the list */
    size_t total; /* who are here */
    char *chosen; /* an id, or NULL: the first */
    size_t scroll;
};

void people_done(struct people *people);

/* A new list: clear, add all, sort. The choice stays with its id. */
void people_clear(struct people *people);
void people_add(struct people *people, struct str id, struct str type,
                struct str capabilities);
void people_sort(struct people *people, struct str me);

/* The place of the chosen one, or 0. */
size_t people_chosen(const struct people *people);
/* By so many places, as far as there are any. */
void people_move(struct people *people, int by);
bool people_choose(struct people *people, struct str id);

/* What a JSON array of capabilities comes to: "talks, calls some, decides". */
void people_put_rights(struct buf *out, struct str capabilities);

/* The same in full: a capability a line, objects laid out. */
void people_put_capabilities(struct buf *out, struct str capabilities);
