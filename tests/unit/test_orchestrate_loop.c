/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole loop, on made-up worlds: a person decides by a rule of her own that nobody
 * sees, and is wrong now and then; the orchestrator suggests, and she accepts whatever it
 * is, unread, which is the worst that people do. What is let through from then on is
 * counted, and what of it she would have rejected. To that she objects: the rule is
 * suspended, and stays so.
 *
 * ORCHESTRATE_WORLDS: how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "orchestra.h"
#include "worlds.h"

enum { STEPS = 400, TEXT = 1 << 20, ROOM = 64 << 20 };

struct loop_score {
    uint64_t good, used, wrong, rules, suspended;
};

struct room {
    struct orchestra stage;
    struct rulebook *book;
    struct buf text;                /* the book, as it is asked for */
    char rule[RULE_ID + 1], id[64]; /* to be fulfilled */
};

static struct rule_change change_by(enum rule_verb verb, struct str id, const char *by,
                                    uint64_t at_ms)
{
    return (struct rule_change){ .verb = verb,
                                 .id = id,
                                 .by = str_of(by),
                                 .is_by_human = strcmp(by, "ann") == 0,
                                 .at_ms = at_ms };
}

/* As GET /topics/T/rules says it. */
static void show_book(struct room *r)
{
    const struct held_rule *held = NULL;
    struct json_writer w, inner;
    struct buf one;

    buf_clear(&r->text);
    buf_init(&one, TEXT);
    json_write_init(&w, &r->text);
    json_object_open(&w);
    json_put_str(&w, S("automation"), S("on"));
    json_key(&w, S("rules"));
    json_array_open(&w);
    while ((held = rulebook_next(r->book, held))) {
        buf_clear(&one);
        json_write_init(&inner, &one);
        rule_write(&inner, &held->rule);
        json_object_open(&w);
        json_put_members(&w, buf_str(&one), (struct str_list){});
        json_put_uint(&w, S("uses"), held->uses);
        json_put_uint(&w, S("used_this_hour"), held_rule_used(held, r->stage.now_ms));
        json_put_time(&w, S("changed_at"), held->changed_ms);
        json_object_close(&w);
    }
    json_array_close(&w);
    json_object_close(&w);
    buf_done(&one);
    r->stage.book = buf_str(&r->text);
}

static bool change(struct room *r, const struct rule_change *c)
{
    struct rulebook_problem problem = {};
    const struct held_rule *declined = NULL;
    const struct held_rule *held;
    char news[256];

    if (rulebook_judge(r->book, c, &problem))
        return false;
    held = rulebook_apply(r->book, c, &declined);
    show_book(r);
    (void)snprintf(news, sizeof(news), "{\"rule\":\"%.*s\",\"state\":\"%.*s\"}",
                   STR_ARG(held->rule.id), STR_ARG(rule_state_name(held->rule.state)));
    orchestra_gateway(&r->stage, "system/rule", news);
    return true;
}

/* She does not read it. */
static void accept_all(struct room *r, struct loop_score *score)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;
    struct rule_change c;
    struct rule rule;

    arena_init(&arena, ROOM);
    if (!strstr(orchestra_acts(&r->stage).ptr, "suggest ") || !r->stage.payload.len)
        return;
    if (json_parse(buf_str(&r->stage.payload), &arena, &root, NULL) ||
        rule_read(json_find(root, S("rule")), buf_str(&r->stage.payload), &arena, &rule,
                  NULL))
        abort();
    c = change_by(RULE_SUGGEST, rule.id, "orchestrator", r->stage.now_ms);
    c.rule = &rule;
    if (!change(r, &c))
        return;
    c = change_by(RULE_ACCEPT, rule.id, "ann", r->stage.now_ms);
    CHECK(change(r, &c));
    score->rules++;
    orchestra_pass(&r->stage, 5000);
    (void)orchestra_acts(&r->stage);
}

static void on_fulfil(struct orchestra *s, struct str rule, struct str proposal)
{
    struct room *r = s->user;

    (void)snprintf(r->rule, sizeof(r->rule), STR_FMT, STR_ARG(rule));
    (void)snprintf(r->id, sizeof(r->id), STR_FMT, STR_ARG(proposal));
}

/* The gateway's part of a use: judged, counted, told. */
static void use(struct room *r, const char *id, const char *arguments)
{
    CLEANUP(arena_done) struct arena arena;
    struct rule_proposal p = { .topic = S("room"),
                               .proposer = S("bot"),
                               .method = S("tools/call"),
                               .tool = S("t"),
                               .to = S("srv") };
    struct rule_use rule_use = { .id = str_of(r->rule),
                                 .proposal = &p,
                                 .by = S("orchestrator"),
                                 .at_ms = r->stage.now_ms };
    struct rulebook_problem problem = {};
    char more[128];

    arena_init(&arena, ROOM);
    if (json_parse(str_of(arguments), &arena, &p.arguments, NULL))
        abort();
    CHECK_INT(rulebook_may_use(r->book, &rule_use, &problem), OK);
    rulebook_use(r->book, &rule_use);
    show_book(r);
    (void)snprintf(more, sizeof(more), ",\"rule\":\"%s\"", r->rule);
    orchestra_closed(&r->stage, id, "fulfilled", more);
}

static void step(struct room *r, struct world *w, size_t kind, unsigned number,
                 struct loop_score *score)
{
    bool slips = dice_below(&w->dice, WORLD_SLIPS) == 0;
    struct buf text;
    char id[32];
    bool is_good;

    (void)snprintf(id, sizeof(id), "p%u", number);
    buf_init(&text, TEXT);
    is_good = world_propose(w, kind, &text);
    score->good += is_good;
    r->id[0] = '\0';
    orchestra_propose(&r->stage, id, buf_cstr(&text));
    orchestra_pass(&r->stage, 1000);
    if (strcmp(r->id, id) == 0) {
        use(r, id, buf_cstr(&text));
        score->used++;
        if (!is_good) {
            struct rule_change c =
                change_by(RULE_SUSPEND, str_of(r->rule), "ann", r->stage.now_ms);

            score->wrong++;
            score->suspended += change(r, &c);
            orchestra_hear(&r->stage, "ann", "mcp/reject", "objection", id,
                           "\"payload\":{}");
        }
    } else if (is_good != slips) {
        orchestra_fulfil(&r->stage, "ann", id, buf_cstr(&text));
    } else {
        orchestra_reject(&r->stage, "ann", id);
    }
    buf_done(&text);
    orchestra_pass(&r->stage, 1'800'000);
    accept_all(r, score);
}

static void run_world(size_t kind, uint64_t seed, struct loop_score *score)
{
    struct world w = world_make(kind, seed);
    struct room r = { .book = rulebook_new(S("room")) };

    r.stage.learner = learner_options_default();
    orchestra_open(&r.stage);
    r.stage.on_fulfil = on_fulfil;
    r.stage.user = &r;
    buf_init(&r.text, ROOM);
    show_book(&r);
    for (unsigned i = 0; i < STEPS; i++)
        step(&r, &w, kind, i, score);
    orchestra_close(&r.stage);
    rulebook_free(r.book);
    buf_done(&r.text);
}

static double per_cent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

TEST(what_is_let_through_is_what_people_would_have_approved)
{
    uint64_t rounds = dice_rounds("ORCHESTRATE_WORLDS", 5);
    struct loop_score all = {};

    for (size_t kind = 0; kind < WORLD_KINDS; kind++) {
        struct loop_score score = {};

        for (uint64_t i = 0; i < rounds; i++)
            run_world(kind, i, &score);
        printf(
            "# %-12s %4llu rules accepted, %llu suspended; %5.1f %% of what is good is "
            "let through; %llu of %llu falsely\n",
            world_names[kind], (unsigned long long)score.rules,
            (unsigned long long)score.suspended,
            per_cent(score.used - score.wrong, score.good),
            (unsigned long long)score.wrong, (unsigned long long)score.used);
        all.good += score.good;
        all.used += score.used;
        all.wrong += score.wrong;
    }
    printf("# all: %.1f %% let through, false approvals %.3f %%\n",
           per_cent(all.used - all.wrong, all.good), per_cent(all.wrong, all.used));
    CHECK(1000 * all.wrong <= 5 * all.used); /* half of a per cent */
    CHECK(100 * all.used >= 5 * all.good);   /* else it would be worth nothing */
}
