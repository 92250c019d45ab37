/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "audit/verify.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/verification.h"
#include "store/record.h"

enum {
    PIECE = 50, /* records; each may have a signature, which takes a while to check */
    ANSWER_BYTES = 16 << 10,
};

enum verify_state { VERIFY_NONE, VERIFY_RUNS, VERIFY_ENDED, VERIFY_STOPPED };

struct verification {
    struct worker *worker;
    struct store_read read;
    struct audit_verifier *verifier; /* while it runs */
    struct audit_report report;      /* when it has ended */
    enum verify_state state;
    char *by;
    struct audit_head expected;
    bool has_expected;
    uint64_t started_ms, ended_ms; /* wall clock */
    uint64_t records, target;      /* looked at; and those there were at the start */
    bool is_unwanted;              /* it is to stop */
};

struct verification *verification_new(struct worker *worker)
{
    struct verification *v = xcalloc(1, sizeof(*v));

    v->worker = worker;
    store_read_init(&v->read, worker->loop);
    return v;
}

void verification_free(struct verification *v)
{
    if (!v)
        return;
    audit_verifier_free(v->verifier);
    store_read_done(&v->read);
    free(v->by);
    free(v);
}

/* --- running --- */

static void end(struct verification *v, enum verify_state state)
{
    audit_verify_end(v->verifier, &v->report);
    audit_verifier_free(v->verifier);
    v->verifier = NULL;
    v->state = state;
    v->ended_ms = loop_wall_ms(v->worker->loop);
}

/* Checkpoints stand behind the record that they are of. False: it does not hold. */
static bool look_at_page(struct verification *v)
{
    const struct store_read *read = &v->read;
    struct audit_record record;
    size_t at = 0, signed_count = 0;

    while (audit_batch_next(&read->page, &at, &record)) {
        v->records++;
        if (!audit_verify_record(v->verifier, &record))
            return false;
        while (signed_count < read->checkpoint_count &&
               read->checkpoints[signed_count].head.seq <= record.seq)
            if (!audit_verify_checkpoint(v->verifier, &read->checkpoints[signed_count++]))
                return false;
    }
    return true;
}

static void go_on(struct verification *v)
{
    v->read.query.after_seq = v->read.reached_seq;
    store_query(gateway_store(v->worker->gateway), &v->read);
}

/* What has come since the start is looked at as far as it is in the same piece. */
static void on_piece(struct store_read *read)
{
    struct verification *v = CONTAINER_OF(read, struct verification, read);

    if (v->is_unwanted || v->worker->is_draining) {
        end(v, VERIFY_STOPPED);
        return;
    }
    if (read->err)
        audit_verify_unreadable(v->verifier, "it cannot be read");
    if (read->err || !look_at_page(v) || !read->has_more || v->records >= v->target)
        end(v, VERIFY_ENDED);
    else
        go_on(v);
}

static void start(struct verification *v, const struct identity *by)
{
    struct store *store = gateway_store(v->worker->gateway);
    struct audit_origin origin;
    struct store_health health;

    store_origin(store, &origin);
    store_health(store, &health);
    free(v->by);
    v->by = str_dup(by->id);
    v->verifier = audit_verifier_new(origin.installation, origin.public_key,
                                     v->has_expected ? &v->expected : NULL);
    v->report = (struct audit_report){};
    v->state = VERIFY_RUNS;
    v->is_unwanted = false;
    v->started_ms = loop_wall_ms(v->worker->loop);
    v->ended_ms = 0;
    v->records = 0;
    v->target = health.head.seq;
    v->read.done = on_piece;
    v->read.wants_checkpoints = true;
    v->read.query = (struct audit_query){ .order = AUDIT_OLDEST_FIRST, .limit = PIECE };
    store_query(store, &v->read);
}

/* --- telling --- */

static void put_report(const struct audit_report *r, struct json_writer *w)
{
    char text[AUDIT_HEAD_TEXT];

    json_put_bool(w, S("holds"), !r->is_damaged);
    json_put_uint(w, S("checkpoints"), r->checkpoints);
    json_put_uint(w, S("removed"), r->removed);
    json_put_uint(w, S("uncovered"), r->uncovered);
    json_put_str(w, S("head"), audit_head_text(&r->head, text));
    if (r->is_damaged) {
        json_put_uint(w, S("bad_seq"), r->bad_seq);
        json_put_str(w, S("what"), str_of(r->what));
    }
}

static void reply(struct exchange *x, int status)
{
    static const struct str states[] = { [VERIFY_NONE] = S("none"),
                                         [VERIFY_RUNS] = S("running"),
                                         [VERIFY_ENDED] = S("done"),
                                         [VERIFY_STOPPED] = S("stopped") };
    const struct verification *v = x->worker->verification;
    struct json_writer w;
    struct buf out;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("state"), states[v->state]);
    if (v->state != VERIFY_NONE) {
        json_put_str(&w, S("by"), str_of(v->by));
        json_put_time(&w, S("started"), v->started_ms);
        json_put_given_time(&w, S("ended"), v->ended_ms);
        json_put_uint(&w, S("records"),
                      v->state == VERIFY_ENDED ? v->report.records : v->records);
        json_put_uint(&w, S("total"), v->target);
    }
    if (v->state == VERIFY_ENDED)
        put_report(&v->report, &w);
    json_object_close(&w);
    exchange_json(x, status, &out);
    buf_done(&out);
}

/* --- routes --- */

struct verify_request {
    struct str head;
};

/* An empty body, or {"head":"SEQ:HASH"}. */
static bool read_request(struct exchange *x, struct verification *v)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct verify_request, head, JSON_OPTIONAL),
    };
    struct verify_request request = {};
    const struct json *root;

    v->has_expected = false;
    if (x->body.len == 0)
        return true;
    if (!json_parse(x->body, &x->arena, &root, NULL) &&
        !json_read(root, fields, COUNT(fields), &x->arena, &request, NULL) &&
        (!request.head.ptr || !audit_head_parse(request.head, &v->expected))) {
        v->has_expected = request.head.ptr != NULL;
        return true;
    }
    exchange_fail(x, ERR_BAD_REQUEST,
                  "The body is empty or {\"head\":\"SEQ:HASH\"}: a head that was kept "
                  "elsewhere.");
    return false;
}

void admin_verify(struct exchange *x)
{
    struct verification *v = x->worker->verification;

    if (v->state == VERIFY_RUNS) {
        exchange_fail(x, ERR_CONFLICT, "The record is being verified already.");
        return;
    }
    if (!read_request(x, v))
        return;
    start(v, x->identity);
    reply(x, 202);
}

void admin_verify_status(struct exchange *x)
{
    reply(x, 200);
}

void admin_verify_stop(struct exchange *x)
{
    x->worker->verification->is_unwanted = true;
    reply(x, 200);
}
