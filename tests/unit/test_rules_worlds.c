/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules are worth that were learned from one part of a history, on the part that was
 * held back. Worlds are made up: somebody proposes, mostly sensible things; a person
 * decides by a rule of her own that nobody sees, and is wrong now and then. The first
 * three fifths teach; of the rest is counted what the rules cover, and what of it the
 * person's own rule, without her slips, would have rejected.
 *
 * RULES_WORLDS: how many.
 */
#include <stdio.h>
#include <string.h>

#include "dice.h"
#include "harness.h"
#include "rules/learner.h"
#include "worlds.h"

enum { ROOM = 64 << 20, STEPS = 400, TRAINED = 240, TEXT = 1024 };

struct score {
    uint64_t good, covered, wrong, rules;
};

static struct rule_proposal proposal_of(const struct json *arguments)
{
    return (struct rule_proposal){ .topic = S("room"),
                                   .proposer = S("bot"),
                                   .method = S("tools/call"),
                                   .tool = S("t"),
                                   .arguments = arguments };
}

static void teach(struct world *w, struct learner *learner, const struct json *arguments,
                  bool is_good, uint64_t step)
{
    bool slips = dice_below(&w->dice, WORLD_SLIPS) == 0;
    char id[32];

    (void)snprintf(id, sizeof(id), "p%u", (unsigned)step);
    (void)learner_note(
        learner, &(struct decision){ .id = str_of(id),
                                     .proposal = proposal_of(arguments),
                                     .verdict = is_good != slips ? DECISION_APPROVED
                                                                 : DECISION_REJECTED,
                                     .origin = DECIDED_BY_PERSON,
                                     .by = S("ann"),
                                     .at_ms = 1'000'000'000'000 + step * 1'800'000 });
}

static void examine(const struct rule_list *rules, const struct json *arguments,
                    bool is_good, struct score *score)
{
    struct rule_proposal p = proposal_of(arguments);
    bool is_covered = false;

    for (size_t i = 0; i < rules->count; i++)
        is_covered |= rule_covers(&rules->items[i], &p, NULL);
    score->good += is_good;
    score->covered += is_covered;
    score->wrong += is_covered && !is_good;
}

static void run_world(size_t kind, uint64_t seed, struct score *score)
{
    struct learner_options options = learner_options_default();
    struct world w = world_make(kind, seed);
    struct learner *learner = learner_new(&options);
    struct rule_list rules = {};
    struct arena arena;
    struct buf text;

    arena_init(&arena, ROOM);
    buf_init(&text, TEXT);
    for (uint64_t step = 0; step < STEPS; step++) {
        const struct json *arguments;
        bool is_good;

        buf_clear(&text);
        is_good = world_propose(&w, kind, &text);
        if (json_parse(arena_str(&arena, buf_str(&text)), &arena, &arguments, NULL))
            abort();
        if (step < TRAINED)
            teach(&w, learner, arguments, is_good, step);
        else
            examine(&rules, arguments, is_good, score);
        if (step + 1 == TRAINED)
            CHECK_INT(learner_candidates(learner, 1'000'000'000'000 + step * 1'800'000,
                                         &arena, &rules),
                      OK);
    }
    score->rules += rules.count;
    buf_done(&text);
    arena_done(&arena);
    learner_free(learner);
}

static double per_cent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

TEST(rules_hold_on_what_was_held_back)
{
    uint64_t rounds = dice_rounds("RULES_WORLDS", 60);
    struct score all = {};

    for (size_t kind = 0; kind < WORLD_KINDS; kind++) {
        struct score score = {};

        for (uint64_t i = 0; i < rounds; i++)
            run_world(kind, i, &score);
        printf("# %-12s %5llu rules; %5.1f %% of what is good is covered; %llu of %llu "
               "falsely (%.3f %%)\n",
               world_names[kind], (unsigned long long)score.rules,
               per_cent(score.covered - score.wrong, score.good),
               (unsigned long long)score.wrong, (unsigned long long)score.covered,
               per_cent(score.wrong, score.covered));
        all.good += score.good;
        all.covered += score.covered;
        all.wrong += score.wrong;
        all.rules += score.rules;
    }
    printf("# all: %.1f %% covered, false approvals %.3f %%\n",
           per_cent(all.covered - all.wrong, all.good), per_cent(all.wrong, all.covered));
    CHECK(1000 * all.wrong <= 5 * all.covered); /* half of a per cent */
    CHECK(100 * all.covered >= 20 * all.good);  /* else it would be worth nothing */
}
