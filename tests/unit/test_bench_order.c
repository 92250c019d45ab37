/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "bench/order.h"
#include "harness.h"

/* Two publishers a and b; "a0 b0 a1" as a text, one word a message. */
struct stage {
    struct order order;
    struct view first; /* there from the start */
    struct view late;
    struct track_faults faults; /* of the late one */
};

static void stage_init(struct stage *s)
{
    static const uint32_t nothing[2] = {};

    *s = (struct stage){};
    order_init(&s->order, 2);
    view_init(&s->first, &s->order);
    view_init(&s->late, &s->order);
    view_begin(&s->first, &s->order, nothing);
}

static void stage_done(struct stage *s)
{
    view_done(&s->first);
    view_done(&s->late);
    order_done(&s->order);
}

static void see(struct stage *s, struct view *view, const char *text,
                struct track_faults *faults)
{
    struct str rest = str_of(text);

    while (rest.ptr && rest.len) {
        struct str word = str_cut(&rest, ' ');
        struct sighting sighting = { (uint32_t)(word.ptr[0] - 'a'),
                                     (uint32_t)(word.ptr[1] - '0') };

        CHECK_INT(view_see(view, &s->order, sighting, faults), OK);
    }
}

static void see_first(struct stage *s, const char *text)
{
    struct track_faults none = {};

    see(s, &s->first, text, &none);
    CHECK_INT(none.missing + none.duplicates + none.disorder, 0);
}

TEST(a_view_is_judged_by_what_the_others_saw)
{
    /* The first sees `before`; the late one comes when a and b have sent so many, and
     * sees `late`; then the first sees `after`. */
    static const struct {
        const char *before;
        uint32_t due[2];
        const char *late, *after;
        uint64_t missing, duplicates, disorder;
    } cases[] = {
        { "a0 b0 a1", { 1, 1 }, "a1", "a2", 0, 0, 0 },
        { "a0 b0 a1", { 1, 1 }, "a1 b1 a2", "b1 a2", 0, 0, 0 },
        { "a0 b0 a1", { 2, 1 }, "b0 a1", "", 0, 0, 0 }, /* what it need not have seen */
        { "a0 b0 a1", { 1, 0 }, "a1", "", 1, 0, 0 },    /* b0 was sent after the join */
        { "a0 b0 a1", { 0, 0 }, "a1", "", 2, 0, 0 },
        { "a0 b0 a1", { 1, 1 }, "a1 a1", "", 0, 1, 0 },
        { "a0 b0 a1", { 0, 0 }, "a0 a1", "", 1, 0, 0 },
        { "a0 b0 a1", { 0, 0 }, "a0 a1 b0", "", 0, 0, 1 },
        { "a0 b0 a1", { 0, 0 }, "b0 a0 a1", "", 1, 1, 0 }, /* it begins with b0 */
        /* It is ahead of all others: judged as soon as its place is known. */
        { "a0", { 1, 0 }, "b0 a1", "b0 a1", 0, 0, 0 },
        { "a0", { 1, 0 }, "a1 b0", "b0 a1", 1, 1, 0 },
        { "a0", { 1, 0 }, "a1", "b0 a1", 1, 0, 0 },
        { "a0", { 2, 0 }, "b0 b0", "b0", 0, 1, 0 },
        { "", { 0, 0 }, "a0 b0", "a0 b0", 0, 0, 0 },
        { "", { 0, 0 }, "a0 b1", "a0 b0 b1", 1, 0, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage s;

        stage_init(&s);
        see_first(&s, c->before);
        view_begin(&s.late, &s.order, c->due);
        see(&s, &s.late, c->late, &s.faults);
        see_first(&s, c->after);
        CHECK_INT(view_settle(&s.late, &s.order, &s.faults), OK);
        CHECK(s.late.is_placed);
        CHECK_INT(s.faults.missing, c->missing);
        CHECK_INT(s.faults.duplicates, c->duplicates);
        CHECK_INT(s.faults.disorder, c->disorder);
        stage_done(&s);
    }
}

TEST(what_is_lacking_at_the_end_is_counted)
{
    static const uint32_t due[2] = { 1, 1 };
    static const uint32_t sent[2] = { 3, 2 };
    struct stage s;

    stage_init(&s);
    see_first(&s, "a0 b0");
    view_begin(&s.late, &s.order, due);
    CHECK_INT(view_lacks(&s.first, &s.order, sent), 3);
    CHECK_INT(view_lacks(&s.late, &s.order, sent), 3); /* a1 a2 b1 */
    see_first(&s, "a1 b1");
    see(&s, &s.late, "a1", &s.faults);
    CHECK_INT(view_lacks(&s.first, &s.order, sent), 1);
    CHECK_INT(view_lacks(&s.late, &s.order, sent), 2);
    see(&s, &s.late, "b1 a2", &s.faults);
    CHECK_INT(view_lacks(&s.first, &s.order, sent), 1);
    CHECK_INT(view_lacks(&s.late, &s.order, sent), 0);
    CHECK_INT(s.faults.missing + s.faults.duplicates + s.faults.disorder, 0);
    stage_done(&s);
}

TEST(a_member_that_comes_again_begins_anew)
{
    static const uint32_t due[2] = { 3, 1 };
    struct stage s;

    stage_init(&s);
    see_first(&s, "a0 b0 a1 a2");
    view_begin(&s.late, &s.order, (uint32_t[2]){ 0, 0 });
    see(&s, &s.late, "a0 b0", &s.faults);
    view_begin(&s.late, &s.order, due);
    see_first(&s, "b1 a3");
    see(&s, &s.late, "b1 a3", &s.faults);
    CHECK_INT(s.faults.missing + s.faults.duplicates + s.faults.disorder, 0);
    stage_done(&s);
}

TEST(the_order_is_bounded_and_says_what_it_has_forgotten)
{
    struct order order;
    uint32_t position = 77;

    order_init(&order, 1);
    CHECK_INT(order_place(&order, 1, 0, &position), ERR_INVALID);
    CHECK_INT(order_place(&order, 0, ORDER_RING, &position), ERR_INVALID);
    CHECK_INT(position, 77);
    CHECK_INT(order_place(&order, 0, ORDER_RING - 1, &position), OK);
    CHECK_INT(position, ORDER_RING - 1);
    CHECK_INT(order_place(&order, 0, 0, &position), OK);
    CHECK_INT(position, 0);
    CHECK_INT(order_place(&order, 0, ORDER_RING, &position), OK);
    CHECK_INT(order_place(&order, 0, 0, &position), ERR_NOT_FOUND);
    CHECK_INT(order_place(&order, 0, 1, &position), OK);
    CHECK_INT(position, 1);
    order_done(&order);
}

TEST(a_view_puts_only_so_much_aside)
{
    struct stage s;

    stage_init(&s);
    see_first(&s, "a0");
    view_begin(&s.late, &s.order, (uint32_t[2]){ 1, 0 });
    for (uint32_t i = 0; i < ORDER_RING; i++)
        CHECK_INT(view_see(&s.late, &s.order, (struct sighting){ 1, i + 5 }, &s.faults),
                  OK);
    CHECK_INT(view_see(&s.late, &s.order, (struct sighting){ 1, 1 }, &s.faults),
              ERR_TOO_BIG);
    CHECK_INT(view_see(&s.late, &s.order, (struct sighting){ 2, 0 }, &s.faults),
              ERR_INVALID);
    stage_done(&s);
}
