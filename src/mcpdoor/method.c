/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that the hall answers itself: who it is, what there is, who is told what.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "json/json.h"
#include "mcp/ability.h"
#include "mcp/era.h"
#include "mcp/rpc.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/house_tools.h"
#include "mcpdoor/rename.h"
#include "mcpdoor/room_tools.h"

#define TASKS_EXTENSION S("io.modelcontextprotocol/tasks")

enum {
    METHOD_SCRATCH = 1 << 20,
    FACTS = 16 << 20, /* bytes of all that owners say of themselves */
    OWNER_INSTRUCTIONS = 2 << 10,
    MORE_TOOLS = 64 << 10, /* bytes of the room's own tools */
    TOO_LONG = 500,
};

static bool is_modern(const struct asked_for *ask)
{
    return ask->in->era == ERA_MODERN;
}

/* --- answering --- */

static void send_answer(const struct asked_for *ask, unsigned status, struct str member,
                        struct str json)
{
    CLEANUP(buf_done) struct buf message;

    buf_init(&message, json.len + ask->in->message.id.text.len + HALL_MORE);
    mcp_message_put_answer(&message, ask->in->message.id, member, json);
    if (message.is_full)
        strand_answer(ask->strand, TOO_LONG, S(""), ask->attendee->hall->now.mono_ms);
    else
        strand_answer(ask->strand, status, buf_str(&message),
                      ask->attendee->hall->now.mono_ms);
}

void asked_answer(const struct asked_for *ask, struct str result)
{
    send_answer(ask, 200, S("result"), result);
}

void asked_refuse(const struct asked_for *ask, int64_t code, struct str error)
{
    send_answer(ask, serve_status(ask->in->era, code), S("error"), error);
}

void asked_fail(const struct asked_for *ask, int64_t code, struct str message,
                struct str data)
{
    struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + data.len + HALL_MORE);
    rpc_fail(&reply, code, message, data);
    asked_refuse(ask, code, buf_str(&reply.json));
    rpc_reply_done(&reply);
}

static void invalid(const struct asked_for *ask, const char *why)
{
    asked_fail(ask, RPC_INVALID_PARAMS, str_of(why), S(""));
}

/* What was composed here counts as of the other era: each gets what it knows. */
static void answer_composed(const struct asked_for *ask, struct str result)
{
    const struct hall *hall = ask->attendee->hall;
    CLEANUP(buf_done) struct buf server, changed;
    struct era_change change = { .method = ask->in->message.method,
                                 .is_modern_from = !is_modern(ask),
                                 .is_modern_to = is_modern(ask) };

    buf_init(&server, FACTS);
    buf_init(&changed, result.len + FACTS);
    hall_put_server(hall, &server);
    change.server = buf_str(&server);
    if (era_put_result(&changed, &change,
                       (struct json_span){ .type = JSON_OBJECT, .text = result }))
        asked_fail(ask, RPC_INTERNAL, S("the answer is too large"), S(""));
    else
        asked_answer(ask, buf_str(&changed));
}

/* --- who we are --- */

/* The one in whose place we stand, as if we were not there; NULL: we are ourselves. */
static const struct owner_facts *stand_in_for(const struct hall *hall)
{
    const struct owner_facts *facts;
    size_t at = 0;

    if (hall->desk || hall->settings.names_are_prefixed)
        return NULL;
    if (showcase_owners(hall->showcase))
        return concierge_find_owner(hall->concierge, showcase_only_owner(hall->showcase));
    facts = concierge_next_owner(hall->concierge, &at);
    return facts && !concierge_next_owner(hall->concierge, &at) ? facts : NULL;
}

void hall_put_server(const struct hall *hall, struct buf *out)
{
    const struct owner_facts *owner = stand_in_for(hall);
    struct json_writer w;

    json_write_init(&w, out);
    if (owner && owner->server.text.ptr) {
        json_span(&w, owner->server);
        return;
    }
    json_object_open(&w);
    json_put_str(&w, S("name"), hall->settings.name);
    json_put_str(&w, S("version"), hall->settings.version);
    json_object_close(&w);
}

static bool anybody_has(const struct hall *hall, struct str method)
{
    const struct owner_facts *facts;
    size_t at = 0;

    while ((facts = concierge_next_owner(hall->concierge, &at)) != NULL)
        if (facts->capable.text.ptr &&
            !ability_missing(facts->capable, false, method).len)
            return true;
    return false;
}

static bool has_tasks_extension(struct json_span capable)
{
    static const struct str path[] = { S("extensions"), TASKS_EXTENSION };

    return capable.text.ptr && mcp_message_find(capable, path, COUNT(path)).text.ptr;
}

static bool has_tasks(struct json_span capable)
{
    return has_tasks_extension(capable) ||
           mcp_message_member(capable, S("tasks")).text.ptr;
}

static void put_tasks(struct json_writer *w, bool is_modern)
{
    if (!is_modern) {
        json_key(w, S("tasks"));
        json_raw(w, S("{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"));
        return;
    }
    json_key(w, S("extensions"));
    json_object_open(w);
    json_key(w, TASKS_EXTENSION);
    json_raw(w, S("{}"));
    json_object_close(w);
}

static void put_listed(struct json_writer *w, struct str name, bool has_subscriptions)
{
    json_key(w, name);
    json_object_open(w);
    json_put_bool(w, S("listChanged"), true);
    if (has_subscriptions)
        json_put_bool(w, S("subscribe"), true);
    json_object_close(w);
}

static void put_empty(struct json_writer *w, struct str name)
{
    json_key(w, name);
    json_raw(w, S("{}"));
}

static bool anybody_has_tasks(const struct hall *hall)
{
    const struct owner_facts *facts;
    size_t at = 0;

    while ((facts = concierge_next_owner(hall->concierge, &at)) != NULL)
        if (has_tasks(facts->capable))
            return true;
    return false;
}

/* What any of them has. */
static void put_union(struct json_writer *w, const struct hall *hall, bool is_modern)
{
    json_object_open(w);
    if (hall->desk || anybody_has(hall, S("tools/list")))
        put_listed(w, S("tools"), false);
    if (anybody_has(hall, S("resources/list")))
        put_listed(w, S("resources"), anybody_has(hall, S("resources/subscribe")));
    if (anybody_has(hall, S("prompts/list")))
        put_listed(w, S("prompts"), false);
    if (anybody_has(hall, S("logging/setLevel")))
        put_empty(w, S("logging"));
    if (anybody_has(hall, S("completion/complete")))
        put_empty(w, S("completions"));
    if (anybody_has_tasks(hall))
        put_tasks(w, is_modern);
    json_object_close(w);
}

/* Verbatim, but that tasks have another name in the other era. */
static void put_owners(struct json_writer *w, struct json_span capable, bool is_modern)
{
    static const struct str tasks[] = { S("tasks"), S("extensions") };
    bool has_other = is_modern ? mcp_message_member(capable, tasks[0]).text.ptr != NULL
                               : has_tasks_extension(capable);
    bool has_own = is_modern ? has_tasks_extension(capable)
                             : mcp_message_member(capable, tasks[0]).text.ptr != NULL;

    if (!capable.text.ptr || has_own || !has_other) {
        json_raw(w, capable.text.ptr ? capable.text : S("{}"));
        return;
    }
    json_object_open(w);
    json_put_members(w, capable.text, (struct str_list){ tasks, COUNT(tasks) });
    put_tasks(w, is_modern);
    json_object_close(w);
}

static void put_capable(struct json_writer *w, const struct asked_for *ask)
{
    const struct hall *hall = ask->attendee->hall;
    const struct owner_facts *owner = stand_in_for(hall);

    json_key(w, S("capabilities"));
    if (owner)
        put_owners(w, owner->capable, is_modern(ask));
    else
        put_union(w, hall, is_modern(ask));
}

static void write_instructions(const struct hall *hall, struct buf *out)
{
    const struct owner_facts *facts;
    size_t at = 0;

    buf_putf(out,
             "This is the room \"" STR_FMT
             "\", in which people, agents and services work "
             "together. Its tools are those of its participants. A call that you may "
             "not make yourself is proposed to the room: it waits until somebody there "
             "approves it, and fails with the reason where nobody does. Repeating it "
             "meanwhile asks nobody twice.",
             STR_ARG(hall->settings.topic));
    if (hall->desk)
        buf_put(out, S(" room_who says who is here, tool_search finds tools by words."));
    while ((facts = concierge_next_owner(hall->concierge, &at)) != NULL)
        if (facts->instructions.len)
            buf_putf(out, "\n\n" STR_FMT ": " STR_FMT, STR_ARG(facts->id),
                     STR_ARG(str_slice(facts->instructions, 0, OWNER_INSTRUCTIONS)));
}

static void put_instructions(struct json_writer *w, const struct hall *hall)
{
    const struct owner_facts *owner = stand_in_for(hall);
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, FACTS);
    if (owner)
        buf_put(&text, owner->instructions);
    else
        write_instructions(hall, &text);
    if (text.len)
        json_put_str(w, S("instructions"), buf_str(&text));
}

static void initialize(const struct asked_for *ask)
{
    const struct hall *hall = ask->attendee->hall;
    CLEANUP(buf_done) struct buf result, server;
    struct json_writer w;

    buf_init(&result, FACTS);
    buf_init(&server, FACTS);
    hall_put_server(hall, &server);
    json_write_init(&w, &result);
    json_object_open(&w);
    json_put_str(&w, S("protocolVersion"), mcp_versions[ask->visit->version]);
    put_capable(&w, ask);
    json_key(&w, S("serverInfo"));
    json_raw(&w, buf_str(&server));
    put_instructions(&w, hall);
    json_object_close(&w);
    listen_look(ask->attendee);
    asked_answer(ask, buf_str(&result));
}

static void discover(const struct asked_for *ask)
{
    CLEANUP(buf_done) struct buf result;
    struct json_writer w;

    buf_init(&result, FACTS);
    json_write_init(&w, &result);
    json_object_open(&w);
    json_put_strs(&w, S("supportedVersions"),
                  (struct str_list){ mcp_versions, MCP_VERSIONS });
    put_capable(&w, ask);
    put_instructions(&w, ask->attendee->hall);
    json_object_close(&w);
    answer_composed(ask, buf_str(&result));
}

static void ping(const struct asked_for *ask)
{
    asked_answer(ask, S("{}"));
}

/* --- lists --- */

static enum err put_list(const struct asked_for *ask, enum offer_type type,
                         struct str cursor, struct buf *out)
{
    struct attendee *a = ask->attendee;
    struct showcase_view view = attendee_view(a);
    CLEANUP(buf_done) struct buf more;

    buf_init(&more, MORE_TOOLS);
    if (type == OFFER_TOOL) {
        room_tools_put(a, &more);
        house_tools_put(a, &more);
    }
    view.more = buf_str(&more);
    return showcase_put_page(a->hall->showcase, type, &view, cursor,
                             a->hall->settings.max_message / 2, out);
}

static void list(const struct asked_for *ask, enum offer_type type)
{
    struct json_span given = mcp_message_member(ask->in->message.params, S("cursor"));
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf page;
    struct str cursor = {};

    arena_init(&scratch, METHOD_SCRATCH);
    buf_init(&page, (size_t)2 * SHOWCASE_BYTES);
    if (given.text.ptr &&
        (given.type != JSON_STRING || json_unescape(given, &scratch, &cursor)))
        invalid(ask, "cursor is no string");
    else if (put_list(ask, type, cursor, &page))
        invalid(ask, "the cursor is none of ours");
    else
        answer_composed(ask, buf_str(&page));
}

static void list_tools(const struct asked_for *ask)
{
    list(ask, OFFER_TOOL);
}

static void list_resources(const struct asked_for *ask)
{
    list(ask, OFFER_RESOURCE);
}

static void list_templates(const struct asked_for *ask)
{
    list(ask, OFFER_TEMPLATE);
}

static void list_prompts(const struct asked_for *ask)
{
    list(ask, OFFER_PROMPT);
}

/* --- who is told what --- */

static void set_level(const struct asked_for *ask)
{
    struct json_span name = mcp_message_member(ask->in->message.params, S("level"));
    int level = mcp_message_is(name, JSON_STRING) ? serve_level(name.text) : -1;

    if (!anybody_has(ask->attendee->hall, S("logging/setLevel"))) {
        asked_fail(ask, RPC_METHOD_NOT_FOUND, S("there is no such method"), S(""));
        return;
    }
    if (level < 0) {
        invalid(ask, "level is none of MCP's");
        return;
    }
    ask->visit->level = level;
    attendee_set_level(ask->attendee);
    asked_answer(ask, S("{}"));
}

static bool call_tool(const struct asked_for *ask)
{
    const struct mcp_message *message = &ask->in->message;
    CLEANUP(arena_done) struct arena scratch;
    struct json_span arguments;
    struct named named;

    arena_init(&scratch, METHOD_SCRATCH);
    if (!rename_read(message->method, message->params, &scratch, &named))
        return false;
    arguments = mcp_message_member(message->params, S("arguments"));
    return room_tools_call(ask, named.name, arguments) ||
           house_tools_call(ask, named.name, arguments);
}

/* --- the table --- */

enum { LEGACY = 1, MODERN = 2, BOTH = 3 };

/* clang-format off */
static const struct method {
    struct str name;
    int eras;
    void (*answer)(const struct asked_for *ask);  /* or: */
    bool (*try)(const struct asked_for *ask);     /* false: a wish; neither: likewise */
} methods[] = {
    { S("initialize"),               LEGACY, initialize,     NULL },
    { S("ping"),                     LEGACY, ping,           NULL },
    { S("server/discover"),          MODERN, discover,       NULL },
    { S("subscriptions/listen"),     MODERN, listen_begin,   NULL },
    { S("tools/list"),               BOTH,   list_tools,     NULL },
    { S("resources/list"),           BOTH,   list_resources, NULL },
    { S("resources/templates/list"), BOTH,   list_templates, NULL },
    { S("prompts/list"),             BOTH,   list_prompts,   NULL },
    { S("logging/setLevel"),         LEGACY, set_level,      NULL },
    { S("resources/subscribe"),      LEGACY, NULL,           NULL },
    { S("resources/unsubscribe"),    LEGACY, NULL,           NULL },
    { S("tools/call"),               BOTH,   NULL,           call_tool },
    { S("resources/read"),           BOTH,   NULL,           NULL },
    { S("prompts/get"),              BOTH,   NULL,           NULL },
    { S("completion/complete"),      BOTH,   NULL,           NULL },
    { S("tasks/get"),                BOTH,   NULL,           NULL },
    { S("tasks/cancel"),             BOTH,   NULL,           NULL },
    { S("tasks/update"),             MODERN, NULL,           NULL },
    { S("tasks/result"),             LEGACY, NULL,           NULL },
    { S("tasks/list"),               LEGACY, NULL,           NULL },
};
/* clang-format on */

static const struct method *find_method(const struct asked_for *ask)
{
    int era = is_modern(ask) ? MODERN : LEGACY;

    for (size_t i = 0; i < COUNT(methods); i++)
        if ((methods[i].eras & era) && str_eq(methods[i].name, ask->in->message.method))
            return &methods[i];
    return NULL;
}

bool method_answer(const struct asked_for *ask)
{
    const struct method *method = find_method(ask);

    if (!method) {
        asked_fail(ask, RPC_METHOD_NOT_FOUND, S("there is no such method"), S(""));
        return true;
    }
    if (method->answer) {
        method->answer(ask);
        return true;
    }
    return method->try && method->try(ask);
}
