/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that fails on command. What is linked with fault.c, or runs with
 *
 *     LD_PRELOAD=build/tests/harness/libfault.so MOOT_FAULTS=FILE
 *
 * writes and syncs through it. FILE holds a line per fault and may change at any time; it
 * need not exist:
 *
 *     sync EIO audit.db        every fsync of a file with this in its path fails
 *     write ENOSPC /data/      so does every write
 */
#pragma once

enum fault_call { FAULT_SYNC, FAULT_WRITE };

struct fault {
    enum fault_call call;
    int code;      /* what errno becomes; 0: no fault */
    char name[64]; /* in the path */
    long skip;     /* so many calls are good */
    long times;    /* then so many fail; 0: all */
};

/* For the program itself, instead of the file. From any thread. */
void fault_set(const struct fault *fault);
void fault_clear(void);
