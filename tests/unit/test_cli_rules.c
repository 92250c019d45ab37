/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/rules_room.h"
#include "cli/rules_verb.h"
#include "harness.h"

enum { OUT = 1 << 20 };

#define ARGUMENTS                                                                   \
    "\"arguments\":{\"mode\":{\"exactly\":\"w\"},\"path\":{\"under\":\"/srv/app\"," \
    "\"characters\":\"a-z .\",\"max_bytes\":30}}"
#define RULE(id, state, more)                                                            \
    "{\"id\":\"" id "\",\"topic\":\"room\",\"state\":\"" state                           \
    "\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"write\",\"to\":"       \
    "\"files\"," ARGUMENTS ",\"budget\":20,\"expires_at\":\"2026-12-16T00:00:00Z\"" more \
    "}"
#define BOOK(automation, ...) \
    "{\"automation\":\"" automation "\",\"rules\":[" __VA_ARGS__ "]}"

static uint64_t now(void)
{
    uint64_t ms = 0;

    CHECK_INT(clock_parse(S("2026-11-16T12:00:00Z"), &ms), OK);
    return ms;
}

static void read_book(const char *text, struct room_rules *ret)
{
    struct rule_problem problem = {};

    CHECK_INT(room_rules_read(str_of(text), ret, &problem), OK);
    CHECK_STR(str_of(problem.what), S(""));
    ret->topic = S("room");
}

TEST(what_a_gateway_says_beside_a_rule_is_read_with_it)
{
    struct room_rules rules;

    read_book(BOOK("off", RULE("r-1", "active",
                               ",\"uses\":12,\"used_this_hour\":3,\"last_use\":"
                               "\"2026-11-16T11:20:00Z\",\"changed_by\":\"ann\","
                               "\"changed_at\":\"2026-11-15T10:00:00Z\",\"reason\":"
                               "\"why\",\"anything\":{\"new\":[1]}")),
              &rules);
    CHECK_INT(rules.count, 1);
    CHECK(!rules.has_automation);
    CHECK_STR(rules.items[0].rule.tool, S("write"));
    CHECK_INT(rules.items[0].uses, 12);
    CHECK_INT(rules.items[0].used_this_hour, 3);
    CHECK_INT(now() - rules.items[0].last_use_ms, 40 * 60 * 1000);
    CHECK_STR(rules.items[0].changed_by, S("ann"));
    CHECK_STR(rules.items[0].reason, S("why"));
    CHECK(str_ends(rules.items[0].raw, S("\"anything\":{\"new\":[1]}}")));
    room_rules_done(&rules);
}

TEST(what_is_no_list_of_rules_is_refused)
{
    static const char *const cases[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"rules\":{}}",
        "{\"rules\":[1]}",
        "{\"rules\":[{}]}",
        BOOK("on", RULE("r-1", "perhaps", "")),
        BOOK("on", RULE("r-1", "active", "") "," RULE("r-1", "active", "")),
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rule_problem problem = {};
        struct room_rules rules;

        CHECK(room_rules_read(str_of(cases[i]), &rules, &problem) != OK);
        room_rules_done(&rules);
    }
}

#define LONG "0123456789abcdef0123"

TEST(an_id_is_shown_as_short_as_it_is_nobody_elses)
{
    struct room_rules rules;

    read_book(BOOK("on", RULE("r-" LONG, "active", "") "," RULE(
                             "r-0123456789zz", "active",
                             "") "," RULE("r-ff" LONG, "active",
                                          "") "," RULE("mine", "active", "")),
              &rules);
    CHECK_STR(room_rules_short(&rules, &rules.items[0]), S("r-0123456789a"));
    CHECK_STR(room_rules_short(&rules, &rules.items[1]), S("r-0123456789z"));
    CHECK_STR(room_rules_short(&rules, &rules.items[2]), S("r-ff0123"));
    CHECK_STR(room_rules_short(&rules, &rules.items[3]), S("mine"));
    CHECK(room_rules_find(&rules, "r-f") == &rules.items[2]);
    CHECK(room_rules_find(&rules, "mine") == &rules.items[3]);
    CHECK(room_rules_find(&rules, "r-0") == NULL);
    CHECK(room_rules_find(&rules, "r-x") == NULL);
    CHECK(room_rules_find(&rules, "") == NULL);
    room_rules_done(&rules);
}

TEST(one_id_may_be_the_beginning_of_another)
{
    struct room_rules rules;

    read_book(BOOK("on", RULE("r-0123456789ab", "active", "") "," RULE("r-0123456789abcd",
                                                                       "active", "")),
              &rules);
    CHECK(room_rules_find(&rules, "r-0123456789ab") == &rules.items[0]);
    CHECK_STR(room_rules_short(&rules, &rules.items[0]), S("r-0123456789ab"));
    CHECK_STR(room_rules_short(&rules, &rules.items[1]), S("r-0123456789abc"));
    room_rules_done(&rules);
}

/* --- the table --- */

TEST(the_table_says_what_each_rule_is_in_eighty_columns)
{
    struct room_rules rules;
    struct buf out;
    struct str rest;

    buf_init(&out, OUT);
    read_book(
        BOOK(
            "on",
            RULE("r-18b26c5f7347f5d880d6", "suggested", "") "," RULE(
                "r-28b26c5f7347f5d880d6", "suspended",
                ",\"used_this_hour\":20") ","
                                          "{\"id\":\"r-38b26c5f7347f5d880d6\",\"topic\":\"room\",\"state\":"
                                          "\"active\",\"proposer\":\"a-proposer-with-a-long-name\",\"method\":"
                                          "\"resources/read\",\"arguments\":{},\"budget\":10000,\"expires_at\":"
                                          "\"2026-11-16T11:59:59Z\"}"),
        &rules);
    rules_put_table(&out, &rules, now(), 80);
    CHECK_STR(
        buf_str(&out),
        S("ID        STATE      EXPIRES  USES/H   PROPOSER      WHAT\n"
          "r-18b26c  suggested  29d      0/20     bot           write at files: mode=\"w\" ..\n"
          "r-28b26c  suspended  29d      20/20    bot           write at files: mode=\"w\" ..\n"
          "r-38b26c  active     expired  0/10000  a-proposer..  resources/read\n"));
    rest = buf_str(&out);
    while (rest.len)
        CHECK(utf8_count(str_cut(&rest, '\n')) <= 80);
    buf_clear(&out);
    rules_put_table(&out, &rules, now(), 120);
    CHECK(memmem(out.ptr, out.len, "write at files: mode=\"w\" path=/srv/app/..\n", 42));
    buf_done(&out);
    room_rules_done(&rules);
}

TEST(what_a_rule_lets_through_is_said_in_one_line)
{
    /* clang-format off */
    static const struct { const char *arguments; struct str want; } cases[] = {
        { "{}", S("write") },
        { "{\"a\":{\"one_of\":[1,\"x\"]}}", S("write: a=1|\"x\"") },
        { "{\"a\":{\"boolean\":true},\"b\":{\"between\":[1,40],\"optional\":true}}", S("write: a=true|false b?=1..40") },
        { "{\"a\":{\"prefix\":\"build-\",\"characters\":\"0-9\",\"max_bytes\":9}}", S("write: a=build-..") },
        { "{\"a\":{\"text\":true,\"max_bytes\":9}}", S("write: a=(text)") },
        { "{\"a\":{\"members\":{}},\"b\":{\"items\":{\"boolean\":true},\"max_items\":2}}", S("write: a={..} b=[..]") },
    };
    /* clang-format on */
    char text[1024];
    struct buf out;

    buf_init(&out, OUT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct room_rules rules;

        (void)snprintf(text, sizeof(text),
                       BOOK("on", "{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":"
                                  "\"tools/call\",\"tool\":\"write\",\"arguments\":%s}"),
                       cases[i].arguments);
        read_book(text, &rules);
        buf_clear(&out);
        rules_put_what(&out, &rules.items[0].rule);
        CHECK_STR(buf_str(&out), cases[i].want);
        room_rules_done(&rules);
    }
    buf_done(&out);
}

/* --- words --- */

#define COVERS(state)                                                                    \
    "r-1 (" state                                                                        \
    ")\nIn room, bot may call write of files, 20 times an hour at most, until "          \
    "2026-12-16, where\n  mode is exactly \"w\"\n  path is a path beneath /srv/app, of " \
    "a-z . alone, 30 bytes at most\n\n"
#define BY_ANN ",\"changed_by\":\"ann\",\"changed_at\":\"2026-11-15T10:00:00Z\""
#define EXPIRED(state)                                                                 \
    "{\"id\":\"r-1\",\"topic\":\"room\",\"state\":\"" state "\",\"proposer\":\"bot\"," \
    "\"method\":\"m\",\"arguments\":{},\"budget\":1,\"expires_at\":"                   \
    "\"2026-11-16T11:00:00Z\"}"

TEST(a_rule_says_in_words_whether_it_acts_and_why)
{
    /* clang-format off */
    static const struct { const char *book, *why_not; struct str want; } cases[] = {
        { BOOK("on", RULE("r-1", "active", BY_ANN)), NULL,
          S(COVERS("active") "It acts: it was made active by ann, 2026-11-15 10:00 UTC.\n`moot rules disable room r-1` stops it.\nNot used yet.\n") },
        { BOOK("on", RULE("r-1", "active", BY_ANN ",\"uses\":30,\"used_this_hour\":19,\"last_use\":\"2026-11-16T11:59:00Z\"")), NULL,
          S(COVERS("active") "It acts: it was made active by ann, 2026-11-15 10:00 UTC.\n`moot rules disable room r-1` stops it.\n"
            "Used 30 times, 19 of 20 within this hour, the last time 2026-11-16 11:59 UTC.\n") },
        { BOOK("on", RULE("r-1", "active", ",\"uses\":30,\"used_this_hour\":20")), "used up",
          S(COVERS("active") "It does not act: its budget is used up: 20 of 20 uses within this hour.\nUsed 30 times, 20 of 20 within this hour.\n") },
        { BOOK("off", RULE("r-1", "active", "")), "automation is off",
          S(COVERS("active") "It does not act: automation is off in room, so no rule acts there.\n`moot topic set room automation on` lets them.\nNot used yet.\n") },
        { BOOK("on", RULE("r-1", "suggested", ",\"created_by\":\"orch\"")), "suggested",
          S(COVERS("suggested") "It does not act: it was only suggested by orch.\n`moot rules accept room r-1` lets it act, with --shadow it only says what it would do.\nNot used yet.\n") },
        { BOOK("on", RULE("r-1", "shadow", BY_ANN)), "shadow",
          S(COVERS("shadow") "It does not act: it was put in shadow by ann, 2026-11-15 10:00 UTC.\n`moot rules accept room r-1` lets it act; so far it only says what it would do.\nNot used yet.\n") },
        { BOOK("off", RULE("r-1", "suspended", BY_ANN ",\"reason\":\"wrong\\u001b[2J file\",\"uses\":1")), "suspended",
          S(COVERS("suspended") "It does not act: it was suspended by ann, 2026-11-15 10:00 UTC: wrong\\u001b[2J file.\n`moot rules enable room r-1` lets it act again, once that is settled.\n"
            "Besides, automation is off in room, so no rule acts there.\n`moot topic set room automation on` lets them.\nUsed once, 0 of 20 within this hour.\n") },
        { BOOK("on", RULE("r-1", "disabled", BY_ANN)), "disabled",
          S(COVERS("disabled") "It does not act: it was disabled by ann, 2026-11-15 10:00 UTC.\n`moot rules enable room r-1` lets it act again.\nNot used yet.\n") },
        { BOOK("on", RULE("r-1", "declined", BY_ANN ",\"reason\":\"no\"")), "declined",
          S(COVERS("declined") "It does not act: it was declined by ann, 2026-11-15 10:00 UTC: no.\n`moot rules accept room r-1` takes it after all.\nNot used yet.\n") },
        { BOOK("on", EXPIRED("active")), "expired",
          S("r-1 (active)\nIn room, bot may ask for m, 1 times an hour at most, until 2026-11-16, without arguments.\n\n"
            "It does not act: it expired, 2026-11-16 11:00 UTC.\nTo have it again: `moot rules export room r-1` into a file, a later expires_at there, "
            "`moot rules disable room r-1`, and `moot rules import` of the file.\nNot used yet.\n") },
        { BOOK("on", EXPIRED("disabled")), "disabled",
          S("r-1 (disabled)\nIn room, bot may ask for m, 1 times an hour at most, until 2026-11-16, without arguments.\n\n"
            "It does not act: it was disabled.\n`moot rules enable room r-1` lets it act again.\n"
            "Besides, it expired, 2026-11-16 11:00 UTC.\nTo have it again: `moot rules export room r-1` into a file, a later expires_at there, "
            "and `moot rules import` of the file.\nNot used yet.\n") },
        { BOOK("on", EXPIRED("suggested")), "suggested",
          S("r-1 (suggested)\nIn room, bot may ask for m, 1 times an hour at most, until 2026-11-16, without arguments.\n\n"
            "It does not act: it was only suggested.\n`moot rules accept room r-1` lets it act, with --shadow it only says what it would do.\n"
            "Besides, it expired, 2026-11-16 11:00 UTC.\n`moot rules accept room r-1` with --expires 30d lets it act so long.\nNot used yet.\n") },
    };
    /* clang-format on */
    struct buf out;

    buf_init(&out, OUT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *why = NULL;
        struct room_rules rules;

        read_book(cases[i].book, &rules);
        buf_clear(&out);
        rules_put_words(&out, &rules, &rules.items[0], now(), 0);
        CHECK_STR(buf_str(&out), cases[i].want);
        CHECK_INT(rules_acts(&rules, &rules.items[0], now(), &why), !cases[i].why_not);
        CHECK_STR(str_of(why ? why : ""),
                  str_of(cases[i].why_not ? cases[i].why_not : ""));
        room_rules_done(&rules);
    }
    buf_done(&out);
}

TEST(words_are_broken_where_the_terminal_ends)
{
    struct room_rules rules;
    struct buf out;
    struct str rest;

    buf_init(&out, OUT);
    read_book(BOOK("off", RULE("r-1", "suspended", BY_ANN)), &rules);
    rules_put_words(&out, &rules, &rules.items[0], now(), 60);
    rest = buf_str(&out);
    while (rest.len)
        CHECK(utf8_count(str_cut(&rest, '\n')) <= 60);
    buf_done(&out);
    room_rules_done(&rules);
}

#define EVIDENCE                                                                    \
    ",\"created_by\":\"orch\",\"evidence\":{\"approved\":20,\"days\":3,\"people\":" \
    "[\"ann\"]}"

TEST(a_rule_is_shown_as_a_file_that_can_be_read_again)
{
    struct room_rules rules;
    struct buf out;

    buf_init(&out, OUT);
    read_book(BOOK("on", RULE("r-1", "suspended",
                              BY_ANN EVIDENCE ",\"uses\":2,\"reason\":\"two\\nlines\"")),
              &rules);
    rules_put_entry(&out, &rules.items[0], now(), 0);
    CHECK(memmem(out.ptr, out.len, "    state: \"suspended\"\n", 23));
    CHECK(
        str_ends(buf_str(&out),
                 S("    # Those numbers are the word of orch, who brought it.\n"
                   "    # It became suspended by ann, 2026-11-15 10:00 UTC: two\\nlines\n"
                   "    # Used 2 times, 0 of 20 within this hour.\n")));
    buf_clear(&out);
    rules_put_entry(&out, &rules.items[0], now(), 50);
    CHECK_STR(str_slice(buf_str(&out), 0, 100),
              S("  # In room, bot may call write of files, 20 times\n"
                "  # an hour at most, until 2026-12-16, where\n  # "));
    buf_done(&out);
    room_rules_done(&rules);
}

/* --- refusals --- */

TEST(a_refusal_says_what_to_do_instead)
{
    /* clang-format off */
    static const struct { struct rules_refusal refusal; struct str want; } cases[] = {
        { { RULE_ACCEPT, .error = "rule_state", .state = S("suspended") },
          S("r-1 is suspended; `moot rules enable room r-1` lets it act again") },
        { { RULE_ACCEPT, .error = "rule_state", .state = S("active") }, S("r-1 is active already") },
        { { RULE_ACCEPT, .error = "rule_state", .state = S("shadow") }, S("r-1 is in shadow already") },
        { { RULE_DECLINE, .error = "rule_state", .state = S("active") },
          S("r-1 is active; `moot rules disable room r-1` stops it") },
        { { RULE_ENABLE, .error = "rule_state", .state = S("suggested") },
          S("r-1 is suggested; `moot rules accept room r-1` lets it act") },
        { { RULE_DISABLE, .error = "rule_state", .state = S("odd"), .message = "it is odd" },
          S("r-1 was not disabled: it is odd") },
        { { RULE_ADD, .error = "unavailable", .message = "there\nis no room" },
          S("r-1 was not added: there\\nis no room") },
        { { RULE_ACCEPT, .error = "malformed_envelope", .message = "`payload.narrow`: is not within what was suggested" },
          S("r-1 was not accepted: narrow: is not within what was suggested") },
        { { RULE_ADD, .error = "malformed_envelope", .message = "`payload.rule.expires_at`: a time" }, S("r-1 was not added: expires_at: a time") },
        { { RULE_ADD, .error = "malformed_envelope", .message = "`payload.rule" }, S("r-1 was not added: `payload.rule") },
        { { RULE_ACCEPT, .error = "forbidden", .message = "only people accept rules", .me = "robot" },
          S("only people accept rules; --token-file takes the token of a person") },
        { { RULE_ACCEPT, .error = "forbidden", .message = "no", .me = "bot" },
          S("it is about your own proposals; somebody else decides") },
        { { RULE_ENABLE, .error = "not_found" },
          S("r-1 is not there any more; `moot rules list room` shows what is") },
        { { RULE_REMOVE, .error = "capability_violation" },
          S("you may not send rule/remove in room; admin.token may (--token-file)") },
        { { RULE_ACCEPT, .error = "capability_violation" },
          S("you may not send rule/accept in room; --token-file takes the token of somebody who may") },
    };
    /* clang-format on */
    struct buf out;

    buf_init(&out, OUT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rules_refusal r = cases[i].refusal;

        r.topic = S("room");
        r.id = S("r-1");
        r.proposer = S("bot");
        r.me = r.me ? r.me : "ann";
        r.message = r.message ? r.message : "";
        buf_clear(&out);
        rules_put_refusal(&out, &r);
        CHECK_STR(buf_str(&out), cases[i].want);
    }
    buf_done(&out);
}
