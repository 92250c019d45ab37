/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "book_stage.h"
#include "harness.h"

enum { TEXT = 1 << 20 };

/* --- the hour --- */

static struct str active_with(struct book_stage *s, uint64_t budget)
{
    struct rule *rule = rule_number(s, 1);

    rule->budget = budget;
    return put_in(s, rule, RULE_ACTIVE);
}

TEST(a_budget_is_what_any_hour_has)
{
    const struct held_rule *held;
    uint64_t free_ms;
    struct book_stage s;
    struct str id;

    book_stage_open(&s);
    id = active_with(&s, 3);
    CHECK(use(&s, id, NOW + 59'999));
    CHECK(use(&s, id, NOW + 20 * 60'000));
    CHECK(use(&s, id, NOW + 20 * 60'000));
    CHECK(!use(&s, id, NOW + 21 * 60'000));
    CHECK_STR(str_of(s.problem.state), S("used up"));
    held = rulebook_find(s.book, id);
    CHECK_INT(held->uses, 3);
    CHECK_INT(held->last_use_ms, NOW + 20 * 60'000);
    CHECK_INT(held_rule_used(held, NOW + 21 * 60'000), 3);
    free_ms = held_rule_free_ms(held, NOW + 21 * 60'000);
    CHECK(free_ms >= NOW + 59'999 + HOUR_MS &&
          free_ms <= NOW + 59'999 + HOUR_MS + 60'000);
    restart(&s);
    CHECK(!use(&s, id, NOW + HOUR_MS + 59'998));
    CHECK(!use(&s, id, free_ms - 1));
    CHECK(use(&s, id, free_ms));
    CHECK(!use(&s, id, free_ms));
    held = rulebook_find(s.book, id);
    CHECK_INT(held_rule_used(held, NOW + 3 * HOUR_MS), 0);
    CHECK_INT(held_rule_free_ms(held, NOW + 3 * HOUR_MS), 0);
    restart(&s);
    book_stage_close(&s);
}

TEST(a_clock_that_is_set_back_frees_nothing)
{
    const struct held_rule *held;
    struct book_stage s;
    struct str id;

    book_stage_open(&s);
    id = active_with(&s, 3);
    CHECK(use(&s, id, NOW + DAY_MS));
    CHECK(use(&s, id, NOW)); /* counts where the other does */
    CHECK(use(&s, id, NOW + HOUR_MS + 120'000));
    CHECK(!use(&s, id, NOW + 2 * HOUR_MS + 600'000));
    restart(&s);
    CHECK(!use(&s, id, NOW));
    CHECK(!use(&s, id, NOW + DAY_MS + HOUR_MS - 1));
    held = rulebook_find(s.book, id);
    CHECK_INT(held->last_use_ms, NOW + DAY_MS);
    CHECK_INT(held_rule_used(held, NOW), 3);
    CHECK_INT(held_rule_free_ms(held, NOW), NOW + DAY_MS + HOUR_MS + 60'000);
    CHECK(use(&s, id, NOW + DAY_MS + HOUR_MS + 60'000));
    book_stage_close(&s);
}

TEST(no_change_of_a_rule_frees_its_hour)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;
    struct str id;

    book_stage_open(&s);
    id = active_with(&s, 2);
    CHECK(use(&s, id, NOW) && use(&s, id, NOW) && !use(&s, id, NOW));
    change = change_of(RULE_SUSPEND, id);
    (void)apply(&s, &change);
    change = change_of(RULE_ENABLE, id);
    (void)apply(&s, &change);
    CHECK(!use(&s, id, NOW));
    change = change_of(RULE_DISABLE, id);
    (void)apply(&s, &change);
    rule = rule_number(&s, 1);
    rule->budget = 3;
    change = whole(RULE_ADD, rule);
    CHECK_INT(apply(&s, &change)->uses, 2);
    CHECK(use(&s, id, NOW) && !use(&s, id, NOW));
    book_stage_close(&s);
}

TEST(a_narrower_rule_has_the_hour_of_its_own_name)
{
    const char *arguments = "{\"p\":\"/srv/app/lib/x\"}";
    const struct held_rule *held;
    struct rule_change change;
    struct book_stage s;
    struct rule *rule;
    struct str id;

    book_stage_open(&s);
    rule = make_rule(&s, FEWER);
    rule->budget = 1;
    id = put_in(&s, rule, RULE_ACTIVE);
    CHECK_INT(may_use(&s, id, arguments, NOW), OK);
    rulebook_use(s.book, &(struct rule_use){ .id = id, .at_ms = NOW });
    change = change_of(RULE_DISABLE, id);
    (void)apply(&s, &change);
    rule = make_rule(&s, PATHS);
    rule->budget = 1;
    (void)put_in(&s, rule, RULE_SUGGESTED);
    rulebook_use(s.book, &(struct rule_use){ .id = rule->id, .at_ms = NOW });
    change = change_of(RULE_ACCEPT, rule->id);
    change.narrow = make_shape(&s, FEWER);
    held = apply(&s, &change);
    CHECK_STR(held->rule.id, id);
    CHECK_INT(held->uses, 1);
    CHECK_INT(may_use(&s, id, arguments, NOW), ERR_RULE_STATE);
    CHECK_STR(str_of(s.problem.state), S("used up"));

    /* A new name has never been used. */
    change.narrow = make_shape(&s, "{\"p\":{\"exactly\":\"/srv/app/lib/x\"}}");
    held = apply(&s, &change);
    CHECK_INT(held->uses, 0);
    CHECK_INT(held->last_use_ms, 0);
    CHECK_INT(may_use(&s, held->rule.id, arguments, NOW), OK);
    book_stage_close(&s);
}

TEST(within_any_hour_there_is_never_more_than_the_budget)
{
    enum { USES = 400 };
    uint64_t times[USES];
    size_t count = 0;
    struct book_stage s;
    struct str id;

    book_stage_open(&s);
    id = active_with(&s, 17);
    for (uint64_t at = NOW; count < USES; at += 1'000 + at / 7 % 97'000)
        if (use(&s, id, at))
            times[count++] = at;
    for (size_t i = 17; i < USES; i++)
        CHECK(times[i] - times[i - 17] >= HOUR_MS);
    book_stage_close(&s);
}

/* --- bounds --- */

TEST(programs_leave_room_for_people)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    for (unsigned i = 0; i < RULEBOOK_SUGGESTED; i++)
        (void)put_in(&s, rule_number(&s, i), RULE_SUGGESTED);
    change = whole(RULE_SUGGEST, rule_number(&s, 1000));
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    CHECK(!rulebook_apply(s.book, &change, NULL));
    change = whole(RULE_SUGGEST, rule_number(&s, 5)); /* again */
    CHECK_INT(judge(&s, &change), OK);
    for (unsigned i = RULEBOOK_SUGGESTED; i < RULEBOOK_RULES; i++) {
        rule = rule_number(&s, i);
        change = whole(RULE_ADD, rule);
        (void)apply(&s, &change);
    }
    change = whole(RULE_ADD, rule_number(&s, 1000));
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    CHECK_INT(rulebook_count(s.book), RULEBOOK_RULES);
    restart(&s);

    /* What was suggested and has expired makes room; whoever keeps the book hears it. */
    change = whole(RULE_SUGGEST, rule_number(&s, 1000));
    change.at_ms = NOW + 30 * DAY_MS;
    (void)apply(&s, &change);
    CHECK_INT(rulebook_count(s.book), RULEBOOK_RULES);
    CHECK(rulebook_next_dropped(s.book, NULL) != NULL);
    CHECK(!rulebook_find(s.book, rulebook_next_dropped(s.book, NULL)->rule.id));
    CHECK(!rulebook_next_dropped(s.book, rulebook_next_dropped(s.book, NULL)));
    book_stage_close(&s);
}

TEST(what_was_declined_makes_room_in_a_full_book)
{
    struct rule_change change;
    const struct held_rule *dropped;
    struct rule *rule, *first;
    struct book_stage s;

    book_stage_open(&s);
    first = rule_number(&s, 0);
    for (unsigned i = 0; i < RULEBOOK_RULES; i++) {
        rule = rule_number(&s, i);
        (void)put_in(&s, rule, RULE_SUGGESTED);
        change = change_of(i < 2 ? RULE_DECLINE : RULE_ACCEPT, rule->id);
        change.at_ms = NOW + i;
        (void)apply(&s, &change);
    }
    change = whole(RULE_SUGGEST, rule_number(&s, 1000));
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE); /* it is too fresh a no */
    change.at_ms = NOW + 30 * DAY_MS - 1;
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    change = whole(RULE_ADD, rule_number(&s, 1001));
    (void)apply(&s, &change);
    dropped = rulebook_next_dropped(s.book, NULL);
    CHECK(dropped && str_eq(dropped->rule.id, first->id));
    CHECK(!rulebook_next_dropped(s.book, dropped));
    CHECK(!rulebook_find(s.book, first->id));
    CHECK_INT(rulebook_count(s.book), RULEBOOK_RULES);
    change = change_of(RULE_DISABLE, change.rule->id);
    (void)apply(&s, &change);
    CHECK(!rulebook_next_dropped(s.book, NULL)); /* it was the last change's */
    restart(&s);
    change = whole(RULE_SUGGEST, rule_number(&s, 1000));
    change.at_ms = NOW + 30 * DAY_MS + 1;
    (void)apply(&s, &change);
    CHECK(rulebook_next_dropped(s.book, NULL) != NULL);
    change = whole(RULE_SUGGEST, rule_number(&s, 1002));
    change.at_ms = NOW + 30 * DAY_MS + 1;
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    book_stage_close(&s);
}

/* A rule of about so many bytes, which differs by the number. */
static struct rule *large_rule(struct book_stage *s, unsigned number, size_t bytes)
{
    struct rule *rule;
    char filler[400];
    struct buf text;

    memset(filler, 'x', sizeof(filler));
    buf_init(&text, TEXT);
    buf_putf(&text, "{\"n\":{\"exactly\":%u}", number);
    for (unsigned i = 0; text.len < bytes && i < SHAPE_MEMBERS - 1; i++) {
        buf_putf(&text, ",\"m%u\":{\"one_of\":[", i);
        for (unsigned k = 0; k < SHAPE_VALUES - 2 && text.len < bytes; k++) {
            buf_putf(&text, "%s\"%u", k ? "," : "", k);
            buf_put(&text, (struct str){ filler, sizeof(filler) });
            buf_putc(&text, '"');
        }
        buf_put(&text, S(",1,2]}"));
        if (text.len >= bytes)
            break;
    }
    buf_putc(&text, '}');
    rule = make_rule(s, buf_cstr(&text));
    buf_done(&text);
    return rule;
}

TEST(the_bytes_of_a_book_are_bounded)
{
    enum { LARGE = 55 << 10 };
    struct rule_change change;
    unsigned suggested = 0, added = 0;
    struct book_stage s;

    book_stage_open(&s);
    change = whole(RULE_SUGGEST, large_rule(&s, 0, RULEBOOK_TEXT - 1000));
    CHECK_INT(judge(&s, &change), ERR_MALFORMED_ENVELOPE);
    CHECK_STR(s.problem.field, S("payload.rule"));
    for (;; suggested++) {
        change = whole(RULE_SUGGEST, large_rule(&s, suggested, LARGE));
        if (judge(&s, &change))
            break;
        (void)rulebook_apply(s.book, &change, NULL);
    }
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    CHECK(suggested * LARGE <= RULEBOOK_BYTES / 2 && suggested * LARGE > 1 << 20);
    for (;; added++) {
        change = whole(RULE_ADD, large_rule(&s, 1000 + added, LARGE));
        if (judge(&s, &change))
            break;
        (void)rulebook_apply(s.book, &change, NULL);
    }
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    CHECK((suggested + added) * LARGE <= RULEBOOK_BYTES);
    CHECK((suggested + added) * LARGE > 3 << 20);

    /* Whatever is said about them finds room, here and after a restart. */
    for (const struct held_rule *at = NULL; (at = rulebook_next(s.book, at));) {
        struct rule_change no = change_of(RULE_SUSPEND, at->rule.id);

        if (at->rule.state != RULE_ACTIVE)
            continue;
        no.reason = arena_str(&s.arena, change.rule->arguments->first->values[0]);
        at = rulebook_apply(s.book, &no, NULL);
        CHECK(at && at->rule.state == RULE_SUSPENDED);
        if (!at)
            break;
    }
    restart(&s);
    book_stage_close(&s);
}

TEST(accepting_less_needs_room_for_another)
{
    struct rule_change change;
    struct rule *rule;
    struct book_stage s;

    book_stage_open(&s);
    rule = make_rule(&s, PATHS);
    (void)put_in(&s, rule, RULE_SUGGESTED);
    for (unsigned i = 1; i < RULEBOOK_RULES; i++) {
        change = whole(RULE_ADD, rule_number(&s, i));
        (void)apply(&s, &change);
    }
    change = change_of(RULE_ACCEPT, rule->id);
    CHECK_INT(judge(&s, &change), OK);
    change.narrow = make_shape(&s, FEWER);
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);

    /* What was declined makes it, but for what is narrowed, be it the oldest. */
    change.verb = RULE_DECLINE;
    change.at_ms = NOW - 1;
    (void)apply(&s, &change);
    change.verb = RULE_ACCEPT;
    CHECK_INT(judge(&s, &change), ERR_UNAVAILABLE);
    (void)apply(
        &s, &(struct rule_change){ .verb = RULE_REMOVE, .id = rule_number(&s, 1)->id });
    (void)put_in(&s, rule_number(&s, 1), RULE_DECLINED);
    (void)apply(&s, &change);
    CHECK_INT(rulebook_count(s.book), RULEBOOK_RULES);
    CHECK(!rulebook_find(s.book, rule_number(&s, 1)->id));
    CHECK_INT(rulebook_find(s.book, rule->id)->rule.state, RULE_DECLINED);
    restart(&s);
    book_stage_close(&s);
}

/* --- keeping --- */

TEST(a_rule_is_kept_with_all_that_is_known_of_it)
{
    struct rule_change change;
    struct buf text;
    struct book_stage s;
    struct str id;

    book_stage_open(&s);
    id = active_with(&s, 5);
    CHECK(use(&s, id, NOW) && use(&s, id, NOW + 60'000) && use(&s, id, NOW + 60'000));
    change = change_of(RULE_SUSPEND, id);
    change.reason = S("not \"this\" one");
    change.at_ms = NOW + 120'000;
    (void)apply(&s, &change);
    buf_init(&text, TEXT);
    put_held(&text, rulebook_find(s.book, id));
    CHECK_STR(
        buf_str(&text),
        S("{\"rule\":{\"id\":\"r-bcaa053c26847801b9c338cc6fcb61b1\",\"topic\":\"room\","
          "\"state\":\"suspended\",\"proposer\":\"bot\",\"method\":\"tools/call\","
          "\"tool\":\"deploy\",\"arguments\":{\"n\":{\"exactly\":1}},\"budget\":5,"
          "\"expires_at\":\"2027-02-14T08:00:00.000Z\","
          "\"created_at\":\"2027-01-15T08:00:00.000Z\",\"created_by\":\"finder\","
          "\"accepted_at\":\"2027-01-15T08:00:00.000Z\",\"accepted_by\":\"ann\"},"
          "\"changed_by\":\"ann\",\"changed_at\":\"2027-01-15T08:02:00.000Z\","
          "\"reason\":\"not \\\"this\\\" one\",\"uses\":3,"
          "\"last_use\":\"2027-01-15T08:01:00.000Z\","
          "\"minute\":\"2027-01-15T08:01:00.000Z\",\"by_minute\":[2,1]}"));
    buf_done(&text);
    restart(&s);
    CHECK_INT(held_rule_used(rulebook_find(s.book, id), NOW + 120'000), 3);
    book_stage_close(&s);
}

#define KEPT_RULE                                                                  \
    "\"rule\":{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"tools/call\"," \
    "\"tool\":\"t\",\"arguments\":{}}"
#define MINUTE "\"minute\":\"2027-01-15T08:01:00Z\""
#define TEN    "0,0,0,0,0,0,0,0,0,0,"

TEST(what_was_not_kept_like_this_is_refused)
{
    static const struct {
        struct str text;
        enum err err;
    } cases[] = {
        { S("{" KEPT_RULE "}"), OK },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[65535]}"), OK },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[" TEN TEN TEN TEN TEN TEN "1]}"),
          OK },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[" TEN TEN TEN TEN TEN TEN "1,1]}"),
          ERR_INVALID },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[65536]}"), ERR_INVALID },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[-1]}"), ERR_INVALID },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":[1.5]}"), ERR_INVALID },
        { S("{" KEPT_RULE "," MINUTE ",\"by_minute\":{}}"), ERR_INVALID },
        { S("{" KEPT_RULE "," MINUTE "}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"by_minute\":[1]}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"minute\":\"1970-01-01T00:00:00Z\",\"by_minute\":[1]}"),
          ERR_INVALID },
        { S("{" KEPT_RULE ",\"minute\":\"soon\",\"by_minute\":[1]}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"uses\":18446744073709551615}"), OK },
        { S("{" KEPT_RULE ",\"uses\":18446744073709551616}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"uses\":\"1\"}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"last_use\":\"\"}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"changed_at\":1}"), ERR_INVALID },
        { S("{" KEPT_RULE ",\"reason\":\"a\\u001bb\"}"), OK },
        { S("{" KEPT_RULE ",\"other\":1}"), ERR_INVALID },
        { S("{" KEPT_RULE "," KEPT_RULE "}"), ERR_INVALID },
        { S("{}"), ERR_INVALID },
        { S("[]"), ERR_INVALID },
        { S("null"), ERR_INVALID },
        { S(""), ERR_INVALID },
        { S("{\"rule\":1}"), ERR_INVALID },
        { S("{\"rule\":{\"topic\":\"other\",\"proposer\":\"bot\",\"method\":\"m\","
            "\"arguments\":{}}}"),
          ERR_INVALID },
        { S("{\"rule\":{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"m\","
            "\"arguments\":{},\"state\":\"free\"}}"),
          ERR_INVALID },
        { S("{\"rule\":{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"m\","
            "\"arguments\":{\"a\":{\"under\":\"/\",\"characters\":\"a-z\","
            "\"max_bytes\":9}}}}"),
          ERR_INVALID },
        { S("{" KEPT_RULE ",\"reason\":\"\xff\"}"), ERR_UTF8 },
        { S("{" KEPT_RULE), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct book_stage s;

        book_stage_open(&s);
        CHECK_INT(rulebook_restore(s.book, c->text), c->err);
        CHECK_INT(rulebook_count(s.book), c->err ? 0 : 1);
        if (!c->err)
            restart(&s);
        if (!c->err)
            CHECK_INT(rulebook_restore(s.book, c->text), ERR_INVALID); /* twice */
        book_stage_close(&s);
    }
}

TEST(what_is_too_long_or_one_too_many_does_not_come_back)
{
    struct buf text;
    struct book_stage s;

    book_stage_open(&s);
    buf_init(&text, TEXT);
    buf_put(&text, S("{" KEPT_RULE ",\"reason\":\""));
    for (int i = 0; i < RULE_NOTE; i++)
        buf_putc(&text, 'x');
    buf_put(&text, S("\"}"));
    CHECK_INT(rulebook_restore(s.book, buf_str(&text)), OK);
    text.len -= 2;
    buf_put(&text, S("x\"}"));
    CHECK_INT(rulebook_restore(s.book, buf_str(&text)), ERR_INVALID);
    buf_clear(&text);
    buf_put(&text, S("{" KEPT_RULE));
    while (text.len < RULEBOOK_TEXT)
        buf_putc(&text, ' ');
    buf_putc(&text, '}');
    CHECK_INT(rulebook_restore(s.book, buf_str(&text)), ERR_TOO_BIG);

    /* Of the ones that are too many, those declined go first. */
    for (int i = 1; i <= RULEBOOK_RULES; i++) {
        buf_clear(&text);
        buf_putf(&text,
                 "{\"rule\":{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"m\","
                 "\"state\":\"%s\",\"arguments\":{\"a\":{\"exactly\":%d}}}}",
                 i == 7 ? "declined" : "active", i);
        CHECK_INT(rulebook_restore(s.book, buf_str(&text)), OK);
    }
    CHECK_INT(rulebook_count(s.book), RULEBOOK_RULES);
    for (const struct held_rule *at = NULL; (at = rulebook_next(s.book, at));)
        CHECK(at->rule.state != RULE_DECLINED);
    buf_clear(&text);
    buf_put(&text,
            S("{\"rule\":{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"m\","
              "\"arguments\":{\"a\":{\"exactly\":999}}}}"));
    CHECK_INT(rulebook_restore(s.book, buf_str(&text)), ERR_OVERLOAD);
    buf_done(&text);
    book_stage_close(&s);
}

TEST(rules_stand_in_the_order_in_which_they_were_made)
{
    const struct held_rule *at = NULL;
    struct rule_change change;
    uint64_t last_ms = 0;
    struct book_stage s;

    book_stage_open(&s);
    for (unsigned i = 0; i < 20; i++) {
        change = whole(RULE_SUGGEST, rule_number(&s, i));
        change.at_ms = NOW + i * 7 % 5 * 1000;
        (void)apply(&s, &change);
    }
    restart(&s);
    while ((at = rulebook_next(s.book, at))) {
        CHECK(at->rule.created_ms >= last_ms);
        last_ms = at->rule.created_ms;
    }
    book_stage_close(&s);
}
