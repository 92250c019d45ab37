/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>

#include "harness.h"
#include "tui/timeline.h"

/* One envelope, in the shape that a test has it. */
struct step {
    struct str id, from, kind, about, payload;
    struct str to;
};

static struct entry *say(struct timeline *t, const struct step *s)
{
    struct said said = { .id = s->id, .from = s->from, .correlation_id = s->about };
    struct telling telling;
    struct entry *e;

    said.to = &s->to;
    said.to_count = s->to.len ? 1 : 0;
    said.raw = s->payload;
    tell_init(&telling);
    tell(&telling,
         &(struct tell_envelope){ s->kind, s->payload.len ? s->payload : S("{}"), said.to,
                                  said.to_count, S("") });
    e = timeline_say(t, &said, &telling);
    tell_done(&telling);
    return e;
}

/* One line per entry: "+" begins a block, ">" is a reply, then who, id and state. */
static void check_room(const struct timeline *t, struct str want)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    for (struct entry *e = timeline_first(t); e; e = timeline_behind(t, e)) {
        buf_putc(&out, entry_begins(t, e) ? '+' : ' ');
        buf_putc(&out, entry_is_reply(e) ? '>' : ' ');
        buf_putf(&out, STR_FMT " " STR_FMT, STR_ARG(e->from), STR_ARG(e->id));
        if (e->type != ENTRY_SAID)
            buf_put(&out, e->body);
        if (e->state)
            buf_putf(&out, " " STR_FMT, STR_ARG(state_word(e->state)));
        if (e->note)
            buf_putf(&out, " %s", e->note);
        buf_putc(&out, '\n');
    }
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

static void begin(struct timeline *t)
{
    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    timeline_init(t, TIMELINE_ENTRIES, TIMELINE_BYTES);
}

#define CHAT(id, from, about)                         \
    {                                                 \
        S(id), S(from), S("chat"), S(about), S("{}"), \
        {                                             \
        }                                             \
    }
#define CALL(id, from, about, to)                                               \
    {                                                                           \
        S(id), S(from), S("mcp/request:tools/call:x"), S(about), S("{}"), S(to) \
    }
#define ANSWER(id, from, about, result)                                      \
    {                                                                        \
        S(id), S(from), S("mcp/response:tools/call:x"), S(about), S(result), \
        {                                                                    \
        }                                                                    \
    }
#define PROPOSAL(id, from)                                                      \
    {                                                                           \
        S(id), S(from), S("mcp/proposal:tools/call:x"), {}, S("{}"), S("files") \
    }

#define RESULT "{\"result\":{}}"
#define FAILED "{\"error\":{\"code\":1,\"message\":\"no\"}}"
#define DENIED "{\"error\":{\"code\":-32002,\"message\":\"no\"}}"
#define LATER \
    "{\"error\":{\"code\":-32001,\"message\":\"wait\",\"data\":{\"authorizationRequest\":{}}}}"

static void say_all(struct timeline *t, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)say(t, &steps[i]);
}

TEST(proposal_decision_request_and_answer_are_one_thread)
{
    static const struct step steps[] = {
        CHAT("c1", "alice", ""), PROPOSAL("p1", "bot"),
        CHAT("c2", "alice", ""), CALL("r1", "human", "p1", "files"),
        CHAT("c3", "alice", ""), ANSWER("a1", "files", "r1", RESULT),
    };
    struct timeline t;

    begin(&t);
    say_all(&t, steps, sizeof(steps) / sizeof(steps[0]));
    timeline_mark(&t, S("p1"), STATE_FULFILLED, S("by human"));
    timeline_mark(&t, S("nobody"), STATE_FULFILLED, S("by human"));
    check_room(&t, S("+ alice c1\n"
                     "+ bot p1 fulfilled by human\n"
                     " >human r1 answered\n"
                     " >files a1\n"
                     "+ alice c2\n"
                     "+ alice c3\n"));
    timeline_done(&t);
}

TEST(an_answer_counts_from_who_was_asked_and_once)
{
    static const struct {
        struct step steps[4];
        struct str want;
    } cases[] = {
        { { CALL("r", "a", "", "files"), ANSWER("x", "mallory", "r", RESULT) },
          S("+ a r waiting\n >mallory x\n") },
        { { CALL("r", "a", "", "files"), ANSWER("x", "files", "r", FAILED) },
          S("+ a r failed\n >files x\n") },
        { { CALL("r", "a", "", "files"), ANSWER("x", "files", "r", DENIED) },
          S("+ a r not allowed\n >files x\n") },
        { { CALL("r", "a", "", "files"), ANSWER("x", "files", "r", LATER) },
          S("+ a r waits to be allowed\n >files x\n") },
        { { CALL("r", "a", "", "files"), ANSWER("x", "files", "r", LATER),
            ANSWER("y", "files", "r", RESULT), ANSWER("z", "files", "r", FAILED) },
          S("+ a r answered\n >files x\n >files y\n >files z\n") },
        { { CALL("r", "a", "", ""), ANSWER("x", "anybody", "r", RESULT) },
          S("+ a r answered\n >anybody x\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct timeline t;

        begin(&t);
        for (size_t i = 0; i < 4 && c->steps[i].id.len; i++)
            (void)say(&t, &c->steps[i]);
        check_room(&t, c->want);
        timeline_done(&t);
    }
}

TEST(progress_changes_the_call_and_adds_nothing)
{
    static const struct step progress = {
        S("n"),
        S("files"),
        S("mcp/request:notifications/progress"),
        {},
        S("{\"params\":{\"progressToken\":\"r\",\"progress\":3,\"total\":10}}"),
        {}
    };
    static const struct step foreign = {
        S("m"),
        S("mallory"),
        S("mcp/request:notifications/progress"),
        {},
        S("{\"params\":{\"progressToken\":\"r\",\"progress\":9}}"),
        {}
    };
    static const struct step call = CALL("r", "a", "", "files");
    struct timeline t;

    begin(&t);
    (void)say(&t, &call);
    CHECK(say(&t, &progress) == NULL);
    CHECK(say(&t, &foreign) == NULL);
    check_room(&t, S("+ a r waiting 3 of 10\n"));
    timeline_done(&t);
}

TEST(a_thread_that_is_far_away_goes_on_at_the_end)
{
    static const struct step call = CALL("r", "a", "", "files");
    static const struct step answer = ANSWER("x", "files", "r", RESULT);
    static const struct step more = CHAT("y", "b", "x");
    struct timeline t;

    begin(&t);
    (void)say(&t, &call);
    for (int i = 0; i < TIMELINE_NEAR; i++)
        (void)say(&t, &(struct step)CHAT("c", "z", ""));
    (void)say(&t, &answer);
    (void)say(&t, &more);
    CHECK(timeline_last(&t)->thread == timeline_first(&t)->thread);
    CHECK_STR(timeline_last(&t)->id, S("y"));
    CHECK(entry_begins(&t, timeline_find(&t, S("x"))));
    CHECK(entry_ends(&t, timeline_find(&t, S("r"))));
    CHECK_INT(timeline_find(&t, S("r"))->state, STATE_ANSWERED);
    timeline_done(&t);
}

TEST(what_is_answered_may_be_unknown_or_come_later)
{
    static const struct step steps[] = {
        ANSWER("x", "files", "r", RESULT),
        CHAT("y", "b", "r"),
        CALL("r", "a", "", "files"),
    };
    struct timeline t;

    begin(&t);
    say_all(&t, steps, 3);
    check_room(&t, S("+>files x\n >b y\n  a r waiting\n"));
    timeline_done(&t);
}

TEST(the_oldest_entries_go_first_and_their_threads_with_the_last_of_them)
{
    static const struct step steps[] = {
        CALL("r", "a", "", "files"),
        ANSWER("x", "files", "r", RESULT),
        CHAT("c", "b", ""),
        CHAT("d", "b", ""),
    };
    struct timeline t;

    begin(&t);
    t.max_count = 3;
    say_all(&t, steps, 4);
    CHECK(timeline_find(&t, S("r")) == NULL);
    check_room(&t, S("+>files x\n+ b c\n+ b d\n"));
    CHECK_INT(t.threads.count, 1);
    CHECK_STR(str_of(timeline_first(&t)->thread->title), S("calls x → files"));
    (void)say(&t, &(struct step)CHAT("e", "b", ""));
    CHECK_INT(t.threads.count, 0);
    CHECK_INT(t.by_id.count, 3);
    timeline_done(&t);
}

TEST(bytes_are_bounded_and_so_is_what_is_kept_of_an_envelope)
{
    static char big[TIMELINE_RAW + 100];
    struct timeline t;

    memset(big, 'x', sizeof(big));
    begin(&t);
    t.max_bytes = 10 * TIMELINE_RAW;
    for (int i = 0; i < 100; i++)
        (void)say(&t, &(struct step){
                          S("i"), S("a"), S("chat"), {}, { big, sizeof(big) }, {} });
    CHECK(t.bytes <= t.max_bytes);
    CHECK_INT(t.count, 9);
    CHECK_INT(timeline_last(&t)->raw.len, TIMELINE_RAW);
    CHECK_INT(timeline_last(&t)->raw_len, sizeof(big));
    timeline_done(&t);
}

TEST(ten_thousand_entries_stay_and_no_more)
{
    struct timeline t;

    begin(&t);
    for (int i = 0; i < TIMELINE_ENTRIES + 10; i++) {
        char id[16];
        int len = snprintf(id, sizeof(id), "id-%d", i);

        (void)say(&t,
                  &(struct step){ { id, (size_t)len }, S("a"), S("chat"), {}, {}, {} });
    }
    CHECK_INT(t.count, TIMELINE_ENTRIES);
    CHECK_STR(timeline_first(&t)->id, S("id-10"));
    CHECK(timeline_find_number(&t, 10) == NULL);
    CHECK_STR(timeline_find_number(&t, 11)->id, S("id-10"));
    timeline_done(&t);
}

TEST(an_id_that_comes_again_is_another_entry)
{
    static const struct step steps[] = {
        CALL("r", "a", "", "files"),
        CALL("r", "b", "", "games"),
        ANSWER("x", "games", "r", RESULT),
    };
    struct timeline t;

    begin(&t);
    say_all(&t, steps, 3);
    check_room(&t, S("+ a r waiting\n+ b r answered\n >games x\n"));
    t.max_count = 1;
    (void)say(&t, &(struct step)CHAT("c", "a", ""));
    CHECK_INT(t.by_id.count, 1);
    timeline_done(&t);
}

TEST(notes_belong_to_the_thread_they_speak_of)
{
    static const struct step call = CALL("r", "a", "", "files");
    struct timeline t;

    begin(&t);
    (void)say(&t, &call);
    (void)say(&t, &(struct step)CHAT("c", "b", ""));
    (void)timeline_note(&t, ENTRY_NOTE, S("r"), S("it took too long"), 0);
    (void)timeline_note(&t, ENTRY_WARNING, S("unknown"), S("messages were missed"), 0);
    check_room(&t, S("+ a r waiting\n"
                     " > it took too long\n"
                     "+ b c\n"
                     "+  messages were missed\n"));
    timeline_done(&t);
}

TEST(who_comes_and_goes_in_a_row_is_one_entry)
{
    static const struct str names[] = { S("a"), S("b"), S("c"), S("d"), S("e"),
                                        S("f"), S("g"), S("h"), S("i"), S("j") };
    struct timeline t;

    begin(&t);
    timeline_presence(&t, S("joined"), S("x\x1b"), 0);
    timeline_presence(&t, S("left"), S("y"), 0);
    timeline_presence(&t, S("left"), S("z"), 0);
    (void)say(&t, &(struct step)CHAT("c", "b", ""));
    for (size_t i = 0; i < 10; i++)
        timeline_presence(&t, S("joined"), names[i], 0);
    check_room(&t, S("+  x\\u001b joined\n"
                     "+  y, z left\n"
                     "+ b c\n"
                     "+  a, b, c, d, e, f, g, h and 2 more joined\n"));
    CHECK_INT(timeline_last(&t)->number, 4);
    timeline_done(&t);
}

TEST(a_reader_stays_where_he_is)
{
    static const struct step steps[] = { CHAT("c1", "a", ""), CHAT("c2", "a", ""),
                                         CHAT("c3", "a", "") };
    struct timeline t;

    begin(&t);
    say_all(&t, steps, 2);
    t.pin = timeline_first(&t);
    t.pin_line = 5;
    (void)say(&t, &steps[2]);
    timeline_presence(&t, S("joined"), S("x"), 0);
    timeline_presence(&t, S("joined"), S("y"), 0);
    CHECK_STR(t.pin->id, S("c1"));
    CHECK_INT(t.unseen, 2);
    t.max_count = 3; /* and the entry that he reads goes */
    (void)say(&t, &(struct step)CHAT("c4", "a", ""));
    CHECK_STR(t.pin->id, S("c3"));
    CHECK_INT(t.pin_line, 0);
    timeline_done(&t);
}
