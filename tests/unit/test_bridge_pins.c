/* SPDX-License-Identifier: Apache-2.0 */
/* What a server offers, and whether a person has seen it. */
#include "base/cleanup.h"
#include "bridge/pins.h"
#include "harness.h"

#define SCHEMA           "\"inputSchema\":{\"type\":\"object\"}"
#define TOOL(name, rest) "{\"name\":\"" name "\"," SCHEMA rest "}"

struct stage {
    struct listing *listing;
    struct buf kept;
    size_t keeps;
};

static void on_keep(void *user, struct str json)
{
    struct stage *stage = user;

    stage->keeps++;
    buf_clear(&stage->kept);
    buf_put(&stage->kept, json);
}

static void stage_init(struct stage *stage, enum pin_mode mode)
{
    *stage = (struct stage){};
    buf_init(&stage->kept, 32 << 20);
    stage->listing = listing_new(mode, on_keep, stage);
}

static void stage_done(struct stage *stage)
{
    listing_free(stage->listing);
    buf_done(&stage->kept);
}

static bool list(struct stage *stage, enum offer_type type, const char *items)
{
    CLEANUP(buf_done) struct buf page;

    buf_init(&page, 1 << 20);
    buf_putf(&page, "{\"" STR_FMT "\":[%s]}", STR_ARG(listing_name(type)), items);
    listing_begin(stage->listing, type);
    CHECK_INT(listing_add_page(stage->listing, buf_str(&page)), OK);
    return listing_end(stage->listing, 1);
}

static void check_page(struct stage *stage, enum offer_type type, const char *want)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 1 << 20);
    CHECK_INT(listing_put_page(stage->listing, type, S(""), 1 << 20, &out), OK);
    CHECK_STR(buf_str(&out), str_of(want));
}

static void check_difference(struct stage *stage, struct str key, const char *want)
{
    CLEANUP(buf_done) struct buf out;
    const struct listed *listed = listing_find(stage->listing, OFFER_TOOL, key);

    buf_init(&out, 1 << 20);
    listing_put_difference(stage->listing, listed, &out);
    CHECK_STR(buf_str(&out), str_of(want));
}

TEST(the_first_catalogue_is_trusted_and_what_changes_later_is_held)
{
    struct stage stage;

    stage_init(&stage, PIN_HOLD);
    CHECK(
        list(&stage, OFFER_TOOL, TOOL("a", ",\"description\":\"A\"") "," TOOL("b", "")));
    check_page(&stage, OFFER_TOOL,
               "{\"tools\":[" TOOL("a", ",\"description\":\"A\"") "," TOOL("b", "") "]}");
    listing_trust(stage.listing, S("moot"), 5);
    CHECK(listing_is_trusted(stage.listing));
    /* Another order of members, white space and passengers are no change. */
    CHECK(list(&stage, OFFER_TOOL,
               "{ \"description\": \"\\u0041\", \"_meta\":{\"x\":1}, " SCHEMA
               ", \"name\": \"a\" }," TOOL("b", "")));
    CHECK_INT(listing_find(stage.listing, OFFER_TOOL, S("a"))->verdict, PIN_SEEN);
    /* This is. */
    CHECK(list(&stage, OFFER_TOOL,
               TOOL("a", ",\"description\":\"B\"") "," TOOL("b", "") "," TOOL("c", "")));
    CHECK_INT(listing_find(stage.listing, OFFER_TOOL, S("a"))->verdict, PIN_HAS_CHANGED);
    CHECK(listing_find(stage.listing, OFFER_TOOL, S("a"))->is_held);
    CHECK_INT(listing_find(stage.listing, OFFER_TOOL, S("c"))->verdict, PIN_IS_NEW);
    CHECK(listing_find(stage.listing, OFFER_TOOL, S("c"))->is_held);
    CHECK(!listing_find(stage.listing, OFFER_TOOL, S("b"))->is_held);
    check_page(&stage, OFFER_TOOL, "{\"tools\":[" TOOL("b", "") "]}");
    check_difference(&stage, S("a"), "- description: \"A\"\n+ description: \"B\"\n");
    check_difference(&stage, S("c"), "+ inputSchema.type: \"object\"\n+ name: \"c\"\n");
    check_difference(&stage, S("b"), "");
    CHECK_INT(listing_approve(stage.listing, OFFER_TOOL, S("a"), S("ada"), 7), OK);
    check_page(&stage, OFFER_TOOL,
               "{\"tools\":[" TOOL("a", ",\"description\":\"B\"") "," TOOL("b", "") "]}");
    CHECK_INT(listing_approve(stage.listing, OFFER_TOOL, S(""), S("ada"), 7), OK);
    CHECK(!listing_find(stage.listing, OFFER_TOOL, S("c"))->is_held);
    CHECK_INT(listing_approve(stage.listing, OFFER_TOOL, S("z"), S("ada"), 7),
              ERR_NOT_FOUND);
    stage_done(&stage);
}

TEST(each_part_of_a_description_counts)
{
    static const struct {
        enum offer_type type;
        const char *before, *after;
        bool is_change;
    } cases[] = {
        { OFFER_TOOL, TOOL("a", ""), TOOL("a", ",\"title\":\"t\""), true },
        { OFFER_TOOL, TOOL("a", ""),
          TOOL("a", ",\"annotations\":{\"readOnlyHint\":true}"), true },
        { OFFER_TOOL, TOOL("a", ""), TOOL("a", ",\"outputSchema\":{}"), true },
        { OFFER_TOOL, TOOL("a", ""), TOOL("a", ",\"icons\":[]"), false },
        { OFFER_TOOL,
          "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":[1,2]}}",
          "{\"name\":\"a\",\"inputSchema\":{\"x\":[1,2],\"type\":\"object\"}}", false },
        { OFFER_TOOL,
          "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":[1,2]}}",
          "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":[2,1]}}", true },
        { OFFER_TOOL,
          "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":{\"y\":1}}}",
          "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x.y\":1}}", true },
        { OFFER_PROMPT, "{\"name\":\"p\",\"arguments\":[{\"name\":\"x\"}]}",
          "{\"name\":\"p\",\"arguments\":[{\"name\":\"y\"}]}", true },
        { OFFER_RESOURCE, "{\"uri\":\"a:b\",\"name\":\"n\"}",
          "{\"uri\":\"a:b\",\"name\":\"n\",\"mimeType\":\"text/html\"}", true },
        { OFFER_RESOURCE, "{\"uri\":\"a:b\",\"name\":\"n\",\"size\":1}",
          "{\"uri\":\"a:b\",\"name\":\"n\",\"size\":2}", false },
        { OFFER_TEMPLATE, "{\"uriTemplate\":\"a:{/b*}{?c}\",\"name\":\"n\"}",
          "{\"uriTemplate\":\"a:{/b*}{?c}\",\"name\":\"m\"}", true },
        { OFFER_TEMPLATE, "{\"uriTemplate\":\"a:{b}\",\"name\":\"n\"}",
          "{\"uriTemplate\":\"a:{b}\",\"name\":\"m\"}", true },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        size_t at = 0;

        stage_init(&stage, PIN_HOLD);
        (void)list(&stage, c->type, c->before);
        listing_trust(stage.listing, S("moot"), 1);
        (void)list(&stage, c->type, c->after);
        CHECK_INT(listing_next(stage.listing, c->type, &at)->verdict,
                  c->is_change ? PIN_HAS_CHANGED : PIN_SEEN);
        stage_done(&stage);
    }
}

TEST(warn_shows_what_hold_holds_and_off_says_nothing)
{
    static const struct {
        enum pin_mode mode;
        enum pin_verdict verdict;
        bool is_held;
    } cases[] = {
        { PIN_HOLD, PIN_IS_NEW, true },
        { PIN_WARN, PIN_IS_NEW, false },
        { PIN_OFF, PIN_SEEN, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        const struct listed *listed;

        stage_init(&stage, c->mode);
        (void)list(&stage, OFFER_TOOL, TOOL("a", ""));
        listing_trust(stage.listing, S("moot"), 1);
        CHECK_INT(list(&stage, OFFER_TOOL, TOOL("a", "") "," TOOL("b", "")), !c->is_held);
        listed = listing_find(stage.listing, OFFER_TOOL, S("b"));
        CHECK_INT(listed->verdict, c->verdict);
        CHECK_INT(listed->is_held, c->is_held);
        stage_done(&stage);
    }
}

TEST(what_cannot_be_used_is_dropped_with_the_reason)
{
    static const struct {
        const char *items, *why;
    } cases[] = {
        { TOOL("a b", ""), "the name of a tool is made of letters, digits, _ - . and /" },
        { "{\"name\":\"a\"}", "it has no input schema" },
        { "{\"name\":\"a\",\"inputSchema\":[]}",
          "the input schema is not a JSON object" },
        { "{\"name\":\"a\",\"inputSchema\":{}}",
          "the input schema has no \"type\": \"object\"" },
        { "{\"inputSchema\":{}}", "it has no name" },
        { "7", "it has no name" },
        { TOOL("a", ",\"title\":1"), "a name, title, description or type is no text" },
        { TOOL("a", "") "," TOOL("a", ",\"title\":\"t\""),
          "another one has the same name" },
        { TOOL("read", "") "," TOOL("Read", ""),
          "another one has a name that looks the same" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        const struct listed *listed;
        size_t at = 0;

        stage_init(&stage, PIN_OFF);
        (void)list(&stage, OFFER_TOOL, c->items);
        while ((listed = listing_next(stage.listing, OFFER_TOOL, &at)) != NULL) {
            CHECK_INT(listed->verdict, PIN_DROPPED);
            CHECK(listed->is_held);
            CHECK_STR(str_of(listed->why), str_of(c->why));
        }
        CHECK(at > 0);
        check_page(&stage, OFFER_TOOL, "{\"tools\":[]}");
        CHECK_INT(listing_approve(stage.listing, OFFER_TOOL, S("a"), S("ada"), 1),
                  ERR_NOT_FOUND);
        stage_done(&stage);
    }
}

TEST(what_was_kept_is_as_it_was)
{
    struct stage stage, again;
    CLEANUP(buf_done) struct buf a, b;

    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    stage_init(&stage, PIN_HOLD);
    (void)list(&stage, OFFER_TOOL, TOOL("a", "") "," TOOL("b", ""));
    (void)list(&stage, OFFER_PROMPT, "{\"name\":\"p\"}");
    listing_trust(stage.listing, S("moot"), 5);
    (void)list(&stage, OFFER_TOOL, TOOL("a", ",\"title\":\"t\""));
    stage_init(&again, PIN_HOLD);
    CHECK_INT(listing_restore(again.listing, buf_str(&stage.kept)), OK);
    listing_put_json(stage.listing, &a);
    listing_put_json(again.listing, &b);
    CHECK_STR(buf_str(&b), buf_str(&a));
    CHECK_INT(again.keeps, 0);
    /* Also what was gone for a while. */
    (void)list(&again, OFFER_TOOL, TOOL("b", ",\"title\":\"t\""));
    check_difference(&again, S("b"), "+ title: \"t\"\n");
    (void)list(&again, OFFER_TOOL, TOOL("b", ""));
    CHECK_INT(listing_find(again.listing, OFFER_TOOL, S("b"))->verdict, PIN_SEEN);
    stage_done(&stage);
    stage_done(&again);
}

TEST(what_was_not_kept_by_us_is_refused)
{
    static const struct str cases[] = {
        S(""),
        S("[]"),
        S("{}"),
        S("{\"v\":2,\"trusted\":true,\"pins\":[]}"),
        S("{\"v\":1,\"trusted\":true,\"pins\":[]}"),
        S("{\"v\":1,\"trusted\":true,\"tools\":[],\"resources\":[],\"resourceTemplates\":[],"
          "\"prompts\":[],\"pins\":[{\"type\":\"x\",\"key\":\"k\",\"by\":\"\",\"at\":1}]}"),
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;

        stage_init(&stage, PIN_HOLD);
        CHECK_INT(listing_restore(stage.listing, *c), ERR_INVALID);
        stage_done(&stage);
    }
}

TEST(a_list_comes_in_pages)
{
    struct stage stage;
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 1 << 20);
    stage_init(&stage, PIN_OFF);
    (void)list(&stage, OFFER_TOOL, TOOL("a", "") "," TOOL("b", "") "," TOOL("c", ""));
    CHECK_INT(listing_put_page(stage.listing, OFFER_TOOL, S(""), 80, &out), OK);
    CHECK_STR(buf_str(&out), S("{\"tools\":[" TOOL("a", "") "],\"nextCursor\":\"1\"}"));
    buf_clear(&out);
    CHECK_INT(listing_put_page(stage.listing, OFFER_TOOL, S("2"), 80, &out), OK);
    CHECK_STR(buf_str(&out), S("{\"tools\":[" TOOL("c", "") "]}"));
    CHECK_INT(listing_put_page(stage.listing, OFFER_TOOL, S("4"), 80, &out), ERR_INVALID);
    CHECK_INT(listing_put_page(stage.listing, OFFER_TOOL, S("x"), 80, &out), ERR_INVALID);
    stage_done(&stage);
}

TEST(a_difference_hides_nothing)
{
    struct stage stage;

    stage_init(&stage, PIN_HOLD);
    (void)list(&stage, OFFER_TOOL, TOOL("a", ""));
    listing_trust(stage.listing, S("moot"), 1);
    (void)list(&stage, OFFER_TOOL, TOOL("a", ",\"description\":\"x\xe2\x80\xae\\n- y\""));
    check_difference(&stage, S("a"), "+ description: \"x\\u202e\\n- y\"\n");
    stage_done(&stage);
}

TEST(too_much_is_refused)
{
    struct stage stage;
    CLEANUP(buf_done) struct buf page;

    buf_init(&page, 8 << 20);
    stage_init(&stage, PIN_HOLD);
    buf_put(&page, S("{\"tools\":["));
    for (size_t i = 0; i < 2001; i++)
        buf_putf(&page, "%s{}", i ? "," : "");
    buf_put(&page, S("]}"));
    listing_begin(stage.listing, OFFER_TOOL);
    CHECK_INT(listing_add_page(stage.listing, buf_str(&page)), ERR_TOO_BIG);
    CHECK_INT(listing_add_page(stage.listing, S("{\"tools\":7}")), ERR_INVALID);
    CHECK_INT(listing_add_page(stage.listing, S("{")), ERR_INVALID);
    stage_done(&stage);
}
