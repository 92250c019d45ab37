/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "fake_topic.h"
#include "harness.h"
#include "topic/ring.h"

/* Adds the text to the lane, and to the ring under that id. */
static void push(struct ring *ring, struct lane *lane, struct str id, struct str text)
{
    memcpy(lane_reserve(lane, text.len), text.ptr, text.len);
    lane_commit(lane, text.len);
    ring_push(ring, ring_hash(ring, id),
              (struct entry){ .block = lane->tail,
                              .at = lane->tail->used - (uint32_t)text.len,
                              .len = (uint32_t)text.len });
}

static uint64_t find(const struct ring *ring, struct str id)
{
    return ring_find(ring, ring_hash(ring, id));
}

static struct str text_at(const struct ring *ring, uint64_t seq)
{
    const struct entry *entry = ring_at(ring, seq);

    return entry ? entry_text(entry) : S("(none)");
}

TEST(an_empty_ring_knows_nothing)
{
    struct ring ring;

    ring_init(&ring, 10, 10);
    CHECK_INT(find(&ring, S("a")), 0);
    CHECK_INT(find(&ring, S("")), 0);
    CHECK(ring_at(&ring, 0) == NULL);
    CHECK(ring_at(&ring, 1) == NULL);
    ring_done(&ring);
}

TEST(entries_are_found_by_id_and_by_sequence_number_from_1_on)
{
    struct ring ring;
    struct lane lane;

    ring_init(&ring, 10, 100);
    lane_init(&lane, &fake_plain);
    push(&ring, &lane, S("a"), S("first"));
    push(&ring, &lane, S(""), S("second"));
    push(&ring, &lane, S("c\0d"), S("third"));
    CHECK_INT(find(&ring, S("a")), 1);
    CHECK_INT(find(&ring, S("")), 2);
    CHECK_INT(find(&ring, S("c\0d")), 3);
    CHECK_INT(find(&ring, S("c")), 0);
    CHECK_STR(text_at(&ring, 1), S("first"));
    CHECK_STR(text_at(&ring, 3), S("third"));
    CHECK(ring_at(&ring, 0) == NULL);
    CHECK(ring_at(&ring, 4) == NULL);
    CHECK_INT(ring.bytes, 16);
    ring_done(&ring);
    lane_done(&lane);
}

TEST(the_oldest_entries_leave_when_there_are_too_many_or_too_large_ones)
{
    /* clang-format off */
    static const struct { size_t entries, bytes; struct str texts[5]; uint64_t first; size_t held; } cases[] = {
        { 3,    1000, { S("a"), S("b"), S("c") },                1, 3 },
        { 3,    1000, { S("a"), S("b"), S("c"), S("d") },        2, 3 },
        { 1,    1000, { S("a"), S("b") },                        2, 1 },
        { 9,    4,    { S("aa"), S("bb") },                      1, 4 },
        { 9,    4,    { S("aa"), S("bb"), S("c") },              2, 3 },
        { 9,    4,    { S("a"), S("b"), S("c"), S("dddd") },     4, 4 },
        { 9,    4,    { S("a"), S("bbbbb") },                    3, 0 },
        { 9,    4,    { S("a"), S("bbbbb"), S("c") },            3, 1 },
        { 0,    1000, { S("a"), S("b") },                        3, 0 },
        { 9,    0,    { S("a") },                                2, 0 },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct ring ring;
        struct lane lane;

        ring_init(&ring, c->entries, c->bytes);
        lane_init(&lane, &fake_plain);
        for (size_t i = 0; i < 5 && c->texts[i].len; i++)
            push(&ring, &lane, c->texts[i], c->texts[i]);
        CHECK_INT(ring.first_seq, c->first);
        CHECK_INT(ring.bytes, c->held);
        for (size_t i = 0; i < 5 && c->texts[i].len; i++)
            CHECK_INT(find(&ring, c->texts[i]), i + 1 < c->first ? 0 : i + 1);
        ring_done(&ring);
        lane_done(&lane);
    }
}

/* D16: replay starts at the earliest match. */
TEST(of_two_entries_with_one_id_the_earlier_one_is_found)
{
    static const struct str ids[] = { S("x"), S("a"), S("x"), S("b"), S("x") };
    struct ring ring;
    struct lane lane;

    ring_init(&ring, 3, 1000);
    lane_init(&lane, &fake_plain);
    for (size_t round = 0; round < 100; round++)
        for (size_t i = 0; i < COUNT(ids); i++) {
            uint64_t seq = round * COUNT(ids) + i + 1;

            push(&ring, &lane, ids[i], ids[i]);
            if (seq < 3)
                continue;
            CHECK_INT(find(&ring, ids[(i + 3) % 5]), seq - 2); /* the oldest held */
        }
    ring_done(&ring);
    lane_done(&lane);
}

TEST(the_ring_holds_the_oldest_block_it_needs_and_no_other)
{
    struct ring ring;
    struct lane lane;
    struct block *first;

    ring_init(&ring, 2, 1000);
    lane_init(&lane, &fake_plain);
    first = block_ref(lane.tail);
    push(&ring, &lane, S("a"), S("a"));
    push(&ring, &lane, S("b"), S("b"));
    CHECK_INT(first->refs, 3); /* ours, the lane's, one of the ring for both */
    (void)lane_reserve(&lane, 2000);
    lane_commit(&lane, 2000);
    CHECK_INT(first->refs, 2);
    push(&ring, &lane, S("c"), S("c"));
    CHECK_INT(first->refs, 2);
    CHECK_STR(text_at(&ring, 2), S("b"));
    push(&ring, &lane, S("d"), S("d"));
    CHECK_INT(first->refs, 1);
    CHECK_INT(lane.tail->refs, 3); /* the first one's, the lane's, the ring's */
    block_unref(first);
    ring_done(&ring);
    CHECK_INT(lane.tail->refs, 1);
    lane_done(&lane);
}

/* --- against a model: a plain array of everything that was ever pushed --- */

enum { PUSHES = 600, ID_BYTES = 12, TEXT_BYTES = 48 };

struct pushed {
    char id[ID_BYTES];
    char text[TEXT_BYTES];
    size_t id_len, len;
};

static struct pushed pushed[PUSHES];

static size_t model_first(size_t count, size_t max_entries, size_t max_bytes)
{
    size_t first = count;
    size_t bytes = 0;

    while (first > 0 && count - first < max_entries &&
           bytes + pushed[first - 1].len <= max_bytes)
        bytes += pushed[--first].len;
    return first;
}

static size_t model_find(size_t first, size_t count, struct str id)
{
    for (size_t i = first; i < count; i++)
        if (str_eq((struct str){ pushed[i].id, pushed[i].id_len }, id))
            return i + 1;
    return 0;
}

static void check_ring(const struct ring *ring, size_t first, size_t count)
{
    size_t bytes = 0;

    CHECK_INT(ring->first_seq, first + 1);
    CHECK_INT(ring->next_seq, count + 1);
    for (size_t i = first; i < count; i++) {
        struct str id = { pushed[i].id, pushed[i].id_len };

        bytes += pushed[i].len;
        CHECK_STR(text_at(ring, i + 1), ((struct str){ pushed[i].text, pushed[i].len }));
        CHECK_INT(find(ring, id), model_find(first, count, id));
    }
    CHECK_INT(ring->bytes, bytes);
    CHECK(ring_at(ring, first) == NULL);
    CHECK(ring_at(ring, count + 1) == NULL);
}

static void run_model(struct dice dice)
{
    size_t max_entries = dice_throw(&dice, 40);
    size_t max_bytes = dice_throw(&dice, 2000);
    size_t names = 1 + dice_throw(&dice, 100);
    struct ring ring;
    struct lane lane;

    ring_init(&ring, max_entries, max_bytes);
    lane_init(&lane, &fake_plain);
    for (size_t count = 0; count < PUSHES; count++) {
        struct pushed *p = &pushed[count];

        p->id_len = (size_t)snprintf(p->id, ID_BYTES, "%zu", dice_throw(&dice, names));
        p->len = dice_throw(&dice, TEXT_BYTES);
        memset(p->text, 'a' + (int)dice_throw(&dice, 26), p->len);
        push(&ring, &lane, (struct str){ p->id, p->id_len },
             (struct str){ p->text, p->len });
        check_ring(&ring, model_first(count + 1, max_entries, max_bytes), count + 1);
    }
    ring_done(&ring);
    lane_done(&lane);
}

TEST(any_sequence_of_entries_leaves_what_a_plain_array_says)
{
    for (test_case = 1; test_case <= 30; test_case++) /* the case is the seed */
        run_model(dice_of(test_case));
}

TEST(a_ring_of_thousands_grows_and_wraps_around)
{
    struct ring ring;
    struct lane lane;
    char text[16];

    ring_init(&ring, 3000, SIZE_MAX);
    lane_init(&lane, &fake_plain);
    for (uint64_t seq = 1; seq <= 20'000; seq++) {
        struct str id = { text,
                          (size_t)snprintf(text, sizeof(text), "id-%u", (unsigned)seq) };

        push(&ring, &lane, id, id);
    }
    CHECK_INT(ring.first_seq, 17'001);
    for (uint64_t seq = 16'000; seq <= 20'001; seq++) {
        struct str id = { text,
                          (size_t)snprintf(text, sizeof(text), "id-%u", (unsigned)seq) };
        bool is_held = seq >= 17'001 && seq <= 20'000;

        CHECK_INT(find(&ring, id), is_held ? seq : 0);
        CHECK_STR(text_at(&ring, seq), is_held ? id : S("(none)"));
    }
    ring_done(&ring);
    lane_done(&lane);
}

TEST(presence_holds_no_block_and_does_not_end_the_hold_of_others)
{
    const struct entry presence = { .len = 10, .is_presence = true };
    struct ring ring;
    struct lane lane;

    ring_init(&ring, 2, 1000);
    lane_init(&lane, &fake_plain);
    ring_push(&ring, ring_hash(&ring, S("1")), presence);
    CHECK_INT(lane.tail->refs, 1);
    push(&ring, &lane, S("2"), S("text"));
    CHECK_INT(lane.tail->refs, 2);
    ring_push(&ring, ring_hash(&ring, S("3")), presence); /* drops 1 */
    CHECK_INT(lane.tail->refs, 2);
    CHECK_STR(text_at(&ring, 2), S("text"));
    CHECK_INT(ring.bytes, 14);
    ring_push(&ring, ring_hash(&ring, S("4")), presence); /* drops 2 */
    CHECK_INT(lane.tail->refs, 1);
    push(&ring, &lane, S("5"), S("more"));
    push(&ring, &lane, S("6"), S("most"));
    push(&ring, &lane, S("7"), S("last")); /* drops 5: 6 stands in the same block */
    CHECK_INT(lane.tail->refs, 2);
    CHECK_STR(text_at(&ring, 6), S("most"));
    CHECK_INT(find(&ring, S("3")), 0);
    ring_done(&ring);
    CHECK_INT(lane.tail->refs, 1);
    lane_done(&lane);
}
