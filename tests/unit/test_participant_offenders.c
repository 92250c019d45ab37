/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness.h"
#include "participant/offenders.h"

static uint64_t count(struct offenders *offenders, int sender)
{
    char from[16];
    int len = snprintf(from, sizeof(from), "p-%d", sender);

    return offenders_count(offenders, (struct str){ from, (size_t)len }, S("flood"));
}

TEST(each_sender_is_counted)
{
    struct offenders offenders;

    offenders_init(&offenders, 8);
    CHECK_INT(count(&offenders, 1), 1);
    CHECK_INT(count(&offenders, 1), 2);
    CHECK_INT(count(&offenders, 2), 1);
    CHECK_INT(count(&offenders, 1), 3);
    offenders_done(&offenders);
}

TEST(a_flood_of_senders_pushes_nobody_out)
{
    struct offenders offenders;

    offenders_init(&offenders, 4);
    for (int i = 0; i < 4; i++)
        (void)count(&offenders, i);
    for (int i = 4; i < 10'004; i++)
        CHECK_INT(count(&offenders, i), i - 3);
    CHECK_INT(offenders.named.count, 4);
    CHECK_INT(count(&offenders, 3), 2);
    offenders_done(&offenders);
}

TEST(who_could_not_be_read_is_nobody)
{
    struct offenders offenders;

    offenders_init(&offenders, 4);
    CHECK_INT(offenders_count(&offenders, S(""), S("malformed_envelope")), 1);
    CHECK_INT(offenders_count(&offenders, S(""), S("malformed_envelope")), 2);
    CHECK_INT(offenders.named.count, 0);
    CHECK_INT(offenders_due_ms(&offenders), UINT64_MAX);
    CHECK(!offenders_take_report(&offenders, 1));
    offenders_done(&offenders);
}

TEST(a_sender_is_reported_once_a_minute)
{
    struct offenders offenders;
    const struct offender *offender;

    offenders_init(&offenders, 4);
    (void)count(&offenders, 1);
    (void)count(&offenders, 1);
    CHECK_INT(offenders_due_ms(&offenders), 0);
    offender = offenders_take_report(&offenders, 1000);
    CHECK(offender);
    CHECK_STR(offender->from, S("p-1"));
    CHECK_STR(offender->what, S("flood"));
    CHECK_INT(offender->count, 2);
    CHECK(!offenders_take_report(&offenders, 1'000'000)); /* nothing new */
    CHECK_INT(offenders_due_ms(&offenders), UINT64_MAX);
    (void)count(&offenders, 1);
    CHECK_INT(offenders_due_ms(&offenders), 61'000);
    CHECK(!offenders_take_report(&offenders, 60'999));
    offender = offenders_take_report(&offenders, 61'000);
    CHECK(offender);
    CHECK_INT(offender->count, 3);
    offenders_done(&offenders);
}

TEST(who_is_due_first_is_reported_first)
{
    struct offenders offenders;
    const struct offender *offender;

    offenders_init(&offenders, 4);
    (void)count(&offenders, 1);
    (void)offenders_take_report(&offenders, 5000);
    (void)count(&offenders, 1); /* due at 65000 */
    (void)count(&offenders, 2); /* at once */
    offender = offenders_take_report(&offenders, 70'000);
    CHECK_STR(offender->from, S("p-2"));
    offender = offenders_take_report(&offenders, 70'000);
    CHECK_STR(offender->from, S("p-1"));
    CHECK(!offenders_take_report(&offenders, 70'000));
    offenders_done(&offenders);
}
