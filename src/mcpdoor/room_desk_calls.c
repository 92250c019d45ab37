/* SPDX-License-Identifier: Apache-2.0 */
/* What each of the room's own tools does. */
#include "base/cleanup.h"
#include "json/json.h"
#include "mcpdoor/room_desk_priv.h"
#include "participant/roster.h"
#include "participant/say.h"

enum { KIND = 1024, PROPOSAL = 2 * DESK_SCRATCH, NAMES = 4 * ROOM_ANSWER };

/* --- room_chat --- */

struct chat_arguments {
    struct str text;
    struct str_list to;
};
#define CHAT(member, need) JSON_FIELD(struct chat_arguments, member, need)
static const struct json_field chat_fields[] = {
    CHAT(text, JSON_REQUIRED),
    CHAT(to, JSON_OPTIONAL),
};

static bool may_chat(const struct room_desk *, const struct room_guest *guest)
{
    return occupant_may(
        guest->occupant, S("chat"),
        (struct json_span){ .type = JSON_OBJECT, .text = S("{\"text\":\"\"}") });
}

static void call_chat(const struct asking_tool *ask)
{
    struct chat_arguments args = {};
    CLEANUP(buf_done) struct buf payload;
    struct json_writer w;

    buf_init(&payload, DESK_SCRATCH);
    if (!desk_read_arguments(ask, chat_fields, COUNT(chat_fields), &args))
        return;
    if (!args.text.len) {
        desk_answer_failure(ask, S("There is no text."), S(""));
        return;
    }
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("text"), args.text);
    json_object_close(&w);
    if (payload.is_full) {
        desk_answer_failure(ask, S("The text is too long."), S(""));
        return;
    }
    desk_say(ask, &(struct saying){ .kind = S("chat"),
                                    .payload = buf_str(&payload),
                                    .to = args.to.items,
                                    .to_count = args.to.count });
}

/* --- room_propose --- */

struct propose_arguments {
    struct str to, tool, reason;
    const struct json *arguments;
};
#define PROPOSE(member, need) JSON_FIELD(struct propose_arguments, member, need)
static const struct json_field propose_fields[] = {
    PROPOSE(to, JSON_OPTIONAL),
    PROPOSE(tool, JSON_REQUIRED),
    PROPOSE(reason, JSON_OPTIONAL),
    PROPOSE(arguments, JSON_OPTIONAL),
};

static bool may_propose_it(const struct room_guest *guest, struct str key,
                           struct buf *kind)
{
    struct json_span any = { .type = JSON_NULL };

    buf_clear(kind);
    buf_put(kind, S("mcp/proposal:tools/call:"));
    buf_put(kind, key);
    return !kind->is_full && occupant_may(guest->occupant, buf_str(kind), any);
}

/* Anything that is offered. */
static bool may_propose(const struct room_desk *desk, const struct room_guest *guest)
{
    CLEANUP(buf_done) struct buf kind;
    const struct exhibit *tool = NULL;

    buf_init(&kind, KIND);
    while ((tool = showcase_next(desk->showcase, OFFER_TOOL, tool)) != NULL)
        if (may_propose_it(guest, tool->key, &kind))
            return true;
    return false;
}

static void propose(const struct asking_tool *ask, const struct propose_arguments *args,
                    const struct exhibit *tool, struct str kind)
{
    CLEANUP(buf_done) struct buf params, payload;
    struct json_writer w;

    buf_init(&params, DESK_SCRATCH);
    buf_init(&payload, PROPOSAL);
    say_params(&params, S("tools/call"), tool->key,
               args->arguments ? args->arguments->raw : S("{}"));
    json_write_init(&w, &payload);
    say_proposal(&w, S("tools/call"), buf_str(&params), args->reason);
    if (params.is_full || payload.is_full)
        desk_answer_failure(ask, S("The arguments are too long."), S(""));
    else
        desk_say(ask, &(struct saying){ .kind = kind,
                                        .payload = buf_str(&payload),
                                        .to = &tool->owner,
                                        .to_count = 1 });
}

static void call_propose(const struct asking_tool *ask)
{
    struct propose_arguments args = {};
    CLEANUP(buf_done) struct buf kind;
    const struct exhibit *tool;

    buf_init(&kind, KIND);
    if (!desk_read_arguments(ask, propose_fields, COUNT(propose_fields), &args))
        return;
    tool = showcase_find_of(ask->desk->showcase, OFFER_TOOL, args.to, args.tool);
    if (!tool || !may_propose_it(ask->guest, tool->key, &kind))
        desk_answer_failure(ask, S("There is no tool that you could propose: "),
                            args.tool);
    else if (args.arguments && args.arguments->type != JSON_OBJECT)
        desk_answer_failure(ask, S("`arguments` is no object."), S(""));
    else
        propose(ask, &args, tool, buf_str(&kind));
}

/* --- room_who --- */

static bool may_always(const struct room_desk *, const struct room_guest *)
{
    return true;
}

static size_t count_tools(const struct room_desk *desk, const struct room_guest *guest,
                          struct str owner)
{
    const struct showcase_view *view = guest->view;
    const struct exhibit *tool = NULL;
    size_t count = 0;

    while ((tool = showcase_next(desk->showcase, OFFER_TOOL, tool)) != NULL)
        count += str_eq(tool->owner, owner) && !tool->is_hidden &&
                 (!view->may || view->may(view->user, tool));
    return count;
}

static void put_participant(const struct asking_tool *ask, struct json_writer *w,
                            const struct roster_entry *who)
{
    size_t tools = 0;

    if (str_eq(who->type, S("service")) || str_eq(who->type, S("agent")))
        tools = count_tools(ask->desk, ask->guest, who->id);
    json_object_open(w);
    json_put_str(w, S("id"), who->id);
    if (who->type.len)
        json_put_str(w, S("type"), who->type);
    if (tools)
        json_put_uint(w, S("tools"), tools);
    json_object_close(w);
}

static void put_silent(const struct room_desk *desk, struct json_writer *w)
{
    CLEANUP(buf_done) struct buf silent;

    buf_init(&silent, ROOM_ANSWER);
    if (desk->concierge)
        concierge_put_silent(desk->concierge, &silent);
    if (silent.len)
        json_put_str(w, S("does_not_answer"), buf_str(&silent));
}

static void call_who(const struct asking_tool *ask)
{
    const struct room_desk *desk = ask->desk;
    CLEANUP(buf_done) struct buf object;
    const struct roster_entry *who;
    struct json_writer w;
    size_t at = 0, count = 0;

    buf_init(&object, NAMES);
    if (!desk_read_arguments(ask, NULL, 0, NULL))
        return;
    json_write_init(&w, &object);
    json_object_open(&w);
    json_put_str(&w, S("you"), occupant_id(ask->guest->occupant));
    json_key(&w, S("participants"));
    json_array_open(&w);
    while (desk->occupant && count++ < ROOM_WHO &&
           (who = occupant_next_participant(desk->occupant, &at)) != NULL)
        put_participant(ask, &w, who);
    json_array_close(&w);
    put_silent(desk, &w);
    json_object_close(&w);
    if (object.is_full)
        desk_answer_failure(ask, S("There are too many here to name them."), S(""));
    else
        desk_answer_object(ask, buf_str(&object));
}

/* --- room_wait --- */

struct wait_arguments {
    uint64_t seconds;
    struct str after;
};
#define WAIT(member, need) JSON_FIELD(struct wait_arguments, member, need)
static const struct json_field wait_fields[] = {
    WAIT(seconds, JSON_OPTIONAL),
    WAIT(after, JSON_OPTIONAL),
};

/* Where somebody has read to. A number of another life is none of ours: everything that
 * is kept is news then. */
static uint64_t read_after(const struct room_desk *desk, struct str after)
{
    uint64_t number;

    if (!after.len)
        return desk->number;
    if (str_to_u64(after, UINT64_MAX, &number) || number > desk->number)
        return 0;
    return number;
}

static void call_wait_news(const struct asking_tool *ask)
{
    struct wait_arguments args = { .seconds = ROOM_WAIT_MS / 1000 };
    struct pending *pending;
    uint64_t ms;

    if (!desk_read_arguments(ask, wait_fields, COUNT(wait_fields), &args))
        return;
    pending = desk_pending_new(ask);
    if (!pending)
        return;
    ms = args.seconds < ROOM_WAIT_MAX_MS / 1000 ? args.seconds * 1000 : ROOM_WAIT_MAX_MS;
    pending->after = read_after(ask->desk, args.after);
    pending->due_ms = ask->now.mono_ms + ms;
    desk_answer_news(pending, ask->now.mono_ms);
}

/* --- tool_search --- */

struct search_arguments {
    struct str query;
    uint64_t limit;
};
#define SEARCH(member, need) JSON_FIELD(struct search_arguments, member, need)
static const struct json_field search_fields[] = {
    SEARCH(query, JSON_REQUIRED),
    SEARCH(limit, JSON_OPTIONAL),
};

static void call_search(const struct asking_tool *ask)
{
    struct search_arguments args = { .limit = ROOM_SEARCH };
    CLEANUP(buf_done) struct buf object;

    buf_init(&object, ROOM_ANSWER);
    if (!desk_read_arguments(ask, search_fields, COUNT(search_fields), &args))
        return;
    if (args.limit > ROOM_SEARCH_MAX)
        args.limit = ROOM_SEARCH_MAX;
    buf_put(&object, S("{\"tools\":"));
    showcase_search(ask->desk->showcase, ask->guest->view, args.query, (size_t)args.limit,
                    &object);
    buf_putc(&object, '}');
    if (object.is_full)
        desk_answer_failure(ask, S("Too much was found: set a lower `limit`."), S(""));
    else
        desk_answer_object(ask, buf_str(&object));
}

/* --- all of them --- */

#define PLAIN_OBJECT "\"type\":\"object\",\"additionalProperties\":false"
#define LOOKS_ONLY   ",\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}"

/* clang-format off */
const struct room_tool room_tools[ROOM_TOOLS] = {
    { S("room_chat"), may_chat, call_chat,
      S("{\"name\":\"room_chat\",\"title\":\"Say something in the room\","
        "\"description\":\"Says something to everybody in the room, people and agents, or only to those named in `to`. "
        "Does not wait for an answer: room_wait does.\",\"inputSchema\":{" PLAIN_OBJECT ",\"properties\":{"
        "\"text\":{\"type\":\"string\"},\"to\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
        "\"description\":\"ids, as room_who names them\"}},\"required\":[\"text\"]}}") },
    { S("room_who"), may_always, call_who,
      S("{\"name\":\"room_who\",\"title\":\"Who is in the room\","
        "\"description\":\"Names the participants, what they are (human, agent, service), how many tools you may use of each, "
        "and which of them do not answer.\",\"inputSchema\":{" PLAIN_OBJECT "}" LOOKS_ONLY) },
    { S("room_wait"), may_always, call_wait_news,
      S("{\"name\":\"room_wait\",\"title\":\"Wait for something to be said\","
        "\"description\":\"Gives the chat messages, proposals and decisions since `after`, or waits for the next one. "
        "Give the `next` of an answer as `after` of the following call, so that nothing is missed.\",\"inputSchema\":{" PLAIN_OBJECT
        ",\"properties\":{\"seconds\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":50,\"description\":\"how long to wait; 25\"},"
        "\"after\":{\"type\":\"string\"}}}" LOOKS_ONLY) },
    { S("room_propose"), may_propose, call_propose,
      S("{\"name\":\"room_propose\",\"title\":\"Propose a tool call\","
        "\"description\":\"Proposes that a tool be called, for somebody in the room to decide, and does not wait for that. "
        "room_wait tells what was decided. To propose and wait, call the tool itself.\",\"inputSchema\":{" PLAIN_OBJECT
        ",\"properties\":{\"tool\":{\"type\":\"string\",\"description\":\"its name, as listed\"},"
        "\"to\":{\"type\":\"string\",\"description\":\"whose it is, where several have one of that name\"},"
        "\"arguments\":{\"type\":\"object\"},\"reason\":{\"type\":\"string\",\"description\":\"for whoever decides\"}},"
        "\"required\":[\"tool\"]}}") },
    { S("tool_search"), may_always, call_search,
      S("{\"name\":\"tool_search\",\"title\":\"Find tools\","
        "\"description\":\"Finds the tools that fit some words best, with their definitions.\",\"inputSchema\":{" PLAIN_OBJECT
        ",\"properties\":{\"query\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,"
        "\"description\":\"at most so many; 10\"}},\"required\":[\"query\"]}" LOOKS_ONLY) },
};
/* clang-format on */
