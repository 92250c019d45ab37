/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conformance suite runs as the client under test: the program's own session,
 * HTTP transport and OAuth, and a few words of script per scenario.
 *
 *     mcp_client URL
 *
 * MCP_CONFORMANCE_SCENARIO names the scenario, MCP_CONFORMANCE_PROTOCOL_VERSION the
 * revision, MCP_CONFORMANCE_CONTEXT what the scenario gives along. The suite plays the
 * person who signs in: its authorization server redirects at once, and what the browser
 * would bring back is taken from there. Exits with 0 where every call was answered; the
 * last line that it says is "ended".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fetch/fetch.h"
#include "json/json.h"
#include "loop/loop.h"
#include "mcp/headers.h"
#include "mcp/session.h"
#include "oauth/oauth.h"
#include "transport/http.h"

enum { ROOM = 16 << 20, MESSAGE_BYTES = 4 << 20, WAIT_MS = 20'000, LEAVE_MS = 2'000 };

#define REDIRECT_URI "http://127.0.0.1:9876/callback"
#define METADATA_URL "https://conformance-test.local/client-metadata.json"

struct step;

struct client {
    struct loop *loop;
    struct fetch *fetch;
    struct oauth *oauth;
    struct http_carrier *http;
    struct mcp_session *session;
    struct loop_timer due, leave;
    struct loop_task go_on;
    struct arena arena;
    const struct step *steps;   /* what is still to be done */
    const struct json *context; /* of the scenario, or NULL */
    const struct json *tools;   /* the result of tools/list */
    const struct json *turn;    /* of a step with several calls: the next one's */
    struct buf location;        /* where the authorization server sent the browser */
    const char *failure;
    bool is_leaving;
};

/* One thing that a scenario wants done. `begin` makes its calls, one at a time; false:
 * there is none left. */
struct step {
    bool (*begin)(struct client *client, const struct step *step);
    struct str name, arguments;
};

static void leave(struct client *client, const char *failure)
{
    if (client->is_leaving)
        return;
    client->is_leaving = true;
    client->failure = failure;
    if (failure)
        (void)fprintf(stderr, "mcp_client: %s\n", failure);
    loop_timer_set(client->loop, &client->leave, LEAVE_MS);
    http_carrier_close(client->http);
}

/* --- calls --- */

static const struct json *kept(struct client *client, struct str json)
{
    const struct json *tree = NULL;
    struct str copy = arena_str(&client->arena, json);

    if (!copy.ptr || json_parse(copy, &client->arena, &tree, NULL))
        return NULL;
    return tree;
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    struct client *client = user;

    (void)printf("answer %d: " STR_FMT "\n", (int)reply->type, STR_ARG(reply->json.text));
    if (reply->type == REPLY_FAILED || reply->type == REPLY_CANCELLED)
        return leave(client, "a call failed");
    loop_defer(client->loop, &client->go_on);
}

static const struct json *find_tool(const struct client *client, struct str name)
{
    const struct json *list = json_find(client->tools, S("tools"));

    if (list)
        JSON_FOREACH(tool, list)
            if (str_eq(json_text(json_find(tool, S("name"))), name))
                return tool;
    return NULL;
}

static bool call(struct client *client, struct str method, struct str params,
                 void (*done)(void *user, const struct mcp_reply *reply), struct str tool)
{
    struct mcp_call order = { .method = method,
                              .params = params,
                              .tool = tool,
                              .timeout_ms = WAIT_MS,
                              .ops.on_done = done,
                              .user = client };
    uint64_t id;

    (void)printf("call " STR_FMT " " STR_FMT "\n", STR_ARG(method), STR_ARG(params));
    if (mcp_session_call(client->session, &order, loop_now_ms(client->loop), &id))
        leave(client, "a call was not taken");
    return true;
}

static bool call_tool(struct client *client, struct str name, struct str arguments)
{
    const struct json *tool = find_tool(client, name);
    CLEANUP(buf_done) struct buf params;
    struct json_writer w;

    buf_init(&params, MESSAGE_BYTES);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, S("name"), name);
    json_key(&w, S("arguments"));
    json_raw(&w, arguments.len ? arguments : S("{}"));
    json_object_close(&w);
    return call(client, S("tools/call"), buf_str(&params), on_done,
                tool ? tool->raw : (struct str){});
}

/* --- steps --- */

static void on_tools(void *user, const struct mcp_reply *reply)
{
    struct client *client = user;

    if (reply->type == REPLY_RESULT)
        client->tools = kept(client, reply->json.text);
    on_done(user, reply);
}

static bool list_tools(struct client *client, const struct step *step [[maybe_unused]])
{
    if (client->tools)
        return false;
    return call(client, S("tools/list"), S(""), on_tools, S(""));
}

/* Once: `turn` stands for "it has been done". */
static bool one_call(struct client *client, const struct step *step)
{
    if (client->turn)
        return false;
    client->turn = client->tools;
    return call_tool(client, step->name, step->arguments);
}

/* Every tool that may be used, without arguments. */
static bool every_tool(struct client *client, const struct step *step [[maybe_unused]])
{
    const struct json *list = json_find(client->tools, S("tools"));
    const struct json *tool = client->turn ? client->turn->next
                              : list       ? list->first
                                           : NULL;

    while (tool && header_tool_fault(tool))
        tool = tool->next;
    client->turn = tool;
    return tool && call_tool(client, json_text(json_find(tool, S("name"))),
                             S("{\"region\":\"us-west1\",\"message\":\"hello\"}"));
}

/* Those that the scenario names. */
static bool given_calls(struct client *client, const struct step *step [[maybe_unused]])
{
    const struct json *list = json_find(client->context, S("toolCalls"));
    const struct json *next = client->turn ? client->turn->next
                              : list       ? list->first
                                           : NULL;
    const struct json *arguments = json_find(next, S("arguments"));

    client->turn = next;
    return next && call_tool(client, json_text(json_find(next, S("name"))),
                             arguments ? arguments->raw : S("{}"));
}

/* The schema of one tool goes to another, as it stands. */
static bool echo_schema(struct client *client, const struct step *step)
{
    const struct json *tool = find_tool(client, step->name);
    const struct json *schema = json_find(tool, S("inputSchema"));
    CLEANUP(buf_done) struct buf arguments;

    buf_init(&arguments, MESSAGE_BYTES);
    if (client->turn || !schema)
        return false;
    client->turn = tool;
    buf_put(&arguments, S("{\"schema\":"));
    buf_put(&arguments, schema->raw);
    buf_putc(&arguments, '}');
    return call_tool(client, S("json_schema_echo"), buf_str(&arguments));
}

/* The first of what a list offers is asked for: `name` is the kind of thing. */
struct offer_kind {
    struct str name, list, get, key, member;
};

static const struct offer_kind offer_kinds[] = {
    { { "resources", 9 },
      { "resources/list", 14 },
      { "resources/read", 14 },
      { "uri", 3 },
      { "resources", 9 } },
    { { "prompts", 7 },
      { "prompts/list", 12 },
      { "prompts/get", 11 },
      { "name", 4 },
      { "prompts", 7 } },
};

static const struct offer_kind *offer_kind(struct str name)
{
    return str_eq(name, offer_kinds[0].name) ? &offer_kinds[0] : &offer_kinds[1];
}

static void on_list(void *user, const struct mcp_reply *reply)
{
    struct client *client = user;

    if (reply->type == REPLY_RESULT)
        client->turn = kept(client, reply->json.text);
    on_done(user, reply);
}

static bool get_first(struct client *client, const struct step *step)
{
    const struct offer_kind *kind = offer_kind(step->name);
    const struct json *list = json_find(client->turn, kind->member);
    struct str key;
    CLEANUP(buf_done) struct buf params;
    struct json_writer w;

    buf_init(&params, MESSAGE_BYTES);
    if (!client->turn)
        return call(client, kind->list, S(""), on_list, S(""));
    if (!list || !list->first)
        return false;
    key = json_text(json_find(list->first, kind->key));
    client->turn = list; /* which has no such member: the step is over */
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, kind->key, key);
    json_object_close(&w);
    return call(client, kind->get, buf_str(&params), on_done, S(""));
}

#define TOOL(tool, args)                      \
    {                                         \
        one_call, { tool, sizeof(tool) - 1 }, \
        {                                     \
            args, sizeof(args) - 1            \
        }                                     \
    }
#define STEP(what, about)                   \
    {                                       \
        what, { about, sizeof(about) - 1 }, \
        {                                   \
            "", 0                           \
        }                                   \
    }
enum { STEPS = 6 };

/* The first row whose name begins the scenario's counts. */
static const struct script {
    const char *scenario;
    struct step steps[STEPS]; /* after tools/list */
} scripts[] = {
    { "tools_call", { TOOL("add_numbers", "{\"a\":5,\"b\":3}") } },
    { "elicitation-sep1034", { TOOL("test_client_elicitation_defaults", "{}") } },
    { "sse-retry", { TOOL("test_reconnection", "{}") } },
    { "json-schema-2020-12", { STEP(echo_schema, "json_schema_2020_12_tool") } },
    { "http-standard-headers",
      { STEP(every_tool, ""), STEP(get_first, "resources"),
        STEP(get_first, "prompts") } },
    { "http-custom-headers", { STEP(given_calls, "") } },
    { "http-invalid-tool-headers", { STEP(every_tool, "") } },
    { "sep-2322",
      { TOOL("test_mrtr_echo_state", "{}"), TOOL("test_mrtr_unrelated", "{}"),
        TOOL("test_mrtr_no_state", "{}"), TOOL("test_mrtr_no_result_type", "{}") } },
    { "auth/", { TOOL("test-tool", "{}") } },
    { "", {} },
};

static const struct step *script_of(const char *scenario)
{
    const struct script *script = scripts;

    while (!str_starts(str_of(scenario), str_of(script->scenario)))
        script++;
    return script->steps;
}

static void go_on(struct loop_task *task)
{
    static const struct step list = { .begin = list_tools };
    struct client *client = CONTAINER_OF(task, struct client, go_on);

    if (client->is_leaving || list.begin(client, &list))
        return;
    while (client->steps->begin) {
        if (client->steps->begin(client, client->steps))
            return;
        client->turn = NULL;
        client->steps++;
    }
    leave(client, NULL);
}

/* --- what the session tells --- */

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    struct client *client = user;

    (void)printf("ready " STR_FMT "\n", STR_ARG(facts->version));
    loop_defer(client->loop, &client->go_on);
}

static void on_end(void *user, enum mcp_end end [[maybe_unused]], const char *why)
{
    leave(user, why ? why : "the session ended");
}

static void on_notification(void *user [[maybe_unused]],
                            const struct mcp_message *message, uint64_t id)
{
    (void)printf("notification of %llu: " STR_FMT "\n", (unsigned long long)id,
                 STR_ARG(message->text));
}

/* A form is accepted with what it proposes (SEP-1034); other fields get the least. */
static void put_content(struct json_writer *w, const struct json *properties)
{
    json_object_open(w);
    if (properties)
        JSON_FOREACH(field, properties) {
            const struct json *preset = json_find(field, S("default"));
            struct str type = json_text(json_find(field, S("type")));

            if (!preset && !str_eq(type, S("boolean")))
                continue;
            json_key(w, field->key);
            json_raw(w, preset ? preset->raw : S("true"));
        }
    json_object_close(w);
}

static void put_answer(struct client *client, struct buf *out,
                       const struct mcp_question *question)
{
    const struct json *params = kept(client, question->params);
    const struct json *schema = json_find(params, S("requestedSchema"));
    struct json_writer w;

    if (str_eq(question->method, S("roots/list"))) {
        buf_put(out, S("{\"roots\":[]}"));
        return;
    }
    if (str_eq(question->method, S("sampling/createMessage"))) {
        buf_put(out, S("{\"role\":\"assistant\",\"model\":\"test\",\"content\":"
                       "{\"type\":\"text\",\"text\":\"hello\"}}"));
        return;
    }
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("action"), S("accept"));
    json_key(&w, S("content"));
    put_content(&w, json_find(schema, S("properties")));
    json_object_close(&w);
}

static void on_question(void *user, struct mcp_question *question)
{
    struct client *client = user;
    CLEANUP(buf_done) struct buf answer;

    (void)printf("question " STR_FMT "\n", STR_ARG(question->method));
    buf_init(&answer, MESSAGE_BYTES);
    put_answer(client, &answer, question);
    mcp_question_answer(client->session, question, S("result"), buf_str(&answer),
                        loop_now_ms(client->loop));
}

static void on_question_gone(void *user [[maybe_unused]],
                             struct mcp_question *question [[maybe_unused]])
{
}

static void set_due(struct client *client)
{
    uint64_t due = mcp_session_due_ms(client->session);
    uint64_t now = loop_now_ms(client->loop);

    if (due == UINT64_MAX)
        loop_timer_clear(client->loop, &client->due);
    else
        loop_timer_set(client->loop, &client->due, due > now ? due - now : 0);
}

/* mcp_session_new() itself may say so, before there is a session to ask. */
static void on_due(void *user)
{
    struct client *client = user;

    if (client->session)
        set_due(client);
}

static void on_time(struct loop_timer *timer)
{
    struct client *client = CONTAINER_OF(timer, struct client, due);

    mcp_session_tick(client->session, loop_now_ms(client->loop));
    set_due(client);
}

/* --- the person who signs in --- */

static void on_redirect(void *user, struct fetch_call *fetch_call,
                        const struct fetch_head *head)
{
    struct client *client = user;

    (void)printf("sign-in answered with %u\n", head->status);
    buf_clear(&client->location);
    buf_put(&client->location, fetch_field(fetch_call, S("Location")));
}

static void on_page(void *user [[maybe_unused]], struct str bytes [[maybe_unused]])
{
}

static void on_returned(void *user, const struct fetch_answer *answer [[maybe_unused]])
{
    struct client *client = user;
    struct str query = buf_str(&client->location);
    const char *why = "";

    (void)str_cut(&query, '?');
    if (oauth_returned(client->oauth, query, &why))
        (void)fprintf(stderr, "mcp_client: %s\n", why);
}

static void on_sign_in(void *user, struct str url)
{
    static const struct fetch_ops ops = { on_redirect, on_page, on_returned };
    struct client *client = user;
    CLEANUP(xfreep) char *address = str_dup(url);
    struct fetch_order order = {
        .method = "GET", .url = address, .timeout_ms = WAIT_MS, .max_answer = 1 << 20
    };

    (void)printf("sign in at %s\n", address);
    (void)fetch_start(client->fetch, &order, &ops, client);
}

/* --- beginning and end --- */

static void on_carrier_ended(void *user, const char *why)
{
    struct client *client = user;

    leave(client, why);
    loop_stop(client->loop);
}

static void on_leave(struct loop_timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct client, leave)->loop);
}

static struct str of_context(const struct client *client, struct str key)
{
    return json_text(json_find(client->context, key));
}

static void open_oauth(struct client *client, const char *url)
{
    static const struct oauth_ops ops = { .on_sign_in = on_sign_in };
    struct oauth_settings settings = {
        .server_url = str_of(url),
        .client_name = S("Moot conformance client"),
        .redirect_uri = S(REDIRECT_URI),
        .client_id = of_context(client, S("client_id")),
        .client_secret = of_context(client, S("client_secret")),
        .metadata_url = S(METADATA_URL),
        .sign_in_ms = WAIT_MS,
    };

    client->oauth = oauth_new(client->loop, client->fetch, &settings, &ops, client);
}

static void open_session(struct client *client, bool is_modern)
{
    static const struct mcp_session_ops ops = {
        on_ready, on_end, on_notification, on_question, on_question_gone, on_due, NULL
    };
    struct mcp_session_settings settings = {
        .name = S("moot-conformance"),
        .version = S(MOOT_VERSION),
        .era = is_modern ? ERA_MODERN : ERA_LEGACY,
        .has_sampling = true,
        .has_elicitation = true,
        .has_url_elicitation = true,
        .has_roots = true,
        .has_tasks = true,
        .probe_ms = WAIT_MS,
        .open_ms = WAIT_MS,
        .call_ms = WAIT_MS,
        .call_max_ms = 2 * WAIT_MS,
        .max_calls = 16,
        .max_questions = 16,
        .max_depth = 64,
        .max_rounds = 10,
        .max_message = MESSAGE_BYTES,
    };

    client->session = mcp_session_new(&settings, http_carrier_of(client->http), &ops,
                                      client, loop_now_ms(client->loop));
    set_due(client);
}

static void open_carrier(struct client *client, const char *url)
{
    static const struct http_carrier_ops ops = { on_carrier_ended };
    struct http_carrier_settings settings = {
        .url = url,
        .credential = oauth_credential(client->oauth),
        .max_message = MESSAGE_BYTES,
        .max_streams = 16,
        .connect_ms = WAIT_MS,
    };

    client->http =
        http_carrier_open(client->fetch, client->loop, &settings, &ops, client);
}

static void close_all(struct client *client)
{
    loop_timer_clear(client->loop, &client->due);
    loop_timer_clear(client->loop, &client->leave);
    list_remove(&client->go_on.link);
    mcp_session_free(client->session);
    http_carrier_free(client->http);
    oauth_free(client->oauth);
    fetch_free(client->fetch);
    loop_turn(client->loop, 0); /* what was deferred */
    loop_free(client->loop);
    buf_done(&client->location);
    arena_done(&client->arena);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

int main(int argc, char **argv)
{
    const char *scenario = environment("MCP_CONFORMANCE_SCENARIO");
    const char *revision = environment("MCP_CONFORMANCE_PROTOCOL_VERSION");
    bool is_modern = strcmp(revision, "2026-07-28") >= 0;
    struct client client = { .loop = loop_new(),
                             .due.on_fire = on_time,
                             .leave.on_fire = on_leave,
                             .go_on.run = go_on,
                             .steps = script_of(scenario) };
    char *why = NULL;

    if (argc != 2 || fetch_new(client.loop, &client.fetch, &why)) {
        (void)fprintf(stderr, "usage: mcp_client URL%s%s\n", why ? ": " : "",
                      why ? why : "");
        return 2;
    }
    arena_init(&client.arena, ROOM);
    buf_init(&client.location, 16 << 10);
    client.context = kept(&client, str_of(environment("MCP_CONFORMANCE_CONTEXT")));
    open_oauth(&client, argv[1]);
    open_carrier(&client, argv[1]);
    open_session(&client, is_modern);
    loop_run(client.loop);
    close_all(&client);
    (void)puts("ended"); /* the suite takes a crash for a success */
    return client.failure ? 1 : 0;
}
