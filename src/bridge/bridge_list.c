/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server offers: asked for whenever it is ready anew or says that something has
 * changed, one list after the other, page by page. When all are there, who waited for
 * them is answered, and the room is told what has changed, at most once a second.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "participant/pick.h"

#define BIT(type) (1U << (type))

/* clang-format off */
static const struct {
    struct str method;
    struct str capability; /* without it the server is not asked */
    struct str notice;     /* what the room is told */
} lists[OFFER_TYPES] = {
    [OFFER_TOOL]     = { S("tools/list"),               S("tools"),     S("notifications/tools/list_changed") },
    [OFFER_RESOURCE] = { S("resources/list"),           S("resources"), S("notifications/resources/list_changed") },
    [OFFER_TEMPLATE] = { S("resources/templates/list"), S("resources"), S("notifications/resources/list_changed") },
    [OFFER_PROMPT]   = { S("prompts/list"),             S("prompts"),   S("notifications/prompts/list_changed") },
};
/* clang-format on */

static void go_on(struct bridge *b);

static bool is_capable(const struct bridge *b, enum offer_type type)
{
    const char *capable = b->facts.capable;
    struct json_span all = { .type = JSON_OBJECT, .text = str_of(capable) };
    struct json_span one = {};

    return capable && PICK(all, { lists[type].capability, &one }) &&
           pick_is(one, JSON_OBJECT);
}

/* --- the end of a list --- */

static void forget_cursor(struct bridge_lists *l)
{
    free(l->cursor);
    l->cursor = NULL;
    l->pages = 0;
}

/* It is asked for at most once a second, whatever the server says. */
static void note_ttl(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;
    uint64_t ttl = l->ttl_ms > BRIDGE_TELL_MS ? l->ttl_ms : BRIDGE_TELL_MS;

    l->stale_ms[l->type] = l->ttl_ms == UINT64_MAX ? 0 : loop_now_ms(b->means.loop) + ttl;
}

static void end_list(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;

    note_ttl(b);
    forget_cursor(l);
    l->is_underway = false;
    if (listing_end(b->listing, loop_wall_ms(b->means.loop)))
        l->changed |= BIT(l->type);
}

/* What was known of it stays, until the server is there again. */
static void give_up(struct bridge *b, struct str why)
{
    struct bridge_lists *l = &b->lists;

    bridge_note(b, STR_FMT " failed: " STR_FMT, STR_ARG(lists[l->type].method),
                STR_ARG(why));
    forget_cursor(l);
    l->is_underway = false;
    l->has_failed = true;
}

/* --- pages --- */

/* MCP 2026-07-28, server/utilities/caching: of all pages the shortest counts. */
static void take_ttl(struct bridge_lists *l, struct json_span result)
{
    struct json_span ttl = {};
    uint64_t ms;

    if (PICK(result, { S("ttlMs"), &ttl }) && pick_is(ttl, JSON_NUMBER) &&
        !str_to_u64(ttl.text, BRIDGE_TTL_MS, &ms) && ms < l->ttl_ms)
        l->ttl_ms = ms;
}

/* True: there is another one. */
static bool take_page(struct bridge *b, struct json_span result)
{
    struct bridge_lists *l = &b->lists;
    CLEANUP(arena_done) struct arena arena;
    struct json_span next = {};
    struct str cursor;
    enum err err = listing_add_page(b->listing, result.text);

    arena_init(&arena, result.text.len + 4096);
    forget_cursor(l);
    if (err) {
        bridge_note(b, "a page of " STR_FMT " was refused: %s",
                    STR_ARG(lists[l->type].method), err_name(err));
        return false;
    }
    take_ttl(l, result);
    (void)PICK(result, { S("nextCursor"), &next });
    cursor = pick_text(next, &arena);
    /* An empty one is a cursor for a modern server, and the end for others. */
    if (!pick_is(next, JSON_STRING) || (!cursor.len && b->facts.era != ERA_MODERN))
        return false;
    l->cursor = str_dup(cursor);
    return true;
}

static void order_page(struct bridge *b);

static void on_page(void *user, const struct mcp_reply *reply)
{
    struct bridge *b = user;
    struct bridge_lists *l = &b->lists;
    size_t pages = l->pages + 1;

    l->order = NULL;
    switch (reply->type) {
    case REPLY_RESULT:
        if (take_page(b, reply->json) && pages < BRIDGE_PAGES) {
            l->pages = pages;
            order_page(b);
        } else {
            end_list(b);
        }
        break;
    case REPLY_ERROR:
        give_up(b, reply->json.text);
        l->has_failed = false; /* it is there, and that is all it says */
        break;
    case REPLY_FAILED:
    case REPLY_CANCELLED: give_up(b, reply->json.text); break;
    }
    go_on(b);
    bridge_settle(b);
}

static void put_cursor(struct buf *out, const char *cursor)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (cursor)
        json_put_str(&w, S("cursor"), str_of(cursor));
    json_object_close(&w);
}

static void order_page(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;
    CLEANUP(buf_done) struct buf params;
    enum err err;

    buf_init(&params, (l->cursor ? strlen(l->cursor) * 6 : 0) + 64);
    put_cursor(&params, l->cursor);
    l->is_underway = true;
    err = supervisor_order(b->supervisor, S(""),
                           &(struct mcp_call){ .method = lists[l->type].method,
                                               .params = buf_str(&params),
                                               .task = TASK_NEVER,
                                               .timeout_ms = BRIDGE_LIST_MS,
                                               .ops.on_done = on_page,
                                               .user = b },
                           &l->order);
    if (err)
        give_up(b, str_of(err_name(err)));
}

/* --- all of them --- */

/* The first catalogue is what the server offers when it has come to rest. */
static void await_trust(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;
    uint64_t now = loop_now_ms(b->means.loop);

    if (listing_is_trusted(b->listing))
        return;
    if (!l->trust_max_ms)
        l->trust_max_ms = now + BRIDGE_TRUST_MS;
    l->trust_ms = now + BRIDGE_SETTLE_MS < l->trust_max_ms ? now + BRIDGE_SETTLE_MS
                                                           : l->trust_max_ms;
}

static void finish(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;

    if (l->has_failed && !l->is_known)
        return;
    await_trust(b);
    if (!l->is_known) {
        l->is_known = true;
        l->changed = 0; /* nobody has seen anything else */
        bridge_unpark(b);
    }
    bridge_tell_status(b);
    if (b->on_change)
        b->on_change(b->user);
}

static void go_on(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;

    while (!l->is_underway && l->wanted) {
        l->type = (enum offer_type)__builtin_ctz(l->wanted);
        l->wanted &= ~BIT(l->type);
        l->ttl_ms = UINT64_MAX;
        listing_begin(b->listing, l->type);
        if (is_capable(b, l->type))
            order_page(b);
        else
            end_list(b);
    }
    if (!l->is_underway)
        finish(b);
}

void relist_begin(struct bridge *b, unsigned types)
{
    b->lists.wanted |= types;
    if (!b->lists.is_underway)
        b->lists.has_failed = false;
    go_on(b);
    bridge_settle(b);
}

void relist_if_stale(struct bridge *b, enum offer_type type)
{
    uint64_t stale = b->lists.stale_ms[type];

    if (b->state == SERVER_READY && stale && stale <= loop_now_ms(b->means.loop) &&
        !b->lists.is_underway)
        relist_begin(b, BIT(type));
}

void relist_lost(struct bridge *b)
{
    b->lists.wanted = 0; /* all are asked for when it is ready again */
}

/* --- time --- */

static void tell_changes(struct bridge *b, uint64_t now)
{
    struct bridge_lists *l = &b->lists;

    if (l->changed & BIT(OFFER_TEMPLATE)) /* one notice for both */
        l->changed = (l->changed | BIT(OFFER_RESOURCE)) & ~BIT(OFFER_TEMPLATE);
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        if (!(l->changed & BIT(i)) || l->tell_ms[i] > now)
            continue;
        l->changed &= ~BIT(i);
        l->tell_ms[i] = now + BRIDGE_TELL_MS;
        bridge_tell(b, S(""), lists[i].notice, S(""), S(""));
    }
}

static bool can_tell(const struct bridge *b)
{
    return b->lists.changed && occupant_is_welcome(b->occupant);
}

void relist_tick(struct bridge *b)
{
    struct bridge_lists *l = &b->lists;
    uint64_t now = loop_now_ms(b->means.loop);

    if (l->trust_ms && l->trust_ms <= now && !l->is_underway) {
        l->trust_ms = 0;
        listing_trust(b->listing, S("the first start"), loop_wall_ms(b->means.loop));
    }
    if (can_tell(b))
        tell_changes(b, now);
}

uint64_t relist_due_ms(const struct bridge *b)
{
    const struct bridge_lists *l = &b->lists;
    uint64_t due = UINT64_MAX;

    if (l->trust_ms && !l->is_underway)
        due = l->trust_ms;
    for (size_t i = 0; can_tell(b) && i < OFFER_TYPES; i++)
        if (l->changed & BIT(i) && l->tell_ms[i] < due)
            due = l->tell_ms[i];
    return due;
}

void bridge_listing_changed(struct bridge *bridge)
{
    bridge->lists.changed |= RELIST_ALL;
    bridge_tell_status(bridge);
    bridge_settle(bridge);
}
