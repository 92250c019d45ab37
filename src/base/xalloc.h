/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that cannot fail: out of memory ends the process. What protects the
 * process are limits, given to every buffer, table and queue when it is made.
 */
#pragma once

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));

/* free() in the form that CLEANUP wants. */
void xfreep(void *p);
