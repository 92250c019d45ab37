/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>

#include "cli/audit_ask.h"
#include "cli/audit_look.h"
#include "cli/audit_tree.h"
#include "cli/cell.h"
#include "cli/progress.h"
#include "harness.h"

#define NOW UINT64_C(1'800'000'000'000) /* 2027-01-15T08:00:00Z */

static struct audit_record envelope(const char *who, const char *kind, const char *id,
                                    const char *correlation, const char *body)
{
    return (struct audit_record){
        .at_ms = NOW,
        .event = AUDIT_ENVELOPE,
        .topic = S("room"),
        .participant = str_of(who),
        .kind = str_of(kind),
        .id = str_of(id),
        .correlation = str_of(correlation),
        .verdict = S("allowed"),
        .body = body ? str_of(body) : (struct str){},
        .body_bytes = body ? strlen(body) : 0,
    };
}

/* --- when --- */

TEST(a_moment_is_so_long_ago_or_a_date)
{
    static const struct {
        struct str text;
        enum err err;
        uint64_t ms;
    } cases[] = {
        { S("15m"), OK, NOW - 900'000 },
        { S("2h"), OK, NOW - 7'200'000 },
        { S("3d"), OK, NOW - 259'200'000 },
        { S("99999999d"), OK, 1 },
        { S("2027-01-15T08:00:00Z"), OK, NOW },
        { S("2027-01-15T09:00:00+01:00"), OK, NOW },
        { S("2027-01-15"), OK, NOW - 28'800'000 },
        { S("15"), ERR_INVALID, 0 },
        { S(""), ERR_INVALID, 0 },
        { S("yesterday!"), ERR_INVALID, 0 },
        { S("2027-13-15"), ERR_INVALID, 0 },
        { S("2027-01-15T08:00:00"), ERR_INVALID, 0 },
    };

    uint64_t midnight = 0;

    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    tzset();
    FOR_EACH_CASE(c, cases) {
        uint64_t ms = 0;

        CHECK_INT(audit_moment(c->text, NOW, &ms), c->err);
        CHECK_INT(ms, c->ms);
    }
    CHECK_INT(setenv("TZ", "EST5", 1), 0); /* days are where people are, */
    tzset();
    CHECK_INT(audit_moment(S("2027-01-15"), NOW, &midnight), OK);
    CHECK_INT(midnight, NOW - 10'800'000);
    CHECK_INT(audit_moment(S("2027-01-15T08:00:00Z"), NOW, &midnight), OK);
    CHECK_INT(midnight, NOW); /* moments are not */
    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    tzset();
}

TEST(what_is_asked_for_is_whole_only_without_filters)
{
    struct audit_filter filter = {};
    struct audit_query query;

    CHECK_INT(audit_ask(&filter, NOW, &query), CLI_OK);
    CHECK(audit_asks_all(&query));
    filter.topic = "";
    CHECK_INT(audit_ask(&filter, NOW, &query), CLI_OK);
    CHECK(!audit_asks_all(&query));
    CHECK(query.topic.ptr && query.topic.len == 0);
    filter = (struct audit_filter){ .since = "1h", .until = "2h" };
    CHECK_INT(audit_ask(&filter, NOW, &query), CLI_USAGE);
    filter = (struct audit_filter){ .event = "nonsense" };
    CHECK_INT(audit_ask(&filter, NOW, &query), CLI_USAGE);
}

/* --- cells and numbers --- */

TEST(a_cell_is_cut_between_characters)
{
    static const struct {
        struct str text;
        size_t max, count;
        struct str shown;
    } cases[] = {
        { S("hello"), 5, 5, S("hello") },
        { S("hello!"), 5, 5, S("hel..") },
        { S("äöüß"), 4, 4, S("äöüß") },
        { S("äöüßx"), 4, 4, S("äö..") },
        { S("\033[2J"), 9, 9, S("\\u001b[2J") },
        { S("\033[2J"), 8, 8, S("\\u001b..") },
        { S("abc"), 1, 1, S(".") },
        { S(""), 3, 0, S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1000);
        CHECK_INT(cell_put_cut(&out, c->text, c->max), c->count);
        CHECK_STR(buf_str(&out), c->shown);
        buf_done(&out);
    }
}

TEST(durations_are_told_by_their_two_largest_units)
{
    static const struct {
        uint64_t ms;
        struct str text;
    } cases[] = {
        { 0, S("0 ms") },
        { 999, S("999 ms") },
        { 4'250, S("4.2 s") },
        { 59'999, S("59.9 s") },
        { 60'000, S("1 min") },
        { 200'000, S("3 min 20 s") },
        { 7'500'000, S("2 h 5 min") },
        { 273'600'000, S("3 d 4 h") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1000);
        progress_put_duration(&out, c->ms);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}

TEST(progress_fits_the_line)
{
    struct progress_state half = { "verifying", "records", 50, 100, 1'234'567, 4'000 };
    struct progress_state unknown = { "reading", "records", 50, 0, 7, 0 };
    struct buf out;

    buf_init(&out, 1000);
    progress_put(&out, &half, 100);
    CHECK_STR(buf_str(&out),
              S("verifying [###############...............]  50 %  1,234,567 records  "
                "308,641/s  4.0 s left"));
    buf_clear(&out);
    progress_put(&out, &half, 30);
    CHECK_STR(buf_str(&out), S("verifying 1,234,567 records  3"));
    buf_clear(&out);
    progress_put(&out, &unknown, 100);
    CHECK_STR(buf_str(&out), S("reading 7 records"));
    for (size_t columns = 1; columns < 120; columns++) {
        buf_clear(&out);
        progress_put(&out, &half, columns);
        CHECK(out.len <= columns);
    }
    buf_done(&out);
}

/* --- lines --- */

TEST(a_body_is_told_by_what_says_most)
{
    static const struct {
        const char *body;
        struct str shown;
    } cases[] = {
        { "{\"payload\":{\"text\":\"hello\"}}", S("hello") },
        { "{\"to\":[\"a\",\"b\"],\"payload\":{\"text\":\"hello\"}}",
          S("-> a, b  hello") },
        { "{\"payload\":{\"params\":{\"name\":\"x\",\"arguments\":{\"a\":1}}}}",
          S("{\"a\":1}") },
        { "{\"payload\":{\"params\":{\"uri\":\"x\"}}}", S("{\"uri\":\"x\"}") },
        { "{\"payload\":{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"gone\"}]}}}",
          S("gone") },
        { "{\"payload\":{\"result\":{\"a\":1}}}", S("{\"a\":1}") },
        { "{\"payload\":{\"error\":{\"code\":1,\"message\":\"no\"}}}", S("no") },
        { "{\"payload\":{\"reason\":\"because\"}}", S("because") },
        { "{\"payload\":{\"busy\":true}}", S("{\"busy\":true}") },
        { "\"no envelope\\u001b\"", S("no envelope\\u001b") },
        { "\033 no JSON", S("\\u001b no JSON") },
        { "{}", S("{}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct audit_record record = envelope("ann", "chat", "1", "", c->body);
        struct buf out;

        buf_init(&out, 1000);
        (void)audit_look_put_body(&out, &record, 100);
        CHECK_STR(buf_str(&out), c->shown);
        buf_done(&out);
    }
}

TEST(a_removed_body_is_told_to_be_removed)
{
    struct audit_record record = envelope("ann", "chat", "1", "", NULL);
    struct buf out;

    buf_init(&out, 1000);
    (void)audit_look_put_body(&out, &record, 100);
    CHECK_STR(buf_str(&out), S(""));
    record.body_bytes = 12;
    (void)audit_look_put_body(&out, &record, 100);
    CHECK_STR(buf_str(&out), S("(removed: 12 bytes)"));
    buf_done(&out);
}

TEST(lines_of_records_stand_in_columns)
{
    struct audit_look look = { .ink = palette_none() };
    struct audit_record first =
        envelope("ann", "chat", "1", "", "{\"payload\":{\"text\":\"hi\"}}");
    struct audit_record second =
        envelope("a-longer-name", "mcp/request:tools/call:rm", "2", "",
                 "{\"payload\":{\"text\":\"\\u001b[31m\"}}");
    struct audit_record third = { .at_ms = NOW,
                                  .event = AUDIT_SERVER,
                                  .kind = S("start") };
    struct buf out;

    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    second.verdict = S("capability_violation");
    buf_init(&out, 10'000);
    audit_look_put(&out, &look, &first);
    audit_look_put(&out, &look, &second);
    audit_look_put(&out, &look, &first);
    look.has_ids = true;
    audit_look_put(&out, &look, &third);
    CHECK_STR(
        buf_str(&out),
        S("2027-01-15 08:00:00.000  room    ann         chat                         "
          "allowed  hi\n"
          "2027-01-15 08:00:00.000  room    a-longer-name  mcp/request:tools/call:rm    "
          "capability_violation  \\u001b[31m\n"
          "2027-01-15 08:00:00.000  room    ann            chat                         "
          "allowed               hi\n"
          "2027-01-15 08:00:00.000  -       -              server start                 "
          "-  [#0]\n"));
    buf_done(&out);
}

TEST(what_the_gateway_says_of_itself_is_told_in_words)
{
    static const struct {
        const char *body;
        struct str shown;
    } cases[] = {
        { "{\"code\":1000,\"reason\":\"\"}", S("code 1000") },
        { "{\"address\":\"::1\",\"tok\\u0000en\":\"a\\nb\",\"request\":{\"id\":1}}",
          S("request {\"id\":1}, address ::1, tok\\u0000en a\\nb") },
        { "{}", S("") },
        { "[1]", S("[1]") },
    };

    FOR_EACH_CASE(c, cases) {
        struct audit_record record = envelope("ann", "left", "1", "", c->body);
        struct buf out;

        record.event = AUDIT_DISCONNECT;
        buf_init(&out, 1000);
        (void)audit_look_put_body(&out, &record, 100);
        CHECK_STR(buf_str(&out), c->shown);
        buf_done(&out);
    }
}

TEST(lines_fit_a_terminal)
{
    struct audit_look look = { .ink = palette_none(), .columns = 80 };
    struct audit_record record = envelope(
        "ann", "mcp/request:tools/call:delete_file", "1", "",
        "{\"payload\":{\"text\":\"a text that is longer than what is left of it\"}}");
    struct buf out;

    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    buf_init(&out, 10'000);
    audit_look_put(&out, &look, &record);
    CHECK_STR(buf_str(&out), S("01-15 08:00:00  room    ann     request delete_file  "
                               "a text that is longer tha..\n"));
    buf_done(&out);
}

/* --- trees --- */

static void put_tree(struct audit_tree *tree, struct buf *out)
{
    struct audit_tree_look look = { .ink = palette_none() };

    CHECK_INT(setenv("TZ", "UTC0", 1), 0);
    audit_tree_build(tree);
    audit_tree_put(out, tree, &look);
}

static void add(struct audit_tree *tree, struct audit_record record, uint64_t seq,
                uint64_t later_ms)
{
    record.seq = seq;
    record.at_ms = NOW + later_ms;
    audit_tree_add(tree, &record);
}

TEST(a_conversation_is_a_tree)
{
    struct audit_tree tree;
    struct audit_record refused =
        envelope("bot", "chat", "x", "f1", "{\"payload\":{\"text\":\"no\"}}");
    struct buf out;

    refused.event = AUDIT_REFUSAL;
    refused.verdict = S("rate_limited");
    audit_tree_init(&tree);
    buf_init(&out, 10'000);
    add(&tree,
        envelope("bot", "mcp/proposal:tools/call:rm", "p1", "",
                 "{\"to\":[\"files\"],\"payload\":{\"method\":\"tools/call\",\"params\":{"
                 "\"name\":\"rm\",\"arguments\":{\"a\":1}}}}"),
        1, 0);
    add(&tree, envelope("bob", "mcp/approve", "a1", "p1", "{\"payload\":{}}"), 2, 1'000);
    add(&tree,
        envelope(
            "ann", "mcp/request:tools/call:rm", "f1", "p1",
            "{\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}}"),
        3, 2'000);
    add(&tree,
        envelope(
            "files", "mcp/response:tools/call:rm", "r1", "f1",
            "{\"payload\":{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"gone\"}]}}}"),
        4, 2'050);
    add(&tree, refused, 5, 2'100);
    add(&tree, envelope("ann", "chat", "c1", "elsewhere", NULL), 6, 3'000);
    put_tree(&tree, &out);
    CHECK_STR(buf_str(&out),
              S("2027-01-15 08:00:00.000  room  6 records, 3.0 s\n"
                "     +0 ms  bot -> files  proposes rm {\"a\":1}  [p1]\n"
                "    +1.0 s  |- bob  approves  [a1, after 1.0 s]\n"
                "    +2.0 s  `- ann  calls rm  [f1, after 2.0 s]\n"
                "    +2.0 s     |- files  result of rm: gone  [r1, after 50 ms]\n"
                "    +2.1 s     `- refused rate_limited: bot  no  [x, after 100 ms]\n"
                "    +3.0 s  ann  chat   [c1]\n"));
    audit_tree_done(&tree);
    buf_done(&out);
}

TEST(a_tree_has_no_circles_and_no_end_in_depth)
{
    enum { DEEP = 5'000 };
    struct audit_tree tree;
    struct buf out;
    size_t count = 0;
    char id[32], before[32] = "none";

    audit_tree_init(&tree);
    buf_init(&out, 64 << 20);
    add(&tree, envelope("eve", "chat", "self", "self", NULL), 1, 0);
    add(&tree, envelope("eve", "chat", "a", "b", NULL), 2, 0);
    add(&tree, envelope("eve", "chat", "b", "a", NULL), 3, 0);
    add(&tree, envelope("eve", "chat", "self", "self", NULL), 4, 0);
    for (int i = 0; i < DEEP; i++) {
        (void)snprintf(id, sizeof(id), "d%d", i);
        add(&tree, envelope("eve", "chat", id, before, NULL), (uint64_t)i + 5, 0);
        memcpy(before, id, sizeof(id));
    }
    put_tree(&tree, &out);
    CHECK_INT(tree.nodes[0].depth, 0);
    CHECK_INT(tree.nodes[1].depth, 0);
    CHECK_INT(tree.nodes[2].depth, 1);
    CHECK_INT(tree.nodes[3].depth, 1);
    CHECK_INT(tree.nodes[DEEP + 3].depth, DEEP - 1);
    for (size_t at = tree.first; at != AUDIT_NO_NODE; at = audit_tree_next(&tree, at))
        count++;
    CHECK_INT(count, DEEP + 4);
    CHECK(out.len < (size_t)DEEP * 200);
    audit_tree_done(&tree);
    buf_done(&out);
}
