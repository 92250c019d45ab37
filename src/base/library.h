/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared library that is loaded when it is first needed, so that whoever does not use
 * it neither links it nor pays for it. Its functions stand in a struct of pointers that
 * have their names; one list makes the struct and what fills it:
 *
 *     #define FOO_FUNCTIONS(X) X(foo_open) X(foo_close)
 *     struct foo { FOO_FUNCTIONS(LIBRARY_POINTER) };
 *
 *     static const char *const names[] = { FOO_FUNCTIONS(LIBRARY_NAME) };
 *     _Static_assert(sizeof(struct foo) == sizeof(names));
 *     static const struct library library = { "libfoo.so.1", "libfoo1", names,
 * COUNT(names) };
 *
 *     err = library_load(&library, &foo, &why);
 *     foo.foo_open(…);
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* The types come from the library's own header. */
#define LIBRARY_POINTER(name) typeof(name) *name;
#define LIBRARY_NAME(name)    #name,

struct library {
    const char *file;    /* as the dynamic linker finds it, with the version */
    const char *package; /* of Debian, for who does not have it */
    const char *const *names;
    size_t count;
};

/* Fills the struct at `ret`, which consists of the pointers in the order of the names.
 * The library then stays for the life of the process, so the struct may be copied; any
 * thread may load, as often as it likes. ERR_NOT_FOUND: it is not there, or has not all
 * of the names; *ret_why (owned by the caller; the parameter may be NULL) tells what is
 * missing and which package brings it. */
enum err library_load(const struct library *library, void *ret, char **ret_why);
