/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "orchestra.h"

#define CHECK_ACTS(want) CHECK_STR(orchestra_acts(&s), S(want))

static struct orchestra s;

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

#define ASKED(more)                                                                  \
    "{\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"srv\"," \
    "\"arguments\":{\"n\":{\"exactly\":1}}" more "}"

TEST(a_rule_that_is_asked_for_is_suggested_and_vouched_for_by_nobody)
{
    static const struct {
        const char *rule;
        enum err err;
        const char *why;
    } cases[] = {
        { ASKED(""), OK, "" },
        { ASKED(",\"topic\":\"room\",\"state\":\"active\",\"accepted_by\":\"ann\","
                "\"evidence\":{\"approved\":99},\"note\":\"by ann\""),
          OK, "" },
        { ASKED(",\"topic\":\"other\""), ERR_INVALID, "the rule is for another topic" },
        { ASKED(",\"colour\":1"), ERR_INVALID, "unknown key \"colour\"" },
        { "[]", ERR_INVALID, "the rule is no object, or has a name twice" },
        { "", ERR_INVALID, "the rule is no object, or has a name twice" },
        { "{\"a\":1,\"a\":1}", ERR_INVALID,
          "the rule is no object, or has a name twice" },
        { "{\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"arguments\":"
          "{}}",
          ERR_INVALID, "`to` must say who is asked; nobody else chooses" },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf json, why;

        orchestra_open(&s);
        buf_init(&json, 1 << 16);
        buf_init(&why, 1 << 12);
        CHECK_INT(orchestrator_add_rule(s.orchestrator, str_of(c->rule), S("robot"),
                                        s.now_ms, &(struct tool_answer){ &json, &why }),
                  c->err);
        CHECK_STR(buf_str(&why), str_of(c->why));
        CHECK_INT(str_starts(orchestra_acts(&s), S("suggest")), !c->err);
        if (!c->err) {
            CHECK(strstr(buf_cstr(&s.payload), "\"note\":\"asked for by robot\""));
            CHECK(strstr(buf_cstr(&s.payload), "\"state\":\"suggested\""));
            CHECK(!strstr(buf_cstr(&s.payload), "accepted_by"));
            CHECK(!strstr(buf_cstr(&s.payload), "99"));
            CHECK(strstr(buf_cstr(&s.words), "robot asks for the rule"));
        }
        buf_done(&json);
        buf_done(&why);
        orchestra_close(&s);
    }
}

TEST(who_asks_gets_no_further_than_the_book_and_not_too_often)
{
    struct buf json, why;
    char rule[512];

    orchestra_open(&s);
    buf_init(&json, 1 << 16);
    buf_init(&why, 1 << 12);
    with_book(BOOK(RULE("r-1", "declined", ",\"changed_at\":\"2027-01-15T00:00:00Z\"")));
    CHECK_INT(
        orchestrator_add_rule(
            s.orchestrator,
            S("{\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":"
              "\"srv\",\"arguments\":{\"path\":{\"under\":\"/srv/app\",\"characters\":"
              "\"a-z\",\"max_bytes\":30}}}"),
            S("robot"), s.now_ms, &(struct tool_answer){ &json, &why }),
        ERR_RULE_STATE);
    CHECK_STR(buf_str(&why), S("people declined it"));
    for (unsigned i = 0; i < 12; i++) {
        (void)snprintf(rule, sizeof(rule),
                       "{\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t%u\","
                       "\"to\":\"srv\",\"arguments\":{}}",
                       i);
        CHECK_INT(orchestrator_add_rule(s.orchestrator, str_of(rule), S("robot"),
                                        s.now_ms, &(struct tool_answer){ &json, &why }),
                  i < 10 ? OK : ERR_RATE_LIMITED);
    }
    buf_done(&json);
    buf_done(&why);
    orchestra_close(&s);
}

TEST(rules_are_listed_by_their_state)
{
    struct buf json, why;
    struct tool_answer answer = { &json, &why };

    orchestra_open(&s);
    buf_init(&json, 1 << 16);
    buf_init(&why, 1 << 12);
    with_book(BOOK(RULE("r-1", "active", ",\"uses\":7")));
    CHECK_INT(orchestrator_list_rules(s.orchestrator, S(""), &answer), OK);
    CHECK(strstr(buf_cstr(&json), "\"id\":\"r-1\""));
    CHECK(strstr(buf_cstr(&json), "\"uses\":7"));
    buf_clear(&json);
    CHECK_INT(orchestrator_list_rules(s.orchestrator, S("shadow"), &answer), OK);
    CHECK_STR(buf_str(&json), S("{\"automation\":\"on\",\"rules\":[]}"));
    CHECK_INT(orchestrator_list_rules(s.orchestrator, S("perhaps"), &answer),
              ERR_INVALID);
    CHECK(orchestrator_find_rule(s.orchestrator, S("r-1")));
    CHECK(!orchestrator_find_rule(s.orchestrator, S("r-2")));
    buf_done(&json);
    buf_done(&why);
    orchestra_close(&s);
}
