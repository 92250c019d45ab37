/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random changes and uses, with restarts between them, against a model that knows states,
 * times and uses, and nothing of pages, plans or minutes.
 *
 * BOOK_ROUNDS: how many lives of a book.
 */
#include <stdio.h>
#include <stdlib.h>

#include "book_stage.h"
#include "dice.h"
#include "harness.h"

enum { RULES = 6, STEPS = 120, USES = STEPS, VERBS = RULE_SUSPEND + 1 };

#define WAIT_MS (RULEBOOK_DECLINED_DAYS * DAY_MS)

struct model {
    bool is_there;
    enum rule_state state;
    uint64_t changed_ms, expires_ms, budget;
    struct str maker;
    uint64_t uses[USES];
    size_t use_count;
};

struct life {
    struct book_stage stage;
    struct dice dice;
    struct rule *rules[RULES];
    struct model models[RULES];
    uint64_t now_ms;
    uint64_t done, refused, used, used_up;
};

/* What the rules for each verb are, said once more. */
static enum err expected(const struct rule_change *c, const struct model *m)
{
    bool is_for_people =
        c->verb == RULE_ADD || c->verb == RULE_ACCEPT || c->verb == RULE_ENABLE;
    bool is_expired = m->is_there && m->expires_ms <= c->at_ms;
    enum rule_state is = m->state;

    if (is_for_people && !c->is_by_human)
        return ERR_FORBIDDEN;
    if (!m->is_there && c->verb != RULE_ADD && c->verb != RULE_SUGGEST)
        return ERR_NOT_FOUND;
    if (is_for_people && str_eq(c->by, S("bot")))
        return ERR_FORBIDDEN;
    switch (c->verb) {
    case RULE_SUGGEST:
        if (m->is_there && is == RULE_SUGGESTED)
            return is_expired || str_eq(c->by, m->maker) ? OK : ERR_RULE_STATE;
        if (!m->is_there)
            return OK;
        return is == RULE_DECLINED && c->at_ms >= m->changed_ms + WAIT_MS
                   ? OK
                   : ERR_RULE_STATE;
    case RULE_ADD:
        return m->is_there && (is == RULE_ACTIVE || is == RULE_SHADOW) ? ERR_RULE_STATE
                                                                       : OK;
    case RULE_ACCEPT:
        if (is != RULE_SUGGESTED && is != RULE_DECLINED &&
            !(is == RULE_SHADOW && !c->is_shadow))
            return ERR_RULE_STATE;
        return is_expired && !c->expires_ms ? ERR_RULE_STATE : OK;
    case RULE_DECLINE: return is == RULE_SUGGESTED ? OK : ERR_RULE_STATE;
    case RULE_DISABLE:
        return is == RULE_ACTIVE || is == RULE_SHADOW || is == RULE_SUSPENDED
                   ? OK
                   : ERR_RULE_STATE;
    case RULE_ENABLE:
        if (is != RULE_DISABLED && is != RULE_SUSPENDED && is != RULE_SHADOW)
            return ERR_RULE_STATE;
        return is_expired ? ERR_RULE_STATE : OK;
    case RULE_REMOVE: return OK;
    case RULE_SUSPEND:
        return is == RULE_ACTIVE || is == RULE_SHADOW ? OK : ERR_RULE_STATE;
    }
    return OK;
}

static void follow(struct model *m, const struct rule_change *c)
{
    static const enum rule_state to[VERBS] = {
        [RULE_SUGGEST] = RULE_SUGGESTED, [RULE_ADD] = RULE_ACTIVE,
        [RULE_ACCEPT] = RULE_ACTIVE,     [RULE_DECLINE] = RULE_DECLINED,
        [RULE_DISABLE] = RULE_DISABLED,  [RULE_ENABLE] = RULE_ACTIVE,
        [RULE_SUSPEND] = RULE_SUSPENDED,
    };
    bool is_renewed = c->verb == RULE_SUGGEST && m->is_there &&
                      m->state == RULE_SUGGESTED && m->expires_ms > c->at_ms;

    if (c->verb == RULE_REMOVE) {
        *m = (struct model){};
        return;
    }
    m->state = c->is_shadow && c->verb == RULE_ACCEPT ? RULE_SHADOW : to[c->verb];
    m->is_there = true;
    m->changed_ms = c->at_ms;
    if ((c->verb == RULE_SUGGEST && !is_renewed) || c->verb == RULE_ADD) {
        m->maker = c->by;
        m->budget = c->rule->budget;
        m->expires_ms = c->at_ms + RULEBOOK_DAYS * DAY_MS;
    }
    if (c->verb == RULE_ACCEPT && c->budget)
        m->budget = c->budget;
    if (c->verb == RULE_ACCEPT && c->expires_ms)
        m->expires_ms = c->expires_ms;
}

static void change(struct life *life, size_t number)
{
    static const struct str names[] = { S("ann"), S("bob"), S("bot") };
    struct model *m = &life->models[number];
    struct rule *rule = life->rules[number];
    struct rule_change c = { .verb = (enum rule_verb)dice_below(&life->dice, VERBS),
                             .id = rule->id,
                             .by = names[dice_below(&life->dice, 3)],
                             .is_by_human = dice_below(&life->dice, 4) != 0,
                             .at_ms = life->now_ms };
    const struct held_rule *held;
    enum err err;

    rule->budget = 1 + dice_below(&life->dice, 5);
    if (c.verb == RULE_SUGGEST || c.verb == RULE_ADD)
        c.rule = rule;
    if (c.verb == RULE_ACCEPT) {
        c.is_shadow = dice_below(&life->dice, 3) == 0;
        c.budget = dice_below(&life->dice, 4);
        if (dice_below(&life->dice, 2))
            c.expires_ms = c.at_ms + (1 + dice_below(&life->dice, 300)) * DAY_MS;
    }
    err = judge(&life->stage, &c);
    CHECK_INT(err, expected(&c, m));
    held = rulebook_apply(life->stage.book, &c, NULL);
    if (err) {
        life->refused++;
        return;
    }
    life->done++;
    follow(m, &c);
    CHECK((held != NULL) == m->is_there);
}

static size_t uses_since(const struct model *m, uint64_t since_ms)
{
    size_t count = 0;

    for (size_t i = 0; i < m->use_count; i++)
        count += m->uses[i] > since_ms;
    return count;
}

static void use_one(struct life *life, size_t number)
{
    struct model *m = &life->models[number];
    struct rule_proposal p = proposal_of(&life->stage, "{}");
    struct rule_use u = { .id = life->rules[number]->id,
                          .proposal = &p,
                          .by = S("finder"),
                          .at_ms = life->now_ms };
    char text[64];
    enum err err;

    (void)snprintf(text, sizeof(text), "{\"n\":%zu}", number);
    p = proposal_of(&life->stage, text);
    life->stage.problem = (struct rulebook_problem){};
    err = rulebook_may_use(life->stage.book, &u, &life->stage.problem);
    if (!m->is_there) {
        CHECK_INT(err, ERR_NOT_FOUND);
        return;
    }
    if (m->state != RULE_ACTIVE || m->expires_ms <= u.at_ms) {
        CHECK_INT(err, ERR_RULE_STATE);
        return;
    }
    if (err) { /* at most a minute too careful */
        CHECK_STR(str_of(life->stage.problem.state), S("used up"));
        CHECK(uses_since(m, u.at_ms - HOUR_MS - 60'000) >= m->budget);
        life->used_up++;
        return;
    }
    rulebook_use(life->stage.book, &u);
    life->used++;
    /* For a rule time does not run back: it stands until the clock is there again. */
    if (m->use_count && m->uses[m->use_count - 1] > u.at_ms)
        u.at_ms = m->uses[m->use_count - 1];
    m->uses[m->use_count++] = u.at_ms;
    CHECK(uses_since(m, u.at_ms - HOUR_MS) <= m->budget);
}

static void check(const struct life *life)
{
    size_t count = 0;

    for (size_t i = 0; i < RULES; i++) {
        const struct model *m = &life->models[i];
        const struct held_rule *held =
            rulebook_find(life->stage.book, life->rules[i]->id);

        count += m->is_there;
        CHECK((held != NULL) == m->is_there);
        if (!held)
            continue;
        CHECK_INT(held->rule.state, m->state);
        CHECK_INT(held->rule.budget, m->budget);
        CHECK_INT(held->rule.expires_ms, m->expires_ms);
        CHECK_INT(held->changed_ms, m->changed_ms);
        CHECK_INT(held->uses, m->use_count);
    }
    CHECK_INT(rulebook_count(life->stage.book), count);
}

static void pass_time(struct life *life)
{
    switch (dice_below(&life->dice, 20)) {
    case 0: life->now_ms += dice_below(&life->dice, 40) * DAY_MS; break;
    case 1: life->now_ms += dice_below(&life->dice, HOUR_MS * 2); break;
    case 2:
        if (dice_below(&life->dice, 8) == 0)
            life->now_ms -= dice_below(&life->dice, HOUR_MS * 3);
        break;
    default: life->now_ms += dice_below(&life->dice, 8 * 60'000); break;
    }
}

static void run_life(struct life *life, uint64_t seed)
{
    life->dice = (struct dice){ seed * 0x9E3779B97F4A7C15ULL + 1 };
    life->now_ms = NOW;
    book_stage_open(&life->stage);
    for (unsigned i = 0; i < RULES; i++)
        life->rules[i] = rule_number(&life->stage, i);
    for (int i = 0; i < STEPS; i++) {
        /* Most of them concern one rule, so that it is used up at times. */
        size_t number = dice_below(&life->dice, 2) ? 0 : dice_below(&life->dice, RULES);

        pass_time(life);
        if (dice_below(&life->dice, 2))
            change(life, number);
        else
            use_one(life, number);
        if (dice_below(&life->dice, 30) == 0)
            restart(&life->stage);
        check(life);
    }
    book_stage_close(&life->stage);
}

TEST(a_book_does_what_the_model_does)
{
    uint64_t rounds = dice_rounds("BOOK_ROUNDS", 60);
    struct life *life = calloc(1, sizeof(*life));
    uint64_t done = 0, refused = 0, used = 0, used_up = 0;

    if (!life)
        abort();
    for (uint64_t i = 0; i < rounds; i++) {
        *life = (struct life){};
        run_life(life, i);
        done += life->done;
        refused += life->refused;
        used += life->used;
        used_up += life->used_up;
    }
    free(life);
    printf("# %llu changes, %llu refused; %llu uses, %llu times used up\n",
           (unsigned long long)done, (unsigned long long)refused,
           (unsigned long long)used, (unsigned long long)used_up);
    CHECK(done > rounds * 10 && refused > rounds * 10);
    CHECK(used > rounds && used_up > rounds / 8);
}
