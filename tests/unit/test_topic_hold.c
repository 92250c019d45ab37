/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fake_topic.h"
#include "harness.h"

static const struct join echoing = { .routing = ROUTE_ALL, .wants_echo = true };
static const struct join silent = { .routing = ROUTE_ALL };
static const struct join directed = { .routing = ROUTE_DIRECTED, .wants_echo = true };

struct room {
    struct fake_topic fake;
    struct fake_member ann, bob;
};

/* Two members that know of each other, with everything read. */
static void room_init(struct room *room, struct join of_ann, struct join of_bob)
{
    fake_topic_init(&room->fake, NULL);
    fake_join(&room->fake, &room->ann, S("ann"), of_ann);
    fake_join(&room->fake, &room->bob, S("bob"), of_bob);
    topic_flush_presence(&room->fake.topic);
    (void)fake_texts(&room->ann);
    (void)fake_texts(&room->bob);
}

static void room_done(struct room *room)
{
    fake_leave(&room->ann);
    fake_leave(&room->bob);
    fake_topic_done(&room->fake);
}

static void say(struct room *room, struct str text, uint64_t ticket)
{
    room->fake.ticket = ticket;
    fake_say(&room->fake, &room->ann.member, text, NULL);
    room->fake.ticket = 0;
}

TEST(what_has_a_ticket_is_held_and_so_is_what_follows_until_it_is_released)
{
    struct topic *topic;
    struct room room;
    uint64_t seq;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    seq = topic->ring.next_seq;
    say(&room, S("one"), 0);
    say(&room, S("two"), 1);
    say(&room, S("three"), 0);
    say(&room, S("four"), 2);
    CHECK_STR(fake_texts(&room.bob), S("one\n"));
    CHECK_STR(fake_texts(&room.ann), S("one\n"));
    CHECK_INT(topic->ring.next_seq, seq + 1);
    CHECK_INT(room.fake.held_count, 1);
    CHECK(topic_is_holding(topic));
    CHECK(topic_held_bytes(topic) > strlen("twothreefour"));
    CHECK(!topic_release(topic, 1));
    CHECK_STR(fake_texts(&room.bob), S("two\nthree\n"));
    CHECK_STR(fake_texts(&room.ann), S("two\nthree\n"));
    CHECK(topic_release(topic, 2));
    CHECK_STR(fake_texts(&room.bob), S("four\n"));
    CHECK_INT(topic_held_bytes(topic), 0);
    CHECK_INT(topic->ring.next_seq, seq + 4);
    say(&room, S("five"), 0);
    CHECK_STR(fake_texts(&room.bob), S("five\n"));
    CHECK(topic_release(topic, 2));
    room_done(&room);
}

TEST(held_entries_are_known_by_their_id_and_not_found_in_the_ring)
{
    struct topic *topic;
    struct room room;
    uint64_t ticket = 0;
    uint64_t hash;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    hash = ring_hash(&topic->ring, S("two"));
    CHECK(!topic_find_held(topic, hash, &ticket).ptr);
    say(&room, S("two"), 7);
    CHECK_INT(ring_find(&topic->ring, hash), 0);
    CHECK_STR(topic_find_held(topic, hash, &ticket), S("two"));
    CHECK_INT(ticket, 7);
    (void)topic_release(topic, 7);
    CHECK(ring_find(&topic->ring, hash));
    CHECK(!topic_find_held(topic, hash, &ticket).ptr);
    room_done(&room);
}

TEST(whoever_wants_no_echo_gets_none_even_later)
{
    struct room room;

    room_init(&room, silent, echoing);
    say(&room, S("one"), 1);
    say(&room, S("two"), 1);
    (void)topic_release(&room.fake.topic, 1);
    CHECK_STR(fake_texts(&room.ann), S(""));
    CHECK_STR(fake_texts(&room.bob), S("one\ntwo\n"));
    room_done(&room);
}

TEST(a_sender_may_have_gone_when_its_words_are_heard)
{
    struct fake_member eve;
    struct room room;

    room_init(&room, silent, echoing);
    fake_join(&room.fake, &eve, S("eve"), silent);
    topic_flush_presence(&room.fake.topic);
    (void)fake_texts(&room.bob);
    room.fake.ticket = 1;
    fake_say(&room.fake, &eve.member, S("bye"), NULL);
    room.fake.ticket = 0;
    fake_leave(&eve);
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    (void)topic_release(&room.fake.topic, 1);
    CHECK_STR(fake_texts(&room.bob), S("bye\n"));
    room_done(&room);
}

TEST(addressees_are_kept)
{
    struct str to[] = { S("bob"), S("") };
    struct fake_member eve;
    struct room room;

    room_init(&room, echoing, directed);
    fake_join(&room.fake, &eve, S("eve"), directed);
    topic_flush_presence(&room.fake.topic);
    (void)fake_texts(&room.bob);
    (void)fake_texts(&eve);
    room.fake.ticket = 1;
    fake_say(&room.fake, &room.ann.member, S("psst"), to);
    to[0] = S("eve");
    room.fake.ticket = 0;
    CHECK_STR(fake_texts(&room.bob), S(""));
    (void)topic_release(&room.fake.topic, 1);
    CHECK_STR(fake_texts(&room.bob), S("psst\n"));
    CHECK_STR(fake_texts(&eve), S(""));
    fake_leave(&eve);
    room_done(&room);
}

static size_t lines_with(struct str texts, const char *word)
{
    size_t count = 0;

    while (texts.len) {
        struct str line = str_cut(&texts, '\n');

        count += memmem(line.ptr, line.len, word, strlen(word)) != NULL;
    }
    return count;
}

TEST(presence_that_waits_is_seen_by_nobody)
{
    struct fake_member eve;
    struct topic *topic;
    struct room room;
    const struct participant *p;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    fake_join(&room.fake, &eve, S("eve"), echoing);
    room.fake.ticket = 3;
    CHECK_INT(topic_flush_presence(topic), 1);
    p = participant_find(topic, S("eve"));
    CHECK_INT(p->announced, ANNOUNCED_ABSENT);
    CHECK_INT(topic->present_count, 2);
    CHECK_STR(fake_texts(&room.bob), S(""));
    CHECK(!topic_has_pending_presence(topic));
    (void)topic_release(topic, 3);
    CHECK_INT(p->announced, ANNOUNCED_PRESENT);
    CHECK_INT(topic->present_count, 3);
    CHECK_INT(lines_with(fake_texts(&room.bob), "\"join\""), 1);
    fake_leave(&eve);
    CHECK_INT(topic_flush_presence(topic), 1);
    CHECK_INT(topic->present_count, 3);
    (void)topic_release(topic, 4);
    CHECK_INT(topic->present_count, 2);
    CHECK_INT(lines_with(fake_texts(&room.bob), "\"leave\""), 1);
    room.fake.ticket = 0;
    room_done(&room);
}

TEST(a_join_and_a_leave_that_were_both_told_in_order_are_both_heard)
{
    struct fake_member eve;
    struct topic *topic;
    struct room room;
    struct str heard;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    room.fake.ticket = 1;
    fake_join(&room.fake, &eve, S("eve"), echoing);
    CHECK_INT(topic_flush_presence(topic), 1);
    fake_leave(&eve);
    CHECK_INT(topic_flush_presence(topic), 1);
    room.fake.ticket = 0;
    room.fake.now_ms = 1;
    topic_forget_absent(topic, UINT64_MAX); /* entries that wait need it */
    CHECK(participant_find(topic, S("eve")));
    (void)topic_release(topic, 1);
    heard = fake_texts(&room.bob);
    CHECK_INT(lines_with(heard, "\"join\""), 1);
    CHECK_INT(lines_with(heard, "\"leave\""), 1);
    CHECK_INT(topic->present_count, 2);
    room_done(&room);
}

TEST(presence_that_follows_chat_that_waits_keeps_its_place_in_batches_too)
{
    struct fake_member eve, batched;
    struct join wants_batches = echoing;
    struct topic *topic;
    struct room room;
    struct str heard;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    wants_batches.presence = PRESENCE_BATCH;
    fake_join(&room.fake, &batched, S("batched"), wants_batches);
    topic_flush_presence(topic);
    (void)fake_texts(&batched);
    say(&room, S("first"), 1);
    fake_join(&room.fake, &eve, S("eve"), echoing);
    topic_flush_presence(topic);
    say(&room, S("last"), 0);
    CHECK_STR(fake_texts(&batched), S(""));
    (void)topic_release(topic, 1);
    heard = fake_texts(&batched);
    CHECK(str_starts(heard, S("first\n{")));
    CHECK(str_ends(heard, S("}\nlast\n")));
    CHECK_INT(lines_with(heard, "\"batch\""), 1);
    fake_leave(&eve);
    fake_leave(&batched);
    room_done(&room);
}

TEST(a_turn_comes_between_what_was_said_before_and_after_it)
{
    struct topic *topic;
    struct room room;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    CHECK(!topic_hold_turn(topic, S("bob"), 0));
    say(&room, S("before"), 1);
    CHECK(topic_hold_turn(topic, S("bob"), 0));
    say(&room, S("after"), 0);
    CHECK(topic_hold_turn(topic, S("nobody"), 0));
    CHECK_STR(fake_texts(&room.bob), S(""));
    (void)topic_release(topic, 1);
    CHECK_STR(fake_texts(&room.bob), S("before\nturn\nafter\n"));
    CHECK(topic_hold_turn(topic, S("bob"), 2));
    CHECK_STR(fake_texts(&room.bob), S(""));
    CHECK(topic_release(topic, 2));
    CHECK_STR(fake_texts(&room.bob), S("turn\n"));
    room_done(&room);
}

static void tell(struct fake_member *fake, struct str text, enum private_turn turn)
{
    topic_tell(&fake->member, &(struct private_note){ text, PRIVATE_TEXT, turn });
}

TEST(what_is_private_comes_behind_what_is_held_to_one_connection_only)
{
    struct fake_member second;
    struct topic *topic;
    struct room room;

    room_init(&room, echoing, echoing);
    topic = &room.fake.topic;
    tell(&room.ann, S("nothing is held"), BEHIND_ALL);
    CHECK_STR(fake_texts(&room.ann), S("nothing is held\n"));
    fake_join(&room.fake, &second, S("ann"), echoing);
    say(&room, S("before"), 1);
    tell(&room.ann, S("a pong"), BEHIND_PRIVATE);
    CHECK_STR(fake_texts(&room.ann), S("a pong\n"));
    tell(&room.ann, S("an error"), BEHIND_ALL);
    tell(&second, S("for one that goes"), BEHIND_ALL);
    tell(&room.ann, S("a pong"), BEHIND_PRIVATE);
    say(&room, S("after"), 2);
    fake_leave(&second);
    CHECK(!topic_release(topic, 1));
    CHECK_STR(fake_texts(&room.ann), S("before\nan error\na pong\n"));
    CHECK_STR(fake_texts(&room.bob), S("before\n"));
    CHECK(topic_release(topic, 2));
    CHECK_STR(fake_texts(&room.ann), S("after\n"));
    room_done(&room);
}

TEST(what_goes_out_at_once_takes_along_what_is_private)
{
    struct room room;

    room_init(&room, echoing, echoing);
    say(&room, S("before"), 1);
    tell(&room.ann, S("one"), BEHIND_ALL);
    tell(&room.bob, S("another"), BEHIND_ALL);
    say(&room, S("after"), 0);
    CHECK_STR(fake_texts(&room.ann), S(""));
    tell(&room.ann, S("two"), AT_ONCE);
    CHECK_STR(fake_texts(&room.ann), S("one\ntwo\n"));
    CHECK_STR(fake_texts(&room.bob), S("another\n"));
    CHECK(topic_release(&room.fake.topic, 1));
    CHECK_STR(fake_texts(&room.ann), S("before\nafter\n"));
    room_done(&room);
}

TEST(what_is_private_takes_no_more_than_its_part)
{
    enum { PART = 5 << 20, COUNT_OF_THESE = 100 };
    static char text[64 << 10];
    struct room room;

    room_init(&room, echoing, echoing);
    memset(text, 'x', sizeof(text));
    say(&room, S("before"), 1);
    for (size_t i = 0; i < COUNT_OF_THESE; i++) {
        tell(&room.ann, (struct str){ text, sizeof(text) }, BEHIND_ALL);
        CHECK(topic_held_bytes(&room.fake.topic) < PART);
    }
    CHECK(topic_release(&room.fake.topic, 1));
    CHECK_INT(topic_held_bytes(&room.fake.topic), 0);
    CHECK_STR(fake_texts(&room.bob), S("before\n"));
    room_done(&room);
}

TEST(a_room_that_ends_takes_with_it_what_waits)
{
    struct fake_member eve;
    struct room room;

    room_init(&room, echoing, echoing);
    say(&room, S("never"), 9);
    room.fake.ticket = 9;
    fake_join(&room.fake, &eve, S("eve"), echoing);
    topic_flush_presence(&room.fake.topic);
    fake_leave(&eve);
    room_done(&room); /* the sanitizers look */
}
