/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/chain.h"

#include <assert.h>
#include <endian.h>

#include "base/buf.h"

static struct str bytes_of(const void *ptr, size_t len)
{
    return (struct str){ ptr, len };
}

void audit_chain_begin(struct str installation, struct audit_head *ret)
{
    struct str parts[] = { S("moot audit 1\n"), installation };

    *ret = (struct audit_head){};
    crypto_sha256_parts(parts, 2, ret->hash);
}

void audit_seal_body(struct audit_record *record)
{
    record->body_bytes = record->body.ptr ? record->body.len : 0;
    memset(record->body_hash, 0, SHA256_BYTES);
    if (record->body_bytes)
        crypto_sha256(record->body, record->body_hash);
}

/* What stands before and behind the texts, as it is hashed. */
struct front {
    uint8_t hash[SHA256_BYTES];
    uint64_t seq, at_ms;
    uint8_t event;
} __attribute__((packed));

struct back {
    uint32_t body_bytes;
    uint8_t body_hash[SHA256_BYTES];
} __attribute__((packed));

void audit_hash(const struct audit_head *before, const struct audit_record *record,
                uint8_t ret[static SHA256_BYTES])
{
    struct front front = { .seq = htobe64(record->seq),
                           .at_ms = htobe64(record->at_ms),
                           .event = (uint8_t)record->event };
    struct back back = { .body_bytes = htobe32((uint32_t)record->body_bytes) };
    struct str parts[2 * AUDIT_TEXT_COUNT + 2];
    uint32_t lengths[AUDIT_TEXT_COUNT];
    size_t count = 0;

    assert(record->body_bytes <= UINT32_MAX);
    memcpy(front.hash, before->hash, SHA256_BYTES);
    memcpy(back.body_hash, record->body_hash, SHA256_BYTES);
    parts[count++] = bytes_of(&front, sizeof(front));
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++) {
        struct str text = audit_text_of(record, i);

        lengths[i] = htobe32((uint32_t)text.len);
        parts[count++] = bytes_of(&lengths[i], sizeof(lengths[i]));
        parts[count++] = text;
    }
    parts[count++] = bytes_of(&back, sizeof(back));
    crypto_sha256_parts(parts, count, ret);
}

void audit_chain(struct audit_head *head, struct audit_record *record)
{
    record->seq = head->seq + 1;
    if (record->at_ms < head->at_ms)
        record->at_ms = head->at_ms;
    audit_hash(head, record, record->hash);
    head->seq = record->seq;
    head->at_ms = record->at_ms;
    memcpy(head->hash, record->hash, SHA256_BYTES);
}

enum { SIGNED_BYTES = 18 + 1 + 8 + 8 + SHA256_BYTES }; /* besides the installation */

/* What a checkpoint signs. */
static void write_signed(const struct audit_head *head, struct str installation,
                         struct buf *out)
{
    uint64_t seq = htobe64(head->seq);
    uint64_t at_ms = htobe64(head->at_ms);

    buf_init(out, SIGNED_BYTES + installation.len);
    buf_put(out, S("moot checkpoint 1\n"));
    buf_put(out, installation);
    buf_putc(out, '\n');
    buf_put(out, bytes_of(&seq, sizeof(seq)));
    buf_put(out, bytes_of(&at_ms, sizeof(at_ms)));
    buf_put(out, bytes_of(head->hash, SHA256_BYTES));
    assert(!out->is_full);
}

void audit_checkpoint_sign(const struct audit_head *head, struct str installation,
                           const struct ed25519_key *key, struct audit_checkpoint *ret)
{
    struct buf text;

    ret->head = *head;
    write_signed(head, installation, &text);
    ed25519_sign(key, buf_str(&text), ret->signature);
    buf_done(&text);
}

bool audit_checkpoint_holds(const struct audit_checkpoint *checkpoint,
                            struct str installation,
                            const uint8_t public_key[static ED25519_PUBLIC])
{
    struct buf text;
    bool holds;

    write_signed(&checkpoint->head, installation, &text);
    holds = ed25519_verify(public_key, buf_str(&text), checkpoint->signature);
    buf_done(&text);
    return holds;
}

struct str audit_head_text(const struct audit_head *head,
                           char out[static AUDIT_HEAD_TEXT])
{
    struct buf text;
    size_t len;

    buf_init(&text, AUDIT_HEAD_TEXT);
    buf_putu(&text, head->seq);
    buf_putc(&text, ':');
    hex_write(&text, bytes_of(head->hash, SHA256_BYTES));
    len = text.len;
    memcpy(out, text.ptr, len);
    buf_done(&text);
    return (struct str){ out, len };
}

enum err audit_head_parse(struct str text, struct audit_head *ret)
{
    struct audit_head head = {};
    struct str seq = str_cut(&text, ':');

    if (!text.ptr || str_to_u64(seq, UINT64_MAX, &head.seq) ||
        hex_parse(text, head.hash, SHA256_BYTES))
        return ERR_INVALID;
    *ret = head;
    return OK;
}
