/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/docket.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/rpc.h"

enum {
    OWNERS_MAX = 64,
    ITEMS_MAX = 4096,
    PAGES_MAX = 100,
    ARENA_BYTES = 256 << 20,
    PARAMS_BYTES = 64 << 20,
};

#define ASKING     "mcp/request:authorization/list"
#define ANNOUNCING "mcp/request:notifications/authorization/request"

/* --- who is asked --- */

static void add_owner(struct docket *docket, const char *id)
{
    docket->owners =
        xrealloc(docket->owners, (docket->owner_count + 1) * sizeof(*docket->owners));
    docket->owners[docket->owner_count++] =
        (struct docket_owner){ .docket = docket, .id = xstrdup(id) };
}

/* --- what it answers --- */

static struct str text_at(const struct json *json, const char *name)
{
    return json_text(json_find(json, str_of(name)));
}

static char *copy_at(const struct json *json, const char *name)
{
    return str_dup(text_at(json, name));
}

/* Nothing where the arguments are left out: they are not known then. */
static char *params_of(const struct json *item)
{
    const struct json *arguments = json_find(item, S("arguments"));
    struct json_writer w;
    struct buf out;
    char *params;

    if (!arguments || arguments->type != JSON_OBJECT)
        return xstrdup("");
    buf_init(&out, PARAMS_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("name"), text_at(item, "tool"));
    json_key(&w, S("arguments"));
    json_raw(&w, arguments->raw);
    json_object_close(&w);
    params = str_dup(buf_str(&out));
    buf_done(&out);
    return params;
}

static uint64_t time_at(const struct json *item, const char *name)
{
    uint64_t wall_ms = 0;

    return clock_parse(text_at(item, name), &wall_ms) ? 0 : wall_ms;
}

static uint64_t count_at(const struct json *item, const char *name)
{
    const struct json *number = json_find(item, str_of(name));
    uint64_t value = 0;

    if (!number || number->type != JSON_NUMBER ||
        str_to_u64(number->text, UINT64_MAX, &value))
        return 0;
    return value;
}

static enum docket_state state_of(const struct json *item, bool is_pending)
{
    struct str decision = text_at(item, "decision");

    if (is_pending)
        return DOCKET_PENDING;
    return str_eq(decision, S("deny")) ? DOCKET_DENIED : DOCKET_APPROVED;
}

/* Both names of its id: that of decisions, and that of announcements. */
static struct str id_of(const struct json *item)
{
    struct str id = text_at(item, "authorizationId");

    return id.len ? id : text_at(item, "id");
}

static void add_item(struct docket_owner *owner, const struct json *json, bool is_pending)
{
    struct docket *docket = owner->docket;
    struct docket_item *item;

    if (json->type != JSON_OBJECT || docket->count >= ITEMS_MAX || !id_of(json).len ||
        !text_at(json, "tool").len || !text_at(json, "requester").len)
        return;
    docket->items = xrealloc(docket->items, (docket->count + 1) * sizeof(*docket->items));
    item = &docket->items[docket->count++];
    *item = (struct docket_item){
        .state = state_of(json, is_pending),
        .owner = xstrdup(owner->id),
        .id = str_dup(id_of(json)),
        .tool = copy_at(json, "tool"),
        .requester = copy_at(json, "requester"),
        .params = params_of(json),
        .reason = copy_at(json, "reason"),
        .by = copy_at(json, "decidedBy"),
        .asked = copy_at(json, "delegate"),
        .until_ms = time_at(json, is_pending ? "expiresAt" : "validUntil"),
        .uses = count_at(json, "uses"),
        .raw = str_dup(json->raw),
    };
}

static void add_list(struct docket_owner *owner, const struct json *list, bool is_pending)
{
    if (list && list->type == JSON_ARRAY)
        JSON_FOREACH(item, list)
            add_item(owner, item, is_pending);
}

static void settle(struct docket_owner *owner, const char *why)
{
    if (why)
        owner->why = xstrdup(why);
    owner->docket->answered++;
}

static void ask_page(struct docket_owner *owner, struct str cursor);

static void take_page(struct docket_owner *owner, const struct json *result)
{
    struct str cursor = text_at(result, "nextCursor");

    add_list(owner, json_find(result, S("pending")), true);
    add_list(owner, json_find(result, S("authorizations")), false);
    if (cursor.len && ++owner->pages < PAGES_MAX)
        ask_page(owner, cursor);
    else
        settle(owner, NULL);
}

static void on_result(struct docket_owner *owner, struct str text)
{
    const struct json *root;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(text, &arena, &root, NULL))
        settle(owner, "gave an answer that cannot be read");
    else
        take_page(owner, root);
    arena_done(&arena);
}

static void on_answer(struct moot *m [[maybe_unused]], void *user,
                      const struct moot_outcome *outcome)
{
    struct docket_owner *owner = user;
    struct docket *docket = owner->docket;

    if (docket->session->is_ending)
        return;
    if (outcome->type == MOOT_RESULT)
        on_result(owner, (struct str){ outcome->json.ptr, outcome->json.len });
    else if (outcome->type == MOOT_ERROR && outcome->code == RPC_METHOD_NOT_FOUND)
        settle(owner, "does not ask anybody before it runs a call");
    else if (outcome->type == MOOT_TIMED_OUT)
        settle(owner, "does not answer");
    else
        settle(owner, *outcome->message ? outcome->message : outcome->error);
    if (docket->answered == docket->owner_count)
        docket->on_done(docket);
}

/* --- asking --- */

bool docket_may(struct session *session)
{
    return moot_may(session->moot, ASKING, "{\"method\":\"authorization/list\"}");
}

/* An empty cursor asks for the first page. */
static void ask_page(struct docket_owner *owner, struct str cursor)
{
    struct docket *docket = owner->docket;
    struct moot *m = docket->session->moot;
    struct moot_request request = { .to = owner->id,
                                    .method = "authorization/list",
                                    .how = MOOT_CALL,
                                    .timeout_ms = docket->timeout_ms,
                                    .on_done = on_answer,
                                    .user = owner };
    struct json_writer w;
    struct buf params;

    buf_init(&params, PARAMS_BYTES);
    json_write_init(&w, &params);
    json_object_open(&w);
    if (cursor.len)
        json_put_str(&w, S("cursor"), cursor);
    json_object_close(&w);
    request.params = buf_cstr(&params);
    if (moot_request(m, &request, NULL))
        settle(owner, moot_why(m));
    buf_done(&params);
}

static void ask(struct docket *docket)
{
    for (size_t i = 0; i < docket->owner_count; i++)
        ask_page(&docket->owners[i], S(""));
    if (docket->answered == docket->owner_count)
        docket->on_done(docket);
}

int docket_ask(struct docket *docket, const char *participant)
{
    struct session *session = docket->session;
    struct moot_participant who;
    size_t at = 0;

    if (!docket_may(session))
        return cli_fail("you may not ask for authorizations here (" ASKING ")"),
               CLI_REFUSED;
    if (participant && !session_has(session, participant))
        return CLI_FAILED;
    if (participant)
        add_owner(docket, participant);
    while (!participant && docket->owner_count < OWNERS_MAX &&
           moot_next_participant(session->moot, &at, &who))
        if (strcmp(who.type, "service") == 0 && session_may_send(&who, S(ANNOUNCING)))
            add_owner(docket, who.id);
    ask(docket);
    return CLI_OK;
}

void docket_done(struct docket *docket)
{
    for (size_t i = 0; i < docket->count; i++) {
        struct docket_item *item = &docket->items[i];

        free(item->owner);
        free(item->id);
        free(item->tool);
        free(item->requester);
        free(item->params);
        free(item->reason);
        free(item->by);
        free(item->asked);
        free(item->raw);
    }
    free(docket->items);
    for (size_t i = 0; i < docket->owner_count; i++) {
        free(docket->owners[i].id);
        free(docket->owners[i].why);
    }
    free(docket->owners);
    *docket = (struct docket){};
}

void docket_view(const struct docket_item *item, const char **to,
                 struct moot_proposal *ret)
{
    *to = item->owner;
    *ret = (struct moot_proposal){
        .id = item->id,
        .proposer = item->requester,
        .owner = item->owner,
        .method = "tools/call",
        .name = item->tool,
        .to = to,
        .to_count = 1,
        .params = { item->params, strlen(item->params) },
        .reason = *item->reason ? item->reason : NULL,
        .expires_ms = item->until_ms,
        .state = MOOT_OPEN,
        .authorization_id = item->id,
        .asked = *item->asked ? item->asked : NULL,
    };
}
