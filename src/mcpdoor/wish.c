/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/wish.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/keep.h"
#include "participant/pick.h"
#include "participant/proposals.h"
#include "policy/capset.h"

enum { WORDS = 4096 };

struct moment wish_now(const struct wish *wish)
{
    return wish->attendee->hall->now;
}

size_t wish_room(const struct wish *wish)
{
    return wish->attendee->hall->settings.max_message + HALL_MORE;
}

void wish_due(struct wish *wish, uint64_t in_ms)
{
    wish->due_ms = wish_now(wish).mono_ms + in_ms;
    hall_due(wish->attendee->hall, wish->due_ms);
}

static struct str call_id(const struct wish *wish)
{
    return str_of(wish->call_id);
}

/* --- finding --- */

struct wish *wish_of_call(const struct attendee *a, struct str id)
{
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link)
        if (id.len && str_eq(call_id(wish), id))
            return wish;
    return NULL;
}

struct wish *wish_of_number(const struct attendee *a, uint64_t number)
{
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link)
        if (wish->number == number)
            return wish;
    return NULL;
}

/* One of many that wait. */
typedef bool (*is_wanted)(const struct wisher *wisher, const void *what);

static struct wisher *find_in(const struct wish *wish, is_wanted is, const void *what)
{
    struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        if (is(wisher, what))
            return wisher;
    return NULL;
}

static struct wisher *find_wisher(const struct attendee *a, is_wanted is,
                                  const void *what)
{
    struct wisher *found;
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link) {
        found = find_in(wish, is, what);
        if (found)
            return found;
    }
    return NULL;
}

static bool has_strand(const struct wisher *wisher, const void *strand)
{
    return wisher->strand == strand;
}

struct wisher *wish_wisher(const struct attendee *a, const struct strand *strand)
{
    return find_wisher(a, has_strand, strand);
}

struct wisher *wish_latest(const struct wish *wish)
{
    return list_is_empty(&wish->wishers)
               ? NULL
               : CONTAINER_OF(wish->wishers.prev, struct wisher, link);
}

/* --- life --- */

static struct wish *wish_new(const struct asked_for *ask, const struct aim *aim)
{
    struct attendee *a = ask->attendee;
    struct str method = ask->in->message.method;
    struct wish *wish =
        xcalloc(1, sizeof(*wish) + aim->owner.len + method.len + aim->key.len);
    char *at = (char *)(wish + 1);

    wish->attendee = a;
    wish->owner = keep_str(&at, aim->owner);
    wish->method = keep_str(&at, method);
    wish->key = keep_str(&at, aim->key);
    wish->is_modern = ask->in->era == ERA_MODERN;
    wish->due_ms = UINT64_MAX;
    wish->tell_ms = UINT64_MAX;
    wish->created_ms = a->hall->now.wall_ms;
    wish->changed_ms = wish->created_ms;
    list_init(&wish->wishers);
    list_init(&wish->questions);
    buf_init(&wish->answer, wish_room(wish));
    list_append(&a->wishes, &wish->link);
    a->wish_count++;
    return wish;
}

static void wisher_free(struct wisher *wisher)
{
    list_remove(&wisher->link);
    free(wisher);
}

void wish_stop(struct wish *wish, struct str reason)
{
    struct occupant *o = wish->attendee->occupant;

    wish_questions_free(wish);
    if (!wish->call_id[0])
        return;
    /* what cannot be withdrawn now expires */
    (void)occupant_cancel(o, call_id(wish), reason, wish_now(wish));
    occupant_forget(o, call_id(wish));
    wish->call_id[0] = '\0';
    hall_due(wish->attendee->hall, occupant_due_ms(o));
}

void wish_free(struct wish *wish)
{
    struct wisher *wisher;

    wish_stop(wish, S("no longer wanted"));
    LIST_FOREACH(wisher, &wish->wishers, link)
        wisher_free(wisher);
    list_remove(&wish->link);
    wish->attendee->wish_count--;
    free(wish->why);
    buf_done(&wish->answer);
    free(wish);
}

/* --- who waits --- */

struct wisher *wisher_new(struct wish *wish, const struct asked_for *ask)
{
    const struct serve_incoming *in = ask->in;
    struct wisher *wisher = xcalloc(1, sizeof(*wisher) + span_raw(in->message.id).len +
                                           span_raw(in->progress).len);
    char *at = (char *)(wisher + 1);

    wisher->wish = wish;
    wisher->visit = ask->visit;
    wisher->strand = ask->strand;
    wisher->id = keep_span(&at, in->message.id);
    wisher->progress = keep_span(&at, in->progress);
    wisher->can = ask->visit ? ask->visit->can : client_can(in->capable);
    wisher->level = serve_level(in->log_level);
    wisher->hold_until_ms = UINT64_MAX;
    list_append(&wish->wishers, &wisher->link);
    return wisher;
}

static int64_t code_of(struct str error)
{
    struct json_span code = mcp_message_member(
        (struct json_span){ .type = JSON_OBJECT, .text = error }, S("code"));

    return code.text.len && code.text.len < 16 ? strtoll(code.text.ptr, NULL, 10) : 0;
}

/* The wisher goes first: whoever hears of the strand's end finds nobody waiting. */
void wisher_answer(struct wisher *wisher, bool is_error, struct str json)
{
    const struct wish *wish = wisher->wish;
    struct strand *strand = wisher->strand;
    CLEANUP(buf_done) struct buf message;
    unsigned status = 200;

    buf_init(&message, json.len + span_raw(wisher->id).len + WORDS);
    mcp_message_put_answer(&message, wisher->id, is_error ? S("error") : S("result"),
                           json);
    if (is_error)
        status = serve_status(wish->is_modern ? ERA_MODERN : ERA_LEGACY, code_of(json));
    wisher_free(wisher);
    strand_answer(strand, status, buf_str(&message), wish_now(wish).mono_ms);
}

void wish_give(struct wish *wish)
{
    struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        wisher_answer(wisher, wish->was_error, buf_str(&wish->answer));
    if (!wish->is_task)
        wish_free(wish);
}

void wish_fail(const struct asked_for *ask, struct str text)
{
    struct str method = ask->in->message.method;
    CLEANUP(buf_done) struct buf out = {};
    bool is_error;

    if (!str_eq(method, S("tools/call"))) {
        asked_fail(ask, RPC_INTERNAL, text, S(""));
        return;
    }
    buf_init(&out, text.len * 6 + (size_t)2 * WORDS);
    wish_put_failure(&out, method, ask->in->era == ERA_MODERN, text, &is_error);
    asked_answer(ask, buf_str(&out));
}

/* --- what becomes of it --- */

/* Could its task, if it is one, be looked after? */
static bool note_task(const struct wish *wish, const struct outcome *outcome)
{
    const struct attendee *a = wish->attendee;

    if (outcome->type != ASK_RESULT || !str_eq(wish->method, S("tools/call")))
        return true;
    return task_owners_note(&a->hall->task_owners, a->id, wish->owner, outcome->json);
}

static void on_done(void *user, const struct outcome *outcome)
{
    struct wish *wish = user;

    wish->call_id[0] = '\0';
    wish_questions_free(wish);
    if (note_task(wish, outcome))
        wish_put_outcome(&wish->answer, wish, outcome, &wish->was_error);
    else
        wish_put_failure(&wish->answer, wish->method, wish->is_modern,
                         S("its task has the id of a task of another server"),
                         &wish->was_error);
    wish->state = WISH_ANSWERED;
    wish->changed_ms = wish_now(wish).wall_ms;
    wish->tell_ms = UINT64_MAX;
    wish_due(wish, wish->is_task ? WISH_TASK_MS : WISH_KEPT_MS);
    if (!list_is_empty(&wish->wishers))
        wish_give(wish);
}

/* A modern client gets a task, or is held for a while. */
static void wait_for_decision(struct wisher *wisher)
{
    const struct wish *wish = wisher->wish;
    struct hall *hall = wish->attendee->hall;

    if (!wish->is_modern)
        return;
    if (wisher->can & CAN_POLL_TASKS && str_eq(wish->method, S("tools/call"))) {
        wisher_hand_out(wisher);
        return;
    }
    wisher->hold_until_ms = hall->now.mono_ms + hall->settings.hold_ms;
    hall_due(hall, wisher->hold_until_ms);
}

/* Somebody in the room decides; who waits is told so now and then. */
static void wait(struct wish *wish)
{
    struct hall *hall = wish->attendee->hall;

    wish->is_proposed = true;
    wish->state = WISH_PROPOSED;
    wish->changed_ms = hall->now.wall_ms;
    wish->tell_ms = hall->now.mono_ms + WISH_PROGRESS_MS;
    hall_due(hall, wish->tell_ms);
}

static void wait_all(struct wish *wish)
{
    struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        wait_for_decision(wisher);
}

static void propose(struct wish *wish)
{
    wish->attendee->hall->counts.proposals++;
    wait(wish);
    if (wish_may_approve(wish))
        wish_ask_approval(wish);
    else
        wait_all(wish);
}

/* Whoever waits for a decision already goes on waiting. */
static void authorize(struct wish *wish, struct str why)
{
    bool waits = wish->state == WISH_PROPOSED;

    wish->is_authorizing = true;
    free(wish->why);
    wish->why = str_dup(utf8_cut(why, WORDS));
    wait(wish);
    wish_tell_waiting(wish);
    if (!waits)
        wait_all(wish);
}

static void count(struct wish *wish, const struct progress *progress)
{
    wish->given = (uint32_t)progress->done;
    wish->needed = (uint32_t)progress->total;
    wish->changed_ms = wish_now(wish).wall_ms;
    wish_tell_waiting(wish);
}

static void on_progress(void *user, const struct progress *progress)
{
    struct wish *wish = user;

    switch (progress->type) {
    case ASK_PROPOSED: propose(wish); break;
    case ASK_AUTHORIZING: authorize(wish, progress->message); break;
    case ASK_TAKEN_UP:
        wish->is_taken_up = true;
        wish->changed_ms = wish_now(wish).wall_ms;
        break;
    case ASK_UNDERWAY: break; /* its own words go out: wish_hear() */
    case ASK_APPROVED: count(wish, progress); break;
    }
}

static const struct ask_ops ask_ops = { .on_progress = on_progress, .on_done = on_done };

/* --- asking --- */

static void put_reason(struct buf *out, const struct asked_for *ask)
{
    CLEANUP(buf_done) struct buf name;

    buf_init(&name, WORDS);
    if (!ask->visit)
        client_put_name(&name, ask->in->client);
    else if (ask->visit->client)
        buf_put(&name, str_of(ask->visit->client));
    buf_put(out, name.len ? S("for MCP client ") : S("for an MCP client"));
    buf_put(out, buf_str(&name));
}

/* CONTEXT cannot say everything that a URI can. */
static struct str context_of(const struct wish *wish)
{
    CLEANUP(buf_done) struct buf text;
    struct kind kind;

    buf_init(&text, KIND_MAX_BYTES);
    buf_put(&text, S("mcp/request:"));
    buf_put(&text, wish->method);
    buf_putc(&text, ':');
    buf_put(&text, wish->key);
    return wish->key.len && !text.is_full && !kind_parse(buf_str(&text), &kind)
               ? wish->key
               : S("");
}

static enum err send(struct wish *wish, const struct asked_for *ask,
                     const struct aim *aim, const char **ret_why)
{
    struct hall *hall = wish->attendee->hall;
    CLEANUP(buf_done) struct buf params, reason;
    uint64_t open_ms = hall->settings.proposal_ms;
    struct str id;
    enum err err;

    buf_init(&params, wish_room(wish));
    buf_init(&reason, WORDS);
    put_reason(&reason, ask);
    err = aim_put_params(aim, ask, &params);
    if (err)
        return err;
    err = occupant_request(
        wish->attendee->occupant,
        &(struct asking){ .to = wish->owner,
                          .method = wish->method,
                          .name = context_of(wish),
                          .params = buf_str(&params),
                          .reason = buf_str(&reason),
                          .how = ASK_CALL_OR_PROPOSE,
                          .is_quiet = !ask->in->progress.text.ptr,
                          .timeout_ms = WISH_CALL_MS,
                          .proposal_ms = open_ms ? open_ms : WISH_PROPOSAL_MS,
                          .ops = ask_ops,
                          .user = wish },
        hall->now, &id, ret_why);
    if (err)
        return err;
    memcpy(wish->call_id, id.ptr, id.len);
    wish->call_id[id.len] = '\0';
    hall->counts.calls++;
    hall_due(hall, occupant_due_ms(wish->attendee->occupant));
    return OK;
}

static void tell_unsent(const struct asked_for *ask, const struct aim *aim, enum err err,
                        const char *why)
{
    switch ((int)err) {
    case ERR_FORBIDDEN: aim_refuse(aim, ask); return;
    case ERR_AGAIN:
        wish_fail(ask, S("the room cannot be reached now; try again"));
        return;
    case ERR_TOO_BIG: wish_fail(ask, S("it is larger than the gateway takes")); return;
    case ERR_OVERLOAD:
        wish_fail(ask, S("too many calls are under way; try again"));
        return;
    default: wish_fail(ask, str_of(why ? why : err_name(err))); return;
    }
}

/* --- joining --- */

/* What was proposed, and is open, or decided while nobody waited. */
static struct wish *find_same(const struct attendee *a,
                              const uint8_t digest[static WISH_DIGEST])
{
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link)
        if (wish->has_digest && wish->is_proposed && !wish->was_cancelled &&
            crypto_equal(wish->digest, digest, WISH_DIGEST))
            return wish;
    return NULL;
}

static void join(struct wish *wish, const struct asked_for *ask)
{
    struct wisher *wisher = wisher_new(wish, ask);

    ask->attendee->hall->counts.joined++;
    if (wish->state == WISH_ANSWERED)
        wish_give(wish);
    else if (wish->state == WISH_PARKED)
        wish_park(wish); /* the same questions */
    else
        wait_for_decision(wisher);
}

/* One from before a restart, that the welcome told of. */
static bool await(struct wish *wish, const struct proposed *p)
{
    if (p->id.len >= ASK_ID ||
        occupant_await(wish->attendee->occupant, p->id, &ask_ops, wish, wish_now(wish)))
        return false;
    memcpy(wish->call_id, p->id.ptr, p->id.len);
    wish->call_id[p->id.len] = '\0';
    hall_due(wish->attendee->hall, occupant_due_ms(wish->attendee->occupant));
    return true;
}

static bool is_same_proposal(const struct wish *wish, const struct proposed *p)
{
    uint8_t digest[WISH_DIGEST];

    return p->is_mine && p->state == PROPOSED_OPEN && !p->owner.len && p->to_count == 1 &&
           str_eq(p->to[0], wish->owner) && str_eq(p->method, wish->method) &&
           p->params.len &&
           wish_digest(wish->owner, wish->method, p->params, wish->is_modern, digest) &&
           crypto_equal(digest, wish->digest, WISH_DIGEST);
}

static bool take_up_open(struct wish *wish)
{
    const struct proposed *p = NULL;

    while ((p = occupant_next_proposal(wish->attendee->occupant, p)) != NULL)
        if (is_same_proposal(wish, p) && await(wish, p))
            return true;
    return false;
}

/* --- beginning --- */

static bool depends(const struct asked_for *ask, const struct aim *aim)
{
    CLEANUP(buf_done) struct buf kind = {};

    if (aim->right == RIGHT_PROPOSE)
        return true;
    buf_init(&kind, KIND_MAX_BYTES);
    buf_put(&kind, S("mcp/request:"));
    buf_put(&kind, ask->in->message.method);
    if (aim->key.len) {
        buf_putc(&kind, ':');
        buf_put(&kind, aim->key);
    }
    return occupant_verdict(ask->attendee->occupant, buf_str(&kind)) != VERDICT_ALLOW;
}

static void start(const struct asked_for *ask, const struct aim *aim,
                  const uint8_t *digest)
{
    struct attendee *a = ask->attendee;
    const char *why = NULL;
    struct wish *wish;
    enum err err;

    if (a->wish_count >= a->hall->settings.max_wishes) {
        tell_unsent(ask, aim, ERR_OVERLOAD, NULL);
        return;
    }
    wish = wish_new(ask, aim);
    if (digest) {
        memcpy(wish->digest, digest, WISH_DIGEST);
        wish->has_digest = true;
        wish->is_proposed = aim->right == RIGHT_PROPOSE;
    }
    if (digest && aim->right == RIGHT_PROPOSE && take_up_open(wish)) {
        (void)wisher_new(wish, ask);
        return;
    }
    err = send(wish, ask, aim, &why);
    if (err) {
        wish_free(wish);
        tell_unsent(ask, aim, err, why);
        return;
    }
    (void)wisher_new(wish, ask);
}

static struct watch *find_watch(struct link *watched, const struct aim *aim)
{
    struct watch *watch;

    LIST_FOREACH(watch, watched, link)
        if (str_eq(watch->of->owner, aim->owner) && str_eq(watch->of->uri, aim->key))
            return watch;
    return NULL;
}

/* Counted here: the owner hears of the first and of the last. */
static bool watch(const struct asked_for *ask, const struct aim *aim)
{
    struct str method = ask->in->message.method;
    bool begins = str_eq(method, S("resources/subscribe"));
    struct watch *found;

    if (!begins && !str_eq(method, S("resources/unsubscribe")))
        return false;
    if (!ask->visit) {
        asked_fail(ask, RPC_METHOD_NOT_FOUND, S("Method not found"), S(""));
        return true;
    }
    found = find_watch(&ask->visit->watcher.watched, aim);
    if (begins && !found &&
        attendee_watch(ask->attendee, &ask->visit->watcher, aim->owner, aim->key)) {
        wish_fail(ask, S("too many resources are watched"));
        return true;
    }
    if (!begins && found)
        attendee_unwatch(ask->attendee, found);
    asked_answer(ask, S("{}"));
    return true;
}

static void begin(const struct asked_for *ask, const struct aim *aim)
{
    uint8_t digest[WISH_DIGEST];
    struct wish *same;

    if (watch(ask, aim) || wish_return(ask, aim))
        return;
    if (!depends(ask, aim) || !aim_digest(aim, ask, digest)) {
        start(ask, aim, NULL);
        return;
    }
    same = find_same(ask->attendee, digest);
    if (same)
        join(same, ask);
    else
        start(ask, aim, digest);
}

void wish_begin(const struct asked_for *ask)
{
    struct aim aim;

    if (wish_task(ask))
        return;
    if (aim_take(&aim, ask))
        begin(ask, &aim);
    aim_done(&aim);
}

/* --- not wanted any more --- */

void wish_owner_left(struct attendee *a, struct str owner)
{
    occupant_left(a->occupant, owner, a->hall->now);
}

static bool outlives_clients(const struct wish *wish)
{
    return wish->is_task || wish->state == WISH_PARKED || wish->state == WISH_ANSWERED;
}

void wish_lost(struct wisher *wisher)
{
    struct wish *wish = wisher->wish;

    wisher_free(wisher);
    if (list_is_empty(&wish->wishers) && !outlives_clients(wish))
        wish_free(wish);
}

struct request_name {
    const struct visit *visit;
    struct json_span id;
};

static bool has_id(const struct wisher *wisher, const void *what)
{
    const struct request_name *name = what;

    return wisher->visit == name->visit && wisher->id.type == name->id.type &&
           str_eq(wisher->id.text, name->id.text);
}

void wish_cancel(struct attendee *a, struct visit *visit, struct json_span id)
{
    struct wisher *wisher = find_wisher(a, has_id, &(struct request_name){ visit, id });
    struct strand *strand;

    if (!wisher)
        return;
    strand = wisher->strand;
    wish_lost(wisher);
    strand_answer(strand, 202, S(""), a->hall->now.mono_ms);
}

void wish_drain(struct attendee *a)
{
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link) {
        if (!wish->is_proposed || wish->is_taken_up || wish->is_authorizing ||
            !wish->call_id[0])
            continue;
        occupant_forget(a->occupant, call_id(wish));
        wish->call_id[0] = '\0';
        wish_put_failure(&wish->answer, wish->method, wish->is_modern,
                         a->hall->settings.is_stdio
                             ? S("nobody decided before the end of standard input; the "
                                 "proposal stays")
                             : S("the gateway restarts: repeat the call, the proposal "
                                 "stays"),
                         &wish->was_error);
        wish->state = WISH_ANSWERED;
        wish->is_task = false;
        wish_give(wish);
    }
}

/* --- time --- */

static void tick_held(struct wish *wish, uint64_t now_ms)
{
    struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        if (wisher->hold_until_ms <= now_ms)
            wisher_hold(wisher);
}

static void tick(struct wish *wish, uint64_t now_ms)
{
    if (wish->tell_ms <= now_ms)
        wish_tell_waiting(wish);
    tick_held(wish, now_ms);
    if (wish->due_ms > now_ms)
        return;
    wish->due_ms = UINT64_MAX;
    switch (wish->state) {
    case WISH_CALLED:
    case WISH_PROPOSED: wish_park(wish); break;
    case WISH_PARKED: wish_free(wish); break;
    case WISH_ANSWERED:
        if (list_is_empty(&wish->wishers)) {
            wish_free(wish);
        } else {
            wish_due(wish, WISH_KEPT_MS);
            wish_give(wish);
        }
        break;
    }
}

void wish_tick(struct attendee *a, uint64_t now_ms)
{
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link)
        tick(wish, now_ms);
    if (list_is_empty(&a->wishes) && a->occupant)
        occupant_rest(a->occupant);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t due_of(const struct wish *wish)
{
    uint64_t due_ms = earlier(wish->due_ms, wish->tell_ms);
    const struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        due_ms = earlier(due_ms, wisher->hold_until_ms);
    return due_ms;
}

uint64_t wish_due_ms(const struct attendee *a)
{
    uint64_t due_ms = UINT64_MAX;
    const struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link)
        due_ms = earlier(due_ms, due_of(wish));
    return due_ms;
}
