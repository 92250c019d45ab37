/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "harness.h"
#include "json/scan.h"
#include "mcpdoor/showcase.h"

enum {
    ROOM = 1 << 24,
    TOOLS = 1 << OFFER_TOOL,
    RESOURCES = 1 << OFFER_RESOURCE,
    TEMPLATES = 1 << OFFER_TEMPLATE,
    PROMPTS = 1 << OFFER_PROMPT,
};

CLEANUP_FOR(struct showcase, showcase_free)

static const struct showcase_view everything = {};

static unsigned offer(struct showcase *s, const char *owner, enum offer_type type,
                      const char *items)
{
    showcase_begin(s, str_of(owner), type);
    CHECK_INT(showcase_add(s, str_of(items)), OK);
    return showcase_end(s);
}

/* The same page again and again, in one place. */
static struct str page(const struct showcase *s, enum offer_type type)
{
    static char text[1 << 16];
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, sizeof(text));
    CHECK_INT(showcase_put_page(s, type, &everything, S(""), ROOM, &out), OK);
    memcpy(text, out.ptr, out.len);
    return (struct str){ text, out.len };
}

static struct str owner_of(const struct showcase *s, enum offer_type type,
                           const char *name)
{
    const struct exhibit *found = showcase_find(s, type, str_of(name));

    return found ? found->owner : S("");
}

/* OWNER URI, or "". */
static struct str found_uri(const struct showcase *s, const char *uri)
{
    static char text[4096];
    CLEANUP(buf_done) struct buf out, line;
    const struct exhibit *found;
    struct str own;

    buf_init(&out, ROOM);
    buf_init(&line, sizeof(text));
    found = showcase_find_uri(s, str_of(uri), &out, &own);
    if (!found)
        return S("");
    buf_putf(&line, STR_FMT " " STR_FMT, STR_ARG(found->owner), STR_ARG(own));
    memcpy(text, line.ptr, line.len);
    return (struct str){ text, line.len };
}

static struct str called_here(const struct showcase *s, const char *owner,
                              const char *uri)
{
    static char text[4096];
    CLEANUP(buf_done) struct buf out;
    struct str name;

    buf_init(&out, ROOM);
    name = showcase_uri(s, str_of(owner), str_of(uri), &out);
    memcpy(text, name.ptr, name.len);
    return (struct str){ text, name.len };
}

/* --- one owner --- */

TEST(what_a_single_owner_offers_is_shown_as_it_wrote_it)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[]}"));
    CHECK_INT(offer(s, "files", OFFER_TOOL,
                    "[ {\"name\" : \"r\\u0065ad\", \"x\":1.50,\"_meta\":{}}, "
                    "{\"name\":\"write\"} ]"),
              TOOLS);
    CHECK_STR(page(s, OFFER_TOOL),
              S("{\"tools\":[{\"name\" : \"r\\u0065ad\", \"x\":1.50,\"_meta\":{}},"
                "{\"name\":\"write\"}]}"));
    CHECK_STR(page(s, OFFER_PROMPT), S("{\"prompts\":[]}"));
    CHECK_STR(page(s, OFFER_TEMPLATE), S("{\"resourceTemplates\":[]}"));
    CHECK_STR(page(s, OFFER_RESOURCE), S("{\"resources\":[]}"));
    CHECK_STR(showcase_only_owner(s), S("files"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "read"), S("files"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "files.read"), S("files"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "reads"), S(""));
    CHECK_STR(owner_of(s, OFFER_PROMPT, "read"), S(""));
}

TEST(a_list_of_several_pages_replaces_the_one_before_as_a_whole)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "files", OFFER_TOOL, "[{\"name\":\"old\"}]");
    showcase_begin(s, S("files"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"a\"}]")), OK);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"b\"}]")), OK);
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"old\"}]}"));
    CHECK_INT(showcase_end(s), TOOLS);
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"));
}

TEST(the_same_list_again_is_no_change)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"},{\"name\":\"y\"}]");
    CHECK_INT(offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"},{\"name\":\"y\"}]"), 0);
    CHECK_INT(offer(s, "a", OFFER_TOOL, "[{\"name\":\"y\"},{\"name\":\"x\"}]"), TOOLS);
    CHECK_INT(offer(s, "a", OFFER_PROMPT, "[]"), 0);
    CHECK_INT(offer(s, "nobody", OFFER_TOOL, "[]"), 0);
    CHECK_INT(showcase_owners(s), 1);
    CHECK_INT(offer(s, "a", OFFER_TOOL, "[]"), TOOLS);
    CHECK_INT(showcase_owners(s), 0);
    CHECK_INT(showcase_drop(s, S("a")), 0);
}

TEST(an_abandoned_list_changes_nothing)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"}]");
    showcase_begin(s, S("b"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"y\"}]")), OK);
    CHECK_INT(showcase_owners(s), 1);
    CHECK_STR(showcase_only_owner(s), S("a"));
    CHECK_INT(offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"}]"), 0);
    CHECK_STR(owner_of(s, OFFER_TOOL, "y"), S(""));
    CHECK_INT(showcase_owners(s), 1);
}

TEST(items_that_cannot_be_named_are_passed_over)
{
    static const char *const bad[] = {
        "[1]",
        "[{}]",
        "[{\"name\":1}]",
        "[{\"name\":\"\"}]",
        "[{\"name\":\"a\",\"name\":\"b\"}]",
        "[{\"name\":\"a\\nb\"}]",
        "[[{\"name\":\"a\"}]]",
        "[null,\"name\"]",
    };
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    FOR_EACH_CASE(c, bad)
        CHECK_INT(offer(s, "a", OFFER_TOOL, *c), 0);
    CHECK_INT(offer(s, "a", OFFER_TOOL,
                    "[1,{\"name\":\"ok\"},{},{\"name\":\"ok\",\"second\":true}]"),
              TOOLS);
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"ok\"}]}"));
    showcase_begin(s, S("a"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, S("{\"tools\":[]}")), ERR_INVALID);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"x\"}")), ERR_INVALID);
}

/* --- several --- */

TEST(of_several_owners_tools_bear_their_owner_and_both_forms_are_understood)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "files", OFFER_TOOL, "[{\"name\":\"read\"},{\"name\":\"only\"}]");
    CHECK_INT(offer(s, "db:1", OFFER_TOOL, "[ {\"a\":1,\"name\":\"read\",\"b\" : 2} ]"),
              TOOLS);
    CHECK_STR(page(s, OFFER_TOOL),
              S("{\"tools\":[{\"a\":1,\"name\":\"db_1.read\",\"b\" : 2},"
                "{\"name\":\"files.read\"},{\"name\":\"files.only\"}]}"));
    CHECK_STR(showcase_only_owner(s), S(""));
    CHECK_STR(owner_of(s, OFFER_TOOL, "files.read"), S("files"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "db_1.read"), S("db:1"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "only"), S("files"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "read"), S(""));
    CHECK_INT(showcase_drop(s, S("db:1")), TOOLS);
    CHECK_STR(page(s, OFFER_TOOL),
              S("{\"tools\":[{\"name\":\"read\"},{\"name\":\"only\"}]}"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "files.read"), S("files"));
}

TEST(a_second_owner_changes_the_names_of_what_the_first_offers)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"}]");
    offer(s, "a", OFFER_PROMPT, "[{\"name\":\"p\"}]");
    CHECK_INT(offer(s, "b", OFFER_RESOURCE, "[{\"uri\":\"u:1\"}]"),
              TOOLS | PROMPTS | RESOURCES);
    CHECK_STR(page(s, OFFER_PROMPT), S("{\"prompts\":[{\"name\":\"a.p\"}]}"));
    CHECK_STR(page(s, OFFER_RESOURCE), S("{\"resources\":[{\"uri\":\"u:1\"}]}"));
    CHECK_INT(showcase_drop(s, S("b")), TOOLS | PROMPTS | RESOURCES);
}

TEST(names_may_always_bear_their_owner)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(true);

    offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"}]");
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"a.x\"}]}"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "x"), S("a"));
    CHECK_INT(showcase_prefix(s, false), TOOLS);
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"x\"}]}"));
    CHECK_INT(showcase_prefix(s, false), 0);
}

TEST(nobody_takes_the_name_of_anothers_tool)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_TOOL, "[{\"name\":\"x\"}]");
    offer(s, "b", OFFER_TOOL, "[{\"name\":\"a.x\"}]");
    CHECK_STR(owner_of(s, OFFER_TOOL, "a.x"), S("a"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "b.a.x"), S("b"));
}

static const char long_key[] = "a_tool_whose_name_goes_on_and_on_beyond_all_measure_and";

TEST(long_names_are_cut_stable_and_different)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(true);
    CLEANUP(buf_done) struct buf items;

    buf_init(&items, ROOM);
    buf_putf(&items, "[{\"name\":\"%s_x\"},{\"name\":\"%s_y\"}]", long_key, long_key);
    offer(s, "some.body", OFFER_TOOL, buf_cstr(&items));
    CHECK_STR(
        page(s, OFFER_TOOL),
        S("{\"tools\":["
          "{\"name\":\"some_body.a_tool_whose_name_goes_on_and_on_beyond_all_mea_a7fe30\"},"
          "{\"name\":\"some_body.a_tool_whose_name_goes_on_and_on_beyond_all_mea_f3dd7e\"}"
          "]}"));
    CHECK_INT(sizeof("some_body.a_tool_whose_name_goes_on_and_on_beyond_all_mea_a7fe30"),
              SHOWCASE_NAME + 1);
}

TEST(a_name_of_exactly_so_many_characters_is_not_cut)
{
    char item[256], key[64] = {}, longer[64] = {};
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(true);
    CLEANUP(buf_done) struct buf items;

    memset(key, 'k', SHOWCASE_NAME - 2);
    memset(longer, 'k', SHOWCASE_NAME - 1);
    buf_init(&items, sizeof(item));
    buf_putf(&items, "[{\"name\":\"%s\"},{\"name\":\"%s\"}]", key, longer);
    offer(s, "a", OFFER_TOOL, buf_cstr(&items));
    buf_clear(&items);
    buf_putf(&items, "a.%s", key);
    CHECK_STR(owner_of(s, OFFER_TOOL, buf_cstr(&items)), S("a"));
    CHECK_STR(showcase_find(s, OFFER_TOOL, str_of(key))->name, buf_str(&items));
    CHECK_INT(showcase_find(s, OFFER_TOOL, str_of(longer))->name.len, SHOWCASE_NAME);
}

TEST(a_cut_leaves_whole_characters)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(true);
    CLEANUP(buf_done) struct buf items;

    buf_init(&items, ROOM);
    buf_put(&items, S("[{\"name\":\""));
    for (int i = 0; i < 40; i++)
        buf_put(&items, S("\xc3\xa4"));
    buf_put(&items, S("\"}]"));
    offer(s, "a", OFFER_TOOL, buf_cstr(&items));
    buf_clear(&items);
    buf_put(&items, showcase_next(s, OFFER_TOOL, NULL)->name);
    CHECK_INT(items.len, 2 + 2 * 27 + 1 + 6); /* a. and 27 of them, _ and six digits */
    CHECK(str_starts(str_slice(buf_str(&items), 2 + 2 * 26, items.len), S("\xc3\xa4_")));
}

TEST(what_is_still_ambiguous_is_neither_shown_nor_found)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a.b", OFFER_TOOL, "[{\"name\":\"x\"},{\"name\":\"y\"}]");
    offer(s, "a_b", OFFER_TOOL, "[{\"name\":\"x\"}]");
    CHECK_STR(page(s, OFFER_TOOL), S("{\"tools\":[{\"name\":\"a_b.y\"}]}"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "a_b.x"), S(""));
    CHECK_STR(owner_of(s, OFFER_TOOL, "x"), S(""));
    CHECK_STR(owner_of(s, OFFER_TOOL, "a_b.y"), S("a.b"));
    showcase_drop(s, S("a_b"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "x"), S("a.b"));
}

/* --- URIs --- */

TEST(uris_stay_as_they_are_unless_two_have_the_same)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_RESOURCE, "[{\"uri\":\"f:1\"},{\"uri\":\"f:2\"}]");
    CHECK(!showcase_renames(s, S("a")));
    offer(s, "b", OFFER_RESOURCE, "[{\"uri\":\"f:3\",\"name\":\"n\"}]");
    CHECK_STR(page(s, OFFER_RESOURCE), S("{\"resources\":[{\"uri\":\"f:1\"},{\"uri\":"
                                         "\"f:2\"},{\"uri\":\"f:3\",\"name\":\"n\"}]}"));
    CHECK(!showcase_renames(s, S("a")) && !showcase_renames(s, S("b")));
    offer(s, "b", OFFER_RESOURCE, "[{\"uri\":\"f:2\",\"name\":\"n\"}]");
    CHECK_STR(page(s, OFFER_RESOURCE),
              S("{\"resources\":[{\"uri\":\"f:1\"},{\"uri\":\"a+f:2\"},"
                "{\"uri\":\"b+f:2\",\"name\":\"n\"}]}"));
    CHECK(showcase_renames(s, S("a")) && showcase_renames(s, S("b")));
    CHECK(!showcase_renames(s, S("c")));
}

TEST(uris_are_mapped_both_ways)
{
    static const struct {
        const char *uri, *found;
    } cases[] = {
        { "f:1", "a f:1" },
        { "f:2", "" },
        { "a+f:2", "a f:2" },
        { "b+f:2", "b f:2" },
        { "a+f:1", "a f:1" },
        { "b+f:1", "" },
        { "c+f:1", "" },
        { "t://x/1", "" },
        { "a+t://x/1", "a t://x/1" },
        { "b+t://x/1", "b t://x/1" },
        { "only://q", "b only://q" },
        { "b+only://q", "b only://q" },
        { "only://q/r", "" },
        { "", "" },
        { "wild://anything/at/all?x=1", "a wild://anything/at/all?x=1" },
        { "git+ssh://x", "a git+ssh://x" },
    };
    static const struct {
        const char *owner, *uri, *here;
    } names[] = {
        { "a", "f:1", "f:1" },           { "a", "f:2", "a+f:2" },
        { "b", "f:2", "b+f:2" },         { "b", "f:1", "f:1" },
        { "a", "t://x/1", "a+t://x/1" }, { "b", "only://q", "only://q" },
        { "c", "f:2", "f:2" },           { "a", "unknown:", "unknown:" },
    };
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_RESOURCE,
          "[{\"uri\":\"f:1\"},{\"uri\":\"f:2\"},{\"uri\":\"git+ssh://x\"}]");
    offer(s, "b", OFFER_RESOURCE, "[{\"uri\":\"f:2\"}]");
    offer(s, "git", OFFER_RESOURCE, "[{\"uri\":\"ssh://x\"}]");
    offer(s, "a", OFFER_TEMPLATE,
          "[{\"uriTemplate\":\"t://x/{n}\"},{\"uriTemplate\":\"wild://{+path}{?x}\"}]");
    offer(s, "b", OFFER_TEMPLATE,
          "[{\"uriTemplate\":\"t://x/{n}\"},{\"uriTemplate\":\"only://{n}\"}]");
    FOR_EACH_CASE(c, cases)
        CHECK_STR(found_uri(s, c->uri), str_of(c->found));
    FOR_EACH_CASE(c, names)
        CHECK_STR(called_here(s, c->owner, c->uri), str_of(c->here));
    CHECK_STR(page(s, OFFER_TEMPLATE),
              S("{\"resourceTemplates\":[{\"uriTemplate\":\"a+t://x/{n}\"},"
                "{\"uriTemplate\":\"wild://{+path}{?x}\"},"
                "{\"uriTemplate\":\"b+t://x/{n}\"},{\"uriTemplate\":\"only://{n}\"}]}"));
    CHECK_STR(owner_of(s, OFFER_TEMPLATE, "b+t://x/{n}"), S("b"));
    CHECK_STR(owner_of(s, OFFER_TEMPLATE, "only://{n}"), S("b"));
}

TEST(a_uri_that_templates_of_two_owners_match_is_nobodys)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);

    offer(s, "a", OFFER_TEMPLATE,
          "[{\"uriTemplate\":\"x:{n}/1\"},{\"uriTemplate\":\"x:{n}/{m}\"}]");
    CHECK_STR(found_uri(s, "x:1/1"), S("a x:1/1"));
    offer(s, "b", OFFER_TEMPLATE, "[{\"uriTemplate\":\"x:1/{n}\"}]");
    CHECK_STR(found_uri(s, "x:1/1"), S(""));
    CHECK_STR(found_uri(s, "b+x:1/1"), S("b x:1/1"));
}

/* --- pages, and who sees what --- */

static bool may_if_plain(void *user, const struct exhibit *exhibit)
{
    (*(int *)user)++;
    return !str_starts(exhibit->key, S("secret"));
}

TEST(who_may_not_call_it_does_not_see_it)
{
    int asked = 0;
    struct showcase_view view = { .may = may_if_plain, .user = &asked };
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, ROOM);
    offer(s, "a", OFFER_TOOL,
          "[{\"name\":\"secret1\"},{\"name\":\"x\"},{\"name\":\"secret2\"}]");
    CHECK_INT(showcase_put_page(s, OFFER_TOOL, &view, S(""), ROOM, &out), OK);
    CHECK_STR(buf_str(&out), S("{\"tools\":[{\"name\":\"x\"}]}"));
    CHECK_INT(asked, 3);
    buf_clear(&out);
    view.more = S("{\"name\":\"room_chat\"}");
    CHECK_INT(showcase_put_page(s, OFFER_TOOL, &view, S(""), ROOM, &out), OK);
    CHECK_STR(buf_str(&out),
              S("{\"tools\":[{\"name\":\"x\"},{\"name\":\"room_chat\"}]}"));
    buf_clear(&out);
    CHECK_INT(showcase_put_page(s, OFFER_PROMPT, &view, S(""), ROOM, &out), OK);
    CHECK_STR(buf_str(&out), S("{\"prompts\":[{\"name\":\"room_chat\"}]}"));
}

/* The cursor that follows, or "". */
static struct str next_cursor(struct buf *out)
{
    struct str text = buf_str(out);

    if (text.len < 20 || !str_ends(text, S("\"}")) || text.ptr[text.len - 3] == ']')
        return S("");
    return str_slice(text, text.len - 18, text.len - 2);
}

/* All names in the order of the pages, and how many pages it took. */
static size_t walk(const struct showcase *s, const struct showcase_view *view,
                   size_t bytes, struct buf *all)
{
    CLEANUP(buf_done) struct buf out;
    char cursor[32];
    struct str next = S("");
    size_t pages = 0;

    buf_init(&out, ROOM);
    do {
        buf_clear(&out);
        CHECK_INT(showcase_put_page(s, OFFER_TOOL, view, next, bytes, &out), OK);
        buf_put(all, buf_str(&out));
        next = next_cursor(&out);
        memcpy(cursor, next.ptr, next.len);
        next.ptr = cursor;
        pages++;
        if (next.len)
            all->len -= next.len + 18; /* ],"nextCursor":"…"} */
    } while (next.len && pages < 100);
    return pages;
}

TEST(pages_together_are_the_list)
{
    int asked = 0;
    struct showcase_view view = { .may = may_if_plain,
                                  .user = &asked,
                                  .more = S("{\"name\":\"more\"}") };
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf all;

    buf_init(&all, ROOM);
    offer(s, "b", OFFER_TOOL,
          "[{\"name\":\"1\"},{\"name\":\"secret\"},{\"name\":\"2\"}]");
    offer(s, "a", OFFER_TOOL,
          "[{\"name\":\"3\"},{\"name\":\"secret\"},{\"name\":\"4\"}]");
    CHECK_INT(walk(s, &view, 1, &all), 4);
    CHECK_STR(buf_str(&all),
              S("{\"tools\":[{\"name\":\"a.3\"}{\"tools\":[{\"name\":\"a.4\"}"
                "{\"tools\":[{\"name\":\"b.1\"}"
                "{\"tools\":[{\"name\":\"b.2\"},{\"name\":\"more\"}]}"));
    buf_clear(&all);
    CHECK_INT(walk(s, &view, 50, &all), 2);
    buf_clear(&all);
    CHECK_INT(walk(s, &view, 500, &all), 1);
}

static enum err ask_page(const struct showcase *s, const struct showcase_view *view,
                         struct str cursor)
{
    CLEANUP(buf_done) struct buf out;
    enum err err;

    buf_init(&out, ROOM);
    err = showcase_put_page(s, OFFER_TOOL, view, cursor, ROOM, &out);
    CHECK(!err || out.len == 0);
    return err;
}

TEST(a_cursor_outlives_a_refresh_and_no_more)
{
    int asked = 0;
    struct showcase_view view = { .may = may_if_plain, .user = &asked };
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf out, hidden;

    buf_init(&out, ROOM);
    buf_init(&hidden, ROOM);
    offer(s, "a", OFFER_TOOL,
          "[{\"name\":\"x\"},{\"name\":\"secret\"},{\"name\":\"y\"}]");
    CHECK_INT(showcase_put_page(s, OFFER_TOOL, &everything, S(""), 1, &out), OK);
    offer(s, "a", OFFER_TOOL,
          "[{\"name\":\"new\"},{\"name\":\"x\"},{\"name\":\"secret\"},{\"name\":\"y\"}]");
    CHECK_INT(ask_page(s, &view, next_cursor(&out)), OK);
    CHECK_INT(
        showcase_put_page(s, OFFER_TOOL, &everything, next_cursor(&out), 1, &hidden), OK);
    CHECK_INT(ask_page(s, &everything, next_cursor(&hidden)), OK);
    CHECK_INT(ask_page(s, &view, next_cursor(&hidden)), ERR_INVALID);
    offer(s, "a", OFFER_TOOL, "[{\"name\":\"y\"}]");
    CHECK_INT(ask_page(s, &view, next_cursor(&out)), ERR_INVALID);
    CHECK_INT(ask_page(s, &view, S("1")), ERR_INVALID);
    CHECK_INT(ask_page(s, &view, S("0123456789abcdef")), ERR_INVALID);
    CHECK_INT(ask_page(s, &view, S("0123456789abcdeg")), ERR_INVALID);
}

TEST(a_list_that_does_not_fit_says_so)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 16);
    offer(s, "a", OFFER_TOOL, "[{\"name\":\"xxxxxxxxxxxxxxxxxxxxxxxxx\"}]");
    CHECK_INT(showcase_put_page(s, OFFER_TOOL, &everything, S(""), ROOM, &out),
              ERR_TOO_BIG);
}

/* --- bounds --- */

/* So many items, each of about so many bytes. */
static void put_many(struct buf *out, const char *key, size_t count, size_t bytes)
{
    buf_clear(out);
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        buf_putf(out, "%s{\"%s\":\"%zu{x}\",\"d\":\"", i ? "," : "", key, i);
        for (size_t n = 0; n < bytes; n++)
            buf_putc(out, 'd');
        buf_put(out, S("\"}"));
    }
    buf_putc(out, ']');
}

TEST(nobody_fills_more_than_half_and_what_is_there_is_bounded)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf items;

    buf_init(&items, ROOM);
    put_many(&items, "name", SHOWCASE_ITEMS / 2 + 1, 0);
    for (int round = 0; round < 2; round++) {
        showcase_begin(s, S("a"), OFFER_TOOL);
        CHECK_INT(showcase_add(s, buf_str(&items)), ERR_OVERLOAD);
        CHECK_INT(showcase_end(s), round ? 0 : TOOLS);
    }
    CHECK_STR(owner_of(s, OFFER_TOOL, "1999{x}"), S("a"));
    CHECK_STR(owner_of(s, OFFER_TOOL, "2000{x}"), S(""));
    showcase_begin(s, S("a"), OFFER_PROMPT);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"p\"}]")), ERR_OVERLOAD);
    put_many(&items, "name", SHOWCASE_ITEMS / 2, 0);
    offer(s, "b", OFFER_TOOL, buf_cstr(&items));
    showcase_begin(s, S("c"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"p\"}]")), ERR_OVERLOAD);
    CHECK_INT(showcase_end(s), 0);
    CHECK_INT(showcase_owners(s), 2);
    showcase_drop(s, S("a"));
    CHECK_INT(offer(s, "c", OFFER_TOOL, "[{\"name\":\"p\"}]"), TOOLS);
}

TEST(bytes_and_templates_are_bounded)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf items;

    buf_init(&items, ROOM);
    put_many(&items, "name", 5, 1 << 20);
    CHECK_INT(offer(s, "a", OFFER_TOOL, buf_cstr(&items)), 0); /* each is too big */
    put_many(&items, "name", 41, 100'000);
    CHECK_INT(offer(s, "a", OFFER_TOOL, buf_cstr(&items)), TOOLS);
    put_many(&items, "name", 42, 100'000);
    showcase_begin(s, S("a"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, buf_str(&items)), ERR_OVERLOAD);
    put_many(&items, "uriTemplate", 257, 0);
    showcase_begin(s, S("b"), OFFER_TEMPLATE);
    CHECK_INT(showcase_add(s, buf_str(&items)), ERR_OVERLOAD);
    CHECK_INT(showcase_end(s), TOOLS | TEMPLATES);
}

TEST(owners_are_bounded)
{
    CLEANUP(showcase_freep) struct showcase *s = showcase_new(false);
    CLEANUP(buf_done) struct buf id;

    buf_init(&id, ROOM);
    for (int i = 0; i < SHOWCASE_OWNERS; i++) {
        buf_clear(&id);
        buf_putf(&id, "owner-%d", i);
        offer(s, buf_cstr(&id), OFFER_TOOL, "[{\"name\":\"x\"}]");
    }
    CHECK_INT(showcase_owners(s), SHOWCASE_OWNERS);
    showcase_begin(s, S("one-more"), OFFER_TOOL);
    CHECK_INT(showcase_add(s, S("[{\"name\":\"x\"}]")), ERR_OVERLOAD);
    CHECK_INT(showcase_end(s), 0);
    CHECK_INT(offer(s, "owner-7", OFFER_TOOL, "[{\"name\":\"y\"}]"), TOOLS);
}
