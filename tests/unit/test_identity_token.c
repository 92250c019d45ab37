/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "identity/identity.h"

#define LIST(...)                                                     \
    ((struct str_list){ (const struct str[]){ __VA_ARGS__ },          \
                        sizeof((const struct str[]){ __VA_ARGS__ }) / \
                            sizeof(struct str) })

static struct identity *make(struct str id, struct str token, uint64_t expires_ms)
{
    struct identity template = {
        .id = id,
        .token_name = id,
        .topics = LIST(S("*")),
        .capabilities = LIST(S("chat")),
        .expires_ms = expires_ms,
    };

    crypto_sha256(token, template.token_hash);
    return identity_new(&template);
}

TEST(an_identity_is_a_deep_copy)
{
    char id[] = "alice", name[] = "alice-laptop", topic[] = "room", capability[] = "chat";
    struct str topics[] = { str_of(topic), S("x*") };
    struct str capabilities[] = { str_of(capability) };
    struct identity template = {
        .id = str_of(id),
        .token_name = str_of(name),
        .topics = { topics, 2 },
        .capabilities = { capabilities, 1 },
        .profile = S("human"),
        .type = TYPE_HUMAN,
        .source = FROM_STORE,
        .is_admin = true,
        .created_ms = 1,
        .expires_ms = 2,
        .token_hash = { 1, 2, 3 },
    };
    struct identity *identity = identity_new(&template);

    memset(id, 'x', strlen(id));
    memset(name, 'x', strlen(name));
    memset(topic, 'x', strlen(topic));
    memset(capability, 'x', strlen(capability));
    topics[1] = S("gone");
    CHECK_STR(identity->id, S("alice"));
    CHECK_STR(identity->token_name, S("alice-laptop"));
    CHECK_STR(identity->profile, S("human"));
    CHECK_INT(identity->topics.count, 2);
    CHECK_STR(identity->topics.items[0], S("room"));
    CHECK_STR(identity->topics.items[1], S("x*"));
    CHECK_INT(identity->capabilities.count, 1);
    CHECK_STR(identity->capabilities.items[0], S("chat"));
    CHECK_INT(identity->type, TYPE_HUMAN);
    CHECK_INT(identity->source, FROM_STORE);
    CHECK(identity->is_admin);
    CHECK_INT(identity->created_ms, 1);
    CHECK_INT(identity->expires_ms, 2);
    CHECK_INT(identity->token_hash[2], 3);
    CHECK(identity_ref(identity) == identity);
    identity_unref(identity);
    CHECK_STR(identity->id, S("alice"));
    identity_unref(identity);
    identity_unref(NULL);
    identity_unref(identity_new(&(struct identity){}));
}

TEST(d1_an_identity_enters_the_topics_its_patterns_name)
{
    /* clang-format off */
    static const struct { struct str pattern, topic; bool may; } cases[] = {
        { S("*"),      S("anything"),    true  },
        { S("room"),   S("room"),        true  },
        { S("room"),   S("room2"),       false },
        { S("room"),   S("roo"),         false },
        { S("room"),   S("Room"),        false },
        { S("team-*"), S("team-a"),      true  },
        { S("team-*"), S("team-"),       true  },
        { S("team-*"), S("team"),        false },
        { S("team-*"), S("my-team-a"),   false },
        { S("a*b"),    S("axb"),         false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct identity both = { .topics = LIST(S("other"), c->pattern) };
        struct identity none = {};

        CHECK_INT(identity_may_enter(&both, c->topic), c->may);
        CHECK(identity_may_enter(&both, S("other")));
        CHECK(!identity_may_enter(&none, c->topic));
    }
}

static char long_text[300];

TEST(a_topic_name_is_short_and_fit_for_a_path)
{
    /* clang-format off */
    static const struct { struct str name; bool is_valid; } cases[] = {
        { S("a"),              true  },
        { S("Room_1.x~-"),     true  },
        { S("-"),              true  },
        { { long_text, 128 },  true  },
        { { long_text, 129 },  false },
        { S(""),               false },
        { S("."),              false },
        { S(".hidden"),        false },
        { S("a/b"),            false },
        { S("a b"),            false },
        { S("a*"),             false },
        { S("a\0"),            false },
        { S("\u00e9"),         false },
        { S("a%2fb"),          false },
    };
    /* clang-format on */

    memset(long_text, 'a', sizeof(long_text));
    FOR_EACH_CASE(c, cases)
        CHECK_INT(topic_name_is_valid(c->name), c->is_valid);
}

TEST(an_identity_that_cannot_be_is_refused_with_a_reason)
{
    /* clang-format off */
    static const struct { struct str id, topic, capability; const char *why; } cases[] = {
        { S("alice"),           S("room"),    S("chat"),  NULL         },
        { S("\u00e9 x"),        S("*"),       S("*"),     NULL         },
        { S("systems"),         S("team-*"),  S("mcp/*"), NULL         },
        { { long_text, 256 },   S("*"),       S("*"),     NULL         },
        { { long_text, 257 },   S("*"),       S("*"),     "256"        },
        { S(""),                S("*"),       S("*"),     "256"        },
        { S("a\n"),             S("*"),       S("*"),     "control"    },
        { S("a\x7f"),           S("*"),       S("*"),     "control"    },
        { S("a\0b"),            S("*"),       S("*"),     "control"    },
        { S("\xff"),            S("*"),       S("*"),     "UTF-8"      },
        { S("system"),          S("*"),       S("*"),     "gateway"    },
        { S("system:gateway"),  S("*"),       S("*"),     "gateway"    },
        { S("alice"),           S(""),        S("*"),     "topic"      },
        { S("alice"),           S("a*b"),     S("*"),     "topic"      },
        { S("alice"),           S("**"),      S("*"),     "topic"      },
        { S("alice"),           S("a/b"),     S("*"),     "topic"      },
        { S("alice"),           S("*"),       S("a b"),   "spaces"     },
        { S("alice"),           S("*"),       S(""),      "empty"      },
    };
    /* clang-format on */

    memset(long_text, 'a', sizeof(long_text));
    FOR_EACH_CASE(c, cases) {
        struct identity identity = {
            .id = c->id,
            .topics = LIST(S("fine"), c->topic),
            .capabilities = LIST(S("chat"), c->capability),
        };
        const char *why = NULL;

        CHECK_INT(identity_check(&identity, &why), c->why ? ERR_INVALID : OK);
        CHECK(c->why ? why && strstr(why, c->why) : !why);
    }
}

TEST(a_token_is_found_by_what_it_hashes_to)
{
    struct token_table table;
    struct identity *alice = make(S("alice"), S("secret-a"), 0);
    struct identity *bob = make(S("bob"), S("secret-b"), 1000);

    token_table_init(&table);
    CHECK(token_table_find(&table, S("secret-a"), 0) == NULL);
    token_table_add(&table, alice);
    token_table_add(&table, bob);
    CHECK(token_table_find(&table, S("secret-a"), 5000) == alice);
    CHECK(token_table_find(&table, S("secret-b"), 999) == bob);
    CHECK(token_table_find(&table, S("secret-b"), 1000) == NULL);
    CHECK(token_table_find(&table, S("secret"), 0) == NULL);
    CHECK(token_table_find(&table, S("secret-a "), 0) == NULL);
    CHECK(token_table_find(&table, S(""), 0) == NULL);
    CHECK(token_table_find(&table, (struct str){ (const char *)alice->token_hash, 32 },
                           0) == NULL);
    identity_unref(alice);
    identity_unref(bob);
    CHECK_STR(token_table_find(&table, S("secret-a"), 0)->id, S("alice"));
    token_table_done(&table);
}

TEST(a_token_that_is_removed_is_unknown)
{
    struct token_table table;
    struct identity *alice = make(S("alice"), S("secret-a"), 0);
    struct identity *bob = make(S("bob"), S("secret-b"), 0);

    token_table_init(&table);
    token_table_add(&table, alice);
    token_table_add(&table, bob);
    CHECK(token_table_remove(&table, alice->token_hash));
    CHECK(!token_table_remove(&table, alice->token_hash));
    CHECK(token_table_find(&table, S("secret-a"), 0) == NULL);
    CHECK(!token_table_remove_named(&table, S("alice")));
    CHECK(token_table_remove_named(&table, S("bob")));
    CHECK(token_table_find(&table, S("secret-b"), 0) == NULL);
    CHECK_STR(bob->id, S("bob"));
    identity_unref(alice);
    identity_unref(bob);
    token_table_done(&table);
}

TEST(the_same_token_added_again_replaces_its_identity)
{
    struct token_table table;
    struct identity *before = make(S("before"), S("secret"), 0);
    struct identity *after = make(S("after"), S("secret"), 0);

    token_table_init(&table);
    token_table_add(&table, before);
    token_table_add(&table, before);
    identity_unref(before);
    token_table_add(&table, after);
    identity_unref(after);
    CHECK_STR(token_table_find(&table, S("secret"), 0)->id, S("after"));
    CHECK_INT(table.by_hash.count, 1);
    token_table_done(&table);
}

TEST(a_new_token_is_long_recognisable_and_never_the_same)
{
    struct buf a, b;

    buf_init(&a, 100);
    buf_init(&b, 100);
    token_write(&a);
    token_write(&b);
    CHECK_INT(a.len, 5 + 43);
    CHECK(str_starts(buf_str(&a), S("moot_")));
    CHECK(!str_eq(buf_str(&a), buf_str(&b)));
    for (size_t i = 0; i < a.len; i++)
        CHECK(str_find(
                  S("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                  a.ptr[i], 0) < 64);
    buf_done(&a);
    buf_done(&b);
}

TEST(ids_of_guests_look_like_nobody_elses)
{
    static const struct {
        const char *id;
        bool is_valid;
    } cases[] = {
        { "a", true },           { "7", true },          { "Guest_1.x-y", true },
        { "sys", true },         { "my-system", true },  { "", false },
        { ".a", false },         { "-a", false },        { "_a", false },
        { "a b", false },        { "a ", false },        { "a:b", false },
        { "a/b", false },        { "b\u043ess", false }, { "boss\u200b", false },
        { "a\n", false },        { "system", false },    { "SYSTEM-x", false },
        { "systematic", false }, { "a@b", false },
    };
    static const char longest[] =
        "a234567890123456789012345678901234567890123456789012345678901234";

    FOR_EACH_CASE(c, cases)
        CHECK_INT(guest_id_is_valid(str_of(c->id)), c->is_valid);
    CHECK_INT(sizeof(longest) - 1, 64);
    CHECK(guest_id_is_valid(str_of(longest)));
    CHECK(
        !guest_id_is_valid(S("a234567890123456789012345678901234567890123456789012345678"
                             "9012345")));
    CHECK(!guest_id_is_valid((struct str){ "a\0b", 3 }));
}

TEST(an_id_is_found_in_any_case_and_by_where_it_came_from)
{
    struct token_table table;
    struct identity *alice = make(S("Alice"), S("t1"), 0);

    token_table_init(&table);
    token_table_add(&table, alice); /* FROM_CONFIG */
    CHECK(token_table_find_like(&table, S("aLICE"), SOURCES_TOKENS) == alice);
    CHECK(token_table_find_like(&table, S("alice"), SOURCES_ALL) == alice);
    CHECK(!token_table_find_like(&table, S("alice"), SOURCES_GUESTS | SOURCES_SESSIONS));
    CHECK(!token_table_find_like(&table, S("alic"), SOURCES_ALL));
    identity_unref(alice);
    token_table_done(&table);
}
