/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/batch.h"
#include "guard.h"
#include "harness.h"

TEST(what_was_added_comes_out_again)
{
    struct audit_record in = { .seq = 7,
                               .at_ms = UINT64_MAX,
                               .event = AUDIT_RETENTION,
                               .topic = S("room"),
                               .participant = S("ann"),
                               .kind = S("chat"),
                               .id = S("1"),
                               .correlation = S("0"),
                               .verdict = S("allowed"),
                               .by = S("chat"),
                               .body = S("{}"),
                               .body_bytes = 2,
                               .body_hash = { 1, [31] = 2 },
                               .hash = { 3, [31] = 4 } };
    struct audit_record out;
    struct audit_batch batch;
    size_t at = 0;

    audit_batch_init(&batch);
    CHECK(!audit_batch_next(&batch, &at, &out));
    audit_batch_add(&batch, &in);
    CHECK_INT(batch.count, 1);
    CHECK(audit_batch_next(&batch, &at, &out));
    CHECK_INT(out.seq, 7);
    CHECK(out.at_ms == UINT64_MAX);
    CHECK_INT(out.event, AUDIT_RETENTION);
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
        CHECK_STR(audit_text_of(&out, i), audit_text_of(&in, i));
    CHECK_STR(out.body, S("{}"));
    CHECK_INT(out.body_bytes, 2);
    CHECK(memcmp(out.body_hash, in.body_hash, SHA256_BYTES) == 0);
    CHECK(memcmp(out.hash, in.hash, SHA256_BYTES) == 0);
    CHECK(!audit_batch_next(&batch, &at, &out));
    audit_batch_done(&batch);
}

TEST(no_body_and_a_removed_body_stay_so)
{
    struct audit_record out;
    struct audit_batch batch;
    size_t at = 0;

    audit_batch_init(&batch);
    audit_batch_add(&batch, &(struct audit_record){});
    audit_batch_add(&batch, &(struct audit_record){ .body_bytes = 5 });
    CHECK_INT(batch.count, 2);
    CHECK(audit_batch_next(&batch, &at, &out));
    CHECK(!out.body.ptr && !out.body_bytes);
    CHECK(audit_batch_next(&batch, &at, &out));
    CHECK(audit_body_is_removed(&out));
    audit_batch_clear(&batch);
    CHECK_INT(batch.count, 0);
    at = 0;
    CHECK(!audit_batch_next(&batch, &at, &out));
    audit_batch_done(&batch);
}

enum { MANY = 500, MAX_LENGTH = 300 };

static const char letters[MAX_LENGTH] = "abcdefghijklmnopqrstuvwxyz";

static struct str some(uint64_t *state)
{
    return (struct str){ letters, random_below(state, MAX_LENGTH) };
}

/* The same every time it is asked with the same number. */
static struct audit_record random_record(uint64_t number)
{
    struct audit_record record = { .seq = number };
    uint64_t state = number;

    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
        *audit_text(&record, i) = some(&state);
    record.body = some(&state);
    return record;
}

TEST(many_records_of_any_length_come_in_their_order)
{
    struct audit_batch batch;
    struct audit_record out;
    uint64_t number = 0;
    size_t at = 0;

    audit_batch_init(&batch);
    for (uint64_t i = 1; i <= MANY; i++) {
        struct audit_record record = random_record(i);

        audit_batch_add(&batch, &record);
    }
    while (audit_batch_next(&batch, &at, &out)) {
        struct audit_record want = random_record(++number);

        CHECK_INT(out.seq, number);
        for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
            CHECK_STR(audit_text_of(&out, i), audit_text_of(&want, i));
        CHECK_STR(out.body, want.body);
    }
    CHECK_INT(number, MANY);
    CHECK_INT(batch.count, MANY);
    audit_batch_done(&batch);
}
