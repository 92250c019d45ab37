/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness.h"
#include "tui/people.h"

TEST(rights_are_told_in_words)
{
    /* clang-format off */
    static const struct { struct str capabilities, want; } cases[] = {
        { S("[]"),                                       S("") },
        { S("no JSON"),                                  S("") },
        { S("{\"chat\":1}"),                             S("") },
        { S("[\"chat\"]"),                               S("talks") },
        { S("[\"mcp/*\",\"chat\"]"),                     S("talks, all of mcp") },
        { S("[\"mcp/*\",\"mcp/request:x\",\"capability/*\"]"), S("all of mcp, grants") },
        { S("[\"mcp/proposal:*\",\"mcp/response:*\"]"),  S("proposes, answers") },
        { S("[\"mcp/request:tools/call:read_*\"]"),      S("calls some") },
        { S("[\"mcp/request:tools/call:read_*\",\"mcp/request:*\"]"), S("calls") },
        { S("[{\"kind\":\"mcp/request:*\",\"payload\":{\"x\":1}}]"),  S("calls some") },
        { S("[\"mcp/request:notifications/*\"]"),        S("") },
        { S("[{\"kind\":5}, 7, null]"),                  S("") },
        { S("[\"*\"]"), S("everything") },
        { S("[\"chat\",\"*\"]"), S("everything") },
        { S("[\"participant/status\"]"),                 S("") },
        { S("[\"participant/kick\"]"),                   S("moderates") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 256);
        people_put_rights(&out, c->capabilities);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(capabilities_stand_in_full_and_harmless)
{
    struct buf out;

    buf_init(&out, 4096);
    people_put_capabilities(&out, S("[\"chat\",\"x\\u001b[2J\",{\"kind\":\"a\"}]"));
    CHECK_STR(buf_str(&out), S("chat\nx\\u001b[2J\n{\n  \"kind\": \"a\"\n}\n"));
    buf_done(&out);
}

static void check_order(const struct people *people, struct str want)
{
    struct buf out;

    buf_init(&out, 4096);
    for (size_t i = 0; i < people->count; i++)
        buf_putf(&out, "%s%s ", people->list[i].id,
                 i == people_chosen(people) ? "*" : "");
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

static void fill(struct people *people)
{
    people_clear(people);
    people_add(people, S("zeta"), S("human"), S("[]"));
    people_add(people, S("bot"), S("agent"), S("[]"));
    people_add(people, S("files"), S("service"), S("[]"));
    people_add(people, S("alice"), S("human"), S("[]"));
    people_add(people, S("odd"), S(""), S("[]"));
    people_sort(people, S("zeta"));
}

TEST(the_list_begins_with_oneself_and_people)
{
    struct people people = {};

    fill(&people);
    check_order(&people, S("zeta* alice bot files odd "));
    people_move(&people, 2);
    check_order(&people, S("zeta alice bot* files odd "));
    people_move(&people, 99);
    check_order(&people, S("zeta alice bot files odd* "));
    people_move(&people, -99);
    check_order(&people, S("zeta* alice bot files odd "));
    CHECK(people_choose(&people, S("files")));
    CHECK(!people_choose(&people, S("nobody")));
    fill(&people); /* the choice stays */
    check_order(&people, S("zeta alice bot files* odd "));
    people_done(&people);
}

TEST(very_many_are_counted)
{
    struct people people = {};

    for (int i = 0; i < PEOPLE_MAX + 5; i++) {
        char id[16];
        int len = snprintf(id, sizeof(id), "p%d", i);

        people_add(&people, (struct str){ id, (size_t)len }, S("agent"), S("[]"));
    }
    people_sort(&people, S(""));
    CHECK_INT(people.count, PEOPLE_MAX);
    CHECK_INT(people.total, PEOPLE_MAX + 5);
    people_done(&people);
}
