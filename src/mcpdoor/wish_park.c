/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modern clients are not asked: they get `input_required` as the result, with a key for
 * each question, and come back with another request that has the answers (MCP.md ML-03 to
 * ML-05). Meanwhile the call stays open. What they carry is a sealed name of the wish.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "mcp/message.h"
#include "mcp/question.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"

enum { WORDS = 4096, KEY = 24, TREE = 64, STATE_PROPOSED = 1 };

/* So that one that was tampered with is not taken for an owner's. */
#define PREFIX S("moot-")

/* --- what they carry --- */

bool wish_read_sealed(const struct attendee *a, enum sealed_use use, struct str text,
                      struct sealed *ret, enum err *ret_err)
{
    struct sealer sealer = a->hall->settings.sealer;

    if (!str_starts(text, PREFIX))
        return false;
    sealer.topic = a->hall->settings.topic;
    *ret_err =
        sealed_read(&sealer, use, a->id, str_slice(text, PREFIX.len, text.len), ret);
    return true;
}

void wish_put_sealed(struct wish *wish, enum sealed_use use, struct buf *out)
{
    const struct attendee *a = wish->attendee;
    struct sealer sealer = a->hall->settings.sealer;
    struct sealed sealed = {
        .boot = a->hall->settings.boot,
        .created_ms = a->hall->now.wall_ms,
        .level = wish->state == WISH_PROPOSED ? STATE_PROPOSED : 0,
    };

    while (!wish->number)
        crypto_random(&wish->number, sizeof(wish->number));
    sealed.number = wish->number;
    wish_state_digest(wish->owner, wish->method, wish->key, sealed.digest);
    sealer.topic = a->hall->settings.topic;
    buf_put(out, PREFIX);
    sealed_put(&sealer, use, a->id, &sealed, out);
}

/* --- handing out --- */

static struct str key_of(const struct wish_question *q, char text[static KEY])
{
    int len = snprintf(text, KEY, "q%llu", (unsigned long long)q->number);

    return (struct str){ text, (size_t)len };
}

/* ML-06: the modern era has no elicitationId. */
static void put_question(struct json_writer *w, const struct wish_question *q)
{
    static const struct str without[] = { S("elicitationId") };
    char text[KEY];

    json_key(w, key_of(q, text));
    json_object_open(w);
    json_put_str(w, S("method"), q->method);
    if (q->params.len) {
        json_key(w, S("params"));
        json_object_open(w);
        json_put_members(w, q->params, (struct str_list){ without, COUNT(without) });
        json_object_close(w);
    }
    json_object_close(w);
}

static void put_state(struct json_writer *w, struct wish *wish)
{
    CLEANUP(buf_done) struct buf state;

    buf_init(&state, WORDS);
    wish_put_sealed(wish, SEALED_STATE, &state);
    json_put_str(w, S("requestState"), buf_str(&state));
}

/* ML-02: on every result. */
static void put_meta(struct json_writer *w, const struct hall *hall)
{
    CLEANUP(buf_done) struct buf server;

    buf_init(&server, CONCIERGE_FACTS);
    hall_put_server(hall, &server);
    json_key(w, S("_meta"));
    json_object_open(w);
    json_key(w, S("io.modelcontextprotocol/serverInfo"));
    json_raw(w, buf_str(&server));
    json_object_close(w);
}

static void put_input_required(struct buf *out, struct wish *wish)
{
    struct wish_question *q;
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("resultType"), S("input_required"));
    if (!list_is_empty(&wish->questions)) {
        json_key(&w, S("inputRequests"));
        json_object_open(&w);
        LIST_FOREACH(q, &wish->questions, link) {
            put_question(&w, q);
            q->is_told = true;
        }
        json_object_close(&w);
    }
    put_state(&w, wish);
    put_meta(&w, wish->attendee->hall);
    json_object_close(&w);
}

void wisher_hold(struct wisher *wisher)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, WORDS + CONCIERGE_FACTS);
    put_input_required(&out, wisher->wish);
    wisher_answer(wisher, false, buf_str(&out));
}

static uint32_t question_must(const struct wish_question *q)
{
    return client_must(q->method,
                       (struct json_span){ .type = JSON_OBJECT, .text = q->params });
}

/* It declared none of what is asked: the call cannot go on. */
static void give_up(struct wish *wish, uint32_t must)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, WORDS);
    client_fail_missing(&reply, must);
    wish_stop(wish, S("the client cannot be asked this"));
    buf_clear(&wish->answer);
    buf_put(&wish->answer, buf_str(&reply.json));
    wish->was_error = true;
    wish->state = WISH_ANSWERED;
    wish_give(wish);
}

static bool can_answer_some(const struct wish *wish, uint32_t can, uint32_t *ret_must)
{
    const struct wish_question *q;
    bool some = false;

    LIST_FOREACH(q, &wish->questions, link) {
        uint32_t must = question_must(q);

        *ret_must |= must;
        some |= (can & must) == must;
    }
    return some;
}

static void refuse_others(struct wish *wish, uint32_t can)
{
    struct wish_question *q;

    LIST_FOREACH(q, &wish->questions, link)
        if ((can & question_must(q)) != question_must(q))
            question_refuse(q, RPC_METHOD_NOT_FOUND,
                            S("the client cannot be asked this"));
}

static size_t questions_bytes(const struct wish *wish)
{
    const struct wish_question *q;
    size_t bytes = WORDS + CONCIERGE_FACTS;

    LIST_FOREACH(q, &wish->questions, link)
        bytes += q->params.len + q->method.len + KEY + WORDS;
    return bytes;
}

void wish_park(struct wish *wish)
{
    struct wisher *wisher = wish_latest(wish);
    uint32_t must = 0;
    CLEANUP(buf_done) struct buf out = {};

    if (!wisher || list_is_empty(&wish->questions))
        return;
    if (!can_answer_some(wish, wisher->can, &must)) {
        give_up(wish, must);
        return;
    }
    refuse_others(wish, wisher->can);
    buf_init(&out, questions_bytes(wish));
    put_input_required(&out, wish);
    wish->attendee->hall->counts.parked++;
    wish->state = WISH_PARKED;
    wish->tell_ms = UINT64_MAX;
    wish_due(wish, WISH_PARKED_MS);
    LIST_FOREACH(wisher, &wish->wishers, link)
        wisher_answer(wisher, false, buf_str(&out));
}

/* --- who comes back --- */

static bool fits(const struct wish_question *q, struct json_span answer)
{
    struct question_asked asked = { q->method, q->params };
    CLEANUP(arena_done) struct arena scratch = {};
    CLEANUP(buf_done) struct buf out = {}, why = {};

    if (!pick_is(answer, JSON_OBJECT))
        return false;
    arena_init(&scratch, (answer.text.len + q->params.len) * TREE + WORDS);
    buf_init(&out, answer.text.len * 2 + q->params.len + WORDS);
    buf_init(&why, QUESTION_WHY);
    return !question_put_answer(&out, &asked, answer.text, &scratch, &why);
}

/* What is missing or malformed is asked again; what was not asked is passed over. */
static void take_answers(struct wish *wish, struct json_span answers)
{
    struct wish_question *q;
    char text[KEY];

    LIST_FOREACH(q, &wish->questions, link) {
        struct str key = key_of(q, text);
        struct json_span answer = {};

        if (!q->is_told)
            continue;
        if (pick_is(answers, JSON_OBJECT))
            answer = mcp_message_member(answers, key);
        if (fits(q, answer))
            question_answer(q, S("result"), answer.text);
        if (wish->state == WISH_ANSWERED)
            return; /* it was decided, and all questions are gone */
    }
}

static void wait_again(struct wisher *wisher)
{
    struct hall *hall = wisher->wish->attendee->hall;

    wisher->hold_until_ms = hall->now.mono_ms + hall->settings.hold_ms;
    hall_due(hall, wisher->hold_until_ms);
}

/* What was proposed still is: its own user may have left it to others. */
static void unpark(struct wish *wish, struct wisher *wisher, struct json_span answers)
{
    struct hall *hall = wish->attendee->hall;

    wish->state = wish->is_proposed ? WISH_PROPOSED : WISH_CALLED;
    wish->due_ms = UINT64_MAX;
    take_answers(wish, answers);
    if (!list_is_empty(&wish->questions)) {
        wish_park(wish);
    } else if (wish->state == WISH_PROPOSED) {
        wish->tell_ms = hall->now.mono_ms + WISH_PROGRESS_MS;
        hall_due(hall, wish->tell_ms);
        wait_again(wisher);
    }
}

static void attach(struct wish *wish, const struct asked_for *ask,
                   struct json_span answers)
{
    struct wisher *wisher = wisher_new(wish, ask);

    switch (wish->state) {
    case WISH_ANSWERED: wish_give(wish); return;
    case WISH_PROPOSED: wait_again(wisher); return;
    case WISH_PARKED: unpark(wish, wisher, answers); return;
    case WISH_CALLED: return;
    }
}

static void tell_over(const struct asked_for *ask)
{
    wish_fail(ask, S("what this continues is over, and was not run again: it took too "
                     "long, or the gateway was restarted"));
}

static bool is_of(const struct sealed *sealed, const struct asked_for *ask,
                  const struct aim *aim)
{
    uint8_t digest[WISH_DIGEST];

    wish_state_digest(aim->owner, ask->in->message.method, aim->key, digest);
    return crypto_equal(digest, sealed->digest, WISH_DIGEST);
}

bool wish_return(const struct asked_for *ask, const struct aim *aim)
{
    struct attendee *a = ask->attendee;
    struct json_span state = {};
    struct json_span answers = {};
    struct sealed sealed;
    struct wish *wish;
    enum err err;

    if (ask->in->era != ERA_MODERN || !ask->in->message.params.text.ptr ||
        !PICK(ask->in->message.params, { S("requestState"), &state },
              { S("inputResponses"), &answers }) ||
        !pick_is(state, JSON_STRING) ||
        !wish_read_sealed(a, SEALED_STATE, state.text, &sealed, &err))
        return false;
    if (err || !is_of(&sealed, ask, aim)) {
        asked_fail(ask, RPC_INVALID_PARAMS, S("this requestState is not of this request"),
                   S(""));
        return true;
    }
    wish =
        sealed.boot == a->hall->settings.boot ? wish_of_number(a, sealed.number) : NULL;
    if (wish)
        attach(wish, ask, answers);
    else
        tell_over(ask);
    return true;
}
