/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "audit/removal.h"
#include "audit/verify.h"
#include "fake_record.h"
#include "guard.h"
#include "harness.h"

enum { MANY = 100 };

static struct fake_record make(size_t count)
{
    struct fake_record fake;

    fake_record_init(&fake);
    fake_record_fill(&fake, count);
    return fake;
}

/* Damaged at `seq`, and everything before it is good. */
static void check_bad(const struct audit_report *report, uint64_t seq)
{
    CHECK(report->is_damaged);
    CHECK_INT(report->bad_seq, seq);
    CHECK_INT(report->records, seq - 1);
    CHECK_INT(report->head.seq, seq - 1);
    CHECK(report->what[0]);
}

TEST(a_chain_that_was_left_alone_holds)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_report report = fake_record_verify(&fake, &fake.head);

    CHECK(!report.is_damaged);
    CHECK_STR(str_of(report.what), S(""));
    CHECK_INT(report.records, MANY + 5);
    CHECK_INT(report.checkpoints, MANY / 10);
    CHECK_INT(report.covered, MANY);
    CHECK_INT(report.uncovered, 5);
    CHECK_INT(report.removed, 0);
    CHECK(report.bytes > 0);
    CHECK(memcmp(report.head.hash, fake.head.hash, SHA256_BYTES) == 0);
    fake_record_done(&fake);
}

TEST(an_empty_chain_holds)
{
    struct fake_record fake = make(0);
    struct audit_report report = fake_record_verify(&fake, &fake.head);

    CHECK(!report.is_damaged);
    CHECK_INT(report.records, 0);
    fake.head.hash[0] ^= 1;
    report = fake_record_verify(&fake, &fake.head);
    check_bad(&report, 1);
    fake_record_done(&fake);
}

/* --- single records --- */

TEST(whatever_is_changed_in_a_record_is_found)
{
    struct fake_record fake = make(MANY);

    for (uint64_t seq = 1; seq <= MANY; seq++) {
        struct audit_record *record = &fake_record_at(&fake, seq)->record;
        struct audit_record good = *record;
        struct audit_report report;

#define TRY(change)                           \
    change;                                   \
    report = fake_record_verify(&fake, NULL); \
    check_bad(&report, seq);                  \
    *record = good

        TRY(record->seq += 1000);
        TRY(record->at_ms++);
        TRY(record->at_ms = 0);
        TRY(record->at_ms = UINT64_MAX);
        TRY(record->event = (record->event + 1) % AUDIT_EVENT_COUNT);
        TRY(record->event = AUDIT_EVENT_COUNT);
        TRY(record->topic = S("other"));
        TRY(record->participant = S("eve"));
        TRY(record->kind = S(""));
        TRY(record->id = S("id"));
        TRY(record->correlation = S("x"));
        TRY(record->verdict = S("rate_limited"));
        TRY(record->by = S("x"));
        TRY(record->body = S("{}"));
        TRY(record->body_bytes++);
        TRY(record->body_bytes += (size_t)1 << 32);
        TRY(record->body_hash[31] ^= 1);
        TRY(record->hash[0] ^= 0x80);
#undef TRY
    }
    fake_record_done(&fake);
}

/* --- the order --- */

TEST(records_that_were_swapped_are_found)
{
    struct fake_record fake = make(MANY);

    for (uint64_t seq = 1; seq < MANY; seq++) {
        struct fake_entry *a = fake_record_at(&fake, seq);
        struct fake_entry *b = fake_record_at(&fake, MANY);
        struct fake_entry keep = *a;
        struct audit_report report;

        *a = *b;
        *b = keep;
        report = fake_record_verify(&fake, NULL);
        check_bad(&report, seq);
        *b = *a;
        *a = keep;
    }
    fake_record_done(&fake);
}

TEST(a_record_that_was_deleted_is_found)
{
    for (uint64_t seq = 1; seq <= MANY; seq++) {
        struct fake_record fake = make(MANY);
        struct audit_report report;

        fake_record_remove(&fake, (size_t)(fake_record_at(&fake, seq) - fake.entries));
        report = fake_record_verify(&fake, NULL);
        check_bad(&report, seq);
        fake_record_done(&fake);
    }
}

/* Numbered anew as well, so that only the hashes can tell. */
TEST(a_record_that_was_deleted_and_the_gap_closed_is_found)
{
    struct fake_record fake = make(MANY);
    struct audit_report report;

    fake_record_remove(&fake, (size_t)(fake_record_at(&fake, 42) - fake.entries));
    for (size_t i = 0; i < fake.count; i++)
        if (fake.entries[i].type == FAKE_RECORD && fake.entries[i].record.seq > 42)
            fake.entries[i].record.seq--;
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 42);
    fake_record_done(&fake);
}

TEST(a_record_that_was_inserted_or_doubled_is_found)
{
    for (size_t at = 0; at < 30; at++) {
        struct fake_record fake = make(MANY);
        struct fake_entry entry = fake.entries[0];
        struct audit_report report;
        uint64_t before = 0;

        for (size_t i = 0; i < at; i++)
            before += fake.entries[i].type == FAKE_RECORD;
        entry.record.seq = before + 1;
        entry.record.id = S("new");
        fake_record_insert(&fake, at, &entry);
        report = fake_record_verify(&fake, NULL);
        check_bad(&report, before + 1);
        fake_record_remove(&fake, at);
        if (at > 0) {
            fake_record_insert(&fake, at, &fake.entries[at - 1]);
            report = fake_record_verify(&fake, NULL);
            check_bad(&report, before + 1);
        }
        fake_record_done(&fake);
    }
}

/* --- who computes the hashes anew --- */

/* From this record on, as somebody could who has no key. */
static void chain_anew(struct fake_record *fake, uint64_t from)
{
    struct audit_head head;

    audit_chain_begin(fake->origin.installation, &head);
    for (size_t i = 0; i < fake->count; i++) {
        struct audit_record *record = &fake->entries[i].record;

        if (fake->entries[i].type != FAKE_RECORD)
            continue;
        if (record->seq >= from)
            audit_chain(&head, record);
        head = (struct audit_head){ .seq = record->seq, .at_ms = record->at_ms };
        memcpy(head.hash, record->hash, SHA256_BYTES);
    }
}

TEST(a_chain_that_was_computed_anew_is_not_what_was_signed)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_report report;

    fake_record_at(&fake, 42)->record.participant = S("eve");
    chain_anew(&fake, 42);
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 41); /* what was signed up to 40 holds */
    fake_record_done(&fake);
}

TEST(behind_the_last_checkpoint_the_expected_head_tells)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_head head = fake.head;
    struct audit_report report;

    fake_record_at(&fake, MANY + 3)->record.participant = S("eve");
    chain_anew(&fake, MANY + 3);
    report = fake_record_verify(&fake, NULL);
    CHECK(!report.is_damaged);
    CHECK_INT(report.uncovered, 5);
    report = fake_record_verify(&fake, &head);
    check_bad(&report, MANY + 1);
    fake_record_done(&fake);
}

TEST(what_was_cut_off_is_missed_by_the_expected_head)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_head head = fake.head;

    while (fake.count > 0) {
        uint64_t left = 0;
        struct audit_report report;

        fake.count--;
        for (size_t i = 0; i < fake.count; i++)
            left += fake.entries[i].type == FAKE_RECORD;
        report = fake_record_verify(&fake, &head);
        if (left == MANY + 5)
            CHECK(!report.is_damaged); /* only a checkpoint has gone */
        else
            check_bad(&report, left + 1);
    }
    fake_record_done(&fake);
}

TEST(an_older_head_is_passed_on_the_way)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_head head = { .seq = 55 };
    struct audit_report report;

    memcpy(head.hash, fake_record_at(&fake, 55)->record.hash, SHA256_BYTES);
    report = fake_record_verify(&fake, &head);
    CHECK(!report.is_damaged);
    head.hash[5] ^= 1;
    report = fake_record_verify(&fake, &head);
    check_bad(&report, 51);
    fake_record_done(&fake);
}

/* --- checkpoints --- */

static size_t checkpoint_of(const struct fake_record *fake, uint64_t seq)
{
    for (size_t i = 0; i < fake->count; i++)
        if (fake->entries[i].type == FAKE_CHECKPOINT &&
            fake->entries[i].checkpoint.head.seq == seq)
            return i;
    abort();
}

TEST(a_checkpoint_that_was_changed_is_found)
{
    struct fake_record fake = make(MANY);
    struct audit_checkpoint *checkpoint =
        &fake.entries[checkpoint_of(&fake, 30)].checkpoint;
    struct audit_checkpoint good = *checkpoint;

    for (size_t bit = 0; bit < 8 * ED25519_SIGNATURE; bit++) {
        struct audit_report report;

        checkpoint->signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
        report = fake_record_verify(&fake, NULL);
        check_bad(&report, 31);
        *checkpoint = good;
    }
    for (size_t i = 0; i < 3; i++) {
        struct audit_report report;

        checkpoint->head.seq += i == 0;
        checkpoint->head.at_ms += i == 1;
        checkpoint->head.hash[0] ^= i == 2;
        report = fake_record_verify(&fake, NULL);
        check_bad(&report, 31);
        *checkpoint = good;
    }
    fake_record_done(&fake);
}

TEST(a_checkpoint_of_another_key_or_installation_is_none)
{
    struct fake_record fake = make(MANY);
    struct audit_report report;

    fake.origin.public_key[0] ^= 1;
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 11);
    fake.origin.public_key[0] ^= 1;
    fake.origin.installation = S("ffffffffffffffffffffffffffffffff");
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 1);
    fake_record_done(&fake);
}

TEST(a_checkpoint_that_was_moved_or_doubled_is_found)
{
    struct fake_record fake = make(MANY);
    size_t at = checkpoint_of(&fake, 30);
    struct fake_entry entry = fake.entries[at];
    struct audit_report report;

    fake_record_insert(&fake, at, &entry);
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 31);
    fake_record_remove(&fake, at);
    fake_record_remove(&fake, at);
    fake_record_insert(&fake, at + 2, &entry);
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 33);
    fake_record_remove(&fake, at + 2);
    fake_record_insert(&fake, at - 2, &entry);
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 29);
    fake_record_done(&fake);
}

TEST(without_a_checkpoint_the_next_one_covers_as_much)
{
    struct fake_record fake = make(MANY);
    struct audit_report report;

    fake_record_remove(&fake, checkpoint_of(&fake, 30));
    report = fake_record_verify(&fake, NULL);
    CHECK(!report.is_damaged);
    CHECK_INT(report.covered, MANY);
    fake_record_remove(&fake, checkpoint_of(&fake, MANY));
    report = fake_record_verify(&fake, NULL);
    CHECK_INT(report.covered, MANY - 10);
    CHECK_INT(report.uncovered, 10);
    fake_record_done(&fake);
}

/* --- bodies --- */

static struct str removal_text(struct fake_record *fake,
                               const struct audit_removal *removal)
{
    struct buf text;
    struct str copy;

    buf_init(&text, 1000);
    audit_removal_write(removal, &text);
    copy = arena_str(&fake->arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static void add_removal(struct fake_record *fake, struct audit_removal removal)
{
    removal.reason = S("age");
    fake_record_add(fake, (struct audit_record){ .event = AUDIT_RETENTION,
                                                 .body = removal_text(fake, &removal) });
    fake_record_sign(fake);
}

/* Ten records of 7 bytes: those with an odd number in room a, the others in b. */
static struct fake_record make_rooms(void)
{
    struct fake_record fake;

    fake_record_init(&fake);
    for (size_t i = 1; i <= 10; i++)
        fake_record_add(&fake, (struct audit_record){ .topic = i % 2 ? S("a") : S("b"),
                                                      .body = S("{\"a\":1}") });
    return fake;
}

static void strip_one(struct fake_record *fake, uint64_t seq)
{
    fake_record_strip(fake, seq, seq);
}

TEST(a_body_that_was_removed_by_retention_is_not_missed)
{
    struct fake_record fake = make_rooms();
    struct audit_report report;

    strip_one(&fake, 1);
    strip_one(&fake, 3);
    add_removal(
        &fake,
        (struct audit_removal){
            .topic = S("a"), .count = 2, .bytes = 14, .first_seq = 1, .last_seq = 3 });
    report = fake_record_verify(&fake, &fake.head);
    CHECK(!report.is_damaged);
    CHECK_STR(str_of(report.what), S(""));
    CHECK_INT(report.removed, 2);
    CHECK_INT(report.records, 11);

    strip_one(&fake, 2); /* the next oldest of all, but of another room */
    report = fake_record_verify(&fake, NULL);
    CHECK(report.is_damaged);
    CHECK_INT(report.bad_seq, 2);
    CHECK_INT(report.records, 11); /* the chain holds */
    fake_record_done(&fake);
}

TEST(a_body_behind_what_was_removed_is_missed)
{
    struct fake_record fake = make_rooms();
    struct audit_report report;

    strip_one(&fake, 1);
    strip_one(&fake, 3);
    strip_one(&fake, 5);
    add_removal(
        &fake,
        (struct audit_removal){
            .topic = S("a"), .count = 2, .bytes = 14, .first_seq = 1, .last_seq = 3 });
    report = fake_record_verify(&fake, NULL);
    CHECK(report.is_damaged);
    CHECK_INT(report.bad_seq, 5);
    fake_record_done(&fake);
}

TEST(a_body_that_is_missing_before_an_older_one_is_found_at_once)
{
    struct fake_record fake = make_rooms();
    struct audit_report report;

    strip_one(&fake, 5);
    add_removal(
        &fake,
        (struct audit_removal){
            .topic = S("a"), .count = 1, .bytes = 7, .first_seq = 5, .last_seq = 5 });
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 5);
    fake_record_done(&fake);
}

TEST(one_removal_may_be_of_all_rooms_but_some)
{
    static const struct str rooms[] = { S("b"), S("c") };
    struct fake_record fake = make_rooms();
    struct audit_removal removal = {
        .except = { rooms, 2 }, .count = 2, .bytes = 14, .first_seq = 1, .last_seq = 4
    };
    struct audit_report report;

    strip_one(&fake, 1);
    strip_one(&fake, 3);
    add_removal(&fake, removal);
    report = fake_record_verify(&fake, NULL);
    CHECK(!report.is_damaged);
    strip_one(&fake, 2);
    report = fake_record_verify(&fake, NULL);
    CHECK_INT(report.bad_seq, 2);
    removal.except = (struct str_list){};
    removal.count = 1;
    removal.bytes = 7;
    add_removal(&fake, removal);
    report = fake_record_verify(&fake, NULL);
    CHECK(!report.is_damaged);
    fake_record_done(&fake);
}

TEST(as_many_are_missing_as_the_record_says)
{
    static const struct {
        uint64_t count, bytes;
    } cases[] = { { 1, 14 }, { 3, 14 }, { 2, 13 }, { 2, 15 } };

    FOR_EACH_CASE(c, cases) {
        struct fake_record fake = make_rooms();
        struct audit_report report;

        strip_one(&fake, 1);
        strip_one(&fake, 3);
        add_removal(&fake, (struct audit_removal){ .topic = S("a"),
                                                   .count = c->count,
                                                   .bytes = c->bytes,
                                                   .first_seq = 1,
                                                   .last_seq = 3 });
        report = fake_record_verify(&fake, NULL);
        CHECK(report.is_damaged);
        CHECK_INT(report.bad_seq, 1);
        fake_record_done(&fake);
    }
}

TEST(a_retention_record_keeps_its_body)
{
    struct fake_record fake = make_rooms();
    struct audit_report report;

    strip_one(&fake, 1);
    add_removal(&fake, (struct audit_removal){
                           .count = 1, .bytes = 7, .first_seq = 1, .last_seq = 1 });
    strip_one(&fake, 11);
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 11);
    fake_record_done(&fake);
}

TEST(a_retention_record_that_says_nothing_is_damaged)
{
    struct fake_record fake = make_rooms();
    struct audit_report report;

    fake_record_add(&fake, (struct audit_record){ .event = AUDIT_RETENTION,
                                                  .body = S("{\"count\":1}") });
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 11);
    fake_record_done(&fake);

    fake = make_rooms(); /* of the future */
    add_removal(&fake, (struct audit_removal){ .last_seq = 11 });
    report = fake_record_verify(&fake, NULL);
    check_bad(&report, 11);
    fake_record_done(&fake);
}

/* --- an export --- */

/* Valgrind is twenty times slower. */
static size_t flip_count(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "vgpreload") ? 10 : 1000;
}

TEST(an_export_holds)
{
    struct fake_record fake = make(MANY + 5);
    struct audit_report report;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    fake_record_export(&fake, &text);
    report = fake_export_verify(&fake, buf_str(&text), &fake.head);
    CHECK(!report.is_damaged);
    CHECK_STR(str_of(report.what), S(""));
    CHECK_INT(report.records, MANY + 5);
    buf_done(&text);
    fake_record_done(&fake);
}

TEST(each_byte_cut_off_the_last_record_of_an_export_is_found)
{
    struct fake_record fake = make(25);
    struct buf text;
    size_t last;

    buf_init(&text, SIZE_MAX / 2);
    fake_record_export(&fake, &text);
    last = text.len - 1;
    while (text.ptr[last - 1] != '\n')
        last--;
    for (size_t len = last; len < text.len; len++) {
        struct audit_report report =
            fake_export_verify(&fake, str_slice(buf_str(&text), 0, len), &fake.head);

        check_bad(&report, 25);
        /* What is left of a line is seen without a head. */
        report = fake_export_verify(&fake, str_slice(buf_str(&text), 0, len), NULL);
        CHECK_INT(report.is_damaged, len > last);
        CHECK_INT(report.records, 24);
    }
    buf_done(&text);
    fake_record_done(&fake);
}

/* The number of the record on the line, or of the one behind a checkpoint. */
static uint64_t record_at(struct str text, size_t at)
{
    uint64_t seq = 1;
    struct str line = str_cut(&text, '\n');

    while (at > line.len) {
        at -= line.len + 1;
        line = str_cut(&text, '\n');
        if (at > line.len)
            seq += str_starts(line, S("{\"seq\""));
    }
    return seq;
}

/* All lines of one record, and what a flipped bit makes of them. */
TEST(each_bit_flipped_in_an_export_is_found)
{
    size_t count = flip_count();
    struct fake_record fake = make(30);
    uint64_t state = 7;
    struct buf text;
    size_t first;

    buf_init(&text, SIZE_MAX / 2);
    fake_record_export(&fake, &text);
    first = str_find(buf_str(&text), '\n', 0) + 1;
    for (size_t i = 0; i < 8 * count; i++) {
        size_t at = first + random_below(&state, text.len - first);
        char bit = (char)(1 << random_below(&state, 8));
        struct audit_report report;

        text.ptr[at] ^= bit;
        report = fake_export_verify(&fake, buf_str(&text), NULL);
        text.ptr[at] ^= bit;
        CHECK(report.is_damaged);
        CHECK_INT(report.bad_seq, record_at(buf_str(&text), at));
        CHECK_INT(report.records, report.bad_seq - 1);
    }
    buf_done(&text);
    fake_record_done(&fake);
}

/* The line of this record alone, verified behind the one before. */
static void flip_each_bit(struct fake_record *fake, uint64_t seq)
{
    struct audit_head before = {};
    struct arena arena;
    struct buf text;

    if (seq > 1) {
        before.seq = seq - 1;
        before.at_ms = fake_record_at(fake, seq - 1)->record.at_ms;
        memcpy(before.hash, fake_record_at(fake, seq - 1)->record.hash, SHA256_BYTES);
    } else {
        audit_chain_begin(fake->origin.installation, &before);
    }
    arena_init(&arena, 1000000);
    buf_init(&text, SIZE_MAX / 2);
    audit_record_write(&fake_record_at(fake, seq)->record, &text);
    for (size_t bit = 0; bit < 8 * (text.len - 1); bit++) {
        struct audit_record sealed;
        struct audit_line line;
        const char *what;
        uint8_t hash[SHA256_BYTES];

        text.ptr[bit / 8] ^= (char)(1 << bit % 8);
        arena_reset(&arena);
        if (!audit_line_parse(str_slice(buf_str(&text), 0, text.len - 1), &arena, &line,
                              &what)) {
            audit_hash(&before, &line.record, hash);
            sealed = line.record;
            if (line.record.body.ptr)
                audit_seal_body(&sealed);
            CHECK(line.record.seq != seq ||
                  memcmp(hash, line.record.hash, SHA256_BYTES) != 0 ||
                  memcmp(sealed.body_hash, line.record.body_hash, SHA256_BYTES) != 0);
        }
        text.ptr[bit / 8] ^= (char)(1 << bit % 8);
    }
    buf_done(&text);
    arena_done(&arena);
}

TEST(each_bit_of_a_thousand_records_flipped_is_found)
{
    size_t count = flip_count();
    struct fake_record fake = make(count);

    for (uint64_t seq = 1; seq <= count; seq++)
        flip_each_bit(&fake, seq);
    fake_record_done(&fake);
}
