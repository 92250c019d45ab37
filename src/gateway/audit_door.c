/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record for administrators: a page of what was found as JSON, or all of it as lines.
 *
 * A question goes to the store's readers piece by piece (store_query()): until the page
 * is full, or, in a stream, whenever the client has taken the lines before. So a stream
 * holds a few MiB however much is found, a client that does not read holds no reader, and
 * one that goes is noticed between two pieces.
 */
#include <stdlib.h>

#include "audit/line.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/lookback.h"

enum {
    ARENA_BYTES = 1 << 20,
    DEFAULT_LIMIT = 100,
    TEXT_BYTES = 1024, /* of a parameter */
};

struct question {
    struct lookback look;
    struct arena arena; /* of the query's texts */
    struct buf out;
    uint64_t left;   /* records still wanted; 0: all */
    uint64_t now_ms; /* what relative times go back from */
    bool has_limit;
    bool has_filter;
    bool is_stream;
    bool is_export; /* with origin and checkpoints */
};

static void question_free(struct question *q)
{
    lookback_done(&q->look);
    buf_done(&q->out);
    arena_done(&q->arena);
    free(q);
}

static struct store *store_of(const struct question *q)
{
    return gateway_store(q->look.x->worker->gateway);
}

/* --- parameters: each returns what is wrong with it, or NULL --- */

#define TIME_HINT \
    "is a time as 2026-11-15T18:00:00Z, or how long ago: 90s, 15m, 2h, 3d, 1w."

static const char *set_since(struct question *q, struct str value)
{
    return audit_time_parse(value, q->now_ms, &q->look.read.query.since_ms)
               ? "`since` " TIME_HINT
               : NULL;
}

static const char *set_until(struct question *q, struct str value)
{
    return audit_time_parse(value, q->now_ms, &q->look.read.query.until_ms)
               ? "`until` " TIME_HINT
               : NULL;
}

static const char *set_event(struct question *q, struct str value)
{
    enum audit_event event;

    if (audit_event_parse(value, &event))
        return "`event` is envelope, refusal, presence, connect, disconnect, grant, admin, "
               "config, server, drop or retention.";
    q->look.read.query.event = value;
    return NULL;
}

static const char *set_thread(struct question *q, struct str value)
{
    q->look.read.query.thread = value;
    return value.len ? NULL : "`thread` is the id of an envelope.";
}

static const char *set_text(struct question *q, struct str value)
{
    struct audit_terms terms;

    q->look.read.query.text = value;
    switch (audit_terms_parse(value, &terms)) {
    case OK: return NULL;
    case ERR_TOO_BIG: return "`text` has at most 32 words.";
    default: return "`text` has no word: words are of letters and digits.";
    }
}

static const char *set_order(struct question *q, struct str value)
{
    bool is_oldest = str_eq(value, S("oldest"));

    q->look.read.query.order = is_oldest ? AUDIT_OLDEST_FIRST : AUDIT_NEWEST_FIRST;
    return is_oldest || str_eq(value, S("newest")) ? NULL
                                                   : "`order` is newest or oldest.";
}

static const char *set_limit(struct question *q, struct str value)
{
    q->has_limit = true;
    if (str_to_u64(value, q->is_stream ? INT64_MAX : AUDIT_MAX_LIMIT, &q->left) ||
        q->left == 0)
        return q->is_stream ? "`limit` is a number from 1."
                            : "`limit` is a number from 1 to 1000.";
    return NULL;
}

static const char *set_cursor(struct question *q, struct str value)
{
    if (str_to_u64(value, INT64_MAX - 1, &q->look.read.query.after_seq) ||
        q->look.read.query.after_seq == 0)
        return "`cursor` is the `next` of another answer, or a seq.";
    return NULL;
}

static const char *set_checkpoints(struct question *q, struct str value)
{
    q->is_export = str_eq(value, S("1"));
    return q->is_export || str_eq(value, S("0")) ? NULL : "`checkpoints` is 1 or 0.";
}

#define TEXT(member) .name = S(#member), .at = offsetof(struct audit_query, member)
static const struct parameter {
    struct str name;
    const char *(*set)(struct question *q, struct str value); /* NULL: any text, */
    size_t at; /* which is kept here in the query */
    bool is_filter;
} parameters[] = {
    { .name = S("since"), .set = set_since, .is_filter = true },
    { .name = S("until"), .set = set_until, .is_filter = true },
    { .name = S("event"), .set = set_event, .is_filter = true },
    { TEXT(topic), .is_filter = true },
    { TEXT(participant), .is_filter = true },
    { TEXT(kind), .is_filter = true },
    { TEXT(verdict), .is_filter = true },
    { .name = S("thread"), .set = set_thread, .is_filter = true },
    { .name = S("text"), .set = set_text, .is_filter = true },
    { .name = S("order"), .set = set_order },
    { .name = S("limit"), .set = set_limit },
    { .name = S("cursor"), .set = set_cursor },
    { .name = S("checkpoints"), .set = set_checkpoints },
};
#undef TEXT

static const char *set_parameter(const struct parameter *parameter, struct question *q,
                                 struct str value)
{
    if (parameter->set)
        return parameter->set(q, value);
    *(struct str *)((char *)&q->look.read.query + parameter->at) = value;
    return NULL;
}

static const struct parameter *find_parameter(struct str name)
{
    for (size_t i = 0; i < COUNT(parameters); i++)
        if (str_eq(parameters[i].name, name))
            return &parameters[i];
    return NULL;
}

/* Each once; false if that already answered. */
static bool read_parameter(struct question *q, const struct http_param *param,
                           uint32_t *seen)
{
    const struct parameter *known = find_parameter(param->name);
    uint32_t bit = known ? UINT32_C(1) << (known - parameters) : 0;
    const char *wrong = NULL;

    if (!known) {
        exchange_fail(q->look.x, ERR_BAD_REQUEST, "There is no parameter `%.*s`.",
                      (int)(param->name.len < 64 ? param->name.len : 64),
                      param->name.ptr);
        return false;
    }
    if (*seen & bit)
        wrong = "A parameter is given twice.";
    else if (param->value.len > TEXT_BYTES)
        wrong = "A parameter has at most 1024 bytes.";
    else
        wrong = set_parameter(known, q, arena_str(&q->arena, param->value));
    *seen |= bit;
    q->has_filter |= known->is_filter;
    if (wrong)
        exchange_fail(q->look.x, ERR_BAD_REQUEST, "%s", wrong);
    return !wrong;
}

static bool read_parameters(struct question *q)
{
    struct str rest = q->look.x->request.query;
    struct http_param param;
    uint32_t seen = 0;

    while (rest.ptr && rest.len) {
        if (http_query_next(&rest, &q->look.x->arena, &param)) {
            exchange_fail(q->look.x, ERR_BAD_REQUEST, "The query cannot be read.");
            return false;
        }
        if (!read_parameter(q, &param, &seen))
            return false;
    }
    if (!q->is_export || (q->is_stream && !q->has_filter &&
                          q->look.read.query.order == AUDIT_OLDEST_FIRST))
        return true;
    exchange_fail(q->look.x, ERR_BAD_REQUEST,
                  "Checkpoints come with all records, the oldest first, as "
                  "application/x-ndjson.");
    return false;
}

/* --- asking --- */

static void limit_page(struct question *q)
{
    q->look.read.query.limit =
        q->left && q->left < AUDIT_MAX_LIMIT ? q->left : AUDIT_MAX_LIMIT;
}

/* Between two pieces: what was asked lies behind the last. */
static void go_on(struct question *q)
{
    limit_page(q);
    lookback_go_on(&q->look);
}

static void on_over(struct lookback *look)
{
    question_free(CONTAINER_OF(look, struct question, look));
}

static void count_taken(struct question *q)
{
    if (q->has_limit)
        q->left -= q->look.read.page.count;
}

static bool wants_more(const struct question *q)
{
    return q->look.read.has_more && (!q->has_limit || q->left);
}

/* --- a page --- */

static void put_page(struct question *q)
{
    struct audit_record record;
    size_t at = 0;

    while (audit_batch_next(&q->look.read.page, &at, &record)) {
        if (q->out.len)
            buf_putc(&q->out, ',');
        audit_record_write(&record, &q->out);
        q->out.len--; /* the newline */
    }
}

static void answer_page(struct question *q)
{
    char text[AUDIT_HEAD_TEXT];
    struct store_health health;
    struct buf out;

    store_health(store_of(q), &health);
    buf_init(&out, SIZE_MAX / 2);
    buf_put(&out, S("{\"records\":["));
    buf_put(&out, buf_str(&q->out));
    buf_putc(&out, ']');
    if (q->look.read.has_more)
        buf_putf(&out, ",\"next\":\"%llu\"",
                 (unsigned long long)q->look.read.reached_seq);
    buf_putf(&out, ",\"head\":\"" STR_FMT "\",\"indexed\":%llu}",
             STR_ARG(audit_head_text(&health.head, text)),
             (unsigned long long)health.indexed_seq);
    exchange_json(q->look.x, 200, &out);
    buf_done(&out);
}

static void on_page(struct lookback *look)
{
    struct question *q = CONTAINER_OF(look, struct question, look);

    put_page(q);
    count_taken(q);
    if (wants_more(q) && q->out.len < STORE_PAGE_BYTES &&
        !exchange_is_abandoned(q->look.x)) {
        go_on(q);
        return;
    }
    answer_page(q);
    question_free(q);
}

/* --- a stream --- */

/* Checkpoints behind the record that they are of. */
static void put_lines(struct question *q)
{
    const struct store_read *read = &q->look.read;
    struct audit_record record;
    size_t at = 0, signed_count = 0;

    while (audit_batch_next(&read->page, &at, &record)) {
        audit_record_write(&record, &q->out);
        while (signed_count < read->checkpoint_count &&
               read->checkpoints[signed_count].head.seq <= record.seq)
            audit_checkpoint_write(&read->checkpoints[signed_count++], &q->out);
    }
}

static void end_stream(struct question *q)
{
    exchange_stream_end(q->look.x);
    question_free(q);
}

static void on_sent(void *user);

static void begin_stream(struct question *q)
{
    struct audit_origin origin;

    exchange_stream(q->look.x, S("application/x-ndjson"), S(""),
                    &(struct stream_ops){ on_sent, lookback_gone }, &q->look);
    q->look.has_begun = true;
    if (!q->is_export)
        return;
    store_origin(store_of(q), &origin);
    audit_origin_write(&origin, &q->out);
}

static void on_piece(struct lookback *look)
{
    struct question *q = CONTAINER_OF(look, struct question, look);

    if (!look->has_begun)
        begin_stream(q);
    count_taken(q);
    put_lines(q);
    if (q->out.len) {
        exchange_stream_write(q->look.x, buf_str(&q->out));
        buf_clear(&q->out);
        if (!wants_more(q))
            end_stream(q); /* else it goes on when that has left */
    } else if (!wants_more(q)) {
        end_stream(q);
    } else if (exchange_is_abandoned(q->look.x)) {
        exchange_stream_break(q->look.x);
        question_free(q);
    } else {
        go_on(q);
    }
}

static void on_sent(void *user)
{
    struct question *q = CONTAINER_OF(user, struct question, look);

    if (!q->look.is_reading) /* else that was the head of the answer */
        go_on(q);
}

/* --- routes --- */

void admin_audit(struct exchange *x)
{
    struct question *q = xcalloc(1, sizeof(*q));

    q->is_stream =
        http_header_has_token(&x->request, S("Accept"), S("application/x-ndjson"));
    q->now_ms = loop_wall_ms(x->worker->loop);
    lookback_init(&q->look, x, q->is_stream ? on_piece : on_page, on_over);
    arena_init(&q->arena, ARENA_BYTES);
    buf_init(&q->out, SIZE_MAX / 2);
    if (!read_parameters(q)) {
        question_free(q);
        return;
    }
    if (!q->is_stream && !q->has_limit) {
        q->has_limit = true;
        q->left = DEFAULT_LIMIT;
    }
    q->look.read.wants_checkpoints = q->is_export;
    if (q->is_stream && x->request.method == HTTP_HEAD) {
        begin_stream(q);
        end_stream(q);
        return;
    }
    limit_page(q);
    lookback_start(&q->look);
}

void admin_audit_head(struct exchange *x)
{
    struct store_health health;
    char text[AUDIT_HEAD_TEXT], at[CLOCK_TEXT];
    struct buf out;

    store_health(gateway_store(x->worker->gateway), &health);
    buf_init(&out, 4096);
    buf_putf(&out, "{\"head\":\"" STR_FMT "\"",
             STR_ARG(audit_head_text(&health.head, text)));
    if (health.head.seq)
        buf_putf(&out, ",\"at\":\"" STR_FMT "\"",
                 STR_ARG(clock_write(health.head.at_ms, at)));
    buf_putf(&out, ",\"signed\":%llu,\"indexed\":%llu}",
             (unsigned long long)health.checkpoint_seq,
             (unsigned long long)health.indexed_seq);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

void admin_audit_origin(struct exchange *x)
{
    struct audit_origin origin;
    struct buf out;

    store_origin(gateway_store(x->worker->gateway), &origin);
    buf_init(&out, 4096);
    audit_origin_write(&origin, &out);
    exchange_json(x, 200, &out);
    buf_done(&out);
}
