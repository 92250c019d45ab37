/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/strand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

enum { MAX_DOUBLINGS = 6 }; /* of the time before a polling close */

/* An event that went out, or would have. */
struct kept {
    struct link link;
    uint64_t sequence, at_ms;
    size_t len;
    char text[];
};

struct strand {
    struct link link;
    struct strand_terms terms;
    struct outlet *outlet; /* NULL: nobody is there */
    struct link kept;
    size_t count, bytes;
    uint64_t sequence;    /* of the last event; 0 is the priming one */
    uint64_t attached_ms; /* since when the outlet is there */
    uint64_t spoke_ms;    /* when something was written to it */
    uint64_t idle_ms;     /* since when it waits for who resumes, or is over */
    unsigned resumed;
    bool is_stream;   /* events have gone out: ids are known */
    bool is_choked;   /* the outlet takes no more, and will be lost */
    bool is_answered; /* … and only kept */
    bool is_going;
    char visit[];
};

/* --- what is kept --- */

static void forget(struct strand *s, struct kept *kept)
{
    list_remove(&kept->link);
    s->count--;
    s->bytes -= kept->len;
    free(kept);
}

static void forget_oldest(struct strand *s)
{
    struct kept *oldest = LIST_FIRST(&s->kept, struct kept, link);

    if (oldest)
        forget(s, oldest); // NOLINT(clang-analyzer-unix.Malloc): it leaves the list
}

static void keep(struct strand *s, struct str message, uint64_t now_ms)
{
    struct kept *kept;

    if (!s->terms.is_resumable)
        return;
    kept = xmalloc(sizeof(*kept) + message.len);
    *kept = (struct kept){ .sequence = s->sequence, .at_ms = now_ms, .len = message.len };
    if (message.len)
        memcpy(kept->text, message.ptr, message.len);
    list_append(&s->kept, &kept->link);
    s->count++;
    s->bytes += kept->len;
    while (s->count > 1 && (s->count > STRAND_EVENTS || s->bytes > STRAND_BYTES))
        forget_oldest(s);
}

static struct strand *oldest_of(struct link *strands, size_t *ret_bytes)
{
    struct strand *s, *oldest = NULL;
    uint64_t at_ms = UINT64_MAX;

    *ret_bytes = 0;
    LIST_FOREACH(s, strands, link) {
        const struct kept *first = LIST_FIRST(&s->kept, struct kept, link);

        *ret_bytes += s->bytes;
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
        if (first && first->at_ms < at_ms) {
            at_ms = first->at_ms;
            oldest = s;
        }
    }
    return oldest;
}

size_t strands_trim(struct link *strands, size_t max_bytes)
{
    size_t bytes;
    struct strand *oldest = oldest_of(strands, &bytes);

    while (oldest && bytes > max_bytes) {
        forget_oldest(oldest);
        oldest = oldest_of(strands, &bytes);
    }
    return bytes;
}

/* --- the outlet --- */

static bool can_speak(const struct strand *s)
{
    return s->outlet && !s->is_choked;
}

static struct outlet *detach(struct strand *s)
{
    struct outlet *outlet = s->outlet;

    if (outlet)
        outlet->strand = NULL;
    s->outlet = NULL;
    s->is_choked = false;
    return outlet;
}

static void attach(struct strand *s, struct outlet *outlet, uint64_t now_ms)
{
    s->outlet = outlet;
    outlet->strand = s;
    s->attached_ms = now_ms;
    s->spoke_ms = now_ms;
}

/* Who takes no more is lost anyway. */
static void end_outlet(struct strand *s)
{
    bool is_choked = s->is_choked;
    struct outlet *outlet = detach(s);

    if (outlet && !is_choked)
        outlet->ops->end(outlet);
}

static struct str take_visit(struct strand *s)
{
    struct str visit = s->terms.visit;

    s->terms.visit = S("");
    return visit;
}

static void tell(struct strand *s, struct outlet_event event, uint64_t now_ms)
{
    struct outlet *outlet = s->outlet;

    if (!can_speak(s))
        return;
    if (!outlet->is_stream)
        event.visit = take_visit(s);
    s->is_choked = !outlet->ops->event(outlet, &event);
    outlet->is_stream = true;
    s->is_stream = true;
    s->spoke_ms = now_ms;
}

static struct str put_id(const struct strand *s, uint64_t sequence, char text[STRAND_ID])
{
    int len;

    if (!s->terms.is_resumable)
        return S("");
    len = snprintf(text, STRAND_ID, "%" PRIu64 "-%" PRIu64, s->terms.number, sequence);
    return (struct str){ text, (size_t)len };
}

static void tell_message(struct strand *s, struct str message, uint64_t sequence,
                         uint64_t now_ms)
{
    char id[STRAND_ID];

    tell(s, (struct outlet_event){ .message = message, .id = put_id(s, sequence, id) },
         now_ms);
}

/* The id with which a stream begins is told at once, on every outlet: who is closed
 * before anything else has come must know where to go on. */
static void begin_stream(struct strand *s, uint64_t after, uint64_t now_ms)
{
    char id[STRAND_ID];
    struct outlet_event event = {};

    if (!can_speak(s) || s->outlet->is_stream)
        return;
    if (s->terms.has_priming)
        event.id = put_id(s, after, id);
    tell(s, event, now_ms);
}

/* --- life --- */

struct strand *strand_new(const struct strand_terms *terms, struct outlet *outlet,
                          uint64_t now_ms)
{
    struct strand *s = xcalloc(1, sizeof(*s) + terms->visit.len);

    s->terms = *terms;
    if (terms->visit.len)
        memcpy(s->visit, terms->visit.ptr, terms->visit.len);
    s->terms.visit = (struct str){ s->visit, terms->visit.len };
    list_init(&s->kept);
    attach(s, outlet, now_ms);
    if (terms->is_standing)
        begin_stream(s, 0, now_ms);
    return s;
}

static void reply(struct strand *s, unsigned status, struct str message)
{
    struct str visit = take_visit(s);
    struct outlet *outlet = detach(s);

    outlet->ops->reply(
        outlet,
        &(struct outlet_reply){ .status = status, .message = message, .visit = visit });
}

void strand_free(struct strand *s)
{
    struct kept *kept;

    if (!s || s->is_going)
        return;
    s->is_going = true;
    if (can_speak(s) && !s->outlet->is_stream)
        reply(s, 202, S(""));
    end_outlet(s);
    LIST_FOREACH(kept, &s->kept, link)
        forget(s, kept);
    list_remove(&s->link);
    if (s->terms.on_freed)
        s->terms.on_freed(s->terms.user);
    free(s);
}

void strand_send(struct strand *s, struct str message, uint64_t now_ms)
{
    if (s->is_going || s->is_answered)
        return;
    if (s->terms.has_priming)
        begin_stream(s, s->sequence, now_ms);
    if (!s->is_stream && !can_speak(s))
        return;
    s->sequence++;
    keep(s, message, now_ms);
    tell_message(s, message, s->sequence, now_ms);
}

void strand_answer(struct strand *s, unsigned status, struct str message, uint64_t now_ms)
{
    if (s->is_going || s->is_answered)
        return;
    if (!s->is_stream) {
        if (can_speak(s))
            reply(s, status, message);
        strand_free(s);
        return;
    }
    if (message.len)
        strand_send(s, message, now_ms);
    s->is_answered = true;
    s->idle_ms = now_ms;
    end_outlet(s);
    if (!s->terms.is_resumable)
        strand_free(s);
}

void strand_lost(struct outlet *outlet, uint64_t now_ms)
{
    struct strand *s = outlet->strand;

    if (!s)
        return;
    (void)detach(s);
    s->idle_ms = now_ms;
    if (s->terms.is_resumable)
        return;
    s->is_going = true;
    if (s->terms.on_lost)
        s->terms.on_lost(s->terms.user);
    s->is_going = false;
    strand_free(s);
}

/* --- resumption --- */

bool strand_read_id(struct str id, uint64_t *ret_number, uint64_t *ret_sequence)
{
    struct str number = str_cut(&id, '-');
    uint64_t found, sequence;

    if (!id.ptr || str_to_u64(number, UINT64_MAX, &found) ||
        str_to_u64(id, UINT64_MAX, &sequence))
        return false;
    *ret_number = found;
    *ret_sequence = sequence;
    return true;
}

bool strand_resume(struct strand *s, struct outlet *outlet, uint64_t after,
                   uint64_t now_ms)
{
    const struct kept *kept;

    if (s->is_going || !s->is_stream || !s->terms.is_resumable)
        return false;
    if (after > s->sequence)
        after = s->sequence;
    end_outlet(s);
    attach(s, outlet, now_ms);
    s->resumed++;
    begin_stream(s, after, now_ms);
    LIST_FOREACH(kept, &s->kept, link)
        if (kept->sequence > after)
            tell_message(s, (struct str){ kept->text, kept->len }, kept->sequence,
                         now_ms);
    if (s->is_answered)
        end_outlet(s);
    return true;
}

/* --- time --- */

static bool is_polled(const struct strand *s)
{
    return s->terms.poll_ms && s->terms.is_resumable && s->terms.has_priming &&
           !s->terms.is_standing && !s->is_answered;
}

static uint64_t close_ms(const struct strand *s)
{
    unsigned doublings = s->resumed < MAX_DOUBLINGS ? s->resumed : MAX_DOUBLINGS;

    return is_polled(s) ? s->attached_ms + (s->terms.poll_ms << doublings) : UINT64_MAX;
}

/* When an answer that does not come becomes a stream. */
static uint64_t begin_ms(const struct strand *s)
{
    uint64_t late = s->attached_ms + STRAND_STREAM_MS;

    if (!s->terms.is_resumable)
        return UINT64_MAX;
    return close_ms(s) < late ? close_ms(s) : late;
}

static bool is_kept(const struct strand *s)
{
    return !s->outlet && (s->is_answered || s->terms.is_standing);
}

bool strand_tick(struct strand *s, uint64_t now_ms)
{
    if (can_speak(s) && !s->outlet->is_stream && now_ms >= begin_ms(s))
        begin_stream(s, s->sequence, now_ms);
    if (can_speak(s) && now_ms >= close_ms(s)) {
        tell(s, (struct outlet_event){ .retry_ms = STRAND_RETRY_MS }, now_ms);
        end_outlet(s);
    }
    if (can_speak(s) && s->outlet->is_stream &&
        now_ms >= s->spoke_ms + STRAND_MURMUR_MS) {
        s->outlet->ops->murmur(s->outlet);
        s->spoke_ms = now_ms;
    }
    return is_kept(s) && now_ms >= s->idle_ms + STRAND_KEPT_MS;
}

uint64_t strand_due_ms(const struct strand *s)
{
    uint64_t murmur = s->spoke_ms + STRAND_MURMUR_MS;

    if (is_kept(s))
        return s->idle_ms + STRAND_KEPT_MS;
    if (!can_speak(s))
        return UINT64_MAX;
    if (!s->outlet->is_stream)
        return begin_ms(s);
    return close_ms(s) < murmur ? close_ms(s) : murmur;
}

uint64_t strand_number(const struct strand *s)
{
    return s->terms.number;
}

bool strand_is_attached(const struct strand *s)
{
    return s->outlet;
}

bool strand_is_answered(const struct strand *s)
{
    return s->is_answered;
}

size_t strand_bytes(const struct strand *s)
{
    return s->bytes;
}

void *strand_user(const struct strand *s, void (*on_freed)(void *user))
{
    return s->terms.on_freed == on_freed ? s->terms.user : NULL;
}

struct link *strand_link(struct strand *s)
{
    return &s->link;
}

struct strand *strand_of(struct link *link)
{
    return CONTAINER_OF(link, struct strand, link);
}
