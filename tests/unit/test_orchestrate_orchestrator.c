/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"
#include "orchestra.h"
#include "orchestrate/orchestrator.h"

#define CHECK_ACTS(want) CHECK_STR(orchestra_acts(&s), S(want))

static struct orchestra s;
static unsigned named;
static char texts[8][256];

/* The name of a proposal; lives for a while. */
static const char *p(unsigned number)
{
    char *at = texts[named++ % 8];

    (void)snprintf(at, 256, "p%u", number);
    return at;
}

static const char *text(unsigned number)
{
    char *at = texts[named++ % 8];

    (void)snprintf(at, 256, "q%u", number);
    return at;
}

static const char *path(unsigned number)
{
    static const char *const folders[] = { "a", "b", "c" };
    char *at = texts[named++ % 8];

    (void)snprintf(at, 256, "{\"path\":\"/srv/app/%s/f%u.c\"}", folders[number % 3],
                   number);
    return at;
}

/* So many that ann approves, each in a minute of its own. */
static void approve(unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        orchestra_propose(&s, p(i), path(i));
        orchestra_fulfil(&s, "ann", p(i), path(i));
        orchestra_pass(&s, 60'000);
    }
}

/* A book with one rule of this state, which covers the paths above. */
#define RULE(id, state, more)                                                          \
    "{\"id\":\"" id "\",\"topic\":\"room\",\"state\":\"" state                         \
    "\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"srv\"," \
    "\"arguments\":{\"path\":{\"under\":\"/srv/app\",\"characters\":\"a-z 0-9 .\","    \
    "\"max_bytes\":40,\"depth\":3}},\"budget\":5,"                                     \
    "\"expires_at\":\"2027-02-01T00:00:00Z\"" more "}"
#define BOOK(rules) "{\"automation\":\"on\",\"rules\":[" rules "]}"
#define NEWS(state) "{\"rule\":\"r-1\",\"state\":\"" state "\",\"by\":\"ann\"}"

static void with_book(const char *book)
{
    s.book = str_of(book);
    orchestra_gateway(&s, "system/rule", NEWS("active"));
    orchestra_pass(&s, 3000);
    CHECK_ACTS("book\n");
}

static struct str suggested_id(void)
{
    static char id[RULE_ID + 1];
    const char *at = strstr(buf_cstr(&s.payload), "\"id\":\"");

    (void)snprintf(id, sizeof(id), "%.34s", at ? at + strlen("\"id\":\"") : "");
    return str_of(id);
}

/* --- suggesting --- */

TEST(what_people_approve_often_is_suggested_once)
{
    char news[256];

    orchestra_open(&s);
    approve(0, 15);
    CHECK_ACTS("");
    approve(15, 1);
    CHECK(str_starts(orchestra_acts(&s), S("suggest r-")));
    CHECK(strstr(buf_cstr(&s.payload), "\"path\":{\"under\":\"/srv/app\""));
    CHECK(strstr(buf_cstr(&s.payload), "\"approved\":16"));
    (void)snprintf(news, sizeof(news), "{\"rule\":\"%s\",\"state\":\"suggested\"}",
                   suggested_id().ptr);
    orchestra_gateway(&s, "system/rule", news);
    CHECK_ACTS("chat\n");
    orchestra_gateway(&s, "system/rule", news);
    CHECK_ACTS("");
    CHECK(strstr(buf_cstr(&s.words), "bot may call t of srv"));
    CHECK(strstr(buf_cstr(&s.words), "ending with .c. Approved 16 times"));
    CHECK(strstr(buf_cstr(&s.words), "moot rules accept room r-"));
    CHECK(strstr(buf_cstr(&s.words), "moot rules decline room r-"));
    CHECK(!strchr(buf_cstr(&s.words), '\n'));
    orchestra_close(&s);
}

TEST(what_others_decide_teaches_nothing)
{
    orchestra_open(&s);
    for (unsigned i = 0; i < 40; i++) {
        orchestra_propose(&s, p(i), path(i));
        orchestra_fulfil(&s, i % 2 ? "robot" : "stranger", p(i), path(i));
    }
    for (unsigned i = 40; i < 80; i++) { /* where several must agree */
        orchestra_propose(&s, p(i), path(i));
        orchestra_closed(&s, p(i), "open", ",\"approvals\":{\"needed\":2,\"given\":1}");
        orchestra_fulfil(&s, "ann", p(i), path(i));
    }
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_close(&s);
}

TEST(whoever_was_ever_no_person_is_none)
{
    orchestra_open(&s);
    orchestra_gateway(&s, "system/presence",
                      "{\"event\":\"join\",\"participant\":{\"id\":\"ann\",\"moot\":"
                      "{\"type\":\"agent\"}}}");
    approve(0, 20);
    CHECK_ACTS("");
    orchestra_close(&s);
}

TEST(only_the_gateway_tells_who_is_a_person)
{
    orchestra_open(&s);
    orchestra_hear(&s, "robot", "system/presence", "f1", "",
                   "\"payload\":{\"event\":\"join\",\"participant\":{\"id\":\"eve\","
                   "\"moot\":{\"type\":\"human\"}}}");
    for (unsigned i = 0; i < 20; i++) {
        orchestra_propose(&s, p(i), path(i));
        orchestra_fulfil(&s, "eve", p(i), path(i));
    }
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_hear(&s, "robot", "system/topic", "f2", "",
                   "\"payload\":{\"automation\":\"off\"}");
    orchestra_hear(&s, "robot", "system/rule", "f3", "", "\"payload\":" NEWS("active"));
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_close(&s);
}

TEST(what_was_rejected_is_in_no_suggestion)
{
    orchestra_open(&s);
    orchestra_propose(&s, "bad", path(7));
    orchestra_reject(&s, "ann", "bad");
    approve(0, 7);
    approve(8, 12);
    CHECK(!strstr(buf_cstr(&s.payload), "under"));
    orchestra_close(&s);
}

TEST(what_the_book_has_or_people_did_not_want_is_not_suggested)
{
    static const struct {
        const char *book;
        bool is_suggested;
    } cases[] = {
        { BOOK(""), true },
        { BOOK(RULE("r-1", "suggested", "")), false },
        { BOOK(RULE("r-1", "active", "")), false },
        { BOOK(RULE("r-1", "suspended", "")), false },
        { BOOK(RULE("r-1", "disabled", "")), false },
        { BOOK(RULE("r-1", "declined", ",\"changed_at\":\"2027-01-01T00:00:00Z\"")),
          false },
        { BOOK(RULE("r-1", "declined", ",\"changed_at\":\"2026-12-01T00:00:00Z\"")),
          true },
        { BOOK(RULE("r-1", "declined",
                    ",\"changed_at\":\"2026-12-01T00:00:00Z\",\"reason\":\"narrowed to "
                    "r-2\"")),
          false },
    };

    FOR_EACH_CASE(c, cases) {
        orchestra_open(&s);
        with_book(c->book);
        approve(0, 16);
        CHECK_INT(str_starts(orchestra_acts(&s), S("suggest")), c->is_suggested);
        orchestra_close(&s);
    }
}

/* One of the three folders. */
#define NARROW(id, state, more)                                                        \
    "{\"id\":\"" id "\",\"topic\":\"room\",\"state\":\"" state                         \
    "\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"srv\"," \
    "\"arguments\":{\"path\":{\"under\":\"/srv/app/a\",\"characters\":\"a-z 0-9 .\","  \
    "\"max_bytes\":18,\"endings\":[\".c\"]}},\"budget\":5" more "}"

TEST(more_than_a_rule_has_is_suggested_when_as_much_again_speaks_for_it)
{
    orchestra_open(&s);
    with_book(BOOK(NARROW("r-1", "active", "")));
    approve(0, 22); /* of which 14 are beside it */
    CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
    approve(22, 1);
    CHECK(strstr(orchestra_acts(&s).ptr, "suggest"));
    CHECK(
        strstr(buf_cstr(&s.words), "It covers more than the rule r-1, which is there."));
    orchestra_close(&s);
}

TEST(nothing_wider_than_what_people_narrowed_is_suggested)
{
    static const char *const books[] = {
        BOOK(RULE("r-0", "declined",
                  ",\"changed_at\":\"2026-01-01T00:00:00Z\",\"reason\":\"narrowed to "
                  "r-1\"") "," NARROW("r-1", "active", "")),
        BOOK(NARROW("r-0", "declined",
                    ",\"changed_at\":\"2026-01-01T00:00:00Z\",\"reason\":\"narrowed to "
                    "r-1\"") "," NARROW("r-1", "active", "")),
        BOOK(NARROW("r-1", "suspended", "")),
        BOOK(NARROW("r-1", "disabled", "")),
        BOOK(NARROW("r-1", "suggested", "")),
    };

    FOR_EACH_CASE(book, books) {
        orchestra_open(&s);
        with_book(*book);
        approve(0, 60);
        CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
        orchestra_close(&s);
    }
}

TEST(what_was_taken_away_does_not_come_back_even_after_a_restart)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    approve(0, 16);
    orchestra_gateway(&s, "system/rule", NEWS("removed"));
    s.book = S(BOOK(""));
    orchestra_restart(&s);
    approve(16, 4);
    CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
    s.now_ms += 31 * DAY_MS;
    approve(20, 1);
    CHECK(strstr(orchestra_acts(&s).ptr, "suggest"));
    orchestra_close(&s);
}

TEST(what_expired_unanswered_was_taken_away_by_nobody)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "suggested", "")));
    s.now_ms += 60 * DAY_MS;
    approve(0, 16);
    CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
    s.book = S(BOOK(""));
    orchestra_gateway(&s, "system/rule", NEWS("removed"));
    approve(16, 1);
    CHECK(strstr(orchestra_acts(&s).ptr, "suggest"));
    CHECK(!strstr(buf_cstr(&s.journal), "unwanted"));
    orchestra_close(&s);
}

TEST(what_is_no_longer_in_the_book_was_taken_away)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    approve(0, 16);
    s.book = S(BOOK(""));
    orchestra_gateway(&s, "system/rule", "{\"rule\":\"r-9\",\"state\":\"active\"}");
    approve(16, 4);
    CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
    orchestra_close(&s);
}

TEST(proposals_that_name_nobody_are_left_to_people)
{
    static const char rest[] = "\"payload\":{\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"t\",\"arguments\":{\"n\":1}}}";

    orchestra_open(&s);
    for (unsigned i = 0; i < 20; i++) {
        orchestra_hear(&s, "bot", "mcp/proposal:tools/call:t", p(i), "", rest);
        orchestra_fulfil(&s, "ann", p(i), "{\"n\":1}");
    }
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_close(&s);
}

/* --- acting --- */

TEST(an_active_rule_fulfils_what_it_covers_and_nothing_else)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_propose(&s, "p2", "{\"path\":\"/etc/passwd\"}");
    orchestra_propose(&s, "p3", "{\"path\":\"/srv/app/a/f.c\",\"path\":\"/etc/x\"}");
    orchestra_hear(&s, "robot", "mcp/proposal:tools/call:t", "p4", "",
                   "\"to\":[\"srv\"],\"payload\":{\"method\":\"tools/call\",\"params\":"
                   "{\"name\":\"t\",\"arguments\":{\"path\":\"/srv/app/a/f.c\"}}}");
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_close(&s);
}

TEST(what_waits_is_done_when_its_rule_is_accepted)
{
    orchestra_open(&s);
    orchestra_propose(&s, "p1", path(1));
    orchestra_propose(&s, "p2", path(2));
    orchestra_closed(&s, "p2", "expired", "");
    orchestra_pass(&s, 1000);
    CHECK_ACTS("");
    s.book = S(BOOK(RULE("r-1", "active", "")));
    orchestra_gateway(&s, "system/rule", NEWS("active"));
    orchestra_pass(&s, 1000);
    CHECK_ACTS("book\nfulfil r-1 p1\n");
    orchestra_close(&s);
}

TEST(a_rule_that_does_not_act_now_fulfils_nothing)
{
    static const char *const books[] = {
        BOOK(RULE("r-1", "suspended", "")),
        BOOK(RULE("r-1", "disabled", "")),
        BOOK(RULE("r-1", "declined", "")),
        BOOK(RULE("r-1", "suggested", "")),
        "{\"automation\":\"off\",\"rules\":[" RULE("r-1", "active", "") "]}",
    };

    FOR_EACH_CASE(book, books) {
        orchestra_open(&s);
        with_book(*book);
        orchestra_propose(&s, "p1", path(1));
        orchestra_pass(&s, HOUR_MS);
        CHECK_ACTS("");
        orchestra_close(&s);
    }
}

TEST(an_expired_rule_does_nothing)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    s.now_ms += 20 * DAY_MS;
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, HOUR_MS);
    CHECK_ACTS("");
    orchestra_close(&s);
}

TEST(the_switch_is_obeyed_at_once_and_back)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    orchestra_gateway(&s, "system/topic", "{\"automation\":\"off\",\"by\":\"ann\"}");
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 1000);
    CHECK_ACTS("");
    orchestra_gateway(&s, "system/topic", "{\"brake\":\"on\",\"by\":\"ann\"}");
    orchestra_pass(&s, 1000);
    CHECK_ACTS("");
    orchestra_gateway(&s, "system/topic", "{\"automation\":\"on\",\"by\":\"ann\"}");
    orchestra_pass(&s, 1000);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestra_close(&s);
}

TEST(news_that_stop_a_rule_count_before_the_book_is_read)
{
    static const char *const news[] = { NEWS("suspended"), NEWS("disabled"),
                                        NEWS("removed"), NEWS("no such state") };

    FOR_EACH_CASE(one, news) {
        orchestra_open(&s);
        with_book(BOOK(RULE("r-1", "active", "")));
        s.book = (struct str){}; /* nobody answers */
        orchestra_gateway(&s, "system/rule", *one);
        orchestra_propose(&s, "p1", path(1));
        orchestra_pass(&s, 10'000);
        CHECK(!strstr(orchestra_acts(&s).ptr, "fulfil"));
        orchestra_close(&s);
    }
}

TEST(after_a_refusal_the_rule_rests_and_the_proposal_is_left_to_people)
{
    struct deed deed = { .end = DEED_REFUSED,
                         .rule = S("r-1"),
                         .proposal = S("p1"),
                         .error = S("rule_state"),
                         .state = S("used up") };

    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestrator_done(s.orchestrator, &deed, s.now_ms);
    orchestra_propose(&s, "p2", path(2));
    orchestra_pass(&s, 30'000);
    CHECK_ACTS("book\n");
    orchestra_pass(&s, 60'000);
    orchestra_propose(&s, "p3", path(3));
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p3\n");
    deed.proposal = S("p3");
    orchestrator_done(s.orchestrator, &deed, s.now_ms); /* twice as long now */
    orchestra_pass(&s, 90'000);
    orchestra_propose(&s, "p4", path(4));
    orchestra_pass(&s, 100);
    CHECK_ACTS("book\n");
    orchestra_close(&s);
}

TEST(what_could_not_be_sent_is_tried_again)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestrator_done(
        s.orchestrator,
        &(struct deed){ .end = DEED_UNSENT, .rule = S("r-1"), .proposal = S("p1") },
        s.now_ms);
    orchestra_gateway(&s, "system/welcome", "{\"you\":{\"id\":\"orchestrator\"}}");
    orchestra_pass(&s, 3000);
    CHECK_ACTS("book\nfulfil r-1 p1\n");
    orchestra_close(&s);
}

TEST(what_is_used_up_is_said_once_and_left_to_people)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", ",\"uses\":9,\"used_this_hour\":4")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestra_closed(&s, "p1", "fulfilled", ",\"rule\":\"r-1\"");
    orchestra_propose(&s, "p2", path(2));
    orchestra_propose(&s, "p3", path(3));
    orchestra_pass(&s, 100);
    CHECK_ACTS("chat\n");
    CHECK(strstr(buf_cstr(&s.words), "waits for a person"));
    orchestra_pass(&s, 60'000);
    CHECK_ACTS("book\n");
    orchestra_pass(&s, 60'000);
    CHECK_ACTS(""); /* the book has room again, but they are people's */
    orchestra_propose(&s, "p4", path(4));
    orchestra_pass(&s, 100);
    CHECK_ACTS("fulfil r-1 p4\n");
    orchestra_close(&s);
}

TEST(nobody_is_asked_who_is_not_here)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    s.is_away = true;
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 1000);
    CHECK_ACTS("");
    s.is_away = false;
    orchestra_gateway(&s, "system/presence",
                      "{\"event\":\"join\",\"participant\":{\"id\":\"srv\",\"moot\":"
                      "{\"type\":\"service\"}}}");
    orchestra_pass(&s, 1000);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestra_close(&s);
}

TEST(nothing_is_done_in_the_middle_of_a_replay)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    s.is_replay = true;
    orchestra_propose(&s, "p1", path(1));
    orchestra_propose(&s, "p2", path(2));
    orchestra_pass(&s, 500);
    CHECK_ACTS("");
    orchestra_fulfil(&s, "ann", "p1", path(1));
    s.is_replay = false;
    orchestra_pass(&s, 2000);
    CHECK_ACTS("fulfil r-1 p2\n");
    orchestra_close(&s);
}

/* --- in shadow --- */

TEST(a_rule_in_shadow_says_what_it_would_do_and_is_compared)
{
    struct buf stats;

    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "shadow", "")));
    for (unsigned i = 1; i <= 4; i++)
        orchestra_propose(&s, p(i), path(i));
    orchestra_pass(&s, 1000);
    CHECK_ACTS("shadow r-1 p1\nshadow r-1 p2\nshadow r-1 p3\nshadow r-1 p4\n");
    orchestra_fulfil(&s, "ann", "p1", path(1));
    orchestra_reject(&s, "ann", "p2");
    orchestra_restart(&s);
    orchestra_fulfil(&s, "ann", "p3", path(3));
    orchestra_closed(&s, "p4", "expired", "");
    orchestra_pass(&s, 1000);
    CHECK_ACTS("book\n");
    buf_init(&stats, 1 << 16);
    orchestrator_stats(s.orchestrator, s.now_ms, &stats);
    CHECK(strstr(buf_cstr(&stats),
                 "\"shadow\":{\"would\":4,\"agreed\":2,\"disagreed\":1}"));
    CHECK(strstr(buf_cstr(&stats), "\"learned\":{\"approved\":2,\"rejected\":1,"));
    buf_done(&stats);
    orchestra_close(&s);
}

/* --- what is remembered --- */

TEST(evidence_survives_a_restart_and_counts_once)
{
    orchestra_open(&s);
    approve(0, 10);
    s.now_ms += DAY_MS;
    orchestra_restart(&s);
    CHECK(str_starts(orchestrator_after(s.orchestrator), S("sys-")));
    s.is_replay = true;
    approve(0, 10); /* the same ones */
    s.is_replay = false;
    approve(10, 5);
    CHECK(!strstr(orchestra_acts(&s).ptr, "suggest"));
    approve(15, 1);
    CHECK(strstr(orchestra_acts(&s).ptr, "suggest"));
    CHECK(strstr(buf_cstr(&s.payload), "\"approved\":16"));
    orchestra_close(&s);
}

TEST(what_was_over_before_a_restart_is_not_open_after_it)
{
    orchestra_open(&s);
    orchestra_propose(&s, "p1", path(1));
    orchestra_closed(&s, "p1", "expired", "");
    orchestra_propose(&s, "p2", path(2));
    orchestra_fulfil(&s, "ann", "p2", path(2));
    orchestra_propose(&s, "p3", path(3));
    s.book = S(BOOK(RULE("r-1", "active", "")));
    (void)orchestra_acts(&s);
    orchestra_restart(&s);
    CHECK_ACTS("book\nfulfil r-1 p3\n");
    orchestra_close(&s);
}

/* What is replayed with this time, of sixteen that ann approved. */
static unsigned long days_of(const char *ts)
{
    const char *at;

    orchestra_open(&s);
    orchestra_gateway(&s, "system/presence", "{}"); /* the gateway's own time: NOW */
    s.now_ms += 5 * DAY_MS;
    s.is_replay = true;
    for (unsigned i = 0; i < 20; i++) {
        char rest[512];

        (void)snprintf(rest, sizeof(rest),
                       "\"ts\":\"%s\",\"to\":[\"srv\"],\"payload\":{\"method\":"
                       "\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":%s}}",
                       i % 2 ? ts : "2027-01-17T08:00:00Z", path(i));
        orchestra_propose(&s, p(i), path(i));
        orchestra_hear(&s, "ann", "mcp/request:tools/call:t", text(i), p(i), rest);
        orchestra_closed(&s, p(i), "fulfilled", "");
    }
    s.is_replay = false;
    orchestra_pass(&s, HOUR_MS);
    at = strstr(buf_cstr(&s.payload), "\"days\":");
    CHECK(at);
    return at ? strtoul(at + strlen("\"days\":"), NULL, 10) : 0;
}

TEST(what_is_replayed_was_said_between_the_times_that_the_gateway_knows)
{
    static const struct {
        const char *ts;
        unsigned long days;
    } cases[] = {
        { "2027-01-17T09:00:00Z", 1 },
        { "2027-01-18T09:00:00Z", 2 },
        { "2001-01-01T00:00:00Z", 2 }, /* not before the gateway's own time */
        { "2999-01-01T00:00:00Z", 2 }, /* not in the future */
        { "nonsense", 2 },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(days_of(c->ts), c->days);
        CHECK(!strstr(buf_cstr(&s.payload), "2001-"));
        CHECK(!strstr(buf_cstr(&s.payload), "2999-"));
        orchestra_close(&s);
    }
}

TEST(what_was_decided_while_it_was_away_is_learned)
{
    struct buf stats;

    orchestra_open(&s);
    orchestra_propose(&s, "p1", path(1));
    orchestra_restart(&s);
    s.is_replay = true;
    orchestra_reject(&s, "ann", "p1");
    buf_init(&stats, 1 << 16);
    orchestrator_stats(s.orchestrator, s.now_ms, &stats);
    CHECK(strstr(buf_cstr(&stats), "\"rejected\":1"));
    buf_done(&stats);
    orchestra_close(&s);
}

TEST(an_objection_to_a_use_teaches)
{
    struct buf stats;

    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", "")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_hear(&s, "orchestrator", "mcp/request:tools/call:t", "q1", "p1",
                   "\"rule\":\"r-1\",\"to\":[\"srv\"],\"payload\":{\"method\":"
                   "\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"path\":"
                   "\"/srv/app/b/f1.c\"}}}");
    orchestra_closed(&s, "p1", "fulfilled", ",\"rule\":\"r-1\"");
    orchestra_hear(&s, "ann", "mcp/reject", "x1", "p1", "\"payload\":{}");
    buf_init(&stats, 1 << 16);
    orchestrator_stats(s.orchestrator, s.now_ms, &stats);
    CHECK(strstr(buf_cstr(&stats), "\"learned\":{\"approved\":0,\"rejected\":1,"));
    CHECK(strstr(buf_cstr(&stats), "\"uses_seen\":1"));
    buf_done(&stats);
    orchestra_close(&s);
}

/* --- hostile --- */

TEST(what_makes_no_sense_does_nothing)
{
    static const struct {
        const char *from, *kind, *rest;
    } cases[] = {
        { "system:gateway", "system/welcome", "\"payload\":[]" },
        { "system:gateway", "system/welcome",
          "\"payload\":{\"participants\":{\"id\":1},\"moot\":[1]}" },
        { "system:gateway", "system/welcome",
          "\"payload\":{\"moot\":{\"proposals\":[1,{\"id\":\"p\"},{\"id\":\"p\","
          "\"envelope\":{\"id\":\"q\"}}]}}" },
        { "system:gateway", "system/presence", "\"payload\":7" },
        { "system:gateway", "system/rule", "\"payload\":{\"rule\":[],\"state\":1}" },
        { "system:gateway", "system/topic", "\"payload\":{\"automation\":1}" },
        { "system:gateway", "system/proposal", "\"payload\":{\"proposal\":\"\"}" },
        { "system:gateway", "system/proposal", "\"payload\":{},\"payload\":{}" },
        { "bot", "mcp/proposal:tools/call:t", "\"payload\":{}" },
        { "bot", "mcp/proposal:tools/call:t", "\"payload\":null" },
        { "bot", "mcp/proposal", "\"payload\":{\"method\":\"tools/call\"}" },
        { "bot", "no such kind", "\"payload\":{}" },
        { "bot", "mcp/reject", "\"payload\":{}" },
    };

    FOR_EACH_CASE(c, cases) {
        orchestra_open(&s);
        with_book(BOOK(RULE("r-1", "active", "")));
        orchestra_hear(&s, c->from, c->kind, "e1", "nothing", c->rest);
        orchestra_pass(&s, HOUR_MS);
        CHECK(!strstr(orchestra_acts(&s).ptr, "fulfil"));
        orchestra_close(&s);
    }
}

TEST(a_flood_of_proposals_is_bounded)
{
    struct buf stats;

    orchestra_open(&s);
    for (unsigned i = 0; i < 6000; i++)
        orchestra_propose(&s, p(i), path(i));
    orchestra_pass(&s, 1000);
    buf_init(&stats, 1 << 16);
    orchestrator_stats(s.orchestrator, s.now_ms, &stats);
    CHECK(strstr(buf_cstr(&stats), "\"open\":4096"));
    buf_done(&stats);
    orchestra_close(&s);
}

TEST(a_book_that_cannot_be_read_is_asked_for_again_and_changes_nothing)
{
    static const char *const books[] = {
        "",
        "{}",
        "[]",
        "{\"automation\":\"on\"}",
        "{\"automation\":\"perhaps\",\"rules\":[]}",
        "{\"automation\":\"on\",\"rules\":[1]}",
        "{\"automation\":\"on\",\"rules\":[{}]}",
        BOOK(RULE("r-1", "active", "") "," RULE("r-1", "active", "")),
    };

    FOR_EACH_CASE(book, books) {
        orchestra_open(&s);
        with_book(BOOK(RULE("r-1", "active", "")));
        s.book = (struct str){};
        CHECK_INT(orchestrator_book(s.orchestrator, str_of(*book), s.now_ms),
                  ERR_INVALID);
        orchestra_propose(&s, "p1", path(1));
        orchestra_pass(&s, 3000);
        CHECK_ACTS("fulfil r-1 p1\nbook\n");
        orchestra_close(&s);
    }
}

/* The gateway judges each use: what it says besides is no reason to stop. */
TEST(what_a_book_says_besides_is_passed_over)
{
    orchestra_open(&s);
    with_book(BOOK(RULE("r-1", "active", ",\"colour\":1")));
    orchestra_propose(&s, "p1", path(1));
    orchestra_pass(&s, 3000);
    CHECK_ACTS("fulfil r-1 p1\n");
    orchestra_close(&s);
}
