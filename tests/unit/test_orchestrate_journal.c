/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "orchestrate/journal.h"

enum { TEXT = 1 << 22 };
#define AT     "\"at\":\"2027-01-15T08:00:00.000Z\""
#define NOW    1'800'000'000'000ULL
#define DAY_MS 86'400'000ULL
#define TOPIC  "{" AT ",\"what\":\"topic\",\"topic\":\"room\"}\n"
#define DECIDED                                                                       \
    "{" AT ",\"after\":\"q1\",\"what\":\"decided\",\"proposal\":\"p1\",\"proposer\":" \
    "\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"srv\",\"arguments\":"  \
    "{\"n\":1},\"verdict\":\"approved\",\"by\":\"ann\"}\n"

TEST(what_is_written_is_read)
{
    static const char *const lines[] = {
        TOPIC,
        DECIDED,
        "{" AT ",\"after\":\"p1\",\"what\":\"proposed\",\"proposal\":\"p1\",\"envelope\":"
        "{\"id\":\"p1\"}}\n",
        "{" AT ",\"what\":\"ended\",\"proposal\":\"p1\"}\n",
        "{" AT ",\"what\":\"suggested\",\"rule\":\"r-1\"}\n",
        "{" AT ",\"what\":\"unwanted\",\"text\":{\"id\":\"r-1\"}}\n",
        "{" AT ",\"what\":\"would\",\"rule\":\"r-1\",\"proposal\":\"p1\"}\n",
        "{" AT ",\"what\":\"shadow\",\"rule\":\"r-1\",\"proposal\":\"p1\",\"verdict\":"
        "\"rejected\"}\n",
        "{" AT ",\"what\":\"used\",\"rule\":\"r-1\",\"proposal\":\"p1\"}\n",
        "{" AT ",\"after\":\"e9\",\"what\":\"heard\"}\n",
    };

    FOR_EACH_CASE(line, lines) {
        struct journal_entry entry;
        struct arena arena;
        struct buf out;

        arena_init(&arena, TEXT);
        buf_init(&out, TEXT);
        CHECK_INT(journal_read(str_slice(str_of(*line), 0, strlen(*line) - 1), S("room"),
                               &arena, &entry),
                  OK);
        journal_put(&out, &entry);
        CHECK_STR(buf_str(&out), str_of(*line));
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(what_is_no_line_is_refused)
{
    static const char *const lines[] = {
        "",
        "{}",
        "[]",
        "{" AT "}",
        "{\"at\":\"yesterday\",\"what\":\"heard\",\"after\":\"e\"}",
        "{" AT ",\"what\":\"nothing\"}",
        "{" AT ",\"what\":\"heard\"}",
        "{" AT ",\"what\":\"heard\",\"after\":\"e\",\"colour\":1}",
        "{" AT ",\"what\":\"heard\",\"what\":\"heard\",\"after\":\"e\"}",
        "{" AT ",\"what\":\"topic\"}",
        "{" AT ",\"what\":\"ended\"}",
        "{" AT ",\"what\":\"proposed\",\"proposal\":\"p\",\"envelope\":[]}",
        "{" AT ",\"what\":\"shadow\",\"rule\":\"r\",\"proposal\":\"p\",\"verdict\":"
        "\"perhaps\"}",
        "{" AT ",\"what\":\"decided\",\"proposal\":\"p\",\"proposer\":\"b\",\"method\":"
        "\"m\",\"verdict\":\"approved\"}",
        "{" AT ",\"what\":\"decided\",\"proposal\":\"p\",\"proposer\":\"b\",\"method\":"
        "\"m\",\"by\":\"ann\",\"verdict\":\"approved\",\"arguments\":[]}",
        "{" AT ",\"what\":\"decided\",\"proposal\":\"p\",\"proposer\":\"b\",\"method\":"
        "\"m\",\"by\":\"ann\",\"verdict\":\"nothing\"}",
    };

    FOR_EACH_CASE(line, lines) {
        struct journal_entry entry;
        struct arena arena;

        arena_init(&arena, TEXT);
        CHECK_INT(journal_read(str_of(*line), S("room"), &arena, &entry), ERR_INVALID);
        arena_done(&arena);
    }
}

static void count(void *user, const struct journal_entry *entry [[maybe_unused]])
{
    *(size_t *)user += 1;
}

TEST(a_torn_last_line_is_no_line_wherever_it_was_torn)
{
    const struct str text = S(TOPIC DECIDED DECIDED);
    size_t first = strlen(TOPIC), second = first + strlen(DECIDED);

    for (size_t len = 0; len <= text.len; len++) {
        size_t seen = 0, line;

        CHECK_INT(journal_replay(str_slice(text, 0, len),
                                 &(struct journal_reading){ S("room"), count, &seen },
                                 &line),
                  OK);
        CHECK_INT(seen, (len >= first) + (len >= second) + (len == text.len));
    }
}

TEST(a_journal_that_cannot_be_read_says_where)
{
    static const struct {
        const char *text;
        enum err err;
        size_t line;
    } cases[] = {
        { TOPIC DECIDED, OK, 3 },
        { TOPIC "nonsense\n" DECIDED, ERR_INVALID, 2 },
        { TOPIC DECIDED "\n", ERR_INVALID, 3 },
        { DECIDED, ERR_INVALID, 1 },
        { TOPIC TOPIC, ERR_INVALID, 2 },
        { "{" AT ",\"what\":\"topic\",\"topic\":\"other\"}\n" DECIDED, ERR_CONFLICT, 1 },
        { "", OK, 1 },
    };

    FOR_EACH_CASE(c, cases) {
        size_t seen = 0, line = 0;

        CHECK_INT(journal_replay(str_of(c->text),
                                 &(struct journal_reading){ S("room"), count, &seen },
                                 &line),
                  c->err);
        CHECK_INT(line, c->line);
    }
}

TEST(foreign_line_breaks_do_not_break_lines)
{
    struct buf out;

    buf_init(&out, TEXT);
    journal_put(&out,
                &(struct journal_entry){ .type = JOURNAL_PROPOSED,
                                         .at_ms = NOW,
                                         .proposal = S("p\n1"),
                                         .envelope = S("{\r\n\"id\":\n\"p\\n1\"}") });
    CHECK_INT(str_find(buf_str(&out), '\n', 0), out.len - 1);
    buf_done(&out);
}

TEST(what_is_too_long_for_a_line_is_not_written)
{
    struct buf out, big;

    buf_init(&out, TEXT);
    buf_init(&big, TEXT);
    buf_put(&big, S("{\"a\":\""));
    while (big.len < JOURNAL_LINE)
        buf_put(&big, S("aaaaaaaaaaaaaaaa"));
    buf_put(&big, S("\"}"));
    journal_put(&out, &(struct journal_entry){ .type = JOURNAL_UNWANTED,
                                               .at_ms = NOW,
                                               .text = buf_str(&big) });
    CHECK_INT(out.len, 0);
    buf_done(&out);
    buf_done(&big);
}

/* --- compacting --- */

static void put_decided(struct buf *out, unsigned number, uint64_t at_ms,
                        enum decision_verdict verdict)
{
    char id[32];

    (void)snprintf(id, sizeof(id), "p%u", number);
    journal_put(out,
                &(struct journal_entry){
                    .type = JOURNAL_DECIDED,
                    .at_ms = at_ms,
                    .after = S("e1"),
                    .decision = { .id = str_of(id),
                                  .proposal = { .proposer = S("bot"), .method = S("m") },
                                  .verdict = verdict,
                                  .by = S("ann") } });
}

static enum err compact(const struct buf *in, size_t max, struct buf *out)
{
    struct journal_terms terms = { .topic = S("room"),
                                   .now_ms = NOW,
                                   .window_ms = 90 * DAY_MS,
                                   .rejections_ms = 365 * DAY_MS,
                                   .max = max };

    buf_clear(out);
    return journal_compact(buf_str(in), &terms, out);
}

TEST(what_is_of_no_use_any_more_goes_first)
{
    struct buf in, out;

    buf_init(&in, TEXT);
    buf_init(&out, TEXT);
    buf_put(&in, S(TOPIC));
    put_decided(&in, 1, NOW - 100 * DAY_MS, DECISION_APPROVED);
    put_decided(&in, 2, NOW - 100 * DAY_MS, DECISION_REJECTED);
    put_decided(&in, 3, NOW - 400 * DAY_MS, DECISION_REJECTED);
    put_decided(&in, 4, NOW - DAY_MS, DECISION_APPROVED);
    buf_put(&in, S("{" AT ",\"what\":\"proposed\",\"proposal\":\"p5\",\"envelope\":{}}\n"
                   "{" AT ",\"what\":\"ended\",\"proposal\":\"p5\"}\n"
                   "{" AT ",\"what\":\"proposed\",\"proposal\":\"p6\",\"envelope\":{}}\n"
                   "{" AT ",\"what\":\"heard\",\"after\":\"e9\"}\n"
                   "{\"at\":\"torn"));
    CHECK_INT(compact(&in, TEXT, &out), OK);
    CHECK(!strstr(buf_cstr(&out), "\"p1\""));
    CHECK(strstr(buf_cstr(&out), "\"p2\""));
    CHECK(!strstr(buf_cstr(&out), "\"p3\""));
    CHECK(strstr(buf_cstr(&out), "\"p4\""));
    CHECK(!strstr(buf_cstr(&out), "\"p5\""));
    CHECK(strstr(buf_cstr(&out), "\"p6\""));
    CHECK(str_starts(buf_str(&out), S(TOPIC)));
    CHECK(str_ends(buf_str(&out), S("\"after\":\"e9\",\"what\":\"heard\"}\n")));
    buf_done(&in);
    buf_done(&out);
}

/* Whoever proposes without end must not stop it, and pushes nothing out that people
 * said. */
TEST(what_anybody_can_say_makes_room_for_what_people_said)
{
    struct buf in, out;

    buf_init(&in, TEXT);
    buf_init(&out, TEXT);
    buf_put(&in, S(TOPIC));
    journal_put(&in, &(struct journal_entry){ .type = JOURNAL_PROPOSED,
                                              .at_ms = NOW - 3 * DAY_MS,
                                              .proposal = S("stale"),
                                              .envelope = S("{}") });
    put_decided(&in, 1, NOW - DAY_MS, DECISION_REJECTED);
    put_decided(&in, 2, NOW - DAY_MS, DECISION_APPROVED);
    journal_put(&in, &(struct journal_entry){ .type = JOURNAL_UNWANTED,
                                              .at_ms = NOW - DAY_MS,
                                              .text = S("{\"id\":\"r-not\"}") });
    for (unsigned i = 0; i < 200; i++) {
        char id[32];

        (void)snprintf(id, sizeof(id), "q%u", i);
        journal_put(&in, &(struct journal_entry){ .type = JOURNAL_PROPOSED,
                                                  .at_ms = NOW - 1000,
                                                  .proposal = str_of(id),
                                                  .envelope = S("{}") });
        journal_put(&in, &(struct journal_entry){ .type = JOURNAL_WOULD,
                                                  .at_ms = NOW - 1000,
                                                  .rule = S("r-1"),
                                                  .proposal = str_of(id) });
    }
    CHECK_INT(compact(&in, TEXT, &out), OK);
    CHECK(!strstr(buf_cstr(&out), "stale"));
    CHECK(strstr(buf_cstr(&out), "would"));
    CHECK_INT(compact(&in, in.len / 8, &out), OK);
    CHECK(out.len <= in.len / 8);
    CHECK(!strstr(buf_cstr(&out), "would"));
    CHECK(!strstr(buf_cstr(&out), "\"q0\"") && strstr(buf_cstr(&out), "\"q199\""));
    CHECK(strstr(buf_cstr(&out), "\"p1\"") && strstr(buf_cstr(&out), "\"p2\""));
    CHECK(strstr(buf_cstr(&out), "r-not"));
    buf_done(&in);
    buf_done(&out);
}

TEST(approvals_make_room_and_rejections_never_do)
{
    struct buf in, out;

    buf_init(&in, TEXT);
    buf_init(&out, TEXT);
    buf_put(&in, S(TOPIC));
    for (unsigned i = 0; i < 100; i++)
        put_decided(&in, i, NOW - DAY_MS, i < 10 ? DECISION_REJECTED : DECISION_APPROVED);
    CHECK_INT(compact(&in, in.len / 2, &out), OK);
    CHECK(out.len <= in.len / 2);
    for (unsigned i = 0; i < 10; i++) {
        char id[32];

        (void)snprintf(id, sizeof(id), "\"p%u\"", i);
        CHECK(strstr(buf_cstr(&out), id));
    }
    CHECK(!strstr(buf_cstr(&out), "\"p10\""));
    CHECK(strstr(buf_cstr(&out), "\"p99\""));
    CHECK_INT(compact(&in, in.len / 20, &out), ERR_OVERLOAD);
    buf_put(&in, S("nonsense\n"));
    CHECK_INT(compact(&in, TEXT, &out), ERR_INVALID);
    buf_done(&in);
    buf_done(&out);
}
