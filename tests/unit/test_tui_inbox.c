/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness.h"
#include "tui/inbox.h"

enum { NOW = 1000, LATER = 2000 };

static const char *const files[] = { "files" };
static const char *const games[] = { "games" };

static struct moot_proposal proposal(const char *id)
{
    return (struct moot_proposal){ .id = id,
                                   .proposer = "bot",
                                   .method = "tools/call",
                                   .name = "rm",
                                   .to = files,
                                   .to_count = 1,
                                   .params = { "{\"name\":\"rm\"}", 13 },
                                   .expires_ms = LATER };
}

static enum inbox_news put(struct inbox *inbox, const char *id)
{
    struct moot_proposal p = proposal(id);

    return inbox_update(inbox, &p);
}

static enum inbox_news end(struct inbox *inbox, const char *id,
                           enum moot_proposal_state state)
{
    struct moot_proposal p = proposal(id);

    p.state = state;
    return inbox_update(inbox, &p);
}

/* The ids, the chosen one in brackets, what is over with a dash. */
static void check_list(const struct inbox *inbox, struct str want)
{
    struct inbox_item *item = NULL;
    struct buf out;

    buf_init(&out, 1 << 16);
    while ((item = inbox_next(inbox, item)) != NULL)
        buf_putf(&out, "%s%s%s%s ", item == inbox->chosen ? "[" : "", item->id,
                 item->state == MOOT_OPEN ? "" : "-", item == inbox->chosen ? "]" : "");
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(what_arrives_or_is_over_moves_nothing_under_the_cursor)
{
    struct inbox inbox;

    inbox_init(&inbox);
    CHECK_INT(put(&inbox, "p1"), INBOX_NEW);
    CHECK_INT(put(&inbox, "p2"), INBOX_NEW);
    CHECK_INT(put(&inbox, "p2"), INBOX_NOTHING);
    CHECK(inbox_move(&inbox, 1));
    CHECK_INT(put(&inbox, "p3"), INBOX_NEW);
    CHECK_INT(end(&inbox, "p1", MOOT_REJECTED), INBOX_OVER);
    check_list(&inbox, S("p1- [p2] p3 "));
    CHECK_INT(end(&inbox, "p2", MOOT_WITHDRAWN), INBOX_OVER);
    CHECK_INT(put(&inbox, "p4"), INBOX_NEW);
    check_list(&inbox, S("p1- [p2-] p3 p4 "));
    CHECK_INT(inbox.open_count, 2);
    inbox_tidy(&inbox);
    check_list(&inbox, S("[p3] p4 "));
    inbox_done(&inbox);
}

TEST(what_is_over_and_was_not_known_is_not_entered)
{
    struct inbox inbox;

    inbox_init(&inbox);
    CHECK_INT(end(&inbox, "p1", MOOT_FULFILLED), INBOX_NOTHING);
    check_list(&inbox, S(""));
    CHECK(!inbox_move(&inbox, 1));
    CHECK(!inbox_choose(&inbox, S("p1")));
    inbox_done(&inbox);
}

TEST(tidying_chooses_what_is_next_or_the_first)
{
    struct inbox inbox;

    inbox_init(&inbox);
    (void)put(&inbox, "p1");
    (void)put(&inbox, "p2");
    CHECK(inbox_choose(&inbox, S("p2")));
    (void)end(&inbox, "p2", MOOT_EXPIRED);
    inbox_tidy(&inbox);
    check_list(&inbox, S("[p1] "));
    (void)end(&inbox, "p1", MOOT_EXPIRED);
    inbox_tidy(&inbox);
    check_list(&inbox, S(""));
    (void)put(&inbox, "p3");
    check_list(&inbox, S("[p3] "));
    inbox_done(&inbox);
}

TEST(a_verdict_holds_only_for_what_was_seen)
{
    enum change { NONE, OVER, GONE, PARAMS, TOOL, ADDRESSEE, EXPIRED, OTHERS, LIBRARY };
    /* clang-format off */
    static const struct { enum change change; enum err err; const char *why; } cases[] = {
        { NONE,      OK,                 "" },
        { OTHERS,    OK,                 "" },
        { OVER,      ERR_PROPOSAL_STATE, "it was withdrawn: nothing was done" },
        { LIBRARY,   ERR_PROPOSAL_STATE, "it has been fulfilled already: nothing was done" },
        { GONE,      ERR_NOT_FOUND,      "it is not known any more: nothing was done" },
        { PARAMS,    ERR_CONFLICT,       "it has changed: nothing was done, look again" },
        { TOOL,      ERR_CONFLICT,       "it has changed: nothing was done, look again" },
        { ADDRESSEE, ERR_CONFLICT,       "it has changed: nothing was done, look again" },
        { EXPIRED,   ERR_PROPOSAL_STATE, "it has expired: nothing was done" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct moot_proposal p = proposal("p1");
        struct verdict v = {};
        struct inbox inbox;
        const char *why = "";

        inbox_init(&inbox);
        (void)put(&inbox, "p1");
        CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), OK);
        if (c->change == PARAMS)
            p.params = (struct moot_str){ "{\"name\":\"rm\",\"x\":1}", 19 };
        if (c->change == TOOL)
            p.name = "rmdir";
        if (c->change == ADDRESSEE)
            p.to = games;
        if (c->change == OVER)
            p.state = MOOT_WITHDRAWN;
        if (c->change == OTHERS) {
            (void)put(&inbox, "p0");
            (void)end(&inbox, "p0", MOOT_REJECTED);
        }
        (void)inbox_update(&inbox, &p);
        if (c->change == LIBRARY)
            p.state = MOOT_FULFILLED;
        CHECK_INT(verdict_check(&v, &inbox, c->change == GONE ? NULL : &p,
                                c->change == EXPIRED ? LATER : NOW, &why),
                  c->err);
        if (c->err)
            CHECK_STR(str_of(why), str_of(c->why));
        verdict_done(&v);
        inbox_done(&inbox);
    }
}

TEST(a_change_is_noticed_also_when_it_is_taken_back)
{
    struct moot_proposal p = proposal("p1");
    struct verdict v = {};
    struct inbox inbox;
    const char *why;

    inbox_init(&inbox);
    (void)put(&inbox, "p1");
    CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), OK);
    p.name = "rmdir";
    CHECK_INT(inbox_update(&inbox, &p), INBOX_CHANGED);
    p.name = "rm";
    CHECK_INT(inbox_update(&inbox, &p), INBOX_CHANGED);
    CHECK_INT(verdict_check(&v, &inbox, &p, NOW, &why), ERR_CONFLICT);
    verdict_done(&v);
    inbox_done(&inbox);
}

TEST(what_cannot_be_decided_says_why)
{
    /* clang-format off */
    static const struct {
        bool is_mine, is_unknown;
        enum moot_proposal_state state;
        enum verdict_type type;
        const char *why;
    } cases[] = {
        { false, false, MOOT_OPEN,      VERDICT_RUN,      NULL },
        { false, false, MOOT_OPEN,      VERDICT_REJECT,   NULL },
        { false, false, MOOT_OPEN,      VERDICT_WITHDRAW, "only who proposed it can withdraw it" },
        { true,  false, MOOT_OPEN,      VERDICT_WITHDRAW, NULL },
        { true,  false, MOOT_OPEN,      VERDICT_RUN,      "it is your own: others decide on it, you can withdraw it" },
        { true,  false, MOOT_OPEN,      VERDICT_REJECT,   "it is your own: others decide on it, you can withdraw it" },
        { false, true,  MOOT_OPEN,      VERDICT_RUN,      "what it asks for is not known here, so it cannot be approved" },
        { false, true,  MOOT_OPEN,      VERDICT_REJECT,   NULL },
        { false, false, MOOT_REJECTED,  VERDICT_RUN,      "it has been rejected already: nothing was done" },
        { false, false, MOOT_EXPIRED,   VERDICT_REJECT,   "it has expired: nothing was done" },
        { true,  false, MOOT_FULFILLED, VERDICT_WITHDRAW, "it has been fulfilled already: nothing was done" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct moot_proposal p = proposal("p1");
        struct verdict v = {};
        struct inbox inbox;
        const char *why = "";

        inbox_init(&inbox);
        p.is_mine = c->is_mine;
        if (c->is_unknown)
            p.params = (struct moot_str){};
        (void)inbox_update(&inbox, &p);
        p.state = c->state;
        (void)inbox_update(&inbox, &p);
        CHECK_INT(verdict_begin(&v, &inbox, c->type, NOW, &why),
                  c->why ? ERR_PROPOSAL_STATE : OK);
        CHECK_STR(str_of(why), str_of(c->why));
        verdict_done(&v);
        inbox_done(&inbox);
    }
}

TEST(a_decision_is_made_once_unless_it_was_refused)
{
    struct verdict v = {};
    struct inbox inbox;
    const char *why = "";

    inbox_init(&inbox);
    (void)put(&inbox, "p1");
    inbox.chosen->is_decided = true;
    CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("you have decided on it already"));
    inbox_reopen(&inbox);
    CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), OK);
    verdict_done(&v);
    inbox_done(&inbox);
}

TEST(items_are_bounded_open_or_over)
{
    struct inbox inbox;
    char id[16];

    inbox_init(&inbox);
    for (int i = 0; i < INBOX_ITEMS + 10; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)put(&inbox, id);
    }
    CHECK_INT(inbox.open_count, INBOX_ITEMS);
    for (int i = 0; i < INBOX_ITEMS; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)end(&inbox, id, MOOT_EXPIRED);
    }
    CHECK_INT(inbox.count, INBOX_CLOSED);
    CHECK_STR(str_of(inbox.chosen->id), S("p0"));
    inbox_done(&inbox);
}

TEST(what_is_left_is_told_in_words)
{
    static const struct {
        uint64_t expires;
        struct str want;
    } cases[] = {
        { NOW, S("expired") },        { 0, S("expired") },
        { NOW + 1, S("0:01") },       { NOW + 59'000, S("0:59") },
        { NOW + 291'000, S("4:51") }, { NOW + 7'380'000, S("2 h 3 min") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 64);
        inbox_put_left(&out, c->expires, NOW);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

/* --- one of several --- */

static const char *const ann[] = { "ann" };
static const char *const both[] = { "ann", "me" };

static struct moot_proposal counted(uint32_t given, const char *const *approvers)
{
    struct moot_proposal p = proposal("p1");

    p.needed = 2;
    p.given = given;
    p.approvers = approvers;
    p.approver_count = given;
    return p;
}

TEST(ours_is_one_of_several_until_it_is_enough)
{
    struct moot_proposal none = counted(0, NULL);
    struct moot_proposal one = counted(1, ann);
    struct moot_proposal mine = counted(1, both + 1);
    struct moot_proposal two = counted(2, both);
    const struct inbox_item *item;
    struct verdict v = {};
    const char *why = "";
    struct inbox inbox;

    inbox_init(&inbox);
    inbox_know(&inbox, "me");
    (void)inbox_update(&inbox, &none);
    item = inbox.chosen;
    CHECK(!inbox_is_enough(item, true));
    (void)inbox_update(&inbox, &one);
    CHECK_STR(str_of(item->approvers), S("ann"));
    CHECK(inbox_is_enough(item, true));
    CHECK(!inbox_is_enough(item, false));
    CHECK(inbox_waits(item));
    (void)inbox_update(&inbox, &mine);
    CHECK(!inbox_is_enough(item, true));
    CHECK(!inbox_waits(item));
    CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("you have approved it already: others have to as well"));
    (void)inbox_update(&inbox, &two);
    CHECK(inbox_is_enough(item, false));
    CHECK(inbox_waits(item));
    CHECK_INT(verdict_begin(&v, &inbox, VERDICT_RUN, NOW, &why), OK);
    verdict_done(&v);
    inbox_done(&inbox);
}

TEST(a_new_count_lets_us_decide_again)
{
    struct moot_proposal none = counted(0, NULL);
    struct moot_proposal one = counted(1, ann);
    struct inbox inbox;

    inbox_init(&inbox);
    (void)inbox_update(&inbox, &none);
    inbox.chosen->is_decided = true;
    (void)inbox_update(&inbox, &none);
    CHECK(inbox.chosen->is_decided);
    (void)inbox_update(&inbox, &one);
    CHECK(!inbox.chosen->is_decided);
    inbox_done(&inbox);
}

TEST(what_somebody_else_is_asked_is_not_ours)
{
    static const struct {
        const char *owner, *asked;
        enum verdict_type type;
        const char *why; /* NULL: it can be decided so */
    } cases[] = {
        { "files", NULL, VERDICT_RUN, NULL },
        { "files", "me", VERDICT_RUN, NULL },
        { "files", "me", VERDICT_DELEGATE, NULL },
        { "files", "ann", VERDICT_RUN,
          "somebody else is asked to decide: no other answer counts" },
        { "files", "ann", VERDICT_REJECT,
          "somebody else is asked to decide: no other answer counts" },
        { "files", "ann", VERDICT_DELEGATE,
          "somebody else is asked to decide: no other answer counts" },
        { NULL, NULL, VERDICT_DELEGATE,
          "only what a server asks about can be left to somebody else" },
    };

    FOR_EACH_CASE(c, cases) {
        struct moot_proposal p = proposal("p1");
        struct verdict v = {};
        const char *why = NULL;
        struct inbox inbox;

        p.owner = c->owner;
        p.asked = c->asked;
        inbox_init(&inbox);
        inbox_know(&inbox, "me");
        (void)inbox_update(&inbox, &p);
        CHECK_INT(verdict_begin(&v, &inbox, c->type, NOW, &why),
                  c->why ? ERR_PROPOSAL_STATE : OK);
        CHECK_STR(str_of(why), str_of(c->why));
        verdict_done(&v);
        inbox_done(&inbox);
    }
}
