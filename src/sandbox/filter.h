/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of system calls: a table of what no server needs, as a program for the
 * kernel (seccomp). What is not in the table is allowed; what is newer than the table is
 * answered as an older kernel would.
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

enum { FILTER_MAX = 512 };

enum filter_sockets {
    FILTER_NO_SOCKETS, /* but pairs */
    FILTER_LOCAL_SOCKETS,
    FILTER_INTERNET_SOCKETS,
};

struct filter_rules {
    enum filter_sockets sockets;
    /* Memory that belongs to no process is refused: whoever watches would not see it. */
    bool counts_memory;
};

/* Writes the program; returns its length. */
size_t filter_make(const struct filter_rules *rules,
                   struct sock_filter ret[static FILTER_MAX]);
