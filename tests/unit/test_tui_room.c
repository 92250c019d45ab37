/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "tui/room.h"

struct step {
    struct str id, from, kind, about, payload, to;
};

static void say(struct timeline *t, const struct step *s)
{
    struct said said = { .id = s->id, .from = s->from, .correlation_id = s->about };
    struct telling telling;

    said.to = &s->to;
    said.to_count = s->to.len ? 1 : 0;
    said.when_ms = (14 * 60 + 2) * 60'000;
    tell_init(&telling);
    tell(&telling,
         &(struct tell_envelope){ s->kind, s->payload, said.to, said.to_count, S("") });
    (void)timeline_say(t, &said, &telling);
    tell_done(&telling);
}

static void begin(struct timeline *t, const char *locale)
{
    CHECK(setlocale(LC_CTYPE, locale) != NULL);
    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    timeline_init(t, TIMELINE_ENTRIES, TIMELINE_BYTES);
}

/* What is seen, with a border so that the spaces before it count. */
static void check_screen(const struct timeline *t, unsigned rows, unsigned columns,
                         struct str want)
{
    struct canvas canvas;
    struct buf out;

    canvas_init(&canvas);
    canvas_reset(&canvas, rows, columns);
    room_draw(t, &canvas, (struct area){ 0, 0, rows, columns });
    buf_init(&out, 1 << 20);
    for (unsigned i = 0; i < rows; i++) {
        buf_putc(&out, '|');
        canvas_read(&canvas, i, &out);
        buf_putc(&out, '\n');
    }
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
    canvas_done(&canvas);
}

#define CALL "mcp/request:tools/call:read_file"
#define PARAMS \
    "{\"params\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"/etc/motd\"}}}"

static const struct step thread[] = {
    { S("c1"), S("alice"), S("chat"), {}, S("{\"text\":\"shall we look?\"}"), {} },
    { S("p1"),
      S("bot"),
      S("mcp/proposal:tools/call:read_file"),
      {},
      S(PARAMS),
      S("files") },
    { S("r1"), S("human"), S(CALL), S("p1"), S(PARAMS), S("files") },
    { S("a1"),
      S("files"),
      S("mcp/response:tools/call:read_file"),
      S("r1"),
      S("{\"result\":{\"content\":[{\"text\":\"welcome to this machine\"}]}}"),
      {} },
    { S("c2"), S("alice"), S("chat"), S("a1"), S("{\"text\":\"thanks,\\nall\"}"), {} },
    { S("c3"), S("bot"), S("chat"), {}, S("{\"text\":\"done\"}"), {} },
};

static void say_thread(struct timeline *t)
{
    for (size_t i = 0; i < sizeof(thread) / sizeof(thread[0]); i++)
        say(t, &thread[i]);
    timeline_mark(t, S("p1"), STATE_FULFILLED, S("by human"));
}

TEST(a_thread_is_a_tree_with_its_state)
{
    struct timeline t;

    begin(&t, "C.UTF-8");
    say_thread(&t);
    check_screen(
        &t, 9, 90,
        S("|\n|\n"
          "|14:02 alice        shall we look?\n"
          "|14:02 bot          proposes read_file → files (path: \"/etc/motd\")  fulfilled by human  #2\n"
          "|14:02 ├ human      calls read_file → files (as proposed)  answered  #3\n"
          "|14:02 ├ files      answers: welcome to this machine\n"
          "|14:02 └ alice      thanks,\n"
          "|                   all\n"
          "|14:02 bot          done\n"));
    timeline_done(&t);
}

TEST(a_call_that_is_not_as_proposed_shows_its_arguments)
{
    static const struct step edited = {
        S("r1"),
        S("human"),
        S(CALL),
        S("p1"),
        S("{\"params\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"/etc\"}}}"),
        S("files")
    };
    struct timeline t;

    begin(&t, "C.UTF-8");
    say(&t, &thread[1]);
    say(&t, &edited);
    check_screen(
        &t, 2, 90,
        S("|14:02 bot          proposes read_file → files (path: \"/etc/motd\")  open  #1\n"
          "|14:02 └ human      calls read_file → files (path: \"/etc\")  waiting  #2\n"));
    timeline_done(&t);
}

TEST(what_is_too_wide_is_wrapped_below_the_text)
{
    struct timeline t;

    begin(&t, "C.UTF-8");
    say_thread(&t);
    check_screen(&t, 14, 44,
                 S("|\n|\n"
                   "|14:02 alice     shall we look?\n"
                   "|14:02 bot       proposes read_file → files\n"
                   "|      │         fulfilled by human  #2\n"
                   "|      │         path: \"/etc/motd\"\n"
                   "|14:02 ├ human   calls read_file → files\n"
                   "|      │         answered  #3\n"
                   "|      │         as proposed\n"
                   "|14:02 ├ files   answers\n"
                   "|      │         welcome to this machine\n"
                   "|14:02 └ alice   thanks,\n"
                   "|                all\n"
                   "|14:02 bot       done\n"));
    timeline_done(&t);
}

TEST(without_unicode_the_tree_is_ascii)
{
    struct timeline t;

    begin(&t, "C");
    say_thread(&t);
    say(&t, &(struct step){
                S("c9"), S("zoë"), S("chat"), {}, S("{\"text\":\"grüße 日本\"}"), {} });
    check_screen(&t, 5, 30,
                 S("||         machine\n"
                   "|`-alice   thanks,\n"
                   "|          all\n"
                   "|bot       done\n"
                   "|zo?       gr??e ??\n"));
    timeline_done(&t);
}

static void say_numbers(struct timeline *t, int from, int to)
{
    for (int i = from; i <= to; i++) {
        char id[16], payload[64];
        int len = snprintf(id, sizeof(id), "n%d", i);
        int size = snprintf(payload, sizeof(payload), "{\"text\":\"%d\\n%d b\"}", i, i);

        say(t, &(struct step){ .id = { id, (size_t)len },
                               .from = S("a"),
                               .kind = S("chat"),
                               .payload = { payload, (size_t)size } });
    }
}

TEST(who_has_scrolled_up_stays_where_he_is)
{
    static const struct area area = { 0, 0, 4, 30 };
    static const struct str three = S("|a         2\n"
                                      "|          2 b\n"
                                      "|a         3\n"
                                      "|          3 b\n");
    struct timeline t;

    begin(&t, "C.UTF-8");
    say_numbers(&t, 1, 5);
    room_scroll(&t, area, -4);
    check_screen(&t, 4, 30, three);
    say_numbers(&t, 6, 8);
    check_screen(&t, 4, 30, three);
    CHECK_INT(t.unseen, 3);
    room_scroll(&t, area, -1);
    room_scroll(&t, area, 1);
    check_screen(&t, 4, 30, three);
    room_scroll(&t, area, -99); /* to the first, and no further */
    check_screen(&t, 4, 30,
                 S("|a         1\n"
                   "|          1 b\n"
                   "|a         2\n"
                   "|          2 b\n"));
    room_scroll(&t, area, 3);
    check_screen(&t, 4, 30,
                 S("|          2 b\n"
                   "|a         3\n"
                   "|          3 b\n"
                   "|a         4\n"));
    CHECK(t.pin != NULL);
    room_scroll(&t, area, 9); /* the last row of the last entry */
    CHECK(t.pin == NULL);
    CHECK_INT(t.unseen, 0);
    timeline_done(&t);
}

TEST(what_fits_on_the_screen_does_not_scroll)
{
    static const struct area area = { 0, 0, 6, 30 };
    struct timeline t;

    begin(&t, "C.UTF-8");
    room_scroll(&t, area, -1);
    CHECK(t.pin == NULL);
    say_numbers(&t, 1, 2);
    room_scroll(&t, area, -1);
    CHECK(t.pin == NULL);
    room_scroll(&t, area, 1);
    CHECK(t.pin == NULL);
    timeline_done(&t);
}

TEST(a_place_survives_another_width)
{
    struct timeline t;

    begin(&t, "C.UTF-8");
    say(&t, &(struct step){ S("l"),
                            S("a"),
                            S("chat"),
                            {},
                            S("{\"text\":\"one two three four five six seven eight\"}"),
                            {} });
    say_numbers(&t, 1, 3);
    t.pin = timeline_first(&t);
    t.pin_line = 3;
    check_screen(&t, 2, 20,
                 S("|          five six\n"
                   "|          seven\n"));
    check_screen(&t, 2, 90,
                 S("|\n"
                   "|14:02 a            one two three four five six seven eight\n"));
    timeline_done(&t);
}

TEST(a_thread_that_goes_on_far_away_says_which_it_is)
{
    struct timeline t;

    begin(&t, "C.UTF-8");
    say(&t, &thread[2]); /* what it answers is not known */
    say_numbers(&t, 1, 9);
    say(&t, &thread[3]);
    t.pin = timeline_first(&t);
    t.pin_line = 1;
    check_screen(
        &t, 2, 90,
        S("|                   ↳ something that was said before\n"
          "|14:02 └ human      calls read_file → files (path: \"/etc/motd\")  answered  #1\n"));
    room_follow(&t);
    check_screen(&t, 2, 90,
                 S("|                   ↳ #1 calls read_file → files\n"
                   "|14:02 └ files      answers: welcome to this machine\n"));
    timeline_done(&t);
}

TEST(notes_and_what_was_cut_are_marked)
{
    struct timeline t;

    begin(&t, "C.UTF-8");
    timeline_presence(&t, S("joined"), S("alice"), 0);
    (void)timeline_note(&t, ENTRY_WARNING, S(""), S("some messages were missed"), 0);
    say(&t, &(struct step){
                S("x"), S("a"), S("chat"), {}, S("{\"text\":1,\"text\":2}"), {} });
    check_screen(&t, 4, 70,
                 S("|00:00              alice joined\n"
                   "|00:00              some messages were missed\n"
                   "|14:02 a            (what it holds cannot be shown here)\n"
                   "|                   (more: /raw 3)\n"));
    timeline_done(&t);
}
