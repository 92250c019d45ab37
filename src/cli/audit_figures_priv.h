/* SPDX-License-Identifier: Apache-2.0 */
/* Between counting (audit_figures.c) and drawing (audit_plot.c). */
#pragma once

#include "base/cleanup.h"
#include "cli/audit_figures.h"

struct tally_entry {
    uint64_t count;
    size_t len;
    char name[];
};

/* All of them, the most frequent first, then by name; NULL at the end. The list is the
 * caller's. */
const struct tally_entry **tally_sort(const struct tally *tally);
