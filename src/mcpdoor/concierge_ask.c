/* SPDX-License-Identifier: Apache-2.0 */
/* One round of questions to one owner: initialize, then page by page what it offers. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "mcpdoor/concierge_priv.h"
#include "participant/keep.h"

enum { NOTE_BYTES = 1024 };

/* clang-format off */
static const struct {
    struct str method, member, capability;
} lists[OFFER_TYPES] = {
    [OFFER_TOOL]     = { S("tools/list"),               S("tools"),             S("tools") },
    [OFFER_RESOURCE] = { S("resources/list"),           S("resources"),         S("resources") },
    [OFFER_TEMPLATE] = { S("resources/templates/list"), S("resourceTemplates"), S("resources") },
    [OFFER_PROMPT]   = { S("prompts/list"),             S("prompts"),           S("prompts") },
};
/* clang-format on */

void owner_forget(struct owner *owner)
{
    struct concierge *c = owner->concierge;

    if (owner->call_id[0] && c->occupant)
        occupant_forget(c->occupant, str_of(owner->call_id));
    owner->call_id[0] = 0;
    buf_done(&owner->items);
    buf_done(&owner->cursor);
}

static struct str asked_method(const struct owner *owner)
{
    return owner->is_new ? S("initialize") : lists[owner->type].method;
}

/* --- in vain --- */

static void note(const struct owner *owner, struct str why)
{
    const struct concierge_setup *setup = &owner->concierge->setup;
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, NOTE_BYTES);
    buf_putf(&text, STR_FMT " is left out: " STR_FMT ": " STR_FMT,
             STR_ARG(owner->facts.id), STR_ARG(asked_method(owner)),
             STR_ARG(str_slice(why, 0, NOTE_BYTES / 4)));
    if (setup->on_note)
        setup->on_note(setup->user, buf_str(&text));
}

/* What it offered before stays: it may be back before anybody calls. */
static void fail(struct owner *owner, struct str why)
{
    note(owner, why);
    owner->is_silent = true;
    owner_forget(owner);
    concierge_owner_rests(owner);
}

/* --- what it is --- */

static struct json_span member(struct json_span object, struct str name,
                               enum json_type type)
{
    struct json_span found = mcp_message_member(object, name);

    return mcp_message_is(found, type) ? found : (struct json_span){};
}

/* Keeps what is said; too much of it is no fact. */
static void keep_facts(struct owner *owner, struct json_span result)
{
    CLEANUP(arena_done) struct arena scratch;
    struct json_span server = member(result, S("serverInfo"), JSON_OBJECT);
    struct json_span capable = member(result, S("capabilities"), JSON_OBJECT);
    struct json_span told = member(result, S("instructions"), JSON_STRING);
    struct str instructions = S("");
    char *at;

    arena_init(&scratch, CONCIERGE_FACTS);
    if (told.text.len && told.text.len <= CONCIERGE_FACTS &&
        json_unescape(told, &scratch, &instructions))
        instructions = S("");
    if (server.text.len > CONCIERGE_FACTS)
        server = (struct json_span){};
    if (capable.text.len > CONCIERGE_FACTS)
        capable = (struct json_span){};
    free(owner->texts);
    owner->texts = xmalloc(server.text.len + capable.text.len + instructions.len + 1);
    at = owner->texts;
    owner->facts.server = keep_span(&at, server);
    owner->facts.capable = keep_span(&at, capable);
    owner->facts.instructions = keep_str(&at, instructions);
}

/* Lists that are not offered are asked for as well where they were before: they are empty
 * now. */
static void take_facts(struct owner *owner, struct json_span result)
{
    keep_facts(owner, result);
    owner->is_known = true;
    owner->is_silent = false;
    owner->is_new = false;
    owner->wanted = ALL_TYPES;
}

static bool has_list(const struct owner *owner, enum offer_type type)
{
    if (!owner->facts.capable.text.ptr)
        return true;
    return mcp_message_member(owner->facts.capable, lists[type].capability).text.ptr;
}

/* --- what it offers --- */

static void list_ends(struct owner *owner)
{
    struct concierge *c = owner->concierge;
    CLEANUP(buf_done) struct buf all;
    unsigned types;

    buf_init(&all, CONCIERGE_BYTES + 2);
    buf_putc(&all, '[');
    buf_put(&all, buf_str(&owner->items));
    buf_putc(&all, ']');
    showcase_begin(c->setup.showcase, owner->facts.id, owner->type);
    if (showcase_add(c->setup.showcase, buf_str(&all)))
        note(owner, S("it offers more than there is room for"));
    types = showcase_end(c->setup.showcase);
    owner->wanted &= ~(1U << owner->type);
    buf_done(&owner->items);
    buf_done(&owner->cursor);
    if (types && c->setup.on_change)
        c->setup.on_change(c->setup.user, types);
}

static bool is_blank(struct str text)
{
    size_t i = 0;

    while (i < text.len &&
           (text.ptr[i] == ' ' || (text.ptr[i] >= '\t' && text.ptr[i] <= '\r')))
        i++;
    return i == text.len;
}

static void take_page(struct owner *owner, struct json_span result)
{
    struct json_span array = member(result, lists[owner->type].member, JSON_ARRAY);
    struct json_span cursor = member(result, S("nextCursor"), JSON_STRING);
    struct json_writer w;
    struct str items;

    if (!array.text.ptr) {
        fail(owner, S("the answer has no list"));
        return;
    }
    items = str_slice(array.text, 1, array.text.len - 1);
    if (!is_blank(items)) {
        if (owner->items.len)
            buf_putc(&owner->items, ',');
        buf_put(&owner->items, items);
    }
    if (owner->items.is_full) {
        fail(owner, S("the list is too long"));
        return;
    }
    buf_done(&owner->cursor);
    json_write_init(&w, &owner->cursor);
    if (cursor.text.ptr)
        json_span(&w, cursor);
    if (cursor.text.ptr && owner->cursor.len && ++owner->pages < CONCIERGE_PAGES)
        return;
    list_ends(owner);
}

/* --- questions and answers --- */

/* Who does not know initialize may still have lists, and who does not know a list has
 * none. */
static void take_unknown(struct owner *owner)
{
    if (owner->is_new)
        take_facts(owner, (struct json_span){ .type = JSON_OBJECT, .text = S("{}") });
    else
        list_ends(owner);
}

static void take_result(struct owner *owner, struct json_span result)
{
    if (result.type != JSON_OBJECT)
        fail(owner, S("the result is no object"));
    else if (owner->is_new)
        take_facts(owner, result);
    else
        take_page(owner, result);
}

static void on_done(void *user, const struct outcome *outcome)
{
    struct owner *owner = user;
    struct concierge *c = owner->concierge;

    owner->call_id[0] = 0;
    if (c->setup.now)
        c->now = c->setup.now(c->setup.user);
    if (outcome->type == ASK_RESULT)
        take_result(owner, outcome->json);
    else if (outcome->type == ASK_ERROR && outcome->code == RPC_METHOD_NOT_FOUND)
        take_unknown(owner);
    else if (outcome->type == ASK_LOST)
        concierge_owner_waits(owner);
    else
        fail(owner, outcome->type == ASK_TIMED_OUT ? S("no answer") : outcome->message);
    if (owner->state == OWNER_ASKED)
        owner_step(owner);
    concierge_ask_more(c);
}

static void put_params(const struct owner *owner, struct buf *out)
{
    if (owner->is_new)
        buf_put(out, S("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                       "\"clientInfo\":{\"name\":\"moot\",\"version\":\"" MOOT_VERSION
                       "\"}}"));
    else if (owner->cursor.len)
        buf_putf(out, "{\"cursor\":" STR_FMT "}", STR_ARG(buf_str(&owner->cursor)));
    else
        buf_put(out, S("{}"));
}

static enum err ask(struct owner *owner)
{
    struct concierge *c = owner->concierge;
    CLEANUP(buf_done) struct buf params;
    struct str id;
    enum err err;

    buf_init(&params, CONCIERGE_FACTS + NOTE_BYTES);
    put_params(owner, &params);
    err = occupant_request(c->occupant,
                           &(struct asking){ .to = owner->facts.id,
                                             .method = asked_method(owner),
                                             .params = buf_str(&params),
                                             .how = ASK_CALL,
                                             .timeout_ms = CONCIERGE_PATIENCE_MS,
                                             .ops = { .on_done = on_done },
                                             .user = owner },
                           c->now, &id, NULL);
    if (err)
        return err;
    memcpy(owner->call_id, id.ptr, id.len);
    owner->call_id[id.len] = 0;
    return OK;
}

/* The next list there is; those that it does not have are empty. False: that was all. */
static bool next_list(struct owner *owner)
{
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        if (!(owner->wanted >> i & 1))
            continue;
        owner->type = (enum offer_type)i;
        owner->pages = 0;
        if (has_list(owner, owner->type))
            return true;
        list_ends(owner);
    }
    return false;
}

void owner_step(struct owner *owner)
{
    enum err err;

    if (!owner->is_new && !owner->cursor.len && !next_list(owner)) {
        concierge_owner_rests(owner);
        return;
    }
    err = ask(owner);
    if (err == ERR_AGAIN || err == ERR_OVERLOAD)
        concierge_owner_waits(owner);
    else if (err)
        fail(owner, str_of(err_name(err)));
}
