/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the room starts: the editor for arguments, and what a proposal is told to
 * (--on-proposal). Texts of others reach them as files and in the environment, never as
 * part of a command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* --- the editor --- */

enum { EDIT_BYTES = 8 << 20 };

struct edit {
    pid_t pid;    /* 0: none runs */
    char *folder; /* ours alone */
    char *file;
};

/* Starts $VISUAL, $EDITOR or vi on a file with this text, in a folder that only we can
 * read. The caller has given the terminal away. ERR_IO: *ret_why says what failed. */
enum err edit_begin(struct edit *edit, struct str text, const char **ret_why);

/* It has ended with this wait status: what stands in the file now. ERR_IO, ERR_TOO_BIG:
 * *ret_why. File and folder are gone afterwards, whatever happened. */
enum err edit_end(struct edit *edit, int status, struct buf *ret, const char **ret_why);

/* Ends the editor, if one runs: we have to go. */
void edit_abandon(struct edit *edit);

/* --- telling of proposals --- */

enum { HOOK_RUNNING = 4, HOOK_WAITING = 64, HOOK_MS = 60'000 };

/* One proposal, as a program is told: JSON on standard input, and variables. */
struct hook_call {
    struct str json;
    const char *const *names; /* "MOOT_PROPOSAL_ID" … */
    const struct str *values; /* long ones are cut */
    size_t count;
};

struct hook {
    const char *command; /* NULL: nothing is run */
    struct {
        pid_t pid; /* 0: free */
        uint64_t deadline_ms;
    } running[HOOK_RUNNING];
    struct hook_waiting *waiting[HOOK_WAITING]; /* the oldest first */
    size_t waiting_count;
};

/* Runs it now, or when one of the others has ended. ERR_OVERLOAD: too many wait. */
enum err hook_tell(struct hook *hook, const struct hook_call *call, uint64_t now_ms);

/* A child of this id has ended; false: it is none of these. */
bool hook_reap(struct hook *hook, pid_t pid, uint64_t now_ms);

/* Ends what has run for too long. When that is due next; UINT64_MAX: nothing runs. */
uint64_t hook_tick(struct hook *hook, uint64_t now_ms);

/* What waits is forgotten; what runs is left alone. */
void hook_done(struct hook *hook);
