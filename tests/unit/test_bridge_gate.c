/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for a word, and words that go on counting. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "bridge/gate.h"
#include "harness.h"

#define HOUR 3600'000ULL
#define NOON (1000 * HOUR)

static const struct moment begin = { 5000, NOON };

/* Both clocks, so much later. */
static struct moment at(uint64_t ms)
{
    return (struct moment){ begin.mono_ms + ms, begin.wall_ms + ms };
}

static const struct gate_call deploy = {
    .caller = S("bot"),
    .tool = S("deploy"),
    .arguments = S("{\"a\":1}"),
    .print = S("p1"),
};

static struct gate_pending *add(struct gate *gate, const struct gate_call *call,
                                const char *id, const char *delegate)
{
    struct gate_pending *pending = NULL;
    const char *why = "";

    CHECK_INT(gate_add(gate, call,
                       &(struct gate_wait){ str_of(id), S("why"), str_of(delegate),
                                            60'000, NULL },
                       begin, &pending, &why),
              OK);
    CHECK_STR(str_of(why), S(""));
    return pending;
}

struct said {
    enum gate_effect effect;
    struct gate_pending *pending;
    struct gate_decision decision;
    const char *why;
};

static struct said say_at(struct gate *gate, struct gate_word word, struct moment now)
{
    struct said said = {};

    word.from = word.from.ptr ? word.from : S("ann");
    word.id = word.id.ptr ? word.id : S("i");
    word.decision = word.decision.ptr ? word.decision : S("approve");
    said.effect =
        gate_respond(gate, &word, now, &said.pending, &said.decision, &said.why);
    return said;
}

static struct said say(struct gate *gate, struct gate_word word)
{
    return say_at(gate, word, at(1000));
}

/* Ann approves of i, but for what is said. */
#define APPROVE(...) ((struct gate_word){ __VA_ARGS__ })

/* One that is decided, and freed. */
static enum gate_effect decide(struct gate *gate, struct gate_word word)
{
    struct said said = say(gate, word);

    if (said.effect == GATE_APPROVED || said.effect == GATE_DENIED)
        gate_pending_free(said.pending);
    return said.effect;
}

static struct str time_text(uint64_t wall_ms)
{
    static char text[CLOCK_TEXT];

    return clock_write(wall_ms, text);
}

TEST(a_word_of_somebody_else_decides)
{
    static const struct {
        struct str decision;
        enum gate_effect effect;
    } cases[] = { { S("approve"), GATE_APPROVED }, { S("deny"), GATE_DENIED } };

    FOR_EACH_CASE(c, cases) {
        struct gate *gate = gate_new();
        struct gate_pending *pending = add(gate, &deploy, "i", "");
        struct said said = say(gate, APPROVE(.decision = c->decision, .reason = S("r")));

        CHECK_INT(said.effect, c->effect);
        CHECK(said.pending == pending);
        CHECK_STR(said.decision.by, S("ann"));
        CHECK_STR(said.decision.reason, S("r"));
        CHECK_INT(said.decision.valid_ms, 0);
        CHECK(!gate_next(gate, NULL));
        gate_pending_free(pending);
        /* Once alone, and for this call. */
        CHECK_INT(say(gate, APPROVE()).effect, GATE_IGNORED);
        CHECK(!gate_find(gate, &deploy, at(1000)));
        gate_free(gate);
    }
}

TEST(words_that_do_not_count_change_nothing)
{
    struct gate_call call = deploy;
    struct gate *gate = gate_new();
    const struct {
        struct gate_word word;
        const char *why;
    } cases[] = {
        { APPROVE(.id = S("j")), "no such authorization is pending here" },
        { APPROVE(.id = S("")), "no such authorization is pending here" },
        { APPROVE(.from = S("bot")), "nobody decides on his own call" },
        { APPROVE(.from = S("eve")), "nobody decides on his own call" },
        { APPROVE(.about = S("n2")), "it answers another announcement" },
        { APPROVE(.decision = S("yes")), "the decision is approve, deny or delegate" },
        { APPROVE(.decision = S("")), "the decision is approve, deny or delegate" },
        { APPROVE(.valid_until = S("tomorrow")), "validUntil is no time to come" },
        { APPROVE(.valid_until = S("")), "validUntil is no time to come" },
        { APPROVE(.valid_until = S("1970-01-01T00:00:00Z")),
          "validUntil is no time to come" },
        { APPROVE(.decision = S("delegate")), "it does not say to whom it is handed on" },
        { APPROVE(.decision = S("delegate"), .delegate = S("a\nb")),
          "it does not say to whom it is handed on" },
        { APPROVE(.decision = S("delegate"), .delegate = S("bot")),
          "nobody decides on his own call" },
        { APPROVE(.decision = S("delegate"), .delegate = S("eve")),
          "nobody decides on his own call" },
        { APPROVE(.decision = S("delegate"), .delegate = S("ann")),
          "it was handed on to whoever did so" },
    };

    call.proposer = S("eve");
    gate_announced(add(gate, &call, "i", ""), S("n1"));
    FOR_EACH_CASE(c, cases) {
        struct said said = say(gate, c->word);

        CHECK_INT(said.effect, GATE_IGNORED);
        CHECK_STR(str_of(said.why), str_of(c->why));
        CHECK(gate_next(gate, NULL));
    }
    CHECK_INT(decide(gate, APPROVE(.about = S("n1"))), GATE_APPROVED);
    gate_free(gate);
}

TEST(nobody_decides_when_its_time_is_over)
{
    struct gate *gate = gate_new();
    struct gate_pending *pending = add(gate, &deploy, "i", "");

    CHECK_INT(pending->expires_ms, begin.wall_ms + 60'000);
    CHECK_INT(gate_due_ms(gate), begin.mono_ms + 60'000);
    CHECK(!gate_expired(gate, at(59'999)));
    CHECK_INT(say_at(gate, APPROVE(), at(60'000)).effect, GATE_IGNORED);
    CHECK(gate_expired(gate, at(60'000)) == pending);
    CHECK(!gate_expired(gate, at(60'000)));
    CHECK_INT(gate_due_ms(gate), UINT64_MAX);
    gate_pending_free(pending);
    gate_free(gate);
}

/* --- decisions that go on counting --- */

static void decide_until(struct gate *gate, const struct gate_call *call,
                         struct str decision, uint64_t wall_ms)
{
    (void)add(gate, call, "i", "");
    CHECK(decide(gate, APPROVE(.decision = decision,
                               .valid_until = time_text(wall_ms))) != GATE_IGNORED);
}

TEST(a_decision_counts_for_the_same_call_until_its_time)
{
    struct gate *gate = gate_new();
    const struct gate_decision *decision;

    decide_until(gate, &deploy, S("approve"), NOON + HOUR);
    decision = gate_find(gate, &deploy, at(2000));
    CHECK(decision && decision->is_approval);
    CHECK_STR(decision ? decision->by : S(""), S("ann"));
    CHECK_INT(decision ? decision->uses : 0, 2);
    decision = gate_find(gate, &deploy, at(HOUR - 1));
    CHECK_INT(decision ? decision->uses : 0, 3);
    CHECK(!gate_find(gate, &deploy, at(HOUR)));
    CHECK(!gate_find(gate, &deploy, at(2000))); /* it is gone, whatever the clock says */
    gate_free(gate);
}

/* One clock is set back, or stands. */
TEST(a_clock_that_is_set_back_prolongs_nothing)
{
    static const struct moment cases[] = {
        { 5000 + HOUR, NOON },
        { 5000, NOON + HOUR },
    };

    FOR_EACH_CASE(c, cases) {
        struct gate *gate = gate_new();

        decide_until(gate, &deploy, S("approve"), NOON + HOUR);
        CHECK(!gate_find(gate, &deploy, *c));
        gate_free(gate);
    }
}

TEST(a_decision_counts_for_no_other_call)
{
    const struct gate_call cases[] = {
        { S("bob"), S(""), S("deploy"), S("{\"a\":1}"), S("p1") },
        { S("bot"), S(""), S("deploy2"), S("{\"a\":1}"), S("p1") },
        { S("bot"), S(""), S("deploy"), S("{\"a\":1}"), S("p2") }, /* arguments, or pin */
        { S("bot"), S(""), S("deploy"), S("{\"a\":1}"), S("") },
        /* whoever decided would decide on his own */
        { S("bot"), S("ann"), S("deploy"), S("{\"a\":1}"), S("p1") },
    };
    struct gate *gate = gate_new();

    decide_until(gate, &deploy, S("approve"), NOON + HOUR);
    FOR_EACH_CASE(c, cases)
        CHECK(!gate_find(gate, c, at(2000)));
    CHECK(gate_find(gate, &deploy, at(2000)));
    gate_free(gate);
}

TEST(a_denial_goes_on_counting_too)
{
    struct gate *gate = gate_new();
    const struct gate_decision *decision;

    decide_until(gate, &deploy, S("deny"), NOON + HOUR);
    decision = gate_find(gate, &deploy, at(2000));
    CHECK(decision && !decision->is_approval);
    decide_until(gate, &deploy, S("approve"), NOON + HOUR);
    decision = gate_find(gate, &deploy, at(2000));
    CHECK(decision && decision->is_approval); /* the last one counts */
    gate_free(gate);
}

TEST(no_decision_counts_longer_than_a_day)
{
    struct gate *gate = gate_new();

    decide_until(gate, &deploy, S("approve"), NOON + 1000ULL * HOUR);
    CHECK(gate_find(gate, &deploy, at(24 * HOUR)));
    CHECK(!gate_find(gate, &deploy, at(24 * HOUR + 1000)));
    gate_free(gate);
}

TEST(what_is_too_long_is_decided_for_once)
{
    static char arguments[GATE_KEPT_BYTES + 2];
    struct gate_call call = deploy;
    struct gate *gate = gate_new();

    memset(arguments, ' ', sizeof(arguments));
    call.arguments = (struct str){ arguments, GATE_KEPT_BYTES + 1 };
    decide_until(gate, &call, S("approve"), NOON + HOUR);
    CHECK(!gate_find(gate, &call, at(2000)));
    call.arguments.len--;
    decide_until(gate, &call, S("approve"), NOON + HOUR);
    CHECK(gate_find(gate, &call, at(2000)));
    gate_free(gate);
}

TEST(a_thousand_decisions_are_kept_and_the_oldest_goes)
{
    struct gate_call call = deploy;
    struct gate *gate = gate_new();
    char print[16];

    for (int i = 0; i <= GATE_KEPT; i++) {
        (void)snprintf(print, sizeof(print), "%d", i);
        call.print = str_of(print);
        decide_until(gate, &call, S("approve"), NOON + HOUR);
    }
    call.print = S("0");
    CHECK(!gate_find(gate, &call, at(2000)));
    call.print = S("1");
    CHECK(gate_find(gate, &call, at(2000)));
    call.print = S("1000");
    CHECK(gate_find(gate, &call, at(2000)));
    gate_free(gate);
}

/* --- handing on --- */

static enum gate_effect hand(struct gate *gate, const char *from, const char *to,
                             const char **ret_why)
{
    struct said said = say(gate, APPROVE(.from = str_of(from), .decision = S("delegate"),
                                         .delegate = str_of(to)));

    *ret_why = said.why;
    return said.effect;
}

TEST(the_delegate_alone_decides_and_may_hand_it_on)
{
    struct gate *gate = gate_new();
    struct gate_pending *pending = add(gate, &deploy, "i", "dan");
    const char *why;

    CHECK_STR(str_of(say(gate, APPROVE()).why), S("somebody else was asked to decide"));
    CHECK_INT(hand(gate, "dan", "eva", &why), GATE_HANDED_ON);
    CHECK_STR(str_of(pending->delegate), S("eva"));
    CHECK_INT(say(gate, APPROVE(.from = S("dan"))).effect, GATE_IGNORED);
    CHECK_INT(hand(gate, "eva", "dan", &why), GATE_IGNORED);
    CHECK_STR(str_of(why), S("it was handed on in a circle"));
    CHECK_INT(hand(gate, "eva", "fay", &why), GATE_HANDED_ON);
    CHECK_INT(hand(gate, "fay", "gus", &why), GATE_HANDED_ON);
    CHECK_INT(hand(gate, "gus", "hal", &why), GATE_IGNORED);
    CHECK_STR(str_of(why), S("it was handed on too often"));
    CHECK_INT(decide(gate, APPROVE(.from = S("gus"))), GATE_APPROVED);
    gate_free(gate);
}

TEST(whoever_may_decide_may_hand_it_on)
{
    struct gate *gate = gate_new();
    const char *why;

    (void)add(gate, &deploy, "i", "");
    CHECK_INT(hand(gate, "ann", "eva", &why), GATE_HANDED_ON);
    CHECK_INT(hand(gate, "eva", "ann", &why), GATE_IGNORED); /* a circle */
    CHECK_INT(say(gate, APPROVE()).effect, GATE_IGNORED);
    CHECK_INT(decide(gate, APPROVE(.from = S("eva"), .decision = S("deny"))),
              GATE_DENIED);
    gate_free(gate);
}

TEST(without_the_delegate_whoever_may_decides)
{
    struct gate *gate = gate_new();
    struct gate_pending *pending = add(gate, &deploy, "i", "dan");

    gate_open_up(pending, S("dan is not here"));
    CHECK(!pending->delegate);
    CHECK_STR(str_of(pending->reason), S("dan is not here: whoever may decides; why"));
    CHECK_INT(decide(gate, APPROVE()), GATE_APPROVED);
    gate_free(gate);
}

/* --- revoking --- */

TEST(what_is_revoked_counts_no_longer)
{
    struct gate *gate = gate_new();
    struct gate_pending *pending;

    decide_until(gate, &deploy, S("approve"), NOON + HOUR);
    CHECK_INT(gate_revoke(gate, S("j"), S("ann"), at(2000), &pending), ERR_NOT_FOUND);
    CHECK_INT(gate_revoke(gate, S("i"), S("bot"), at(2000), &pending), OK);
    CHECK(!pending);
    CHECK(!gate_find(gate, &deploy, at(2000)));
    CHECK_INT(gate_revoke(gate, S("i"), S("ann"), at(2000), &pending), ERR_NOT_FOUND);
    gate_free(gate);
}

TEST(nobody_takes_back_a_denial_of_his_own_call)
{
    struct gate *gate = gate_new();
    struct gate_pending *pending;

    decide_until(gate, &deploy, S("deny"), NOON + HOUR);
    CHECK_INT(gate_revoke(gate, S("i"), S("bot"), at(2000), &pending), ERR_FORBIDDEN);
    CHECK_INT(gate_revoke(gate, S("i"), S("bob"), at(2000), &pending), OK);
    gate_free(gate);
}

TEST(what_is_pending_can_be_revoked)
{
    struct gate *gate = gate_new();
    struct gate_pending *added = add(gate, &deploy, "i", ""), *pending;

    CHECK_INT(gate_revoke(gate, S("i"), S("bob"), at(2000), &pending), OK);
    CHECK(pending == added);
    CHECK_INT(say(gate, APPROVE()).effect, GATE_IGNORED);
    gate_pending_free(pending);
    gate_free(gate);
}

/* --- bounds --- */

static enum err add_more(struct gate *gate, struct str caller, struct str arguments,
                         const char **ret_why)
{
    struct gate_call call = deploy;
    struct gate_pending *pending;

    call.caller = caller;
    call.arguments = arguments;
    return gate_add(gate, &call, &(struct gate_wait){ .id = S("x"), .timeout_ms = 1 },
                    begin, &pending, ret_why);
}

TEST(so_many_of_one_caller_wait_and_so_many_in_all)
{
    struct gate *gate = gate_new();
    struct gate_pending *first;
    const char *why = "";
    char caller[16];

    for (int i = 0; i < GATE_PENDING_EACH; i++)
        CHECK_INT(add_more(gate, S("bot"), S("{}"), &why), OK);
    CHECK_INT(add_more(gate, S("bot"), S("{}"), &why), ERR_OVERLOAD);
    CHECK_STR(str_of(why), S("too many calls of this caller wait for authorization"));
    for (int i = GATE_PENDING_EACH; i < GATE_PENDING; i++) {
        (void)snprintf(caller, sizeof(caller), "c%d", i);
        CHECK_INT(add_more(gate, str_of(caller), S("{}"), &why), OK);
    }
    CHECK_INT(add_more(gate, S("bob"), S("{}"), &why), ERR_OVERLOAD);
    CHECK_STR(str_of(why), S("too many calls wait for authorization"));
    first = gate_next(gate, NULL);
    gate_take(gate, first);
    gate_pending_free(first);
    CHECK_INT(add_more(gate, S("bob"), S("{}"), &why), OK);
    gate_free(gate);
}

TEST(so_many_bytes_of_one_caller_wait_and_so_many_in_all)
{
    static char text[GATE_BYTES_EACH + 1];
    struct str arguments = { text, GATE_BYTES_EACH };
    struct gate *gate = gate_new();
    const char *why = "";
    char caller[16];

    CHECK_INT(add_more(gate, S("bot"), (struct str){ text, sizeof(text) }, &why),
              ERR_OVERLOAD);
    for (int i = 0; i < GATE_BYTES / GATE_BYTES_EACH; i++) {
        (void)snprintf(caller, sizeof(caller), "c%d", i);
        CHECK_INT(add_more(gate, str_of(caller), arguments, &why), OK);
        CHECK_INT(add_more(gate, str_of(caller), S("{}"), &why), ERR_OVERLOAD);
    }
    CHECK_INT(add_more(gate, S("bot"), S("{}"), &why), ERR_OVERLOAD);
    CHECK_STR(str_of(why), S("too many calls wait for authorization"));
    gate_free(gate);
}

/* --- lists --- */

TEST(a_list_tells_what_is_pending_and_what_counts)
{
    struct gate *gate = gate_new();
    CLEANUP(buf_done) struct buf out;
    struct gate_call call = deploy;

    buf_init(&out, 1 << 16);
    CHECK_INT(gate_put_list(gate, S(""), 1 << 15, at(2000), &out), OK);
    CHECK_STR(buf_str(&out), S("{\"pending\":[],\"authorizations\":[]}"));
    decide_until(gate, &deploy, S("approve"), NOON + HOUR);
    call.proposer = S("eve");
    gate_announced(add(gate, &call, "k", "dan"), S("n1"));
    buf_clear(&out);
    CHECK_INT(gate_put_list(gate, S(""), 1 << 15, at(2000), &out), OK);
    CHECK_STR(
        buf_str(&out),
        S("{\"pending\":[{\"authorizationId\":\"k\",\"announcement\":\"n1\",\"tool\":\"deploy\","
          "\"arguments\":{\"a\":1},\"requester\":\"bot\",\"proposer\":\"eve\","
          "\"reason\":\"why\",\"delegate\":\"dan\","
          "\"expiresAt\":\"1970-02-11T16:01:00.000Z\"}],"
          "\"authorizations\":[{\"authorizationId\":\"i\",\"tool\":\"deploy\","
          "\"arguments\":{\"a\":1},\"requester\":\"bot\",\"decision\":\"approve\","
          "\"decidedBy\":\"ann\",\"reason\":\"\","
          "\"validUntil\":\"1970-02-11T17:00:00.000Z\",\"uses\":1}]}"));
    buf_clear(&out);
    CHECK_INT(gate_put_list(gate, S("x"), 1 << 15, at(2000), &out), ERR_INVALID);
    gate_free(gate);
}

TEST(a_list_comes_in_pages)
{
    struct gate_call call = deploy;
    struct gate *gate = gate_new();
    CLEANUP(buf_done) struct buf out;
    char print[16];

    buf_init(&out, 1 << 16);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(print, sizeof(print), "%d", i);
        call.print = str_of(print);
        decide_until(gate, &call, S("approve"), NOON + HOUR);
    }
    CHECK_INT(gate_put_list(gate, S(""), 300, at(2000), &out), OK);
    CHECK(str_ends(buf_str(&out), S("}],\"nextCursor\":\"2\"}")));
    buf_clear(&out);
    CHECK_INT(gate_put_list(gate, S("2"), 300, at(2000), &out), OK);
    CHECK(str_starts(buf_str(&out), S("{\"authorizations\":[{")));
    CHECK(str_ends(buf_str(&out), S("\"uses\":1}]}")));
    gate_free(gate);
}
