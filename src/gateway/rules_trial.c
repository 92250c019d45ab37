/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dry run of a rule over what the record has of its topic, as `moot rules test` makes
 * it: nothing is changed, and nothing is said. First who is a person, from connections;
 * then what was proposed and decided, the oldest first, piece by piece.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/entrance.h"
#include "gateway/gateway.h"
#include "gateway/lookback.h"
#include "gateway/rulebooks.h"
#include "gateway/rules_hearing.h"
#include "rules/tally.h"

enum {
    PIECE = 250,  /* records in one go, */
    PIECES = 800, /* and how often */
    PEOPLE = 100, /* of these, for connections */
    ENDED = 32,   /* of what nobody decided, told in one go, */
    PAUSE_MS = 1, /* and for how long others get their turn */
    SHOWN = 20,   /* of what it covers, the newest */
    RULE_BYTES = 1 << 20,
    SCRATCH_BYTES = 4 << 20,
    ANSWER_BYTES = 1 << 20,
    DAY_MS = 24 * 3600 * 1000,
    USUAL_DAYS = 30,
};

/* One that the rule covers. */
struct covered {
    char *id, *by;
    enum decision_verdict verdict;
    enum decision_origin origin;
    uint64_t at_ms;
};

struct trial {
    struct gateway *gateway;
    struct loop *loop;
    struct lookback look;
    struct loop_timer timer;
    struct arena arena;   /* the rule, and what is asked */
    struct arena scratch; /* of one record */
    struct str topic;
    struct rule rule;
    struct history *history;
    struct rule_tally tally;
    struct covered covered[SHOWN]; /* a ring */
    uint64_t covered_count, proposals, records, removed;
    uint64_t since_ms, reached_ms;
    size_t pieces;
    bool is_hearing; /* envelopes; else connections */
    bool is_cut;
};

static void trial_free(struct trial *t)
{
    for (size_t i = 0; i < SHOWN; i++) {
        free(t->covered[i].id);
        free(t->covered[i].by);
    }
    gateway_trial_end(t->gateway);
    loop_timer_clear(t->loop, &t->timer);
    lookback_done(&t->look);
    history_free(t->history);
    rule_tally_done(&t->tally);
    arena_done(&t->arena);
    arena_done(&t->scratch);
    free(t);
}

static void on_decided(void *user, const struct decision *d)
{
    struct trial *t = user;
    struct covered *at = &t->covered[t->covered_count % SHOWN];

    t->proposals++;
    if (!rule_tally_note(&t->tally, &t->rule, d))
        return;
    t->covered_count++;
    free(at->id);
    free(at->by);
    *at = (struct covered){ .id = str_dup(d->id),
                            .by = str_dup(d->by),
                            .verdict = d->verdict,
                            .origin = d->origin,
                            .at_ms = d->at_ms };
}

/* --- answering --- */

static void put_wrongs(const struct rule_tally *tally, struct json_writer *w)
{
    json_key(w, S("false"));
    json_array_open(w);
    for (size_t i = 0; i < tally->wrong_count; i++) {
        const struct rule_wrong *wrong = &tally->wrongs[i];

        json_object_open(w);
        json_put_str(w, S("id"), str_of(wrong->id));
        json_put_str(w, S("verdict"),
                     wrong->is_corrected ? S("corrected") : S("rejected"));
        json_put_str(w, S("by"), str_of(wrong->by));
        json_put_time(w, S("at"), wrong->at_ms);
        json_object_close(w);
    }
    json_array_close(w);
}

static void put_covered(const struct trial *t, struct json_writer *w)
{
    static const struct str verdicts[] = { [DECISION_APPROVED] = S("approved"),
                                           [DECISION_REJECTED] = S("rejected"),
                                           [DECISION_CORRECTED] = S("corrected"),
                                           [DECISION_NOTHING] = S("undecided") };
    static const struct str origins[] = { [DECIDED_BY_PERSON] = S("person"),
                                          [DECIDED_BY_OTHER] = S("other"),
                                          [DECIDED_BY_SELF] = S("self"),
                                          [DECIDED_BY_RULE] = S("rule") };
    uint64_t count = t->covered_count < SHOWN ? t->covered_count : SHOWN;

    json_key(w, S("newest"));
    json_array_open(w);
    for (uint64_t i = 1; i <= count; i++) {
        const struct covered *one = &t->covered[(t->covered_count - i) % SHOWN];

        json_object_open(w);
        json_put_str(w, S("id"), str_of(one->id));
        json_put_str(w, S("verdict"), verdicts[one->verdict]);
        if (one->verdict != DECISION_NOTHING) {
            json_put_str(w, S("origin"), origins[one->origin]);
            json_put_given(w, S("by"), str_of(one->by));
        }
        json_put_time(w, S("at"), one->at_ms);
        json_object_close(w);
    }
    json_array_close(w);
}

static void put_trial(const struct trial *t, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("rule"), t->rule.id);
    json_put_time(w, S("since"), t->since_ms);
    json_put_bool(w, S("complete"), !t->is_cut);
    if (t->is_cut)
        json_put_given_time(w, S("reached"), t->reached_ms);
    json_put_uint(w, S("records"), t->records);
    json_put_uint(w, S("removed"), t->removed);
    json_put_uint(w, S("proposals"), t->proposals);
    json_put_uint(w, S("covered"), t->covered_count);
    json_put_uint(w, S("false_approvals"), t->tally.rejected + t->tally.corrected);
    rule_tally_put(&t->tally, w);
    put_wrongs(&t->tally, w);
    put_covered(t, w);
    json_object_close(w);
}

static void answer(struct trial *t)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    put_trial(t, &w);
    if (entrance_may_still_look_back(t->look.x))
        exchange_json(t->look.x, 200, &out);
    buf_done(&out);
    trial_free(t);
}

/* What nobody decided may be megabytes, and each is read. */
static void end_some(struct trial *t)
{
    if (history_end(t->history, ENDED))
        answer(t);
    else
        loop_timer_set(t->loop, &t->timer, PAUSE_MS);
}

static void on_pause_over(struct loop_timer *timer)
{
    end_some(CONTAINER_OF(timer, struct trial, timer));
}

/* --- reading --- */

static void ask_for_envelopes(struct trial *t)
{
    t->is_hearing = true;
    t->look.read.query = (struct audit_query){ .event = S("envelope"),
                                               .topic = t->topic,
                                               .kind = S("mcp/*"),
                                               .verdict = S("allowed"),
                                               .since_ms = t->since_ms,
                                               .order = AUDIT_OLDEST_FIRST,
                                               .limit = PIECE };
    lookback_ask(&t->look);
}

static void take_piece(struct trial *t)
{
    struct audit_record record;
    size_t at = 0;

    while (audit_batch_next(&t->look.read.page, &at, &record)) {
        t->records += t->is_hearing;
        t->removed += t->is_hearing && audit_body_is_removed(&record);
        t->reached_ms = record.at_ms;
        rules_hear(t->history, &record, &t->scratch);
    }
    t->pieces++;
}

static void go_on(struct trial *t)
{
    size_t most = t->is_hearing ? PIECES : PEOPLE;

    if (t->look.read.has_more && t->pieces < most && !exchange_is_abandoned(t->look.x)) {
        lookback_go_on(&t->look);
        return;
    }
    t->is_cut |= t->look.read.has_more; /* who is a person counts as well */
    if (t->is_hearing)
        end_some(t);
    else
        ask_for_envelopes(t);
}

static void on_page(struct lookback *look)
{
    struct trial *t = CONTAINER_OF(look, struct trial, look);

    take_piece(t);
    go_on(t);
}

static void on_over(struct lookback *look)
{
    trial_free(CONTAINER_OF(look, struct trial, look));
}

/* --- the question --- */

struct trial_request {
    const struct json *rule;
    struct str since;
};

/* One of the topic's, as it is now: copied, for the book may change. */
static bool take_known(struct trial *t, const struct live_room *room, struct str id)
{
    const struct held_rule *held =
        room->room.rulebook ? rulebook_find(room->room.rulebook, id) : NULL;
    struct rule_problem problem = {};
    const struct json *object;
    struct json_writer w;
    struct buf text;
    struct str kept;

    if (!held) {
        exchange_fail(t->look.x, ERR_NOT_FOUND, "This topic has no such rule.");
        return false;
    }
    buf_init(&text, RULE_BYTES);
    json_write_init(&w, &text);
    rule_write(&w, &held->rule);
    kept = arena_str(&t->arena, buf_str(&text));
    buf_done(&text);
    if (!json_parse(kept, &t->arena, &object, NULL) &&
        !rule_read(object, kept, &t->arena, &t->rule, &problem))
        return true;
    exchange_fail(t->look.x, ERR_UNAVAILABLE, "The rule is too long to be tried.");
    return false;
}

static bool take_rule(struct trial *t, const struct live_room *room,
                      const struct json *rule, struct str base)
{
    struct rule_problem problem = {};

    if (rule->type == JSON_STRING)
        return take_known(t, room, rule->text);
    if (rule_read_in(t->topic, rule, base, &t->arena, &t->rule, &problem)) {
        exchange_fail(t->look.x, ERR_BAD_REQUEST, "The rule cannot be read: %s.",
                      problem.what[0] ? problem.what : "it is too long");
        return false;
    }
    if (!str_eq(t->rule.topic, t->topic)) {
        exchange_fail(t->look.x, ERR_BAD_REQUEST, "The rule is for another topic.");
        return false;
    }
    return true;
}

static bool read_request(struct trial *t, const struct live_room *room)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct trial_request, rule, JSON_REQUIRED),
        JSON_FIELD(struct trial_request, since, JSON_OPTIONAL),
    };
    struct str body = arena_str(&t->arena, t->look.x->body);
    uint64_t now_ms = loop_wall_ms(t->look.x->worker->loop);
    struct trial_request request = {};
    struct json_problem problem = {};
    const struct json *root;

    t->since_ms = now_ms - (uint64_t)USUAL_DAYS * DAY_MS;
    if (json_parse(body, &t->arena, &root, &problem) ||
        json_read(root, fields, COUNT(fields), &t->arena, &request, &problem) ||
        (request.since.ptr && audit_time_parse(request.since, now_ms, &t->since_ms))) {
        exchange_fail(t->look.x, ERR_BAD_REQUEST,
                      "The body is {\"rule\":ID} or {\"rule\":{…}}, perhaps with "
                      "\"since\": a time, or how long ago as in 30d.");
        return false;
    }
    return take_rule(t, room, request.rule, body);
}

/* Who posts and never connects is known by his credential. */
static void note_people(struct trial *t)
{
    const struct identity *identity;

    MAP_FOREACH(identity, &t->look.x->worker->tokens.by_hash)
        history_person(t->history, identity->id, identity->type == TYPE_HUMAN);
}

void rules_test(struct exchange *x)
{
    enum dialect dialect;
    const struct live_room *room = entrance_visit(x, &dialect);
    struct trial *t;

    if (!room || !entrance_may_look_back(x))
        return;
    if (!gateway_trial_begin(x->worker->gateway)) {
        exchange_fail(x, ERR_UNAVAILABLE, "Other rules are being tried; do so later.");
        return;
    }
    t = xcalloc(1, sizeof(*t));
    t->gateway = x->worker->gateway;
    t->loop = x->worker->loop;
    t->timer.on_fire = on_pause_over;
    lookback_init(&t->look, x, on_page, on_over);
    arena_init(&t->arena, RULE_BYTES);
    arena_init(&t->scratch, SCRATCH_BYTES);
    t->history = history_new(&(struct history_listener){ on_decided, t });
    t->topic = arena_str(&t->arena, x->topic);
    if (!read_request(t, room)) {
        trial_free(t);
        return;
    }
    note_people(t);
    t->look.read.query = (struct audit_query){ .event = S("connect"),
                                               .topic = t->topic,
                                               .order = AUDIT_OLDEST_FIRST,
                                               .limit = PIECE };
    lookback_start(&t->look);
}
