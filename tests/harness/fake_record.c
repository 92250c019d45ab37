/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "guard.h"

static const char secret[ED25519_SECRET] = "thirty-two bytes of a secret key";

void fake_record_init(struct fake_record *fake)
{
    *fake = (struct fake_record){};
    arena_init(&fake->arena, SIZE_MAX);
    ed25519_from_secret((const uint8_t *)secret, &fake->key);
    fake->origin.installation = S("0123456789abcdef0123456789abcdef");
    memcpy(fake->origin.public_key, fake->key.public, ED25519_PUBLIC);
    audit_chain_begin(fake->origin.installation, &fake->head);
}

void fake_record_done(struct fake_record *fake)
{
    free(fake->entries);
    arena_done(&fake->arena);
}

void fake_record_insert(struct fake_record *fake, size_t at,
                        const struct fake_entry *entry)
{
    struct fake_entry copy = *entry;

    if (fake->count == fake->size) {
        fake->size = fake->size ? 2 * fake->size : 64;
        fake->entries = xrealloc(fake->entries, fake->size * sizeof(fake->entries[0]));
    }
    memmove(fake->entries + at + 1, fake->entries + at,
            (fake->count - at) * sizeof(fake->entries[0]));
    fake->entries[at] = copy;
    fake->count++;
}

void fake_record_remove(struct fake_record *fake, size_t at)
{
    fake->count--;
    memmove(fake->entries + at, fake->entries + at + 1,
            (fake->count - at) * sizeof(fake->entries[0]));
}

void fake_record_add(struct fake_record *fake, struct audit_record record)
{
    struct fake_entry entry = { .type = FAKE_RECORD, .record = record };

    audit_seal_body(&entry.record);
    audit_chain(&fake->head, &entry.record);
    fake_record_insert(fake, fake->count, &entry);
}

void fake_record_sign(struct fake_record *fake)
{
    struct fake_entry entry = { .type = FAKE_CHECKPOINT };

    audit_checkpoint_sign(&fake->head, fake->origin.installation, &fake->key,
                          &entry.checkpoint);
    fake_record_insert(fake, fake->count, &entry);
}

static struct str text_of(struct fake_record *fake, const char *format, size_t number)
{
    char text[100];
    int len = snprintf(text, sizeof(text), "%s%zu", format, number);

    return arena_str(&fake->arena, (struct str){ text, (size_t)len });
}

static struct str body_of(struct fake_record *fake, size_t number)
{
    char text[100];
    int len =
        snprintf(text, sizeof(text), "{\"payload\":{\"text\":\"number %zu\"}}", number);

    return arena_str(&fake->arena, (struct str){ text, (size_t)len });
}

void fake_record_fill(struct fake_record *fake, size_t count)
{
    uint64_t state = 1;

    for (size_t i = 1; i <= count; i++) {
        struct audit_record record = {
            .at_ms = 1763229600000 + i / 3,
            .event = (enum audit_event)random_below(&state, AUDIT_DROP),
            .topic = text_of(fake, "room", random_below(&state, 3)),
            .participant = S("ann"),
            .kind = S("chat"),
            .id = text_of(fake, "id", i),
            .verdict = S("allowed"),
        };

        if (random_below(&state, 4))
            record.body = body_of(fake, i);
        if (random_below(&state, 2))
            record.correlation = text_of(fake, "id", i - 1);
        fake_record_add(fake, record);
        if (i % 10 == 0)
            fake_record_sign(fake);
    }
}

struct fake_entry *fake_record_at(struct fake_record *fake, uint64_t seq)
{
    for (size_t i = 0; i < fake->count; i++)
        if (fake->entries[i].type == FAKE_RECORD && fake->entries[i].record.seq == seq)
            return &fake->entries[i];
    abort();
}

void fake_record_strip(struct fake_record *fake, uint64_t from, uint64_t to)
{
    for (uint64_t seq = from; seq <= to; seq++)
        fake_record_at(fake, seq)->record.body = (struct str){};
}

struct audit_report fake_record_verify(const struct fake_record *fake,
                                       const struct audit_head *expected)
{
    struct audit_verifier *verifier =
        audit_verifier_new(fake->origin.installation, fake->origin.public_key, expected);
    struct audit_report report;
    bool goes_on = true;

    for (size_t i = 0; i < fake->count && goes_on; i++)
        goes_on = fake->entries[i].type == FAKE_RECORD
                      ? audit_verify_record(verifier, &fake->entries[i].record)
                      : audit_verify_checkpoint(verifier, &fake->entries[i].checkpoint);
    audit_verify_end(verifier, &report);
    audit_verifier_free(verifier);
    return report;
}

void fake_record_export(const struct fake_record *fake, struct buf *out)
{
    audit_origin_write(&fake->origin, out);
    for (size_t i = 0; i < fake->count; i++) {
        if (fake->entries[i].type == FAKE_RECORD)
            audit_record_write(&fake->entries[i].record, out);
        else
            audit_checkpoint_write(&fake->entries[i].checkpoint, out);
    }
}

/* False: nothing further needs to be looked at. */
static bool verify_line(struct audit_verifier *verifier, struct str text,
                        struct arena *arena)
{
    struct audit_line line;
    const char *what;

    if (audit_line_parse(text, arena, &line, &what)) {
        audit_verify_unreadable(verifier, what);
        return false;
    }
    switch (line.type) {
    case AUDIT_LINE_RECORD: return audit_verify_record(verifier, &line.record);
    case AUDIT_LINE_CHECKPOINT:
        return audit_verify_checkpoint(verifier, &line.checkpoint);
    case AUDIT_LINE_ORIGIN: audit_verify_unreadable(verifier, "another beginning");
    }
    return false;
}

/* The public key is the one that is known, not the one in the first line. */
struct audit_report fake_export_verify(const struct fake_record *fake, struct str text,
                                       const struct audit_head *expected)
{
    struct audit_verifier *verifier =
        audit_verifier_new(fake->origin.installation, fake->origin.public_key, expected);
    struct audit_report report;
    struct arena arena;
    bool goes_on = true;

    arena_init(&arena, 1000000);
    (void)str_cut(&text, '\n');
    while (goes_on && text.ptr && text.len) {
        struct str line = str_cut(&text, '\n');

        arena_reset(&arena);
        if (!text.ptr) /* without its end */
            audit_verify_unreadable(verifier, "it ends early");
        goes_on = text.ptr && verify_line(verifier, line, &arena);
    }
    audit_verify_end(verifier, &report);
    audit_verifier_free(verifier);
    arena_done(&arena);
    return report;
}
