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

enum { ROOM = 64 << 20, STEPS = 400, TRAINED = 240, SLIPS = 100, TEXT = 1024 };

struct world {
    struct dice dice;
    uint64_t bad;   /* of a hundred proposals */
    uint64_t limit; /* of the person's rule */
    uint64_t width;
};

/* Puts the arguments of a proposal, good or bad as the person sees it. */
typedef bool make_proposal(struct world *w, struct buf *out);

static bool is_bad(struct world *w)
{
    return dice_below(&w->dice, 100) < w->bad;
}

static unsigned below(struct world *w, uint64_t count)
{
    return (unsigned)dice_below(&w->dice, count);
}

static bool make_files(struct world *w, struct buf *out)
{
    static const char *const good[] = { "src", "docs", "tests" };
    static const char *const bad[] = { "/srv/app/.env", "/srv/keys/id.c", "/etc/passwd",
                                       "/srv/app/../keys/x.c", "/srv/app/src/x.sh" };

    if (is_bad(w)) {
        buf_putf(out, "{\"path\":\"%s\",\"mode\":\"w\"}", bad[below(w, 5)]);
        return false;
    }
    buf_putf(out, "{\"path\":\"/srv/app/%s/f%u.c\",\"mode\":\"%s\"}", good[below(w, 3)],
             below(w, w->width), below(w, 4) ? "w" : "a");
    return true;
}

static bool make_deployment(struct world *w, struct buf *out)
{
    static const char *const places[] = { "staging", "test", "prod" };
    unsigned place = is_bad(w) ? 2 : below(w, 2);
    unsigned replicas = is_bad(w) ? 11 + below(w, 90) : 1 + below(w, 10);

    buf_putf(out, "{\"env\":\"%s\",\"version\":\"v1.%u\",\"replicas\":%u}", places[place],
             below(w, w->width), replicas);
    return place < 2 && replicas <= 10;
}

static bool make_payment(struct world *w, struct buf *out)
{
    static const char *const known[] = { "alice", "bob", "carol" };
    bool is_stranger = is_bad(w);
    uint64_t cents = 100 + below(w, is_bad(w) ? 5 * w->limit : w->limit);

    if (is_stranger)
        buf_putf(out, "{\"to\":\"mallory%u\"", below(w, 50));
    else
        buf_putf(out, "{\"to\":\"%s\"", known[below(w, 3)]);
    buf_putf(out, ",\"amount\":%u.%02u,\"note\":\"Invoice no. %u\"}",
             (unsigned)(cents / 100), (unsigned)(cents % 100), below(w, 100'000));
    return !is_stranger && cents <= 100 + w->limit;
}

static bool make_message(struct world *w, struct buf *out)
{
    bool is_loud = is_bad(w);

    buf_putf(out, "{\"channel\":\"%s\",\"message\":\"Build %u has ended %s.\"}",
             is_loud ? "all" : "builds", below(w, 100'000),
             below(w, 2) ? "well" : "badly");
    return !is_loud;
}

static bool make_query(struct world *w, struct buf *out)
{
    bool is_harmful = is_bad(w);

    buf_putf(out, "{\"sql\":\"%s t%u where id = %u\"}",
             is_harmful ? "delete from" : "select * from", below(w, 9),
             below(w, 100'000));
    return !is_harmful;
}

static bool make_fetch(struct world *w, struct buf *out)
{
    static const char *const bad[] = { "https://api.example.com.evil.org/v1/",
                                       "https://api.example.com/admin/",
                                       "http://169.254.169.254/" };
    bool is_elsewhere = is_bad(w);

    buf_putf(out, "{\"url\":\"%sitem-%u\"}",
             is_elsewhere ? bad[below(w, 3)] : "https://api.example.com/v1/",
             below(w, w->width));
    return !is_elsewhere;
}

/* What no shape can say: nothing is to be learned. */
static bool make_riddle(struct world *w, struct buf *out)
{
    unsigned n = below(w, 50);

    buf_putf(out, "{\"n\":%u}", n);
    return n % 2 == 0;
}

/* The two that are bad are bad together alone. */
static bool make_pair(struct world *w, struct buf *out)
{
    bool is_prod = below(w, 3) == 0, deletes = below(w, 3) == 0;

    if (!is_bad(w) && is_prod && deletes)
        is_prod = false;
    buf_putf(out, "{\"env\":\"%s\",\"do\":\"%s\",\"force\":%s}",
             is_prod ? "prod" : "test", deletes ? "delete" : "show",
             below(w, 2) ? "true" : "false");
    return !is_prod || !deletes;
}

static make_proposal *const makers[] = { make_files,   make_deployment, make_payment,
                                         make_message, make_query,      make_fetch,
                                         make_riddle,  make_pair };
static const char *const names[] = { "files",   "deployments", "payments", "messages",
                                     "queries", "fetches",     "riddles",  "pairs" };

enum { KINDS = sizeof(makers) / sizeof(makers[0]) };

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
    bool slips = dice_below(&w->dice, SLIPS) == 0;
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
    struct world w = { .dice = { seed * 0x9E3779B97F4A7C15ULL + kind + 1 } };
    struct learner *learner = learner_new(&options);
    struct rule_list rules = {};
    struct arena arena;
    struct buf text;

    w.bad = dice_below(&w.dice, 30);
    w.limit = 1000 + dice_below(&w.dice, 100'000);
    w.width = 10 + dice_below(&w.dice, 1000);
    arena_init(&arena, ROOM);
    buf_init(&text, TEXT);
    for (uint64_t step = 0; step < STEPS; step++) {
        const struct json *arguments;
        bool is_good;

        buf_clear(&text);
        is_good = makers[kind](&w, &text);
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

    for (size_t kind = 0; kind < KINDS; kind++) {
        struct score score = {};

        for (uint64_t i = 0; i < rounds; i++)
            run_world(kind, i, &score);
        printf("# %-12s %5llu rules; %5.1f %% of what is good is covered; %llu of %llu "
               "falsely (%.3f %%)\n",
               names[kind], (unsigned long long)score.rules,
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
