/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/query.h"
#include "harness.h"

static const struct audit_record record = {
    .seq = 5,
    .at_ms = 1000,
    .event = AUDIT_REFUSAL,
    .topic = S("room"),
    .participant = S("ann"),
    .kind = S("mcp/request:tools/call"),
    .verdict = S("rate_limited"),
    .body = S("{\"text\":\"Hello World\",\"n\":12}"),
};

TEST(all_that_is_given_must_hold)
{
    static const struct {
        struct audit_query query;
        bool fits;
    } cases[] = {
        { {}, true },
        { { .since_ms = 1000 }, true },
        { { .since_ms = 1001 }, false },
        { { .until_ms = 1000 }, false },
        { { .until_ms = 1001 }, true },
        { { .event = S("refusal") }, true },
        { { .event = S("envelope") }, false },
        { { .event = S("nonsense") }, false },
        { { .topic = S("room") }, true },
        { { .topic = S("roo") }, false },
        { { .topic = S("") }, false },
        { { .participant = S("ann") }, true },
        { { .participant = S("bob") }, false },
        { { .kind = S("mcp/request:tools/call") }, true },
        { { .kind = S("mcp/request") }, false },
        { { .kind = S("mcp/request*") }, true },
        { { .kind = S("*") }, true },
        { { .kind = S("chat*") }, false },
        { { .verdict = S("rate_limited") }, true },
        { { .verdict = S("allowed") }, false },
        { { .text = S("hello") }, true },
        { { .text = S("WORLD 12") }, true },
        { { .text = S("text wor*") }, true },
        { { .text = S("wor") }, false },
        { { .text = S("hello mars") }, false },
        { { .text = S("hello*") }, true },
        { { .text = S("") }, false },
        { { .text = S("!?") }, false },
        { { .topic = S("room"), .participant = S("bob") }, false },
        { { .thread = S("x"), .after_seq = 9 }, true },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(audit_query_fits(&c->query, &record), c->fits);
}

TEST(a_removed_body_has_no_words)
{
    struct audit_record removed = record;

    removed.body = (struct str){};
    CHECK(!audit_query_fits(&(struct audit_query){ .text = S("hello") }, &removed));
    CHECK(audit_query_fits(&(struct audit_query){ .topic = S("room") }, &removed));
}

TEST(a_question_has_so_many_words_and_no_more)
{
    struct audit_terms terms;
    char text[2 * AUDIT_MAX_WORDS + 2];

    for (size_t i = 0; i < sizeof(text); i += 2)
        memcpy(text + i, "n ", 2);
    CHECK_INT(audit_terms_parse((struct str){ text, 2 * AUDIT_MAX_WORDS }, &terms), OK);
    CHECK_INT(terms.count, AUDIT_MAX_WORDS);
    CHECK_INT(audit_terms_parse((struct str){ text, sizeof(text) }, &terms), ERR_TOO_BIG);
    CHECK_INT(audit_terms_parse(S("*"), &terms), ERR_INVALID);
    CHECK_INT(audit_terms_parse(S("Foo*"), &terms), OK);
    CHECK(terms.items[0].is_prefix);
    CHECK_STR(((struct str){ terms.items[0].space, terms.items[0].len }), S("foo"));
    CHECK(!audit_query_fits(&(struct audit_query){ .text = { text, sizeof(text) } },
                            &record));
}
