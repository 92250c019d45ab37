/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receiver of records: a syslog daemon, an OTLP collector. It is given a page of them
 * and says, later, how far into the page it came; one page at a time. Nothing in it
 * waits: a receiver that is slow or gone only takes its time to say so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/batch.h"
#include "audit/chain.h"
#include "export/export.h"
#include "gateway/export_target.h"
#include "loop/loop.h"

enum export_outcome {
    EXPORT_TAKEN,   /* all up to `seq` and `at` */
    EXPORT_REFUSED, /* these are not wanted, and would never be; go on behind them */
    EXPORT_FAILED,  /* nobody was there to take them; try again later */
    EXPORT_LOST,    /* the same, and what was taken lately may be lost as well */
};

struct export_result {
    enum export_outcome outcome;
    size_t at; /* in the page: where to go on */
    uint64_t seq;
    uint64_t records;  /* taken */
    uint64_t rejected; /* others, that were not wanted */
    const char *why;   /* static or valid during the call; without secrets */
};

struct export_sink;

struct export_owner {
    /* Answers export_sink_send(), never before that has returned. FAILED and LOST also
     * come unasked. */
    void (*on_result)(struct export_owner *self, const struct export_result *result);
};

struct export_sink_ops {
    /* How long after a record was taken LOST may still be about it. */
    uint64_t settles_ms;
    void (*send)(struct export_sink *sink, const struct audit_batch *page, size_t at);
    void (*send_head)(struct export_sink *sink,
                      const struct audit_head *head); /* or NULL */
    void (*free)(struct export_sink *sink);
};

struct export_sink {
    const struct export_sink_ops *ops;
    struct loop *loop;
    struct export_owner *owner;
    const struct export_origin *origin; /* borrowed, as the target is by what makes it */
};

/* Ends what is under way without a word. */
static inline void export_sink_free(struct export_sink *sink)
{
    if (sink)
        sink->ops->free(sink);
}

/* The page has a record behind `at` and stays as it is until the result. */
static inline void export_sink_send(struct export_sink *sink,
                                    const struct audit_batch *page, size_t at)
{
    sink->ops->send(sink, page, at);
}

struct export_sink *syslog_sink_new(const struct export_sink *base,
                                    const struct syslog_target *target);

/* NULL: libcurl is missing; *ret_why (owned by the caller) says so. */
struct export_sink *otlp_sink_new(const struct export_sink *base,
                                  const struct otlp_target *target, char **ret_why);
