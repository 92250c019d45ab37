/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum {
    PRESENCE_NAMES = 8, /* in one entry */
    TO_BYTES = 4096,
    TITLE_BYTES = 512, /* of a thread */
};

/* clang-format off */
static const struct str words[] = {
    [STATE_NONE]        = S(""),
    [STATE_WAITING]     = S("waiting"),
    [STATE_AUTHORIZING] = S("waits to be allowed"),
    [STATE_ANSWERED]    = S("answered"),
    [STATE_FAILED]      = S("failed"),
    [STATE_DENIED]      = S("not allowed"),
    [STATE_ENDED]       = S("ended"),
    [STATE_OPEN]        = S("open"),
    [STATE_FULFILLED]   = S("fulfilled"),
    [STATE_ALLOWED]     = S("allowed"),
    [STATE_REJECTED]    = S("rejected"),
    [STATE_WITHDRAWN]   = S("withdrawn"),
    [STATE_EXPIRED]     = S("expired"),
};
/* clang-format on */

struct str state_word(enum entry_state state)
{
    return words[state];
}

void timeline_init(struct timeline *t, size_t max_count, size_t max_bytes)
{
    *t = (struct timeline){ .max_count = max_count, .max_bytes = max_bytes };
    list_init(&t->entries);
    map_init(&t->by_id);
    map_init(&t->threads);
    buf_init(&t->presence.names, 4096);
}

static struct entry *entry_of(const struct timeline *t, struct link *link)
{
    return link == &t->entries ? NULL : CONTAINER_OF(link, struct entry, link);
}

struct entry *timeline_first(const struct timeline *t)
{
    return entry_of(t, t->entries.next);
}

struct entry *timeline_last(const struct timeline *t)
{
    return entry_of(t, t->entries.prev);
}

struct entry *timeline_before(const struct timeline *t, const struct entry *entry)
{
    return entry_of(t, entry->link.prev);
}

struct entry *timeline_behind(const struct timeline *t, const struct entry *entry)
{
    return entry_of(t, entry->link.next);
}

static bool is_together(const struct entry *a, const struct entry *b)
{
    return a && b && a->thread && a->thread == b->thread;
}

bool entry_begins(const struct timeline *t, const struct entry *entry)
{
    return !is_together(entry, timeline_before(t, entry));
}

bool entry_ends(const struct timeline *t, const struct entry *entry)
{
    return !is_together(entry, timeline_behind(t, entry));
}

bool entry_is_reply(const struct entry *entry)
{
    return entry->thread && entry->thread->root != entry;
}

struct entry *timeline_find(const struct timeline *t, struct str id)
{
    return id.len ? map_find(&t->by_id, id) : NULL;
}

struct entry *timeline_find_number(const struct timeline *t, uint64_t number)
{
    for (struct entry *e = timeline_last(t); e; e = timeline_before(t, e))
        if (e->number == number)
            return e;
    return NULL;
}

/* --- going --- */

static void thread_leave(struct timeline *t, struct entry *entry)
{
    struct thread *thread = entry->thread;

    if (!thread)
        return;
    if (thread->root == entry)
        thread->root = NULL;
    entry->thread = NULL;
    if (--thread->count > 0)
        return;
    (void)map_remove(&t->threads, str_of(thread->root_id));
    free(thread->root_id);
    free(thread->title);
    free(thread);
}

/* A reader who is at an entry that goes is at the next one then. */
static void unpin(struct timeline *t, const struct entry *entry)
{
    if (t->pin != entry)
        return;
    t->pin = timeline_behind(t, entry);
    t->pin_line = 0;
}

static void entry_free(struct timeline *t, struct entry *entry)
{
    unpin(t, entry);
    if (t->presence.entry == entry)
        t->presence.entry = NULL;
    if (timeline_find(t, entry->id) == entry)
        (void)map_remove(&t->by_id, entry->id);
    thread_leave(t, entry);
    list_remove(&entry->link);
    t->count--;
    t->bytes -= entry->bytes;
    free(entry->note);
    free(entry);
}

void timeline_done(struct timeline *t)
{
    struct entry *e;

    LIST_FOREACH(e, &t->entries, link)
        entry_free(t, e);
    map_done(&t->by_id);
    map_done(&t->threads);
    buf_done(&t->presence.names);
}

static void make_room(struct timeline *t, const struct entry *newest)
{
    struct entry *e;

    LIST_FOREACH(e, &t->entries, link) {
        if (e == newest || (t->count <= t->max_count && t->bytes <= t->max_bytes))
            return;
        entry_free(t, e);
    }
}

/* --- coming --- */

static struct thread *thread_new(struct timeline *t, struct str root_id)
{
    struct thread *thread = xcalloc(1, sizeof(*thread));

    thread->root_id = str_dup(root_id);
    map_set(&t->threads, str_of(thread->root_id), thread);
    return thread;
}

static void thread_join(struct thread *thread, struct entry *entry)
{
    entry->thread = thread;
    thread->count++;
    if (!thread->title) {
        thread->number = entry->number;
        thread->title = str_dup(str_slice(entry->title, 0, TITLE_BYTES));
    }
    if (str_eq(entry->id, str_of(thread->root_id)))
        thread->root = entry;
}

/* The thread of what is answered; one begins where that was alone so far, or is not
 * known. */
static struct thread *thread_about(struct timeline *t, struct str about)
{
    struct entry *answered = timeline_find(t, about);
    struct thread *thread = answered ? answered->thread : map_find(&t->threads, about);

    if (thread)
        return thread;
    thread = map_find(&t->threads, about); /* that of an earlier entry of this id */
    if (!thread)
        thread = thread_new(t, about);
    if (answered)
        thread_join(thread, answered);
    return thread;
}

/* Behind the last of its thread, if that is near; else at the end. */
static void place(struct timeline *t, struct entry *entry)
{
    struct entry *near = timeline_last(t);

    assert(t->entries.prev); /* a list always has an end, if only its head */
    for (size_t i = 0; near && i < TIMELINE_NEAR; i++) {
        if (is_together(near, entry)) {
            list_append(near->link.next, &entry->link);
            return;
        }
        near = timeline_before(t, near);
    }
    list_append(&t->entries, &entry->link);
}

static struct str store(char **at, struct str text)
{
    char *to = *at;

    if (text.len)
        memcpy(to, text.ptr, text.len);
    *at = to + text.len;
    return (struct str){ to, text.len };
}

/* The texts stand behind the entry. */
static struct entry *entry_new(struct timeline *t, const struct entry *like)
{
    size_t bytes = sizeof(*like) + like->from.len + like->title.len + like->body.len +
                   like->id.len + like->to.len + like->raw.len;
    struct entry *e = xmalloc(bytes);
    char *at = (char *)(e + 1);

    *e = *like;
    e->from = store(&at, like->from);
    e->title = store(&at, like->title);
    e->body = store(&at, like->body);
    e->id = store(&at, like->id);
    e->to = store(&at, like->to);
    e->raw = store(&at, like->raw);
    e->bytes = bytes;
    if (e->number == 0)
        e->number = ++t->last_number;
    return e;
}

static struct entry *add(struct timeline *t, const struct entry *like, struct str about)
{
    struct entry *e = entry_new(t, like);
    struct thread *thread = about.len ? thread_about(t, about) : NULL;

    if (!thread && e->id.len)
        thread = map_find(&t->threads, e->id); /* its answer came first */
    if (e->id.len)
        map_set(&t->by_id, e->id, e);
    if (thread)
        thread_join(thread, e);
    place(t, e);
    t->count++;
    t->bytes += e->bytes;
    if (t->pin)
        t->unseen++;
    make_room(t, e);
    return e;
}

/* --- states --- */

static void set_state(struct entry *e, enum entry_state state, struct str note)
{
    e->state = state;
    free(e->note);
    e->note = note.len ? str_dup(note) : NULL;
}

void timeline_mark(struct timeline *t, struct str id, enum entry_state state,
                   struct str note)
{
    struct entry *e = timeline_find(t, id);

    if (e)
        set_state(e, state, note);
}

static bool is_waiting(const struct entry *e)
{
    return e && (e->state == STATE_WAITING || e->state == STATE_AUTHORIZING);
}

/* What was asked of nobody in particular, anybody may answer. */
static bool was_asked(const struct entry *call, struct str who)
{
    struct str rest = call->to;

    if (rest.len == 0)
        return true;
    while (rest.ptr)
        if (str_eq(str_cut(&rest, '\n'), who))
            return true;
    return false;
}

static void settle(struct timeline *t, const struct said *said,
                   const struct telling *telling)
{
    static const enum entry_state states[] = {
        [TELL_FINE] = STATE_ANSWERED,
        [TELL_FAILED] = STATE_FAILED,
        [TELL_DENIED] = STATE_DENIED,
        [TELL_PROVISIONAL] = STATE_AUTHORIZING,
    };
    struct entry *call = timeline_find(t, said->correlation_id);

    if (is_waiting(call) && was_asked(call, said->from))
        set_state(call, states[telling->outcome], (struct str){});
}

static void advance(struct timeline *t, const struct said *said,
                    const struct telling *telling)
{
    struct entry *call = timeline_find(t, buf_str(&telling->about));

    if (is_waiting(call) && was_asked(call, said->from))
        set_state(call, call->state, buf_str(&telling->title));
}

static void put_to(struct buf *out, const struct said *said)
{
    for (size_t i = 0; i < said->to_count; i++) {
        if (i > 0)
            buf_putc(out, '\n');
        buf_put(out, said->to[i]);
    }
}

struct entry *timeline_say(struct timeline *t, const struct said *said,
                           const struct telling *telling)
{
    struct buf from, to;
    struct entry *e;

    if (telling->type == TELL_PROGRESS) {
        advance(t, said, telling);
        return NULL;
    }
    buf_init(&from, 1024);
    buf_init(&to, TO_BYTES);
    tell_put_name(&from, said->from);
    put_to(&to, said);
    e = add(t,
            &(struct entry){ .told = telling->type,
                             .when_ms = said->when_ms,
                             .is_mine = said->is_mine,
                             .is_cut = telling->is_cut,
                             .from = buf_str(&from),
                             .title = buf_str(&telling->title),
                             .body = buf_str(&telling->body),
                             .id = said->id,
                             .to = buf_str(&to),
                             .raw = str_slice(said->raw, 0, TIMELINE_RAW),
                             .raw_len = said->raw.len },
            said->correlation_id);
    if (telling->type == TELL_CALL)
        e->state = STATE_WAITING;
    else if (telling->type == TELL_PROPOSAL)
        e->state = STATE_OPEN;
    else if (telling->type == TELL_ANSWER)
        settle(t, said, telling);
    buf_done(&to);
    buf_done(&from);
    return e;
}

struct entry *timeline_note(struct timeline *t, enum entry_type type, struct str about,
                            struct str text, uint64_t when_ms)
{
    return add(t,
               &(struct entry){ .type = type,
                                .told = TELL_SYSTEM,
                                .when_ms = when_ms,
                                .body = str_slice(text, 0, TELL_BODY_BYTES) },
               timeline_find(t, about) ? about : (struct str){});
}

/* "alice, bob and 3 more joined" */
static void put_presence(const struct timeline *t, struct buf *out)
{
    buf_put(out, buf_str(&t->presence.names));
    if (t->presence.count > PRESENCE_NAMES)
        buf_putf(out, " and %zu more", t->presence.count - PRESENCE_NAMES);
    buf_putf(out, " " STR_FMT, STR_ARG(t->presence.verb));
}

void timeline_presence(struct timeline *t, struct str verb, struct str name,
                       uint64_t when_ms)
{
    struct entry *last = timeline_last(t);
    struct entry like = { .type = ENTRY_PRESENCE,
                          .told = TELL_SYSTEM,
                          .when_ms = when_ms };
    struct buf text;

    if (last && last == t->presence.entry && str_eq(verb, t->presence.verb)) {
        like.number = last->number;
        t->unseen -= t->unseen > 0;
        entry_free(t, last);
    } else {
        buf_clear(&t->presence.names);
        t->presence.count = 0;
        t->presence.verb = verb;
    }
    if (t->presence.count > 0 && t->presence.count < PRESENCE_NAMES)
        buf_put(&t->presence.names, S(", "));
    if (t->presence.count++ < PRESENCE_NAMES)
        tell_put_name(&t->presence.names, name);
    buf_init(&text, 8192);
    put_presence(t, &text);
    like.body = buf_str(&text);
    t->presence.entry = add(t, &like, (struct str){});
    buf_done(&text);
}
