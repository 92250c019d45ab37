/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in use: what passes by one, what does not, and what suspends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit/use.h"
#include "base/cleanup.h"
#include "fake_topic.h"
#include "harness.h"
#include "policy/rulings.h"

enum { NOW = 50'000, PEOPLE = 7, HOUR = 3'600'000 };
static const uint64_t WALL = 1'800'000'000'000;

static bool can_be_kept;

static enum err judge_record(struct admission *a [[maybe_unused]], struct refusal *r)
{
    return can_be_kept ? OK : refusal_set(r, ERR_UNAVAILABLE, S(""), "no disk");
}

static char by[128]; /* as it would be recorded */

static uint64_t on_admitted(struct admission *a, struct str text [[maybe_unused]])
{
    (void)snprintf(by, sizeof(by), STR_FMT, STR_ARG(admission_by(a)));
    return 0;
}

static const struct room_ops room_ops = { .judge_record = judge_record,
                                          .on_admitted = on_admitted };

/* The proposer, the orchestrator and another, people, one who may only call, a tool. */
static const struct {
    const char *id;
    enum participant_type type;
    struct str capabilities[3];
    size_t count;
} people[PEOPLE] = {
    { "bot", TYPE_AGENT, { S("mcp/proposal:*"), S("rule/use"), S("chat") }, 3 },
    { "orc", TYPE_SERVICE, { S("rule/use"), S("chat") }, 2 },
    { "org", TYPE_AGENT, { S("rule/*"), S("chat") }, 2 },
    { "ann", TYPE_HUMAN, { S("mcp/*"), S("chat") }, 2 },
    { "guy", TYPE_AGENT, { S("mcp/*"), S("chat") }, 2 },
    { "fs", TYPE_SERVICE, { S("mcp/response:*") }, 1 },
    { "eve", TYPE_HUMAN, { S("mcp/reject"), S("mcp/proposal:*"), S("rule/use") }, 3 },
};

struct stage {
    struct room room;
    struct topic_settings topic_settings;
    struct ledger_settings ledger_settings;
    struct admit_rules rules;
    struct admit_limits limits;
    struct arena scratch, kept;
    struct capsets *capsets;
    struct member members[PEOPLE];
    struct rulings *rulings;
    struct admission a;
    struct refusal refusal;
    char rule[2][80]; /* ids of the rules */
    uint64_t wall_ms;
    size_t ids;
};

#define RULE(to, under, budget)                                                      \
    "{\"rules\":[{\"topic\":\"room\",\"state\":\"active\","                          \
    "\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"write\",\"to\":\"" to \
    "\",\"arguments\":{\"path\":{\"under\":\"/srv/" under                            \
    "\",\"characters\":\"a-z\",\"max_bytes\":60,\"depth\":2}},\"budget\":" budget    \
    ",\"expires_at\":\"2027-01-16T00:00:00Z\"}]}"

/* As a person adds it. */
static void add_rule(struct stage *stage, const char *text, char id[static 80])
{
    struct rule_problem problem = {};
    struct rulebook_problem why = {};
    struct rule_list list = {};
    struct rule_change change = {
        .verb = RULE_ADD, .by = S("ann"), .is_by_human = true, .at_ms = WALL
    };
    const struct held_rule *declined, *held;

    CHECK_INT(rules_read(str_of(text), &stage->kept, &list, &problem), OK);
    CHECK_STR(str_of(problem.what), S(""));
    CHECK_INT(list.count, 1);
    change.rule = &list.items[0];
    change.id = list.items[0].id;
    CHECK_INT(rulebook_judge(stage->room.rulebook, &change, &why), OK);
    held = rulebook_apply(stage->room.rulebook, &change, &declined);
    CHECK_INT(held->rule.state, RULE_ACTIVE);
    (void)snprintf(id, 80, STR_FMT, STR_ARG(held->rule.id));
}

static void change_rule(struct stage *stage, const char *id, enum rule_verb verb)
{
    struct rule_change change = {
        .verb = verb, .id = str_of(id), .by = S("ann"), .is_by_human = true, .at_ms = WALL
    };
    const struct held_rule *declined;
    struct rulebook_problem why = {};

    CHECK_INT(rulebook_judge(stage->room.rulebook, &change, &why), OK);
    (void)rulebook_apply(stage->room.rulebook, &change, &declined);
}

static void enter(struct stage *stage, size_t i)
{
    struct topic *topic = &stage->room.topic;
    struct capset *caps = NULL;

    CHECK_INT(capset_intern(stage->capsets,
                            (struct str_list){ people[i].capabilities, people[i].count },
                            &caps, NULL),
              OK);
    topic_join(
        topic, &stage->members[i],
        &(struct join){ .participant = participant_enter(topic, str_of(people[i].id),
                                                         people[i].type, caps, NOW),
                        .ops = &fake_deaf_member,
                        .number = i + 1 });
    capset_unref(caps);
}

static void stage_init(struct stage *stage, enum proposal_mode mode)
{
    *stage = (struct stage){
        .topic_settings = { .ring_messages = 3,
                            .ring_bytes = 1 << 20,
                            .max_members = 9,
                            .max_members_each = 9 },
        .ledger_settings = { .mode = mode,
                             .expiry_ms = 60'000,
                             .max_expiry_ms = 120'000,
                             .max_proposals = 90,
                             .max_requests = 9 },
        .limits = { .depth = 16, .rate_strikes = 2 },
        .wall_ms = WALL,
    };
    can_be_kept = true;
    arena_init(&stage->scratch, 1 << 20);
    arena_init(&stage->kept, 1 << 20);
    stage->capsets = capsets_new();
    topic_init(&stage->room.topic,
               &(struct topic_setup){ .name = S("room"),
                                      .native = &fake_plain,
                                      .settings = &stage->topic_settings,
                                      .ops = &fake_deaf_topic });
    stage->room.rules = &stage->rules;
    stage->room.ops = &room_ops;
    stage->room.has_automation = true;
    stage->room.rulebook = rulebook_new(S("room"));
    ledger_init(&stage->room.ledger, &stage->ledger_settings);
    for (size_t i = 0; i < PEOPLE; i++)
        enter(stage, i);
    add_rule(stage, RULE("fs", "app", "2"), stage->rule[0]);
    add_rule(stage, RULE("*", "app", "20"), stage->rule[1]);
}

static void stage_done(struct stage *stage)
{
    for (size_t i = 0; i < PEOPLE; i++)
        member_leave(&stage->members[i], NOW);
    ledger_done(&stage->room.ledger);
    rulebook_free(stage->room.rulebook);
    topic_done(&stage->room.topic);
    capsets_free(stage->capsets);
    arena_done(&stage->scratch);
    arena_done(&stage->kept);
    rulings_free(stage->rulings);
}

static enum err send(struct stage *stage, const char *who, enum dialect dialect,
                     struct str said)
{
    size_t at = 0;

    while (strcmp(people[at].id, who) != 0)
        at++;
    stage->a = (struct admission){ .room = &stage->room,
                                   .sender = stage->members[at].participant,
                                   .member = &stage->members[at],
                                   .dialect = dialect,
                                   .text = said,
                                   .limits = &stage->limits,
                                   .scratch = &stage->scratch,
                                   .now_ms = NOW,
                                   .wall_ms = stage->wall_ms };
    if (dialect == DIALECT_SLASH)
        stage->a.text.ptr =
            memcpy(topic_reserve(&stage->room.topic, said.len), said.ptr, said.len);
    stage->refusal = (struct refusal){};
    return admit(&stage->a, &stage->refusal);
}

/* What is not said is as it should be. */
struct note {
    const char *from, *kind, *about, *to, *payload, *more, *id;
    enum dialect dialect;
};

#define ARGS(path)                                                                              \
    "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"" path \
    "\"}}}"

static enum err say(struct stage *stage, struct note n)
{
    struct buf text;
    enum err err;

    buf_init(&text, 4096);
    buf_putf(&text, "{\"protocol\":\"%s\",\"from\":\"%s\",\"kind\":\"%s\",\"payload\":%s",
             n.dialect == DIALECT_SLASH ? "mcpx/v0.1" : "mcpx/draft", n.from, n.kind,
             n.payload ? n.payload : ARGS("/srv/app/x"));
    if (n.id)
        buf_putf(&text, ",\"id\":\"%s\"", n.id);
    else
        buf_putf(&text, ",\"id\":\"m%zu\"", ++stage->ids);
    if (n.about)
        buf_putf(&text, ",\"correlation_id\":\"%s\"", n.about);
    buf_putf(&text, ",\"to\":[%s]%s}", n.to ? n.to : "\"fs\"", n.more ? n.more : "");
    err = send(stage, n.from, n.dialect, buf_str(&text));
    buf_done(&text);
    return err;
}

static enum err propose(struct stage *stage, const char *id)
{
    return say(stage, (struct note){ .from = "bot",
                                     .id = id,
                                     .kind = "mcp/proposal:tools/call:write" });
}

/* By the first rule. */
static struct note use(const struct stage *stage, const char *about)
{
    static char more[128];

    (void)snprintf(more, sizeof(more), ",\"rule\":\"%s\"", stage->rule[0]);
    return (struct note){ .from = "orc",
                          .kind = "mcp/request:tools/call:write",
                          .about = about,
                          .more = more };
}

static const struct held_rule *held(const struct stage *stage, size_t which)
{
    return rulebook_find(stage->room.rulebook, str_of(stage->rule[which]));
}

static uint64_t uses(const struct stage *stage)
{
    return held(stage, 0)->uses;
}

static enum proposal_state state(struct stage *stage, const char *id)
{
    return (enum proposal_state)ledger_find(&stage->room.ledger, str_of(id),
                                            stage->wall_ms)
        ->state;
}

static const enum proposal_mode modes[] = { PROPOSALS_FREE, PROPOSALS_ONCE,
                                            PROPOSALS_EXACT };

TEST(a_rule_fulfils_a_proposal_once_and_is_what_allows_it)
{
    FOR_EACH_CASE(mode, modes) {
        struct stage stage;

        stage_init(&stage, *mode);
        CHECK_INT(propose(&stage, "p"), OK);
        CHECK_INT(say(&stage, use(&stage, "p")), OK);
        CHECK_INT(state(&stage, "p"), PROPOSAL_FULFILLED);
        CHECK_STR(ledger_find(&stage.room.ledger, S("p"), WALL)->rule,
                  str_of(stage.rule[0]));
        CHECK(str_starts(str_of(by), S("rule:")));
        CHECK_STR(str_slice(str_of(by), 5, 128), str_of(stage.rule[0]));
        CHECK_INT(uses(&stage), 1);
        CHECK_INT(held(&stage, 0)->last_use_ms, WALL);
        CHECK(stage.a.has_sequel && stage.a.changes_state);
        CHECK_STR(stage.a.rules->used, str_of(stage.rule[0]));
        /* Again, or by another: too late, and nothing is spent. */
        CHECK_INT(say(&stage, use(&stage, "p")), ERR_PROPOSAL_STATE);
        CHECK_STR(stage.refusal.rule, str_of(stage.rule[0]));
        CHECK_INT(uses(&stage), 1);
        stage_done(&stage);
    }
}

/* What is tried, by whom, and what comes of it: nothing is spent. */
TEST(whatever_is_not_just_what_the_rule_is_for_is_refused_and_costs_nothing)
{
    /* clang-format off */
    static const struct { const char *what; struct note note; enum err err; } cases[] = {
        { "he may not use rules", { .from = "guy" }, ERR_CAPABILITY_VIOLATION },
        { "nor people",           { .from = "ann" }, ERR_CAPABILITY_VIOLATION },
        { "his own",              { .from = "bot" }, ERR_PROPOSAL_STATE },
        { "other arguments",      { .payload = ARGS("/srv/app/y") }, ERR_ARGUMENT_MISMATCH },
        { "more of them",         { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"/srv/app/x\",\"mode\":1}}}" }, ERR_ARGUMENT_MISMATCH },
        { "one twice",            { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"/srv/app/x\",\"path\":\"/srv/app/x\"}}}" }, ERR_KIND_PAYLOAD_MISMATCH },
        { "params twice",         { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"/srv/app/x\"}},\"params\":{}}" }, ERR_KIND_PAYLOAD_MISMATCH },
        { "a look-alike",         { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"/srv/app/x\"},\"Arguments\":{}}}" }, ERR_KIND_PAYLOAD_MISMATCH },
        { "other params",         { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"path\":\"/srv/app/x\"},\"task\":{}}}" }, ERR_RULE_STATE },
        { "another tool",         { .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"path\":\"/srv/app/x\"}}}" }, ERR_KIND_PAYLOAD_MISMATCH },
        { "another kind",         { .kind = "mcp/request:tools/call:rm" }, ERR_KIND_PAYLOAD_MISMATCH },
        { "another, and says so", { .kind = "mcp/request:tools/call:rm", .payload = "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"path\":\"/srv/app/x\"}}}" }, ERR_RULE_STATE },
        { "no tool in the kind",  { .kind = "mcp/request:tools/call" }, ERR_RULE_STATE },
        { "to another",           { .to = "\"guy\"" }, ERR_RULE_STATE },
        { "to all",               { .to = "" }, ERR_RULE_STATE },
        { "to one more",          { .to = "\"fs\",\"guy\"" }, ERR_RULE_STATE },
        { "to it twice",          { .to = "\"fs\",\"fs\"" }, ERR_RULE_STATE },
        { "edited",               { .more = ",\"edited\":true,\"rule\":\"r-app\"" }, ERR_PROPOSAL_STATE },
        { "not edited, it says",  { .more = ",\"edited\":false,\"rule\":\"r-app\"" }, ERR_PROPOSAL_STATE },
        { "an unknown rule",      { .more = ",\"rule\":\"r-nil\"" }, ERR_RULE_STATE },
        { "about nothing",        { .about = "q" }, ERR_RULE_STATE },
        { "no request",           { .kind = "chat" }, ERR_RULE_STATE },
        { "no request either",    { .kind = "mcp/reject" }, ERR_RULE_STATE },
        { "nor this",             { .kind = "mcp/withdraw" }, ERR_RULE_STATE },
        { "a proposal",           { .from = "bot", .kind = "mcp/proposal:tools/call:write" }, ERR_RULE_STATE },
        { "in dots, other",       { .kind = "mcp.request.tools/call:write", .payload = ARGS("/srv/app/z"), .dialect = DIALECT_DOTTED }, ERR_ARGUMENT_MISMATCH },
    };
    /* clang-format on */
    struct stage stage;

    for (size_t i = 0; i < COUNT(modes); i++) {
        stage_init(&stage, modes[i]);
        CHECK_INT(propose(&stage, "p"), OK);
        FOR_EACH_CASE(c, cases) {
            struct note note = use(&stage, c->note.about ? c->note.about : "p");
            struct note n = c->note;

            note.from = n.from ? n.from : note.from;
            note.kind = n.kind ? n.kind : note.kind;
            note.to = n.to ? n.to : note.to;
            note.payload = n.payload ? n.payload : note.payload;
            note.more = n.more ? n.more : note.more;
            note.dialect = n.dialect;
            CHECK_INT(say(&stage, note), c->err);
            CHECK_INT(uses(&stage), 0);
            CHECK_INT(state(&stage, "p"), PROPOSAL_OPEN);
        }
        CHECK_INT(say(&stage, use(&stage, "p")), OK);
        stage_done(&stage);
    }
}

TEST(a_request_without_a_rule_needs_its_capability)
{
    struct note note;
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p"), OK);
    note = use(&stage, "p");
    note.more = NULL;
    CHECK_INT(say(&stage, note), ERR_CAPABILITY_VIOLATION);
    CHECK_STR(stage.refusal.field, S("kind"));
    note = use(&stage, "p");
    note.from = "guy";
    CHECK_INT(say(&stage, note), ERR_CAPABILITY_VIOLATION);
    CHECK_STR(stage.refusal.field, S("rule"));
    CHECK_STR(stage.refusal.capability, S("rule/use"));
    stage_done(&stage);
}

TEST(in_dots_it_is_the_same)
{
    struct stage stage;
    struct note note;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p"), OK);
    note = use(&stage, "p");
    note.kind = "mcp.request.tools/call:write";
    note.dialect = DIALECT_DOTTED;
    CHECK_INT(say(&stage, note), OK);
    CHECK_INT(uses(&stage), 1);
    CHECK_INT(state(&stage, "p"), PROPOSAL_FULFILLED);
    stage_done(&stage);
}

TEST(a_proposal_that_goes_to_nobody_is_fulfilled_to_nobody)
{
    struct stage stage;
    struct note note;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(say(&stage, (struct note){ .from = "bot",
                                         .id = "p",
                                         .to = "",
                                         .kind = "mcp/proposal:tools/call:write" }),
              OK);
    CHECK_INT(say(&stage, use(&stage, "p")), ERR_ARGUMENT_MISMATCH);
    CHECK_STR(stage.refusal.field, S("to"));
    note = use(&stage, "p");
    note.to = "";
    CHECK_INT(say(&stage, note), ERR_RULE_STATE); /* the rule is for fs */
    CHECK_INT(uses(&stage), 0);
    stage_done(&stage);
}

static void check_refused(struct stage *stage, const char *id, const char *want)
{
    CHECK_INT(propose(stage, id), OK);
    CHECK_INT(say(stage, use(stage, id)), ERR_RULE_STATE);
    CHECK_STR(stage->refusal.rule, str_of(stage->rule[0]));
    CHECK_STR(stage->refusal.field, S("rule"));
    CHECK_STR(str_of(stage->refusal.state), str_of(want));
    CHECK_INT(state(stage, id), PROPOSAL_OPEN);
}

TEST(only_an_active_rule_is_used_and_none_where_automation_is_off)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    stage.room.has_automation = false;
    check_refused(&stage, "p1", "off");
    stage.room.has_automation = true;
    change_rule(&stage, stage.rule[0], RULE_SUSPEND);
    check_refused(&stage, "p2", "suspended");
    change_rule(&stage, stage.rule[0], RULE_DISABLE);
    check_refused(&stage, "p3", "disabled");
    change_rule(&stage, stage.rule[0], RULE_ENABLE);
    CHECK_INT(say(&stage, use(&stage, "p3")), OK);
    change_rule(&stage, stage.rule[0], RULE_REMOVE);
    check_refused(&stage, "p4", "unknown");
    rulebook_free(stage.room.rulebook);
    stage.room.rulebook = NULL;
    check_refused(&stage, "p5", "unknown");
    stage_done(&stage);
}

TEST(a_rule_that_has_expired_is_not_used)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    stage.wall_ms = WALL + (uint64_t)366 * 24 * HOUR;
    check_refused(&stage, "p", "expired");
    stage_done(&stage);
}

TEST(a_budget_is_spent_by_what_is_admitted_alone_and_comes_back)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p1"), OK);
    can_be_kept = false;
    CHECK_INT(say(&stage, use(&stage, "p1")), ERR_UNAVAILABLE);
    can_be_kept = true;
    CHECK_INT(uses(&stage), 0);
    CHECK_INT(say(&stage, use(&stage, "p1")), OK);
    stage.wall_ms += 60'000;
    CHECK_INT(propose(&stage, "p2"), OK);
    CHECK_INT(say(&stage, use(&stage, "p2")), OK);
    check_refused(&stage, "p3", "used up");
    CHECK(stage.refusal.retry_after_ms >= HOUR - 60'000);
    CHECK(stage.refusal.retry_after_ms <= HOUR + 60'000);
    CHECK_INT(uses(&stage), 2);
    stage.wall_ms += stage.refusal.retry_after_ms - 1;
    check_refused(&stage, "p3a", "used up");
    stage.wall_ms++;
    CHECK_INT(propose(&stage, "p4"), OK);
    CHECK_INT(say(&stage, use(&stage, "p4")), OK);
    check_refused(&stage, "p5", "used up");
    CHECK_INT(uses(&stage), 3);
    stage_done(&stage);
}

TEST(what_a_rule_does_not_cover_it_does_not_let_through)
{
    struct stage stage;
    struct note note;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(say(&stage, (struct note){ .from = "bot",
                                         .id = "p",
                                         .kind = "mcp/proposal:tools/call:write",
                                         .payload = ARGS("/etc/passwd") }),
              OK);
    note = use(&stage, "p");
    note.payload = ARGS("/etc/passwd");
    CHECK_INT(say(&stage, note), ERR_RULE_STATE);
    CHECK_STR(str_of(stage.refusal.state), S("active"));
    CHECK_STR(stage.refusal.path, S("arguments.path"));
    /* Somebody else's, of the same. */
    CHECK_INT(say(&stage, (struct note){ .from = "eve",
                                         .id = "q",
                                         .kind = "mcp/proposal:tools/call:write" }),
              OK);
    CHECK_INT(say(&stage, use(&stage, "q")), ERR_RULE_STATE);
    CHECK_STR(stage.refusal.path, S("proposer"));
    CHECK_INT(uses(&stage), 0);
    stage_done(&stage);
}

TEST(a_proposal_that_can_be_read_in_two_ways_is_covered_by_nothing)
{
    static const char *const payloads[] = {
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":"
        "{\"path\":\"/etc/passwd\",\"path\":\"/srv/app/x\"}}}",
        "{\"method\":\"tools/list\",\"params\":{\"name\":\"write\",\"arguments\":"
        "{\"path\":\"/srv/app/x\"}}}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":"
        "{\"path\":\"/srv/app/x\"}}}",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":"
        "{\"path\":\"/srv/app/x\"},\"x\":1}}",
    };

    FOR_EACH_CASE(payload, payloads) {
        struct stage stage;

        stage_init(&stage, PROPOSALS_ONCE);
        CHECK_INT(say(&stage, (struct note){ .from = "bot",
                                             .id = "p",
                                             .kind = "mcp/proposal:tools/call:write",
                                             .payload = *payload }),
                  OK);
        CHECK(say(&stage, use(&stage, "p")) != OK);
        CHECK_INT(state(&stage, "p"), PROPOSAL_OPEN);
        CHECK_INT(uses(&stage), 0);
        stage_done(&stage);
    }
}

TEST(an_accepted_rule_is_a_persons_word_and_what_is_denied_stays_denied)
{
    static const struct ruling_row ask = { .ruling = RULING_ASK,
                                           .kind = S("mcp/request:tools/call:*") };
    static const struct ruling_row deny = { .ruling = RULING_DENY,
                                            .kind = S("mcp/request:tools/call:*") };
    struct ruling_problem problem;
    struct stage stage;
    struct note note;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(rulings_new(&ask, 1, &stage.rulings, &problem), OK);
    stage.room.rulings = stage.rulings;
    stage.room.has_brake = stage.room.is_governed = true;
    CHECK_INT(propose(&stage, "p1"), OK);
    note = use(&stage, "p1");
    note.from = "guy"; /* agents do not wave it through without one */
    note.more = NULL;
    CHECK_INT(say(&stage, note), ERR_CAPABILITY_VIOLATION);
    note = use(&stage, "p1");
    note.from = "org";
    CHECK_INT(say(&stage, note), OK);
    rulings_free(stage.rulings);
    CHECK_INT(rulings_new(&deny, 1, &stage.rulings, &problem), OK);
    stage.room.rulings = stage.rulings;
    CHECK_INT(propose(&stage, "p2"), OK);
    CHECK_INT(say(&stage, use(&stage, "p2")), ERR_CAPABILITY_VIOLATION);
    CHECK_INT(uses(&stage), 1);
    stage_done(&stage);
}

/* --- a person's no --- */

static enum err reject(struct stage *stage, const char *who, const char *about)
{
    return say(stage, (struct note){ .from = who,
                                     .kind = "mcp/reject",
                                     .about = about,
                                     .payload = "{\"reason\":\"not there\"}" });
}

static void carry_out(struct stage *stage)
{
    const struct held_rule *declined;

    for (size_t i = 0; i < stage->a.rules->suspend_count; i++) {
        struct rule_change change = use_suspension(&stage->a, i);

        (void)rulebook_apply(stage->room.rulebook, &change, &declined);
    }
}

TEST(a_persons_no_to_what_rules_cover_suspends_all_of_them)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p1"), OK);
    CHECK_INT(reject(&stage, "guy", "p1"), OK); /* no person */
    CHECK(!stage.a.rules);
    CHECK_INT(propose(&stage, "p2"), OK);
    CHECK_INT(reject(&stage, "eve", "p2"), OK);
    CHECK_INT(stage.a.rules->suspend_count, 2);
    CHECK_STR(stage.a.rules->suspends[0], str_of(stage.rule[0]));
    CHECK_STR(stage.a.rules->suspends[1], str_of(stage.rule[1]));
    carry_out(&stage);
    CHECK_INT(held(&stage, 0)->rule.state, RULE_SUSPENDED);
    CHECK_INT(held(&stage, 1)->rule.state, RULE_SUSPENDED);
    CHECK_STR(held(&stage, 0)->changed_by, S("eve"));
    CHECK_STR(held(&stage, 0)->reason, S("not there"));
    check_refused(&stage, "p3", "suspended");
    CHECK_INT(reject(&stage, "ann", "p3"), OK); /* nothing is left to suspend */
    CHECK_INT(stage.a.rules->suspend_count, 0);
    stage_done(&stage);
}

TEST(a_no_to_something_else_suspends_nothing)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(say(&stage, (struct note){ .from = "bot",
                                         .id = "p",
                                         .kind = "mcp/proposal:tools/call:write",
                                         .payload = ARGS("/etc/passwd") }),
              OK);
    CHECK_INT(reject(&stage, "ann", "p"), OK);
    CHECK_INT(stage.a.rules->suspend_count, 0);
    stage_done(&stage);
}

TEST(an_objection_suspends_the_rule_that_let_it_through_and_no_other)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p"), OK);
    CHECK_INT(say(&stage, use(&stage, "p")), OK);
    CHECK_INT(reject(&stage, "guy", "p"), ERR_PROPOSAL_STATE);
    CHECK_INT(reject(&stage, "eve", "p"), OK);
    CHECK(stage.a.changes_state && stage.a.has_sequel);
    CHECK_INT(stage.a.rules->suspend_count, 1);
    CHECK_STR(stage.a.rules->suspends[0], str_of(stage.rule[0]));
    carry_out(&stage);
    CHECK_INT(held(&stage, 0)->rule.state, RULE_SUSPENDED);
    CHECK_INT(held(&stage, 1)->rule.state, RULE_ACTIVE);
    CHECK_INT(state(&stage, "p"), PROPOSAL_FULFILLED);
    CHECK_INT(reject(&stage, "ann", "p"), OK); /* heard, and no more */
    CHECK_INT(stage.a.rules->suspend_count, 0);
    change_rule(&stage, stage.rule[0], RULE_REMOVE);
    CHECK_INT(reject(&stage, "ann", "p"), OK);
    CHECK_INT(stage.a.rules->suspend_count, 0);
    stage_done(&stage);
}

TEST(a_person_may_object_without_a_word)
{
    struct stage stage;

    stage_init(&stage, PROPOSALS_ONCE);
    CHECK_INT(propose(&stage, "p"), OK);
    CHECK_INT(say(&stage, (struct note){ .from = "ann",
                                         .kind = "mcp/reject",
                                         .about = "p",
                                         .payload = "{}" }),
              OK);
    CHECK_STR(stage.a.rules->reason, S("a person rejected what it covers"));
    stage_done(&stage);
}
