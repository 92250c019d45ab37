/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/member.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "topic/topic_priv.h"

enum { FIRST_SLICES = 4, COPY_BLOCK = 4096 };

/* --- slices --- */

static struct slice *last_slice(struct member *m)
{
    struct outbox *box = m->outbox;

    return box && box->count ? &box->slices[box->first + box->count - 1] : NULL;
}

static struct outbox *outbox_resize(struct outbox *box, size_t room)
{
    return xrealloc(box, sizeof(*box) + room * sizeof(box->slices[0]));
}

static struct slice *new_slice(struct member *m)
{
    struct outbox *box = m->outbox;

    if (!box) {
        box = outbox_resize(NULL, FIRST_SLICES);
        *box = (struct outbox){ .room = FIRST_SLICES };
    } else if (box->first + box->count == box->room && box->first > 0) {
        memmove(box->slices, box->slices + box->first, box->count * sizeof(*box->slices));
        box->first = 0;
    } else if (box->first + box->count == box->room) {
        box = outbox_resize(box, (size_t)box->room * 2);
        box->room *= 2;
    }
    m->outbox = box;
    box->count++;
    return last_slice(m);
}

/* Bytes of the member's own: appended to its last private block where they fit. */
static void add_copy(struct member *m, struct str bytes, bool counts)
{
    struct slice *last = last_slice(m);
    struct block *block;

    if (last && last->counts == counts && last->block->refs == 1 && !last->block->next &&
        last->to == last->block->used &&
        last->block->size - last->block->used >= bytes.len) {
        block = last->block;
    } else {
        /* Where some wait, more will come: many small ones share a block. */
        bool has_company = m->is_blocked || last;
        size_t size = has_company && bytes.len < COPY_BLOCK ? COPY_BLOCK : bytes.len;

        block = block_new(size, 0);
        *new_slice(m) = (struct slice){ .block = block, .counts = counts };
        last = last_slice(m);
    }
    memcpy(block->bytes + block->used, bytes.ptr, bytes.len);
    block->used += (uint32_t)bytes.len;
    last->to = block->used;
    if (counts)
        m->outbox->queued += (uint32_t)bytes.len;
}

void member_add_slice(struct member *m, struct block *block, uint32_t from, uint32_t to)
{
    struct slice *last = last_slice(m);

    if (from == to)
        return;
    if (m->is_blocked) {
        add_copy(m, (struct str){ block->bytes + from, to - from }, true);
        return;
    }
    if (last && last->counts && last->block == block && last->to == from)
        last->to = to;
    else
        *new_slice(m) = (struct slice){ block_ref(block), from, to, true };
    m->outbox->queued += to - from;
}

static void drop_slices(struct member *m)
{
    struct outbox *box = m->outbox;

    for (size_t i = 0; i < member_waiting(m); i++)
        block_unref(box->slices[box->first + i].block);
    free(box);
    m->outbox = NULL;
}

void member_clear(struct member *m)
{
    drop_slices(m);
    block_unref(m->block);
    m->block = NULL;
}

/* --- the cursor --- */

static bool is_live(const struct member *m)
{
    return m->block != NULL;
}

/* How far the current block may be sent. */
static uint32_t visible_in(const struct lane *lane, const struct block *block)
{
    if (block->base + block->used <= lane->visible)
        return block->used;
    return lane->visible > block->base ? (uint32_t)(lane->visible - block->base) : 0;
}

/* Moves from the end of a finished block to the next one. */
static void advance(struct member *m)
{
    while (m->block->next && m->at == m->block->used) {
        struct block *next = block_ref(m->block->next);

        block_unref(m->block);
        m->block = next;
        m->at = 0;
    }
}

void member_go_live(struct member *m)
{
    block_unref(m->block);
    m->block = block_ref(m->lane->tail);
    m->at = m->block->used;
    m->replay_seq = 0;
}

void member_close_open(struct member *m)
{
    if (!is_live(m))
        return;
    for (;;) {
        uint32_t end;

        advance(m);
        end = visible_in(m->lane, m->block);
        if (end <= m->at)
            return;
        member_add_slice(m, m->block, m->at, end);
        m->at = end;
    }
}

void member_skip_last(struct member *m, size_t frame_len)
{
    if (!is_live(m))
        return;
    /* Everything before the last frame is still owed. */
    m->lane->visible -= frame_len;
    member_close_open(m);
    m->lane->visible += frame_len;
    advance(m);
    m->at += (uint32_t)frame_len;
}

size_t member_backlog(const struct member *m)
{
    size_t open = 0;

    if (is_live(m) && m->lane->visible > m->block->base + m->at)
        open = (size_t)(m->lane->visible - m->block->base - m->at);
    return open + (m->outbox ? m->outbox->queued : 0);
}

/* --- taking --- */

static size_t pull_slices(const struct member *m, struct iovec *out, size_t max)
{
    const struct outbox *box = m->outbox;
    size_t n = box->count < max ? box->count : max;

    for (size_t i = 0; i < n; i++) {
        const struct slice *slice = &box->slices[box->first + i];

        out[i] =
            (struct iovec){ slice->block->bytes + slice->from, slice->to - slice->from };
    }
    return n;
}

static size_t pull_open(struct member *m, struct iovec *out, size_t max)
{
    struct block *block;
    uint32_t at;
    size_t n = 0;

    advance(m);
    block = m->block;
    at = m->at;
    while (n < max && block) {
        uint32_t end = visible_in(m->lane, block);

        if (end > at)
            out[n++] = (struct iovec){ block->bytes + at, end - at };
        if (end < block->used)
            break;
        block = block->next;
        at = 0;
    }
    return n;
}

static size_t pull_all(struct member *m, struct iovec *out, size_t max)
{
    size_t n;

    if (m->replay_seq && !m->outbox)
        member_replay_more(m);
    n = m->outbox ? pull_slices(m, out, max) : 0;
    if (n < max && is_live(m))
        n += pull_open(m, out + n, max - n);
    return n;
}

size_t member_pull(struct member *m, struct iovec *out, size_t max)
{
    const struct block *tail = m->lane->tail;

    /* Nearly always: one run of frames in the last block, and nothing before it. */
    if (!m->outbox && m->block == tail && m->lane->visible == tail->base + tail->used) {
        *out = (struct iovec){ m->block->bytes + m->at, tail->used - m->at };
        return out->iov_len ? 1 : 0;
    }
    return pull_all(m, out, max);
}

static size_t take_from_slice(struct member *m, size_t bytes)
{
    struct outbox *box = m->outbox;
    struct slice *slice = &box->slices[box->first];
    size_t taken = slice->to - slice->from;

    if (taken > bytes)
        taken = bytes;
    slice->from += (uint32_t)taken;
    if (slice->counts)
        box->queued -= (uint32_t)taken;
    if (slice->from == slice->to) {
        block_unref(slice->block);
        box->first++;
        box->count--;
    }
    return taken;
}

/* Returns how much of it the outbox had. */
static size_t take_from_outbox(struct member *m, size_t bytes)
{
    size_t taken = 0;

    while (taken < bytes && m->outbox->count)
        taken += take_from_slice(m, bytes - taken);
    if (m->outbox->count == 0)
        drop_slices(m);
    return taken;
}

void member_taken(struct member *m, size_t bytes)
{
    if (m->outbox)
        bytes -= take_from_outbox(m, bytes);
    while (bytes) {
        size_t here = m->block->used - m->at;

        if (here > bytes)
            here = bytes;
        m->at += (uint32_t)here;
        bytes -= here;
        advance(m);
    }
    if (m->was_warned && member_backlog(m) == 0)
        m->was_warned = false;
}

/* --- blocked --- */

static void keep_slice(struct member *m, const struct slice *slice)
{
    *new_slice(m) = *slice;
    (void)block_ref(slice->block);
}

/* Copies what is held of the log's blocks, so that a stalled reader pins none of them.
 * What does not count is its own already, or the roster, which many may be stalled on. */
static void copy_slices(struct member *m)
{
    struct member copy = { .is_blocked = true };

    for (size_t i = 0; i < member_waiting(m); i++) {
        const struct slice *slice = &m->outbox->slices[m->outbox->first + i];

        if (slice->counts)
            add_copy(&copy,
                     (struct str){ slice->block->bytes + slice->from,
                                   slice->to - slice->from },
                     true);
        else
            keep_slice(&copy, slice);
    }
    drop_slices(m);
    m->outbox = copy.outbox;
}

void member_set_blocked(struct member *m, bool is_blocked)
{
    if (m->is_blocked == is_blocked)
        return;
    m->is_blocked = is_blocked;
    if (is_blocked && m->outbox)
        copy_slices(m);
}

/* --- private frames --- */

void member_add_exempt(struct member *m, struct str frames)
{
    add_copy(m, frames, false);
}

void member_send_frame(struct member *m, struct str frame)
{
    member_close_open(m);
    add_copy(m, frame, true);
    m->ops->on_ready(m);
}

static void add_encoded(struct member *m, struct str text, bool counts)
{
    const struct encoding *encoding = m->lane->encoding;
    struct buf frame;

    buf_init(&frame, text.len + 1024);
    if (encoding->encode(encoding, text, &frame) == OK)
        add_copy(m, buf_str(&frame), counts);
    buf_done(&frame);
}

void member_send(struct member *m, struct str text, enum frame_weight weight)
{
    member_close_open(m);
    add_encoded(m, text, weight == FRAME_COUNTS);
    m->ops->on_ready(m);
}

/* --- frames around something shared --- */

static void add_uncounted(struct member *m, struct shared_part part)
{
    struct slice *last = last_slice(m);

    if (part.from == part.to)
        return;
    if (last && !last->counts && last->block == part.block && last->to == part.from) {
        last->to = part.to;
        return;
    }
    *new_slice(m) = (struct slice){ block_ref(part.block), part.from, part.to, false };
}

void member_send_around(struct member *m, struct str text, size_t at,
                        struct shared_parts parts)
{
    const struct encoding *native = member_topic(m)->native.encoding;
    size_t total = text.len;
    struct block *own;
    uint32_t end, cut;
    size_t head;

    for (size_t i = 0; i < parts.count; i++)
        total += parts.items[i].to - parts.items[i].from;
    head = native->head_size(total);
    own = block_new(head + text.len, 0);
    native->head_write(own->bytes, total);
    memcpy(own->bytes + head, text.ptr, text.len);
    end = own->used = own->size;
    cut = (uint32_t)(head + at);
    member_close_open(m);
    add_uncounted(m, (struct shared_part){ own, 0, cut });
    for (size_t i = 0; i < parts.count; i++)
        add_uncounted(m, parts.items[i]);
    add_uncounted(m, (struct shared_part){ own, cut, end });
    block_unref(own);
    m->ops->on_ready(m);
}
