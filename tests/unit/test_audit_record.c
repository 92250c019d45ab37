/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/record.h"
#include "harness.h"

TEST(an_event_has_a_name_and_the_name_gives_the_event)
{
    for (enum audit_event e = 0; e < AUDIT_EVENT_COUNT; e++) {
        enum audit_event found = AUDIT_EVENT_COUNT;

        CHECK(audit_event_name(e).len > 0);
        CHECK_INT(audit_event_parse(audit_event_name(e), &found), OK);
        CHECK_INT(found, e);
    }
    CHECK_STR(audit_event_name(AUDIT_RETENTION), S("retention"));
}

TEST(what_is_no_event_is_not_found)
{
    static const struct str cases[] = { S(""), S("Envelope"), S("envelop"),
                                        S("envelopes") };
    enum audit_event found = AUDIT_DROP;

    FOR_EACH_CASE(c, cases)
        CHECK_INT(audit_event_parse(*c, &found), ERR_NOT_FOUND);
    CHECK_INT(found, AUDIT_DROP);
}

TEST(the_texts_are_reached_by_number)
{
    struct audit_record record = { .topic = S("t"), .correlation = S("c"), .by = S("b") };

    CHECK_STR(audit_text_of(&record, AUDIT_TEXT_topic), S("t"));
    CHECK_STR(audit_text_of(&record, AUDIT_TEXT_correlation), S("c"));
    CHECK_STR(audit_text_of(&record, AUDIT_TEXT_by), S("b"));
    *audit_text(&record, AUDIT_TEXT_verdict) = S("v");
    CHECK_STR(record.verdict, S("v"));
    CHECK_STR(audit_text_name(AUDIT_TEXT_correlation), S("correlation_id"));
}

TEST(a_body_is_removed_where_its_length_is_left)
{
    CHECK(!audit_body_is_removed(&(struct audit_record){}));
    CHECK(!audit_body_is_removed(
        &(struct audit_record){ .body = S("1"), .body_bytes = 1 }));
    CHECK(audit_body_is_removed(&(struct audit_record){ .body_bytes = 1 }));
}
