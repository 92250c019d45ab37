/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/marks.h"
#include "base/cleanup.h"
#include "harness.h"

static const struct audit_record record = {
    .event = AUDIT_ENVELOPE,
    .topic = S("room"),
    .participant = S("ann"),
    .kind = S("mcp/request:tools/call:read"),
    .id = S("1"),
    .correlation = S("2"),
    .verdict = S("allowed"),
};

static bool holds(struct str marks, struct str mark)
{
    while (marks.len) {
        struct str one = str_cut(&marks, ' ');

        if (str_eq(one, mark))
            return true;
    }
    return false;
}

/* All marks of the question are among those of the record. */
static bool finds(const struct audit_query *query)
{
    struct buf asked, has;
    struct str rest;
    bool found = true;

    buf_init(&asked, 4096);
    buf_init(&has, 4096);
    audit_query_marks(query, &asked);
    audit_marks(&record, &has);
    rest = buf_str(&asked);
    while (rest.len)
        found = holds(buf_str(&has), str_cut(&rest, ' ')) && found;
    buf_done(&asked);
    buf_done(&has);
    return found;
}

TEST(a_record_has_the_marks_of_every_question_that_it_fits)
{
    static const struct {
        struct audit_query query;
        bool fits;
    } cases[] = {
        { {}, true },
        { { .event = S("envelope") }, true },
        { { .event = S("refusal") }, false },
        { { .topic = S("room") }, true },
        { { .topic = S("ann") }, false },
        { { .topic = S("") }, false },
        { { .participant = S("ann") }, true },
        { { .participant = S("room") }, false },
        { { .verdict = S("allowed") }, true },
        { { .verdict = S("allowe") }, false },
        { { .kind = S("mcp/request:tools/call:read") }, true },
        { { .kind = S("mcp/request:tools/call") }, false },
        { { .kind = S("*") }, true },
        { { .kind = S("m*") }, true },
        { { .kind = S("mcp/*") }, true },
        { { .kind = S("mcp/req*") }, true },
        { { .kind = S("mcp/res*") }, true }, /* a candidate */
        { { .kind = S("mcp/request:*") }, true },
        { { .kind = S("mcp/response:*") }, false },
        { { .kind = S("mcp/request:tools/call:*") }, true },
        { { .kind = S("chat/*") }, false },
        { { .topic = S("room"), .verdict = S("paused") }, false },
        { { .topic = S("room"), .verdict = S("allowed"), .kind = S("mcp/*") }, true },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(finds(&c->query), c->fits);
}

TEST(an_id_and_what_answers_it_share_a_mark)
{
    char space[AUDIT_MARK];
    struct buf has;

    buf_init(&has, 4096);
    audit_marks(&record, &has);
    CHECK(holds(buf_str(&has), audit_link_mark(S("1"), space)));
    CHECK(holds(buf_str(&has), audit_link_mark(S("2"), space)));
    CHECK(!holds(buf_str(&has), audit_link_mark(S("3"), space)));
    CHECK(!holds(buf_str(&has), audit_link_mark(S(""), space)));
    buf_done(&has);
}

/* Indexes are kept: another hash would find nothing in them. */
TEST(marks_stay_what_they_are)
{
    char space[AUDIT_MARK];

    CHECK_STR(audit_link_mark(S("1"), space), S(":i746f967b5138"));
}
