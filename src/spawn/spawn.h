/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who starts, reaps and kills children. No other code forks.
 *
 *     loop ── spawn ──┐
 *     loop ── spawn ──┴─ START ─► spawner ──fork──► keeper ──fork──► sandbox_enter()
 *       child ◄═════════ a socket ════════════════► keeper             ──exec──► server
 *
 * The *spawner* is the same program again (`moot spawner`, not listed), so it has one
 * thread and nothing in memory. There is at most one per process, started by the main
 * thread when the first server is wanted. A *keeper* is a fork of it for one server, and
 * the sub-reaper of all that the server starts. Whoever dies, nothing is left:
 *
 *     the server ─ its keeper kills what it had started, then tells the end
 *     the program ─ sockets end: keepers send SIGTERM, and SIGKILL after 300 ms
 *     a keeper ─ the server gets SIGKILL (parent-death signal; under bubblewrap its whole
 *         pid namespace ends), what else there was falls to the spawner, which kills it
 *     the spawner ─ keepers end as if the program had; what is left falls to the program,
 *         a sub-reaper as well, which kills it and starts another spawner
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"

struct spawner;
struct spawn; /* a loop's connection to it */
struct child;

/* The main thread's alone. ERR_IO. `loop` hears when it dies, and starts it again. The
 * process has no other children. */
enum err spawner_open(struct loop *loop, struct spawner **ret);

/* Ends it, and all children: returns when nothing is left, after at most a second. */
void spawner_close(struct spawner *spawner);
pid_t spawner_pid(const struct spawner *spawner);

/* What `moot spawner` does: serves until its socket has ended. The exit code. */
#define SPAWNER_WORD "spawner"
enum { SPAWNER_FD = 3 }; /* where it finds its socket */
int spawner_main(int control_fd);

/* One per loop, on its thread; `spawner` lives longer. */
struct spawn *spawn_new(struct spawner *spawner, struct loop *loop);
void spawn_free(struct spawn *spawn); /* kills its children */

enum child_exit { CHILD_EXITED, CHILD_KILLED, CHILD_NOT_STARTED, CHILD_LOST };

struct child_end {
    enum child_exit type;
    int code;        /* of the exit, or the signal; CHILD_NOT_STARTED: errno */
    const char *why; /* for people */
};

struct child_ops {
    /* The command runs. All that it starts is below its parent. `proxy_fd`: listens
     * inside its network, taken by the callee; -1: none. */
    void (*on_started)(void *user, pid_t pid, int proxy_fd);
    /* Once, and the last: nothing of it is left, whatever it had started. The child is
     * freed when this returns. */
    void (*on_ended)(void *user, const struct child_end *end);
};

/* The descriptors become its 0, 1 and 2 and are closed here, whatever happens. The plan
 * is only read. Never calls back inside. */
struct child *child_start(struct spawn *spawn, const struct sandbox_plan *plan,
                          const int fds[static 3], const struct child_ops *ops,
                          void *user);

/* To its process group, what wraps it included: SIGTERM is the one that wrappers pass by.
 */
void child_signal(struct child *child, int signal);

/* SIGTERM now, SIGKILL to all that is left after the grace. */
void child_stop(struct child *child, uint64_t grace_ms);

/* on_ended is not called any more; it is killed all the same. */
void child_abandon(struct child *child);
