/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of the learner's memory, and what it forgets. What it learns: histories. */
#include <stdio.h>

#include "harness.h"
#include "rules/learner.h"

enum { ROOM = 16 << 20, DAY = 86'400'000 };

static enum err note(struct learner *learner, unsigned number, struct str arguments,
                     enum decision_verdict verdict, uint64_t at_ms)
{
    struct decision d = { .verdict = verdict,
                          .origin = DECIDED_BY_PERSON,
                          .by = S("ann"),
                          .at_ms = at_ms,
                          .proposal = { .topic = S("room"),
                                        .proposer = S("bot"),
                                        .method = S("tools/call"),
                                        .tool = S("t") } };
    struct arena arena;
    char id[32];
    enum err err;

    (void)snprintf(id, sizeof(id), "p%u", number);
    d.id = str_of(id);
    arena_init(&arena, ROOM);
    CHECK_INT(json_parse(arguments, &arena, &d.proposal.arguments, NULL), OK);
    err = learner_note(learner, &d);
    arena_done(&arena);
    return err;
}

TEST(memory_is_bounded_and_given_back)
{
    struct learner_options options = learner_options_default();
    struct learner *learner;
    struct learner_counts counts;

    options.max_examples = 10;
    options.max_groups = 2;
    options.max_bytes = 8000;
    learner = learner_new(&options);
    for (unsigned i = 0; i < 30; i++)
        CHECK_INT(note(learner, i, S("{\"a\":1}"), DECISION_APPROVED, i), OK);
    CHECK_INT(learner_count(learner).approved, 10);
    CHECK_INT(note(learner, 30, S("{\"b\":1}"), DECISION_APPROVED, 30), OK);
    CHECK_INT(note(learner, 31, S("{\"c\":1}"), DECISION_APPROVED, 31), ERR_OVERLOAD);
    CHECK(!learner_count(learner).is_blind); /* an approval is no loss */
    for (unsigned i = 40; i < 80; i++)
        (void)note(learner, i, S("{\"b\":\"0123456789012345678901234567890123456789\"}"),
                   DECISION_APPROVED, i);
    counts = learner_count(learner);
    CHECK_INT(counts.groups, 2);
    CHECK(counts.bytes <= options.max_bytes);
    learner_forget(learner, 1000 * (uint64_t)DAY);
    counts = learner_count(learner);
    CHECK_INT(counts.groups + counts.approved + counts.rejected + counts.bytes, 0);
    learner_free(learner);
    learner_free(NULL);
}

TEST(rejections_are_remembered_longer)
{
    struct learner_options options = learner_options_default();
    struct learner *learner = learner_new(&options);

    CHECK_INT(note(learner, 1, S("{}"), DECISION_APPROVED, DAY), OK);
    CHECK_INT(note(learner, 2, S("{}"), DECISION_REJECTED, DAY), OK);
    learner_forget(learner, 91 * (uint64_t)DAY);
    CHECK_INT(learner_count(learner).approved, 1);
    learner_forget(learner, 92 * (uint64_t)DAY);
    CHECK_INT(learner_count(learner).approved, 0);
    CHECK_INT(learner_count(learner).rejected, 1);
    learner_forget(learner, 367 * (uint64_t)DAY);
    CHECK_INT(learner_count(learner).groups, 0);
    learner_free(learner);
}

TEST(what_cannot_be_in_a_rule_is_not_remembered)
{
    static const struct str cases[] = {
        S("{\"a\":{\"b\":{\"c\":{\"d\":1}}}}"),
        S("{\"a\\u202e\":1}"),
        S("{\"<<\":1}"),
        S("{\"\":1}"),
        S("{\"a\":1e999999}"),
        S("{\"a\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}"),
    };
    struct learner_options options = learner_options_default();
    struct learner *learner = learner_new(&options);

    FOR_EACH_CASE(c, cases)
        CHECK_INT(note(learner, 1, *c, DECISION_APPROVED, 1), ERR_INVALID);
    CHECK_INT(learner_count(learner).groups, 0);
    learner_free(learner);
}
