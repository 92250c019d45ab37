/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies are removed oldest first, so within a topic none is missing behind one that is
 * there. Which removal a missing one belongs to is known only at the end: until then the
 * numbers of missing ones are kept, a byte or two each.
 */
#include "audit/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/removal.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"

/* What is missing of a topic. */
struct loss {
    char *topic;
    size_t topic_len;
    bool has_body;   /* one that is there */
    struct buf seqs; /* of those missing: how much each is above the one before */
    uint64_t last_seq;
};

/* Up to where removals of one sort account for what is missing. */
struct account {
    struct audit_removal removal; /* in the arena */
    uint64_t last_seq;
};

struct audit_verifier {
    char *installation;
    uint8_t public_key[ED25519_PUBLIC];
    bool has_expected;
    struct audit_head expected;
    struct audit_report report;
    struct audit_head covered; /* of the last checkpoint that holds */
    struct map losses;
    struct account *accounts;
    size_t account_count;
    uint64_t removed_count, removed_bytes; /* says the record */
    uint64_t missing_bytes;
    struct arena scratch;
    struct arena arena;
};

struct audit_verifier *audit_verifier_new(struct str installation,
                                          const uint8_t public_key[static ED25519_PUBLIC],
                                          const struct audit_head *expected)
{
    struct audit_verifier *v = xcalloc(1, sizeof(*v));

    v->installation = str_dup(installation);
    memcpy(v->public_key, public_key, ED25519_PUBLIC);
    v->has_expected = expected != NULL;
    if (expected)
        v->expected = *expected;
    audit_chain_begin(installation, &v->report.head);
    v->covered = v->report.head;
    map_init(&v->losses);
    arena_init(&v->scratch, SIZE_MAX);
    arena_init(&v->arena, SIZE_MAX); /* a part of what is in the record */
    return v;
}

void audit_verifier_free(struct audit_verifier *verifier)
{
    struct loss *loss;

    if (!verifier)
        return;
    MAP_FOREACH(loss, &verifier->losses) {
        buf_done(&loss->seqs);
        free(loss->topic);
        free(loss);
    }
    map_done(&verifier->losses);
    free(verifier->accounts);
    free(verifier->installation);
    arena_done(&verifier->scratch);
    arena_done(&verifier->arena);
    free(verifier);
}

/* --- what is found --- */

__attribute__((format(printf, 3, 4))) static bool
fail(struct audit_verifier *v, uint64_t seq, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(v->report.what, sizeof(v->report.what), format, args);
    va_end(args);
    v->report.is_damaged = true;
    v->report.bad_seq = seq;
    return false;
}

/* The chain is one, but not the one that was signed: what holds is what was signed
 * before. */
static bool fail_since_covered(struct audit_verifier *v, const char *what)
{
    v->report.head = v->covered;
    v->report.records = v->covered.seq;
    return fail(v, v->covered.seq + 1, "%s", what);
}

static uint64_t next_seq(const struct audit_verifier *v)
{
    return v->report.head.seq + 1;
}

void audit_verify_unreadable(struct audit_verifier *verifier, const char *what)
{
    if (!verifier->report.is_damaged)
        (void)fail(verifier, next_seq(verifier), "it cannot be read: %s", what);
}

/* --- bodies --- */

static struct loss *loss_of(struct audit_verifier *v, struct str topic)
{
    struct loss *loss = map_find(&v->losses, topic);

    if (loss)
        return loss;
    loss = xcalloc(1, sizeof(*loss));
    loss->topic = str_dup(topic);
    loss->topic_len = topic.len;
    buf_init(&loss->seqs, SIZE_MAX / 2); /* a part of what is in the record */
    map_set(&v->losses, (struct str){ loss->topic, topic.len }, loss);
    return loss;
}

/* Seven bits each, the lowest first; the highest bit says that more follow. */
static void put_number(struct buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        buf_putc(out, (char)(number | 0x80));
    buf_putc(out, (char)number);
}

static uint64_t take_number(struct str bytes, size_t *at)
{
    uint64_t number = 0;

    for (unsigned shift = 0; *at < bytes.len; shift += 7) {
        unsigned char byte = (unsigned char)bytes.ptr[(*at)++];

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

static bool note_missing(struct audit_verifier *v, const struct audit_record *record)
{
    struct loss *loss = loss_of(v, record->topic);

    if (record->event == AUDIT_RETENTION)
        return fail(v, record->seq, "what it says was removed is itself missing");
    if (loss->has_body)
        return fail(v, record->seq,
                    "its body is missing, while an older one of its topic is there");
    put_number(&loss->seqs, record->seq - loss->last_seq);
    loss->last_seq = record->seq;
    v->report.removed++;
    v->missing_bytes += record->body_bytes;
    return true;
}

static bool check_body(struct audit_verifier *v, const struct audit_record *record)
{
    static const uint8_t zeros[SHA256_BYTES];
    uint8_t hash[SHA256_BYTES];

    if (!record->body.ptr) {
        if (record->body_bytes)
            return note_missing(v, record);
        if (memcmp(record->body_hash, zeros, SHA256_BYTES) != 0)
            return fail(v, record->seq, "a body of no length has a hash");
        return true;
    }
    if (record->body.len != record->body_bytes)
        return fail(v, record->seq, "its body has %zu bytes instead of %zu",
                    record->body.len, record->body_bytes);
    crypto_sha256(record->body, hash);
    if (memcmp(hash, record->body_hash, SHA256_BYTES) != 0)
        return fail(v, record->seq, "its body is not what its hash says");
    if (record->event != AUDIT_RETENTION)
        loss_of(v, record->topic)->has_body = true;
    v->report.bytes += record->body.len;
    return true;
}

/* --- removals --- */

static bool is_same_scope(const struct audit_removal *a, const struct audit_removal *b)
{
    if (!a->topic.ptr != !b->topic.ptr || !str_eq(a->topic, b->topic) ||
        a->except.count != b->except.count)
        return false;
    for (size_t i = 0; i < a->except.count; i++)
        if (!str_eq(a->except.items[i], b->except.items[i]))
            return false;
    return true;
}

static struct audit_removal copy_scope(struct arena *arena,
                                       const struct audit_removal *of)
{
    struct str *except = arena_alloc(arena, (of->except.count + 1) * sizeof(*except));
    struct audit_removal copy = { .except = { except, of->except.count } };

    if (of->topic.ptr)
        copy.topic = arena_str(arena, of->topic);
    for (size_t i = 0; i < of->except.count; i++)
        except[i] = arena_str(arena, of->except.items[i]);
    return copy;
}

static struct account *account_of(struct audit_verifier *v,
                                  const struct audit_removal *removal)
{
    struct account *account;

    for (size_t i = 0; i < v->account_count; i++)
        if (is_same_scope(&v->accounts[i].removal, removal))
            return &v->accounts[i];
    v->accounts = xrealloc(v->accounts, (v->account_count + 1) * sizeof(*v->accounts));
    account = &v->accounts[v->account_count++];
    *account = (struct account){ copy_scope(&v->arena, removal), 0 };
    return account;
}

static bool note_removal(struct audit_verifier *v, const struct audit_record *record)
{
    struct audit_removal removal;
    struct account *account;

    arena_reset(&v->scratch);
    if (audit_removal_parse(record->body, &v->scratch, &removal) ||
        removal.last_seq >= record->seq)
        return fail(v, record->seq, "it does not say which bodies were removed");
    account = account_of(v, &removal);
    if (account->last_seq < removal.last_seq)
        account->last_seq = removal.last_seq;
    v->removed_count += removal.count;
    v->removed_bytes += removal.bytes;
    return true;
}

/* --- the chain --- */

static bool check_expected(struct audit_verifier *v)
{
    if (!v->has_expected || v->report.head.seq != v->expected.seq ||
        memcmp(v->report.head.hash, v->expected.hash, SHA256_BYTES) == 0)
        return true;
    return fail_since_covered(v, "the chain does not lead to the head that was expected");
}

static bool check_place(struct audit_verifier *v, const struct audit_record *record)
{
    uint64_t seq = next_seq(v);

    if (record->seq != seq)
        return fail(v, seq, "it is missing: record %llu stands in its place",
                    (unsigned long long)record->seq);
    if (record->at_ms < v->report.head.at_ms || record->at_ms > AUDIT_MAX_TIME)
        return fail(v, seq, "its time is before that of the record before, or none");
    if (record->event >= AUDIT_EVENT_COUNT || record->body_bytes > UINT32_MAX)
        return fail(v, seq, "it is no record");
    return true;
}

static bool check_record(struct audit_verifier *v, const struct audit_record *record)
{
    uint8_t hash[SHA256_BYTES];

    if (!check_place(v, record))
        return false;
    audit_hash(&v->report.head, record, hash);
    if (memcmp(hash, record->hash, SHA256_BYTES) != 0)
        return fail(v, record->seq, "its hash is not that of what it says");
    if (!check_body(v, record))
        return false;
    return record->event != AUDIT_RETENTION || note_removal(v, record);
}

bool audit_verify_record(struct audit_verifier *verifier,
                         const struct audit_record *record)
{
    if (verifier->report.is_damaged || !check_record(verifier, record))
        return false;
    verifier->report.records++;
    verifier->report.head.seq = record->seq;
    verifier->report.head.at_ms = record->at_ms;
    memcpy(verifier->report.head.hash, record->hash, SHA256_BYTES);
    return check_expected(verifier);
}

bool audit_verify_checkpoint(struct audit_verifier *verifier,
                             const struct audit_checkpoint *checkpoint)
{
    struct audit_verifier *v = verifier;
    const struct audit_head *signed_head = &checkpoint->head;

    if (v->report.is_damaged)
        return false;
    if (!audit_checkpoint_holds(checkpoint, str_of(v->installation), v->public_key))
        return fail(v, next_seq(v), "the checkpoint before it was not signed so");
    if (signed_head->seq > v->report.head.seq)
        return fail(v, next_seq(v),
                    "it is missing: the checkpoint of record %llu follows",
                    (unsigned long long)signed_head->seq);
    if (signed_head->seq < v->report.head.seq ||
        (v->report.checkpoints && signed_head->seq == v->covered.seq))
        return fail(v, next_seq(v), "the checkpoint of record %llu stands before it",
                    (unsigned long long)signed_head->seq);
    if (memcmp(signed_head->hash, v->report.head.hash, SHA256_BYTES) != 0)
        return fail_since_covered(v, "the chain does not lead to what was signed");
    v->report.checkpoints++;
    v->covered = v->report.head;
    v->report.covered = v->covered.seq;
    return true;
}

/* --- the end --- */

/* Up to where the removals account for what is missing of this topic. */
static uint64_t accounted_up_to(const struct audit_verifier *v, struct str topic)
{
    uint64_t seq = 0;

    for (size_t i = 0; i < v->account_count; i++)
        if (v->accounts[i].last_seq > seq &&
            audit_removal_is_of(&v->accounts[i].removal, topic))
            seq = v->accounts[i].last_seq;
    return seq;
}

/* The first missing one behind `from`, or UINT64_MAX. */
static uint64_t first_missing(const struct loss *loss, uint64_t from)
{
    struct str bytes = buf_str(&loss->seqs);
    uint64_t seq = 0;

    for (size_t at = 0; at < bytes.len;) {
        seq += take_number(bytes, &at);
        if (seq > from)
            return seq;
    }
    return UINT64_MAX;
}

static void check_losses(struct audit_verifier *v)
{
    uint64_t first = UINT64_MAX, bad = UINT64_MAX;
    struct loss *loss;

    MAP_FOREACH(loss, &v->losses) {
        struct str topic = { loss->topic, loss->topic_len };
        uint64_t seq = first_missing(loss, accounted_up_to(v, topic));

        bad = seq < bad ? seq : bad;
        seq = first_missing(loss, 0);
        first = seq < first ? seq : first;
    }
    if (bad != UINT64_MAX)
        (void)fail(v, bad, "its body is missing, and no record says that it was removed");
    else if (v->report.removed != v->removed_count ||
             v->missing_bytes != v->removed_bytes)
        (void)fail(
            v, first != UINT64_MAX ? first : next_seq(v),
            "%llu bodies of %llu bytes are missing, but the record says %llu of %llu",
            (unsigned long long)v->report.removed, (unsigned long long)v->missing_bytes,
            (unsigned long long)v->removed_count, (unsigned long long)v->removed_bytes);
}

void audit_verify_end(struct audit_verifier *verifier, struct audit_report *ret)
{
    struct audit_verifier *v = verifier;

    if (!v->report.is_damaged && v->has_expected && v->expected.seq > v->report.head.seq)
        (void)fail(v, next_seq(v), "it is missing: the head that was expected is %llu",
                   (unsigned long long)v->expected.seq);
    if (!v->report.is_damaged)
        (void)check_expected(v);
    if (!v->report.is_damaged)
        check_losses(v);
    v->report.uncovered = v->report.head.seq - v->covered.seq;
    *ret = v->report;
}
