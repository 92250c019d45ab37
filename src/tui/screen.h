/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: a canvas goes out, keys come in. All of ncurses is behind this header.
 * Nothing here rings the bell.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tui/canvas.h"

enum press {
    PRESS_NONE, /* a key that means nothing here */
    PRESS_TEXT, /* a character */
    PRESS_ENTER,
    PRESS_TAB,
    PRESS_ESCAPE,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_UP,
    PRESS_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_BACKSPACE,
    PRESS_DELETE,
    PRESS_WORD_LEFT,
    PRESS_WORD_RIGHT,
    PRESS_HELP,       /* F1 */
    PRESS_INBOX,      /* F2 */
    PRESS_PEOPLE,     /* F3 */
    PRESS_CONTROL,    /* with Ctrl: `character` is the letter, in lower case */
    PRESS_PASTE,      /* what follows is pasted … */
    PRESS_PASTE_ENDS, /* … up to here */
};

struct key {
    enum press press;
    uint32_t character;
};

/* ERR_INVALID: *ret_why, static text, says why it cannot be used (not a terminal, or one
 * without a description). The locale has been set. */
enum err screen_open(const char **ret_why);

/* Leaves the terminal as it was. Harmless when it is not open. */
void screen_close(void);

/* Gives the terminal away to a program and takes it back. */
void screen_suspend(void);
void screen_resume(void);

/* How large it is now, after SIGWINCH as well. */
void screen_measure(unsigned *ret_rows, unsigned *ret_columns);

/* Draws all of it the next time, whatever it thinks is there. */
void screen_redraw(void);

void screen_show(const struct canvas *canvas);

/* The next key that has been pressed; false: there is none now. */
bool screen_read(struct key *ret);
