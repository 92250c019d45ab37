/* SPDX-License-Identifier: Apache-2.0 */
/* Quorums, profiles, exact fulfilments and edits. */
#include <stdio.h>
#include <stdlib.h>

#include "approval/ledger.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"
#include "policy/pattern.h"

enum { START = 1'000'000, EXPIRY = 300'000 };

struct book {
    struct ledger ledger;
    struct ledger_settings settings;
    struct arena arena;
    struct ledger_effect effect;
    struct ledger_problem problem;
    struct buf edited; /* as the keeper heard it */
    size_t changes;
};

static void changed(struct ledger *ledger, const struct proposal *p)
{
    struct book *book = CONTAINER_OF(ledger, struct book, ledger);

    book->changes++;
    buf_clear(&book->edited);
    buf_put(&book->edited, p->edited);
}

static void forgotten(struct ledger *ledger [[maybe_unused]],
                      const struct proposal *p [[maybe_unused]])
{
}

static bool has_room(const struct ledger *ledger [[maybe_unused]],
                     struct str proposer [[maybe_unused]], size_t bytes [[maybe_unused]])
{
    return true;
}

static const struct ledger_keeper keeper = { .has_room = has_room,
                                             .changed = changed,
                                             .forgotten = forgotten };

static void book_init(struct book *book, enum proposal_mode mode,
                      struct approval_terms terms)
{
    *book = (struct book){ .settings = { .mode = mode,
                                         .approvals = terms,
                                         .expiry_ms = EXPIRY,
                                         .max_expiry_ms = EXPIRY,
                                         .max_proposals = 100,
                                         .max_requests = 100 } };
    ledger_init(&book->ledger, &book->settings);
    book->ledger.keeper = &keeper;
    arena_init(&book->arena, 1 << 20);
    buf_init(&book->edited, 1 << 20);
}

static void book_done(struct book *book)
{
    ledger_done(&book->ledger);
    arena_done(&book->arena);
    buf_done(&book->edited);
}

/* Who there is: the first letter says it all. */
static struct decider who_is(const char *id)
{
    struct decider who = { .is_human = *id == 'h' || *id == 'l' || *id == 'w' };

    who.may_approve = *id == 'h' || *id == 'l' || *id == 'b';
    if (*id == 'l')
        who.profile = S("lead");
    if (*id == 'h')
        who.profile = S("human");
    return who;
}

struct note {
    const char *id, *from, *kind, *about, *payload, *edited, *rule;
};

static enum err say(struct book *book, struct note note)
{
    struct decider who = who_is(note.from);
    struct envelope env;
    struct buf text;
    struct str kept;
    enum err err;

    buf_init(&text, 8192);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\"", note.id,
             note.from);
    if (note.about)
        buf_putf(&text, ",\"correlation_id\":\"%s\"", note.about);
    if (note.edited)
        buf_putf(&text, ",\"edited\":%s", note.edited);
    if (note.rule)
        buf_putf(&text, ",\"rule\":\"%s\"", note.rule);
    buf_putf(&text, ",\"kind\":\"%s\",\"payload\":%s}", note.kind,
             note.payload ? note.payload : "{}");
    kept = arena_str(&book->arena, buf_str(&text));
    buf_done(&text);
    CHECK_INT(
        envelope_scan(kept, JSON_MAX_DEPTH, DIALECT_SLASH, &book->arena, &env, NULL), OK);
    CHECK_INT(kind_parse(env.kind_text, &env.kind), OK);
    err = ledger_judge(&book->ledger, &env, START, &book->effect, &book->problem);
    if (!err && ledger_must_decide(&book->effect))
        err = ledger_decide(&book->ledger, &env, &who, &book->arena, &book->effect,
                            &book->problem);
    if (!err)
        ledger_enter(&book->ledger, &env, env.text, &book->effect, START);
    return err;
}

#define CALL(args) \
    "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":" args "}}"

static enum err propose(struct book *book)
{
    return say(book, (struct note){ .id = "p",
                                    .from = "agent",
                                    .kind = "mcp/proposal:tools/call:rm",
                                    .payload = CALL("{\"f\":1}") });
}

static enum err approve(struct book *book, const char *from)
{
    return say(book, (struct note){
                         .id = "a", .from = from, .kind = "mcp/approve", .about = "p" });
}

static enum err fulfil(struct book *book, const char *from)
{
    return say(book, (struct note){ .id = "r",
                                    .from = from,
                                    .kind = "mcp/request:tools/call:rm",
                                    .about = "p",
                                    .payload = CALL("{\"f\":1}") });
}

static const struct proposal *the(struct book *book)
{
    return ledger_find(&book->ledger, S("p"), START);
}

TEST(a_quorum_counts_everybody_once_and_never_the_proposer)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){ .quorum = 3 });
    CHECK_INT(propose(&book), OK);
    CHECK_INT(book.changes, 1);
    CHECK_INT(fulfil(&book, "h1"), ERR_PROPOSAL_STATE);
    CHECK_INT(book.problem.needed, 3);
    CHECK_INT(book.problem.given, 0);
    CHECK_INT(approve(&book, "agent"), ERR_PROPOSAL_STATE);
    CHECK_INT(approve(&book, "b1"), OK);
    CHECK_INT(book.effect.type, EFFECT_APPROVE);
    CHECK(!the(&book)->has_human_approval);
    CHECK_INT(approve(&book, "h1"), OK);
    CHECK(the(&book)->has_human_approval);
    CHECK_INT(book.changes, 3);
    CHECK_INT(approve(&book, "h1"), OK); /* said again, and nothing more */
    CHECK_INT(book.effect.type, EFFECT_NONE);
    CHECK_INT(book.changes, 3);
    CHECK_INT(the(&book)->approvals.count, 2);
    CHECK_INT(fulfil(&book, "h1"), ERR_PROPOSAL_STATE); /* he has counted already */
    CHECK_INT(book.problem.given, 2);
    CHECK_INT(fulfil(&book, "x1"), ERR_PROPOSAL_STATE); /* he may not approve */
    CHECK_INT(fulfil(&book, "h2"), OK);
    CHECK_INT(the(&book)->state, PROPOSAL_FULFILLED);
    CHECK_INT(the(&book)->approvals.count, 3);
    CHECK_STR(the(&book)->by, S("h2"));
    CHECK_INT(the(&book)->decided_ms, START);
    CHECK_INT(fulfil(&book, "h3"), ERR_PROPOSAL_STATE);
    CHECK_INT(approve(&book, "h3"), ERR_PROPOSAL_STATE);
    book_done(&book);
}

TEST(who_may_not_approve_fulfils_when_enough_have)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){ .quorum = 2 });
    CHECK_INT(propose(&book), OK);
    CHECK_INT(approve(&book, "h1"), OK);
    CHECK_INT(fulfil(&book, "x1"), ERR_PROPOSAL_STATE);
    CHECK_INT(approve(&book, "b1"), OK);
    CHECK_INT(fulfil(&book, "x1"), OK);
    CHECK_INT(the(&book)->approvals.count, 2);
    book_done(&book);
}

TEST(without_a_quorum_an_approval_is_noted_and_nothing_asked)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
    CHECK_INT(propose(&book), OK);
    CHECK_INT(approve(&book, "b1"), OK);
    CHECK_INT(book.effect.type, EFFECT_APPROVE);
    CHECK(!the(&book)->has_human_approval);
    CHECK_INT(approve(&book, "h1"), OK);
    CHECK(the(&book)->has_human_approval);
    CHECK_INT(fulfil(&book, "x1"), OK);
    CHECK_INT(the(&book)->approvals.count, 2);
    book_done(&book);
}

static struct pattern *pattern_of(struct str text)
{
    struct pattern *pattern = NULL;

    CHECK_INT(pattern_new(text, &pattern, NULL), OK);
    return pattern;
}

static const struct str leads[] = { S("lead"), S("chief") };

/* Whoever approved has seen what was proposed. Who needs nobody else's approval changes
 * it as he likes. */
TEST(what_others_approved_is_what_is_fulfilled)
{
    struct approval_rule rules[] = {
        { pattern_of(S("mcp/proposal:tools/call:rm")), 1, { leads, 2 } },
        { pattern_of(S("mcp/proposal:tools/call:*")), 1, {} },
    };
    const struct approval_terms two = { .quorum = 2 };
    const struct approval_terms lead = { .rules = rules, .count = 2 };
    /* clang-format off */
    const struct { struct approval_terms terms; const char *approver, *fulfiller; enum err err; } cases[] = {
        { two,  "h1", "h2", ERR_ARGUMENT_MISMATCH },
        { lead, "l1", "h2", ERR_ARGUMENT_MISMATCH },
        { lead, "l1", "l2", OK },
        { lead, "l1", "l1", OK },
        { lead, NULL, "l2", OK },
    };
    /* clang-format on */
    struct note asks = { .id = "r",
                         .kind = "mcp/request:tools/call:rm",
                         .about = "p",
                         .payload = CALL("{\"f\":2}") };

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE, c->terms);
        CHECK_INT(propose(&book), OK);
        if (c->approver)
            CHECK_INT(approve(&book, c->approver), OK);
        asks.from = c->fulfiller;
        CHECK_INT(say(&book, asks), c->err);
        if (c->err)
            CHECK_STR(book.problem.path, S("/params/arguments/f"));
        CHECK_INT(fulfil(&book, c->fulfiller), c->err ? OK : ERR_PROPOSAL_STATE);
        book_done(&book);
    }
    for (size_t i = 0; i < COUNT(rules); i++)
        pattern_free(rules[i].kind);
}

/* An approval of one thing is none of another, marked as an edit or not. */
TEST(approvals_of_a_call_are_none_of_another)
{
    struct approval_rule rules[] = {
        { pattern_of(S("mcp/proposal:tools/call:rm")), 2, {} },
    };
    const struct note harmless = { .id = "p",
                                   .from = "agent",
                                   .kind = "mcp/proposal:tools/call",
                                   .payload = "{\"params\":{\"name\":\"ls\"}}" };
    struct note asks = { .id = "r",
                         .from = "h2",
                         .kind = "mcp/request:tools/call:rm",
                         .about = "p",
                         .payload = CALL("{}") };
    struct book book;

    book_init(&book, PROPOSALS_ONCE,
              (struct approval_terms){ .rules = rules, .count = 1 });
    CHECK_INT(say(&book, harmless), OK);
    CHECK_INT(approve(&book, "h1"), OK);
    CHECK_INT(say(&book, asks), ERR_ARGUMENT_MISMATCH);
    asks.edited = "true";
    CHECK_INT(say(&book, asks), ERR_PROPOSAL_STATE);
    CHECK_INT(the(&book)->state, PROPOSAL_OPEN);
    book_done(&book);
    pattern_free(rules[0].kind);
}

TEST(the_first_rule_that_matches_says_who_and_how_many)
{
    struct approval_rule rules[] = {
        { pattern_of(S("mcp/proposal:tools/call:r*")), 2, { leads, 2 } },
        { pattern_of(S("mcp/proposal:tools/call")), 9, {} },
    };
    struct book book;

    book_init(&book, PROPOSALS_ONCE,
              (struct approval_terms){ .quorum = 5, .rules = rules, .count = 2 });
    CHECK_INT(propose(&book), OK);
    CHECK_INT(approve(&book, "h1"), OK); /* not one of them */
    CHECK_INT(book.effect.type, EFFECT_NONE);
    CHECK_INT(approve(&book, "l1"), OK);
    CHECK_INT(book.effect.type, EFFECT_APPROVE);
    CHECK_INT(fulfil(&book, "h1"), ERR_PROPOSAL_STATE);
    CHECK_INT(book.problem.needed, 2);
    CHECK_INT(book.problem.given, 1);
    CHECK_INT(fulfil(&book, "l2"), OK);
    book_done(&book);
    for (size_t i = 0; i < COUNT(rules); i++)
        pattern_free(rules[i].kind);
}

TEST(a_kind_that_names_no_tool_does_not_get_around_a_rule)
{
    struct approval_rule rules[] = {
        { pattern_of(S("mcp/proposal:tools/call:rm")), 1, { leads, 2 } },
    };
    const struct note bare = { .id = "p",
                               .from = "agent",
                               .kind = "mcp/proposal:tools/call",
                               .payload = CALL("{}") };
    const struct note harmless = { .id = "p",
                                   .from = "agent",
                                   .kind = "mcp/proposal:tools/call",
                                   .payload = "{\"params\":{\"name\":\"ls\"}}" };
    struct note asks = { .id = "r",
                         .from = "h1",
                         .kind = "mcp/request:tools/call",
                         .about = "p",
                         .payload = CALL("{}") };
    struct book book;

    book_init(&book, PROPOSALS_ONCE,
              (struct approval_terms){ .rules = rules, .count = 1 });
    CHECK_INT(say(&book, bare), OK);
    CHECK_INT(say(&book, asks), ERR_PROPOSAL_STATE);
    asks.kind = "mcp/request:tools/call:rm";
    CHECK_INT(say(&book, asks), ERR_PROPOSAL_STATE);
    asks.from = "l1";
    CHECK_INT(say(&book, asks), OK);

    CHECK_INT(say(&book, harmless), OK); /* its id is free again */
    asks.from = "h1";
    CHECK_INT(say(&book, asks), ERR_PROPOSAL_STATE);
    asks.kind = "mcp/request:tools/call";
    CHECK_INT(say(&book, asks), ERR_PROPOSAL_STATE);
    asks.payload = "{\"params\":{\"name\":\"rm\",\"name\":\"ls\"}}";
    CHECK_INT(say(&book, asks), ERR_KIND_PAYLOAD_MISMATCH);
    asks.payload = "{\"params\":{\"name\":\"ls\"}}";
    CHECK_INT(say(&book, asks), OK);
    book_done(&book);
    pattern_free(rules[0].kind);
}

TEST(an_exact_fulfilment_asks_for_what_was_proposed)
{
    /* clang-format off */
    static const struct { const char *payload; enum err err; struct str path; } cases[] = {
        { CALL("{\"f\":1}"),                      OK,                        S("") },
        { CALL("{ \"\\u0066\" : 10e-1 }"),        OK,                        S("") },
        { CALL("{\"f\":2}"),                      ERR_ARGUMENT_MISMATCH,     S("/params/arguments/f") },
        { CALL("{}"),                             ERR_ARGUMENT_MISMATCH,     S("/params/arguments/f") },
        { CALL("{\"f\":1,\"g\":0}"),              ERR_ARGUMENT_MISMATCH,     S("/params/arguments/g") },
        { CALL("{\"f\":1,\"f\":1}"),              ERR_KIND_PAYLOAD_MISMATCH, S("") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, PROPOSALS_EXACT, (struct approval_terms){});
        CHECK_INT(propose(&book), OK);
        CHECK_INT(say(&book, (struct note){ .id = "r",
                                            .from = "x1",
                                            .kind = "mcp/request:tools/call:rm",
                                            .about = "p",
                                            .payload = c->payload }),
                  c->err);
        CHECK_STR(book.problem.path, c->path);
        CHECK_INT(the(&book)->state, c->err ? PROPOSAL_OPEN : PROPOSAL_FULFILLED);
        book_done(&book);
    }
}

TEST(what_could_never_be_fulfilled_exactly_is_not_proposed)
{
    const struct note twice = { .id = "p",
                                .from = "agent",
                                .kind = "mcp/proposal:tools/call:rm",
                                .payload = CALL("{\"f\":1,\"f\":2}") };
    struct book book;

    book_init(&book, PROPOSALS_EXACT, (struct approval_terms){});
    CHECK_INT(say(&book, twice), ERR_KIND_PAYLOAD_MISMATCH);
    book_done(&book);
    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
    CHECK_INT(say(&book, twice), OK);
    book_done(&book);
}

TEST(only_a_human_who_may_approve_edits_and_alone)
{
    /* clang-format off */
    static const struct {
        enum proposal_mode mode; size_t quorum; const char *from, *edited; enum err err; struct str told;
    } cases[] = {
        { PROPOSALS_EXACT, 1, "h1", "true",  OK, S("[{\"path\":\"/params/arguments/f\",\"from\":1,\"to\":2}]") },
        { PROPOSALS_ONCE,  1, "h1", "true",  OK, S("[{\"path\":\"/params/arguments/f\",\"from\":1,\"to\":2}]") },
        { PROPOSALS_FREE,  1, "h1", "true",  OK, S("[{\"path\":\"/params/arguments/f\",\"from\":1,\"to\":2}]") },
        { PROPOSALS_EXACT, 1, "h1", "false", ERR_ARGUMENT_MISMATCH, S("") },
        { PROPOSALS_EXACT, 1, "h1", NULL,    ERR_ARGUMENT_MISMATCH, S("") },
        { PROPOSALS_ONCE,  1, "h1", "false", OK, S("") },
        { PROPOSALS_EXACT, 1, "b1", "true",  ERR_PROPOSAL_STATE, S("") }, /* no human */
        { PROPOSALS_EXACT, 1, "w1", "true",  ERR_PROPOSAL_STATE, S("") }, /* may not approve */
        { PROPOSALS_FREE,  1, "b1", "true",  ERR_PROPOSAL_STATE, S("") },
        { PROPOSALS_EXACT, 2, "h1", "true",  ERR_PROPOSAL_STATE, S("") },
        { PROPOSALS_EXACT, 1, "agent", "true", ERR_PROPOSAL_STATE, S("") },
        { PROPOSALS_ONCE,  1, "h1", "1",     ERR_MALFORMED_ENVELOPE, S("") },
        { PROPOSALS_ONCE,  1, "h1", "\"true\"", ERR_MALFORMED_ENVELOPE, S("") },
        { PROPOSALS_ONCE,  1, "h1", "null",  ERR_MALFORMED_ENVELOPE, S("") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, c->mode, (struct approval_terms){ .quorum = c->quorum });
        CHECK_INT(propose(&book), OK);
        CHECK_INT(say(&book, (struct note){ .id = "r",
                                            .from = c->from,
                                            .kind = "mcp/request:tools/call:rm",
                                            .about = "p",
                                            .edited = c->edited,
                                            .payload = CALL("{\"f\":2}") }),
                  c->err);
        CHECK_STR(buf_str(&book.edited), c->told);
        CHECK_INT(the(&book)->state, c->err ? PROPOSAL_OPEN : PROPOSAL_FULFILLED);
        CHECK(!the(&book)->edited.ptr);
        book_done(&book);
    }
}

TEST(an_edit_of_what_is_no_longer_known_is_refused)
{
    struct note edits = { .id = "r",
                          .from = "h1",
                          .kind = "mcp/request:tools/call:rm",
                          .about = "p",
                          .edited = "true",
                          .payload = CALL("{}") };
    struct book book;

    book_init(&book, PROPOSALS_FREE, (struct approval_terms){});
    CHECK_INT(propose(&book), OK);
    CHECK_INT(fulfil(&book, "h1"), OK);
    CHECK_INT(fulfil(&book, "h1"), OK);
    CHECK_INT(say(&book, edits), ERR_PROPOSAL_STATE);
    book_done(&book);
}

TEST(why_it_was_rejected_is_known)
{
    static const struct {
        const char *kind, *from, *payload;
        struct str reason;
    } cases[] = {
        { "mcp/reject", "h1", "{\"reason\":\"too \\u0062ig\"}", S("too big") },
        { "mcp/reject", "h1", "{\"reason\":5}", S("") },
        { "mcp/withdraw", "agent", "{\"reason\":\"oh\"}", S("oh") },
        { "mcp/withdraw", "agent", "{}", S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
        CHECK_INT(propose(&book), OK);
        CHECK_INT(say(&book, (struct note){ .id = "d",
                                            .from = c->from,
                                            .kind = c->kind,
                                            .about = "p",
                                            .payload = c->payload }),
                  OK);
        CHECK_STR(the(&book)->reason, c->reason);
        CHECK_STR(the(&book)->by, str_of(c->from));
        book_done(&book);
    }
}

TEST(no_more_approvals_are_entered_than_are_bounded)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){ .quorum = QUORUM_MAX });
    CHECK_INT(propose(&book), OK);
    for (int i = 0; i < APPROVALS_MAX + 5; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "h%d", i);
        CHECK_INT(approve(&book, id), OK);
        CHECK_INT(book.effect.type, i < APPROVALS_MAX ? EFFECT_APPROVE : EFFECT_NONE);
    }
    CHECK_INT(the(&book)->approvals.count, APPROVALS_MAX);
    CHECK_INT(fulfil(&book, "x1"), OK);
    book_done(&book);
}

/* By a rule, whatever else is true of it. */
static struct note use(const char *from)
{
    return (struct note){ .id = "r",
                          .from = from,
                          .kind = "mcp/request:tools/call:rm",
                          .about = "p",
                          .rule = "r-1",
                          .payload = CALL("{\"f\":1.0}") };
}

TEST(a_rule_fulfils_what_was_proposed_and_nothing_else_in_every_mode)
{
    /* clang-format off */
    static const struct { const char *from, *kind, *payload, *edited; enum err err; } cases[] = {
        { "bot",   "mcp/request:tools/call:rm", CALL("{\"f\":1}"),    NULL,    OK },
        { "bot",   "mcp/request:tools/call:rm", CALL("{\"f\":1e0}"),  NULL,    OK },
        { "h1",    "mcp/request:tools/call:rm", CALL("{\"f\":1}"),    NULL,    OK },
        { "agent", "mcp/request:tools/call:rm", CALL("{\"f\":1}"),    NULL,    ERR_PROPOSAL_STATE },
        { "bot",   "mcp/request:tools/call:rm", CALL("{\"f\":2}"),    NULL,    ERR_ARGUMENT_MISMATCH },
        { "bot",   "mcp/request:tools/call:rm", CALL("{}"),           NULL,    ERR_ARGUMENT_MISMATCH },
        { "bot",   "mcp/request:tools/call:rm", CALL("{\"f\":1,\"g\":1}"), NULL, ERR_ARGUMENT_MISMATCH },
        { "bot",   "mcp/request:tools/call:rm", CALL("{\"f\":1,\"f\":1}"), NULL, ERR_KIND_PAYLOAD_MISMATCH },
        { "h1",    "mcp/request:tools/call:rm", CALL("{\"f\":1}"),    "true",  ERR_PROPOSAL_STATE },
        { "h1",    "mcp/request:tools/call:rm", CALL("{\"f\":1}"),    "false", ERR_PROPOSAL_STATE },
    };
    /* clang-format on */
    static const enum proposal_mode modes[] = { PROPOSALS_FREE, PROPOSALS_ONCE,
                                                PROPOSALS_EXACT };

    for (size_t i = 0; i < COUNT(modes); i++) {
        FOR_EACH_CASE(c, cases) {
            struct note note = use(c->from);
            struct book book;

            note.kind = c->kind;
            note.payload = c->payload;
            note.edited = c->edited;
            book_init(&book, modes[i], (struct approval_terms){});
            CHECK_INT(propose(&book), OK);
            CHECK_INT(say(&book, note), c->err);
            CHECK_INT(the(&book)->state, c->err ? PROPOSAL_OPEN : PROPOSAL_FULFILLED);
            CHECK_STR(the(&book)->rule, c->err ? S("") : S("r-1"));
            CHECK_INT(the(&book)->approvals.count, 0);
            /* Once, also where others may as often as they like. */
            CHECK_INT(say(&book, use("bot")), c->err ? OK : ERR_PROPOSAL_STATE);
            book_done(&book);
        }
    }
}

TEST(a_rule_names_the_tool_where_the_proposal_does_and_only_there)
{
    struct note note = use("bot");
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
    CHECK_INT(say(&book, (struct note){ .id = "p",
                                        .from = "agent",
                                        .kind = "mcp/proposal:tools/call",
                                        .payload = CALL("{\"f\":1}") }),
              OK);
    CHECK_INT(say(&book, note), ERR_ARGUMENT_MISMATCH);
    CHECK_STR(book.problem.field, S("kind"));
    note.kind = "mcp/request:tools/call";
    CHECK_INT(say(&book, note), OK);
    book_done(&book);
}

TEST(where_approvals_are_needed_a_rule_is_none)
{
    struct str profile = S("lead");
    struct approval_rule rows[] = { { .quorum = 1, .profiles = { &profile, 1 } } };
    struct approval_terms terms[] = { { .quorum = 2 }, { .rules = rows, .count = 1 } };

    CHECK_INT(pattern_new(S("mcp/proposal:tools/call:rm"), &rows[0].kind, NULL), OK);
    FOR_EACH_CASE(t, terms) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE, *t);
        CHECK_INT(propose(&book), OK);
        CHECK_INT(say(&book, use("bot")), ERR_PROPOSAL_STATE);
        CHECK_INT(book.problem.needed, t->count ? 1 : 2);
        CHECK_INT(book.problem.given, 0);
        CHECK_INT(approve(&book, "l1"), OK);
        CHECK_INT(approve(&book, "l2"), OK);
        CHECK_INT(say(&book, use("bot")), ERR_PROPOSAL_STATE);
        CHECK_INT(fulfil(&book, "bot"), OK);
        CHECK_STR(the(&book)->rule, S(""));
        book_done(&book);
    }
    pattern_free(rows[0].kind);
}

TEST(a_person_objects_to_what_a_rule_let_through_and_it_stays_fulfilled)
{
    struct note no = { .id = "d",
                       .kind = "mcp/reject",
                       .about = "p",
                       .payload = "{\"reason\":\"not that\"}" };
    struct book book;
    size_t changes;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
    CHECK_INT(propose(&book), OK);
    CHECK_INT(say(&book, use("bot")), OK);
    changes = book.changes;
    no.from = "bot";
    CHECK_INT(say(&book, no), ERR_PROPOSAL_STATE);
    no.from = "agent";
    CHECK_INT(say(&book, no), ERR_PROPOSAL_STATE);
    no.from = "w1";
    CHECK_INT(say(&book, no), OK);
    CHECK_INT(book.effect.type, EFFECT_OBJECT);
    CHECK_STR(ledger_reason(&book.effect), S("not that"));
    no.from = "h1"; /* and another */
    CHECK_INT(say(&book, no), OK);
    CHECK_INT(the(&book)->state, PROPOSAL_FULFILLED);
    CHECK_STR(the(&book)->by, S("bot"));
    CHECK_INT(book.changes, changes);
    no.kind = "mcp/approve";
    CHECK_INT(say(&book, no), ERR_PROPOSAL_STATE);
    no.kind = "mcp/withdraw";
    no.from = "agent";
    CHECK_INT(say(&book, no), ERR_PROPOSAL_STATE);
    book_done(&book);
}

TEST(what_people_have_fulfilled_nobody_objects_to)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE, (struct approval_terms){});
    CHECK_INT(propose(&book), OK);
    CHECK_INT(fulfil(&book, "h1"), OK);
    CHECK_INT(
        say(&book,
            (struct note){ .id = "d", .from = "h2", .kind = "mcp/reject", .about = "p" }),
        ERR_PROPOSAL_STATE);
    book_done(&book);
}
