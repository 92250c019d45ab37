/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/inbox.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"

enum { NAMES_BYTES = 8192, NAME_BYTES = 256 };

struct str inbox_state_word(const struct inbox_item *item)
{
    switch (item->state) {
    case MOOT_OPEN: return S("open");
    case MOOT_FULFILLED: return item->owner ? S("allowed") : S("fulfilled");
    case MOOT_REJECTED: return item->owner ? S("denied") : S("rejected");
    case MOOT_WITHDRAWN: return item->owner ? S("asked anew") : S("withdrawn");
    case MOOT_EXPIRED: return S("expired");
    }
    return S("");
}

void inbox_init(struct inbox *inbox)
{
    *inbox = (struct inbox){};
    list_init(&inbox->items);
}

static void drop_content(struct inbox_item *item)
{
    for (size_t i = 0; i < item->to_count; i++)
        free(item->to[i]);
    free(item->to);
    free(item->proposer);
    free(item->owner);
    free(item->method);
    free(item->name);
    free(item->reason);
    free(item->by);
    free(item->params);
    free(item->approvers);
    free(item->asked);
}

static void item_free(struct inbox *inbox, struct inbox_item *item)
{
    if (inbox->chosen == item)
        inbox->chosen = NULL;
    inbox->count--;
    inbox->open_count -= item->state == MOOT_OPEN;
    list_remove(&item->link);
    drop_content(item);
    free(item->id);
    free(item);
}

void inbox_done(struct inbox *inbox)
{
    struct inbox_item *item;

    LIST_FOREACH(item, &inbox->items, link)
        item_free(inbox, item);
    free(inbox->me);
}

void inbox_know(struct inbox *inbox, const char *me)
{
    free(inbox->me);
    inbox->me = xstrdup(me);
}

struct inbox_item *inbox_next(const struct inbox *inbox, const struct inbox_item *item)
{
    struct link *next = item ? item->link.next : inbox->items.next;

    return next == &inbox->items ? NULL : CONTAINER_OF(next, struct inbox_item, link);
}

static struct inbox_item *previous(const struct inbox *inbox,
                                   const struct inbox_item *item)
{
    struct link *prev = item->link.prev;

    return prev == &inbox->items ? NULL : CONTAINER_OF(prev, struct inbox_item, link);
}

struct inbox_item *inbox_find(const struct inbox *inbox, struct str id)
{
    struct inbox_item *item = NULL;

    while ((item = inbox_next(inbox, item)) != NULL)
        if (str_eq(str_of(item->id), id))
            return item;
    return NULL;
}

/* --- what the library tells --- */

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static char *names_of(const struct moot_proposal *p)
{
    struct buf names;
    char *text;

    buf_init(&names, NAMES_BYTES);
    for (size_t i = 0; i < p->approver_count; i++) {
        buf_put(&names, i ? S(", ") : S(""));
        plain_put(&names, str_slice(str_of(p->approvers[i]), 0, NAME_BYTES), PLAIN_LINE);
    }
    text = str_dup(buf_str(&names));
    buf_done(&names);
    return text;
}

static bool is_me(const struct inbox *inbox, const char *id)
{
    return inbox->me && str_eq(str_of(inbox->me), str_of(id));
}

static bool has_approved(const struct inbox *inbox, const struct moot_proposal *p)
{
    for (size_t i = 0; i < p->approver_count; i++)
        if (is_me(inbox, p->approvers[i]))
            return true;
    return false;
}

/* When the count has changed, ours has counted, or somebody else's has. */
static void fill_approvals(const struct inbox *inbox, struct inbox_item *item,
                           const struct moot_proposal *p)
{
    if (item->given != p->given)
        item->is_decided = false;
    item->needed = p->needed;
    item->given = p->given;
    item->approvers = names_of(p);
    item->is_approved = has_approved(inbox, p);
    item->asked = copy(p->asked);
    item->is_for_us = !p->asked || is_me(inbox, p->asked);
}

static void fill(const struct inbox *inbox, struct inbox_item *item,
                 const struct moot_proposal *p)
{
    fill_approvals(inbox, item, p);
    item->proposer = copy(p->proposer ? p->proposer : "");
    item->owner = copy(p->owner);
    item->method = copy(p->method ? p->method : "");
    item->name = copy(p->name);
    item->reason = copy(p->reason);
    item->by = copy(p->by);
    item->params = str_dup((struct str){ p->params.ptr, p->params.len });
    item->to = xcalloc(p->to_count, sizeof(*item->to));
    item->to_count = p->to_count;
    for (size_t i = 0; i < p->to_count; i++)
        item->to[i] = xstrdup(p->to[i]);
    item->created_ms = p->created_ms;
    item->expires_ms = p->expires_ms;
    item->state = p->state;
    item->is_mine = p->is_mine;
}

static bool is_same_text(const char *a, const char *b)
{
    return str_eq(str_of(a), str_of(b));
}

/* Who would be asked for what. */
static bool is_same_call(const struct inbox_item *item, const struct moot_proposal *p)
{
    if (!is_same_text(item->proposer, p->proposer) ||
        !is_same_text(item->owner, p->owner) || !is_same_text(item->method, p->method) ||
        !is_same_text(item->name, p->name) || item->to_count != p->to_count ||
        !str_eq(str_of(item->params), (struct str){ p->params.ptr, p->params.len }))
        return false;
    for (size_t i = 0; i < p->to_count; i++)
        if (!is_same_text(item->to[i], p->to[i]))
            return false;
    return true;
}

/* The oldest that is over and not looked at. */
static void drop_one_closed(struct inbox *inbox)
{
    struct inbox_item *item = NULL;

    while ((item = inbox_next(inbox, item)) != NULL)
        if (item->state != MOOT_OPEN && item != inbox->chosen) {
            item_free(inbox, item);
            return;
        }
}

static enum inbox_news enter(struct inbox *inbox, const struct moot_proposal *p)
{
    struct inbox_item *item;

    if (p->state != MOOT_OPEN || inbox->open_count >= INBOX_ITEMS)
        return INBOX_NOTHING;
    item = xcalloc(1, sizeof(*item));
    item->id = xstrdup(p->id);
    fill(inbox, item, p);
    list_append(&inbox->items, &item->link);
    inbox->count++;
    inbox->open_count++;
    if (!inbox->chosen)
        inbox->chosen = item;
    return INBOX_NEW;
}

enum inbox_news inbox_update(struct inbox *inbox, const struct moot_proposal *p)
{
    struct inbox_item *item = inbox_find(inbox, str_of(p->id));
    bool was_open, is_same;

    if (!item)
        return enter(inbox, p);
    was_open = item->state == MOOT_OPEN;
    is_same = is_same_call(item, p);
    drop_content(item);
    fill(inbox, item, p);
    item->version += !is_same;
    inbox->open_count -= was_open;
    inbox->open_count += item->state == MOOT_OPEN;
    if (inbox->count - inbox->open_count > INBOX_CLOSED)
        drop_one_closed(inbox);
    if (was_open && p->state != MOOT_OPEN)
        return INBOX_OVER;
    return is_same ? INBOX_NOTHING : INBOX_CHANGED;
}

/* --- choosing --- */

static void choose(struct inbox *inbox, struct inbox_item *item)
{
    if (inbox->chosen != item)
        inbox->scroll = 0;
    inbox->chosen = item;
}

void inbox_reopen(struct inbox *inbox)
{
    struct inbox_item *item;

    LIST_FOREACH(item, &inbox->items, link)
        item->is_decided = false;
}

/* From this one on; NULL: from the first. */
static struct inbox_item *next_open(const struct inbox *inbox, struct inbox_item *item)
{
    if (!item)
        item = inbox_next(inbox, NULL);
    while (item && item->state != MOOT_OPEN)
        item = inbox_next(inbox, item);
    return item;
}

void inbox_tidy(struct inbox *inbox)
{
    struct inbox_item *next = next_open(inbox, inbox->chosen);
    struct inbox_item *item;

    choose(inbox, next ? next : next_open(inbox, NULL));
    LIST_FOREACH(item, &inbox->items, link)
        if (item->state != MOOT_OPEN)
            item_free(inbox, item);
}

bool inbox_move(struct inbox *inbox, int by)
{
    struct inbox_item *item = inbox->chosen;

    for (; item && by > 0; by--)
        item = inbox_next(inbox, item);
    for (; item && by < 0; by++)
        item = previous(inbox, item);
    if (!item)
        return false;
    choose(inbox, item);
    return true;
}

bool inbox_choose(struct inbox *inbox, struct str id)
{
    struct inbox_item *item = inbox_find(inbox, id);

    if (!item)
        return false;
    choose(inbox, item);
    return true;
}

/* --- deciding --- */

static const char *over_because(enum moot_proposal_state state)
{
    switch (state) {
    case MOOT_OPEN: break;
    case MOOT_FULFILLED: return "it has been fulfilled already: nothing was done";
    case MOOT_REJECTED: return "it has been rejected already: nothing was done";
    case MOOT_WITHDRAWN: return "it was withdrawn: nothing was done";
    case MOOT_EXPIRED: return "it has expired: nothing was done";
    }
    return NULL;
}

/* The same of what others ask for. */
static const char *why_not_ours(const struct inbox_item *item, enum verdict_type type)
{
    if (!item->is_for_us)
        return "somebody else is asked to decide: no other answer counts";
    if (type == VERDICT_DELEGATE && !item->owner)
        return "only what a server asks about can be left to somebody else";
    if (type == VERDICT_RUN && item->is_approved && item->given < item->needed)
        return "you have approved it already: others have to as well";
    if (type == VERDICT_RUN && !*item->params)
        return "what it asks for is not known here, so it cannot be approved";
    return NULL;
}

/* NULL: this may be decided. */
static const char *why_not(const struct inbox_item *item, enum verdict_type type,
                           uint64_t now_ms)
{
    if (item->state != MOOT_OPEN)
        return over_because(item->state);
    if (item->expires_ms && item->expires_ms <= now_ms)
        return over_because(MOOT_EXPIRED);
    if (item->is_decided)
        return "you have decided on it already";
    if (type == VERDICT_WITHDRAW)
        return item->is_mine && !item->owner ? NULL
                                             : "only who proposed it can withdraw it";
    if (item->is_mine)
        return item->owner ? "it is your own call: others decide on it"
                           : "it is your own: others decide on it, you can withdraw it";
    return why_not_ours(item, type);
}

enum err verdict_begin(struct verdict *v, const struct inbox *inbox,
                       enum verdict_type type, uint64_t now_ms, const char **ret_why)
{
    const struct inbox_item *item = inbox->chosen;

    *ret_why = "there is nothing to decide";
    if (!item)
        return ERR_NOT_FOUND;
    *ret_why = why_not(item, type, now_ms);
    if (*ret_why)
        return ERR_PROPOSAL_STATE;
    verdict_done(v);
    v->type = type;
    v->id = xstrdup(item->id);
    v->version = item->version;
    return OK;
}

void verdict_done(struct verdict *v)
{
    free(v->id);
    free(v->params);
    free(v->to);
    *v = (struct verdict){};
}

enum err verdict_check(const struct verdict *v, const struct inbox *inbox,
                       const struct moot_proposal *p, uint64_t now_ms,
                       const char **ret_why)
{
    const struct inbox_item *item = inbox_find(inbox, str_of(v->id));

    *ret_why = "it is not known any more: nothing was done";
    if (!item || !p)
        return ERR_NOT_FOUND;
    *ret_why =
        p->state == MOOT_OPEN ? why_not(item, v->type, now_ms) : over_because(p->state);
    if (*ret_why)
        return ERR_PROPOSAL_STATE;
    *ret_why = "it has changed: nothing was done, look again";
    return item->version == v->version && is_same_call(item, p) ? OK : ERR_CONFLICT;
}

bool inbox_waits(const struct inbox_item *item)
{
    return item->state == MOOT_OPEN && !item->is_mine && item->is_for_us &&
           !(item->is_approved && item->given < item->needed);
}

bool inbox_is_enough(const struct inbox_item *item, bool counts)
{
    return item->needed < 2 ||
           item->given + (counts && !item->is_approved) >= item->needed;
}

void inbox_put_approvals(struct buf *out, const struct inbox_item *item)
{
    if (item->needed > 1 || item->given)
        buf_putf(out, "%u of %u approval%s", item->given, item->needed,
                 item->needed == 1 ? "" : "s");
}

void inbox_put_left(struct buf *out, uint64_t expires_ms, uint64_t now_ms)
{
    uint64_t seconds = expires_ms > now_ms ? (expires_ms - now_ms + 999) / 1000 : 0;

    if (seconds == 0)
        buf_put(out, S("expired"));
    else if (seconds < 3600)
        buf_putf(out, "%u:%02u", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    else
        buf_putf(out, "%u h %u min", (unsigned)(seconds / 3600),
                 (unsigned)(seconds / 60 % 60));
}
