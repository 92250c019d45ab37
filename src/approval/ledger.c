/* SPDX-License-Identifier: Apache-2.0 */
#include "approval/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "approval/approval_priv.h"
#include "approval/binding.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"

enum {
    MAX_ADDRESSEES = 8,       /* of a request; with more, anybody may answer it */
    SUBJECT_BYTES = 64 << 20, /* more than any name in an envelope */
};

/* A request that waits for its answer. */
struct request {
    struct str id;       /* both stand in `text` */
    struct str proposer; /* whose proposal it fulfils, or "" */
    struct link link;
    uint64_t to[MAX_ADDRESSEES]; /* keyed hashes of those who may answer */
    size_t to_count;             /* 0: anybody */
    char text[];
};

void ledger_init(struct ledger *ledger, const struct ledger_settings *settings)
{
    *ledger = (struct ledger){ .settings = settings };
    hash_key_random(&ledger->key);
    map_init(&ledger->proposals);
    map_init(&ledger->requests);
    list_init(&ledger->by_age);
    list_init(&ledger->requests_by_age);
}

static void weigh(struct ledger *ledger, const struct proposal *proposal, bool is_held)
{
    if (ledger->keeper && ledger->keeper->weighed)
        ledger->keeper->weighed(ledger, proposal->proposer, proposal->envelope_bytes,
                                is_held);
}

static void drop_envelope(struct ledger *ledger, struct proposal *proposal)
{
    if (proposal->envelope)
        weigh(ledger, proposal, false);
    free(proposal->envelope);
    proposal->envelope = NULL;
    ledger->bytes -= proposal->envelope_bytes;
    proposal->envelope_bytes = 0;
}

static struct str keep(char **at, struct str s)
{
    struct str kept = { *at, s.len };

    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return kept;
}

/* How one ended; nobody decides that it expires. */
struct ending {
    enum proposal_state state;
    struct str by, reason, rule;
    struct str edited;
    uint64_t at_ms;
};

static void keep_ending(struct proposal *proposal, const struct ending *ending)
{
    char *at = xmalloc(ending->by.len + ending->reason.len + ending->rule.len + 1);

    free(proposal->verdict);
    proposal->verdict = at;
    proposal->by = keep(&at, ending->by);
    proposal->reason = keep(&at, ending->reason);
    proposal->rule = keep(&at, ending->rule);
    proposal->decided_ms = ending->at_ms;
    proposal->state = (uint8_t)ending->state;
}

static void close_proposal(struct ledger *ledger, struct proposal *proposal,
                           const struct ending *ending)
{
    keep_ending(proposal, ending);
    drop_envelope(ledger, proposal);
    ledger->open_count--;
    proposal->edited = ending->edited;
    if (ledger->keeper)
        ledger->keeper->changed(ledger, proposal);
    proposal->edited = (struct str){};
}

static void free_proposal(struct ledger *ledger, struct proposal *proposal)
{
    drop_envelope(ledger, proposal);
    (void)map_remove(&ledger->proposals, proposal->id);
    list_remove(&proposal->link);
    approvals_done(&proposal->approvals);
    free(proposal->verdict);
    free(proposal);
}

/* It is closed. */
static void forget_proposal(struct ledger *ledger, struct proposal *proposal)
{
    if (ledger->keeper)
        ledger->keeper->forgotten(ledger, proposal);
    free_proposal(ledger, proposal);
}

static void forget_request(struct ledger *ledger, struct request *request)
{
    (void)map_remove(&ledger->requests, request->id);
    list_remove(&request->link);
    free(request);
}

void ledger_done(struct ledger *ledger)
{
    struct proposal *proposal;
    struct request *request;

    LIST_FOREACH(proposal, &ledger->by_age, link)
        free_proposal(ledger, proposal);
    LIST_FOREACH(request, &ledger->requests_by_age, link)
        forget_request(ledger, request);
    map_done(&ledger->proposals);
    map_done(&ledger->requests);
}

static void map_move(struct map *to, struct map *from)
{
    map_done(to);
    *to = *from;
    map_init(from);
}

void ledger_move(struct ledger *to, struct ledger *from)
{
    map_move(&to->proposals, &from->proposals);
    map_move(&to->requests, &from->requests);
    list_splice(&to->by_age, &from->by_age);
    list_splice(&to->requests_by_age, &from->requests_by_age);
    to->key = from->key;
    to->order = from->order;
    to->bytes = from->bytes;
    to->open_count = from->open_count;
    from->bytes = 0;
    from->open_count = 0;
}

const char *proposal_state_name(enum proposal_state state)
{
    static const char *const names[] = { "open", "fulfilled", "rejected", "withdrawn",
                                         "expired" };

    return names[state];
}

/* --- finding --- */

static bool is_open(const struct proposal *proposal, uint64_t wall_ms)
{
    return proposal->state == PROPOSAL_OPEN && proposal->expires_ms > wall_ms;
}

static void refresh(struct ledger *ledger, struct proposal *proposal, uint64_t wall_ms)
{
    if (proposal->state == PROPOSAL_OPEN && !is_open(proposal, wall_ms))
        close_proposal(
            ledger, proposal,
            &(struct ending){ .state = PROPOSAL_EXPIRED, .at_ms = proposal->expires_ms });
}

static struct proposal *find(struct ledger *ledger, struct str id, uint64_t wall_ms)
{
    struct proposal *proposal = map_find(&ledger->proposals, id);

    if (proposal)
        refresh(ledger, proposal, wall_ms);
    return proposal;
}

const struct proposal *ledger_find(struct ledger *ledger, struct str id, uint64_t wall_ms)
{
    return find(ledger, id, wall_ms);
}

const struct proposal *ledger_next(struct ledger *ledger, const struct proposal *after,
                                   uint64_t wall_ms)
{
    const struct link *at = after ? after->link.next : ledger->by_age.next;
    struct proposal *proposal;

    if (at == &ledger->by_age)
        return NULL;
    proposal = CONTAINER_OF((uintptr_t)at, struct proposal, link); /* drops const */
    refresh(ledger, proposal, wall_ms);
    return proposal;
}

const struct proposal *ledger_next_open(struct ledger *ledger,
                                        const struct proposal *after, uint64_t wall_ms)
{
    const struct proposal *proposal = ledger_next(ledger, after, wall_ms);

    while (proposal && proposal->state != PROPOSAL_OPEN)
        proposal = ledger_next(ledger, proposal, wall_ms);
    return proposal;
}

bool ledger_knows(const struct ledger *ledger, struct str id, uint64_t wall_ms)
{
    const struct proposal *proposal = map_find(&ledger->proposals, id);

    return (proposal && is_open(proposal, wall_ms)) ||
           map_find(&ledger->requests, id) != NULL;
}

/* --- judging --- */

/* Addressees may be long and many, and proposals stay: so their hash is kept, keyed, so
 * that nobody can find another list with the same one. 0 stands for no list. */
static uint64_t to_hash(const struct ledger *ledger, const struct envelope *env)
{
    uint64_t chain[2] = {};

    for (size_t i = 0; i < env->to_count; i++) {
        chain[1] = hash_of(&ledger->key, env->to[i]);
        chain[0] =
            hash_of(&ledger->key, (struct str){ (const char *)chain, sizeof(chain) });
    }
    return env->to_count && !chain[0] ? 1 : chain[0];
}

/* Same METHOD, and where the proposal has them, same CONTEXT and same addressees. */
static bool fulfils(const struct ledger *ledger, const struct envelope *env,
                    const struct proposal *proposal)
{
    if (!str_eq(env->kind.method, proposal->kind.method))
        return false;
    if (proposal->kind.context.ptr && !str_eq(env->kind.context, proposal->kind.context))
        return false;
    return proposal->to_hash == 0 || proposal->to_hash == to_hash(ledger, env);
}

enum err state_problem(const struct proposal *proposal, const char *what,
                       struct ledger_problem *problem)
{
    problem->field = S("correlation_id");
    problem->what = what;
    problem->state = proposal ? proposal_state_name(proposal->state) : NULL;
    return ERR_PROPOSAL_STATE;
}

static enum err judge_proposal(struct ledger *ledger, const struct envelope *env,
                               uint64_t wall_ms, struct ledger_effect *ret,
                               struct ledger_problem *problem)
{
    const struct ledger_settings *settings = ledger->settings;
    uint64_t expires_ms = wall_ms + settings->expiry_ms;
    struct str text = env->expires_at.text;

    if (text.ptr) {
        problem->field = S("expires_at");
        problem->what = "not an RFC 3339 date-time in the future";
        if (env->expires_at.type != JSON_STRING || env->expires_at.has_escape ||
            clock_parse(text, &expires_ms) || expires_ms <= wall_ms)
            return ERR_MALFORMED_ENVELOPE;
        if (expires_ms > wall_ms + settings->max_expiry_ms)
            expires_ms = wall_ms + settings->max_expiry_ms;
    }
    ret->type = EFFECT_PROPOSE;
    ret->expires_ms = expires_ms;
    return OK;
}

static enum err judge_request(struct ledger *ledger, const struct envelope *env,
                              uint64_t wall_ms, struct ledger_effect *ret,
                              struct ledger_problem *problem)
{
    struct proposal *proposal =
        env->correlation_id.ptr ? find(ledger, env->correlation_id, wall_ms) : NULL;

    ret->type = kind_is_notification(&env->kind) ? EFFECT_NONE : EFFECT_REQUEST;
    if (!proposal || !fulfils(ledger, env, proposal))
        return OK; /* a request of its own, or a thread: changes nothing */
    if (ledger->settings->mode != PROPOSALS_FREE) {
        if (str_eq(env->from, proposal->proposer))
            return state_problem(proposal, "nobody fulfils his own proposal", problem);
        if (proposal->state != PROPOSAL_OPEN)
            return state_problem(proposal, "the proposal is no longer open", problem);
    }
    ret->type = EFFECT_FULFIL;
    ret->proposal = proposal;
    ret->watcher = proposal->proposer;
    return OK;
}

/* What a rule has let through can still be objected to. */
static bool is_objection(const struct envelope *env, const struct proposal *proposal)
{
    return env->kind.type == KIND_REJECT && proposal->state == PROPOSAL_FULFILLED &&
           proposal->rule.len > 0;
}

/* mcp/withdraw, mcp/reject and mcp/approve name an open proposal. */
static enum err judge_decision(struct ledger *ledger, const struct envelope *env,
                               uint64_t wall_ms, struct ledger_effect *ret,
                               struct ledger_problem *problem)
{
    struct proposal *proposal = find(ledger, env->correlation_id, wall_ms);
    bool is_own = proposal && str_eq(env->from, proposal->proposer);

    if (!proposal)
        return state_problem(NULL, "no such proposal is known here", problem);
    if (proposal->state != PROPOSAL_OPEN && !is_objection(env, proposal))
        return state_problem(proposal, "the proposal is no longer open", problem);
    if (env->kind.type == KIND_WITHDRAW && !is_own)
        return state_problem(proposal, "only the proposer withdraws", problem);
    if (env->kind.type != KIND_WITHDRAW && is_own &&
        ledger->settings->mode != PROPOSALS_FREE)
        return state_problem(proposal, "nobody decides on his own proposal", problem);
    ret->proposal = proposal;
    ret->watcher = proposal->proposer;
    if (env->kind.type == KIND_WITHDRAW)
        ret->type = EFFECT_WITHDRAW;
    else if (env->kind.type == KIND_REJECT)
        ret->type = proposal->state == PROPOSAL_OPEN ? EFFECT_REJECT : EFFECT_OBJECT;
    return OK;
}

static bool may_answer(const struct ledger *ledger, const struct request *request,
                       struct str from)
{
    uint64_t hash;

    if (request->to_count == 0)
        return true;
    hash = hash_of(&ledger->key, from);
    for (size_t i = 0; i < request->to_count; i++)
        if (request->to[i] == hash)
            return true;
    return false;
}

/* Only an addressee's response is the answer; anybody else's is talk about it. */
static void judge_response(struct ledger *ledger, const struct envelope *env,
                           struct ledger_effect *ret)
{
    struct request *request = map_find(&ledger->requests, env->correlation_id);

    if (!request || !may_answer(ledger, request, env->from))
        return;
    ret->type = EFFECT_ANSWER;
    ret->request = request;
    ret->watcher = request->proposer;
}

bool ledger_sweep(struct ledger *ledger, uint64_t wall_ms)
{
    struct proposal *proposal;

    LIST_FOREACH(proposal, &ledger->by_age, link) {
        refresh(ledger, proposal, wall_ms);
        if (proposal->state != PROPOSAL_OPEN)
            forget_proposal(ledger, proposal);
    }
    return ledger->proposals.count == 0;
}

/* What one proposer takes of the ledger. */
struct share {
    size_t count;
    size_t bytes;
};

static struct share share_of(const struct ledger *ledger, struct str proposer)
{
    const struct proposal *proposal;
    struct share share = {};

    LIST_FOREACH(proposal, &ledger->by_age, link)
        if (str_eq(proposal->proposer, proposer)) {
            share.count++;
            share.bytes += proposal->envelope_bytes;
        }
    return share;
}

static bool is_crowded(const struct ledger *ledger, struct str proposer)
{
    const struct ledger_settings *settings = ledger->settings;

    if (ledger->proposals.count >= settings->max_proposals)
        return true;
    return settings->max_each && ledger->proposals.count >= settings->max_each &&
           share_of(ledger, proposer).count >= settings->max_each;
}

static bool is_heavy(const struct ledger *ledger, const struct envelope *env)
{
    const struct ledger_settings *settings = ledger->settings;
    size_t bytes = env->text.len;

    if (settings->max_bytes && ledger->bytes + bytes > settings->max_bytes)
        return true;
    return settings->max_each_bytes && ledger->bytes + bytes > settings->max_each_bytes &&
           share_of(ledger, env->from).bytes + bytes > settings->max_each_bytes;
}

/* Closed ones hold no envelope and stay known: else one could be fulfilled again. */
uint64_t ledger_expire(struct ledger *ledger, uint64_t wall_ms)
{
    struct proposal *proposal;
    uint64_t next_ms = UINT64_MAX;

    LIST_FOREACH(proposal, &ledger->by_age, link) {
        refresh(ledger, proposal, wall_ms);
        if (proposal->state == PROPOSAL_OPEN && proposal->expires_ms < next_ms)
            next_ms = proposal->expires_ms;
    }
    return next_ms;
}

/* Is there room for one more? What is wrong, or NULL. */
static const char *lack_of_room(struct ledger *ledger, const struct envelope *env,
                                uint64_t wall_ms)
{
    if (is_crowded(ledger, env->from))
        (void)ledger_sweep(ledger, wall_ms);
    if (is_crowded(ledger, env->from))
        return "too many proposals are open in this topic";
    if (is_heavy(ledger, env))
        (void)ledger_expire(ledger, wall_ms);
    if (is_heavy(ledger, env))
        return "the open proposals of this topic are too long together";
    if (ledger->keeper && !ledger->keeper->has_room(ledger, env->from, env->text.len))
        return "too much is proposed in all topics together, or by you";
    return NULL;
}

enum err ledger_judge(struct ledger *ledger, const struct envelope *env, uint64_t wall_ms,
                      struct ledger_effect *ret, struct ledger_problem *problem)
{
    *ret = (struct ledger_effect){};
    *problem = (struct ledger_problem){};
    switch (env->kind.type) {
    case KIND_PROPOSAL:
        problem->what = lack_of_room(ledger, env, wall_ms);
        if (problem->what)
            return ERR_UNAVAILABLE;
        return judge_proposal(ledger, env, wall_ms, ret, problem);
    case KIND_REQUEST: return judge_request(ledger, env, wall_ms, ret, problem);
    case KIND_RESPONSE: judge_response(ledger, env, ret); return OK;
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT: return judge_decision(ledger, env, wall_ms, ret, problem);
    case KIND_CHAT:
    case KIND_ROUTING:
    case KIND_COMMAND:
    case KIND_OTHER: return OK;
    }
    return OK;
}

/* --- entering --- */

/* What a proposal begins with, made in one block and put behind the others. ERR_INVALID:
 * the kind is none of a proposal. */
static enum err add_proposal(struct ledger *ledger, const struct proposal_past *past,
                             struct proposal **ret)
{
    struct proposal *p = xcalloc(1, sizeof(*p) + past->id.len + past->proposer.len +
                                        past->kind.len + past->subject.len);
    char *at = p->text;

    p->id = keep(&at, past->id);
    p->proposer = keep(&at, past->proposer);
    if (kind_parse(keep(&at, past->kind), &p->kind) || p->kind.type != KIND_PROPOSAL) {
        free(p);
        return ERR_INVALID;
    }
    p->subject = past->subject.len ? keep(&at, past->subject) : kind_subject(&p->kind);
    p->order = past->order;
    p->created_ms = past->created_ms;
    p->expires_ms = past->expires_ms;
    p->state = (uint8_t)past->state;
    ledger->order = past->order;
    map_set(&ledger->proposals, p->id, p);
    list_append(&ledger->by_age, &p->link);
    *ret = p;
    return OK;
}

static void open_proposal(struct ledger *ledger, struct proposal *p,
                          const struct envelope *env, struct str text)
{
    p->envelope = str_dup(text);
    p->envelope_bytes = text.len;
    p->to_hash = to_hash(ledger, env);
    ledger->bytes += text.len;
    ledger->open_count++;
    weigh(ledger, p, true);
}

/* What it is about, where the kind alone does not say it. It stays when the envelope has
 * gone, so it is no longer than a kind. */
static struct proposal_past past_of(const struct envelope *env, struct arena *arena)
{
    struct proposal_past past = { .id = env->id,
                                  .proposer = env->from,
                                  .kind = env->kind.text };

    if (!env->kind.context.ptr)
        past.subject =
            utf8_cut(binding_subject(&env->kind, env->payload, arena), KIND_MAX_BYTES);
    return past;
}

static void enter_proposal(struct ledger *ledger, const struct envelope *env,
                           struct str text, uint64_t expires_ms, uint64_t wall_ms)
{
    struct proposal *p = find(ledger, env->id, wall_ms);
    struct proposal_past past;
    struct arena arena;

    arena_init(&arena, SUBJECT_BYTES);
    past = past_of(env, &arena);

    if (p)
        forget_proposal(ledger, p); /* it is over, and its id is used again */
    past.order = ledger->order + 1;
    past.created_ms = wall_ms;
    past.expires_ms = expires_ms;
    if (add_proposal(ledger, &past, &p))
        abort(); /* it was parsed before, in another place */
    arena_done(&arena);
    open_proposal(ledger, p, env, text);
    if (ledger->keeper)
        ledger->keeper->changed(ledger, p);
}

static void add_approval(struct proposal *p, const struct approver *approval)
{
    if (approvals_add(&p->approvals, approval))
        p->has_human_approval |= approval->is_human;
}

static void restore_decisions(struct proposal *p, const struct proposal_past *past)
{
    for (size_t i = 0; i < past->approval_count; i++)
        add_approval(p, &past->approvals[i]);
    if (past->state != PROPOSAL_OPEN)
        keep_ending(p, &(struct ending){ .state = past->state,
                                         .by = past->by,
                                         .reason = past->reason,
                                         .rule = past->rule,
                                         .at_ms = past->decided_ms });
}

static enum err restore(struct ledger *ledger, const struct proposal_past *past,
                        const struct envelope *env, struct arena *arena)
{
    struct proposal_past whole = env ? past_of(env, arena) : *past;
    struct proposal *p;
    enum err err;

    whole.order = past->order;
    whole.created_ms = past->created_ms;
    whole.expires_ms = past->expires_ms;
    whole.state = past->state;
    if (past->order <= ledger->order || map_find(&ledger->proposals, whole.id))
        return ERR_CONFLICT;
    err = add_proposal(ledger, &whole, &p);
    if (err)
        return err;
    restore_decisions(p, past);
    if (env)
        open_proposal(ledger, p, env, env->text);
    return OK;
}

enum err ledger_restore(struct ledger *ledger, const struct proposal_past *past,
                        const struct envelope *env)
{
    struct arena arena;
    enum err err;

    if ((past->state == PROPOSAL_OPEN) != (env != NULL))
        return ERR_INVALID;
    arena_init(&arena, SUBJECT_BYTES);
    err = restore(ledger, past, env, &arena);
    arena_done(&arena);
    return err;
}

static void enter_request(struct ledger *ledger, const struct envelope *env,
                          const struct proposal *proposal)
{
    struct str proposer = proposal ? proposal->proposer : S("");
    struct request *request = LIST_FIRST(&ledger->requests_by_age, struct request, link);
    char *at;

    if (request && ledger->requests.count >= ledger->settings->max_requests)
        forget_request(ledger, request);
    request = xmalloc(sizeof(*request) + env->id.len + proposer.len);
    at = request->text;
    request->id = keep(&at, env->id);
    request->proposer = keep(&at, proposer);
    request->link = (struct link){};
    request->to_count = 0;
    for (size_t i = 0; i < env->to_count && env->to_count <= MAX_ADDRESSEES; i++)
        request->to[request->to_count++] = hash_of(&ledger->key, env->to[i]);
    map_set(&ledger->requests, request->id, request);
    list_append(&ledger->requests_by_age, &request->link);
}

/* Whoever decides counts, if he does, as one who approves. */
static void note_approval(struct proposal *p, const struct envelope *env,
                          const struct ledger_verdict *verdict, uint64_t wall_ms)
{
    if (verdict && verdict->counts)
        add_approval(p, &(struct approver){ .id = env->from,
                                            .profile = verdict->profile,
                                            .is_human = verdict->is_human,
                                            .at_ms = wall_ms });
}

static void end_proposal(struct ledger *ledger, const struct envelope *env,
                         const struct ledger_effect *effect, struct ending ending)
{
    ending.by = env->from;
    if (effect->verdict) {
        ending.reason = effect->verdict->reason;
        ending.rule = effect->verdict->rule;
        ending.edited = effect->verdict->edited;
    }
    close_proposal(ledger, effect->proposal, &ending);
}

static void enter_fulfilment(struct ledger *ledger, const struct envelope *env,
                             const struct ledger_effect *effect, uint64_t wall_ms)
{
    if (effect->proposal->state == PROPOSAL_OPEN) {
        note_approval(effect->proposal, env, effect->verdict, wall_ms);
        end_proposal(ledger, env, effect,
                     (struct ending){ PROPOSAL_FULFILLED, .at_ms = wall_ms });
    }
    enter_request(ledger, env, effect->proposal);
}

void ledger_enter(struct ledger *ledger, const struct envelope *env, struct str text,
                  const struct ledger_effect *effect, uint64_t wall_ms)
{
    switch (effect->type) {
    case EFFECT_NONE:
    case EFFECT_OBJECT: break;
    case EFFECT_PROPOSE:
        enter_proposal(ledger, env, text, effect->expires_ms, wall_ms);
        break;
    case EFFECT_FULFIL: enter_fulfilment(ledger, env, effect, wall_ms); break;
    case EFFECT_REQUEST: enter_request(ledger, env, NULL); break;
    case EFFECT_ANSWER: forget_request(ledger, effect->request); break;
    case EFFECT_REJECT:
        end_proposal(ledger, env, effect,
                     (struct ending){ PROPOSAL_REJECTED, .at_ms = wall_ms });
        break;
    case EFFECT_WITHDRAW:
        end_proposal(ledger, env, effect,
                     (struct ending){ PROPOSAL_WITHDRAWN, .at_ms = wall_ms });
        break;
    case EFFECT_APPROVE:
        note_approval(effect->proposal, env, effect->verdict, wall_ms);
        if (ledger->keeper)
            ledger->keeper->changed(ledger, effect->proposal);
        break;
    }
}
