/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "book_stage.h"
#include "harness.h"

/* --- verbs and states --- */

TEST(a_verb_goes_from_the_states_it_is_for_to_the_one_it_names)
{
    enum { NONE = RULE_STATE_COUNT, NO = -1, GONE = -2, LOST = -3 };
    /* clang-format off */
    static const struct {
        enum rule_verb verb;
        bool is_shadow;
        int to[RULE_STATE_COUNT + 1]; /* from: in the order of the states, then nowhere */
    } cases[] = {
        /*                         suggested       shadow          active          suspended       disabled        declined        nowhere */
        { RULE_SUGGEST, false, { RULE_SUGGESTED, NO,             NO,             NO,             NO,             NO,             RULE_SUGGESTED } },
        { RULE_ADD,     false, { RULE_ACTIVE,    NO,             NO,             RULE_ACTIVE,    RULE_ACTIVE,    RULE_ACTIVE,    RULE_ACTIVE } },
        { RULE_ACCEPT,  false, { RULE_ACTIVE,    RULE_ACTIVE,    NO,             NO,             NO,             RULE_ACTIVE,    LOST } },
        { RULE_ACCEPT,  true,  { RULE_SHADOW,    NO,             NO,             NO,             NO,             RULE_SHADOW,    LOST } },
        { RULE_DECLINE, false, { RULE_DECLINED,  NO,             NO,             NO,             NO,             NO,             LOST } },
        { RULE_DISABLE, false, { NO,             RULE_DISABLED,  RULE_DISABLED,  RULE_DISABLED,  NO,             NO,             LOST } },
        { RULE_ENABLE,  false, { NO,             RULE_ACTIVE,    NO,             RULE_ACTIVE,    RULE_ACTIVE,    NO,             LOST } },
        { RULE_REMOVE,  false, { GONE,           GONE,           GONE,           GONE,           GONE,           GONE,           LOST } },
        { RULE_SUSPEND, false, { NO,             RULE_SUSPENDED, RULE_SUSPENDED, NO,             NO,             NO,             LOST } },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        for (int from = 0; from <= NONE; from++) {
            const struct held_rule *held;
            struct rule_change change;
            struct str before;
            struct book_stage s;
            struct rule *rule;
            enum err err;

            book_stage_open(&s);
            rule = rule_number(&s, 1);
            if (from != NONE)
                (void)put_in(&s, rule, (enum rule_state)from);
            change = change_of(c->verb, rule->id);
            if (c->verb == RULE_SUGGEST || c->verb == RULE_ADD)
                change = whole(c->verb, rule);
            change.is_shadow = c->is_shadow;
            change.reason = S("so it is");
            change.at_ms = NOW + 1000;
            before = written(&s);
            err = judge(&s, &change);
            CHECK_STR(written(&s), before);
            if (c->to[from] == LOST) {
                CHECK_INT(err, ERR_NOT_FOUND);
                CHECK_STR(s.problem.field, S("payload.rule"));
            } else if (c->to[from] == NO) {
                CHECK_INT(err, ERR_RULE_STATE);
                CHECK_STR(str_of(s.problem.state),
                          rule_state_name((enum rule_state)from));
                CHECK(s.problem.what && *s.problem.what);
            } else {
                CHECK_INT(err, OK);
            }
            held = rulebook_apply(s.book, &change, NULL);
            if (err) {
                CHECK(!held);
                CHECK_STR(written(&s), before);
            } else if (c->to[from] == GONE) {
                CHECK(!held && !rulebook_find(s.book, rule->id));
                CHECK_INT(rulebook_count(s.book), 0);
            } else {
                CHECK(held && held == rulebook_find(s.book, rule->id));
                CHECK_INT(held->rule.state, c->to[from]);
                CHECK_STR(held->changed_by,
                          c->verb == RULE_SUGGEST ? S("finder") : S("ann"));
                CHECK_STR(held->reason, S("so it is"));
                CHECK_INT(held->changed_ms, NOW + 1000);
                CHECK_INT(rulebook_count(s.book), 1);
                restart(&s);
            }
            book_stage_close(&s);
        }
    }
}

TEST(only_people_add_accept_and_enable)
{
    static const struct {
        enum rule_verb verb;
        enum rule_state from;
        enum err program, self; /* about proposals of his own */
    } cases[] = {
        { RULE_SUGGEST, RULE_SUGGESTED, OK, ERR_RULE_STATE }, /* it is the finder's */
        { RULE_ADD, RULE_DISABLED, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { RULE_ACCEPT, RULE_SUGGESTED, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { RULE_ACCEPT, RULE_DECLINED, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { RULE_DECLINE, RULE_SUGGESTED, OK, OK },
        { RULE_DISABLE, RULE_ACTIVE, OK, OK },
        { RULE_ENABLE, RULE_DISABLED, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { RULE_ENABLE, RULE_SUSPENDED, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { RULE_REMOVE, RULE_ACTIVE, OK, OK },
        { RULE_SUSPEND, RULE_ACTIVE, OK, OK },
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_change change;
        struct rule *rule;
        struct book_stage s;

        book_stage_open(&s);
        rule = rule_number(&s, 1);
        (void)put_in(&s, rule, c->from);
        change = change_of(c->verb, rule->id);
        if (c->verb == RULE_SUGGEST || c->verb == RULE_ADD)
            change = whole(c->verb, rule);
        change.is_by_human = false;
        CHECK_INT(judge(&s, &change), c->program);
        change.is_by_human = true;
        CHECK_INT(judge(&s, &change), OK);
        change.by = S("bot");
        CHECK_INT(judge(&s, &change), c->self);
        if (c->self == ERR_FORBIDDEN)
            CHECK_STR(s.problem.field, S("from"));
        book_stage_close(&s);
    }
}

TEST(who_made_a_rule_and_what_became_of_it_is_not_for_the_rule_to_say)
{
    struct rule_change change;
    const struct held_rule *held;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = rule_number(&s, 1);
    rule->state = RULE_ACTIVE;
    rule->created_by = S("god");
    rule->created_ms = 5;
    rule->accepted_by = S("god");
    rule->accepted_ms = 5;
    rule->budget = 0;
    rule->topic = S("");
    rule->evidence = (struct rule_evidence){ .approved = 3, .last_ms = NOW - 5 };
    change = whole(RULE_SUGGEST, rule);
    rule->topic = S("room");
    held = apply(&s, &change);
    CHECK_INT(held->rule.state, RULE_SUGGESTED);
    CHECK_STR(held->rule.topic, S("room"));
    CHECK_STR(held->rule.created_by, S("finder"));
    CHECK_INT(held->rule.created_ms, NOW);
    CHECK_STR(held->rule.accepted_by, S(""));
    CHECK_INT(held->rule.accepted_ms, 0);
    CHECK_INT(held->rule.budget, RULEBOOK_BUDGET);
    CHECK_INT(held->rule.expires_ms, NOW + RULEBOOK_DAYS * DAY_MS);
    CHECK_INT(held->rule.evidence.approved, 3);
    rule->topic = S("");
    change = whole(RULE_ADD, rule);
    change.at_ms = NOW + 7;
    held = apply(&s, &change);
    CHECK_INT(held->rule.state, RULE_ACTIVE);
    CHECK_STR(held->rule.topic, S("room"));
    CHECK_STR(held->rule.created_by, S("ann"));
    CHECK_STR(held->rule.accepted_by, S("ann"));
    CHECK_INT(held->rule.accepted_ms, NOW + 7);
    book_stage_close(&s);
}

TEST(a_rule_that_cannot_be_is_refused)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;
    char text[2 * RULE_NOTE];

    memset(text, 'x', sizeof(text));
    book_stage_open(&s);
    for (int verb = RULE_SUGGEST; verb <= RULE_ADD; verb++) {
        rule = rule_number(&s, 1);
        change = whole((enum rule_verb)verb, rule);
        CHECK_INT(judge(&s, &change), OK);

        rule->topic = S("other");
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(s.problem.field, S("payload.rule.topic"));
        rule->topic = S("room");

        rule->expires_ms = NOW;
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(s.problem.field, S("payload.rule.expires_at"));
        rule->expires_ms = NOW + RULEBOOK_MAX_DAYS * DAY_MS + 1;
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        rule->expires_ms = NOW + RULEBOOK_MAX_DAYS * DAY_MS;
        CHECK_INT(judge(&s, &change), OK);

        rule->budget = RULE_BUDGET + 1;
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(s.problem.field, S("payload.rule.budget"));
        rule->budget = RULE_BUDGET;
        CHECK_INT(judge(&s, &change), OK);

        change.reason = (struct str){ text, RULE_NOTE + 1 };
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(s.problem.field, S("payload.reason"));
        change.reason = S("a\x1b[31mb");
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        change.reason = (struct str){ text, RULE_NOTE };
        CHECK_INT(judge(&s, &change), OK);
        change.by = (struct str){ text, RULE_NAME + 1 };
        CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(s.problem.field, S("from"));
    }
    book_stage_close(&s);
}

TEST(a_suggestion_has_the_name_of_what_it_covers_and_people_may_choose_one)
{
    static const struct {
        struct str id;
        enum err suggest, add;
    } cases[] = {
        { S("nightly"), ERR_MALFORMED_ENVELOPE, OK },
        { S("a b"), ERR_MALFORMED_ENVELOPE, ERR_MALFORMED_ENVELOPE },
        { S("a/b"), ERR_MALFORMED_ENVELOPE, ERR_MALFORMED_ENVELOPE },
        { S(".a"), ERR_MALFORMED_ENVELOPE, ERR_MALFORMED_ENVELOPE },
        { S("\xd0\xb0"), ERR_MALFORMED_ENVELOPE, ERR_MALFORMED_ENVELOPE },
        { S(""), ERR_MALFORMED_ENVELOPE, ERR_MALFORMED_ENVELOPE },
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_change change;
        struct rule *rule;
        struct book_stage s;

        book_stage_open(&s);
        rule = rule_number(&s, 1);
        rule->id = c->id;
        change = whole(RULE_SUGGEST, rule);
        CHECK_INT(judge(&s, &change), c->suggest);
        CHECK_STR(s.problem.field, S("payload.rule.id"));
        change = whole(RULE_ADD, rule);
        CHECK_INT(judge(&s, &change), c->add);
        book_stage_close(&s);
    }
}

TEST(what_is_suggested_again_gets_newer_evidence_and_nothing_else)
{
    struct rule_change change;
    const struct held_rule *held;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = rule_number(&s, 1);
    rule->budget = 3;
    rule->expires_ms = NOW + DAY_MS;
    rule->evidence = (struct rule_evidence){ .approved = 15, .last_ms = NOW - 100 };
    change = whole(RULE_SUGGEST, rule);
    (void)apply(&s, &change);

    rule->budget = 9000;
    rule->expires_ms = NOW + 300 * DAY_MS;
    rule->evidence = (struct rule_evidence){ .approved = 99, .last_ms = NOW - 101 };
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("suggested"));

    rule->evidence = (struct rule_evidence){ .approved = 20, .last_ms = NOW - 50 };
    change.by = S("other"); /* whose terms they are, his the evidence is */
    change.at_ms = NOW + 60;
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("suggested"));
    CHECK_STR(s.problem.field, S("payload.rule"));
    change.by = S("finder");
    held = apply(&s, &change);
    CHECK_INT(held->rule.evidence.approved, 20);
    CHECK_STR(held->rule.created_by, S("finder"));
    CHECK_INT(held->rule.created_ms, NOW + 60);
    CHECK_INT(held->rule.budget, 3);
    CHECK_INT(held->rule.expires_ms, NOW + DAY_MS);
    CHECK_INT(rulebook_count(s.book), 1);

    /* Evidence from the future does not keep the right one out. */
    rule->evidence = (struct rule_evidence){ .approved = 1, .last_ms = NOW + DAY_MS };
    (void)apply(&s, &change);
    rule->evidence = (struct rule_evidence){ .approved = 30, .last_ms = NOW };
    CHECK_INT(apply(&s, &change)->rule.evidence.approved, 30);

    /* Once it has expired, it is a new one. */
    change.by = S("other");
    change.at_ms = NOW + DAY_MS;
    held = apply(&s, &change);
    CHECK_STR(held->rule.created_by, S("other"));
    CHECK_INT(held->rule.budget, 9000);
    CHECK_INT(held->rule.expires_ms, NOW + 300 * DAY_MS);
    book_stage_close(&s);
}

TEST(a_declined_rule_is_not_suggested_again_for_thirty_days)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = rule_number(&s, 1);
    (void)put_in(&s, rule, RULE_DECLINED);
    change = whole(RULE_SUGGEST, rule);
    change.at_ms = NOW + RULEBOOK_DECLINED_DAYS * DAY_MS - 1;
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("declined"));
    change.at_ms = NOW - DAY_MS; /* nor where the clock is set back */
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    restart(&s);
    change.at_ms = NOW + RULEBOOK_DECLINED_DAYS * DAY_MS;
    CHECK_INT(apply(&s, &change)->rule.state, RULE_SUGGESTED);
    book_stage_close(&s);
}

/* --- accepting --- */

TEST(whoever_accepts_may_say_how_often_and_how_long)
{
    static const struct {
        uint64_t budget, expires_ms;
        enum err err;
        const char *field;
    } cases[] = {
        { 0, 0, OK, "" },
        { 1, 0, OK, "" },
        { RULE_BUDGET, 0, OK, "" },
        { RULE_BUDGET + 1, 0, ERR_MALFORMED_ENVELOPE, "payload.budget" },
        { 0, NOW + 1, OK, "" },
        { 0, NOW, ERR_MALFORMED_ENVELOPE, "payload.expires_at" },
        { 0, 1, ERR_MALFORMED_ENVELOPE, "payload.expires_at" },
        { 0, NOW + 366 * DAY_MS, OK, "" },
        { 0, NOW + 366 * DAY_MS + 1, ERR_MALFORMED_ENVELOPE, "payload.expires_at" },
        { 0, UINT64_MAX, ERR_MALFORMED_ENVELOPE, "payload.expires_at" },
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_change change;
        const struct held_rule *held;
        struct rule *rule;
        struct book_stage s;

        book_stage_open(&s);
        rule = rule_number(&s, 1);
        rule->budget = 7;
        (void)put_in(&s, rule, RULE_SUGGESTED);
        change = change_of(RULE_ACCEPT, rule->id);
        change.budget = c->budget;
        change.expires_ms = c->expires_ms;
        CHECK_INT(judge(&s, &change), c->err);
        CHECK_STR(s.problem.field, str_of(c->field));
        held = rulebook_apply(s.book, &change, NULL);
        if (!c->err) {
            CHECK_INT(held->rule.budget, c->budget ? c->budget : 7);
            CHECK_INT(held->rule.expires_ms,
                      c->expires_ms ? c->expires_ms : NOW + RULEBOOK_DAYS * DAY_MS);
            CHECK_STR(held->rule.accepted_by, S("ann"));
            CHECK_INT(held->rule.accepted_ms, NOW);
            CHECK_STR(held->rule.created_by, S("finder"));
        }
        book_stage_close(&s);
    }
}

TEST(what_has_expired_is_neither_accepted_as_it_is_nor_enabled)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = rule_number(&s, 1);
    (void)put_in(&s, rule, RULE_SUGGESTED);
    change = change_of(RULE_ACCEPT, rule->id);
    change.at_ms = NOW + 31 * DAY_MS;
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("expired"));
    change.expires_ms = change.at_ms + DAY_MS;
    CHECK_INT(apply(&s, &change)->rule.state, RULE_ACTIVE);
    change = change_of(RULE_DISABLE, rule->id);
    change.at_ms = NOW + 40 * DAY_MS; /* what has expired may be disabled */
    (void)apply(&s, &change);
    change.verb = RULE_ENABLE;
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("expired"));
    book_stage_close(&s);
}

TEST(accepting_less_makes_a_rule_of_its_own_and_declines_what_was_suggested)
{
    const struct held_rule *held, *declined = NULL;
    struct rule_change change;
    struct str id, wanted;
    struct rule *rule;
    struct book_stage s;
    char text[100];

    book_stage_open(&s);
    rule = make_rule(&s, PATHS);
    rule->evidence = (struct rule_evidence){ .approved = 15, .last_ms = NOW - 100 };
    (void)put_in(&s, rule, RULE_SUGGESTED);
    change = change_of(RULE_ACCEPT, rule->id);
    change.narrow = make_shape(&s, FEWER);
    change.budget = 2;
    change.at_ms = NOW + 5;
    CHECK_INT(judge(&s, &change), OK);
    held = rulebook_apply(s.book, &change, &declined);
    CHECK(held && declined && held != declined);
    CHECK_INT(rulebook_count(s.book), 2);
    id = arena_str(&s.arena, held->rule.id);
    CHECK_STR(id, make_rule(&s, FEWER)->id);
    CHECK_INT(held->rule.state, RULE_ACTIVE);
    CHECK_INT(held->rule.budget, 2);
    CHECK_INT(held->rule.evidence.approved, 0);
    CHECK_STR(held->rule.created_by, S("ann"));
    CHECK_STR(held->rule.accepted_by, S("ann"));
    (void)snprintf(text, sizeof(text), "narrowed from " STR_FMT, STR_ARG(rule->id));
    CHECK_STR(held->reason, str_of(text));
    CHECK_STR(declined->rule.id, rule->id);
    CHECK_INT(declined->rule.state, RULE_DECLINED);
    CHECK_INT(declined->rule.budget, 10);
    CHECK_STR(declined->changed_by, S("ann"));
    CHECK_INT(declined->changed_ms, NOW + 5);
    CHECK_STR(declined->rule.accepted_by, S(""));
    (void)snprintf(text, sizeof(text), "narrowed to " STR_FMT, STR_ARG(id));
    CHECK_STR(declined->reason, str_of(text));
    restart(&s);

    /* The same again: the narrower one is there and active. */
    CHECK_INT(judge(&s, &change), ERR_RULE_STATE);
    CHECK_STR(s.problem.field, S("payload.narrow"));
    CHECK_STR(str_of(s.problem.state), S("active"));
    wanted = S("because");
    change.reason = wanted;
    change.is_shadow = true;
    (void)apply(&s,
                &(struct rule_change){
                    .verb = RULE_DISABLE, .id = id, .by = S("ann"), .at_ms = NOW + 6 });
    held = apply(&s, &change);
    CHECK_STR(held->rule.id, id);
    CHECK_INT(held->rule.state, RULE_SHADOW);
    CHECK_STR(held->reason, wanted);
    CHECK_INT(rulebook_count(s.book), 2);

    /* All of what was suggested is no other rule. */
    change.narrow = make_shape(&s, PATHS);
    held = rulebook_apply(s.book, &change, &declined);
    CHECK_STR(held->rule.id, rule->id);
    CHECK(!declined);
    CHECK_INT(held->rule.state, RULE_SHADOW);
    CHECK_INT(held->rule.evidence.approved, 15);
    book_stage_close(&s);
}

TEST(nobody_accepts_more_than_was_suggested)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = make_rule(&s, FEWER);
    (void)put_in(&s, rule, RULE_SUGGESTED);
    change = change_of(RULE_ACCEPT, rule->id);
    change.narrow = make_shape(&s, PATHS);
    CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
    CHECK_STR(s.problem.field, S("payload.narrow"));
    CHECK(!rulebook_apply(s.book, &change, NULL));
    CHECK_INT(rulebook_find(s.book, rule->id)->rule.state, RULE_SUGGESTED);
    book_stage_close(&s);
}

TEST(an_objection_is_heard_whatever_its_words_are)
{
    const struct held_rule *held;
    struct rule_change change;
    char text[5000];
    struct str id;
    struct book_stage s;

    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    book_stage_open(&s);
    id = put_in(&s, rule_number(&s, 1), RULE_ACTIVE);
    change = change_of(RULE_SUSPEND, id);
    change.reason = (struct str){ text + 1, sizeof(text) - 2 };
    CHECK_INT(judge(&s, &change), OK);
    held = apply(&s, &change);
    CHECK_INT(held->rule.state, RULE_SUSPENDED);
    restart(&s);
    change = change_of(RULE_ENABLE, id);
    (void)apply(&s, &change);
    change = change_of(RULE_SUSPEND, id);
    change.reason = (struct str){ text, sizeof(text) };
    held = apply(&s, &change);
    CHECK_STR(held->reason, ((struct str){ text, RULE_NOTE }));
    restart(&s);
    change = change_of(RULE_ENABLE, id);
    (void)apply(&s, &change);
    change = change_of(RULE_SUSPEND, id);
    change.reason = S("no\n\x1b[2Jno");
    held = apply(&s, &change);
    CHECK_STR(held->reason, S("no\\n\\u001b[2Jno"));
    restart(&s);
    book_stage_close(&s);
}

/* --- use --- */

TEST(a_rule_is_used_for_what_it_covers_while_it_is_active)
{
    /* clang-format off */
    static const struct {
        enum rule_state state;
        const char *arguments;
        const char *by;
        uint64_t at_ms;
        enum err err;
        const char *says;
    } cases[] = {
        { RULE_ACTIVE,    "{\"n\":1}", "finder", NOW,               OK,             NULL },
        { RULE_ACTIVE,    "{\"n\":2}", "finder", NOW,               ERR_RULE_STATE, "active" },
        { RULE_ACTIVE,    "{\"n\":1}", "bot",    NOW,               ERR_FORBIDDEN,  NULL },
        { RULE_ACTIVE,    "{\"n\":1}", "finder", NOW + 30 * DAY_MS, ERR_RULE_STATE, "expired" },
        { RULE_SUGGESTED, "{\"n\":1}", "finder", NOW,               ERR_RULE_STATE, "suggested" },
        { RULE_SHADOW,    "{\"n\":1}", "finder", NOW,               ERR_RULE_STATE, "shadow" },
        { RULE_SUSPENDED, "{\"n\":1}", "finder", NOW,               ERR_RULE_STATE, "suspended" },
        { RULE_DISABLED,  "{\"n\":1}", "finder", NOW,               ERR_RULE_STATE, "disabled" },
        { RULE_DECLINED,  "{\"n\":1}", "finder", NOW,               ERR_RULE_STATE, "declined" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct rule_proposal p;
        struct rule_use u;
        struct book_stage s;

        book_stage_open(&s);
        p = proposal_of(&s, c->arguments);
        u = (struct rule_use){ .id = put_in(&s, rule_number(&s, 1), c->state),
                               .proposal = &p,
                               .by = str_of(c->by),
                               .at_ms = c->at_ms };
        CHECK_INT(rulebook_may_use(s.book, &u, &s.problem), c->err);
        CHECK_STR(str_of(s.problem.state), str_of(c->says));
        if (c->err)
            CHECK(s.problem.what && *s.problem.what);
        if (c->arguments[5] == '2') {
            CHECK_STR(str_of(s.problem.miss.path), S("arguments.n"));
            CHECK_STR(str_of(s.problem.miss.what), S("is another value"));
        }
        CHECK(rulebook_next_covering(s.book, NULL, &p, c->at_ms) ==
              (c->err == OK || c->err == ERR_FORBIDDEN ? rulebook_find(s.book, u.id)
                                                       : NULL));
        p.topic = S("other");
        CHECK(rulebook_may_use(s.book, &u, NULL) != OK);
        u.id = S("r-none");
        CHECK_INT(rulebook_may_use(s.book, &u, NULL), ERR_NOT_FOUND);
        rulebook_use(s.book, &u); /* nothing */
        book_stage_close(&s);
    }
}

TEST(all_rules_that_cover_a_proposal_are_found)
{
    const struct held_rule *at = NULL;
    struct rule_change change;
    struct rule_proposal p;
    struct rule *rule;
    struct book_stage s;
    size_t count = 0;

    book_stage_open(&s);
    (void)put_in(&s, make_rule(&s, "{\"n\":{\"between\":[1,9]}}"), RULE_ACTIVE);
    (void)put_in(&s, make_rule(&s, "{\"n\":{\"between\":[2,9]}}"), RULE_ACTIVE);
    (void)put_in(&s, make_rule(&s, "{\"n\":{\"between\":[1,8]}}"), RULE_SHADOW);
    rule = make_rule(&s, "{\"n\":{\"between\":[0,9]}}");
    rule->id = S("by-hand");
    change = whole(RULE_ADD, rule);
    (void)apply(&s, &change);
    p = proposal_of(&s, "{\"n\":1}");
    while ((at = rulebook_next_covering(s.book, at, &p, NOW)))
        count++;
    CHECK_INT(count, 2);
    book_stage_close(&s);
}
