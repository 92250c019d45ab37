/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What another process has used up to now: processor time of all its threads, living and
 * ended, and resident memory.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct usage {
    uint64_t cpu_ns;  /* the scheduler's own account, as in schedstat */
    uint64_t user_ms; /* utime and stime: how it is divided, in ticks */
    uint64_t system_ms;
    uint64_t rss_bytes;
};

/* ERR_NOT_FOUND when there is no such process. */
enum err usage_read(pid_t pid, struct usage *ret);
