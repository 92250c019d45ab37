/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that callers look after themselves: whose they are, how far they are, and what
 * they ask. They outlive their calls and the visits of their owners, within bounds.
 *
 *     tools/call ─► task ─► owned_task ─┬ progress ──► owner, with the token of his call
 *                                       ├ questions ─► legacy owner: he is asked
 *                                       └ questions ─► modern owner: inputRequests of
 *                                         (inputs)     tasks/get, tasks/update answers
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"
#include "bridge/supervisor.h"
#include "json/json.h"
#include "json/scan.h"

struct bridge;
struct bridged;

struct owned_task {
    struct link link; /* oldest first */
    struct bridge *bridge;
    char *json;        /* as it was seen last, in the legacy shape */
    uint64_t until_ms; /* monotonic */
    struct server_origin origin;
    bool is_modern;    /* its owner */
    bool is_client;    /* likewise */
    bool is_over;      /* as far as is known */
    bool is_cancelled; /* a legacy owner was told so, whatever the server does */
    bool is_dropped;   /* it goes with its waiter */
    bool has_progress;
    double progress;             /* told last */
    uint64_t told_ms;            /* not before: the next progress */
    uint64_t asked_ms;           /* up to when what was asked counts */
    struct server_order *waiter; /* tasks/result, on which it asks; or NULL */
    struct link inputs;
    uint64_t keys; /* of inputs, given so far */

    /* Behind the struct. */
    struct str id, owner;
    struct str request_id; /* of the envelope that began it */
    struct str token;      /* of its progress: JSON, or "" */
};

/* --- bridge_task.c --- */

/* The task in this result (CreateTaskResult), if it is one, belongs to who called. */
void owned_task_note(const struct bridged *call, struct server_origin origin,
                     struct json_span result);
struct owned_task *owned_task_find(const struct bridge *b, struct str id); /* or NULL */
bool owned_task_is_of(const struct bridge *b, struct str owner, struct str id);
/* The server said how it is: a task, of whichever era. */
void owned_task_seen(struct owned_task *task, struct json_span state);
void owned_task_put_list(struct bridge *b, struct str owner, struct buf *out);
/* PROG-04: to its owner, while it runs. */
void owned_task_progress(struct bridge *b, struct server_origin of,
                         struct json_span params);
/* At once, or when its waiter has ended. */
void owned_task_drop(struct owned_task *task);
void owned_tasks_free(struct bridge *b); /* the supervisor is gone */

/* --- bridge_input.c --- */

/* A question of a task; it is asked when its owner looks, and refused when he does not
 * answer in time. */
void input_add(struct owned_task *task, struct mcp_question *question);
bool input_gone(struct bridge *b, const struct mcp_question *question); /* it was one */
void inputs_refuse(struct owned_task *task);
void inputs_free(struct owned_task *task);
/* The member `inputRequests`. */
void inputs_put(const struct owned_task *task, struct json_writer *w);
/* tasks/update: keys that are unknown are passed over. False: some answer does not fit
 * its question, which stays; `why` says so. */
bool inputs_answer(struct owned_task *task, const struct json *answers, struct buf *why);
/* Opens tasks/result, on which a legacy server asks, where that is not open (TASK-10). */
void input_wait(struct owned_task *task);
bool input_waits(const struct bridge *b, const struct server_order *order);
/* The task that a question belongs to, by its own word or by its order; or NULL. */
struct owned_task *input_task(const struct bridge *b, const struct server_question *from);
void inputs_tick(struct bridge *b);
uint64_t inputs_due_ms(const struct bridge *b);
