/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a temporary folder, for tests. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "store/record.h"
#include "store/store.h"

struct stage {
    struct store_setup setup;
    char folder[40];
};

static inline void stage_init(struct stage *stage)
{
    *stage = (struct stage){ .folder = "/tmp/test_store.XXXXXX" };
    CHECK(mkdtemp(stage->folder) != NULL);
    stage->setup.data = stage->folder;
}

/* Removes the folder with the files in it. */
static inline void stage_done(struct stage *stage)
{
    DIR *folder = opendir(stage->folder);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    CHECK_INT(rmdir(stage->folder), 0);
}

/* Borrowed until the next call. */
static inline const char *stage_path(const struct stage *stage, const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", stage->folder, name);
    return path;
}

static inline struct store *stage_open(const struct stage *stage)
{
    struct store *store = NULL;
    char *why = NULL;

    CHECK_INT(store_open(&stage->setup, &store, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    return store;
}
