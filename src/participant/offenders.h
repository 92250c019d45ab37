/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sent what had to be dropped, and how often. A bounded number of senders is counted
 * by name, all others together: nobody can push somebody else out of the table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"

enum { OFFENDER_REPORT_MS = 60 * 1000 }; /* between two reports of one sender */

struct offender {
    struct str from;
    struct str what; /* the last offence: a static name */
    uint64_t count;
    uint64_t report_ms; /* when it may be reported next; monotonic */
    struct link link;   /* while there is something to report */
    char bytes[];       /* of `from` */
};

struct offenders {
    struct map named;
    struct link unreported; /* the first to be reported first */
    size_t max;
    uint64_t others; /* offences of those that are not named */
};

void offenders_init(struct offenders *offenders, size_t max);
void offenders_done(struct offenders *offenders);

/* Counts it; returns how often this sender (or: all that are not named) was at fault.
 * `what` is static text. */
uint64_t offenders_count(struct offenders *offenders, struct str from, struct str what);

/* Who is to be reported now, or NULL. It counts as reported from then on. */
const struct offender *offenders_take_report(struct offenders *offenders,
                                             uint64_t now_ms);
uint64_t offenders_due_ms(const struct offenders *offenders); /* UINT64_MAX: never */
