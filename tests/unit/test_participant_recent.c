/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "envelope/envelope.h"
#include "harness.h"
#include "participant/recent.h"

static bool note(struct recent *recent, int number)
{
    char id[16];
    int len = snprintf(id, sizeof(id), "m-%d", number);

    return recent_note(recent, S("ann"), (struct str){ id, (size_t)len });
}

TEST(a_connection_is_not_compared_with_itself)
{
    struct recent recent;

    recent_init(&recent, 8);
    CHECK(!note(&recent, 1));
    CHECK(!note(&recent, 1));
    recent_done(&recent);
}

TEST(the_next_connection_is_compared_with_what_was_heard)
{
    struct recent recent;

    recent_init(&recent, 100);
    for (int i = 0; i < 50; i++)
        CHECK(!note(&recent, i));
    recent_begin(&recent);
    for (int i = 0; i < 50; i++)
        CHECK(note(&recent, i));
    CHECK(!note(&recent, 50));
    CHECK(!note(&recent, 50)); /* new on this connection */
    recent_end(&recent);
    CHECK(!note(&recent, 1));
    recent_done(&recent);
}

TEST(only_the_last_ones_are_remembered)
{
    struct recent recent;

    recent_init(&recent, 8);
    for (int i = 0; i < 100; i++)
        (void)note(&recent, i);
    recent_begin(&recent);
    CHECK(!note(&recent, 91));
    for (int i = 92; i < 100; i++)
        CHECK(note(&recent, i));
    recent_done(&recent);
}

TEST(repeats_do_not_push_others_out)
{
    struct recent recent;

    recent_init(&recent, 4);
    for (int i = 0; i < 4; i++)
        (void)note(&recent, i);
    for (int round = 0; round < 3; round++) {
        recent_begin(&recent);
        for (int i = 0; i < 4; i++)
            CHECK(note(&recent, i));
    }
    recent_done(&recent);
}

TEST(sender_and_id_are_told_apart)
{
    struct recent recent;

    recent_init(&recent, 8);
    (void)recent_note(&recent, S("ann"), S("b1"));
    recent_begin(&recent);
    CHECK(!recent_note(&recent, S("annb"), S("1")));
    CHECK(!recent_note(&recent, S("bob"), S("b1")));
    CHECK(!recent_note(&recent, S("ann"), S("b2")));
    CHECK(recent_note(&recent, S("ann"), S("b1")));
    recent_done(&recent);
}

TEST(the_longest_texts_fit)
{
    char bytes[ENVELOPE_MAX_ID];
    struct str longest = { bytes, sizeof(bytes) };
    struct recent recent;

    memset(bytes, 'x', sizeof(bytes));
    recent_init(&recent, 8);
    CHECK(!recent_note(&recent, longest, longest));
    recent_begin(&recent);
    CHECK(recent_note(&recent, longest, longest));
    recent_done(&recent);
}

TEST(nothing_may_be_remembered)
{
    struct recent recent;

    recent_init(&recent, 0);
    CHECK(!note(&recent, 1));
    recent_begin(&recent);
    CHECK(!note(&recent, 1));
    recent_done(&recent);
}
