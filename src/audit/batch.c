/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each record is a head of fixed size, its texts, its body, and what fills up to the next
 * multiple of eight.
 */
#include "audit/batch.h"

#include <stdlib.h>

struct flat {
    uint64_t seq, at_ms;
    uint64_t body_bytes;
    uint32_t lengths[AUDIT_TEXT_COUNT];
    uint32_t body_length; /* of the body that is here */
    uint8_t event;
    uint8_t has_body;
    uint8_t body_hash[SHA256_BYTES];
    uint8_t hash[SHA256_BYTES];
};

void audit_batch_init(struct audit_batch *batch)
{
    *batch = (struct audit_batch){};
    buf_init(&batch->bytes,
             SIZE_MAX / 2); /* whoever fills it has a bound for all of it */
}

void audit_batch_done(struct audit_batch *batch)
{
    buf_done(&batch->bytes);
    batch->count = 0;
}

void audit_batch_clear(struct audit_batch *batch)
{
    buf_clear(&batch->bytes);
    batch->count = 0;
}

static size_t whole(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static size_t flatten(const struct audit_record *record, struct flat *ret)
{
    size_t size = sizeof(*ret) + record->body.len;

    *ret = (struct flat){ .seq = record->seq,
                          .at_ms = record->at_ms,
                          .body_bytes = record->body_bytes,
                          .body_length = (uint32_t)record->body.len,
                          .event = (uint8_t)record->event,
                          .has_body = record->body.ptr != NULL };
    memcpy(ret->body_hash, record->body_hash, SHA256_BYTES);
    memcpy(ret->hash, record->hash, SHA256_BYTES);
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++) {
        ret->lengths[i] = (uint32_t)audit_text_of(record, i).len;
        size += ret->lengths[i];
    }
    return size;
}

static char *put(char *to, const void *bytes, size_t len)
{
    if (len)
        memcpy(to, bytes, len);
    return to + len;
}

void audit_batch_add(struct audit_batch *batch, const struct audit_record *record)
{
    struct flat flat;
    size_t size = flatten(record, &flat);
    char *start, *to;

    if (buf_reserve(&batch->bytes, whole(size)))
        abort(); /* only above SIZE_MAX / 2 */
    start = batch->bytes.ptr + batch->bytes.len;
    to = put(start, &flat, sizeof(flat));
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
        to = put(to, audit_text_of(record, i).ptr, flat.lengths[i]);
    to = put(to, record->body.ptr, record->body.len);
    memset(to, 0, whole(size) - size);
    batch->bytes.len += whole(size);
    batch->count++;
}

bool audit_batch_next(const struct audit_batch *batch, size_t *at,
                      struct audit_record *ret)
{
    struct flat flat;
    size_t from = *at;

    if (from >= batch->bytes.len)
        return false;
    memcpy(&flat, batch->bytes.ptr + from, sizeof(flat));
    from += sizeof(flat);
    *ret = (struct audit_record){ .seq = flat.seq,
                                  .at_ms = flat.at_ms,
                                  .event = flat.event,
                                  .body_bytes = flat.body_bytes };
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++) {
        *audit_text(ret, i) = (struct str){ batch->bytes.ptr + from, flat.lengths[i] };
        from += flat.lengths[i];
    }
    if (flat.has_body)
        ret->body = (struct str){ batch->bytes.ptr + from, flat.body_length };
    memcpy(ret->body_hash, flat.body_hash, SHA256_BYTES);
    memcpy(ret->hash, flat.hash, SHA256_BYTES);
    *at = whole(from + flat.body_length);
    return true;
}
