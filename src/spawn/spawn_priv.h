/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the three programs of this folder say to each other. They are of one build, so a
 * word is a struct.
 *
 *     program ──START──► spawner ──fork──► keeper ──fork──► leader (becomes the server)
 *     program ◄── a socket for each child: SIGNAL, STOP / PROXY, STARTED, ENDED ──►
 * keeper
 *
 * A *keeper* is the sub-reaper of one server: whatever that server starts and leaves
 * behind falls to its keeper and to no other, so what belongs to whom is never guessed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "spawn/spawn.h"

enum {
    ORPHAN_GRACE = 300,  /* ms from SIGTERM to SIGKILL where nobody is left who waits */
    SPAWNER_GRACE = 700, /* ms until the spawner kills keepers that do not end */
    SPAWNER_LAST = 1000, /* ms until the program does it */
    SWEEP_MS = 5,        /* between two looks at what has not died yet */
};

enum word_type {
    WORD_START,   /* with the descriptors below */
    WORD_SIGNAL,  /* `value` */
    WORD_STOP,    /* `grace_ms` */
    WORD_PROXY,   /* with a listening socket */
    WORD_STARTED, /* `value`: the pid */
    WORD_ENDED,   /* `exit`, `value`: as in struct child_end; `why` */
};

/* The descriptors of a START. */
enum { START_IN, START_OUT, START_ERR, START_SOCKET, START_PLAN, WORD_FDS };
enum { WORD_WHY = 160 };

struct word {
    enum word_type type;
    enum child_exit exit;
    int32_t value;
    uint64_t grace_ms;
    char why[WORD_WHY];
};

/* The descriptors stay the caller's. ERR_AGAIN: there is no room; ERR_CLOSED, ERR_IO. */
enum err word_send(int socket, const struct word *word, const int *fds, size_t count);

/* ERR_AGAIN; ERR_CLOSED: the end. Descriptors that did not come are -1. */
enum err word_receive(int socket, struct word *ret, int ret_fds[static WORD_FDS]);

/* A pair of non-blocking sockets for words. */
enum err word_pair(int ret[static 2]);

/* Of the children of this process all but the spared ones get SIGKILL; the dead are
 * reaped. True: none is left. What those had started falls to this process (it is a
 * sub-reaper) and is met when this is called again. Children alone are killed, which
 * nobody else can reap: a pid is never one that means somebody else by now. */
bool family_kill(const pid_t *spared, size_t count);

int pidfd_of(pid_t pid); /* of a child; -1 and errno */

/* In a process forked for it, which ends with it. `fds` are those of the START. */
_Noreturn void keeper_run(const int fds[static WORD_FDS], pid_t spawner);

/* In the keeper's child: sets itself up and becomes the command, or writes why not. */
struct leader_failure {
    int code; /* errno */
    char why[WORD_WHY / 2];
};
struct leader {
    const struct sandbox_plan *plan;
    const char *group; /* its cgroup, or "" */
    int streams[3];
    int socket;   /* the program's, for the proxy */
    int report;   /* where a failure is written; closed by success */
    pid_t keeper; /* its parent, as long as that lives */
};
_Noreturn void leader_run(const struct leader *leader);
