/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line that is being typed: its text, the cursor, what was cut out last. The cursor
 * stands before a cluster (wrap.h) or at the end. Line breaks come in by pasting alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { LINE_MAX_BYTES = 64 << 10 };

struct line {
    struct buf text;
    struct buf cut;
    size_t at; /* the cursor, in bytes */
};

enum line_key {
    LINE_LEFT,
    LINE_RIGHT,
    LINE_WORD_LEFT,
    LINE_WORD_RIGHT,
    LINE_HOME,
    LINE_END,
    LINE_ERASE_LEFT,
    LINE_ERASE_RIGHT,
    LINE_CUT_WORD,  /* the one before the cursor: Ctrl-W */
    LINE_CUT_LEFT,  /* up to the cursor: Ctrl-U */
    LINE_CUT_RIGHT, /* what follows it: Ctrl-K */
    LINE_PASTE,     /* what was cut: Ctrl-Y */
    LINE_KEYS,
};

void line_init(struct line *line);
void line_done(struct line *line);

struct str line_text(const struct line *line);

/* The cursor is at the end. What is longer than LINE_MAX_BYTES is ERR_TOO_BIG, here and
 * below, and changes nothing. */
enum err line_set(struct line *line, struct str text);

/* At the cursor, which stands behind it. The text is UTF-8. */
enum err line_insert(struct line *line, struct str text);

/* From `from` to the cursor stands `text` instead. */
enum err line_replace(struct line *line, size_t from, struct str text);

void line_key(struct line *line, enum line_key key);

/* Which part is seen in a field of so many columns: the byte where it begins, and the
 * column of the cursor in it. The end of a line that fits is always seen with it. */
struct line_view {
    size_t from;
    size_t cursor;
};
struct line_view line_view(const struct line *line, size_t columns);

/* --- lines that were sent --- */

enum { HISTORY_LINES = 200 };

struct history {
    char *lines[HISTORY_LINES]; /* the oldest first */
    size_t count;
    size_t at;   /* the one that is shown; `count`: the line that was being typed */
    char *draft; /* that line, while others are shown */
};

void history_done(struct history *history);

/* Empty lines and repetitions of the last one are not kept. */
void history_add(struct history *history, struct str text);

/* One back, or forward again. False: there is none, and the line stays as it is. */
bool history_older(struct history *history, struct line *line);
bool history_newer(struct history *history, struct line *line);
