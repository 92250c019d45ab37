/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion: which word stands before the cursor, what could stand there, and what all
 * of it has in common.
 *
 *     complete_begin(&c, text before the cursor);
 *     … complete_offer(&c, candidate) for all that c.word asks for …
 *     complete_put(&c, &out)                 goes from c.from to the cursor
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "tui/command.h"

struct completion {
    enum command_word word; /* WORD_NONE: nothing is to be completed */
    size_t from;            /* where the word begins */
    struct str typed;       /* of it, without a quote or an @ */
    struct str who;         /* WORD_TOOL: whose */
    bool is_mention;        /* @name inside a chat */
    size_t count;           /* of the candidates that match */
    struct buf common;      /* what they begin with */
    struct buf names;       /* the first of them, for people */
};

/* The completion borrows from the text and the arena. */
void complete_begin(struct completion *c, struct str before_cursor, struct arena *arena);
void complete_done(struct completion *c);

/* ASCII letters match without case. */
void complete_offer(struct completion *c, struct str candidate);

/* What stands there instead. A single match has a space behind it. False: it would change
 * nothing. */
bool complete_put(const struct completion *c, struct buf *out);
