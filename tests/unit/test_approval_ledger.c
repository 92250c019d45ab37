/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "approval/ledger.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"

enum { START = 1'000'000, EXPIRY = 300'000, DAY = 86'400'000 };

struct book {
    struct ledger ledger;
    struct ledger_settings settings;
    struct arena arena;
    uint64_t wall_ms;
    struct ledger_effect effect;
    struct ledger_problem problem;
};

static void book_init(struct book *book, enum proposal_mode mode)
{
    *book = (struct book){ .settings = { .mode = mode,
                                         .expiry_ms = EXPIRY,
                                         .max_expiry_ms = DAY,
                                         .max_proposals = 100,
                                         .max_requests = 100 },
                           .wall_ms = START };
    ledger_init(&book->ledger, &book->settings);
    arena_init(&book->arena, 1 << 20);
}

static void book_done(struct book *book)
{
    ledger_done(&book->ledger);
    arena_done(&book->arena);
}

/* An envelope in few words. */
struct note {
    const char *id, *from, *kind, *about, *to, *expires;
};

static void scan(struct book *book, struct note note, struct envelope *ret)
{
    struct buf text;
    struct str kept;

    buf_init(&text, 4096);
    buf_putf(&text, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\"", note.id,
             note.from);
    if (note.about)
        buf_putf(&text, ",\"correlation_id\":\"%s\"", note.about);
    if (note.to)
        buf_putf(&text, ",\"to\":%s", note.to);
    if (note.expires)
        buf_putf(&text, ",\"expires_at\":%s", note.expires);
    buf_putf(&text, ",\"kind\":\"%s\",\"payload\":{}}", note.kind);
    kept = arena_str(&book->arena, buf_str(&text));
    buf_done(&text);
    CHECK_INT(envelope_scan(kept, JSON_MAX_DEPTH, DIALECT_SLASH, &book->arena, ret, NULL),
              OK);
    CHECK_INT(kind_parse(ret->kind_text, &ret->kind), OK);
}

static enum err judge(struct book *book, const struct envelope *env)
{
    return ledger_judge(&book->ledger, env, book->wall_ms, &book->effect, &book->problem);
}

/* Judges, and enters what is allowed. */
static enum err put(struct book *book, struct note note)
{
    struct envelope env;
    enum err err;

    scan(book, note, &env);
    err = judge(book, &env);
    if (!err)
        ledger_enter(&book->ledger, &env, env.text, &book->effect, book->wall_ms);
    return err;
}

static enum err propose(struct book *book, const char *id)
{
    return put(
        book,
        (struct note){ .id = id, .from = "agent", .kind = "mcp/proposal:tools/call:rm" });
}

static struct str state_of(struct book *book, struct str id)
{
    const struct proposal *p = ledger_find(&book->ledger, id, book->wall_ms);

    return p ? str_of(proposal_state_name(p->state)) : S("(unknown)");
}

#define DO(who, what)                                      \
    {                                                      \
        .id = "n", .from = who, .kind = what, .about = "p" \
    }
#define CALL "mcp/request:tools/call:rm"

TEST(a_proposal_is_open_until_one_of_four_things_happens)
{
    /* clang-format off */
    static const struct { struct note note; struct str state; } cases[] = {
        { DO("human", CALL),           S("fulfilled") },
        { DO("human", "mcp/reject"),   S("rejected")  },
        { DO("agent", "mcp/withdraw"), S("withdrawn") },
        { DO("human", "mcp/approve"),  S("open")      },
        { DO("human", "chat"),         S("open")      },
    };
    static const enum proposal_mode modes[] = { PROPOSALS_FREE, PROPOSALS_ONCE };
    /* clang-format on */

    for (size_t mode = 0; mode < COUNT(modes); mode++) {
        FOR_EACH_CASE(c, cases) {
            struct book book;

            book_init(&book, modes[mode]);
            CHECK_INT(propose(&book, "p"), OK);
            CHECK_STR(state_of(&book, S("p")), S("open"));
            CHECK_INT(put(&book, c->note), OK);
            CHECK_STR(state_of(&book, S("p")), c->state);
            book.wall_ms += EXPIRY;
            CHECK_STR(state_of(&book, S("p")),
                      str_eq(c->state, S("open")) ? S("expired") : c->state);
            book_done(&book);
        }
    }
}

TEST(who_may_do_what_to_a_proposal_depends_on_the_mode_and_its_state)
{
    /* clang-format off */
    static const struct { enum proposal_mode mode; struct note first, then; const char *what; } cases[] = {
        { PROPOSALS_ONCE, DO("x", "chat"),             DO("agent", CALL),           "nobody fulfils his own proposal" },
        { PROPOSALS_ONCE, DO("x", "chat"),             DO("agent", "mcp/reject"),   "nobody decides on his own proposal" },
        { PROPOSALS_ONCE, DO("x", "chat"),             DO("agent", "mcp/approve"),  "nobody decides on his own proposal" },
        { PROPOSALS_ONCE, DO("x", "chat"),             DO("human", "mcp/withdraw"), "only the proposer withdraws" },
        { PROPOSALS_ONCE, DO("human", CALL),           DO("other", CALL),           "the proposal is no longer open" },
        { PROPOSALS_ONCE, DO("human", "mcp/reject"),   DO("other", CALL),           "the proposal is no longer open" },
        { PROPOSALS_ONCE, DO("agent", "mcp/withdraw"), DO("other", CALL),           "the proposal is no longer open" },
        { PROPOSALS_ONCE, DO("agent", "mcp/withdraw"), DO("agent", "mcp/withdraw"), "the proposal is no longer open" },
        { PROPOSALS_ONCE, DO("human", CALL),           DO("human", "mcp/reject"),   "the proposal is no longer open" },
        { PROPOSALS_ONCE, DO("human", CALL),           DO("human", "mcp/approve"),  "the proposal is no longer open" },
        { PROPOSALS_FREE, DO("x", "chat"),             DO("agent", CALL),           NULL },
        { PROPOSALS_FREE, DO("x", "chat"),             DO("agent", "mcp/reject"),   NULL },
        { PROPOSALS_FREE, DO("x", "chat"),             DO("agent", "mcp/approve"),  NULL },
        { PROPOSALS_FREE, DO("x", "chat"),             DO("human", "mcp/withdraw"), "only the proposer withdraws" },
        { PROPOSALS_FREE, DO("human", CALL),           DO("other", CALL),           NULL },
        { PROPOSALS_FREE, DO("human", CALL),           DO("human", "mcp/reject"),   "the proposal is no longer open" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct book book;
        struct note then = c->then;

        book_init(&book, c->mode);
        CHECK_INT(propose(&book, "p"), OK);
        CHECK_INT(put(&book, c->first), OK);
        then.id = "then";
        CHECK_INT(put(&book, then), c->what ? ERR_PROPOSAL_STATE : OK);
        CHECK_STR(str_of(book.problem.what), str_of(c->what));
        if (c->what) {
            CHECK_STR(book.problem.field, S("correlation_id"));
            CHECK_STR(str_of(book.problem.state), state_of(&book, S("p")));
        }
        book_done(&book);
    }
}

TEST(a_decision_on_nothing_known_is_refused)
{
    static const char *const kinds[] = { "mcp/approve", "mcp/reject", "mcp/withdraw" };
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    FOR_EACH_CASE(kind, kinds) {
        CHECK_INT(put(&book, (struct note)DO("human", *kind)), ERR_PROPOSAL_STATE);
        CHECK_STR(str_of(book.problem.what), S("no such proposal is known here"));
        CHECK(book.problem.state == NULL);
    }
    book_done(&book);
}

TEST(in_no_mode_does_a_closed_proposal_change_its_state)
{
    static const struct note endings[] = { DO("human", "mcp/reject"),
                                           DO("agent", "mcp/withdraw"),
                                           DO("human", "chat") };

    FOR_EACH_CASE(ending, endings) {
        struct book book;
        struct str state;

        book_init(&book, PROPOSALS_FREE);
        CHECK_INT(propose(&book, "p"), OK);
        CHECK_INT(put(&book, *ending), OK);
        book.wall_ms += EXPIRY; /* the third one expires */
        state = state_of(&book, S("p"));
        CHECK(!str_eq(state, S("open")));
        CHECK_INT(
            put(&book,
                (struct note){ .id = "r", .from = "x", .kind = CALL, .about = "p" }),
            OK);
        CHECK_STR(state_of(&book, S("p")), state);
        book_done(&book);
    }
}

TEST(a_fulfilment_has_the_method_and_what_else_the_proposal_names)
{
    /* clang-format off */
    static const struct { const char *kind, *to; const char *request, *request_to; bool fulfils; } cases[] = {
        { "mcp/proposal:tools/call",    NULL,            "mcp/request:tools/call",       NULL,            true  },
        { "mcp/proposal:tools/call",    NULL,            "mcp/request:tools/call:rm",    NULL,            true  },
        { "mcp/proposal:tools/call",    NULL,            "mcp/request:tools/list",       NULL,            false },
        { "mcp/proposal:tools/call:rm", NULL,            "mcp/request:tools/call:rm",    NULL,            true  },
        { "mcp/proposal:tools/call:rm", NULL,            "mcp/request:tools/call:ls",    NULL,            false },
        { "mcp/proposal:tools/call:rm", NULL,            "mcp/request:tools/call",       NULL,            false },
        { "mcp/proposal:tools/call:rm", NULL,            "mcp/request:tools/call:rm:x",  NULL,            false },
        { "mcp/proposal:tools/call",    NULL,            "mcp/request:tools/call",       "[\"a\"]",       true  },
        { "mcp/proposal:tools/call",    "[\"a\"]",       "mcp/request:tools/call",       "[\"a\"]",       true  },
        { "mcp/proposal:tools/call",    "[\"a\"]",       "mcp/request:tools/call",       NULL,            false },
        { "mcp/proposal:tools/call",    "[\"a\"]",       "mcp/request:tools/call",       "[\"b\"]",       false },
        { "mcp/proposal:tools/call",    "[\"a\"]",       "mcp/request:tools/call",       "[\"a\",\"b\"]", false },
        { "mcp/proposal:tools/call",    "[\"a\",\"b\"]", "mcp/request:tools/call",       "[\"a\",\"b\"]", true  },
        { "mcp/proposal:tools/call",    "[\"ab\"]",      "mcp/request:tools/call",       "[\"a\",\"b\"]", false },
        { "mcp/proposal:tools/call",    "[\"a\\\"\",\"c\"]", "mcp/request:tools/call",  "[\"a\",\"cy\"]", false },
        { "mcp/proposal:tools/call",    "[\"a\\u0062\"]", "mcp/request:tools/call",      "[\"ab\"]",      true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE);
        CHECK_INT(put(&book,
                      (struct note){
                          .id = "p", .from = "agent", .kind = c->kind, .to = c->to }),
                  OK);
        CHECK_INT(put(&book, (struct note){ .id = "r",
                                            .from = "human",
                                            .kind = c->request,
                                            .about = "p",
                                            .to = c->request_to }),
                  OK);
        CHECK_STR(state_of(&book, S("p")), c->fulfils ? S("fulfilled") : S("open"));
        CHECK(ledger_knows(&book.ledger, S("r"), book.wall_ms)); /* asked either way */
        book_done(&book);
    }
}

TEST(requests_that_are_only_threads_change_nothing_even_if_the_proposal_is_closed)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(put(&book, (struct note){ .id = "1",
                                        .from = "agent",
                                        .kind = "mcp/request:tools/list",
                                        .about = "p" }),
              OK);
    CHECK_INT(put(&book, (struct note)DO("human", CALL)), OK);
    CHECK_INT(put(&book, (struct note){ .id = "2",
                                        .from = "agent",
                                        .kind = "mcp/request:tools/list",
                                        .about = "p" }),
              OK);
    CHECK_INT(
        put(&book,
            (struct note){ .id = "3", .from = "agent", .kind = CALL, .about = "q" }),
        OK);
    CHECK_INT(put(&book, (struct note){ .id = "4", .from = "agent", .kind = CALL }), OK);
    CHECK_STR(state_of(&book, S("p")), S("fulfilled"));
    book_done(&book);
}

TEST(an_expiry_is_the_topics_or_the_proposers_within_a_day)
{
    /* clang-format off */
    static const struct { const char *expires; enum err err; uint64_t after_ms; } cases[] = {
        { NULL,                              OK, EXPIRY },
        { "\"1970-01-01T00:16:40.001Z\"",     OK, 1 },
        { "\"1970-01-01T00:17:40Z\"",         OK, 60'000 },
        { "\"1970-01-01T01:17:40+01:00\"",    OK, 60'000 },
        { "\"1970-01-02T00:16:40Z\"",         OK, DAY },
        { "\"1970-01-02T00:16:40.001Z\"",     OK, DAY },
        { "\"9999-12-31T23:59:59Z\"",         OK, DAY },
        { "\"1970-01-01T00:16:40.000Z\"",     ERR_MALFORMED_ENVELOPE, 0 },
        { "\"1970-01-01T00:00:00Z\"",         ERR_MALFORMED_ENVELOPE, 0 },
        { "\"tomorrow\"",                     ERR_MALFORMED_ENVELOPE, 0 },
        { "\"\"",                             ERR_MALFORMED_ENVELOPE, 0 },
        { "1000000",                          ERR_MALFORMED_ENVELOPE, 0 },
        { "null",                             ERR_MALFORMED_ENVELOPE, 0 },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE);
        CHECK_INT(put(&book, (struct note){ .id = "p",
                                            .from = "agent",
                                            .kind = "mcp/proposal:x",
                                            .expires = c->expires }),
                  c->err);
        if (c->err) {
            CHECK_STR(book.problem.field, S("expires_at"));
            CHECK_STR(str_of(book.problem.what),
                      S("not an RFC 3339 date-time in the future"));
            CHECK_STR(state_of(&book, S("p")), S("(unknown)"));
        } else {
            book.wall_ms = START + c->after_ms - 1;
            CHECK_STR(state_of(&book, S("p")), S("open"));
            book.wall_ms++;
            CHECK_STR(state_of(&book, S("p")), S("expired"));
            CHECK_INT(put(&book, (struct note)DO("human", "mcp/reject")),
                      ERR_PROPOSAL_STATE);
            CHECK_STR(str_of(book.problem.state), S("expired"));
        }
        book_done(&book);
    }
}

TEST(an_expired_proposal_cannot_be_fulfilled)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(propose(&book, "p"), OK);
    book.wall_ms += EXPIRY;
    CHECK_INT(put(&book, (struct note)DO("human", CALL)), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(book.problem.state), S("expired"));
    CHECK(!ledger_knows(&book.ledger, S("n"), book.wall_ms));
    book_done(&book);
}

/* D7a */
TEST(open_proposals_and_unanswered_requests_are_known_and_nothing_else_is)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK(!ledger_knows(&book.ledger, S("p"), book.wall_ms));
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(propose(&book, "q"), OK);
    CHECK(ledger_knows(&book.ledger, S("p"), book.wall_ms));
    CHECK_INT(put(&book, (struct note)DO("human", CALL)), OK);
    CHECK(!ledger_knows(&book.ledger, S("p"), book.wall_ms)); /* fulfilled */
    CHECK(ledger_knows(&book.ledger, S("n"), book.wall_ms));
    CHECK_INT(put(&book, (struct note){ .id = "a",
                                        .from = "tool",
                                        .kind = "mcp/response:tools/call:rm",
                                        .about = "n" }),
              OK);
    CHECK(!ledger_knows(&book.ledger, S("n"), book.wall_ms)); /* answered */
    CHECK(!ledger_knows(&book.ledger, S("a"), book.wall_ms));
    CHECK(ledger_knows(&book.ledger, S("q"), START + EXPIRY - 1));
    CHECK(!ledger_knows(&book.ledger, S("q"), START + EXPIRY)); /* whoever looked last */
    book_done(&book);
}

TEST(notifications_wait_for_no_answer)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(put(&book, (struct note){ .id = "n",
                                        .from = "a",
                                        .kind = "mcp/request:notifications/progress" }),
              OK);
    CHECK(!ledger_knows(&book.ledger, S("n"), book.wall_ms));
    CHECK_INT(put(&book, (struct note){ .id = "r",
                                        .from = "a",
                                        .kind = "mcp/request:notificationsx" }),
              OK);
    CHECK(ledger_knows(&book.ledger, S("r"), book.wall_ms));
    book_done(&book);
}

/* D17 */
TEST(what_concerns_a_proposal_is_watched_by_the_proposer)
{
    /* clang-format off */
    static const struct { struct note note; struct str watcher; } cases[] = {
        { DO("human", CALL),           S("agent") },
        { DO("human", "mcp/reject"),   S("agent") },
        { DO("human", "mcp/approve"),  S("agent") },
        { DO("agent", "mcp/withdraw"), S("agent") },
        { DO("human", "mcp/request:tools/call:ls"), S("") }, /* only cites it */
        { DO("human", "chat"),         S("")      },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct envelope env;
        struct book book;

        book_init(&book, PROPOSALS_ONCE);
        CHECK_INT(propose(&book, "p"), OK);
        scan(&book, c->note, &env);
        CHECK_INT(judge(&book, &env), OK);
        CHECK_STR(book.effect.watcher, c->watcher);
        book_done(&book);
    }
}

/* D17 */
TEST(the_first_answer_to_a_fulfilment_is_watched_by_the_proposer)
{
    static const struct {
        const char *about;
        int type;
        struct str watcher;
    } answers[] = {
        { "f", EFFECT_ANSWER, S("agent") },
        { "f", EFFECT_NONE, S("") },
        { "r", EFFECT_ANSWER, S("") }, /* nobody had proposed it */
        { "x", EFFECT_NONE, S("") },
    };
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(
        put(&book,
            (struct note){ .id = "f", .from = "human", .kind = CALL, .about = "p" }),
        OK);
    CHECK_INT(put(&book, (struct note){ .id = "r", .from = "human", .kind = CALL }), OK);
    FOR_EACH_CASE(c, answers) {
        struct envelope env;

        scan(&book,
             (struct note){
                 .id = "a", .from = "tool", .kind = "mcp/response:x", .about = c->about },
             &env);
        CHECK_INT(judge(&book, &env), OK);
        CHECK_INT(book.effect.type, c->type);
        CHECK_STR(book.effect.watcher, c->watcher);
        ledger_enter(&book.ledger, &env, env.text, &book.effect, book.wall_ms);
    }
    book_done(&book);
}

TEST(judging_alone_changes_nothing)
{
    static const struct note notes[] = {
        DO("human", CALL),
        DO("human", "mcp/reject"),
        DO("agent", "mcp/withdraw"),
        { .id = "q", .from = "agent", .kind = "mcp/proposal:x" },
        { .id = "r", .from = "agent", .kind = "mcp/request:x" },
        { .id = "a", .from = "tool", .kind = "mcp/response:x", .about = "asked" },
    };
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(
        put(&book, (struct note){ .id = "asked", .from = "x", .kind = "mcp/request:x" }),
        OK);
    FOR_EACH_CASE(note, notes) {
        struct envelope env;

        scan(&book, *note, &env);
        CHECK_INT(
            ledger_judge(&book.ledger, &env, book.wall_ms, &book.effect, &book.problem),
            OK);
        CHECK_STR(state_of(&book, S("p")), S("open"));
        CHECK_INT(book.ledger.proposals.count, 1);
        CHECK_INT(book.ledger.requests.count, 1);
        CHECK(ledger_knows(&book.ledger, S("asked"), book.wall_ms));
    }
    book_done(&book);
}

TEST(too_many_proposals_are_refused_until_some_have_expired)
{
    struct book book;
    char id[8];

    book_init(&book, PROPOSALS_ONCE);
    book.settings.max_proposals = 3;
    for (size_t i = 0; i < 3; i++, book.wall_ms++) {
        (void)snprintf(id, sizeof(id), "%zu", i);
        CHECK_INT(propose(&book, id), OK);
    }
    CHECK_INT(propose(&book, "3"), ERR_UNAVAILABLE);
    CHECK_STR(str_of(book.problem.what), S("too many proposals are open in this topic"));
    CHECK_INT(book.ledger.proposals.count, 3);
    book.wall_ms = START + EXPIRY + 1; /* two are over */
    CHECK_INT(propose(&book, "3"), OK);
    CHECK_INT(propose(&book, "4"), OK);
    CHECK_INT(propose(&book, "5"), ERR_UNAVAILABLE);
    CHECK_STR(state_of(&book, S("0")), S("(unknown)"));
    CHECK_STR(state_of(&book, S("2")), S("open"));
    book_done(&book);
}

TEST(of_too_many_requests_the_oldest_is_forgotten)
{
    struct book book;
    char id[8];

    book_init(&book, PROPOSALS_ONCE);
    book.settings.max_requests = 3;
    for (size_t i = 0; i < 5; i++) {
        (void)snprintf(id, sizeof(id), "%zu", i);
        CHECK_INT(
            put(&book, (struct note){ .id = id, .from = "a", .kind = "mcp/request:x" }),
            OK);
    }
    CHECK_INT(book.ledger.requests.count, 3);
    CHECK(!ledger_knows(&book.ledger, S("1"), book.wall_ms));
    CHECK(ledger_knows(&book.ledger, S("2"), book.wall_ms));
    CHECK(ledger_knows(&book.ledger, S("4"), book.wall_ms));
    book_done(&book);
}

TEST(only_an_addressee_answers_a_request)
{
    static const struct note forged = {
        .id = "f", .from = "other", .kind = "mcp/response:tools/call", .about = "q"
    };
    static const struct note answer = {
        .id = "a", .from = "tool", .kind = "mcp/response:tools/call", .about = "q"
    };
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    CHECK_INT(put(&book, (struct note){ .id = "q",
                                        .from = "human",
                                        .kind = "mcp/request:tools/call",
                                        .to = "[\"tool\"]" }),
              OK);
    CHECK_INT(put(&book, forged), OK);
    CHECK_INT(book.effect.type, EFFECT_NONE);
    CHECK(ledger_knows(&book.ledger, S("q"), book.wall_ms));
    CHECK_INT(put(&book, answer), OK);
    CHECK_INT(book.effect.type, EFFECT_ANSWER);
    CHECK(!ledger_knows(&book.ledger, S("q"), book.wall_ms));
    book_done(&book);
}

TEST(open_proposals_are_walked_oldest_first)
{
    struct book book;
    const struct proposal *p;

    book_init(&book, PROPOSALS_ONCE);
    CHECK(ledger_next_open(&book.ledger, NULL, book.wall_ms) == NULL);
    CHECK_INT(put(&book, (struct note){ .id = "soon",
                                        .from = "agent",
                                        .kind = "mcp/proposal:x",
                                        .expires = "\"1970-01-01T00:16:41Z\"" }),
              OK);
    CHECK_INT(propose(&book, "b"), OK);
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(propose(&book, "d"), OK);
    CHECK_INT(put(&book, (struct note)DO("human", "mcp/reject")), OK);
    p = ledger_next_open(&book.ledger, NULL, book.wall_ms);
    CHECK_STR(p->id, S("soon"));
    CHECK_STR(p->proposer, S("agent"));
    CHECK_STR(p->kind.text, S("mcp/proposal:x"));
    CHECK_INT(p->created_ms, START);
    CHECK_INT(p->expires_ms, START + 1000);
    p = ledger_next_open(&book.ledger, NULL, book.wall_ms + 1000);
    CHECK_STR(p->id, S("b"));
    p = ledger_next_open(&book.ledger, p, book.wall_ms);
    CHECK_STR(p->id, S("d"));
    CHECK(ledger_next_open(&book.ledger, p, book.wall_ms) == NULL);
    book_done(&book);
}

/* The id of a closed proposal may come again once it has left the ring. */
TEST(a_proposal_with_the_id_of_a_closed_one_takes_its_place)
{
    struct book book;

    book_init(&book, PROPOSALS_ONCE);
    book.settings.max_proposals = 2;
    CHECK_INT(propose(&book, "p"), OK);
    CHECK_INT(put(&book, (struct note)DO("human", "mcp/reject")), OK);
    book.wall_ms += EXPIRY / 2;
    CHECK_INT(put(&book, (struct note){ .id = "p",
                                        .from = "other",
                                        .kind = "mcp/proposal:tools/call" }),
              OK);
    CHECK_INT(book.ledger.proposals.count, 1);
    CHECK_STR(ledger_next_open(&book.ledger, NULL, book.wall_ms)->proposer, S("other"));
    book.wall_ms = START + EXPIRY; /* the time of the first one is over */
    CHECK_INT(propose(&book, "q"), OK);
    CHECK_INT(propose(&book, "r"), ERR_UNAVAILABLE);
    CHECK_STR(state_of(&book, S("p")), S("open"));
    CHECK_INT(put(&book, (struct note)DO("human", CALL)), OK);
    CHECK_STR(state_of(&book, S("p")), S("fulfilled"));
    book_done(&book);
}

static struct str envelope_of(struct book *book, struct str id)
{
    const struct proposal *p = ledger_find(&book->ledger, id, book->wall_ms);

    return (struct str){ p->envelope, p->envelope_bytes };
}

TEST(a_proposal_keeps_its_envelope_as_long_as_it_is_open)
{
    static const struct str text =
        S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"p\",\"from\":\"agent\","
          "\"kind\":\"mcp/proposal:tools/call:rm\",\"payload\":{}}");
    static const struct {
        struct note end;
        uint64_t later_ms;
    } ends[] = {
        { DO("human", CALL), 0 },
        { DO("human", "mcp/reject"), 0 },
        { DO("agent", "mcp/withdraw"), 0 },
        { { .id = "n", .from = "x", .kind = "chat" }, EXPIRY },
    };

    FOR_EACH_CASE(c, ends) {
        struct book book;

        book_init(&book, PROPOSALS_ONCE);
        CHECK_INT(propose(&book, "p"), OK);
        CHECK_STR(envelope_of(&book, S("p")), text);
        CHECK_INT(put(&book, (struct note)DO("human", "mcp/approve")), OK);
        CHECK_STR(envelope_of(&book, S("p")), text);
        CHECK_INT(book.ledger.bytes, text.len);
        book.wall_ms += c->later_ms;
        CHECK_INT(put(&book, c->end), OK);
        CHECK_STR(envelope_of(&book, S("p")), S(""));
        CHECK_INT(book.ledger.bytes, 0);
        book_done(&book);
    }
}
