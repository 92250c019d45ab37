/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "bridge/logbook.h"
#include "harness.h"

static struct str all_of(const struct logbook *logbook, size_t lines, struct buf *out)
{
    buf_init(out, 1 << 20);
    logbook_put(logbook, lines, out);
    return buf_str(out);
}

TEST(lines_are_kept_in_order_as_json_with_time_and_origin)
{
    struct logbook *logbook = logbook_new(1 << 16);
    CLEANUP(buf_done) struct buf out;

    logbook_add(logbook, S("server"), S("listening"), 0);
    logbook_add(logbook, S("moot"), S("ready"), 1500);
    CHECK_STR(all_of(logbook, 0, &out),
              S("{\"ts\":\"1970-01-01T00:00:00.000Z\",\"by\":\"server\",\"line\":"
                "\"listening\"}\n"
                "{\"ts\":\"1970-01-01T00:00:01.500Z\",\"by\":\"moot\",\"line\":"
                "\"ready\"}\n"));
    logbook_free(logbook);
}

TEST(only_the_last_lines_are_given_where_a_number_is_asked_for)
{
    struct logbook *logbook = logbook_new(1 << 16);
    CLEANUP(buf_done) struct buf out;

    for (char c = 'a'; c <= 'e'; c++)
        logbook_add(logbook, S("server"), (struct str){ &c, 1 }, 0);
    CHECK_STR(all_of(logbook, 1, &out),
              S("{\"ts\":\"1970-01-01T00:00:00.000Z\",\"by\":\"server\",\"line\":\"e\"}"
                "\n"));
    logbook_free(logbook);
}

TEST(the_oldest_lines_go_where_the_bound_is_reached)
{
    struct logbook *logbook = logbook_new(1000);
    CLEANUP(buf_done) struct buf out;
    struct str text;

    for (int i = 0; i < 100; i++)
        logbook_add(logbook, S("server"), i == 99 ? S("the last") : S("one of many"), 0);
    text = all_of(logbook, 0, &out);
    CHECK(text.len > 0 && text.len <= 1000);
    CHECK(str_ends(text, S("the last\"}\n")));
    logbook_free(logbook);
}

TEST(secrets_and_control_characters_do_not_survive)
{
    static const struct {
        struct str line, shown;
    } cases[] = {
        { S("key=s3cret;"), S("key=***;") },
        { S("s3cret!x"), S("***x") }, /* the longest is taken */
        { S("s3crets3cret"), S("******") },
        { S("abc"), S("abc") }, /* too short to be hidden */
        { S("\x1b[31mred"), S("\\\\u001b[31mred") },
    };
    struct logbook *logbook = logbook_new(1 << 16);

    logbook_hide(logbook, S("s3cret"));
    logbook_hide(logbook, S("s3cret!"));
    logbook_hide(logbook, S("abc"));
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;
        CLEANUP(buf_done) struct buf want;

        buf_init(&want, 4096);
        buf_putf(&want, "\"line\":\"" STR_FMT "\"}\n", STR_ARG(c->shown));
        logbook_add(logbook, S("server"), c->line, 0);
        CHECK(str_ends(all_of(logbook, 1, &out), buf_str(&want)));
    }
    logbook_free(logbook);
}

struct reader {
    struct log_follower follower;
    size_t count;
    size_t enough;
};

static void on_line(struct log_follower *self, struct str json)
{
    struct reader *reader = CONTAINER_OF(self, struct reader, follower);

    CHECK(str_ends(json, S("}")));
    if (++reader->count == reader->enough)
        log_follower_stop(self);
}

TEST(whoever_follows_hears_each_line_until_it_stops)
{
    struct reader one = { .follower.on_line = on_line, .enough = 1 };
    struct reader all = { .follower.on_line = on_line };
    struct logbook *logbook = logbook_new(1 << 16);

    logbook_follow(logbook, &one.follower);
    logbook_follow(logbook, &all.follower);
    logbook_add(logbook, S("server"), S("a"), 0);
    logbook_add(logbook, S("server"), S("b"), 0);
    CHECK_INT(one.count, 1);
    CHECK_INT(all.count, 2);
    logbook_free(logbook);
    log_follower_stop(&all.follower); /* harmless: it follows nobody any more */
}
