/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second look at what is said of a proposal: does an approval count, is the quorum
 * reached, does the fulfilment ask for what was proposed?
 */
#include "approval/approval_priv.h"
#include "approval/binding.h"
#include "base/utf8.h"

bool ledger_looks_inside(const struct ledger *ledger)
{
    return ledger->settings->mode == PROPOSALS_EXACT ||
           ledger->settings->approvals.count > 0 ||
           ledger->settings->approvals.quorum > 1;
}

static enum err payload_problem(enum err err, struct ledger_problem *problem)
{
    problem->field = S("payload");
    problem->what = err == ERR_TOO_BIG ? "too many values to be compared"
                                       : "a name stands twice or looks like another, "
                                         "or it is too deep: it cannot be compared";
    return err == ERR_TOO_BIG ? ERR_TOO_LARGE : ERR_KIND_PAYLOAD_MISMATCH;
}

/* What could never be fulfilled is not proposed. */
static enum err decide_proposal(const struct ledger *ledger, const struct envelope *env,
                                struct ledger_problem *problem)
{
    enum err err =
        ledger_looks_inside(ledger) ? binding_check(env->kind.method, env->payload) : OK;

    return err ? payload_problem(err, problem) : OK;
}

/* --- approving --- */

static bool is_own(const struct proposal *proposal, const struct envelope *env)
{
    return str_eq(env->from, proposal->proposer);
}

static struct approval_needs needs_of(const struct ledger *ledger, struct str subject)
{
    return approval_needs_of(&ledger->settings->approvals, subject);
}

/* Is he one of those whose approvals count? */
static bool is_fit(const struct proposal *proposal, const struct envelope *env,
                   const struct decider *who, const struct approval_needs *needs)
{
    return !is_own(proposal, env) && who->may_approve &&
           approval_meets(needs, &(struct approver){ .profile = who->profile });
}

/* Would an approval of his be one more? */
static bool counts(const struct proposal *proposal, const struct envelope *env,
                   const struct decider *who, const struct approval_needs *needs)
{
    return is_fit(proposal, env, who, needs) &&
           !approvals_find(&proposal->approvals, env->from);
}

static void decide_approval(const struct ledger *ledger, const struct envelope *env,
                            const struct decider *who, struct ledger_effect *effect)
{
    struct approval_needs needs = needs_of(ledger, effect->proposal->subject);

    effect->verdict->counts = effect->proposal->approvals.count < APPROVALS_MAX &&
                              counts(effect->proposal, env, who, &needs);
    if (effect->verdict->counts)
        effect->type = EFFECT_APPROVE;
}

/* --- fulfilling --- */

static enum err check_quorum(const struct proposal *proposal, const struct envelope *env,
                             const struct decider *who, struct approval_needs needs,
                             struct ledger_verdict *verdict,
                             struct ledger_problem *problem)
{
    size_t given = approvals_given(&proposal->approvals, &needs);
    size_t own = counts(proposal, env, who, &needs) ? 1 : 0;

    if (!approval_is_needed(&needs))
        return OK;
    verdict->relies |= needs.quorum > 1 || !is_fit(proposal, env, who, &needs);
    if (given + own >= needs.quorum)
        return OK;
    problem->needed = needs.quorum;
    problem->given = given;
    return state_problem(proposal, "it lacks approvals", problem);
}

/* What was proposed may name less than what is asked for, and so fall under another
 * rule: both must be met. */
static enum err decide_quorum(const struct ledger *ledger, const struct envelope *env,
                              const struct decider *who, struct arena *arena,
                              struct ledger_effect *effect,
                              struct ledger_problem *problem)
{
    const struct proposal *proposal = effect->proposal;
    struct approval_needs needs = needs_of(ledger, proposal->subject);
    struct str subject;
    enum err err = check_quorum(proposal, env, who, needs, effect->verdict, problem);

    effect->verdict->counts =
        approval_is_needed(&needs) && counts(proposal, env, who, &needs);
    if (err || ledger->settings->approvals.count == 0)
        return err;
    if (!env->kind.context.ptr)
        err = binding_check(env->kind.method, env->payload); /* it alone says what */
    if (err)
        return payload_problem(err, problem);
    subject = binding_subject(&env->kind, env->payload, arena);
    if (!subject.ptr)
        return payload_problem(ERR_TOO_BIG, problem);
    if (str_eq(subject, proposal->subject))
        return OK;
    return check_quorum(proposal, env, who, needs_of(ledger, subject), effect->verdict,
                        problem);
}

static enum err read_edited(const struct envelope *env, bool *ret,
                            struct ledger_problem *problem)
{
    *ret = false;
    if (!env->edited.text.ptr)
        return OK;
    if (env->edited.type != JSON_TRUE && env->edited.type != JSON_FALSE) {
        problem->field = S("edited");
        problem->what = "must be true or false";
        return ERR_MALFORMED_ENVELOPE;
    }
    *ret = env->edited.type == JSON_TRUE;
    return OK;
}

static enum err check_editor(const struct ledger *ledger, const struct proposal *proposal,
                             const struct decider *who, struct ledger_problem *problem)
{
    struct approval_needs needs = needs_of(ledger, proposal->subject);

    if (!who->is_human || !who->may_approve)
        return state_problem(
            proposal, "only a human who may send mcp/approve edits what was proposed",
            problem);
    if (needs.quorum > 1)
        return state_problem(proposal,
                             "where several must approve nobody edits: propose it anew",
                             problem);
    if (proposal->state != PROPOSAL_OPEN)
        return state_problem(proposal, "the proposal is no longer open", problem);
    return OK;
}

static enum err mismatch(const struct json_differences *differences, struct arena *arena,
                         struct ledger_problem *problem)
{
    problem->field = S("payload");
    problem->what = "not what was proposed";
    problem->path = arena_str(arena, utf8_cut(differences->items[0].path, BINDING_PATH));
    if (!problem->path.ptr)
        problem->path = S("/params");
    return ERR_ARGUMENT_MISMATCH;
}

static enum err keep_differences(const struct json_differences *differences,
                                 struct arena *arena, struct ledger_effect *effect)
{
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    binding_write(differences, &out);
    effect->verdict->edited = arena_str(arena, buf_str(&out));
    buf_done(&out);
    return effect->verdict->edited.ptr ? OK : ERR_TOO_LARGE;
}

/* A fulfilment beside what was proposed. */
struct comparison {
    struct arena trees;
    struct json_difference items[BINDING_MAX];
    struct json_differences differences;
};

/* comparison_done() must follow. Errors as binding_compare(). */
static enum err compare(struct comparison *c, const struct proposal *proposal,
                        const struct envelope *env)
{
    struct str text = { proposal->envelope, proposal->envelope_bytes };
    struct envelope proposed;

    c->differences =
        (struct json_differences){ .items = c->items, .max = COUNT(c->items) };
    arena_init(&c->trees, (size_t)3 * BINDING_BYTES);
    if (envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, &c->trees, &proposed, NULL))
        return ERR_TOO_BIG;
    return binding_compare(env->kind.method, proposed.payload, env->payload, &c->trees,
                           &c->differences);
}

static void comparison_done(struct comparison *c)
{
    arena_done(&c->trees);
}

bool ledger_is_as_proposed(const struct proposal *proposal,
                           const struct envelope *request)
{
    struct comparison c;
    bool is_same = compare(&c, proposal, request) == OK && c.differences.count == 0;

    comparison_done(&c);
    return is_same && str_eq(request->kind.context, proposal->kind.context);
}

static enum err decide_arguments(const struct envelope *env, bool is_edited,
                                 struct arena *arena, struct ledger_effect *effect,
                                 struct ledger_problem *problem)
{
    struct comparison c;
    enum err err = compare(&c, effect->proposal, env);

    if (err)
        err = payload_problem(err, problem);
    else if (is_edited)
        err = keep_differences(&c.differences, arena, effect);
    else if (c.differences.count)
        err = mismatch(&c.differences, arena, problem);
    comparison_done(&c);
    return err;
}

/* What others approved is what was proposed, whatever the mode is. */
static enum err decide_relying(const struct envelope *env, bool is_edited,
                               struct arena *arena, struct ledger_effect *effect,
                               struct ledger_problem *problem)
{
    if (is_edited)
        return state_problem(effect->proposal,
                             "what others approved nobody edits: propose it anew",
                             problem);
    if (!effect->proposal->envelope)
        return state_problem(effect->proposal, "the proposal is no longer open", problem);
    return decide_arguments(env, false, arena, effect, problem);
}

static enum err decide_fulfilment(const struct ledger *ledger, const struct envelope *env,
                                  const struct decider *who, struct arena *arena,
                                  struct ledger_effect *effect,
                                  struct ledger_problem *problem)
{
    bool is_exact = ledger->settings->mode == PROPOSALS_EXACT;
    bool is_edited;
    enum err err = read_edited(env, &is_edited, problem);

    if (!err && is_edited)
        err = check_editor(ledger, effect->proposal, who, problem);
    if (!err && (is_edited || is_exact))
        err = decide_arguments(env, is_edited, arena, effect, problem);
    if (!err)
        err = decide_quorum(ledger, env, who, arena, effect, problem);
    if (!err && effect->verdict->relies && (is_edited || !is_exact))
        err = decide_relying(env, is_edited, arena, effect, problem);
    return err;
}

/* A rule lets through what was proposed and nothing else, whatever the mode is; and it
 * approves nothing: where approvals are needed, they are people's. */
static enum err check_by_rule(const struct ledger *ledger, const struct envelope *env,
                              const struct proposal *proposal,
                              struct ledger_problem *problem)
{
    struct approval_needs needs = needs_of(ledger, proposal->subject);

    if (is_own(proposal, env))
        return state_problem(proposal, "nobody fulfils his own proposal", problem);
    if (proposal->state != PROPOSAL_OPEN)
        return state_problem(proposal, "the proposal is no longer open", problem);
    if (env->edited.text.ptr)
        return state_problem(proposal, "what a rule lets through nobody edits", problem);
    if (!approval_is_needed(&needs))
        return OK;
    problem->needed = needs.quorum;
    problem->given = approvals_given(&proposal->approvals, &needs);
    return state_problem(proposal, "it needs approvals, and a rule gives none", problem);
}

static enum err decide_by_rule(const struct ledger *ledger, const struct envelope *env,
                               struct arena *arena, struct ledger_effect *effect,
                               struct ledger_problem *problem)
{
    const struct proposal *proposal = effect->proposal;
    enum err err = check_by_rule(ledger, env, proposal, problem);

    if (err)
        return err;
    effect->verdict->rule = env->rule;
    if (str_eq(env->kind.context, proposal->kind.context))
        return decide_arguments(env, false, arena, effect, problem);
    problem->field = S("kind");
    problem->what = "not what was proposed";
    return ERR_ARGUMENT_MISMATCH;
}

/* --- ending otherwise --- */

/* Why, where the payload says it in words. */
static struct str reason_of(const struct envelope *env, struct arena *arena)
{
    struct json_span reason = {};
    struct json_scan scan;
    struct json_member m;
    struct str text;
    enum err err;

    json_scan_init(&scan, env->payload.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err))
        if (json_string_is(m.key, S("reason")))
            reason = m.value;
    if (!reason.text.ptr || reason.type != JSON_STRING ||
        json_unescape(reason, arena, &text))
        return S("");
    return utf8_cut(text, APPROVAL_REASON);
}

struct str ledger_reason(const struct ledger_effect *effect)
{
    return effect->verdict ? effect->verdict->reason : S("");
}

enum err ledger_decide(struct ledger *ledger, const struct envelope *env,
                       const struct decider *who, struct arena *arena,
                       struct ledger_effect *effect, struct ledger_problem *problem)
{
    if (effect->type == EFFECT_PROPOSE)
        return decide_proposal(ledger, env, problem);
    effect->verdict = arena_alloc(arena, sizeof(*effect->verdict));
    if (!effect->verdict)
        return payload_problem(ERR_TOO_BIG, problem);
    *effect->verdict =
        (struct ledger_verdict){ .profile = who->profile, .is_human = who->is_human };
    if (effect->type == EFFECT_FULFIL)
        return env->rule.ptr
                   ? decide_by_rule(ledger, env, arena, effect, problem)
                   : decide_fulfilment(ledger, env, who, arena, effect, problem);
    if (effect->type == EFFECT_OBJECT && !who->is_human)
        return state_problem(effect->proposal,
                             "the proposal is no longer open; only a human objects to "
                             "what a rule let through",
                             problem);
    if (effect->type == EFFECT_NONE && env->kind.type == KIND_APPROVE)
        decide_approval(ledger, env, who, effect);
    else
        effect->verdict->reason = reason_of(env, arena);
    return OK;
}
