/* SPDX-License-Identifier: Apache-2.0 */
/* One topic, for administrators: how it is, and its switches. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/rulebooks.h"
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
    switches_write_whole(switches_find(worker, x->topic), &w);
    json_put_uint(&w, S("policy"), count_rows(worker->settings->rulings, x->topic));
    json_put_uint(&w, S("rules"), rulebooks_count(worker, x->topic));
    if (room)
        write_counts(room, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static bool exists(struct exchange *x)
{
    if (room_settings_of(x->worker, x->topic) || switches_find(x->worker, x->topic))
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

/* The switches, as they are to be; ptr NULL: it stays. */
struct topic_request {
    struct str brake;
    struct str automation;
};

static bool is_word(struct str said)
{
    return !said.ptr || str_eq(said, S("on")) || str_eq(said, S("off"));
}

static bool read_request(struct exchange *x, struct topic_request *ret)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct topic_request, brake, JSON_OPTIONAL),
        JSON_FIELD(struct topic_request, automation, JSON_OPTIONAL),
    };
    struct json_problem problem = {};
    const struct json *root;

    if (json_parse(x->body, &x->arena, &root, &problem)) {
        exchange_fail(x, ERR_BAD_REQUEST, "The body is not JSON: %s.", problem.what);
        return false;
    }
    if (json_read(root, fields, COUNT(fields), &x->arena, ret, &problem) ||
        !is_word(ret->brake) || !is_word(ret->automation) ||
        (!ret->brake.ptr && !ret->automation.ptr)) {
        exchange_fail(
            x, ERR_BAD_REQUEST,
            "The body is {\"brake\":\"on\"} or {\"automation\":\"off\"}, or both; "
            "each is on or off.");
        return false;
    }
    return true;
}

/* All of it, or nothing. */
static bool set_all(struct exchange *x, const struct topic_request *request)
{
    const struct str wanted[SWITCH_COUNT] = {
        [SWITCH_BRAKE] = request->brake, [SWITCH_AUTOMATION] = request->automation
    };
    struct switch_change changes[SWITCH_COUNT];

    for (size_t i = 0; i < SWITCH_COUNT; i++) {
        const char *problem;

        changes[i] = (struct switch_change){ .topic = x->topic,
                                             .by = x->identity->id,
                                             .which = (enum topic_switch)i,
                                             .is_on = str_eq(wanted[i], S("on")) };
        problem = wanted[i].ptr ? switch_problem(x->worker, &changes[i]) : NULL;
        if (problem) {
            exchange_fail(x, ERR_UNAVAILABLE, "It cannot be done: %s.", problem);
            return false;
        }
    }
    for (size_t i = 0; i < SWITCH_COUNT; i++)
        if (wanted[i].ptr)
            (void)switch_set(x->worker, &changes[i]); /* was asked before */
    return true;
}

void admin_set_topic(struct exchange *x)
{
    struct topic_request request = {};

    if (!exists(x) || !read_request(x, &request))
        return;
    if (!recorder_is_able(x->worker)) {
        exchange_fail(x, ERR_UNAVAILABLE, "%s", recorder_problem);
        return;
    }
    if (set_all(x, &request))
        reply_when_durable(x);
}
