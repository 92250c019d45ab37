/* SPDX-License-Identifier: Apache-2.0 */
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p)
{
    if (p)
        return p;
    fputs("level=error event=memory.exhausted\n", stderr);
    abort();
}

void *xmalloc(size_t size)
{
    return check(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    return check(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t size)
{
    return check(realloc(old, size ? size : 1));
}

char *xstrdup(const char *text)
{
    return check(strdup(text));
}

void xfreep(void *p)
{
    void *block;

    memcpy(&block, p, sizeof(block));
    free(block);
}
