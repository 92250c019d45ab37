/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "harness.h"
#include "participant/roster.h"

/* What roster_tell() told: "+ann" is here, "-ann" leaves, "~ann" changes. */
static void tell(void *user, enum presence_change change, const struct roster_entry *who)
{
    static const char signs[] = {
        [PRESENCE_HERE] = '+',
        [PRESENCE_JOINS] = '>',
        [PRESENCE_LEAVES] = '-',
        [PRESENCE_CHANGES] = '~',
    };

    buf_putc(user, signs[change]);
    buf_put(user, who->id);
}

static const struct occupant_ops ops = { .on_presence = tell };

static struct json_span array(struct str text)
{
    return text.len ? (struct json_span){ JSON_ARRAY, false, text }
                    : (struct json_span){};
}

static struct roster_note note_of(struct str id, struct str patterns, struct str objects)
{
    return (struct roster_note){ .id = id,
                                 .type = S("agent"),
                                 .patterns = array(patterns),
                                 .objects = array(objects) };
}

/* Ids of one letter each, all with these capabilities. */
static void list(struct roster *roster, const char *ids, struct str patterns)
{
    roster_list_begin(roster);
    for (const char *id = ids; *id; id++) {
        struct roster_note note = note_of((struct str){ id, 1 }, patterns, S(""));

        roster_list_add(roster, &note);
    }
    roster_list_end(roster);
}

static void expect_told(struct roster *roster, struct str told)
{
    struct buf out;

    buf_init(&out, 1 << 16);
    roster_tell(roster, &ops, &out);
    CHECK_STR(buf_str(&out), told);
    buf_done(&out);
}

TEST(a_list_tells_what_is_new_in_it)
{
    struct roster roster;

    roster_init(&roster, 100);
    list(&roster, "abc", S("[\"chat\"]"));
    expect_told(&roster, S("+a+b+c"));
    expect_told(&roster, S(""));
    list(&roster, "abc", S("[\"chat\"]"));
    expect_told(&roster, S(""));
    list(&roster, "bcd", S("[\"chat\"]"));
    expect_told(&roster, S("-a+d"));
    list(&roster, "bc", S("[\"chat\",\"mcp/*\"]"));
    expect_told(&roster, S("-d~b~c"));
    list(&roster, "", S(""));
    expect_told(&roster, S("-b-c"));
    roster_done(&roster);
}

TEST(who_stands_twice_in_a_list_is_told_once)
{
    struct roster roster;

    roster_init(&roster, 100);
    roster_list_begin(&roster);
    for (int i = 0; i < 3; i++) {
        struct roster_note note = note_of(S("ann"), i ? S("[\"chat\"]") : S("[]"), S(""));

        roster_list_add(&roster, &note);
    }
    roster_list_end(&roster);
    expect_told(&roster, S("+ann"));
    CHECK_STR(roster_find(&roster, S("ann"))->capabilities, S("[\"chat\"]"));
    CHECK_INT(roster.entries.count, 1);
    roster_done(&roster);
}

TEST(joins_and_leaves_are_told_where_something_changes)
{
    struct roster_note ann = note_of(S("ann"), S("[\"chat\"]"), S(""));
    enum presence_change change = PRESENCE_HERE;
    const struct roster_entry *entry;
    struct roster roster;

    roster_init(&roster, 100);
    entry = roster_join(&roster, &ann, &change);
    CHECK(entry && change == PRESENCE_JOINS);
    CHECK_STR(entry->id, S("ann"));
    CHECK_STR(entry->type, S("agent"));
    CHECK(!roster_join(&roster, &ann, &change));
    ann.patterns = array(S("[]"));
    CHECK(roster_join(&roster, &ann, &change) && change == PRESENCE_CHANGES);
    entry = roster_leave(&roster, S("ann"));
    CHECK(entry);
    CHECK_STR(entry->id, S("ann"));
    CHECK(!roster_find(&roster, S("ann")));
    CHECK(!roster_leave(&roster, S("ann")));
    CHECK_INT(roster.bytes, 0);
    CHECK_INT(roster.rights.count, 0);
    roster_done(&roster);
}

TEST(patterns_come_before_objects)
{
    static const struct {
        struct str patterns, objects, shown;
    } cases[] = {
        { S("[\"chat\"]"), S("[{\"kind\":\"x\"}]"), S("[\"chat\",{\"kind\":\"x\"}]") },
        { S("[ \"chat\" , \"x\" ]"), S(""), S("[\"chat\" , \"x\"]") },
        { S("[]"), S("[{}]"), S("[{}]") },
        { S(""), S("[ ]"), S("[]") },
        { S(""), S(""), S("[]") },
    };

    FOR_EACH_CASE(c, cases) {
        struct roster_note note = note_of(S("ann"), c->patterns, c->objects);
        enum presence_change change;
        struct roster roster;

        roster_init(&roster, 10);
        (void)roster_join(&roster, &note, &change);
        CHECK_STR(roster_find(&roster, S("ann"))->capabilities, c->shown);
        roster_done(&roster);
    }
}

TEST(equal_lists_are_held_once)
{
    struct roster roster;
    size_t bytes;

    roster_init(&roster, 100);
    list(&roster, "a", S("[\"chat\"]"));
    bytes = roster.bytes;
    list(&roster, "abcdefgh", S("[\"chat\"]"));
    CHECK_INT(roster.rights.count, 1);
    CHECK_INT(roster.bytes, bytes + 7 * (1 + strlen("agent")));
    list(&roster, "", S(""));
    expect_told(&roster, S("-a-b-c-d-e-f-g-h"));
    CHECK_INT(roster.rights.count, 0);
    CHECK_INT(roster.bytes, 0);
    roster_done(&roster);
}

TEST(a_flood_of_participants_is_bounded)
{
    enum presence_change change;
    struct roster roster;

    roster_init(&roster, 3);
    list(&roster, "abcdef", S("[\"chat\"]"));
    expect_told(&roster, S("+a+b+c"));
    CHECK_INT(roster.left_out, 3);
    for (int i = 0; i < 1000; i++) {
        char id[16];
        int len = snprintf(id, sizeof(id), "p-%d", i);
        struct roster_note note =
            note_of((struct str){ id, (size_t)len }, S("[]"), S(""));

        CHECK(!roster_join(&roster, &note, &change));
    }
    CHECK_INT(roster.entries.count, 3);
    CHECK_INT(roster.left_out, 1003);
    (void)roster_leave(&roster, S("a"));
    CHECK(roster_join(&roster, &(struct roster_note){ .id = S("z") }, &change));
    roster_done(&roster);
}

TEST(bytes_are_bounded_too)
{
    enum { MIB = 1 << 20 };
    char *text = xmalloc(MIB);
    enum presence_change change;
    struct roster roster;

    memset(text, ' ', MIB);
    text[0] = '[';
    text[MIB - 1] = ']';
    roster_init(&roster, 1000);
    for (int i = 0; i < 100; i++) {
        char id[16];
        int len = snprintf(id, sizeof(id), "p-%d", i);
        struct roster_note note =
            note_of((struct str){ id, (size_t)len }, (struct str){ text, MIB }, S(""));

        memcpy(text + 1, "\"", 1);
        memcpy(text + MIB - 2, "\"", 1);
        memcpy(text + 2, id, (size_t)len); /* so that all lists are different */
        (void)roster_join(&roster, &note, &change);
    }
    CHECK(roster.bytes <= 64 * (size_t)MIB);
    CHECK_INT(roster.entries.count, 63);
    CHECK_INT(roster.left_out, 37);
    roster_done(&roster);
    free(text);
}

TEST(who_cannot_be_changed_for_want_of_room_stays)
{
    struct roster_note note = note_of(S("ann"), S("[\"chat\"]"), S(""));
    enum presence_change change;
    struct roster roster;

    roster_init(&roster, 10);
    (void)roster_join(&roster, &note, &change);
    roster.bytes += 64 << 20;
    note.patterns = array(S("[\"other\"]"));
    roster_list_begin(&roster);
    roster_list_add(&roster, &note);
    roster_list_end(&roster);
    roster.bytes -= 64 << 20;
    CHECK_INT(roster.left_out, 1);
    CHECK(roster_find(&roster, S("ann")));
    CHECK_STR(roster_find(&roster, S("ann"))->capabilities, S("[\"chat\"]"));
    roster_done(&roster);
}

TEST(all_can_be_walked_and_forgotten)
{
    struct roster roster;
    size_t at = 0;
    size_t count = 0;

    roster_init(&roster, 100);
    list(&roster, "abcdefghijklmnopqrstuvwxyz", S("[\"chat\"]"));
    while (map_next(&roster.entries, &at))
        count++;
    CHECK_INT(count, 26);
    list(&roster, "", S("")); /* gone, and never told */
    roster_done(&roster);
}
