/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scoped release. What a function acquires and may have to release is declared with
 * CLEANUP(x_freep); success moves it out with TAKE.
 *
 *     CLEANUP(thing_freep) struct thing *t = thing_new();
 *     ...
 *     *ret = TAKE(t);
 */
#pragma once

#include <stddef.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* Moves a pointer out of its variable, which is NULL afterwards. */
#define TAKE(p)                    \
    ({                             \
        typeof(p) *_from = &(p);   \
        typeof(p) _value = *_from; \
        *_from = NULL;             \
        _value;                    \
    })

/* Defines `fn##p`, the form that CLEANUP wants, for a function that frees a pointer. */
#define CLEANUP_FOR(type, fn)          \
    static inline void fn##p(type **p) \
    {                                  \
        fn(*p);                        \
    }

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The structure that contains the member pointed to. */
/* clang-format off */
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
/* clang-format on */

/* Moves a descriptor out of its variable, which is -1 afterwards. */
static inline int fd_take(int *fd)
{
    int value = *fd;

    *fd = -1;
    return value;
}

/* Closes a descriptor kept in a variable; -1 means there is none. */
static inline void fd_closep(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}
