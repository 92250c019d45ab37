/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "directory/team.h"
#include "harness.h"

#define ID S("t-0123456789abcdef")

static const char kept[] =
    "{\"name\":\"Falcon\",\"contract\":\"c-1\",\"creator\":\"scout\",\"capabilities\":[\"chat\","
    "\"mcp/*\"],\"created\":1000,\"active\":2000,\"members\":[{\"resource\":\"r-1\",\"name\":"
    "\"Ann\",\"participant\":\"ann\",\"state\":\"member\",\"capabilities\":[\"chat\"],\"until\":"
    "9000},{\"resource\":\"r-2\",\"name\":\"Bot\",\"state\":\"invited\"}]}";

static enum err read_text(const char *text, struct arena *arena, struct team_record *ret)
{
    return team_read(ID, str_of(text), arena, ret);
}

TEST(a_team_is_read_as_it_was_written)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    struct team_record team = {};

    arena_init(&arena, TEAM_ARENA);
    buf_init(&out, TEAM_TEXT);
    CHECK_INT(read_text(kept, &arena, &team), OK);
    CHECK_STR(team.name, S("Falcon"));
    CHECK_INT(team.member_count, 2);
    CHECK_INT(team.members[1].state, TEAM_INVITED);
    team_write(&team, &out);
    CHECK_STR(buf_str(&out), str_of(kept));
}

TEST(what_is_not_a_team_is_refused)
{
#define HEAD "{\"name\":\"A\",\"creator\":\"c\",\"created\":1,\"members\":["
#define ANN  "\"resource\":\"r-1\",\"name\":\"Ann\",\"state\":\"member\""
    static const struct {
        const char *text;
        enum err err;
    } cases[] = {
        { HEAD "]}", OK },
        { HEAD "{" ANN "}]}", OK },
        { "[]", ERR_INVALID },
        { "{}", ERR_INVALID },
        { "{\"name\":\"A\",\"creator\":\"c\",\"created\":1}", ERR_INVALID },
        { "{\"name\":\"\",\"creator\":\"c\",\"created\":1,\"members\":[]}", ERR_INVALID },
        { "{\"name\":\"A\",\"creator\":\"\",\"created\":1,\"members\":[]}", ERR_INVALID },
        { HEAD "],\"owner\":\"x\"}", ERR_INVALID },
        { HEAD "],\"dissolved\":18446744073709551615}", ERR_INVALID },
        { HEAD "],\"capabilities\":[\"a b\"]}", ERR_INVALID },
        { HEAD "{" ANN "},{" ANN "}]}", ERR_INVALID },
        { HEAD "{" ANN ",\"boss\":true}]}", ERR_INVALID },
        { HEAD "{\"resource\":\"r-1\",\"name\":\"Ann\",\"state\":\"boss\"}]}",
          ERR_INVALID },
        { HEAD "{\"resource\":\"r-1\",\"name\":\"Ann\"}]}", ERR_INVALID },
        { HEAD "1]}", ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(arena_done) struct arena arena;
        struct team_record team;

        arena_init(&arena, TEAM_ARENA);
        CHECK_INT(read_text(c->text, &arena, &team), c->err);
    }
}

TEST(a_team_has_the_topic_of_its_id)
{
    static const struct {
        struct str topic, id;
    } cases[] = {
        { S("team-t-0123456789abcdef"), S("t-0123456789abcdef") },
        { S("team-t-0123456789abcdeF"), S("") },
        { S("team-t-0123456789abcde"), S("") },
        { S("team-t-0123456789abcdef0"), S("") },
        { S("team-red"), S("") },
        { S("t-0123456789abcdef"), S("") },
        { S("dev"), S("") },
        { S(""), S("") },
    };
    char topic[TEAM_TOPIC + 1];

    FOR_EACH_CASE(c, cases)
        CHECK_STR(team_of_topic(c->topic), c->id);
    CHECK_STR(team_topic(ID, topic), S("team-t-0123456789abcdef"));
}

TEST(a_name_is_a_line)
{
    static const struct {
        struct str name;
        bool is_good;
    } cases[] = {
        { S("Falcon 9"), true }, { S("Zürich"), true }, { S(""), false },
        { S("   "), false },     { S("a\nb"), false },  { S("a\x7f"), false },
        { S("\xff"), false },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(team_name_problem(c->name) == NULL, c->is_good);
}

TEST(a_team_concerns_its_creator_and_those_who_count)
{
    CLEANUP(arena_done) struct arena arena;
    struct team_record team = {};

    arena_init(&arena, TEAM_ARENA);
    CHECK_INT(read_text(kept, &arena, &team), OK);
    CHECK(team_concerns(&team, S("scout")));
    CHECK(team_concerns(&team, S("ann")));
    CHECK(!team_concerns(&team, S("bob")));
    CHECK(!team_concerns(&team, S("")));
    team.members[0].state = TEAM_REMOVED;
    CHECK(!team_concerns(&team, S("ann")));
}

TEST(who_is_in_a_team_is_not_added_again)
{
    CLEANUP(arena_done) struct arena arena;
    struct team_member ann = { .resource = S("r-1"),
                               .name = S("Ann"),
                               .state = TEAM_MEMBER };
    struct team_record team = {};

    arena_init(&arena, TEAM_ARENA);
    CHECK_INT(read_text(kept, &arena, &team), OK);
    CHECK_INT(team_put(&team, &ann), ERR_CONFLICT);
    team.members[0].state = TEAM_LEFT;
    CHECK_INT(team_put(&team, &ann), OK);
    CHECK_INT(team.member_count, 2);
    CHECK_INT(team.members[0].state, TEAM_MEMBER);
}

TEST(who_has_gone_makes_place_in_a_full_team)
{
    CLEANUP(arena_done) struct arena arena;
    struct team_record team = { .id = ID, .name = S("A"), .creator = S("c") };
    struct team_member late = { .resource = S("late"),
                                .name = S("L"),
                                .state = TEAM_MEMBER };
    static char ids[TEAM_MEMBERS][8];

    arena_init(&arena, TEAM_ARENA);
    CHECK_INT(team_copy(&team, TEAM_TO_CHANGE, &arena, &team), OK);
    for (size_t i = 0; i < TEAM_MEMBERS; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "r-%zu", i);
        CHECK_INT(team_put(&team, &(struct team_member){ .resource = str_of(ids[i]),
                                                         .state = TEAM_MEMBER }),
                  OK);
    }
    CHECK_INT(team_put(&team, &late), ERR_OVERLOAD);
    team.members[3].state = TEAM_DECLINED;
    CHECK_INT(team_put(&team, &late), OK);
    CHECK_INT(team.member_count, TEAM_MEMBERS);
    CHECK(team_find(&team, S("r-3")) == NULL);
    CHECK(team_find(&team, S("late")) != NULL);
    CHECK(team_find(&team, S("r-255")) != NULL);
}
