/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "tui/complete.h"

TEST(the_word_before_the_cursor_decides_what_is_completed)
{
    /* clang-format off */
    static const struct {
        struct str text;
        enum command_word word;
        size_t from;
        struct str typed, who;
    } cases[] = {
        { S(""),                   WORD_NONE,        0, S(""), S("") },
        { S("hello"),              WORD_NONE,        0, S(""), S("") },
        { S("hello @fi"),          WORD_PARTICIPANT, 6, S("fi"), S("") },
        { S("@"),                  WORD_PARTICIPANT, 0, S(""), S("") },
        { S("a@b"),                WORD_NONE,        0, S(""), S("") },
        { S("//x @fi"),            WORD_PARTICIPANT, 4, S("fi"), S("") },
        { S("/"),                  WORD_COMMAND,     0, S(""), S("") },
        { S("/ca"),                WORD_COMMAND,     0, S("ca"), S("") },
        { S("/nonsense x"),        WORD_NONE,        0, S(""), S("") },
        { S("/call "),             WORD_PARTICIPANT, 6, S(""), S("") },
        { S("/call  fi"),          WORD_PARTICIPANT, 7, S("fi"), S("") },
        { S("/call @fi"),          WORD_PARTICIPANT, 6, S("fi"), S("") },
        { S("/call \"my fi"),      WORD_PARTICIPANT, 6, S("my fi"), S("") },
        { S("/call files re"),     WORD_TOOL,       12, S("re"), S("files") },
        { S("/call @files re"),    WORD_TOOL,       13, S("re"), S("files") },
        { S("/call \"my f\" re"),  WORD_TOOL,       13, S("re"), S("my f") },
        { S("/call files read x"), WORD_NONE,        0, S(""), S("") },
        { S("/approve 1"),         WORD_PROPOSAL,    9, S("1"), S("") },
        { S("/raw "),              WORD_ENTRY,       5, S(""), S("") },
        { S("/quit x"),            WORD_NONE,        0, S(""), S("") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct completion got;
        struct arena arena;

        arena_init(&arena, 4096);
        complete_begin(&got, c->text, &arena);
        CHECK_INT(got.word, c->word);
        if (c->word) {
            CHECK_INT(got.from, c->from);
            CHECK_STR(got.typed, c->typed);
        }
        if (c->word == WORD_TOOL)
            CHECK_STR(got.who, c->who);
        complete_done(&got);
        arena_done(&arena);
    }
}

TEST(what_all_candidates_share_is_put_there)
{
    /* clang-format off */
    static const struct {
        struct str text;
        struct str candidates[4];
        size_t count;
        struct str put, names;
    } cases[] = {
        { S("/ca"),       { S("call"), S("quit") },               1, S("/call "), S("call") },
        { S("/w"),        { S("who"), S("withdraw") },            2, S(""), S("who  withdraw") },
        { S("hi @fi"),    { S("files"), S("filter") },            2, S("@fil"), S("files  filter") },
        { S("hi @FI"),    { S("files"), S("Filter") },            2, S(""), S("files  Filter") },
        { S("hi @al"),    { S("Alice Liddell") },                 1, S("@Alice Liddell "), S("Alice Liddell") },
        { S("/call al"),  { S("Alice Liddell") },                 1, S("\"Alice Liddell\" "), S("Alice Liddell") },
        { S("/call al"),  { S("al b c"), S("al b d") },           2, S("\"al b "), S("al b c  al b d") },
        { S("/call ж"),   { S("жа"), S("жб") },                   2, S(""), S("жа  жб") },
        { S("/call x"),   { S("files") },                         0, S(""), S("") },
        { S("/call f"),   { S("f\x1b[2J") },                      1, S("f\x1b[2J "), S("f\\u001b[2J") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct completion got;
        struct arena arena;
        struct buf out;

        arena_init(&arena, 4096);
        buf_init(&out, 4096);
        complete_begin(&got, c->text, &arena);
        for (size_t i = 0; i < 4 && c->candidates[i].len; i++)
            complete_offer(&got, c->candidates[i]);
        CHECK_INT(got.count, c->count);
        CHECK_INT(complete_put(&got, &out), c->put.len > 0);
        CHECK_STR(buf_str(&out), c->put);
        CHECK_STR(buf_str(&got.names), c->names);
        complete_done(&got);
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(names_for_people_are_bounded)
{
    struct completion c;
    struct arena arena;

    arena_init(&arena, 4096);
    complete_begin(&c, S("@"), &arena);
    for (int i = 0; i < 1000; i++)
        complete_offer(&c, S("somebody"));
    CHECK_INT(c.count, 1000);
    CHECK(str_ends(buf_str(&c.names), S("somebody …")));
    CHECK(c.names.len < 600);
    complete_done(&c);
    arena_done(&arena);
}
