/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop hands over: changes as flat bytes, each behind its head. */
#include <string.h>

#include "store/store_priv.h"

struct change {
    bool is_put;
    enum store_section section;
    size_t topic, key, value; /* bytes of each, which follow */
};

/* The buffers are bounded by who fills them: a batch ends with the turn, and
 * store_queued() tells how much is waiting. */
void store_batch_init(struct store_batch *batch, struct loop *loop)
{
    *batch = (struct store_batch){ .loop = loop };
    buf_init(&batch->changes, SIZE_MAX / 2);
    audit_batch_init(&batch->records);
}

void store_batch_done(struct store_batch *batch)
{
    buf_done(&batch->changes);
    audit_batch_done(&batch->records);
}

static void add_change(struct store_batch *batch, const struct change *change,
                       const struct store_item *item)
{
    buf_put(&batch->changes, (struct str){ (const char *)change, sizeof(*change) });
    buf_put(&batch->changes, item->topic);
    buf_put(&batch->changes, item->key);
    buf_put(&batch->changes, (struct str){ item->value.ptr, change->value });
}

void store_batch_put(struct store_batch *batch, const struct store_item *item)
{
    struct change change = { .is_put = true,
                             .section = item->section,
                             .topic = item->topic.len,
                             .key = item->key.len,
                             .value = item->value.len };

    add_change(batch, &change, item);
}

void store_batch_remove(struct store_batch *batch, const struct store_item *item)
{
    struct change change = { .section = item->section,
                             .topic = item->topic.len,
                             .key = item->key.len };

    add_change(batch, &change, item);
}

static struct str take(const struct store_batch *batch, size_t *at, size_t len)
{
    struct str text = { batch->changes.ptr + *at, len };

    *at += len;
    return text;
}

bool store_batch_next(const struct store_batch *batch, size_t *at, bool *ret_is_put,
                      struct store_item *ret)
{
    struct change change;

    if (*at == batch->changes.len)
        return false;
    memcpy(&change, take(batch, at, sizeof(change)).ptr, sizeof(change));
    *ret_is_put = change.is_put;
    ret->section = change.section;
    ret->topic = take(batch, at, change.topic);
    ret->key = take(batch, at, change.key);
    ret->value = take(batch, at, change.value);
    return true;
}
