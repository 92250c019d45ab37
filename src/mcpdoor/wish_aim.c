/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request is about: who is to do it, under which name, with which params. What the
 * client may neither call nor propose is refused in the words of what is not there.
 */
#include "base/cleanup.h"
#include "json/canonical.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"
#include "mcpdoor/rename.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"

enum {
    TEXTS = 1 << 20, /* of names, unescaped */
    MORE = 4096,     /* bytes around something */
    TREE = 64,       /* bytes of a tree for each of its text, at most */
};

#define CAPABLE S("io.modelcontextprotocol/clientCapabilities")

/* --- whose it is --- */

static const struct exhibit *find_exhibit(struct aim *aim, const struct hall *hall,
                                          const struct named *named)
{
    const struct exhibit *found = NULL;

    aim->key = named->name;
    if (named->type == OFFER_RESOURCE) {
        /* completion/complete speaks of templates */
        found = showcase_find(hall->showcase, OFFER_TEMPLATE, named->name);
        if (!found)
            return showcase_find_uri(hall->showcase, named->name, &aim->uri, &aim->key);
    } else {
        found = showcase_find(hall->showcase, named->type, named->name);
    }
    if (found)
        aim->key = found->key;
    return found;
}

static struct str owner_of_task(const struct asked_for *ask)
{
    const struct attendee *a = ask->attendee;
    const struct mcp_message *message = &ask->in->message;
    struct json_span id = {};

    if (!str_starts(message->method, S("tasks/")) || !message->params.text.ptr ||
        !PICK(message->params, { S("taskId"), &id }) || !pick_is(id, JSON_STRING))
        return S("");
    return task_owners_find(&a->hall->task_owners, a->id, id.text);
}

/* Where there is but one owner it answers for all, so that its errors are its own. */
static void find_owner(struct aim *aim, const struct asked_for *ask)
{
    const struct mcp_message *message = &ask->in->message;
    const struct hall *hall = ask->attendee->hall;
    struct named named;

    if (rename_read(message->method, message->params, &aim->scratch, &named)) {
        aim->name = named.name;
        aim->exhibit = find_exhibit(aim, hall, &named);
    }
    aim->owner = aim->exhibit ? aim->exhibit->owner : showcase_only_owner(hall->showcase);
    if (!aim->owner.len)
        aim->owner = owner_of_task(ask);
}

/* --- what is not there --- */

static void put_data(struct buf *out, struct str uri)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("uri"), uri);
    json_object_close(&w);
}

static void refuse_uri(const struct aim *aim, const struct asked_for *ask)
{
    CLEANUP(buf_done) struct buf data;
    bool is_modern = ask->in->era == ERA_MODERN;

    buf_init(&data, aim->name.len * 6 + MORE);
    put_data(&data, aim->name);
    asked_fail(ask, is_modern ? RPC_INVALID_PARAMS : -32002, S("Resource not found"),
               buf_str(&data));
}

static void refuse_name(const struct aim *aim, const struct asked_for *ask,
                        const char *what)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, aim->name.len + MORE);
    buf_putf(&text, "Unknown %s: ", what);
    buf_put(&text, aim->name);
    asked_fail(ask, RPC_INVALID_PARAMS, buf_str(&text), S(""));
}

void aim_refuse(const struct aim *aim, const struct asked_for *ask)
{
    struct str method = ask->in->message.method;

    ask->attendee->hall->counts.refused++;
    if (str_eq(method, S("tools/call")))
        refuse_name(aim, ask, "tool");
    else if (str_eq(method, S("prompts/get")))
        refuse_name(aim, ask, "prompt");
    else if (str_eq(method, S("completion/complete")))
        refuse_name(aim, ask, "reference");
    else if (str_starts(method, S("resources/")))
        refuse_uri(aim, ask);
    else if (str_starts(method, S("tasks/")) && !str_eq(method, S("tasks/list")))
        asked_fail(ask, RPC_INVALID_PARAMS, S("Unknown task"), S(""));
    else
        asked_fail(ask, RPC_METHOD_NOT_FOUND, S("Method not found"), S(""));
}

/* Mcp-Param-* against the tool as its owner lists it. */
static bool has_fitting_headers(const struct aim *aim, const struct asked_for *ask)
{
    CLEANUP(buf_done) struct buf error = {};
    unsigned status;

    if (!aim->exhibit || aim->exhibit->type != OFFER_TOOL || !ask->http)
        return true;
    buf_init(&error, ask->attendee->hall->settings.max_message + MORE);
    status = serve_judge_params(ask->http, ask->in, aim->exhibit->json, &error);
    if (status)
        strand_answer(ask->strand, status, buf_str(&error),
                      ask->attendee->hall->now.mono_ms);
    return !status;
}

/* Nobody decides about completions, or about looking after a task. */
static bool is_worth_deciding(struct str method)
{
    return str_eq(method, S("tools/call")) || str_eq(method, S("resources/read")) ||
           str_eq(method, S("prompts/get"));
}

bool aim_take(struct aim *aim, const struct asked_for *ask)
{
    struct str method = ask->in->message.method;

    *aim = (struct aim){};
    arena_init(&aim->scratch, TEXTS);
    buf_init(&aim->uri, TEXTS);
    find_owner(aim, ask);
    if (aim->owner.len)
        aim->right = attendee_right(ask->attendee, method, aim->key);
    if (aim->right == RIGHT_NONE ||
        (aim->right == RIGHT_PROPOSE && !is_worth_deciding(method))) {
        aim_refuse(aim, ask);
        return false;
    }
    return has_fitting_headers(aim, ask);
}

void aim_done(struct aim *aim)
{
    arena_done(&aim->scratch);
    buf_done(&aim->uri);
}

/* --- params --- */

/* A legacy client says once what it can be asked; a modern server wants to know it with
 * every call. */
static bool needs_hint(const struct aim *aim, const struct asked_for *ask)
{
    struct str method = ask->in->message.method;

    return ask->in->era != ERA_MODERN && aim->right == RIGHT_CALL &&
           (str_eq(method, S("tools/call")) || str_eq(method, S("prompts/get")) ||
            str_eq(method, S("resources/read")));
}

/* The client's token stays here: the owner gets ours, if any (occupant_request()). */
static void put_meta(struct json_writer *w, struct json_span meta, bool has_hint,
                     uint32_t can)
{
    static const struct str ours[] = { S("progressToken"), CAPABLE };
    CLEANUP(buf_done) struct buf members, hint;
    struct json_writer inner;

    buf_init(&members, meta.text.len + MORE);
    buf_init(&hint, MORE);
    json_write_init(&inner, &members);
    if (meta.text.ptr && meta.type == JSON_OBJECT)
        json_put_members(&inner, meta.text, (struct str_list){ ours, has_hint ? 2 : 1 });
    if (has_hint) {
        client_can_put(&hint, can);
        json_key(&inner, CAPABLE);
        json_raw(&inner, buf_str(&hint));
    }
    if (!members.len)
        return;
    json_key(w, S("_meta"));
    json_object_open(w);
    json_raw(w, buf_str(&members));
    json_object_close(w);
}

enum err aim_put_params(const struct aim *aim, const struct asked_for *ask,
                        struct buf *out)
{
    static const struct str without[] = { S("_meta") };
    const struct serve_incoming *in = ask->in;
    struct json_span params = in->message.params;
    bool has_hint = needs_hint(aim, ask);
    CLEANUP(buf_done) struct buf renamed = {};
    struct json_writer w;
    enum err err;

    if (!params.text.ptr)
        params = (struct json_span){ .type = JSON_OBJECT, .text = S("{}") };
    if (!has_hint && !in->progress.text.ptr)
        return rename_params(out, in->message.method, params, aim->key);
    buf_init(&renamed, out->max);
    err = rename_params(&renamed, in->message.method, params, aim->key);
    if (err)
        return err;
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_members(&w, buf_str(&renamed), (struct str_list){ without, 1 });
    put_meta(&w, mcp_message_find(params, without, 1), has_hint,
             ask->visit ? ask->visit->can : 0);
    json_object_close(&w);
    return out->is_full ? ERR_TOO_BIG : OK;
}

/* --- is it the same? --- */

/* What comes with a request and is not what it asks for. */
static bool is_aside(struct str key)
{
    return str_eq(key, S("_meta")) || str_eq(key, S("requestState")) ||
           str_eq(key, S("inputResponses"));
}

/* The same params without what is aside; false: the arena is full. */
static bool drop_asides(const struct json *params, struct arena *arena, struct json *ret)
{
    struct json *members = arena_alloc(arena, (params->count + 1) * sizeof(*members));
    size_t count = 0;

    if (!members)
        return false;
    *ret = *params;
    JSON_FOREACH(member, params)
        if (params->type != JSON_OBJECT || !is_aside(member->key))
            members[count++] = *member;
    for (size_t i = 0; i < count; i++)
        members[i].next = i + 1 < count ? &members[i + 1] : NULL;
    ret->first = count ? members : NULL;
    ret->count = count;
    return true;
}

/* Behind each a byte that stands in none of them. */
static void digest_parts(const struct str *parts, size_t count,
                         uint8_t ret[static WISH_DIGEST])
{
    uint8_t sum[SHA256_BYTES];

    crypto_sha256_parts(parts, count, sum);
    memcpy(ret, sum, WISH_DIGEST);
}

void wish_state_digest(struct str owner, struct str method, struct str key,
                       uint8_t ret[static WISH_DIGEST])
{
    const struct str parts[] = { owner, { "", 1 }, method, { "", 1 }, key };

    digest_parts(parts, COUNT(parts), ret);
}

bool wish_digest(struct str owner, struct str method, struct str params, bool is_modern,
                 uint8_t ret[static WISH_DIGEST])
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    const struct json *tree;
    struct json wanted;

    arena_init(&arena, params.len * TREE + MORE);
    buf_init(&out, params.len * 6 + MORE);
    if (json_parse(params, &arena, &tree, NULL) || !drop_asides(tree, &arena, &wanted) ||
        json_canonical_put(&out, &wanted, &arena))
        return false;
    digest_parts((const struct str[]){ owner,
                                       { "", 1 },
                                       method,
                                       { "", 1 },
                                       is_modern ? S("m") : S("l"),
                                       buf_str(&out) },
                 6, ret);
    return true;
}

bool aim_digest(const struct aim *aim, const struct asked_for *ask,
                uint8_t ret[static WISH_DIGEST])
{
    const struct mcp_message *message = &ask->in->message;
    CLEANUP(buf_done) struct buf params;

    if (!message->params.text.ptr)
        return wish_digest(aim->owner, message->method, S("{}"),
                           ask->in->era == ERA_MODERN, ret);
    buf_init(&params, message->params.text.len + aim->key.len * 6 + MORE);
    return !rename_params(&params, message->method, message->params, aim->key) &&
           wish_digest(aim->owner, message->method, buf_str(&params),
                       ask->in->era == ERA_MODERN, ret);
}
