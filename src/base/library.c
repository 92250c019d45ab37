/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

_Static_assert(sizeof(void *) == sizeof(void (*)(void)));

static enum err missing(const struct library *library, char **ret_why)
{
    const char *problem = dlerror();

    if (ret_why &&
        asprintf(ret_why, "%s cannot be used; it is in the Debian package %s (%s)",
                 library->file, library->package, problem ? problem : "unknown") < 0)
        abort(); /* out of memory */
    return ERR_NOT_FOUND;
}

enum err library_load(const struct library *library, void *ret, char **ret_why)
{
    size_t bytes = library->count * sizeof(void *);
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void **found;

    if (!handle)
        return missing(library, ret_why);
    found = xmalloc(bytes);
    for (size_t i = 0; i < library->count; i++) {
        found[i] = dlsym(handle, library->names[i]);
        if (!found[i]) {
            free(found);
            return missing(library, ret_why);
        }
    }
    memcpy(ret, found, bytes);
    free(found);
    return OK;
}
