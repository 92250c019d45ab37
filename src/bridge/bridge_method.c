/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Methods, and what becomes of them: answered from what is known of the server, refused,
 * or left to the server. Nothing here starts it. Results are those of the legacy line;
 * whoever asks as the modern era does gets them with what that demands (era.h).
 */
#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "mcp/ability.h"
#include "mcp/message.h"
#include "mcp/question.h"
#include "mcp/serve.h"
#include "mcp/template.h"

/* A request that is looked at. */
struct ask {
    struct bridge *b;
    struct str caller;
    const struct rpc_request *request;
    struct rpc_reply *reply;
    struct method_order *order;
};

/* A row of the table below. */
struct method {
    struct str name;
    enum method_verdict (*answer)(struct ask *ask, const struct method *m);
    enum offer_type type;
    struct str member; /* what names the thing that is meant */
    bool is_legacy;    /* the modern era does not know it */
};

static enum method_verdict fail(struct ask *ask, int64_t code, struct str message)
{
    rpc_fail(ask->reply, code, message, S(""));
    return METHOD_ANSWERED;
}

static enum method_verdict invalid(struct ask *ask, struct str message)
{
    return fail(ask, RPC_INVALID_PARAMS, message);
}

static enum method_verdict empty(struct ask *ask)
{
    buf_put(&ask->reply->json, S("{}"));
    return METHOD_ANSWERED;
}

static struct str text_param(const struct ask *ask, struct str name)
{
    return json_text(json_find(ask->request->params, name));
}

/* --- who the server is --- */

static struct str or_object(const char *json)
{
    return json && *json ? str_of(json) : S("{}");
}

static struct json_span capable_of(const struct bridge *b)
{
    return (struct json_span){ .type = JSON_OBJECT, .text = or_object(b->facts.capable) };
}

static void put_server_info(struct json_writer *w, const struct bridge *b)
{
    if (b->facts.server && *b->facts.server) {
        json_raw(w, str_of(b->facts.server));
        return;
    }
    json_object_open(w);
    json_put_str(w, S("name"), b->spec->name);
    json_put_str(w, S("version"), S(""));
    json_object_close(w);
}

static void put_instructions(struct json_writer *w, const struct bridge *b)
{
    if (b->facts.instructions && *b->facts.instructions)
        json_put_str(w, S("instructions"), str_of(b->facts.instructions));
}

/* The same version where it is known, else the newest of that line. */
static struct str agree_on(struct str version)
{
    for (size_t i = 1; i < MCP_VERSIONS; i++)
        if (str_eq(version, mcp_versions[i]))
            return mcp_versions[i];
    return mcp_versions[1];
}

#define TASKS_EXTENSION S("io.modelcontextprotocol/tasks")

/* A legacy server's tasks are the extension to a modern reader. */
static void put_capable(struct json_writer *w, const struct bridge *b)
{
    static const struct str anew[] = { S("tasks"), S("extensions") };
    static const struct str tasks[] = { TASKS_EXTENSION };
    struct json_span capable = capable_of(b);
    struct json_span others = mcp_message_find(capable, &anew[1], 1);

    json_key(w, S("capabilities"));
    if (b->facts.era == ERA_MODERN || !ability_has_tasks(capable)) {
        json_raw(w, capable.text);
        return;
    }
    json_object_open(w);
    json_put_members(w, capable.text, (struct str_list){ anew, COUNT(anew) });
    json_key(w, anew[1]);
    json_object_open(w);
    if (others.text.ptr && others.type == JSON_OBJECT)
        json_put_members(w, others.text, (struct str_list){ tasks, 1 });
    json_key(w, tasks[0]);
    json_raw(w, S("{}"));
    json_object_close(w);
    json_object_close(w);
}

static enum method_verdict initialize(struct ask *ask, const struct method *)
{
    struct str version = text_param(ask, S("protocolVersion"));
    struct json_writer w;

    if (!version.len)
        return invalid(ask, S("protocolVersion is missing"));
    json_write_init(&w, &ask->reply->json);
    json_object_open(&w);
    json_put_str(&w, S("protocolVersion"), agree_on(version));
    json_key(&w, S("capabilities"));
    json_raw(&w, or_object(ask->b->facts.capable));
    json_key(&w, S("serverInfo"));
    put_server_info(&w, ask->b);
    put_instructions(&w, ask->b);
    json_object_close(&w);
    return METHOD_ANSWERED;
}

static enum method_verdict discover(struct ask *ask, const struct method *)
{
    struct json_writer w;

    json_write_init(&w, &ask->reply->json);
    json_object_open(&w);
    json_put_strs(&w, S("supportedVersions"),
                  (struct str_list){ mcp_versions, MCP_VERSIONS });
    put_capable(&w, ask->b);
    put_instructions(&w, ask->b);
    json_object_close(&w);
    return METHOD_ANSWERED;
}

static enum method_verdict ping(struct ask *ask, const struct method *)
{
    return empty(ask);
}

/* --- what is kept for a caller --- */

static enum method_verdict set_level(struct ask *ask, const struct method *)
{
    int level = serve_level(text_param(ask, S("level")));
    struct guest *guest;

    if (level < 0)
        return invalid(ask, S("level is none of MCP's"));
    guest = guest_get(ask->b, ask->caller);
    if (!guest)
        return fail(ask, RPC_INTERNAL, S("too many have set a level"));
    guest->level = level;
    supervisor_relevel(ask->b->supervisor);
    return empty(ask);
}

static enum method_verdict subscribe(struct ask *ask, const struct method *m)
{
    struct str uri = text_param(ask, m->member);

    if (!uri.len || uri.len > OFFER_MAX_URI)
        return invalid(ask, S("uri is missing, or too long"));
    if (guest_watch(ask->b, ask->caller, uri))
        return fail(ask, RPC_INTERNAL, S("there are too many subscriptions"));
    return empty(ask);
}

static enum method_verdict unsubscribe(struct ask *ask, const struct method *m)
{
    guest_unwatch(ask->b, ask->caller, text_param(ask, m->member));
    return empty(ask);
}

/* --- lists --- */

static enum method_verdict list(struct ask *ask, const struct method *m)
{
    const struct json *cursor = json_find(ask->request->params, S("cursor"));
    size_t page = bridge_answer_bytes(ask->b) / 2;

    if (cursor && cursor->type != JSON_STRING)
        return invalid(ask, S("the cursor is none of ours"));
    if (listing_put_page(ask->b->listing, m->type, json_text(cursor), page,
                         &ask->reply->json))
        return invalid(ask, S("the cursor is none of ours"));
    relist_if_stale(ask->b, m->type);
    return METHOD_ANSWERED;
}

static enum method_verdict list_tasks(struct ask *ask, const struct method *)
{
    owned_task_put_list(ask->b, ask->caller, &ask->reply->json);
    return METHOD_ANSWERED;
}

/* --- what the server does --- */

/* Why it is not to be used; "": it is. */
static struct str objection(const struct listed *listed)
{
    if (listed->verdict == PIN_DROPPED)
        return str_of(listed->why);
    if (!listed->is_held)
        return S("");
    return listed->verdict == PIN_IS_NEW
               ? S("held: it is new, and nobody has approved it")
               : S("held: it has changed, and nobody has approved that");
}

/* A legacy caller says so of each call, a modern one of himself. */
static bool wants_task(const struct ask *ask)
{
    static const struct str path[] = { S("_meta"),
                                       S("io.modelcontextprotocol/clientCapabilities"),
                                       S("extensions"), TASKS_EXTENSION };
    const struct json *at = ask->request->params;

    if (!rpc_is_modern(ask->request))
        return json_find(at, S("task"));
    for (size_t i = 0; at && i < COUNT(path); i++)
        at = json_find(at, path[i]);
    return at;
}

/* A modern caller that cannot be given a task has no use for it. */
static bool lacks_tasks(const struct ask *ask)
{
    return rpc_is_modern(ask->request) && !wants_task(ask);
}

static enum method_verdict refuse_without_tasks(struct ask *ask)
{
    client_fail_missing(ask->reply, CAN_POLL_TASKS);
    return METHOD_ANSWERED;
}

/* A task of the caller's own, where the server has such (TASK-03); one that has none
 * would ignore it (TASK-02). */
static bool makes_task(const struct ask *ask, const struct method *m)
{
    if (m->type != OFFER_TOOL || !wants_task(ask))
        return false;
    return ask->b->facts.era == ERA_MODERN || ability_has_tasks(capable_of(ask->b));
}

/* Modern servers say so themselves. */
static bool needs_task(const struct ask *ask, const struct method *m,
                       const struct listed *listed)
{
    return m->type == OFFER_TOOL && ask->b->facts.era != ERA_MODERN &&
           ability_has_tasks(capable_of(ask->b)) && ability_needs_task(listed->json);
}

/* What is called is what is listed: nothing else was looked at by anybody. */
static enum method_verdict call(struct ask *ask, const struct method *m)
{
    struct str name = text_param(ask, m->member);
    const struct listed *listed = listing_find(ask->b->listing, m->type, name);
    struct str why = listed
                         ? objection(listed)
                         : (m->type == OFFER_TOOL ? S("there is no tool of that name")
                                                  : S("there is no prompt of that name"));

    if (!name.len)
        return invalid(ask, S("params do not name what is meant"));
    if (why.len)
        return invalid(ask, why);
    if (m->type == OFFER_TOOL) {
        ask->order->tool = listed->json;
        ask->order->listed = listed;
    }
    if (needs_task(ask, m, listed) && lacks_tasks(ask))
        return refuse_without_tasks(ask);
    ask->order->makes_task = makes_task(ask, m);
    if (!ask->order->makes_task || ask->b->facts.era == ERA_MODERN ||
        ability_runs_as_task(listed->json))
        return METHOD_ORDERED;
    if (!rpc_is_modern(ask->request))
        return fail(ask, RPC_METHOD_NOT_FOUND, S("this tool does not run as a task"));
    ask->order->makes_task = false; /* the server decides, and this is its word */
    return METHOD_ORDERED;
}

/* What is not listed is held with the templates that it may be of. */
static struct str template_objection(const struct bridge *b, struct str uri)
{
    const struct listed *listed;
    size_t at = 0;

    while ((listed = listing_next(b->listing, OFFER_TEMPLATE, &at)) != NULL)
        if (listed->is_held && listed->verdict != PIN_DROPPED &&
            template_may_match(listed->key, uri))
            return objection(listed);
    return S("");
}

/* URIs may be of a template, or of nothing that was listed. */
static enum method_verdict read_resource(struct ask *ask, const struct method *m)
{
    struct str uri = text_param(ask, m->member);
    const struct listed *listed = listing_find(ask->b->listing, m->type, uri);
    struct str why = listed ? objection(listed) : template_objection(ask->b, uri);

    if (!uri.len)
        return invalid(ask, S("params do not name what is meant"));
    return why.len ? invalid(ask, why) : METHOD_ORDERED;
}

static enum method_verdict use_task(struct ask *ask, const struct method *m)
{
    if (lacks_tasks(ask))
        return refuse_without_tasks(ask);
    if (!owned_task_is_of(ask->b, ask->caller, text_param(ask, m->member)))
        return invalid(ask, S("there is no such task"));
    return METHOD_ORDERED;
}

static struct str missing_of(const struct ask *ask, const struct method *m)
{
    return ability_missing(capable_of(ask->b), ask->b->facts.era == ERA_MODERN, m->name);
}

/* To a modern caller it is a wish, which a server may not be able to hear (ML-11). */
static enum method_verdict cancel_task(struct ask *ask, const struct method *m)
{
    enum method_verdict verdict = use_task(ask, m);

    return verdict == METHOD_ORDERED && missing_of(ask, m).len ? empty(ask) : verdict;
}

/* Legacy servers were asked by us, and are answered by us (ML-11). */
static enum method_verdict update_task(struct ask *ask, const struct method *m)
{
    enum method_verdict verdict = use_task(ask, m);
    const struct json *answers = json_find(ask->request->params, S("inputResponses"));
    CLEANUP(buf_done) struct buf why;
    struct owned_task *task;

    buf_init(&why, QUESTION_WHY);
    if (verdict != METHOD_ORDERED || ask->b->facts.era == ERA_MODERN)
        return verdict;
    if (!answers || answers->type != JSON_OBJECT)
        return invalid(ask, S("inputResponses is no object"));
    task = owned_task_find(ask->b, text_param(ask, m->member));
    return inputs_answer(task, answers, &why) ? empty(ask) : invalid(ask, buf_str(&why));
}

static enum method_verdict pass_on(struct ask *, const struct method *)
{
    return METHOD_ORDERED;
}

/* Of a connection, which a participant does not have with the server (BR-05). */
static enum method_verdict refuse(struct ask *ask, const struct method *)
{
    return fail(ask, RPC_METHOD_NOT_FOUND, S("method not found"));
}

/* --- which --- */

/* clang-format off */
static const struct method methods[] = {
    { S("initialize"),               initialize,    0,              S(""),       true },
    { S("ping"),                     ping,          0,              S(""),       true },
    { S("server/discover"),          discover,      0,              S(""),       false },
    { S("logging/setLevel"),         set_level,     0,              S(""),       true },
    { S("tools/list"),               list,          OFFER_TOOL,     S(""),       false },
    { S("resources/list"),           list,          OFFER_RESOURCE, S(""),       false },
    { S("resources/templates/list"), list,          OFFER_TEMPLATE, S(""),       false },
    { S("prompts/list"),             list,          OFFER_PROMPT,   S(""),       false },
    { S("resources/subscribe"),      subscribe,     OFFER_RESOURCE, S("uri"),    true },
    { S("resources/unsubscribe"),    unsubscribe,   OFFER_RESOURCE, S("uri"),    true },
    { S("subscriptions/listen"),     refuse,        0,              S(""),       false },
    { S("tools/call"),               call,          OFFER_TOOL,     S("name"),   false },
    { S("prompts/get"),              call,          OFFER_PROMPT,   S("name"),   false },
    { S("resources/read"),           read_resource, OFFER_RESOURCE, S("uri"),    false },
    { S("completion/complete"),      pass_on,       0,              S(""),       false },
    { S("tasks/list"),               list_tasks,    0,              S(""),       true },
    { S("tasks/get"),                use_task,      0,              S("taskId"), false },
    { S("tasks/result"),             use_task,      0,              S("taskId"), true },
    { S("tasks/cancel"),             cancel_task,   0,              S("taskId"), false },
    { S("tasks/update"),             update_task,   0,              S("taskId"), false },
};
/* clang-format on */

static const struct method others = { S(""), pass_on, 0, S(""), false };

static const struct method *find_method(struct str name)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(methods[i].name, name))
            return &methods[i];
    return &others;
}

/* MCP 2026-07-28, basic/versioning: a revision that is claimed and not known. */
static bool is_version_known(struct str version)
{
    for (size_t i = 0; i < MCP_VERSIONS; i++)
        if (version.len == 0 || str_eq(version, mcp_versions[i]))
            return true;
    return false;
}

static enum method_verdict refuse_version(struct ask *ask)
{
    struct str version = ask->request->version;
    CLEANUP(buf_done) struct buf data;
    struct json_writer w;

    buf_init(&data, version.len * 6 + 256);
    json_write_init(&w, &data);
    json_object_open(&w);
    json_put_strs(&w, S("supported"), (struct str_list){ mcp_versions, MCP_VERSIONS });
    json_put_str(&w, S("requested"), version);
    json_object_close(&w);
    rpc_fail(ask->reply, RPC_UNSUPPORTED_VERSION, S("unsupported protocol version"),
             buf_str(&data));
    return METHOD_ANSWERED;
}

/* LIFE-10. */
static enum method_verdict refuse_missing(struct ask *ask, struct str missing)
{
    CLEANUP(buf_done) struct buf message;

    buf_init(&message, 256);
    buf_putf(&message, "the server does not offer " STR_FMT ": it declares no " STR_FMT,
             STR_ARG(ask->request->method), STR_ARG(missing));
    return fail(ask, RPC_METHOD_NOT_FOUND, buf_str(&message));
}

static enum method_verdict answer_known(struct ask *ask, const struct method *m)
{
    struct str missing = missing_of(ask, m);
    bool is_wish = m->answer == cancel_task && rpc_is_modern(ask->request);

    return missing.len && !is_wish ? refuse_missing(ask, missing) : m->answer(ask, m);
}

enum method_verdict bridge_method(struct bridge *b, struct str caller,
                                  const struct rpc_request *request,
                                  struct rpc_reply *ret_reply, struct method_order *ret)
{
    struct ask ask = { b, caller, request, ret_reply, ret };
    const struct method *m = find_method(request->method);

    if (m == &others && is_gate_method(request->method)) {
        gate_method(b, caller, request, ret_reply);
        return METHOD_ANSWERED;
    }
    if (!is_version_known(request->version))
        return refuse_version(&ask);
    if (rpc_is_modern(request) && m->is_legacy)
        return refuse(&ask, m);
    if (m->answer == ping)
        return m->answer(&ask, m);
    if (bridge_is_known(b))
        return answer_known(&ask, m);
    if (b->state == SERVER_STOPPED)
        return fail(&ask, RPC_INTERNAL, S("the server is stopped"));
    return METHOD_PARKED;
}
