/* SPDX-License-Identifier: Apache-2.0 */
/* A team as anything may stand in the store: what is read is within its bounds, and is
 * written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>

#include "directory/resource.h"
#include "directory/team.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void read_again(const struct team_record *team)
{
    struct team_record again, copy;
    struct arena arena;
    struct buf first, second;

    arena_init(&arena, 4 * TEAM_ARENA);
    buf_init(&first, TEAM_TEXT);
    buf_init(&second, TEAM_TEXT);
    team_write(team, &first);
    expect(team_read(team->id, buf_str(&first), &arena, &again) == OK);
    expect(team_copy(&again, TEAM_AS_IT_IS, &arena, &copy) == OK);
    team_write(&copy, &second);
    expect(str_eq(buf_str(&first), buf_str(&second)));
    buf_done(&first);
    buf_done(&second);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct team_record team;
    struct arena arena;

    (void)team_of_topic(text);
    arena_init(&arena, TEAM_ARENA);
    if (team_read(S("t-0123456789abcdef"), text, &arena, &team) == OK) {
        expect(team.member_count <= TEAM_MEMBERS && !team_name_problem(team.name));
        for (size_t i = 0; i < team.member_count; i++)
            expect(team.members[i].resource.len &&
                   team.members[i].resource.len <= RESOURCE_ID);
        read_again(&team);
    }
    arena_done(&arena);
    return 0;
}
