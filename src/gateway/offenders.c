/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/offenders.h"

#include "gateway/metrics.h"

void offenders_add(struct offenders *offenders, const struct offender *offender)
{
    size_t at = offenders->count;

    if (at == OFFENDERS_MAX && offenders->worst[--at].violations >= offender->violations)
        return;
    for (; at && offenders->worst[at - 1].violations < offender->violations; at--)
        offenders->worst[at] = offenders->worst[at - 1];
    offenders->worst[at] = *offender;
    if (offenders->count < OFFENDERS_MAX)
        offenders->count++;
}

void offenders_keep(struct offenders *offenders, struct arena *arena)
{
    for (size_t i = 0; i < offenders->count; i++) {
        struct offender *one = &offenders->worst[i];

        one->topic = arena_str(arena, one->topic);
        one->id = arena_str(arena, one->id);
        if (!one->topic.ptr || !one->id.ptr)
            offenders->count = i;
    }
}

/* Ids are any text without control characters. */
static void put_label(struct buf *out, struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            buf_putc(out, '\\');
        buf_putc(out, value.ptr[i]);
    }
}

void offenders_write(const struct offenders *offenders, struct buf *out)
{
    buf_put(out, S("# HELP " METRIC_OFFENDERS
                   " Violations of the participants with the most of them.\n"
                   "# TYPE " METRIC_OFFENDERS " gauge\n"));
    for (size_t i = 0; i < offenders->count; i++) {
        buf_put(out, S(METRIC_OFFENDERS "{topic=\""));
        put_label(out, offenders->worst[i].topic);
        buf_put(out, S("\",participant=\""));
        put_label(out, offenders->worst[i].id);
        buf_put(out, S("\"} "));
        buf_putu(out, offenders->worst[i].violations);
        buf_putc(out, '\n');
    }
}
