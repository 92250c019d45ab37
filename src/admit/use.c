/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/use.h"

static const struct str capability = S("rule/use");

enum { USE_BYTES = 32 << 20 }; /* of a proposal and a request as trees */

/* --- refusing --- */

/* What is wrong with the rule that it names. */
static enum err refuse(const struct admission *a, struct refusal *r, const char *state,
                       const char *what)
{
    (void)refusal_set(r, ERR_RULE_STATE, S("rule"), what);
    r->rule = a->env.rule;
    r->state = state;
    return ERR_RULE_STATE;
}

/* As its book has it. */
static const char *state_of(const struct held_rule *held)
{
    return held ? rule_state_name(held->rule.state).ptr : "unknown";
}

static enum err refuse_problem(const struct admission *a, struct refusal *r,
                               const struct held_rule *held,
                               const struct rulebook_problem *problem)
{
    uint64_t free_ms = held ? held_rule_free_ms(held, a->wall_ms) : 0;

    (void)refusal_of_rule(r, a, ERR_RULE_STATE, a->env.rule, problem);
    r->field = S("rule");
    if (!r->state)
        r->state = state_of(held);
    if (str_eq(str_of(r->state), S("used up")) && free_ms > a->wall_ms)
        r->retry_after_ms = free_ms - a->wall_ms;
    return ERR_RULE_STATE;
}

enum err use_check_sender(struct admission *a, struct refusal *r)
{
    if (a->env.kind.type != KIND_REQUEST)
        return refuse(a, r, NULL, "only a request that fulfils a proposal names a rule");
    if (capset_may(admission_capabilities(a), capability) != VERDICT_ALLOW) {
        (void)refusal_set(r, ERR_CAPABILITY_VIOLATION, S("rule"),
                          "you lack the capability rule/use");
        r->capability = capability;
        return ERR_CAPABILITY_VIOLATION;
    }
    a->needs_strict = true;
    return OK;
}

enum err use_refuse_loose(struct admission *a, struct refusal *r)
{
    return refuse(a, r, NULL,
                  "a rule is used to fulfil an open proposal, and this does "
                  "not: see its correlation_id, kind and to");
}

/* --- using --- */

static enum err mismatch(struct refusal *r, struct str field)
{
    return refusal_set(r, ERR_ARGUMENT_MISMATCH, field, "not what was proposed");
}

static enum err read_proposal(const struct admission *a, struct arena *arena,
                              struct rule_proposal *ret, const char **why)
{
    const struct proposal *proposal = a->effect.proposal;

    return rule_proposal_read(
        a->room->topic.name, (struct str){ proposal->envelope, proposal->envelope_bytes },
        arena, ret, why);
}

/* What fulfils a proposal may go to somebody where that names nobody, and its params may
 * hold what nobody compares: not here. */
static enum err compare(const struct admission *a, const struct rule_proposal *proposed,
                        struct arena *arena, struct refusal *r)
{
    struct rule_proposal asked;
    const char *why = NULL;
    struct buf space;
    enum err err;

    buf_init(&space, SIZE_MAX / 2);
    err = rule_proposal_read(a->room->topic.name, admission_text(a, &space), arena,
                             &asked, &why);
    if (err)
        err = refuse(a, r, NULL, why);
    else if (!str_eq(asked.to, proposed->to))
        err = mismatch(r, S("to"));
    else if (!str_eq(asked.method, proposed->method) ||
             !str_eq(asked.tool, proposed->tool))
        err = mismatch(r, S("payload"));
    buf_done(&space);
    return err;
}

static enum err judge_rule(const struct admission *a, struct arena *arena,
                           struct refusal *r)
{
    const struct held_rule *held = rulebook_find(a->room->rulebook, a->env.rule);
    struct rulebook_problem problem = {};
    struct rule_proposal proposed;
    struct rule_use use = {
        .id = a->env.rule, .proposal = &proposed, .by = a->sender->id, .at_ms = a->wall_ms
    };
    const char *why = NULL;
    enum err err;

    if (read_proposal(a, arena, &proposed, &why))
        return refuse(a, r, state_of(held), why);
    err = compare(a, &proposed, arena, r);
    if (err) {
        r->state = err == ERR_RULE_STATE ? state_of(held) : NULL;
        return err;
    }
    if (rulebook_may_use(a->room->rulebook, &use, &problem))
        return refuse_problem(a, r, held, &problem);
    return OK;
}

static enum err too_large(struct refusal *r)
{
    return refusal_set(r, ERR_TOO_LARGE, S(""), "too much to look through");
}

static struct rule_effect *effect_new(struct admission *a)
{
    struct rule_effect *effect = arena_alloc(a->scratch, sizeof(*effect));

    if (!effect)
        return NULL;
    *effect = (struct rule_effect){ .cause = arena_str(a->scratch, a->env.id) };
    return effect->cause.ptr ? effect : NULL;
}

static enum err judge_use(struct admission *a, struct refusal *r)
{
    struct arena arena;
    enum err err;

    if (!a->room->has_automation)
        return refuse(a, r, "off", "automation is off in this topic");
    if (!a->room->rulebook)
        return refuse(a, r, state_of(NULL), "this topic has no such rule");
    arena_init(&arena, USE_BYTES);
    err = judge_rule(a, &arena, r);
    arena_done(&arena);
    if (err)
        return err;
    a->rules = effect_new(a);
    if (!a->rules)
        return too_large(r);
    a->rules->used = arena_str(a->scratch, a->env.rule);
    return a->rules->used.ptr ? OK : too_large(r);
}

/* --- suspending --- */

struct rule_change use_suspension(const struct admission *a, size_t index)
{
    return (struct rule_change){ .verb = RULE_SUSPEND,
                                 .id = a->rules->suspends[index],
                                 .by = a->sender->id,
                                 .reason = a->rules->reason,
                                 .is_by_human = true,
                                 .at_ms = a->wall_ms };
}

static enum err suspend(struct admission *a, struct str id)
{
    struct rule_effect *effect = a->rules;
    struct str kept = arena_str(a->scratch, id);

    if (!kept.ptr)
        return ERR_TOO_LARGE;
    effect->suspends[effect->suspend_count++] = kept;
    return OK;
}

/* It may have been suspended meanwhile, or have gone: then the no is only heard. */
static enum err suspend_used(struct admission *a)
{
    struct rulebook_problem problem = {};
    struct rule_change change;
    enum err err = suspend(a, a->effect.proposal->rule);

    if (err)
        return err;
    change = use_suspension(a, 0);
    if (rulebook_judge(a->room->rulebook, &change, &problem))
        a->rules->suspend_count = 0;
    return OK;
}

static enum err suspend_covering(struct admission *a, struct arena *arena)
{
    const struct held_rule *held = NULL;
    struct rule_proposal proposal;
    const char *why;
    enum err err = OK;

    if (read_proposal(a, arena, &proposal, &why))
        return OK; /* no rule is for such a thing */
    while (!err && (held = rulebook_next_covering(a->room->rulebook, held, &proposal,
                                                  a->wall_ms)))
        err = suspend(a, held->rule.id);
    return err;
}

/* Whose no it is, and to what. */
static bool may_suspend(const struct admission *a)
{
    return a->sender->type == TYPE_HUMAN && a->room->rulebook &&
           rulebook_count(a->room->rulebook) > 0 &&
           (a->effect.type == EFFECT_REJECT || a->effect.type == EFFECT_OBJECT);
}

static enum err prepare(struct admission *a)
{
    struct str reason = ledger_reason(&a->effect);

    a->rules = effect_new(a);
    if (!a->rules)
        return ERR_TOO_LARGE;
    if (reason.len == 0)
        reason = a->effect.type == EFFECT_OBJECT
                     ? S("a person objects to what it let through")
                     : S("a person rejected what it covers");
    a->rules->reason = arena_str(a->scratch, reason);
    a->rules->suspends =
        arena_alloc(a->scratch, rulebook_count(a->room->rulebook) * sizeof(struct str));
    return a->rules->suspends && a->rules->reason.ptr ? OK : ERR_TOO_LARGE;
}

static enum err judge_no(struct admission *a, struct refusal *r)
{
    struct arena arena;
    enum err err = prepare(a);

    arena_init(&arena, USE_BYTES);
    if (!err)
        err = a->effect.type == EFFECT_OBJECT ? suspend_used(a)
                                              : suspend_covering(a, &arena);
    arena_done(&arena);
    return err ? too_large(r) : OK;
}

/* --- both --- */

enum err use_judge(struct admission *a, struct refusal *r)
{
    if (a->env.rule.ptr)
        return judge_use(a, r);
    return may_suspend(a) ? judge_no(a, r) : OK;
}

void use_enter(struct admission *a)
{
    if (a->rules->used.len)
        rulebook_use(a->room->rulebook, &(struct rule_use){ .id = a->rules->used,
                                                            .by = a->sender->id,
                                                            .at_ms = a->wall_ms });
}
