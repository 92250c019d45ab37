/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/house_tools.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/message.h"
#include "mcp/result.h"
#include "mcpdoor/hall_priv.h"
#include "participant/keep.h"

enum { MORE = 4096 }; /* bytes of a message around its result */

#define OBJECT "\"type\":\"object\",\"additionalProperties\":false"
#define TEXT   "{\"type\":\"string\"}"
#define TEXTS  "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define TEAM_OUT                                                                            \
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"team_id\":" TEXT               \
    ",\"name\":" TEXT ",\"state\":{\"enum\":[\"active\",\"dissolved\"]},\"topic\":" TEXT    \
    ",\"enter\":{\"type\":\"object\"},\"members\":{\"type\":\"array\",\"items\":{\"type\":" \
    "\"object\"}},\"open_proposals\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}," \
    "\"last_activity_at\":" TEXT                                                            \
    "},\"required\":[\"team_id\",\"name\",\"state\",\"members\"]}"

/* clang-format off */
static const struct house_tool {
    struct str name;
    struct house_rights rights;
    struct str json;
} tools[] = {
    { S("find_resources"), { S("directory/query"), S("") },
      S("{\"name\":\"find_resources\",\"title\":\"Find people and agents\","
        "\"description\":\"Searches the directory in everyday words, best first, with the reason of each hit. "
        "Give the `next` of an answer as `cursor` for more.\",\"inputSchema\":{" OBJECT ",\"properties\":{"
        "\"query\":{\"type\":\"string\",\"description\":\"what is looked for; empty: everybody who passes the filters\"},"
        "\"skills\":" TEXTS ",\"availability\":" TEXT ",\"kind\":{\"type\":\"string\",\"enum\":[\"human\",\"agent\"]},"
        "\"location\":" TEXT ",\"max_rate\":{\"type\":\"number\",\"minimum\":0},\"currency\":" TEXT ",\"team\":" TEXT ","
        "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"description\":\"at most so many; 20\"},\"cursor\":" TEXT "}},"
        "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"resources\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
        "\"next\":" TEXT ",\"partial\":{\"type\":\"boolean\"}},\"required\":[\"resources\"]},"
        "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}") },
    { S("create_team"), { S("team/create"), S("") },
      S("{\"name\":\"create_team\",\"title\":\"Form a team\","
        "\"description\":\"Makes a team of resources, by the ids that find_resources gives, and opens its room. "
        "`enter` of the answer says how to get there.\",\"inputSchema\":{" OBJECT ",\"properties\":{\"name\":" TEXT ",\"resources\":" TEXTS ","
        "\"contract_id\":" TEXT "},\"required\":[\"name\",\"resources\"]}," TEAM_OUT ","
        "\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":false}}") },
    { S("team_status"), { S("directory/query"), S("team/create") }, /* who finds them, or makes them */
      S("{\"name\":\"team_status\",\"title\":\"How a team is\","
        "\"description\":\"Who is in a team, who is in its room, what is proposed there, and when something was last said.\","
        "\"inputSchema\":{" OBJECT ",\"properties\":{\"team_id\":" TEXT "},\"required\":[\"team_id\"]}," TEAM_OUT ","
        "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}") },
};
/* clang-format on */

/* A request until it is answered. It belongs to whoever does it: the hall and the strand
 * may go before. */
struct house_call {
    struct link link;
    struct hall *hall;
    struct strand *strand; /* NULL: nobody waits any more */
    struct json_span id;   /* behind the struct, with its quotes */
    bool is_modern;
};

bool house_tool_rights(struct str tool, struct house_rights *ret)
{
    for (size_t i = 0; i < COUNT(tools); i++)
        if (str_eq(tools[i].name, tool)) {
            *ret = tools[i].rights;
            return true;
        }
    return false;
}

static bool is_ours(const void *user, struct str name)
{
    const struct attendee *a = user;
    const struct hall *hall = a->hall;
    const struct exhibit *other = showcase_find(hall->showcase, OFFER_TOOL, name);

    return hall->desk && hall->ops.may_use && !(other && str_eq(other->name, name)) &&
           hall->ops.may_use(hall->user, a->key, name);
}

void house_tools_write(bool (*may)(const void *user, struct str tool), const void *user,
                       struct buf *out)
{
    for (size_t i = 0; i < COUNT(tools); i++) {
        if (!may(user, tools[i].name))
            continue;
        buf_put(out, out->len ? S(",") : S(""));
        buf_put(out, tools[i].json);
    }
}

void house_tools_put(struct attendee *a, struct buf *out)
{
    house_tools_write(is_ours, a, out);
}

static struct house_call *call_new(const struct asked_for *ask)
{
    struct json_span id = ask->in->message.id;
    struct house_call *call = xcalloc(1, sizeof(*call) + span_raw(id).len);
    char *at = (char *)(call + 1);

    call->hall = ask->attendee->hall;
    call->strand = ask->strand;
    call->id = keep_span(&at, id);
    call->is_modern = ask->in->era == ERA_MODERN;
    list_append(&call->hall->house_calls, &call->link);
    call->hall->house_call_count++;
    return call;
}

/* Nobody waits for it any more. */
static void call_detach(struct house_call *call)
{
    list_remove(&call->link);
    call->hall->house_call_count--;
    call->strand = NULL;
}

bool house_tools_call(const struct asked_for *ask, struct str name,
                      struct json_span arguments)
{
    struct attendee *a = ask->attendee;
    struct house_rights rights;

    if (!house_tool_rights(name, &rights) || !is_ours(a, name))
        return false;
    if (a->hall->house_call_count >= a->hall->settings.max_wishes)
        house_answer(call_new(ask),
                     S("{\"content\":[{\"type\":\"text\",\"text\":\"Too much is asked "
                       "here at once; try again.\"}],\"isError\":true}"));
    else
        a->hall->ops.use(a->hall->user, a->key, name, arguments, call_new(ask));
    return true;
}

void house_answer(struct house_call *call, struct str result)
{
    const struct result_of of = { .method = S("tools/call"),
                                  .is_modern = call->is_modern };
    struct strand *strand = call->strand;
    CLEANUP(buf_done) struct buf json, message;

    buf_init(&json, result.len + MORE);
    buf_init(&message, json.max + MORE + call->id.text.len);
    if (strand)
        call_detach(call);
    if (strand && result_write(&json, &of, result) == OK) {
        mcp_message_put_answer(&message, call->id, S("result"), buf_str(&json));
        strand_answer(strand, 200, buf_str(&message), hall_now(call->hall).mono_ms);
    }
    free(call);
}

void house_tools_lost(struct hall *hall, const struct strand *strand)
{
    struct house_call *call;

    LIST_FOREACH(call, &hall->house_calls, link)
        if (!strand || call->strand == strand)
            call_detach(call);
}
