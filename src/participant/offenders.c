/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/offenders.h"

#include <stdlib.h>

#include "base/xalloc.h"

void offenders_init(struct offenders *offenders, size_t max)
{
    *offenders = (struct offenders){ .max = max };
    map_init(&offenders->named);
    list_init(&offenders->unreported);
}

void offenders_done(struct offenders *offenders)
{
    struct offender *offender;

    MAP_FOREACH(offender, &offenders->named)
        free(offender);
    map_done(&offenders->named);
    list_init(&offenders->unreported);
}

static struct offender *offender_of(struct offenders *offenders, struct str from)
{
    struct offender *offender = map_find(&offenders->named, from);

    if (offender || from.len == 0 || offenders->named.count >= offenders->max)
        return offender;
    offender = xcalloc(1, sizeof(*offender) + from.len);
    memcpy(offender->bytes, from.ptr, from.len);
    offender->from = (struct str){ offender->bytes, from.len };
    map_set(&offenders->named, offender->from, offender);
    return offender;
}

/* Few are reported at a time, and seldom: the list is kept in order by walking it. */
static void enlist(struct offenders *offenders, struct offender *offender)
{
    struct link *at = offenders->unreported.prev;

    if (link_is_set(&offender->link))
        return;
    while (at != &offenders->unreported &&
           CONTAINER_OF(at, struct offender, link)->report_ms > offender->report_ms)
        at = at->prev;
    list_append(at->next, &offender->link);
}

uint64_t offenders_count(struct offenders *offenders, struct str from, struct str what)
{
    struct offender *offender = offender_of(offenders, from);

    if (!offender)
        return ++offenders->others;
    offender->what = what;
    offender->count++;
    enlist(offenders, offender);
    return offender->count;
}

const struct offender *offenders_take_report(struct offenders *offenders, uint64_t now_ms)
{
    struct offender *offender = LIST_FIRST(&offenders->unreported, struct offender, link);

    if (!offender || offender->report_ms > now_ms)
        return NULL;
    list_remove(&offender->link);
    offender->report_ms = now_ms + OFFENDER_REPORT_MS;
    return offender;
}

uint64_t offenders_due_ms(const struct offenders *offenders)
{
    const struct offender *offender =
        LIST_FIRST(&offenders->unreported, struct offender, link);

    return offender ? offender->report_ms : UINT64_MAX;
}
