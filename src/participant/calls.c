/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "participant/calls_priv.h"
#include "participant/keep.h"
#include "participant/occupant_priv.h"

enum { FINISHED_FIRST = 8 };
_Static_assert(CALLS_FINISHED % FINISHED_FIRST == 0, "it is doubled up to there");

struct calls *calls_new(size_t max)
{
    struct calls *calls = xcalloc(1, sizeof(*calls));

    calls->max = max;
    calls->due_ms = UINT64_MAX;
    map_init(&calls->by_id);
    map_init(&calls->by_taken);
    list_init(&calls->waiting);
    list_init(&calls->untold);
    list_init(&calls->sent);
    list_init(&calls->ended);
    hash_key_random(&calls->key);
    pad_init(&calls->pad);
    return calls;
}

static void call_free(struct call *call)
{
    free(call->taken);
    free(call->message);
    free(call);
}

void calls_free(struct calls *calls)
{
    struct call *call;

    if (!calls)
        return;
    MAP_FOREACH(call, &calls->by_id)
        call_free(call);
    map_done(&calls->by_id);
    map_done(&calls->by_taken);
    pad_done(&calls->pad);
    free(calls->finished);
    free(calls);
}

void calls_rest(struct calls *calls)
{
    pad_rest(&calls->pad);
}

/* --- those that are over --- */

static uint64_t hash_text(const struct calls *calls, struct str text)
{
    uint64_t hash = hash_of(&calls->key, text);

    return hash ? hash : 1;
}

/* The place of the next one: a new one, or that of the oldest. */
static struct finished *finished_place(struct calls *calls)
{
    size_t size = calls->finished_size;

    if (calls->finished_at == size && size < CALLS_FINISHED) {
        calls->finished_size = size ? 2 * size : FINISHED_FIRST;
        calls->finished =
            xrealloc(calls->finished, calls->finished_size * sizeof(*calls->finished));
        memset(calls->finished + size, 0,
               (calls->finished_size - size) * sizeof(*calls->finished));
    }
    if (calls->finished_at == CALLS_FINISHED)
        calls->finished_at = 0;
    return &calls->finished[calls->finished_at++];
}

/* Only where one was asked can it be said whose answer is missing. */
static void remember(struct calls *calls, const struct call *call, bool is_answered)
{
    const struct call_terms *terms = &call->terms;

    if (terms->stage != CALL_ASKED || terms->to_count != 1)
        return;
    *finished_place(calls) = (struct finished){
        .id_hash = hash_text(calls, terms->id),
        .to_hash = hash_text(calls, terms->to[0]),
        .is_answered = is_answered,
    };
}

struct finished *calls_find_finished(struct occupant *o, struct str id)
{
    struct calls *calls = o->calls;
    uint64_t hash;

    if (!str_starts(id, o->settings.id_prefix))
        return NULL;
    hash = hash_text(calls, id);
    for (size_t i = 0; i < calls->finished_size; i++)
        if (calls->finished[i].id_hash == hash)
            return &calls->finished[i];
    return NULL;
}

bool finished_was_asked(const struct calls *calls, const struct finished *finished,
                        struct str id)
{
    return finished->to_hash == hash_text(calls, id);
}

/* --- entering --- */

bool calls_have_room(const struct calls *calls)
{
    return calls->by_id.count < calls->max;
}

static bool keeps_params(const struct calls *calls, const struct call_terms *terms)
{
    return terms->stage == CALL_ASKED && terms->can_be_proposed &&
           calls->kept_bytes + terms->params.len + terms->reason.len <= CALLS_KEPT_BYTES;
}

static struct call *call_new(struct calls *calls, const struct call_terms *terms)
{
    bool keeps = keeps_params(calls, terms);
    struct str params = keeps ? terms->params : S("");
    struct str reason = keeps ? terms->reason : S("");
    struct call *call = xcalloc(
        1, sizeof(*call) + keep_strs_size(terms->to, terms->to_count) + terms->id.len +
               terms->method.len + terms->name.len + params.len + reason.len);
    char *at = (char *)(call + 1);

    call->terms = *terms;
    call->terms.to = keep_strs(&at, terms->to, terms->to_count);
    call->terms.id = keep_str(&at, terms->id);
    call->terms.method = keep_str(&at, terms->method);
    call->terms.name = keep_str(&at, terms->name);
    call->terms.params = keep_str(&at, params);
    call->terms.reason = keep_str(&at, reason);
    call->terms.can_be_proposed = keeps;
    call->kept_bytes = params.len + reason.len;
    return call;
}

static void note_due(struct calls *calls, const struct call *call)
{
    if (call->due_ms < calls->due_ms)
        calls->due_ms = call->due_ms;
}

void call_wait(struct occupant *o, struct call *call, uint64_t ms)
{
    call->due_ms = o->now.mono_ms + ms;
    note_due(o->calls, call);
}

static uint64_t at_most(uint64_t ms, uint64_t max)
{
    return ms < max ? ms : max;
}

uint64_t call_proposal_ms(const struct call_terms *terms)
{
    uint64_t ms = terms->proposal_ms ? terms->proposal_ms : terms->timeout_ms;

    return at_most(ms ? ms : CALLS_PROPOSAL_MS, CALLS_MAX_MS);
}

void call_propose(struct occupant *o, struct call *call)
{
    call->terms.stage = CALL_PROPOSED;
    call->terms.can_be_proposed = false;
    call_wait(o, call, call_proposal_ms(&call->terms));
    list_remove(&call->link);
    list_append(&o->calls->untold, &call->link);
}

uint64_t call_timeout(const struct occupant *o, const struct call *call)
{
    uint64_t ms = call->terms.timeout_ms;

    return at_most(ms ? ms : o->settings.call_timeout_ms, UINT32_MAX);
}

/* One fence is under way at a time; who comes meanwhile waits for the next one. */
static void fence_sent(struct occupant *o)
{
    struct calls *calls = o->calls;

    if (!calls->fence && !list_is_empty(&calls->sent))
        calls->fence = occupant_fence(o);
}

struct call *calls_add(struct occupant *o, const struct call_terms *terms)
{
    struct calls *calls = o->calls;
    struct call *call = call_new(calls, terms);

    call->connection = calls->connection;
    map_set(&calls->by_id, call->terms.id, call);
    calls->kept_bytes += call->kept_bytes;
    switch (terms->stage) {
    case CALL_SENT:
        call->fence = o->fences + 1;
        list_append(&calls->sent, &call->link);
        fence_sent(o);
        break;
    case CALL_PROPOSED: call_propose(o, call); break;
    case CALL_ASKED:
    case CALL_TAKEN_UP:
    case CALL_ENDED:
        list_append(&calls->waiting, &call->link);
        call_wait(o, call, call_timeout(o, call));
        break;
    }
    return call;
}

struct call *calls_find(const struct calls *calls, struct str id)
{
    struct call *call = map_find(&calls->by_id, id);

    return call && call->terms.stage != CALL_ENDED ? call : NULL;
}

void call_take_up(struct occupant *o, struct call *call, const struct envelope *request)
{
    struct taken *taken =
        xcalloc(1, sizeof(*taken) + keep_strs_size(request->to, request->to_count) +
                       request->id.len);
    char *at = (char *)(taken + 1);

    taken->to = keep_strs(&at, request->to, request->to_count);
    taken->to_count = request->to_count;
    taken->id = keep_str(&at, request->id);
    call->taken = taken;
    call->terms.stage = CALL_TAKEN_UP;
    map_set(&o->calls->by_taken, taken->id, call);
    call_wait(o, call, call_timeout(o, call));
}

/* --- ending --- */

static void leave(struct calls *calls, struct call *call, bool is_answered)
{
    remember(calls, call, is_answered);
    if (call->taken && map_find(&calls->by_taken, call->taken->id) == call)
        (void)map_remove(&calls->by_taken, call->taken->id);
    list_remove(&call->link);
    call->terms.stage = CALL_ENDED;
}

static void tell_end(struct occupant *o, struct call *call, struct outcome *end)
{
    struct calls *calls = o->calls;

    (void)map_remove(&calls->by_id, call->terms.id);
    calls->kept_bytes -= call->kept_bytes;
    end->id = call->terms.id;
    if (call->terms.ops.on_done)
        call->terms.ops.on_done(call->terms.user, end);
    call_free(call);
}

void call_finish(struct occupant *o, struct call *call, struct outcome *end)
{
    leave(o->calls, call, true);
    tell_end(o, call, end);
}

void call_end(struct occupant *o, struct call *call, const struct outcome *end)
{
    struct calls *calls = o->calls;

    leave(calls, call, false);
    call->end = *end;
    call->message = str_dup(end->message);
    call->end.message.ptr = call->message;
    list_append(&calls->ended, &call->link);
}

/* What ends meanwhile is told the next time, so this ends, too. */
void calls_tell(struct occupant *o)
{
    struct link batch;
    struct call *call;

    list_init(&batch);
    list_splice(&batch, &o->calls->ended);
    LIST_FOREACH(call, &batch, link) {
        list_remove(&call->link);
        tell_end(o, call, &call->end);
    }
}

void call_progress(struct call *call, struct progress *progress)
{
    progress->id = call->terms.id;
    if (call->terms.ops.on_progress)
        call->terms.ops.on_progress(call->terms.user, progress);
}

/* --- what ends many --- */

static const struct outcome lost = {
    .type = ASK_LOST,
    .error = S("lost"),
    .message = S("the connection broke; what became of it is not known"),
};

/* All that were sent before that connection. */
static void lose(struct occupant *o, struct link *list, uint64_t connection)
{
    struct call *call;

    LIST_FOREACH(call, list, link)
        if (call->connection < connection)
            call_end(o, call, &lost);
}

static bool is_bound_to(const struct call *call, struct str id)
{
    switch (call->terms.stage) {
    case CALL_ASKED: return call->terms.to_count == 1 && str_eq(call->terms.to[0], id);
    case CALL_TAKEN_UP:
        return call->taken->to_count == 1 && str_eq(call->taken->to[0], id);
    case CALL_SENT:
    case CALL_PROPOSED:
    case CALL_ENDED: break;
    }
    return false;
}

void calls_left(struct occupant *o, struct str id, enum left_when when)
{
    uint64_t before = when == LEFT_NOW ? UINT64_MAX : o->calls->connection;
    struct call *call;

    LIST_FOREACH(call, &o->calls->waiting, link) {
        struct outcome end = {
            .type = ASK_GONE,
            .error = S("gone"),
            .message = S("who was asked has left before answering"),
        };

        if (call->connection >= before || !is_bound_to(call, id))
            continue;
        end.by = call->taken ? call->taken->to[0] : call->terms.to[0];
        call_end(o, call, &end);
    }
    calls_tell(o);
}

void calls_broken(struct occupant *o)
{
    struct calls *calls = o->calls;

    calls->connection++;
    calls->fence = 0;
    lose(o, &calls->sent, UINT64_MAX);
    calls_tell(o);
}

/* What was sent since the connection began is answered behind the gap. */
void calls_gap(struct occupant *o)
{
    calls_tell_proposed(o);
    lose(o, &o->calls->waiting, o->calls->connection);
    calls_tell(o);
}

void calls_lost(struct occupant *o)
{
    struct calls *calls = o->calls;

    calls->fence = 0;
    lose(o, &calls->sent, UINT64_MAX);
    lose(o, &calls->untold, UINT64_MAX);
    lose(o, &calls->waiting, UINT64_MAX);
    calls_tell(o);
}

void calls_judged(struct occupant *o, uint64_t fence)
{
    static const struct outcome sent = { .type = ASK_SENT };
    struct calls *calls = o->calls;
    struct call *call;

    LIST_FOREACH(call, &calls->sent, link)
        if (call->fence <= fence)
            call_end(o, call, &sent);
    if (calls->fence <= fence)
        calls->fence = 0;
    fence_sent(o);
    calls_tell(o);
}

/* --- time --- */

static void time_out(struct occupant *o, struct call *call)
{
    static const struct outcome late = {
        .type = ASK_TIMED_OUT,
        .error = S("timeout"),
        .message = S("no answer came in time"),
    };
    static const struct outcome expired = {
        .type = ASK_DECLINED,
        .error = S("expired"),
        .message = S("nobody decided on the proposal in time"),
    };

    if (call->terms.stage == CALL_ASKED)
        calls_send_cancelled(o, call, S("timeout"));
    call_end(o, call, call->terms.stage == CALL_PROPOSED ? &expired : &late);
}

static void tick_waiting(struct occupant *o)
{
    struct calls *calls = o->calls;
    struct call *call;

    calls->due_ms = UINT64_MAX;
    LIST_FOREACH(call, &calls->waiting, link) {
        if (call->due_ms <= o->now.mono_ms)
            time_out(o, call);
        else
            note_due(calls, call);
    }
}

void calls_tell_proposed(struct occupant *o)
{
    struct calls *calls = o->calls;
    struct link batch;
    struct call *call;

    list_init(&batch);
    list_splice(&batch, &calls->untold);
    while ((call = LIST_FIRST(&batch, struct call, link)) != NULL) {
        struct progress progress = { .type = ASK_PROPOSED };

        list_remove(&call->link);
        list_append(&calls->waiting, &call->link);
        note_due(calls, call);
        call_progress(call, &progress);
    }
}

void calls_tick(struct occupant *o)
{
    calls_tell_proposed(o);
    if (o->calls->due_ms <= o->now.mono_ms)
        tick_waiting(o);
    calls_tell(o);
}

uint64_t calls_due_ms(const struct occupant *o)
{
    const struct calls *calls = o->calls;

    if (!list_is_empty(&calls->untold) || !list_is_empty(&calls->ended))
        return 0;
    return calls->due_ms;
}
