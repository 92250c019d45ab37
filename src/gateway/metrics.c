/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/metrics.h"

#include <stddef.h>

void metrics_count_verdict(struct metrics *metrics, enum err verdict)
{
    if (verdict == OK) {
        metrics->envelopes_admitted++;
        return;
    }
    metrics->envelopes_refused++;
    metrics->refused_by[verdict]++;
    metrics->rate_limited += verdict == ERR_RATE_LIMITED;
    metrics->unavailable += verdict == ERR_UNAVAILABLE;
}

void metrics_count_decision(struct metrics *metrics, uint64_t took_ms)
{
    metrics->decision_times[pulse_class(took_ms)]++;
}

void metrics_add(struct metrics *total, const struct metrics *part)
{
#define METRICS_SUM(field, type, name, help) total->field += part->field;
    METRICS_LIST(METRICS_SUM)
#undef METRICS_SUM
    for (size_t i = 0; i < METRICS_ERRS; i++)
        total->refused_by[i] += part->refused_by[i];
    for (size_t i = 0; i < PULSE_CLASSES; i++)
        total->decision_times[i] += part->decision_times[i];
}

void metrics_write(const struct metrics *metrics, struct buf *out)
{
#define METRICS_WRITE(field, type, name, help)                                         \
    buf_put(out, S("# HELP " name " " help "\n# TYPE " name " " #type "\n" name " ")); \
    buf_putu(out, metrics->field);                                                     \
    buf_putc(out, '\n');
    METRICS_LIST(METRICS_WRITE)
#undef METRICS_WRITE
    buf_put(out, S("# HELP " METRIC_VIOLATIONS
                   " Envelopes refused because the sender may not send them.\n"
                   "# TYPE " METRIC_VIOLATIONS " counter\n"));
    for (size_t i = 0; i < ERR_VIOLATIONS; i++) {
        buf_put(out, S(METRIC_VIOLATIONS "{error=\""));
        buf_put(out, str_of(err_name(err_violations[i])));
        buf_put(out, S("\"} "));
        buf_putu(out, metrics->refused_by[err_violations[i]]);
        buf_putc(out, '\n');
    }
}
