/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "gateway/override.h"
#include "harness.h"

static void set(struct map *map, struct str topic, struct str id, struct str capability)
{
    override_set(map, topic, id, (struct str_list){ &capability, 1 });
}

/* The first capability in force, or "-". */
static struct str first(const struct map *map, struct str topic, struct str id)
{
    const struct str_list *list = override_find(map, topic, id);

    return list && list->count ? list->items[0] : S("-");
}

TEST(a_change_for_a_topic_goes_before_one_for_all_topics)
{
    /* clang-format off */
    static const struct { struct str topic, id, capability; } cases[] = {
        { S("t"),  S("both"),   S("one")  },
        { S("u"),  S("both"),   S("all")  },
        { S(""),   S("both"),   S("all")  },
        { S("t"),  S("topic"),  S("only") },
        { S("u"),  S("topic"),  S("-")    },
        { S("t"),  S("all"),    S("each") },
        { S("t"),  S("nobody"), S("-")    },
        { S("t"),  S(""),       S("-")    },
        { S("bo"), S("th"),     S("-")    },
    };
    /* clang-format on */
    struct map map;

    map_init(&map);
    set(&map, S(""), S("both"), S("all"));
    set(&map, S("t"), S("both"), S("one"));
    set(&map, S("t"), S("topic"), S("only"));
    set(&map, S(""), S("all"), S("each"));
    FOR_EACH_CASE(c, cases)
        CHECK_STR(first(&map, c->topic, c->id), c->capability);
    overrides_done(&map);
}

TEST(ids_with_slashes_are_not_confused_with_topics)
{
    struct map map;

    map_init(&map);
    set(&map, S("t"), S("a/b"), S("one"));
    set(&map, S(""), S("/a"), S("two"));
    CHECK_STR(first(&map, S("t"), S("a/b")), S("one"));
    CHECK_STR(first(&map, S(""), S("t/a/b")), S("-"));
    CHECK_STR(first(&map, S("t"), S("/a")), S("two"));
    CHECK_STR(first(&map, S(""), S("a")), S("-"));
    override_clear_topics(&map, S("b"));
    override_clear_topics(&map, S("/a"));
    CHECK_STR(first(&map, S("t"), S("a/b")), S("one"));
    CHECK_STR(first(&map, S("t"), S("/a")), S("two"));
    override_clear_topics(&map, S("a/b"));
    CHECK_STR(first(&map, S("t"), S("a/b")), S("-"));
    overrides_done(&map);
}

TEST(a_list_is_copied_whole_and_replaced_whole)
{
    char text[] = "chat";
    struct str given[] = { { text, 4 }, S(""), S("mcp/*") };
    const struct str_list *list;
    struct map map;

    map_init(&map);
    override_set(&map, S("t"), S("a"), (struct str_list){ given, 3 });
    memset(text, 'x', 4);
    given[2] = S("gone");
    list = override_find(&map, S("t"), S("a"));
    CHECK_INT(list->count, 3);
    CHECK_STR(list->items[0], S("chat"));
    CHECK_STR(list->items[1], S(""));
    CHECK_STR(list->items[2], S("mcp/*"));
    override_set(&map, S("t"), S("a"), (struct str_list){}); /* nothing is allowed */
    list = override_find(&map, S("t"), S("a"));
    CHECK(list != NULL);
    CHECK_INT(list->count, 0);
    CHECK_INT(map.count, 1);
    overrides_done(&map);
}

TEST(a_change_for_all_topics_forgets_those_for_single_ones_and_no_others)
{
    char topic[16];
    struct map map;

    map_init(&map);
    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(topic, sizeof(topic), "topic-%zu", i);
        set(&map, str_of(topic), S("a"), S("one"));
        set(&map, str_of(topic), S("b"), S("two"));
    }
    set(&map, S(""), S("a"), S("all"));
    override_clear_topics(&map, S("a"));
    CHECK_INT(map.count, 101);
    CHECK_STR(first(&map, S("topic-50"), S("a")), S("all"));
    CHECK_STR(first(&map, S("topic-50"), S("b")), S("two"));
    override_clear_topics(&map, S("nobody"));
    CHECK_INT(map.count, 101);
    overrides_done(&map);
}

TEST(the_longest_topic_and_id_fit)
{
    static char topic[128], id[256];
    struct map map;

    memset(topic, 't', sizeof(topic));
    memset(id, 'i', sizeof(id));
    map_init(&map);
    set(&map, (struct str){ topic, 128 }, (struct str){ id, 256 }, S("x"));
    CHECK_STR(first(&map, (struct str){ topic, 128 }, (struct str){ id, 256 }), S("x"));
    CHECK_STR(first(&map, (struct str){ topic, 127 }, (struct str){ id, 256 }), S("-"));
    overrides_done(&map);
}
