/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/proposals.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "envelope/system.h"
#include "participant/keep.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_table.h"

struct proposals *proposals_new(size_t max)
{
    struct proposals *ps = xcalloc(1, sizeof(*ps));

    ps->max = max;
    ps->due_ms = UINT64_MAX;
    map_init(&ps->by_id);
    list_init(&ps->by_age);
    list_init(&ps->closed);
    list_init(&ps->authorizations);
    list_init(&ps->news);
    return ps;
}

static void entry_free(struct proposals *ps, struct entry *entry)
{
    (void)map_remove(&ps->by_id, entry->proposed.id);
    list_remove(&entry->proposed.link);
    list_remove(&entry->group);
    list_remove(&entry->news);
    ps->bytes -= entry->bytes;
    free(entry->verdict);
    free(entry->approvers);
    free(entry);
}

void proposals_free(struct proposals *ps)
{
    struct entry *entry;

    if (!ps)
        return;
    LIST_FOREACH(entry, &ps->by_age, proposed.link)
        entry_free(ps, entry);
    map_done(&ps->by_id);
    free(ps);
}

struct entry *proposals_find(const struct proposals *ps, struct str id)
{
    return map_find(&ps->by_id, id);
}

bool proposals_is_open(const struct proposals *ps, struct str id)
{
    const struct entry *entry = proposals_find(ps, id);

    return entry && entry->proposed.state == PROPOSED_OPEN;
}

/* --- entering --- */

/* The one decided first is forgotten first. */
static bool forget_one(struct proposals *ps)
{
    struct entry *entry;

    LIST_FOREACH(entry, &ps->closed, group) {
        if (entry == ps->told)
            continue;
        entry_free(ps, entry);
        return true;
    }
    return false;
}

static struct str source_of(const struct proposed *p)
{
    return p->owner.len ? p->owner : p->proposer;
}

/* Nobody takes more than a quarter of the table, in number or in bytes. */
struct share {
    size_t count, bytes;
};

static struct share share_of(const struct proposals *ps, struct str source)
{
    struct share share = {};
    const struct entry *entry;

    LIST_FOREACH(entry, &ps->by_age, proposed.link) {
        if (entry->proposed.state != PROPOSED_OPEN ||
            !str_eq(source_of(&entry->proposed), source))
            continue;
        share.count++;
        share.bytes += entry->bytes;
    }
    return share;
}

static size_t entry_size(const struct proposed *p, struct str request_id)
{
    return sizeof(struct entry) + keep_strs_size(p->to, p->to_count) + p->id.len +
           p->proposer.len + p->owner.len + p->authorization_id.len + p->asked.len +
           p->method.len + p->name.len + p->params.len + p->reason.len + request_id.len;
}

static struct entry *entry_new(const struct proposed *p, struct str request_id)
{
    size_t size = entry_size(p, request_id);
    struct entry *entry = xcalloc(1, size);
    char *at = (char *)(entry + 1);

    entry->bytes = size;
    entry->proposed = *p;
    entry->proposed.to = keep_strs(&at, p->to, p->to_count);
    entry->proposed.id = keep_str(&at, p->id);
    entry->proposed.proposer = keep_str(&at, p->proposer);
    entry->proposed.owner = keep_str(&at, p->owner);
    entry->proposed.authorization_id = keep_str(&at, p->authorization_id);
    entry->proposed.asked = keep_str(&at, p->asked);
    entry->proposed.method = keep_str(&at, p->method);
    entry->proposed.name = keep_str(&at, p->name);
    entry->proposed.params = keep_str(&at, p->params);
    entry->reason = entry->proposed.reason = keep_str(&at, p->reason);
    entry->proposed.link = (struct link){};
    entry->request_id = keep_str(&at, request_id);
    return entry;
}

static void tell_later(struct proposals *ps, struct entry *entry)
{
    if (!link_is_set(&entry->news))
        list_append(&ps->news, &entry->news);
}

void proposals_tell_later(struct occupant *o, struct entry *entry)
{
    tell_later(o->proposals, entry);
}

bool proposals_count(struct entry *entry, uint32_t needed, uint32_t given)
{
    struct proposed *p = &entry->proposed;
    bool is_new = p->needed != needed || p->given != given;

    p->needed = needed;
    p->given = given;
    return is_new;
}

static void note_due(struct occupant *o, const struct entry *entry)
{
    uint64_t wall_ms = o->now.wall_ms;
    uint64_t expires_ms = entry->proposed.expires_ms;
    uint64_t due_ms = o->now.mono_ms + (expires_ms > wall_ms ? expires_ms - wall_ms : 0);

    if (due_ms < o->proposals->due_ms)
        o->proposals->due_ms = due_ms;
}

static void link_open(struct occupant *o, struct entry *entry)
{
    struct proposals *ps = o->proposals;

    entry->proposed.state = PROPOSED_OPEN;
    list_remove(&entry->group);
    if (entry->proposed.owner.len)
        list_append(&ps->authorizations, &entry->group);
    note_due(o, entry);
    tell_later(ps, entry);
}

/* Makes room among what is decided, as far as there is any. */
static void make_room(struct proposals *ps, size_t size)
{
    while (ps->by_id.count >= ps->max || ps->bytes + size > PROPOSALS_BYTES)
        if (!forget_one(ps))
            break;
}

static bool fits(const struct proposals *ps, const struct proposed *p, size_t size)
{
    struct share share = share_of(ps, source_of(p));

    if (ps->by_id.count >= ps->max || ps->bytes + size > PROPOSALS_BYTES)
        return false;
    return (p->is_mine && !p->owner.len) ||
           (share.count <= ps->max / PROPOSALS_SHARES &&
            share.bytes + size <= PROPOSALS_BYTES / PROPOSALS_SHARES);
}

/* Where all of it is too much, it is known that there is such a proposal. */
static struct entry *entry_fitting(struct proposals *ps, struct proposed *p,
                                   struct str request_id)
{
    make_room(ps, entry_size(p, request_id));
    if (!fits(ps, p, entry_size(p, request_id)))
        p->params = p->reason = S("");
    if (!fits(ps, p, entry_size(p, request_id)))
        return NULL;
    return entry_new(p, request_id);
}

struct entry *proposals_enter(struct occupant *o, const struct proposed *seen,
                              struct str request_id)
{
    struct proposals *ps = o->proposals;
    struct entry *entry = proposals_find(ps, seen->id);
    struct proposed p = *seen;

    if (entry && entry == ps->told)
        return NULL;
    if (entry)
        entry_free(ps, entry);
    p.is_mine = str_eq(p.proposer, o->id);
    entry = entry_fitting(ps, &p, request_id);
    if (!entry)
        return NULL;
    map_set(&ps->by_id, entry->proposed.id, entry);
    list_append(&ps->by_age, &entry->proposed.link);
    ps->bytes += entry->bytes;
    link_open(o, entry);
    return entry;
}

void proposals_date(struct occupant *o, struct entry *entry, uint64_t created_ms,
                    uint64_t expires_ms)
{
    entry->proposed.created_ms = created_ms;
    entry->proposed.expires_ms = expires_ms;
    note_due(o, entry);
}

uint64_t proposals_expiry(const struct occupant *o, struct str text, uint64_t created_ms)
{
    uint64_t latest_ms = o->now.wall_ms + PROPOSALS_MAX_MS;
    uint64_t wall_ms;

    if (clock_parse(text, &wall_ms))
        wall_ms = created_ms + PROPOSALS_EXPIRY_MS;
    return wall_ms < latest_ms ? wall_ms : latest_ms;
}

/* --- ending --- */

static struct str cut(struct str text)
{
    size_t len = text.len;

    if (len <= PROPOSALS_REASON)
        return text;
    len = PROPOSALS_REASON;
    while (len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return str_slice(text, 0, len);
}

static bool can_change(const struct entry *entry)
{
    return entry->proposed.state == PROPOSED_OPEN ||
           entry->proposed.state == PROPOSED_EXPIRED || entry->decision_len;
}

static bool is_echo(const struct entry *entry, const struct ruling *ruling)
{
    return entry->decision_len &&
           str_eq((struct str){ entry->decision, entry->decision_len },
                  ruling->said_by_us);
}

static void note_decision(struct entry *entry, struct str id)
{
    char *at = entry->decision;

    entry->decision_len = keep_str(&at, str_slice(id, 0, ASK_ID)).len;
}

static void note_ruling(struct entry *entry, const struct ruling *ruling)
{
    struct str reason = cut(ruling->reason);
    char *kept = xmalloc(ruling->by.len + reason.len + 1);
    char *at = kept;

    entry->proposed.state = ruling->state;
    entry->proposed.by = keep_str(&at, ruling->by);
    entry->proposed.reason =
        ruling->state == PROPOSED_REJECTED ? keep_str(&at, reason) : entry->reason;
    free(entry->verdict);
    entry->verdict = kept;
}

void proposals_close(struct occupant *o, struct entry *entry, const struct ruling *ruling)
{
    struct proposals *ps = o->proposals;

    if (is_echo(entry, ruling)) {
        entry->decision_len = 0; /* it counts */
        return;
    }
    if (!can_change(entry))
        return;
    note_ruling(entry, ruling);
    note_decision(entry, ruling->said_by_us);
    list_remove(&entry->group);
    list_append(&ps->closed, &entry->group);
    tell_later(ps, entry);
}

void proposals_confirm(struct entry *entry)
{
    entry->decision_len = 0;
}

void proposals_reopen(struct occupant *o, struct entry *entry)
{
    entry->decision_len = 0;
    entry->proposed.by = S("");
    entry->proposed.reason = entry->reason;
    link_open(o, entry);
}

/* --- telling --- */

/* What is new meanwhile is told the next time, so this ends. */
void proposals_tell(struct occupant *o)
{
    struct proposals *ps = o->proposals;
    struct link batch;
    struct entry *entry;

    list_init(&batch);
    list_splice(&batch, &ps->news);
    while ((entry = LIST_FIRST(&batch, struct entry, news)) != NULL) {
        list_remove(&entry->news);
        if (!o->ops.on_proposal)
            continue;
        ps->told = entry;
        o->ops.on_proposal(o->user, &entry->proposed);
        ps->told = NULL;
    }
}

static void expire(struct occupant *o)
{
    static const struct ruling expired = { .state = PROPOSED_EXPIRED };
    struct proposals *ps = o->proposals;
    struct entry *entry;

    ps->due_ms = UINT64_MAX;
    LIST_FOREACH(entry, &ps->by_age, proposed.link) {
        if (entry->proposed.state != PROPOSED_OPEN)
            continue;
        if (entry->proposed.expires_ms <= o->now.wall_ms)
            proposals_close(o, entry, &expired);
        else
            note_due(o, entry);
    }
}

void proposals_tick(struct occupant *o)
{
    if (o->proposals->due_ms <= o->now.mono_ms)
        expire(o);
    proposals_tell(o);
}

uint64_t proposals_due_ms(const struct occupant *o)
{
    return list_is_empty(&o->proposals->news) ? o->proposals->due_ms : 0;
}

/* --- asking --- */

const struct proposed *occupant_next_proposal(const struct occupant *o,
                                              const struct proposed *after)
{
    const struct link *head = &o->proposals->by_age;
    const struct link *next = after ? after->link.next : head->next;

    if (next == head)
        return NULL;
    return CONTAINER_OF((uintptr_t)next, struct proposed, link); /* drops const */
}

const struct proposed *occupant_find_proposal(const struct occupant *o, struct str id)
{
    const struct entry *entry = proposals_find(o->proposals, id);

    return entry ? &entry->proposed : NULL;
}
