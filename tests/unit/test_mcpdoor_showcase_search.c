/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness.h"
#include "json/scan.h"
#include "mcpdoor/showcase.h"

enum { ROOM = 1 << 20 };

CLEANUP_FOR(struct showcase, showcase_free)

static struct showcase *fill(const char *items)
{
    struct showcase *s = showcase_new(false);

    showcase_begin(s, S("a"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, str_of(items)), OK);
    showcase_end(s);
    return s;
}

/* The names of what was found, with spaces between. */
static struct str names(const struct showcase *s, const struct showcase_view *view,
                        struct str words, size_t limit)
{
    static char text[4096];
    CLEANUP(buf_done) struct buf out, line;
    struct json_scan scan;
    struct json_span item;
    enum err err;

    buf_init(&out, ROOM);
    buf_init(&line, sizeof(text));
    showcase_search(s, view, words, limit, &out);
    json_scan_init(&scan, buf_str(&out), 16);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        size_t at = str_find(item.text, ':', 0) + 2;

        buf_put(&line, str_slice(item.text, at, str_find(item.text, '"', at)));
        buf_putc(&line, ' ');
    }
    CHECK_INT(err, OK);
    memcpy(text, line.ptr ? line.ptr : "", line.len);
    return (struct str){ text, line.len };
}

static const char tools[] =
    "[{\"name\":\"delete_file\",\"description\":\"Removes it for ever\"},"
    "{\"name\":\"readFile\",\"title\":\"Look\",\"description\":\"Gives the bytes\"},"
    "{\"name\":\"search\",\"annotations\":{\"title\":\"Find a file\"}},"
    "{\"name\":\"archive\",\"description\":\"Packs a f\\u0069le file file file file\"},"
    "{\"name\":\"weather\",\"description\":\"Rain and sun; profiles\"}]";

TEST(names_count_before_titles_before_descriptions)
{
    CLEANUP(showcase_freep) struct showcase *s = fill(tools);
    struct showcase_view all = {};

    CHECK_STR(names(s, &all, S("file"), 10), S("delete_file readFile search archive "));
    CHECK_STR(names(s, &all, S("FILE"), 2), S("delete_file readFile "));
    CHECK_STR(names(s, &all, S("file"), 0), S(""));
}

TEST(rare_words_count_more_and_beginnings_less)
{
    CLEANUP(showcase_freep) struct showcase *s = fill(tools);
    struct showcase_view all = {};

    CHECK_STR(names(s, &all, S("read a file"), 1), S("readFile "));
    CHECK_STR(names(s, &all, S("file bytes"), 1), S("readFile "));
    CHECK_STR(names(s, &all, S("arch"), 9), S("archive "));
    CHECK_STR(names(s, &all, S("pro"), 9), S("weather "));
    CHECK_STR(names(s, &all, S("ar"), 9), S(""));
    CHECK_STR(names(s, &all, S("nothing of this"), 9), S(""));
    CHECK_STR(names(s, &all, S(""), 9), S(""));
    CHECK_STR(names(s, &all, S(" _-\"'%"), 9), S(""));
}

static bool may_not_delete(void *, const struct exhibit *exhibit)
{
    return !str_starts(exhibit->key, S("delete"));
}

TEST(what_one_may_not_see_is_not_found)
{
    CLEANUP(showcase_freep) struct showcase *s = fill(tools);
    struct showcase_view view = { .may = may_not_delete };

    CHECK_STR(names(s, &view, S("delete file"), 10), S("readFile search archive "));
}

TEST(what_is_found_bears_the_name_that_it_has_here)
{
    CLEANUP(showcase_freep) struct showcase *s = fill(tools);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, ROOM);
    showcase_prefix(s, true);
    showcase_search(s, &(struct showcase_view){}, S("weather"), 3, &out);
    CHECK_STR(buf_str(&out),
              S("[{\"name\":\"a.weather\",\"description\":\"Rain and sun; profiles\"}]"));
}

TEST(many_words_and_long_ones_are_bounded)
{
    CLEANUP(showcase_freep) struct showcase *s = fill(tools);
    CLEANUP(buf_done) struct buf words;

    buf_init(&words, ROOM);
    for (int i = 0; i < 10'000; i++)
        buf_putf(&words, "word%d ", i);
    buf_put(&words, S("weather"));
    CHECK_STR(names(s, &(struct showcase_view){}, buf_str(&words), 3), S(""));
    buf_clear(&words);
    for (int i = 0; i < 10'000; i++)
        buf_put(&words, S("weather"));
    buf_put(&words, S(" weather"));
    CHECK_STR(names(s, &(struct showcase_view){}, buf_str(&words), 3), S("weather "));
}
