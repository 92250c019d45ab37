/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/gate.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "envelope/envelope.h"
#include "json/json.h"
#include "participant/keep.h"

/* A decision that goes on counting. */
struct kept {
    struct gate_decision decision; /* texts behind the struct */
    struct str key;                /* likewise */
    uint64_t number;               /* for cursors */
    uint64_t due_ms;               /* monotonic */
    struct link link;              /* oldest first */
};

struct gate {
    struct link pending;
    size_t pending_count, pending_bytes;
    struct link kept;
    struct map by_key;
    uint64_t numbers;
};

struct gate *gate_new(void)
{
    struct gate *gate = xcalloc(1, sizeof(*gate));

    list_init(&gate->pending);
    list_init(&gate->kept);
    map_init(&gate->by_key);
    return gate;
}

static void kept_free(struct gate *gate, struct kept *kept)
{
    (void)map_remove(&gate->by_key, kept->key);
    list_remove(&kept->link);
    free(kept);
}

void gate_free(struct gate *gate)
{
    struct gate_pending *pending;
    struct kept *kept;

    if (!gate)
        return;
    LIST_FOREACH(pending, &gate->pending, link) {
        gate_take(gate, pending);
        gate_pending_free(pending);
    }
    LIST_FOREACH(kept, &gate->kept, link)
        kept_free(gate, kept);
    map_done(&gate->by_key);
    free(gate);
}

/* --- decisions that go on counting --- */

/* Neither names nor tools have a zero byte. */
static void put_key(struct buf *out, struct str caller, struct str tool, struct str print)
{
    buf_put(out, caller);
    buf_putc(out, '\0');
    buf_put(out, tool);
    buf_putc(out, '\0');
    buf_put(out, print);
}

/* By both clocks: setting one of them back prolongs nothing. */
static bool is_over(const struct kept *kept, struct moment now)
{
    return kept->decision.valid_ms <= now.wall_ms || kept->due_ms <= now.mono_ms;
}

static void drop_over(struct gate *gate, struct moment now)
{
    struct kept *kept;

    LIST_FOREACH(kept, &gate->kept, link)
        if (is_over(kept, now))
            kept_free(gate, kept);
}

static struct kept *find_kept(const struct gate *gate, struct str caller, struct str tool,
                              struct str print)
{
    CLEANUP(buf_done) struct buf key;

    buf_init(&key, caller.len + tool.len + print.len + 2);
    if (!print.len)
        return NULL;
    put_key(&key, caller, tool, print);
    return map_find(&gate->by_key, buf_str(&key));
}

const struct gate_decision *gate_find(struct gate *gate, const struct gate_call *call,
                                      struct moment now)
{
    struct kept *kept = find_kept(gate, call->caller, call->tool, call->print);

    if (!kept)
        return NULL;
    if (is_over(kept, now)) {
        kept_free(gate, kept);
        return NULL;
    }
    if (str_eq(kept->decision.by, call->proposer))
        return NULL; /* it would be his own */
    kept->decision.uses++;
    return &kept->decision;
}

static struct kept *kept_new(const struct gate_decision *decision, struct str print)
{
    struct buf key;
    struct kept *kept;
    char *at;

    buf_init(&key, decision->caller.len + decision->tool.len + print.len + 2);
    put_key(&key, decision->caller, decision->tool, print);
    kept = xcalloc(1, sizeof(*kept) + decision->id.len + decision->caller.len +
                          decision->tool.len + decision->arguments.len +
                          decision->by.len + decision->reason.len + key.len);
    at = (char *)(kept + 1);
    kept->decision = *decision;
    kept->decision.id = keep_str(&at, decision->id);
    kept->decision.caller = keep_str(&at, decision->caller);
    kept->decision.tool = keep_str(&at, decision->tool);
    kept->decision.arguments = keep_str(&at, decision->arguments);
    kept->decision.by = keep_str(&at, decision->by);
    kept->decision.reason = keep_str(&at, decision->reason);
    kept->key = keep_str(&at, buf_str(&key));
    buf_done(&key);
    return kept;
}

/* The one decided first is forgotten first: its call is asked about again. */
static void keep(struct gate *gate, const struct gate_decision *decision,
                 struct str print, struct moment now)
{
    struct kept *kept = find_kept(gate, decision->caller, decision->tool, print);

    if (kept)
        kept_free(gate, kept);
    drop_over(gate, now);
    kept = LIST_FIRST(&gate->kept, struct kept, link);
    if (kept && gate->by_key.count >= GATE_KEPT)
        kept_free(gate, kept);
    kept = kept_new(decision, print);
    kept->number = ++gate->numbers;
    kept->due_ms = now.mono_ms + (decision->valid_ms - now.wall_ms);
    list_append(&gate->kept, &kept->link);
    map_set(&gate->by_key, kept->key, kept);
}

/* --- pending --- */

static enum err fail(enum err err, const char **ret_why, const char *why)
{
    *ret_why = why;
    return err;
}

static enum err check_room(const struct gate *gate, const struct gate_call *call,
                           const char **ret_why)
{
    const struct gate_pending *pending;
    size_t count = 0, bytes = call->arguments.len;

    LIST_FOREACH(pending, &gate->pending, link)
        if (str_eq(pending->caller, call->caller)) {
            count++;
            bytes += pending->arguments.len;
        }
    if (count >= GATE_PENDING_EACH || bytes > GATE_BYTES_EACH)
        return fail(ERR_OVERLOAD, ret_why,
                    "too many calls of this caller wait for authorization");
    if (gate->pending_count >= GATE_PENDING ||
        gate->pending_bytes + call->arguments.len > GATE_BYTES)
        return fail(ERR_OVERLOAD, ret_why, "too many calls wait for authorization");
    return OK;
}

/* Nobody can be asked twice about one call. */
static void note_decider(struct gate_pending *pending, struct str who)
{
    if (pending->decider_count < COUNT(pending->deciders))
        pending->deciders[pending->decider_count++] = str_dup(who);
}

enum err gate_add(struct gate *gate, const struct gate_call *call,
                  const struct gate_wait *wait, struct moment now,
                  struct gate_pending **ret, const char **ret_why)
{
    struct gate_pending *pending;
    enum err err = check_room(gate, call, ret_why);
    char *at;

    if (err)
        return err;
    pending = xcalloc(1, sizeof(*pending) + wait->id.len + call->caller.len +
                             call->proposer.len + call->tool.len + call->arguments.len +
                             call->print.len);
    at = (char *)(pending + 1);
    pending->id = keep_str(&at, wait->id);
    pending->caller = keep_str(&at, call->caller);
    pending->proposer = keep_str(&at, call->proposer);
    pending->tool = keep_str(&at, call->tool);
    pending->arguments = keep_str(&at, call->arguments);
    pending->print = keep_str(&at, call->print);
    pending->due_ms = now.mono_ms + wait->timeout_ms;
    pending->expires_ms = now.wall_ms + wait->timeout_ms;
    pending->reason = str_dup(utf8_cut(wait->reason, GATE_REASON));
    pending->user = wait->user;
    if (wait->delegate.len) {
        pending->delegate = str_dup(wait->delegate);
        note_decider(pending, wait->delegate);
    }
    list_append(&gate->pending, &pending->link);
    gate->pending_count++;
    gate->pending_bytes += pending->arguments.len;
    *ret = pending;
    return OK;
}

void gate_take(struct gate *gate, struct gate_pending *pending)
{
    if (!link_is_set(&pending->link))
        return;
    list_remove(&pending->link);
    gate->pending_count--;
    gate->pending_bytes -= pending->arguments.len;
}

void gate_pending_free(struct gate_pending *pending)
{
    if (!pending)
        return;
    for (size_t i = 0; i < pending->decider_count; i++)
        free(pending->deciders[i]);
    free(pending->reason);
    free(pending->delegate);
    free(pending->announcement);
    free(pending);
}

void gate_open_up(struct gate_pending *pending, struct str why)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, (size_t)4 * GATE_REASON);
    buf_putf(&text, STR_FMT ": whoever may decides; %s", STR_ARG(why), pending->reason);
    free(pending->delegate);
    pending->delegate = NULL;
    free(pending->reason);
    pending->reason = str_dup(utf8_cut(buf_str(&text), GATE_REASON));
}

void gate_announced(struct gate_pending *pending, struct str envelope_id)
{
    free(pending->announcement);
    pending->announcement = str_dup(envelope_id);
}

static struct gate_pending *find_pending(const struct gate *gate, struct str id)
{
    struct gate_pending *pending;

    LIST_FOREACH(pending, &gate->pending, link)
        if (str_eq(pending->id, id))
            return pending;
    return NULL;
}

struct gate_pending *gate_next(const struct gate *gate, const struct gate_pending *after)
{
    const struct link *next = after ? after->link.next : gate->pending.next;

    if (next == &gate->pending)
        return NULL;
    return CONTAINER_OF((uintptr_t)next, struct gate_pending, link); /* drops const */
}

struct gate_pending *gate_expired(struct gate *gate, struct moment now)
{
    struct gate_pending *pending;

    LIST_FOREACH(pending, &gate->pending, link)
        if (pending->due_ms <= now.mono_ms) {
            gate_take(gate, pending);
            return pending;
        }
    return NULL;
}

uint64_t gate_due_ms(const struct gate *gate)
{
    uint64_t due = UINT64_MAX;
    const struct gate_pending *pending;

    LIST_FOREACH(pending, &gate->pending, link)
        if (pending->due_ms < due)
            due = pending->due_ms;
    return due;
}

/* --- deciding --- */

static bool is_concerned(const struct gate_pending *pending, struct str who)
{
    return str_eq(pending->caller, who) ||
           (pending->proposer.len && str_eq(pending->proposer, who));
}

/* Why this word does not count for it; NULL: it does. */
static const char *objection(const struct gate_pending *pending,
                             const struct gate_word *word, struct moment now)
{
    if (word->about.len && pending->announcement &&
        !str_eq(word->about, str_of(pending->announcement)))
        return "it answers another announcement";
    if (is_concerned(pending, word->from))
        return "nobody decides on his own call";
    if (pending->delegate && !str_eq(str_of(pending->delegate), word->from))
        return "somebody else was asked to decide";
    if (pending->due_ms <= now.mono_ms)
        return "it is too late";
    return NULL;
}

/* 0: for this one call. ERR_INVALID: no time, or none to come. */
static enum err read_validity(const struct gate_word *word, struct moment now,
                              uint64_t *ret)
{
    uint64_t valid_ms;

    *ret = 0;
    if (!word->valid_until.ptr)
        return OK;
    if (clock_parse(word->valid_until, &valid_ms) || valid_ms <= now.wall_ms)
        return ERR_INVALID;
    if (valid_ms > now.wall_ms + GATE_KEPT_MS)
        valid_ms = now.wall_ms + GATE_KEPT_MS;
    *ret = valid_ms;
    return OK;
}

static void decide(struct gate *gate, struct gate_pending *pending,
                   const struct gate_word *word, struct moment now,
                   struct gate_decision *ret)
{
    bool can_be_kept =
        ret->valid_ms && pending->print.len && pending->arguments.len <= GATE_KEPT_BYTES;

    ret->id = pending->id;
    ret->caller = pending->caller;
    ret->tool = pending->tool;
    ret->arguments = pending->arguments;
    ret->by = word->from;
    ret->reason = utf8_cut(word->reason, GATE_REASON);
    ret->uses = 1;
    if (!can_be_kept)
        ret->valid_ms = 0;
    gate_take(gate, pending);
    if (can_be_kept)
        keep(gate, ret, pending->print, now);
}

/* Why it cannot be his; NULL: it can. */
static const char *hand_objection(const struct gate_pending *pending, struct str to,
                                  struct str from)
{
    if (!to.len || to.len > GATE_ID_MAX || envelope_has_control(to))
        return "it does not say to whom it is handed on";
    if (is_concerned(pending, to))
        return "nobody decides on his own call";
    if (str_eq(to, from))
        return "it was handed on to whoever did so";
    for (size_t i = 0; i < pending->decider_count; i++)
        if (str_eq(to, str_of(pending->deciders[i])))
            return "it was handed on in a circle";
    if (pending->hops >= GATE_HOPS)
        return "it was handed on too often";
    return NULL;
}

static enum gate_effect hand_on(struct gate_pending *pending,
                                const struct gate_word *word, const char **ret_why)
{
    *ret_why = hand_objection(pending, word->delegate, word->from);
    if (*ret_why)
        return GATE_IGNORED;
    if (!pending->delegate)
        note_decider(pending, word->from);
    pending->hops++;
    free(pending->delegate);
    pending->delegate = str_dup(word->delegate);
    note_decider(pending, word->delegate);
    return GATE_HANDED_ON;
}

enum gate_effect gate_respond(struct gate *gate, const struct gate_word *word,
                              struct moment now, struct gate_pending **ret_pending,
                              struct gate_decision *ret_decision, const char **ret_why)
{
    struct gate_pending *pending = find_pending(gate, word->id);

    *ret_decision = (struct gate_decision){};
    *ret_pending = pending;
    *ret_why =
        pending ? objection(pending, word, now) : "no such authorization is pending here";
    if (*ret_why)
        return GATE_IGNORED;
    if (str_eq(word->decision, S("delegate")))
        return hand_on(pending, word, ret_why);
    *ret_why = "the decision is approve, deny or delegate";
    ret_decision->is_approval = str_eq(word->decision, S("approve"));
    if (!ret_decision->is_approval && !str_eq(word->decision, S("deny")))
        return GATE_IGNORED;
    *ret_why = "validUntil is no time to come";
    if (read_validity(word, now, &ret_decision->valid_ms))
        return GATE_IGNORED;
    *ret_why = NULL;
    decide(gate, pending, word, now, ret_decision);
    return ret_decision->is_approval ? GATE_APPROVED : GATE_DENIED;
}

enum err gate_revoke(struct gate *gate, struct str id, struct str from, struct moment now,
                     struct gate_pending **ret_pending)
{
    struct kept *kept;

    drop_over(gate, now);
    *ret_pending = find_pending(gate, id);
    if (*ret_pending) {
        gate_take(gate, *ret_pending);
        return OK;
    }
    LIST_FOREACH(kept, &gate->kept, link) {
        if (!str_eq(kept->decision.id, id))
            continue;
        if (!kept->decision.is_approval && str_eq(kept->decision.caller, from))
            return ERR_FORBIDDEN;
        kept_free(gate, kept);
        return OK;
    }
    return ERR_NOT_FOUND;
}

/* --- lists --- */

static void put_arguments(struct json_writer *w, struct str arguments)
{
    json_key(w, S("arguments"));
    json_raw(w, arguments);
}

static void put_pending(struct json_writer *w, const struct gate_pending *pending)
{
    json_object_open(w);
    json_put_str(w, S("authorizationId"), pending->id);
    if (pending->announcement)
        json_put_str(w, S("announcement"), str_of(pending->announcement));
    json_put_str(w, S("tool"), pending->tool);
    if (pending->arguments.len <= GATE_KEPT_BYTES)
        put_arguments(w, pending->arguments);
    json_put_str(w, S("requester"), pending->caller);
    if (pending->proposer.len)
        json_put_str(w, S("proposer"), pending->proposer);
    json_put_str(w, S("reason"), str_of(pending->reason));
    if (pending->delegate)
        json_put_str(w, S("delegate"), str_of(pending->delegate));
    json_put_time(w, S("expiresAt"), pending->expires_ms);
    json_object_close(w);
}

static void put_kept(struct json_writer *w, const struct gate_decision *decision)
{
    json_object_open(w);
    json_put_str(w, S("authorizationId"), decision->id);
    json_put_str(w, S("tool"), decision->tool);
    put_arguments(w, decision->arguments);
    json_put_str(w, S("requester"), decision->caller);
    json_put_str(w, S("decision"), decision->is_approval ? S("approve") : S("deny"));
    json_put_str(w, S("decidedBy"), decision->by);
    json_put_str(w, S("reason"), decision->reason);
    json_put_time(w, S("validUntil"), decision->valid_ms);
    json_put_uint(w, S("uses"), decision->uses);
    json_object_close(w);
}

/* What is pending is on the first page alone; the rest of it is not shown where it is
 * more than that takes. */
static void put_all_pending(const struct gate *gate, struct json_writer *w, size_t max)
{
    const struct gate_pending *pending;

    json_key(w, S("pending"));
    json_array_open(w);
    LIST_FOREACH(pending, &gate->pending, link)
        if (w->out->len + pending->arguments.len < max)
            put_pending(w, pending);
    json_array_close(w);
}

static void put_cursor(struct json_writer *w, uint64_t number)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, 32);
    buf_putu(&text, number);
    json_put_str(w, S("nextCursor"), buf_str(&text));
}

enum err gate_put_list(struct gate *gate, struct str cursor, size_t page_bytes,
                       struct moment now, struct buf *out)
{
    uint64_t after = 0, last = 0;
    bool has_more = false;
    struct json_writer w;
    struct kept *kept;

    if (cursor.len && str_to_u64(cursor, UINT64_MAX, &after))
        return ERR_INVALID;
    drop_over(gate, now);
    json_write_init(&w, out);
    json_object_open(&w);
    if (!after)
        put_all_pending(gate, &w, page_bytes / 2);
    json_key(&w, S("authorizations"));
    json_array_open(&w);
    LIST_FOREACH(kept, &gate->kept, link) {
        if (kept->number <= after)
            continue;
        has_more = last && out->len + kept->decision.arguments.len > page_bytes;
        if (has_more)
            break;
        put_kept(&w, &kept->decision);
        last = kept->number;
    }
    json_array_close(&w);
    if (has_more)
        put_cursor(&w, last);
    json_object_close(&w);
    return OK;
}
