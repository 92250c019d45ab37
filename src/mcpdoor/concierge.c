/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the concierge asks, and when. */
#include "mcpdoor/concierge.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcpdoor/concierge_priv.h"
#include "participant/roster.h"
#include "policy/capability.h"

enum { RIGHTS_SCRATCH = 1 << 20, AWAY_MS = 500 };

struct concierge *concierge_new(const struct concierge_setup *setup)
{
    struct concierge *c = xcalloc(1, sizeof(*c));

    c->setup = *setup;
    list_init(&c->owners);
    return c;
}

/* --- owners --- */

static struct owner *find(const struct concierge *c, struct str id)
{
    struct owner *owner;

    LIST_FOREACH(owner, &c->owners, link)
        if (str_eq(owner->facts.id, id))
            return owner;
    return NULL;
}

static struct owner *add(struct concierge *c, const struct roster_entry *who)
{
    struct owner *owner, *other;
    struct link *before = &c->owners;

    if (c->owner_count == SHOWCASE_OWNERS)
        return NULL;
    owner = xcalloc(1, sizeof(*owner) + who->id.len);
    memcpy(owner->id, who->id.ptr, who->id.len);
    owner->facts.id = (struct str){ owner->id, who->id.len };
    owner->concierge = c;
    owner->is_service = str_eq(who->type, S("service"));
    buf_init(&owner->items, CONCIERGE_BYTES);
    buf_init(&owner->cursor, CONCIERGE_FACTS);
    LIST_FOREACH(other, &c->owners, link)
        if (str_cmp(other->facts.id, who->id) > 0) {
            before = &other->link;
            break;
        }
    list_append(before, &owner->link);
    c->owner_count++;
    return owner;
}

static void rest(struct owner *owner)
{
    if (owner->state == OWNER_ASKED)
        owner->concierge->asked_count--;
    owner->state = OWNER_RESTING;
}

static void owner_free(struct owner *owner)
{
    owner_forget(owner);
    rest(owner);
    list_remove(&owner->link);
    owner->concierge->owner_count--;
    buf_done(&owner->items);
    buf_done(&owner->cursor);
    free(owner->texts);
    free(owner);
}

void concierge_free(struct concierge *c)
{
    struct owner *owner;

    if (!c)
        return;
    LIST_FOREACH(owner, &c->owners, link)
        owner_free(owner);
    free(c);
}

/* --- telling --- */

static void tell(struct concierge *c, unsigned types)
{
    if (c->setup.on_change)
        c->setup.on_change(c->setup.user, types);
}

bool concierge_is_ready(const struct concierge *c)
{
    const struct owner *owner;

    LIST_FOREACH(owner, &c->owners, link)
        if (owner->is_awaited)
            return false;
    return c->was_used;
}

static void tell_owner(struct owner *owner)
{
    const struct concierge_setup *setup = &owner->concierge->setup;

    if (!owner->is_known || owner->is_met)
        return;
    owner->is_met = true;
    if (setup->on_owner)
        setup->on_owner(setup->user, &owner->facts);
}

/* Whoever waits for it hears of it once. */
static void tell_ready(struct concierge *c)
{
    if (c->was_ready || !concierge_is_ready(c))
        return;
    c->was_ready = true;
    tell(c, 0);
}

/* --- who is asked next --- */

static struct owner *next_waiting(const struct concierge *c, bool is_service)
{
    struct owner *owner;

    LIST_FOREACH(owner, &c->owners, link)
        if (owner->state == OWNER_WAITING && owner->is_service == is_service &&
            owner->ask_ms <= c->now.mono_ms)
            return owner;
    return NULL;
}

/* Services before agents: it is them that mostly offer something. */
void concierge_ask_more(struct concierge *c)
{
    while (c->occupant && c->asked_count < CONCIERGE_AT_ONCE) {
        struct owner *owner = next_waiting(c, true);

        if (!owner)
            owner = next_waiting(c, false);
        if (!owner)
            return;
        owner->state = OWNER_ASKED;
        owner->ask_ms = c->now.mono_ms + CONCIERGE_GAP_MS;
        c->asked_count++;
        owner_step(owner);
    }
}

/* In the next round, which is this one where it has not begun. */
static void want(struct owner *owner, bool is_new, unsigned types)
{
    if (owner->state == OWNER_ASKED) {
        owner->is_new_again |= is_new;
        owner->wanted_again |= types;
        return;
    }
    owner->is_new |= is_new || !owner->is_known;
    owner->wanted |= types;
    owner->state = OWNER_WAITING;
}

void concierge_owner_rests(struct owner *owner)
{
    struct concierge *c = owner->concierge;

    rest(owner);
    owner->is_new = false;
    owner->wanted = 0;
    owner->is_awaited = false;
    if (owner->is_new_again || owner->wanted_again)
        want(owner, owner->is_new_again, owner->wanted_again);
    owner->is_new_again = false;
    owner->wanted_again = 0;
    c->was_ready = concierge_is_ready(c);
    tell_owner(owner);
    tell(c, 0);
}

void concierge_owner_waits(struct owner *owner)
{
    owner_forget(owner);
    rest(owner);
    owner->state = OWNER_WAITING;
    owner->ask_ms = owner->concierge->now.mono_ms + AWAY_MS;
}

/* --- who is here --- */

static bool is_answer_to_lists(struct str capability)
{
    static const struct str kinds[] = {
        S("mcp/response:initialize"),
        S("mcp/response:tools/list"),
        S("mcp/response:resources/list"),
        S("mcp/response:prompts/list"),
    };
    struct capability *cap;
    bool matches = false;

    if (capability_new(capability, &cap, NULL))
        return false;
    for (size_t i = 0; i < COUNT(kinds) && !matches; i++)
        matches = capability_matches_kind(cap, kinds[i]);
    capability_free(cap);
    return matches;
}

static bool may_answer(struct str capabilities)
{
    CLEANUP(arena_done) struct arena scratch;
    const struct json *array;
    struct str_list list;

    arena_init(&scratch, RIGHTS_SCRATCH);
    if (json_parse(capabilities, &scratch, &array, NULL) ||
        capability_list(array, &scratch, &list, NULL))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (is_answer_to_lists(list.items[i]))
            return true;
    return false;
}

/* People are not servers, and those who are here through this hall offer nothing. */
static bool is_owner(const struct concierge *c, const struct roster_entry *who)
{
    if (!str_eq(who->type, S("service")) && !str_eq(who->type, S("agent")))
        return false;
    if (str_eq(who->id, occupant_id(c->occupant)))
        return false;
    if (c->setup.is_ours && c->setup.is_ours(c->setup.user, who->id))
        return false;
    return may_answer(who->capabilities);
}

static void drop(struct concierge *c, struct owner *owner)
{
    unsigned types = showcase_drop(c->setup.showcase, owner->facts.id);

    owner_free(owner);
    tell(c, types);
    tell_ready(c);
}

/* Is it one who offers something, or no longer? `is_again`: it came just now. */
static void consider(struct concierge *c, struct str id, bool is_again)
{
    const struct roster_entry *who = occupant_find_participant(c->occupant, id);
    struct owner *owner = find(c, id);

    if (!who || !is_owner(c, who)) {
        if (owner)
            drop(c, owner);
        return;
    }
    if (!owner)
        owner = add(c, who);
    else if (!is_again)
        return;
    if (owner)
        want(owner, true, 0);
}

static void await(struct owner *owner)
{
    owner->is_awaited = true;
    owner->awaited_ms = owner->concierge->now.mono_ms +
                        (owner->is_service ? CONCIERGE_PATIENCE_MS : CONCIERGE_AGENT_MS);
}

/* What was asked through somebody else is asked again. */
static void let_go(struct concierge *c)
{
    struct owner *owner;

    LIST_FOREACH(owner, &c->owners, link)
        if (owner->state == OWNER_ASKED)
            concierge_owner_waits(owner);
    c->occupant = NULL;
}

static void drop_who_left(struct concierge *c)
{
    struct owner *owner;

    LIST_FOREACH(owner, &c->owners, link)
        if (!occupant_find_participant(c->occupant, owner->facts.id))
            drop(c, owner);
}

void concierge_use(struct concierge *c, struct occupant *occupant, struct moment now)
{
    const struct roster_entry *who;
    struct owner *owner;
    bool is_first = !c->was_used;
    size_t at = 0;

    c->now = now;
    let_go(c);
    c->occupant = occupant;
    if (!occupant)
        return;
    c->was_used = true;
    drop_who_left(c);
    while ((who = occupant_next_participant(occupant, &at)) != NULL)
        consider(c, who->id, true);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(owner, &c->owners, link) {
        owner->ask_ms = 0;
        if (is_first)
            await(owner);
    }
    concierge_ask_more(c);
    tell_ready(c);
}

void concierge_presence(struct concierge *c, enum presence_change change, struct str id,
                        struct moment now)
{
    struct owner *owner = find(c, id);

    c->now = now;
    if (!c->occupant)
        return;
    if (change != PRESENCE_LEAVES)
        consider(c, id, change == PRESENCE_JOINS);
    else if (owner)
        drop(c, owner);
    concierge_ask_more(c);
}

/* --- what they say by themselves --- */

/* Bits of enum offer_type; 0: it says nothing about lists. */
static unsigned changed_lists(const struct envelope *env)
{
    /* clang-format off */
    static const struct { struct str method; unsigned types; } rows[] = {
        { S("notifications/tools/list_changed"),     1U << OFFER_TOOL },
        { S("notifications/resources/list_changed"), 1U << OFFER_RESOURCE | 1U << OFFER_TEMPLATE },
        { S("notifications/prompts/list_changed"),   1U << OFFER_PROMPT },
    };
    /* clang-format on */

    if (env->kind.type != KIND_REQUEST)
        return 0;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eq(env->kind.method, rows[i].method))
            return rows[i].types;
    return 0;
}

/* It speaks again, be it too late for what it was asked. Nothing waits for that answer:
 * else one that is always wrong would be asked for ever. */
static bool is_sign_of_life(const struct owner *owner, const struct heard *heard)
{
    const struct kind *kind = &heard->env.kind;

    return str_eq(kind->text, S("participant/status")) ||
           (owner->is_silent && owner->state == OWNER_RESTING && heard->names_me &&
            kind->type == KIND_RESPONSE);
}

void concierge_hear(struct concierge *c, const struct heard *heard, struct moment now)
{
    const struct envelope *env = &heard->env;
    unsigned types;
    struct owner *owner;
    bool is_alive;

    c->now = now;
    if (heard->is_system || heard->is_mine || !c->occupant)
        return;
    types = changed_lists(env);
    owner = find(c, env->from);
    is_alive = owner && is_sign_of_life(owner, heard);
    if (!owner || (!types && !is_alive))
        return;
    want(owner, is_alive || owner->is_silent, types);
    concierge_ask_more(c);
}

/* --- looking --- */

const struct owner_facts *concierge_next_owner(const struct concierge *c, size_t *at)
{
    const struct owner *owner;
    size_t i = 0;

    LIST_FOREACH(owner, &c->owners, link) {
        if (!owner->is_known || i++ < *at)
            continue;
        *at = i;
        return &owner->facts;
    }
    return NULL;
}

const struct owner_facts *concierge_find_owner(const struct concierge *c, struct str id)
{
    const struct owner *owner = find(c, id);

    return owner && owner->is_known ? &owner->facts : NULL;
}

void concierge_put_silent(const struct concierge *c, struct buf *out)
{
    const struct owner *owner;
    const char *before = "";

    LIST_FOREACH(owner, &c->owners, link) {
        if (!owner->is_silent)
            continue;
        buf_putf(out, "%s" STR_FMT, before, STR_ARG(owner->facts.id));
        before = ", ";
    }
}

/* --- time --- */

void concierge_tick(struct concierge *c, struct moment now)
{
    struct owner *owner;

    c->now = now;
    LIST_FOREACH(owner, &c->owners, link)
        if (owner->is_awaited && owner->awaited_ms <= now.mono_ms)
            owner->is_awaited = false;
    concierge_ask_more(c);
    tell_ready(c);
}

uint64_t concierge_due_ms(const struct concierge *c)
{
    bool may_ask = c->occupant && c->asked_count < CONCIERGE_AT_ONCE;
    const struct owner *owner;
    uint64_t due = UINT64_MAX;

    LIST_FOREACH(owner, &c->owners, link) {
        if (owner->is_awaited && owner->awaited_ms < due)
            due = owner->awaited_ms;
        if (may_ask && owner->state == OWNER_WAITING && owner->ask_ms < due)
            due = owner->ask_ms;
    }
    return due;
}
