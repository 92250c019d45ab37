/* SPDX-License-Identifier: Apache-2.0 */
/* What the desk is made of; for room_desk*.c alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "json/json.h"
#include "mcpdoor/room_desk.h"
#include "participant/ask.h"

enum { DESK_SCRATCH = 1 << 20 };

struct room_desk {
    const struct showcase *showcase;
    const struct concierge *concierge;
    const struct occupant *occupant;
    struct room_news *news;
    uint64_t number; /* of the last news */
    struct link pending;
    size_t pending_count;
};

/* A call that is not answered yet. */
struct pending {
    struct link link;
    struct room_desk *desk;
    struct occupant *occupant;
    const struct room_news *own;
    struct room_call call;    /* its callbacks and name */
    char said_id[ASK_ID + 1]; /* waits until it was judged; "": for news */
    uint64_t after;
    uint64_t due_ms;
};

/* A call while it is looked at. */
struct asking_tool {
    struct room_desk *desk;
    const struct room_guest *guest;
    const struct room_call *call;
    const struct json *arguments;
    struct arena *scratch;
    struct moment now;
};

/* --- room_desk_calls.c --- */

enum { ROOM_TOOLS = 5 };

struct room_tool {
    struct str name;
    bool (*may)(const struct room_desk *desk, const struct room_guest *guest);
    void (*call)(const struct asking_tool *ask);
    struct str json;
};
extern const struct room_tool room_tools[ROOM_TOOLS];

/* --- room_desk.c: ways to answer --- */

void desk_answer_failure(const struct asking_tool *ask, struct str before,
                         struct str why);
void desk_answer_object(const struct asking_tool *ask, struct str object);
/* False: it was answered that they are wrong. */
bool desk_read_arguments(const struct asking_tool *ask, const struct json_field *fields,
                         size_t count, void *ret);
/* NULL: it was answered that there are too many. */
struct pending *desk_pending_new(const struct asking_tool *ask);
/* Says it; the answer comes when the gateway has taken or refused it. */
void desk_say(const struct asking_tool *ask, struct saying *saying);
/* As soon as there are some, or its time has come. */
void desk_answer_news(struct pending *pending, uint64_t now_ms);
