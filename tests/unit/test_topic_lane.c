/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fake_topic.h"
#include "harness.h"
#include "topic/lane.h"

enum { FIRST = 1024 - sizeof(struct block), FULL = 64 * 1024 - sizeof(struct block) };

static void put(struct lane *lane, size_t size, char c)
{
    memset(lane_reserve(lane, size), c, size);
    lane_commit(lane, size);
}

/* What a new block is given when the lane has seen that much. */
static uint64_t sixteenth_of(uint64_t seen)
{
    if (seen / 16 < FIRST)
        return FIRST;
    return seen / 16 > FULL ? FULL : seen / 16;
}

TEST(blocks_grow_with_an_sixteenth_of_what_the_lane_has_seen)
{
    struct lane lane;
    const struct block *tail;

    lane_init(&lane, &fake_plain);
    tail = lane.tail;
    CHECK_INT(tail->size, FIRST);
    while (lane.end < 2'000'000) {
        uint64_t seen = lane.end;

        put(&lane, 100, 'a');
        if (lane.tail == tail)
            continue;
        tail = lane.tail;
        CHECK_INT(tail->base, seen);
        CHECK_INT(tail->size, sixteenth_of(seen));
    }
    CHECK_INT(tail->size, FULL);
    lane_done(&lane);
}

TEST(a_large_frame_gets_a_block_of_its_own)
{
    struct lane lane;

    lane_init(&lane, &fake_plain);
    put(&lane, 10, 'a');
    put(&lane, 200'000, 'b');
    CHECK_INT(lane.tail->size, 200'000);
    CHECK_INT(lane.tail->base, 10);
    put(&lane, 1, 'c');
    CHECK_INT(lane.tail->size, sixteenth_of(200'010));
    CHECK_INT(lane.tail->base, 200'010);
    CHECK_INT(lane.end, 200'011);
    lane_done(&lane);
}

TEST(a_frame_never_spans_two_blocks)
{
    struct lane lane;

    lane_init(&lane, &fake_plain);
    put(&lane, FIRST - 1, 'a');
    put(&lane, 2, 'b');
    CHECK_INT(lane.tail->base, FIRST - 1);
    CHECK_STR(((struct str){ lane.tail->bytes, lane.tail->used }), S("bb"));
    lane_done(&lane);
}

TEST(what_is_committed_is_sent_only_when_it_is_shown)
{
    struct lane lane;

    lane_init(&lane, &fake_plain);
    put(&lane, 7, 'a');
    CHECK_INT(lane.end, 7);
    CHECK_INT(lane.visible, 0);
    lane_show(&lane);
    CHECK_INT(lane.visible, 7);
    lane_done(&lane);
}

TEST(a_reservation_that_is_not_committed_changes_nothing_in_the_lane)
{
    static const size_t sizes[] = {
        0, 1, 100, FIRST, FIRST + 1, FULL, 300'000, 1, 300'001
    };
    struct lane lane;
    char *place;

    lane_init(&lane, &fake_plain);
    put(&lane, 10, 'a');
    place = lane_reserve(&lane, 5);
    FOR_EACH_CASE(size, sizes) {
        memset(lane_reserve(&lane, *size), 'x', *size);
        CHECK_INT(lane.end, 10);
        CHECK(lane_reserve(&lane, 5) == place); /* the tail keeps its room */
    }
    put(&lane, 5, 'b');
    CHECK_INT(lane.tail->base, 0);
    CHECK_INT(lane.end, 15);
    CHECK_STR(((struct str){ lane.tail->bytes, 15 }), S("aaaaaaaaaabbbbb"));
    lane_done(&lane);
}

TEST(a_reservation_stays_where_it_is_until_it_is_committed)
{
    static const size_t sizes[] = { 1, FIRST, FIRST + 1, FULL, FULL + 1, 1 << 20 };
    struct lane lane;

    lane_init(&lane, &fake_plain);
    FOR_EACH_CASE(size, sizes) {
        char *place = lane_reserve(&lane, *size);
        uint64_t end = lane.end;

        memset(place, 'z', *size);
        CHECK(lane_reserve(&lane, *size) == place);
        lane_commit(&lane, *size);
        CHECK_INT(lane.end, end + *size);
        CHECK(lane.tail->bytes + lane.tail->used == place + *size);
        CHECK_INT(lane.tail->base + lane.tail->used, lane.end);
    }
    lane_done(&lane);
}

/* A reader that stands at the end holds the tail, and with it all that is added to the
 * lane: refused texts of growing size must not be added. */
TEST(refused_texts_of_growing_size_pile_up_nowhere)
{
    struct lane lane;
    struct block *held;
    size_t blocks = 0;

    lane_init(&lane, &fake_plain);
    held = block_ref(lane.tail);
    for (size_t size = 1; size < 200'000; size += 997)
        (void)lane_reserve(&lane, size);
    for (const struct block *block = held; block; block = block->next)
        blocks++;
    CHECK_INT(blocks, 1);
    block_unref(held);
    lane_done(&lane);
}

TEST(a_block_lives_exactly_as_long_as_someone_holds_it_or_one_before_it)
{
    struct lane lane;
    struct block *first, *second, *third;

    lane_init(&lane, &fake_plain);
    first = block_ref(lane.tail);
    put(&lane, 5000, 'b');
    second = block_ref(lane.tail);
    put(&lane, 70'000, 'c');
    third = block_ref(lane.tail);
    CHECK_INT(first->refs, 1);  /* ours */
    CHECK_INT(second->refs, 2); /* ours and the first one's */
    CHECK_INT(third->refs, 3);  /* ours, the second one's, the lane's */
    CHECK(first->next == second);
    CHECK(second->next == third);

    block_unref(second);
    CHECK_INT(second->refs, 1);
    CHECK_INT(second->bytes[0], 'b');
    block_unref(first); /* takes the second one along */
    CHECK_INT(third->refs, 2);
    lane_done(&lane);
    CHECK_INT(third->refs, 1);
    CHECK_INT(third->bytes[69'999], 'c');
    block_unref(third);
    block_unref(NULL);
}

TEST(a_long_chain_is_freed_without_recursion)
{
    struct lane lane;
    struct block *first;

    lane_init(&lane, &fake_plain);
    first = block_ref(lane.tail);
    for (size_t i = 0; i < 20'000; i++) {
        struct block *tail = lane.tail;

        put(&lane, tail->size - tail->used, 'x');
        put(&lane, lane.tail->size - lane.tail->used + 1, 'y');
        if (lane.end > 64 << 20)
            break;
    }
    block_unref(first);
    CHECK_INT(lane.tail->refs, 1);
    lane_done(&lane);
}

/* --- rounds --- */

enum { READERS = 7 };

struct reader {
    struct link link;
    bool is_seated;
    bool is_told; /* of all that was shown */
};

static struct reader *next_of(struct lane *lane)
{
    struct link *link = lane_next_untold(lane);

    return link ? CONTAINER_OF(link, struct reader, link) : NULL;
}

TEST(a_round_goes_on_where_it_stopped)
{
    struct reader a = {}, b = {}, c = {}, late = {};
    struct lane lane;

    lane_init(&lane, &fake_plain);
    lane_seat(&lane, &a.link);
    lane_seat(&lane, &b.link);
    lane_seat(&lane, &c.link);
    CHECK(next_of(&lane) == NULL);
    lane_show(&lane);
    CHECK(next_of(&lane) == &a);
    lane_show(&lane); /* b and c have waited longest */
    lane_seat(&lane, &late.link);
    CHECK(next_of(&lane) == &b);
    CHECK(next_of(&lane) == &c);
    CHECK(next_of(&lane) == &a);
    CHECK(next_of(&lane) == NULL); /* the late one came after what was shown */
    lane_show(&lane);
    CHECK(next_of(&lane) == &late);
    lane_unseat(&lane, &b.link);
    CHECK(next_of(&lane) == &c);
    lane_unseat(&lane, &c.link);
    lane_unseat(&lane, &a.link);
    lane_unseat(&lane, &late.link);
    CHECK(next_of(&lane) == NULL);
    lane_done(&lane);
}

TEST(who_is_put_first_is_told_first_and_nobody_is_left_out)
{
    struct reader a = {}, b = {}, c = {}, d = {};
    struct lane lane;

    lane_init(&lane, &fake_plain);
    lane_seat(&lane, &a.link);
    lane_seat(&lane, &b.link);
    lane_seat(&lane, &c.link);
    lane_seat(&lane, &d.link);
    lane_show(&lane);
    lane_put_first(&lane, &c.link);
    CHECK(next_of(&lane) == &c);
    CHECK(next_of(&lane) == &a);
    lane_show(&lane);
    lane_put_first(&lane, &c.link); /* b has not been told for longest, but for c */
    lane_put_first(&lane, &c.link);
    CHECK(next_of(&lane) == &c);
    CHECK(next_of(&lane) == &b);
    CHECK(next_of(&lane) == &d);
    CHECK(next_of(&lane) == &a);
    CHECK(next_of(&lane) == NULL);
    lane_done(&lane);
}

static void toggle(struct lane *lane, struct reader *reader)
{
    if (reader->is_seated)
        lane_unseat(lane, &reader->link);
    else
        lane_seat(lane, &reader->link);
    reader->is_seated = !reader->is_seated;
    reader->is_told = true; /* who comes sees what is there */
}

static void show(struct lane *lane, struct reader *readers, struct reader *first)
{
    lane_show(lane);
    if (first->is_seated)
        lane_put_first(lane, &first->link);
    for (size_t i = 0; i < READERS; i++)
        readers[i].is_told = !readers[i].is_seated;
}

TEST(whoever_comes_and_goes_everyone_is_told_before_a_round_ends)
{
    struct reader readers[READERS] = {};
    struct lane lane;
    uint32_t random = 1;

    lane_init(&lane, &fake_plain);
    for (size_t step = 0; step < 20'000; step++) {
        struct reader *next;

        random = random * 1664525 + 1013904223;
        switch (random >> 16 & 7) {
        case 0:
        case 1: toggle(&lane, &readers[(random >> 24) % READERS]); continue;
        case 2: show(&lane, readers, &readers[(random >> 24) % READERS]); continue;
        default: break;
        }
        next = next_of(&lane);
        if (next) {
            CHECK(next->is_seated);
            next->is_told = true;
            continue;
        }
        for (size_t i = 0; i < READERS; i++)
            CHECK(readers[i].is_told || !readers[i].is_seated);
    }
    lane_done(&lane);
}
