/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>

#include "harness.h"
#include "tui/tools.h"

static void check_shelf(const struct shelf *shelf, struct str want)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    shelf_put(&out, shelf);
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(a_shelf_shows_what_can_be_called)
{
    /* clang-format off */
    static const struct { struct str result, want; } cases[] = {
        { S("{\"tools\":[]}"), S("none\n") },
        { S("{}"),             S("none\n") },
        { S("{\"tools\":7}"),  S("none\n") },
        { S("nonsense"),       S("none: the answer cannot be read\n") },
        { S("{\"tools\":[{\"name\":\"add\",\"description\":\"adds\\nmore\"},{\"name\":\"sub\"}]}"),
          S("add: adds\nsub\n") },
        { S("{\"tools\":[{\"name\":\"a b\"},{\"name\":\"x\\u001b\"},{\"name\":\"*\"},{\"name\":\"\"},{\"name\":5},6,"
            "{\"name\":\"ok\",\"description\":\"\\u001b[2J\"}]}"), S("ok: \\u001b[2J\n") },
    };
    /* clang-format on */

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    FOR_EACH_CASE(c, cases) {
        struct tools tools = {};
        struct shelf *shelf = tools_ask(&tools, S("calc"));
        struct buf cursor;

        buf_init(&cursor, 4096);
        check_shelf(shelf, S("asked, no answer yet\n"));
        CHECK(!shelf_add(shelf, c->result, &cursor));
        check_shelf(shelf, c->want);
        buf_done(&cursor);
        tools_done(&tools);
    }
}

TEST(pages_are_asked_for_up_to_a_bound)
{
    struct tools tools = {};
    struct shelf *shelf = tools_ask(&tools, S("calc"));
    struct buf cursor;
    size_t pages = 1;

    buf_init(&cursor, 64);
    while (shelf_add(shelf, S("{\"tools\":[{\"name\":\"x\"}],\"nextCursor\":\"more\"}"),
                     &cursor)) {
        CHECK_STR(buf_str(&cursor), S("more"));
        CHECK_INT(shelf->state, SHELF_ASKED);
        buf_clear(&cursor);
        pages++;
    }
    CHECK_INT(pages, TOOLS_PAGES);
    CHECK_INT(shelf->state, SHELF_KNOWN);
    buf_done(&cursor);
    tools_done(&tools);
}

TEST(asking_again_forgets_what_was_known)
{
    struct tools tools = {};
    struct shelf *shelf = tools_ask(&tools, S("calc"));

    CHECK(!shelf_add(shelf, S("{\"tools\":[{\"name\":\"x\"}]}"), NULL));
    CHECK(tools_ask(&tools, S("calc")) == shelf);
    CHECK_INT(shelf->count, 0);
    shelf_fail(shelf, S("it took too long"));
    check_shelf(shelf, S("none: it took too long\n"));
    tools_forget(&tools, S("calc"));
    tools_forget(&tools, S("calc"));
    CHECK(tools_find(&tools, S("calc")) == NULL);
    tools_done(&tools);
}

TEST(of_many_participants_the_first_is_forgotten)
{
    struct tools tools = {};

    for (int i = 0; i <= TOOLS_SHELVES; i++) {
        char name[16];
        int len = snprintf(name, sizeof(name), "p%d", i);

        (void)tools_ask(&tools, (struct str){ name, (size_t)len });
    }
    CHECK_INT(tools.count, TOOLS_SHELVES);
    CHECK(tools_find(&tools, S("p0")) == NULL);
    CHECK(tools_find(&tools, S("p1")) != NULL);
    tools_done(&tools);
}
