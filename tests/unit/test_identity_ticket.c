/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "identity/identity.h"
#include "identity/ticket.h"

static struct identity *make(struct str id)
{
    return identity_new(&(struct identity){ .id = id });
}

static enum err issue(struct ticket_table *table, struct identity *identity,
                      uint64_t now_ms, struct buf *ret)
{
    buf_clear(ret);
    return ticket_issue(table, identity, 30'000, now_ms, ret);
}

TEST(d2_a_ticket_is_good_once)
{
    struct identity *alice = make(S("alice"));
    struct ticket_table table;
    struct identity *got;
    struct buf first, second;

    buf_init(&first, 64);
    buf_init(&second, 64);
    ticket_table_init(&table, 8, 8);
    CHECK_INT(issue(&table, alice, 0, &first), OK);
    CHECK_INT(issue(&table, alice, 0, &second), OK);
    CHECK_INT(first.len, 43);
    CHECK(!str_eq(buf_str(&first), buf_str(&second)));
    identity_unref(alice);
    CHECK(ticket_redeem(&table, S(""), 0) == NULL);
    CHECK(ticket_redeem(&table, S("unknown"), 0) == NULL);
    got = ticket_redeem(&table, buf_str(&first), 1);
    CHECK(got == alice);
    CHECK_STR(got->id, S("alice"));
    CHECK(ticket_redeem(&table, buf_str(&first), 1) == NULL);
    identity_unref(got);
    got = ticket_redeem(&table, buf_str(&second), 1);
    CHECK(got == alice);
    identity_unref(got);
    CHECK_INT(table.by_hash.count, 0);
    ticket_table_done(&table);
    buf_done(&first);
    buf_done(&second);
}

TEST(d2_a_ticket_is_good_for_thirty_seconds_and_an_expired_one_is_gone)
{
    struct identity *alice = make(S("alice"));
    struct ticket_table table;
    struct identity *got;
    struct buf text;

    buf_init(&text, 64);
    ticket_table_init(&table, 8, 8);
    CHECK_INT(issue(&table, alice, 1000, &text), OK);
    CHECK(ticket_redeem(&table, buf_str(&text), 31'000) == NULL);
    CHECK(ticket_redeem(&table, buf_str(&text), 1000) == NULL);
    CHECK_INT(issue(&table, alice, 1000, &text), OK);
    got = ticket_redeem(&table, buf_str(&text), 30'999);
    CHECK(got == alice);
    identity_unref(got);
    identity_unref(alice);
    ticket_table_done(&table);
    buf_done(&text);
}

TEST(tickets_are_bounded_in_all_and_per_participant)
{
    struct identity *alice = make(S("alice"));
    struct identity *bob = make(S("bob"));
    struct identity *carol = make(S("carol"));
    struct ticket_table table;
    struct buf text;

    buf_init(&text, 64);
    ticket_table_init(&table, 3, 2);
    CHECK_INT(issue(&table, alice, 0, &text), OK);
    CHECK_INT(issue(&table, alice, 10, &text), OK);
    CHECK_INT(issue(&table, alice, 20, &text), ERR_OVERLOAD);
    CHECK_INT(text.len, 0);
    CHECK_INT(issue(&table, bob, 20, &text), OK);
    CHECK_INT(issue(&table, carol, 30, &text), ERR_OVERLOAD);
    CHECK_INT(issue(&table, carol, 30'000, &text), OK); /* the first has expired */
    CHECK_INT(table.by_hash.count, 3);
    ticket_table_done(&table);
    identity_unref(alice);
    identity_unref(bob);
    identity_unref(carol);
    buf_done(&text);
}

TEST(no_ticket_is_issued_that_cannot_be_handed_out)
{
    struct identity *alice = make(S("alice"));
    struct ticket_table table;
    struct buf text;

    buf_init(&text, 42);
    ticket_table_init(&table, 3, 3);
    CHECK_INT(issue(&table, alice, 0, &text), ERR_TOO_BIG);
    CHECK_INT(table.by_hash.count, 0);
    ticket_table_done(&table);
    identity_unref(alice);
    buf_done(&text);
}

TEST(a_revoked_participant_keeps_no_ticket)
{
    struct identity *alice = make(S("alice"));
    struct identity *bob = make(S("bob"));
    struct ticket_table table;
    struct identity *got;
    struct buf hers, his;

    buf_init(&hers, 64);
    buf_init(&his, 64);
    ticket_table_init(&table, 8, 8);
    CHECK_INT(issue(&table, alice, 0, &hers), OK);
    CHECK_INT(issue(&table, bob, 0, &his), OK);
    ticket_revoke(&table, S("alice"));
    CHECK(ticket_redeem(&table, buf_str(&hers), 1) == NULL);
    got = ticket_redeem(&table, buf_str(&his), 1);
    CHECK(got == bob);
    identity_unref(got);
    identity_unref(alice);
    identity_unref(bob);
    ticket_table_done(&table);
    buf_done(&hers);
    buf_done(&his);
}
