/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One server per data directory. While a server holds the lock, the command line
 * administers through its local socket instead of opening the store.
 */
#pragma once

#include "base/err.h"

/* Creates `dir` with its parents (mode 0700) where missing and takes the lock on
 * DIR/lock, which then holds our process id, for people. The lock lasts until the
 * descriptor is closed, in children that inherited it as well. ERR_CONFLICT: another
 * process holds it; ERR_IO with errno: the directory or the file cannot be made. */
enum err data_lock(const char *dir, int *ret_fd);
