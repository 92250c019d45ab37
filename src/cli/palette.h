/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours by what they mean. Those of a stream that is no terminal are all empty, so
 * whoever writes does not ask.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { PALETTE_PEOPLE = 5 };

struct palette {
    const char *off;
    const char *dim;  /* what is beside the point: times, ids, presence */
    const char *bold; /* names of tools, headings */
    const char *wait; /* what waits for somebody: proposals */
    const char *good;
    const char *bad;
    const char *people[PALETTE_PEOPLE]; /* one of them for each */
};

/* Colours if the stream is a terminal that knows them, and $NO_COLOR is not set. */
const struct palette *palette_for(FILE *stream);

/* Always: for tests, and for those who know. */
const struct palette *palette_none(void);
const struct palette *palette_ansi(void);

/* Does the locale know more characters than ASCII? For lines and bars. */
bool palette_is_utf8(void);
