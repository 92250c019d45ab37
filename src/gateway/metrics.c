/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/metrics.h"

void metrics_count_verdict(struct metrics *metrics, enum err verdict)
{
    metrics->envelopes_admitted += verdict == OK;
    metrics->envelopes_refused += verdict != OK;
    metrics->violations += verdict == ERR_CAPABILITY_VIOLATION;
    metrics->rate_limited += verdict == ERR_RATE_LIMITED;
}

void metrics_add(struct metrics *total, const struct metrics *part)
{
#define METRICS_SUM(field, type, name, help) total->field += part->field;
    METRICS_LIST(METRICS_SUM)
#undef METRICS_SUM
}

void metrics_write(const struct metrics *metrics, struct buf *out)
{
#define METRICS_WRITE(field, type, name, help)                                         \
    buf_put(out, S("# HELP " name " " help "\n# TYPE " name " " #type "\n" name " ")); \
    buf_putu(out, metrics->field);                                                     \
    buf_putc(out, '\n');
    METRICS_LIST(METRICS_WRITE)
#undef METRICS_WRITE
}
