/* SPDX-License-Identifier: Apache-2.0 */
/* One topic, for administrators: how it is, and its brake. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/state.h"
#include "policy/rulings.h"

enum { ANSWER_BYTES = 64 << 10 };

static void write_counts(const struct live_room *room, struct json_writer *w)
{
    const struct topic *topic = &room->room.topic;

    json_put_uint(w, S("participants"), topic->present_count);
    json_put_uint(w, S("connections"), topic->member_count);
    json_put_uint(w, S("envelopes"), topic->ring.next_seq - 1);
    json_put_uint(w, S("proposals"), room->room.ledger.open_count);
}

/* How many rows of policy are for this topic. */
static size_t count_rows(const struct rulings *rulings, struct str topic)
{
    size_t count, found = 0;

    (void)rulings_rows(rulings, &count);
    for (size_t i = 0; i < count; i++)
        found += ruling_reaches(rulings, i, topic);
    return found;
}

static void reply_topic(struct exchange *x)
{
    const struct worker *worker = x->worker;
    const struct live_room *room = room_find(worker, x->topic);
    struct json_writer w;
    struct buf out;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("name"), x->topic);
    brake_write_whole(brake_find(worker, x->topic), &w);
    json_put_uint(&w, S("policy"), count_rows(worker->settings->rulings, x->topic));
    if (room)
        write_counts(room, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static bool exists(struct exchange *x)
{
    if (room_settings_of(x->worker, x->topic) || brake_find(x->worker, x->topic))
        return true;
    exchange_fail(x, ERR_NOT_FOUND, "There is no such topic.");
    return false;
}

void admin_topic(struct exchange *x)
{
    if (exists(x))
        reply_topic(x);
}

/* --- setting --- */

/* An answer that comes when what was set is durable. */
struct late_answer {
    struct recorder_waiter waiter;
    struct exchange *x;
};

static void on_durable(struct recorder_waiter *waiter, enum err err)
{
    struct late_answer *late = CONTAINER_OF(waiter, struct late_answer, waiter);

    if (err)
        exchange_fail(late->x, err, "%s", recorder_problem);
    else
        reply_topic(late->x);
    free(late);
}

static void on_gone(void *user)
{
    struct late_answer *late = user;

    recorder_cancel(&late->waiter);
    free(late);
}

static void reply_when_durable(struct exchange *x)
{
    struct late_answer *late = xmalloc(sizeof(*late));

    *late = (struct late_answer){
        .waiter = { .ticket = recorder_last(x->worker), .on_end = on_durable }, .x = x
    };
    exchange_on_gone(x, on_gone, late);
    recorder_wait(x->worker, &late->waiter);
}

struct topic_request {
    struct str brake;
};

static bool read_request(struct exchange *x, bool *ret_is_on)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct topic_request, brake, JSON_REQUIRED),
    };
    struct topic_request request = {};
    struct json_problem problem = {};
    const struct json *root;

    if (json_parse(x->body, &x->arena, &root, &problem)) {
        exchange_fail(x, ERR_BAD_REQUEST, "The body is not JSON: %s.", problem.what);
        return false;
    }
    if (json_read(root, fields, COUNT(fields), &x->arena, &request, &problem) ||
        (!str_eq(request.brake, S("on")) && !str_eq(request.brake, S("off")))) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "The body is {\"brake\":\"on\"} or {\"brake\":\"off\"}.");
        return false;
    }
    *ret_is_on = str_eq(request.brake, S("on"));
    return true;
}

void admin_set_topic(struct exchange *x)
{
    struct brake_change change = { .topic = x->topic, .by = x->identity->id };

    if (!exists(x) || !read_request(x, &change.is_on))
        return;
    if (!recorder_is_able(x->worker)) {
        exchange_fail(x, ERR_UNAVAILABLE, "%s", recorder_problem);
        return;
    }
    if (brake_set(x->worker, &change)) {
        exchange_fail(x, ERR_UNAVAILABLE, "The brake is on in too many topics.");
        return;
    }
    reply_when_durable(x);
}
