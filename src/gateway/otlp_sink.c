/* SPDX-License-Identifier: Apache-2.0 */
/* Records to an OpenTelemetry collector: one POST after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "fetch/fetch.h"
#include "gateway/export_sink.h"

enum {
    MAX_RECORDS = 512,    /* in a request */
    FULL_BYTES = 1 << 20, /* of a request: none more are added to it */
    REQUEST_BYTES = FULL_BYTES + EXPORT_OTLP_RECORD + (64 << 10),
    ANSWER_BYTES = 64 << 10,
    TIMEOUT_MS = 30'000,
};

struct otlp_sink {
    struct export_sink sink;
    struct otlp_target target;
    struct fetch *fetch;
    struct fetch_call *call;
    const struct audit_batch *page;
    size_t at; /* where in the page the request begins */
    struct buf body;
    size_t max_records;          /* less where a collector takes no large requests */
    struct export_result result; /* if it is taken */
    char why[64];
};

static void post(struct otlp_sink *self);

static void tell(struct otlp_sink *self, enum export_outcome outcome, const char *why)
{
    struct export_result result = self->result;

    result.outcome = outcome;
    result.why = why;
    if (outcome != EXPORT_TAKEN)
        result.rejected = result.records;
    self->sink.owner->on_result(self->sink.owner, &result);
}

/* What is wrong with the records themselves will be wrong for ever. All else
 * (credentials, paths, collectors that are busy) can be mended. */
static bool is_about_records(unsigned status)
{
    return status == 400 || status == 413 || status == 422;
}

static void on_answer(void *user, const struct fetch_answer *answer)
{
    struct otlp_sink *self = user;
    uint64_t rejected;

    self->call = NULL;
    (void)snprintf(self->why, sizeof(self->why), "%s", answer->why);
    if (answer->status)
        (void)snprintf(self->why, sizeof(self->why), "status %u", answer->status);
    if (answer->status == 413 && self->result.records > 1) {
        self->max_records = (size_t)self->result.records / 2;
        post(self);
        return;
    }
    if (is_about_records(answer->status)) {
        tell(self, EXPORT_REFUSED, self->why);
        return;
    }
    if (answer->status < 200 || answer->status > 299) {
        tell(self, EXPORT_FAILED, self->why);
        return;
    }
    rejected = answer->err ? 0 : export_otlp_rejected(answer->body);
    if (rejected > self->result.records)
        rejected = self->result.records;
    self->result.rejected = rejected;
    self->result.records -= rejected;
    tell(self, EXPORT_TAKEN, "");
}

static void write_body(struct otlp_sink *self)
{
    struct audit_record record;
    size_t at = self->at;

    buf_clear(&self->body);
    self->result = (struct export_result){ .at = at };
    export_otlp_begin(self->sink.origin, &self->body);
    while (self->result.records < self->max_records && self->body.len < FULL_BYTES &&
           audit_batch_next(self->page, &at, &record)) {
        export_otlp_record(&record, loop_wall_ms(self->sink.loop), &self->body);
        self->result.at = at;
        self->result.seq = record.seq;
        self->result.records++;
    }
    export_otlp_end(&self->body);
}

static void post(struct otlp_sink *self)
{
    write_body(self);
    self->call =
        fetch_post(self->fetch,
                   &(struct fetch_request){ .url = self->target.url,
                                            .fields = self->target.fields,
                                            .field_count = self->target.field_count,
                                            .body = buf_str(&self->body),
                                            .timeout_ms = TIMEOUT_MS,
                                            .max_answer = ANSWER_BYTES },
                   on_answer, self);
}

static void otlp_send(struct export_sink *sink, const struct audit_batch *page, size_t at)
{
    struct otlp_sink *self = CONTAINER_OF(sink, struct otlp_sink, sink);

    self->page = page;
    self->at = at;
    post(self);
}

static void otlp_free(struct export_sink *sink)
{
    struct otlp_sink *self = CONTAINER_OF(sink, struct otlp_sink, sink);

    if (self->call)
        fetch_cancel(self->call);
    fetch_free(self->fetch);
    buf_done(&self->body);
    free(self);
}

static const struct export_sink_ops otlp_ops = { .send = otlp_send, .free = otlp_free };

struct export_sink *otlp_sink_new(const struct export_sink *base,
                                  const struct otlp_target *target, char **ret_why)
{
    struct otlp_sink *self = xcalloc(1, sizeof(*self));

    self->sink = *base;
    self->sink.ops = &otlp_ops;
    self->target = *target;
    self->max_records = MAX_RECORDS;
    buf_init(&self->body, REQUEST_BYTES);
    if (fetch_new(base->loop, &self->fetch, ret_why)) {
        free(self);
        return NULL;
    }
    return &self->sink;
}
