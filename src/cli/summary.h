/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes for people, a line each:
 *
 *     12:03:44 alice  hello
 *     12:03:45 bot -> worker  proposes delete_file {"path":"/tmp/old"}  [p1]
 *     12:03:47 human -> worker  calls delete_file {"path":"/tmp/old"}  [f1 re p1]
 *     12:03:47 worker -> human  result of delete_file: gone  [9c1e..77aa20 re f1]
 *     12:03:50 bob joins (agent)
 *     12:04:02 player replays bot -> worker  proposes delete_file {"path":"/tmp/old"}
 * [r1]
 *
 * What stands in brackets is the envelope's id and the one it refers to; long ones are
 * shortened, but for those of proposals, which people need to decide. Pure: everything
 * that came from outside goes through base/plain.h.
 */
#pragma once

#include <moot.h>

#include "base/buf.h"
#include "cli/palette.h"

struct summary_look {
    const struct palette *palette;
    bool has_lines;  /* a chat of many lines gets many; else all is in one */
    uint64_t now_ms; /* when it was heard, on the wall: what is not replayed is told by
                      * that, for `ts` is what its sender says; 0: by `ts` */
};

/* Ends with a line break. */
void summary_put(struct buf *out, const struct moot_message *message,
                 const struct summary_look *look);

/* "bot -> worker  proposes delete_file {…}", in one line, without time, ids and line
 * break. */
void summary_put_deed(struct buf *out, const struct moot_message *message,
                      const struct palette *palette);

/* "bot -> worker  delete_file {…}: it is old", with all arguments; no line break. */
void summary_put_proposal(struct buf *out, const struct moot_proposal *proposal,
                          const struct palette *palette);

/* "1 of 2 approvals (ann)", where several are needed or one was given; else nothing. */
void summary_put_approvals(struct buf *out, const struct moot_proposal *proposal);

/* "1h 5m", "4m 2s", "59s": until then. */
void summary_put_left(struct buf *out, uint64_t until_ms, uint64_t now_ms);

enum { SUMMARY_TEXT = 4000, SUMMARY_JSON = 1000 }; /* what is longer is cut */
