/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bridge remembers of participants: levels of messages, subscriptions.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

struct bridge;

/* What is remembered of a participant that has a level or subscriptions. */
struct guest {
    struct link link;
    struct str id; /* behind the struct */
    int level;     /* of messages; -1: none are wanted */
    struct link watched;
};

struct watched {
    struct link link;
    struct str uri; /* behind the struct */
};

struct guest *guest_find(const struct bridge *b, struct str id); /* or NULL */
struct guest *guest_get(struct bridge *b, struct str id);        /* NULL: too many */
/* The most verbose one that this participant wants, or ("") any of them, with the calls
 * that are under way; "": none. */
struct str guests_level(const struct bridge *b, struct str id);
void guest_gone(struct bridge *b, struct str id);
bool guest_watches(const struct guest *guest, struct str uri);
enum err guest_watch(struct bridge *b, struct str id, struct str uri);
void guest_unwatch(struct bridge *b, struct str id, struct str uri);
void guests_watch_again(struct bridge *b); /* the server has been started anew */
void guests_free(struct bridge *b);
