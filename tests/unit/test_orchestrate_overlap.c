/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "orchestrate/overlap.h"

static const struct shape *shape(const char *text, struct arena *arena)
{
    static const struct shape none = { .kind = SHAPE_OBJECT };
    struct rule_problem problem = {};
    const struct shape *shape = &none;
    const struct json *members;

    CHECK_INT(json_parse(str_of(text), arena, &members, NULL), OK);
    CHECK_INT(shape_read(members, str_of(text), arena, &shape, &problem), OK);
    CHECK_STR(str_of(problem.what), S(""));
    return shape;
}

#define UNDER(folder)                                                           \
    "{\"p\":{\"under\":\"" folder "\",\"characters\":\"a-z\",\"max_bytes\":40," \
    "\"depth\":2}}"
#define PREFIX(text) \
    "{\"p\":{\"prefix\":\"" text "\",\"characters\":\"a-z\",\"max_bytes\":40}}"

TEST(shapes_overlap_where_something_may_be_in_both)
{
    static const struct {
        const char *a, *b;
        bool overlap;
    } cases[] = {
        { "{}", "{}", true },
        { "{}", "{\"n\":{\"exactly\":1}}", false },
        { "{}", "{\"n\":{\"exactly\":1,\"optional\":true}}", true },
        { "{\"n\":{\"exactly\":1}}", "{\"n\":{\"exactly\":1}}", true },
        { "{\"n\":{\"exactly\":1}}", "{\"n\":{\"exactly\":2}}", false },
        { "{\"n\":{\"exactly\":1}}", "{\"n\":{\"one_of\":[1,2]}}", true },
        { "{\"n\":{\"exactly\":7}}", "{\"n\":{\"between\":[1,40]}}", true },
        { "{\"n\":{\"exactly\":70}}", "{\"n\":{\"between\":[1,40]}}", false },
        { "{\"n\":{\"between\":[1,40]}}", "{\"n\":{\"between\":[40,50]}}", true },
        { "{\"n\":{\"between\":[1,40]}}", "{\"n\":{\"between\":[41,50]}}", false },
        { "{\"n\":{\"between\":[1,40]}}", "{\"n\":{\"boolean\":true}}", false },
        { "{\"n\":{\"boolean\":true}}", "{\"n\":{\"boolean\":true}}", true },
        { "{\"n\":{\"boolean\":true}}", "{\"n\":{\"exactly\":\"x\"}}", false },
        { "{\"n\":{\"between\":[1,40]},\"e\":{\"exactly\":\"prod\"}}",
          "{\"n\":{\"between\":[1,40]},\"e\":{\"exactly\":\"test\"}}", false },
        { UNDER("/srv/app"), UNDER("/srv/app/lib"), true },
        { UNDER("/srv/app"), UNDER("/srv/apple"), false },
        { UNDER("/srv/app"), UNDER("/srv/docs"), false },
        { UNDER("/srv/app"), PREFIX("build-"), false },
        { UNDER("/srv/app"), "{\"p\":{\"exactly\":\"/srv/app/a\"}}", true },
        { UNDER("/srv/app"), "{\"p\":{\"exactly\":\"/srv/app\"}}", false },
        { PREFIX("build-"), PREFIX("build-a-"), true },
        { PREFIX("build-"), PREFIX("test-"), false },
        { PREFIX("build-"), "{\"p\":{\"text\":true,\"max_bytes\":9}}", true },
        { "{\"o\":{\"members\":{\"n\":{\"exactly\":1}}}}",
          "{\"o\":{\"members\":{\"n\":{\"exactly\":2}}}}", false },
        { "{\"n\":{\"exactly\":1,\"optional\":true}}",
          "{\"n\":{\"exactly\":2,\"optional\":true}}", true },
        { "{\"n\":{\"exactly\":1,\"optional\":true}}", "{\"n\":{\"exactly\":2}}", false },
        { "{\"n\":{\"items\":{\"exactly\":1},\"min_items\":1,\"max_items\":2}}",
          "{\"n\":{\"items\":{\"exactly\":2},\"min_items\":1,\"max_items\":2}}", true },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;

        arena_init(&arena, 1 << 20);
        CHECK_INT(shapes_may_overlap(shape(c->a, &arena), shape(c->b, &arena)),
                  c->overlap);
        CHECK_INT(shapes_may_overlap(shape(c->b, &arena), shape(c->a, &arena)),
                  c->overlap);
        arena_done(&arena);
    }
}
