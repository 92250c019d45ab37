/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/bundle.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "mcp/message.h"

struct leaf {
    struct outlet outlet;
    struct bundle *bundle;
};

struct bundle {
    struct strand *strand; /* NULL: nobody waits any more */
    struct buf answers;    /* "[ANSWER,ANSWER", or nothing yet */
    const uint64_t *now_ms;
    size_t left;
    struct leaf leaves[];
};

static struct bundle *bundle_of(struct outlet *outlet)
{
    return CONTAINER_OF(outlet, struct leaf, outlet)->bundle;
}

static void collect(struct bundle *b, struct str answer)
{
    buf_putc(&b->answers, b->answers.len ? ',' : '[');
    buf_put(&b->answers, answer);
}

/* Nothing but notifications, or all of it cancelled: nothing is to be said. */
static void answer(struct bundle *b)
{
    struct strand *strand = b->strand;

    if (!strand)
        return;
    if (b->answers.len)
        buf_putc(&b->answers, ']');
    if (b->answers.is_full)
        strand_answer(strand, 500, S(""), *b->now_ms);
    else
        strand_answer(strand, b->answers.len ? 200 : 202, buf_str(&b->answers),
                      *b->now_ms);
}

/* The strand may be kept for who resumes, and tells us when it goes. */
static void free_when_over(struct bundle *b)
{
    if (b->left || b->strand)
        return;
    buf_done(&b->answers);
    free(b);
}

static void leave(struct bundle *b)
{
    if (b->left > 1) {
        b->left--;
        return;
    }
    answer(b);
    buf_done(&b->answers);
    b->left = 0;
    free_when_over(b);
}

static void on_freed(void *user)
{
    struct bundle *b = user;

    b->strand = NULL;
    free_when_over(b);
}

/* --- the outlets of its requests --- */

static void on_reply(struct outlet *outlet, const struct outlet_reply *reply)
{
    struct bundle *b = bundle_of(outlet);

    if (reply->message.len)
        collect(b, reply->message);
    leave(b);
}

static bool is_answer(struct str text)
{
    struct mcp_message message;
    const char *what;

    return !mcp_message_read(text, JSON_MAX_DEPTH, &message, &what) &&
           (message.type == MESSAGE_RESULT || message.type == MESSAGE_ERROR);
}

static bool on_event(struct outlet *outlet, const struct outlet_event *event)
{
    struct bundle *b = bundle_of(outlet);

    if (!event->message.len || !b->strand)
        return true;
    if (is_answer(event->message))
        collect(b, event->message);
    else
        strand_send(b->strand, event->message, *b->now_ms);
    return true;
}

static void on_murmur(struct outlet *)
{
}

static void on_end(struct outlet *outlet)
{
    leave(bundle_of(outlet));
}

static const struct outlet_ops leaf_ops = { on_reply, on_event, on_murmur, on_end };

/* --- life --- */

struct bundle *bundle_new(const struct strand_terms *terms, struct outlet *outlet,
                          size_t count, size_t max_bytes, const uint64_t *now_ms)
{
    struct bundle *b = xcalloc(1, sizeof(*b) + count * sizeof(b->leaves[0]));
    struct strand_terms ours = *terms;

    b->now_ms = now_ms;
    b->left = count;
    buf_init(&b->answers, max_bytes);
    for (size_t i = 0; i < count; i++)
        b->leaves[i] = (struct leaf){ { .ops = &leaf_ops }, b };
    ours.on_lost = NULL;
    ours.on_freed = on_freed;
    ours.user = b;
    b->strand = strand_new(&ours, outlet, *now_ms);
    return b;
}

struct outlet *bundle_outlet(struct bundle *bundle, size_t index)
{
    return &bundle->leaves[index].outlet;
}

struct strand *bundle_strand(struct bundle *bundle)
{
    return bundle->strand;
}
