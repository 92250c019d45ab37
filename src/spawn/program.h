/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's side of the spawner is made of. */
#pragma once

#include "base/list.h"
#include "loop/loop.h"
#include "spawn/spawn_priv.h"

struct spawner {
    struct loop *loop; /* the main thread's */
    int control;       /* never changes: any thread sends on it */
    pid_t pid;         /* 0: it died, and is not started again yet */
    struct loop_fd end;
    struct loop_timer sweep;
};

struct spawn {
    const struct spawner *spawner;
    struct loop *loop;
    struct link children;
};
