/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bridge remembers of participants: levels of messages, subscriptions, tasks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "json/scan.h"

struct bridge;

/* What is remembered of a participant that has a level, subscriptions or tasks. */
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

/* A task whose owner polls it. */
struct owned_task {
    struct link link; /* oldest first */
    struct str id, owner, json;
    uint64_t until_ms; /* monotonic */
};

struct guest *guest_find(const struct bridge *b, struct str id);
struct guest *guest_get(struct bridge *b, struct str id); /* NULL: too many */
void guest_gone(struct bridge *b, struct str id);
bool guest_watches(const struct guest *guest, struct str uri);
enum err guest_watch(struct bridge *b, struct str id, struct str uri);
void guest_unwatch(struct bridge *b, struct str id, struct str uri);
void guests_watch_again(struct bridge *b); /* the server has been started anew */
void guests_free(struct bridge *b);

/* The task in this result (CreateTaskResult) belongs to him. */
void owned_task_note(struct bridge *b, struct str owner, struct json_span result);
bool owned_task_is_of(const struct bridge *b, struct str owner, struct str id);
struct str owned_task_owner(const struct bridge *b, struct str id); /* or "" */
void owned_task_put_list(struct bridge *b, struct str owner, struct buf *out);
