/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fake_topic.h"
#include "harness.h"
#include "topic/reading.h"

static const struct join slash = { .wants_echo = true };
static const struct join dotted = { .dialect = DIALECT_DOTTED, .wants_echo = true };
static const struct join inverse = { .encoding = &fake_inverse,
                                     .dialect = DIALECT_DOTTED,
                                     .wants_echo = true };
static const struct join batch = { .dialect = DIALECT_DOTTED,
                                   .presence = PRESENCE_BATCH,
                                   .wants_echo = true };

#define SLASH  "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"a\",\"kind\":"
#define DOTTED "{\"protocol\":\"mcpx/draft\",\"id\":\"1\",\"from\":\"a\",\"kind\":"
#define SYSTEM(protocol) \
    "{\"protocol\":\"" protocol "\",\"id\":\"1\",\"from\":\"system:gateway\",\"kind\":"

static void say(struct fake_topic *fake, struct topic_entry entry, const char *id)
{
    entry.id_hash = ring_hash(&fake->topic.ring, str_of(id));
    topic_append(&fake->topic, &entry);
}

TEST(d20_each_member_reads_the_log_in_its_own_spelling)
{
    /* clang-format off */
    static const struct { struct str slash, dotted; } cases[] = {
        { S(SLASH "\"chat\",\"payload\":{\"kind\":\"chat\"}}"),
          S(DOTTED "\"chat.message\",\"payload\":{\"kind\":\"chat\"}}") },
        { S(SLASH "\"capability/grant\",\"payload\":{\"capabilities\":[\"mcp/*\"]}}"),
          S(DOTTED "\"capability.grant\",\"payload\":{\"capabilities\":[\"mcp/*\"]}}") },
        /* what the gateway says names kinds and patterns */
        { S(SYSTEM("mcpx/v0.1") "\"system/violation\",\"payload\":{\"participant\":\"mcp/*\",\"attempted_kind\":\"a/b\"}}"),
          S(SYSTEM("mcpx/draft") "\"system.violation\",\"payload\":{\"participant\":\"mcp/*\",\"attempted_kind\":\"a.b\"}}") },
        { S(SYSTEM("mcpx/v0.1") "\"capability/grant-ack\",\"payload\":{\"kind\":\"chat\",\"n\":[1,{\"kind\":\"chat\"}],\"capabilities\":[\"mcp/*\",\"chat\",{\"kind\":\"a/b\",\"payload\":{\"x\":1}}],\"still\":[\"x/*\"]}}"),
          S(SYSTEM("mcpx/draft") "\"capability.grant-ack\",\"payload\":{\"kind\":\"chat.message\",\"n\":[1,{\"kind\":\"chat\"}],\"capabilities\":[\"mcp.*\",\"mcpx.withdraw.*\",\"mcpx.reject.*\",\"mcpx.approve.*\",\"chat.message\",{\"kind\":\"a.b\",\"payload\":{\"x\":1}}],\"still\":[\"x.*\"]}}") },
        { S(SYSTEM("mcpx/v0.1") "\"system/notice\",\"payload\":{\"attempted_kind\":\"\\\"\xc3\xa4/\",\"kind\":7,\"capabilities\":\"mcp/*\"}}"),
          S(SYSTEM("mcpx/draft") "\"system.notice\",\"payload\":{\"attempted_kind\":\"\\\"\xc3\xa4.\",\"kind\":7,\"capabilities\":\"mcp/*\"}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct fake_topic fake;
        struct fake_member a, b, packed;
        struct buf want, text;

        fake_topic_init(&fake, NULL);
        buf_init(&want, 4096);
        buf_init(&text, 4096);
        fake_join(&fake, &a, S("a"), slash);
        fake_join(&fake, &b, S("b"), dotted);
        fake_join(&fake, &packed, S("c"), inverse);
        say(&fake, (struct topic_entry){ .text = c->slash }, "1");
        buf_putf(&want, STR_FMT "\n", STR_ARG(c->slash));
        CHECK_STR(fake_texts(&a), buf_str(&want));
        buf_clear(&want);
        buf_putf(&want, STR_FMT "\n", STR_ARG(c->dotted));
        CHECK_STR(fake_texts(&b), buf_str(&want));
        CHECK_STR(fake_texts(&packed), buf_str(&want));
        CHECK_STR(topic_entry_text(&fake.topic, ring_at(&fake.topic.ring, 1),
                                   DIALECT_SLASH, &text),
                  c->slash);
        CHECK_STR(topic_entry_text(&fake.topic, ring_at(&fake.topic.ring, 1),
                                   DIALECT_DOTTED, &text),
                  c->dotted);
        buf_done(&want);
        buf_done(&text);
        fake_leave(&a);
        fake_leave(&b);
        fake_leave(&packed);
        fake_topic_done(&fake);
    }
}

TEST(d10_what_came_in_dots_goes_out_in_the_same_bytes)
{
    struct str came = S(DOTTED "\"chat\\u002emessage\",\"payload\":{}}");
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), slash);
    fake_join(&fake, &b, S("b"), dotted);
    say(&fake,
        (struct topic_entry){ .text = S(SLASH "\"chat\",\"payload\":{}}"),
                              .env = &(struct envelope){ .text = came },
                              .dialect = DIALECT_DOTTED },
        "1");
    CHECK_STR(fake_texts(&a), S(SLASH "\"chat\",\"payload\":{}}\n"));
    CHECK_STR(fake_texts(&b), S(DOTTED "\"chat\\u002emessage\",\"payload\":{}}\n"));
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(d21_dotted_members_are_counted_and_their_lanes_go_with_them)
{
    struct fake_topic fake;
    struct fake_member a, b, b2, d;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), slash);
    CHECK_INT(fake.topic.dotted_count, 0);
    fake_join(&fake, &b, S("b"), dotted);
    fake_join(&fake, &b2, S("b"), dotted);
    fake_join(&fake, &d, S("d"), batch);
    CHECK_INT(fake.topic.dotted_count, 3);
    CHECK(b.member.lane == b2.member.lane && b.member.lane != d.member.lane);
    fake_leave(&b);
    fake_leave(&d);
    CHECK_INT(fake.topic.dotted_count, 1);
    fake_leave(&b2);
    CHECK_INT(fake.topic.dotted_count, 0);
    CHECK(list_is_empty(&fake.topic.lanes));
    fake_leave(&a);
    fake_topic_done(&fake);
}

static bool contains(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

TEST(d20_presence_and_roster_are_told_in_dots)
{
    struct fake_topic fake;
    struct fake_member a, b, d, later;
    struct str text;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), slash);
    fake_join(&fake, &b, S("b"), dotted);
    fake_join(&fake, &d, S("d"), batch);
    CHECK_INT(topic_flush_presence(&fake.topic), 3);
    text = fake_texts(&b);
    CHECK(contains(text, "\"protocol\":\"mcpx/draft\""));
    CHECK(!contains(text, "v0.1") && !contains(text, "\"chat\""));
    CHECK(contains(text, "\"kind\":\"system.presence\""));
    CHECK(contains(text, "{\"id\":\"a\",\"capabilities\":[\"chat.message\"]"));
    text = fake_texts(&d);
    CHECK(
        contains(text, "\"kind\":\"system.presence\",\"payload\":{\"event\":\"batch\""));
    CHECK(contains(text, "\"id\":\"a\",\"capabilities\":[\"chat.message\"]"));
    CHECK(!contains(text, "\"chat\""));
    text = fake_texts(&a);
    CHECK(!contains(text, "draft") && contains(text, "\"capabilities\":[\"chat\"]"));

    member_send_roster(&b.member, S("[]"), 1);
    text = fake_texts(&b);
    CHECK(contains(text, "{\"id\":\"d\",\"capabilities\":[\"chat.message\"]"));
    CHECK(!contains(text, "\"id\":\"b\"") && !contains(text, "\"chat\""));
    member_send_roster(&a.member, S("[]"), 1);
    CHECK(contains(fake_texts(&a), "{\"id\":\"b\",\"capabilities\":[\"chat\"]"));
    /* who comes later is added to both */
    fake_join(&fake, &later, S("later"), slash);
    CHECK_INT(topic_flush_presence(&fake.topic), 1);
    (void)fake_texts(&b);
    (void)fake_texts(&a);
    member_send_roster(&b.member, S("[]"), 1);
    CHECK(contains(fake_texts(&b),
                   "{\"id\":\"later\",\"capabilities\":[\"chat.message\"]"));
    member_send_roster(&a.member, S("[]"), 1);
    CHECK(contains(fake_texts(&a), "{\"id\":\"later\",\"capabilities\":[\"chat\"]"));
    fake_leave(&a);
    fake_leave(&b);
    fake_leave(&d);
    fake_leave(&later);
    fake_topic_done(&fake);
}

TEST(d21_replay_in_dots_leaves_out_what_does_not_pass_the_strict_check)
{
    static const struct {
        struct str text;
        bool was_checked;
        const char *id;
        bool is_told;
    } said[] = {
        { S(SLASH "\"chat\",\"payload\":{}}"), false, "first", true },
        { S(SLASH "\"mcp/request:x\",\"payload\":{\"method\":\"x\"}}"), false, "good",
          true },
        { S(SLASH "\"mcp/request:x\",\"payload\":{\"method\":\"y\"}}"), false, "bad",
          false },
        { S(SLASH "\"mcp/request:x\",\"payload\":{\"method\":\"y\"}}"), true, "seen",
          true },
    };
    struct fake_topic fake;
    struct fake_member b;
    struct str text;

    fake_topic_init(&fake, NULL);
    (void)participant_enter(&fake.topic, S("b"), TYPE_AGENT, fake.caps, 0);
    FOR_EACH_CASE(c, said)
        say(&fake, (struct topic_entry){ .text = c->text, .was_checked = c->was_checked },
            c->id);
    FOR_EACH_CASE(c, said) {
        const struct entry *entry = ring_at(&fake.topic.ring, (uint64_t)(c - said) + 1);
        struct entry_reader reader = { S("b"), ROUTE_ALL, DIALECT_DOTTED };

        CHECK_INT(topic_entry_concerns(&fake.topic, entry, &reader), c->is_told);
        reader.dialect = DIALECT_SLASH;
        CHECK(topic_entry_concerns(&fake.topic, entry, &reader));
    }
    fake_join(&fake, &b, S("b"), dotted);
    CHECK(member_replay_after(&b.member, S("first")));
    text = fake_texts(&b);
    CHECK_STR(text, S(DOTTED "\"mcp.request.x\",\"payload\":{\"method\":\"x\"}}\n" DOTTED
                             "\"mcp.request.x\",\"payload\":{\"method\":\"y\"}}\n"));
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(d18_a_slow_reader_is_warned_in_its_own_spelling)
{
    static const struct topic_settings tight = { .ring_messages = 10,
                                                 .ring_bytes = 1 << 20,
                                                 .outbox_soft = 1,
                                                 .outbox_hard = 1 << 20,
                                                 .max_members = 9,
                                                 .max_members_each = 9 };
    struct fake_topic fake;
    struct fake_member b;
    struct str text;

    fake_topic_init(&fake, &tight);
    fake_join(&fake, &b, S("b"), dotted);
    member_set_blocked(&b.member, true);
    say(&fake, (struct topic_entry){ .text = S(SLASH "\"chat\",\"payload\":{}}") }, "1");
    fake_wake(&fake.topic);
    text = fake_texts(&b);
    CHECK(contains(text, "\"kind\":\"system.error\""));
    CHECK(contains(text, "slow_consumer") && !contains(text, "v0.1"));
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(a_text_that_is_kept_elsewhere_is_spelt_for_its_reader_if_it_is_strict)
{
    static const struct {
        struct str text, dotted;
    } kept[] = {
        { S(SLASH "\"mcp/proposal:x\",\"payload\":{\"method\":\"x\"}}"),
          S(DOTTED "\"mcp.proposal.x\",\"payload\":{\"method\":\"x\"}}") },
        { S(SLASH "\"mcp/proposal:x\",\"payload\":{\"method\":\"y\"}}"), S("") },
    };
    struct buf space;

    buf_init(&space, 1 << 20);
    FOR_EACH_CASE(c, kept) {
        buf_put(&space, S("what was there before"));
        CHECK_STR(topic_text_in(c->text, DIALECT_SLASH, &space), c->text);
        CHECK_STR(topic_text_in(c->text, DIALECT_DOTTED, &space), c->dotted);
    }
    buf_done(&space);
}
