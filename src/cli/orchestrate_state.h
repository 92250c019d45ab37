/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder in which `moot orchestrate` keeps its journal (orchestrate/journal.h): for
 * its owner alone, for one process at a time, and never longer than JOURNAL_BYTES.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "orchestrate/journal.h"

struct orchestrate_state {
    char *path;
    struct str topic;
    uint64_t window_ms, rejections_ms; /* what is older is of no use */
    int fd;
    size_t bytes;
    bool is_unsynced;
};

/* `folder` NULL: that of the topic in `data`. Tells all entries that are there. What is
 * wrong has been reported. To be closed in any case. */
int orchestrate_state_open(struct orchestrate_state *state, const char *folder,
                           const char *data, const struct journal_reading *reading);
void orchestrate_state_close(struct orchestrate_state *state);

/* A line; CLI_FAILED has been reported, and nothing more should be done. */
int orchestrate_state_write(struct orchestrate_state *state, struct str line);

/* What was written stands on the disk. */
void orchestrate_state_sync(struct orchestrate_state *state);
