/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a book. A change is first planned: who may do it, in which state, and the
 * pages that it makes. Judging throws the plan away; applying puts its pages in the place
 * of the old ones.
 */
#include <stdio.h>

#include "rules/rulebook_priv.h"

#define DAY_MS 86'400'000ULL

/* --- what is allowed --- */

#define IN(state) (1U << RULE_##state)
enum { NOWHERE = 1U << RULE_STATE_COUNT }; /* it is not in the book */

/* clang-format off */
static const struct {
    unsigned from;          /* states */
    enum rule_state to;
    bool is_for_people;     /* and not for one about whose own proposals it is */
    const char *else_what;  /* in other states */
} verbs[] = {
    [RULE_SUGGEST] = { NOWHERE | IN(SUGGESTED) | IN(DECLINED), RULE_SUGGESTED, false,
                       "is in the book already" },
    [RULE_ADD]     = { NOWHERE | IN(SUGGESTED) | IN(DECLINED) | IN(DISABLED) | IN(SUSPENDED),
                       RULE_ACTIVE, true, "is in the book already" },
    [RULE_ACCEPT]  = { IN(SUGGESTED) | IN(SHADOW) | IN(DECLINED), RULE_ACTIVE, true,
                       "is neither suggested nor in shadow nor declined" },
    [RULE_DECLINE] = { IN(SUGGESTED), RULE_DECLINED, false, "is not suggested" },
    [RULE_DISABLE] = { IN(ACTIVE) | IN(SHADOW) | IN(SUSPENDED), RULE_DISABLED, false,
                       "is neither active nor in shadow nor suspended" },
    [RULE_ENABLE]  = { IN(DISABLED) | IN(SUSPENDED) | IN(SHADOW), RULE_ACTIVE, true,
                       "is neither disabled nor suspended nor in shadow" },
    [RULE_REMOVE]  = { ~0U & ~NOWHERE, RULE_DISABLED, false, "" },
    [RULE_SUSPEND] = { IN(ACTIVE) | IN(SHADOW), RULE_SUSPENDED, false,
                       "is neither active nor in shadow" },
};
/* clang-format on */

/* A page, and the one whose place it takes; either may be none. */
struct step {
    struct page *old, *fresh;
};

struct plan {
    struct step step;
    struct step narrowed; /* what was suggested, and is declined now */
};

/* What is planned, out of what. */
struct planning {
    const struct rulebook *book;
    const struct rule_change *change;
    struct rulebook_problem *problem;
    struct arena arena; /* for words until they are copied */
};

static enum err refuse(const struct planning *p, enum err err, struct str field,
                       const char *what)
{
    p->problem->field = field;
    p->problem->what = what;
    return err;
}

static enum err refuse_state(const struct planning *p, struct str field,
                             const char *state, const char *what)
{
    p->problem->state = state;
    return refuse(p, ERR_RULE_STATE, field, what);
}

static enum err not_such(const struct planning *p, struct str field, const char *what)
{
    return refuse(p, ERR_MALFORMED_ENVELOPE, field, what);
}

static bool is_whole_rule(const struct rule_change *change)
{
    return change->verb == RULE_SUGGEST || change->verb == RULE_ADD;
}

static struct str id_of(const struct rule_change *change)
{
    return is_whole_rule(change) ? change->rule->id : change->id;
}

static enum err judge_who(const struct planning *p, const struct page *old)
{
    const struct rule_change *c = p->change;
    struct str proposer = c->rule ? c->rule->proposer : S("");

    if (verbs[c->verb].is_for_people && !c->is_by_human)
        return refuse(p, ERR_FORBIDDEN, S("from"), "only people may do this");
    if (!is_whole_rule(c) && !old)
        return refuse(p, ERR_NOT_FOUND, S("payload.rule"), "is no rule of this topic");
    if (!is_whole_rule(c))
        proposer = old->held.rule.proposer;
    if (verbs[c->verb].is_for_people && str_eq(proposer, c->by))
        return refuse(p, ERR_FORBIDDEN, S("from"), "it is about proposals of your own");
    return OK;
}

static bool is_forgotten(const struct held_rule *held, uint64_t now_ms)
{
    return now_ms >= held->changed_ms &&
           now_ms - held->changed_ms >= RULEBOOK_DECLINED_DAYS * DAY_MS;
}

/* Evidence that is no older than what is there; a time that has not come is no time. */
static bool is_renewal(const struct rule_change *change, const struct held_rule *held)
{
    return change->rule->evidence.last_ms >= held->rule.evidence.last_ms ||
           held->rule.evidence.last_ms > change->at_ms;
}

/* Its terms and its evidence are one maker's: nobody lends his name to the terms of
 * another, or puts words into his mouth. */
static bool is_anothers(const struct rule_change *change, const struct held_rule *held)
{
    return rule_is_current(&held->rule, change->at_ms) &&
           !str_eq(held->rule.created_by, change->by);
}

static enum err judge_state(const struct planning *p, const struct page *old)
{
    const struct rule_change *c = p->change;
    enum rule_state is = old ? old->held.rule.state : RULE_STATE_COUNT;
    const char *name = old ? rule_state_name(is).ptr : NULL;

    if (!(verbs[c->verb].from & 1U << is))
        return refuse_state(p, S("payload.rule"), name, verbs[c->verb].else_what);
    if (c->verb == RULE_ACCEPT && is == RULE_SHADOW && c->is_shadow)
        return refuse_state(p, S("payload.shadow"), name, "is in shadow already");
    if (c->verb != RULE_SUGGEST || !old)
        return OK;
    if (is == RULE_DECLINED && !is_forgotten(&old->held, c->at_ms))
        return refuse_state(p, S("payload.rule"), name,
                            "was declined less than 30 days ago");
    if (is == RULE_SUGGESTED && is_anothers(c, &old->held))
        return refuse_state(p, S("payload.rule"), name,
                            "is suggested by another already");
    if (is == RULE_SUGGESTED && !is_renewal(c, &old->held))
        return refuse_state(p, S("payload.rule.evidence"), name,
                            "is older than what is there");
    return OK;
}

/* --- what comes of it --- */

static enum err judge_expiry(const struct planning *p, struct str field,
                             uint64_t expires_ms)
{
    if (expires_ms <= p->change->at_ms)
        return not_such(p, field, "is not in the future");
    if (expires_ms - p->change->at_ms > RULEBOOK_MAX_DAYS * DAY_MS)
        return not_such(p, field, "is more than 366 days from now");
    return OK;
}

static enum err judge_words(const struct planning *p)
{
    const struct rule_change *c = p->change;

    if (c->verb == RULE_SUSPEND)
        return OK; /* a no is heard, whatever its words are */
    if (c->by.len > RULE_NAME || !shape_is_readable(c->by, SHAPE_ONE_LINE))
        return not_such(p, S("from"),
                        "must be 256 bytes at most, of characters that can be seen");
    if (c->reason.len > RULE_NOTE || !shape_is_readable(c->reason, SHAPE_ONE_LINE))
        return not_such(p, S("payload.reason"),
                        "must be 1024 bytes at most, of characters that can be seen");
    return OK;
}

/* A suggestion has the name that goes with what it covers: whoever gets a no cannot come
 * again under another. */
static enum err judge_id(struct planning *p, const struct rule *rule)
{
    struct str made;
    size_t parts;

    if (rule_make_id(rule, &p->arena, &made))
        return not_such(p, S("payload.rule"), "is too large");
    if (p->change->verb == RULE_SUGGEST && !str_eq(made, rule->id))
        return not_such(p, S("payload.rule.id"),
                        "is not the one that goes with what it covers: leave it out");
    if (rule->id.len > RULE_ID || !shape_parts_are_plain(rule->id, 0, &parts) ||
        parts != 1)
        return not_such(p, S("payload.rule.id"),
                        "must be 1 to 64 of the characters a-z A-Z 0-9 ._-+,=:@");
    return OK;
}

/* Who made it, when, and what became of it is not for the rule to say. */
static enum err compose_whole(struct planning *p, struct held_rule *held)
{
    const struct rule_change *c = p->change;
    struct rule *rule = &held->rule;
    enum err err;

    *rule = *c->rule;
    if (rule->topic.len && !str_eq(rule->topic, p->book->topic))
        return not_such(p, S("payload.rule.topic"), "is another topic");
    rule->topic = p->book->topic;
    rule->created_by = c->by;
    rule->created_ms = c->at_ms;
    rule->accepted_by = c->verb == RULE_ADD ? c->by : S("");
    rule->accepted_ms = c->verb == RULE_ADD ? c->at_ms : 0;
    if (rule->budget == 0)
        rule->budget = RULEBOOK_BUDGET;
    if (rule->budget > RULE_BUDGET)
        return not_such(p, S("payload.rule.budget"), "must be 1 to 10000 an hour");
    if (rule->expires_ms == 0)
        rule->expires_ms = c->at_ms + RULEBOOK_DAYS * DAY_MS;
    err = judge_expiry(p, S("payload.rule.expires_at"), rule->expires_ms);
    return err ? err : judge_id(p, rule);
}

/* What somebody may be about to accept stays as it is, but for what it rests on. */
static void compose_renewal(const struct planning *p, struct held_rule *held)
{
    held->rule.evidence = p->change->rule->evidence;
    held->rule.created_ms = p->change->at_ms;
}

static enum err compose_accepted(const struct planning *p, struct held_rule *held)
{
    const struct rule_change *c = p->change;
    enum err err = OK;

    if (c->budget > RULE_BUDGET)
        return not_such(p, S("payload.budget"), "must be 1 to 10000 an hour");
    if (c->expires_ms)
        err = judge_expiry(p, S("payload.expires_at"), c->expires_ms);
    if (err)
        return err;
    held->rule.accepted_by = c->by;
    held->rule.accepted_ms = c->at_ms;
    if (c->budget)
        held->rule.budget = c->budget;
    if (c->expires_ms)
        held->rule.expires_ms = c->expires_ms;
    return OK;
}

static enum err compose(struct planning *p, const struct page *old,
                        struct held_rule *held)
{
    const struct rule_change *c = p->change;
    enum err err = OK;

    if (old)
        *held = old->held; /* the uses are the name's, whatever it covers now */
    if (c->verb == RULE_SUGGEST && old && old->held.rule.state == RULE_SUGGESTED &&
        rule_is_current(&old->held.rule, c->at_ms))
        compose_renewal(p, held);
    else if (is_whole_rule(c))
        err = compose_whole(p, held);
    else if (c->verb == RULE_ACCEPT)
        err = compose_accepted(p, held);
    if (err)
        return err;
    held->rule.state = verbs[c->verb].to;
    if (c->verb == RULE_ACCEPT && c->is_shadow)
        held->rule.state = RULE_SHADOW;
    held->changed_by = c->by;
    held->changed_ms = c->at_ms;
    held->reason = c->reason;
    if (verbs[c->verb].is_for_people && !rule_is_current(&held->rule, c->at_ms))
        return refuse_state(p, S("payload.rule"), "expired", "has expired");
    return OK;
}

static enum err make_page(const struct planning *p, const struct held_rule *held,
                          struct page **ret)
{
    struct page *page;
    enum err err = page_new(held, &page);

    if (err == ERR_TOO_BIG)
        return not_such(p, S("payload.rule"), "is too large");
    if (err)
        return not_such(p, S("payload.rule"), "cannot be kept as it is");
    *ret = page;
    return OK;
}

/* --- narrower --- */

static enum err say(struct planning *p, const char *what, struct str id, struct str *ret)
{
    char text[RULE_ID + 32];
    int len = snprintf(text, sizeof(text), "%s " STR_FMT, what, STR_ARG(id));

    *ret = arena_str(&p->arena, (struct str){ text, (size_t)len });
    return ret->ptr ? OK : not_such(p, S("payload.narrow"), "is too large");
}

/* Evidence is about what was suggested: the narrower rule has none. */
static enum err compose_narrowed(struct planning *p, const struct page *old,
                                 struct held_rule *held, bool *ret_is_other)
{
    struct rule *rule = &held->rule;
    const struct rule_change *c = p->change;
    struct str id;

    *ret_is_other = false;
    if (!c->narrow)
        return OK;
    if (!shape_is_within(c->narrow, rule->arguments))
        return not_such(p, S("payload.narrow"), "is not within what was suggested");
    rule->arguments = c->narrow;
    if (rule_make_id(rule, &p->arena, &id))
        return not_such(p, S("payload.narrow"), "is too large");
    if (str_eq(id, rule->id))
        return OK; /* it is all of it */
    rule->id = id;
    rule->evidence = (struct rule_evidence){};
    rule->created_by = c->by;
    rule->created_ms = c->at_ms;
    held->uses = 0;
    held->last_use_ms = 0;
    held->hour = (struct rule_hour){};
    *ret_is_other = true;
    return c->reason.len ? OK : say(p, "narrowed from", old->held.rule.id, &held->reason);
}

/* The other is in the book already, as what a person may add again, or not at all. */
static enum err find_other(const struct planning *p, struct held_rule *held,
                           struct page **ret)
{
    struct page *other = book_find(p->book, held->rule.id);
    enum rule_state is = other ? other->held.rule.state : RULE_STATE_COUNT;

    if (!(verbs[RULE_ADD].from & 1U << is))
        return refuse_state(p, S("payload.narrow"), rule_state_name(is).ptr,
                            "is a rule of this topic already");
    if (other) {
        held->uses = other->held.uses;
        held->last_use_ms = other->held.last_use_ms;
        held->hour = other->held.hour;
    }
    *ret = other;
    return OK;
}

static enum err plan_narrowed(struct planning *p, struct page *old,
                              struct held_rule *held, struct plan *plan)
{
    struct held_rule declined = old->held;
    enum err err = find_other(p, held, &plan->step.old);

    if (!err)
        err = make_page(p, held, &plan->step.fresh);
    if (!err)
        err = say(p, "narrowed to", held->rule.id, &declined.reason);
    if (err)
        return err;
    declined.rule.state = RULE_DECLINED;
    declined.changed_by = p->change->by;
    declined.changed_ms = p->change->at_ms;
    plan->narrowed.old = old;
    return make_page(p, &declined, &plan->narrowed.fresh);
}

/* --- room --- */

struct tally {
    size_t count, bytes;
    size_t suggested, suggested_bytes; /* of them */
};

static void tally_add(struct tally *tally, const struct page *page)
{
    size_t cost = page_cost(page);

    tally->count++;
    tally->bytes += cost;
    if (page->held.rule.state != RULE_SUGGESTED)
        return;
    tally->suggested++;
    tally->suggested_bytes += cost;
}

static bool is_planned(const struct plan *plan, const struct page *page)
{
    return page == plan->step.old || page == plan->narrowed.old;
}

/* What a program suggests pushes nobody's fresh no out of the book. */
static bool may_go(const struct rule_change *change, const struct plan *plan,
                   const struct page *page)
{
    const struct held_rule *held = &page->held;

    if (is_planned(plan, page))
        return false;
    if (held->rule.state == RULE_SUGGESTED)
        return !rule_is_current(&held->rule, change->at_ms);
    return held->rule.state == RULE_DECLINED &&
           (change->verb != RULE_SUGGEST || is_forgotten(held, change->at_ms));
}

enum counted { ALL_THAT_ARE, ALL_THAT_STAY };

static struct tally tally_of(const struct planning *p, const struct plan *plan,
                             enum counted counted)
{
    struct tally tally = {};
    struct page *page;

    LIST_FOREACH(page, &p->book->pages, link)
        if (!is_planned(plan, page) &&
            (counted == ALL_THAT_ARE || !may_go(p->change, plan, page)))
            tally_add(&tally, page);
    if (plan->step.fresh)
        tally_add(&tally, plan->step.fresh);
    if (plan->narrowed.fresh)
        tally_add(&tally, plan->narrowed.fresh);
    return tally;
}

static bool has_suggested_too_much(const struct planning *p, const struct tally *tally)
{
    return p->change->verb == RULE_SUGGEST &&
           (tally->suggested > RULEBOOK_SUGGESTED ||
            tally->suggested_bytes > RULEBOOK_BYTES / 2);
}

static bool is_too_much(const struct planning *p, const struct tally *tally)
{
    return tally->count > RULEBOOK_RULES || tally->bytes > RULEBOOK_BYTES ||
           has_suggested_too_much(p, tally);
}

/* Whoever says what becomes of a rule that is there needs no room. */
static bool needs_room(const struct rule_change *change, const struct plan *plan)
{
    return is_whole_rule(change) || plan->narrowed.fresh;
}

static enum err judge_room(const struct planning *p, const struct plan *plan)
{
    const struct page *fresh = plan->step.fresh;
    struct tally tally;

    if (!needs_room(p->change, plan))
        return OK;
    if (fresh->text_bytes > RULEBOOK_TEXT - PAGE_MARGIN ||
        fresh->arena.total > PAGE_MEMORY - PAGE_MARGIN)
        return not_such(p, S("payload.rule"), "is too large");
    tally = tally_of(p, plan, ALL_THAT_STAY);
    if (has_suggested_too_much(p, &tally))
        return refuse(p, ERR_UNAVAILABLE, S(""),
                      "too many rules are suggested in this topic");
    if (is_too_much(p, &tally))
        return refuse(p, ERR_UNAVAILABLE, S(""),
                      "there are too many rules in this topic");
    return OK;
}

/* The one that has been so for the longest time. */
static struct page *find_spare(const struct planning *p, const struct plan *plan,
                               bool is_suggested)
{
    struct page *oldest = NULL;
    struct page *page;

    LIST_FOREACH(page, &p->book->pages, link) {
        bool fits = page->held.rule.state == RULE_SUGGESTED || !is_suggested;

        if (fits && may_go(p->change, plan, page) &&
            (!oldest || page->held.changed_ms < oldest->held.changed_ms))
            oldest = page;
    }
    return oldest;
}

static void make_room(struct rulebook *book, const struct planning *p,
                      const struct plan *plan)
{
    struct tally tally = tally_of(p, plan, ALL_THAT_ARE);

    while (needs_room(p->change, plan) && is_too_much(p, &tally)) {
        struct page *spare = find_spare(p, plan, has_suggested_too_much(p, &tally));

        if (!spare)
            return; /* was asked before */
        spare->is_dropped = true;
        book_take_out(book, spare);
        tally = tally_of(p, plan, ALL_THAT_ARE);
    }
}

/* --- all of it --- */

static enum err plan_pages(struct planning *p, struct plan *plan)
{
    struct page *old = plan->step.old;
    struct held_rule held = {};
    bool is_other = false;
    enum err err = compose(p, old, &held);

    if (!err && p->change->verb == RULE_ACCEPT)
        err = compose_narrowed(p, old, &held, &is_other);
    if (err)
        return err;
    if (is_other)
        return plan_narrowed(p, old, &held, plan);
    return make_page(p, &held, &plan->step.fresh);
}

static enum err plan_make(struct planning *p, struct plan *plan)
{
    struct page *old = book_find(p->book, id_of(p->change));
    enum err err = judge_who(p, old);

    plan->step.old = old;
    if (!err)
        err = judge_state(p, old);
    if (!err)
        err = judge_words(p);
    if (err || p->change->verb == RULE_REMOVE)
        return err;
    err = plan_pages(p, plan);
    return err ? err : judge_room(p, plan);
}

static void planning_init(struct planning *p, const struct rulebook *book,
                          const struct rule_change *change,
                          struct rulebook_problem *problem)
{
    *p = (struct planning){ .book = book, .change = change, .problem = problem };
    arena_init(&p->arena, 4096);
}

enum err rulebook_judge(const struct rulebook *book, const struct rule_change *change,
                        struct rulebook_problem *problem)
{
    struct rulebook_problem unasked = {};
    struct plan plan = {};
    struct planning p;
    enum err err;

    planning_init(&p, book, change, problem ? problem : &unasked);
    err = plan_make(&p, &plan);
    page_free(plan.step.fresh);
    page_free(plan.narrowed.fresh);
    arena_done(&p.arena);
    return err;
}

static void forget_gone(struct rulebook *book)
{
    struct page *page;

    LIST_FOREACH(page, &book->gone, link)
        page_free(page);
}

static const struct held_rule *take_step(struct rulebook *book, const struct step *step)
{
    if (step->old)
        book_take_out(book, step->old);
    if (!step->fresh)
        return NULL;
    book_insert(book, step->fresh);
    return &step->fresh->held;
}

const struct held_rule *rulebook_apply(struct rulebook *book,
                                       const struct rule_change *change,
                                       const struct held_rule **ret_declined)
{
    const struct held_rule *declined = NULL;
    const struct held_rule *held = NULL;
    struct rulebook_problem problem = {};
    struct plan plan = {};
    struct planning p;
    enum err err;

    planning_init(&p, book, change, &problem);
    err = plan_make(&p, &plan);
    forget_gone(book); /* only now: the change may be said in words of theirs */
    if (!err) {
        make_room(book, &p, &plan);
        declined = take_step(book, &plan.narrowed);
        held = take_step(book, &plan.step);
    } else {
        page_free(plan.step.fresh);
        page_free(plan.narrowed.fresh);
    }
    arena_done(&p.arena);
    if (ret_declined)
        *ret_declined = declined;
    return held;
}
