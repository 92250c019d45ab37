/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "cli/replay.h"
#include "harness.h"

#define NOW UINT64_C(1'800'000'000'000) /* 2027-01-15T08:00:00Z */

static struct audit_record envelope(const char *who, const char *kind, const char *id,
                                    const char *correlation, const char *body)
{
    return (struct audit_record){
        .at_ms = NOW,
        .event = AUDIT_ENVELOPE,
        .topic = S("room"),
        .participant = str_of(who),
        .kind = str_of(kind),
        .id = str_of(id),
        .correlation = str_of(correlation),
        .verdict = S("allowed"),
        .body = body ? str_of(body) : (struct str){},
        .body_bytes = body ? strlen(body) : 0,
    };
}

TEST(what_is_replayed_looks_the_same_and_does_nothing)
{
    static const struct {
        const char *kind;
        struct str replayed;
    } cases[] = {
        { "chat", S("chat") },
        { "mcp/request:tools/call:rm", S("replay/mcp/request") },
        { "mcp/proposal:tools/call:rm", S("replay/mcp/proposal") },
        { "mcp/approve", S("replay/mcp/approve") },
        { "participant/kick", S("replay/participant/kick") },
        { "capability/grant", S("replay/capability/grant") },
        { "system/welcome", S("replay/system/welcome") },
        { "topic/invite", S("replay/topic/invite") },
        { "a/b", S("replay/a/b") },
        { "replay/a/b", S("replay/a/b") },
    };
    struct replay replay;

    replay_init(&replay);
    FOR_EACH_CASE(c, cases) {
        struct audit_record record = envelope(
            "ann", c->kind, "1", "", "{\"ts\":\"T\",\"payload\":{\"text\":\"x\"}}");

        CHECK_INT(replay_prepare(&replay, &record), OK);
        CHECK_STR(buf_str(&replay.kind), c->replayed);
        CHECK_STR(buf_str(&replay.payload), S("{\"text\":\"x\"}"));
    }
    replay_done(&replay);
}

TEST(what_cannot_be_replayed_is_left_out)
{
    struct audit_record records[] = {
        envelope("ann", "chat", "1", "", NULL),
        envelope("ann", "chat", "1", "", "{}"),
        envelope("ann", "chat", "1", "", "{\"payload\":[]}"),
        envelope("ann", "chat", "1", "", "{\"payload\":"),
        envelope("ann", "No Kind", "1", "", "{\"payload\":{}}"),
        envelope("ann", "", "1", "", "{\"payload\":{}}"),
        envelope("ann", "chat", "1", "", "{\"payload\":{}}"),
    };
    struct replay replay;

    records[COUNT(records) - 1].event = AUDIT_REFUSAL;
    replay_init(&replay);
    FOR_EACH_CASE(c, records)
        CHECK(replay_prepare(&replay, c) != OK);
    replay_done(&replay);
}

TEST(answers_refer_to_what_was_replayed)
{
    struct audit_record asked =
        envelope("ann", "mcp/request:ping", "old", "", "{\"to\":[\"b\"],\"payload\":{}}");
    struct audit_record answer =
        envelope("bob", "mcp/response:ping", "r", "old", "{\"ts\":\"T\",\"payload\":{}}");
    struct replay replay;

    replay_init(&replay);
    CHECK_INT(replay_prepare(&replay, &answer), OK);
    CHECK(replay.correlation_id == NULL); /* that was never replayed */
    CHECK_INT(replay_prepare(&replay, &asked), OK);
    CHECK_STR(
        buf_str(&replay.members),
        S("{\"replay_of\":{\"from\":\"ann\",\"id\":\"old\",\"ts\":\"2027-01-15T08:00:00.000Z\","
          "\"kind\":\"mcp/request:ping\",\"to\":[\"b\"]}}"));
    replay_note(&replay, &asked, "first");
    replay_note(&replay, &asked, "new");
    CHECK_INT(replay_prepare(&replay, &answer), OK);
    CHECK_STR(str_of(replay.correlation_id), S("new"));
    CHECK_STR(
        buf_str(&replay.members),
        S("{\"replay_of\":{\"from\":\"bob\",\"id\":\"r\",\"ts\":\"T\",\"kind\":\"mcp/response:ping\"}}"));
    replay_done(&replay);
}
