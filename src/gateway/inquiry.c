/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/inquiry.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "envelope/system.h"
#include "gateway/mcp_house.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "participant/keep.h"

enum {
    INQUIRIES = 256,        /* under way on a worker */
    MORE = 8192,            /* bytes of an envelope around its result */
    CONTEXT_MAX = 128,      /* of the kind; tools of ours have short names */
    ARENA_BYTES = 64 << 10, /* more than what is kept of one */
    TOOLS_BYTES = 64 << 10,
};

struct inquiry {
    struct worker *worker;
    struct identity *identity; /* with a reference of its own */
    struct str topic, id;
    struct str kind;   /* of the answer */
    struct str rpc_id; /* as it stood; "": none */
    struct arena arena;
};

static void inquiry_free(struct inquiry *q)
{
    q->worker->inquiry_count--;
    identity_unref(q->identity);
    arena_done(&q->arena);
    free(q);
}

static void write_answer(const struct inquiry *q, struct member *member, struct str which,
                         struct str json, struct buf *out)
{
    char id[SYSTEM_ID];
    struct json_writer w;

    system_begin(&w, out,
                 &(struct system_head){ .dialect = member->lane->dialect,
                                        .kind = q->kind,
                                        .id = topic_system_id(member_topic(member), id),
                                        .wall_ms = loop_wall_ms(q->worker->loop),
                                        .to = q->identity->id,
                                        .correlation_id = q->id });
    if (q->rpc_id.len) {
        json_put_str(&w, S("jsonrpc"), S("2.0"));
        json_key(&w, S("id"));
        json_raw(&w, q->rpc_id);
    }
    json_key(&w, which);
    json_raw(&w, json);
    system_end(&w);
}

/* To every connection that the asker has here now, if he is still here. */
static void tell(struct inquiry *q, struct str which, struct str json)
{
    struct live_room *room = room_find(q->worker, q->topic);
    struct participant *asker =
        room ? participant_find(&room->room.topic, q->identity->id) : NULL;
    struct member *member;

    if (asker)
        LIST_FOREACH(member, &asker->members, peer_link) {
            CLEANUP(buf_done) struct buf out;

            buf_init(&out, json.len + MORE);
            write_answer(q, member, which, json, &out);
            speaking_tell(
                q->worker, member,
                (struct private_note){ buf_str(&out), PRIVATE_TEXT, BEHIND_ALL });
        }
    inquiry_free(q);
}

/* `why` is plain text of ours. */
static void fail(struct inquiry *q, int code, struct str why)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, MORE);
    buf_putf(&out, "{\"code\":%d,\"message\":\"" STR_FMT "\"}", code, STR_ARG(why));
    tell(q, S("error"), buf_str(&out));
}

static void on_result(void *user, struct str result)
{
    struct inquiry *q = user;

    if (result.len + MORE > q->worker->settings->config->limits.envelope)
        fail(q, RPC_INTERNAL, S("The answer is too large here; ask for less at once."));
    else
        tell(q, S("result"), result);
}

static bool may(const void *user, struct str tool)
{
    const struct inquiry *q = user;

    return mcp_house_may(q->worker, q->identity, tool);
}

static void list_tools(struct inquiry *q)
{
    CLEANUP(buf_done) struct buf tools, out;

    buf_init(&tools, TOOLS_BYTES);
    buf_init(&out, TOOLS_BYTES + MORE);
    house_tools_write(may, q, &tools);
    buf_putf(&out, "{\"tools\":[" STR_FMT "]}", STR_ARG(buf_str(&tools)));
    tell(q, S("result"), buf_str(&out));
}

static void call_tool(struct inquiry *q, struct json_span params)
{
    struct json_span name = mcp_message_member(params, S("name"));
    struct json_span arguments = mcp_message_member(params, S("arguments"));

    if (name.type != JSON_STRING || !may(q, name.text)) {
        fail(q, RPC_INVALID_PARAMS, S("There is no such tool, or none for you."));
        return;
    }
    mcp_house_use(&(struct house_asker){ q->worker, q->identity, on_result, q },
                  name.text, arguments);
}

static struct str answer_kind(const struct kind *kind, struct arena *arena)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, KIND_MAX_BYTES);
    buf_putf(&text, "mcp/response:" STR_FMT, STR_ARG(kind->method));
    if (kind->context.len && kind->context.len <= CONTEXT_MAX)
        buf_putf(&text, ":" STR_FMT, STR_ARG(kind->context));
    return arena_str(arena, buf_str(&text));
}

static struct inquiry *inquiry_new(const struct speaker *speaker,
                                   const struct admission *a)
{
    struct json_span rpc_id = mcp_message_member(a->env.payload, S("id"));
    struct inquiry *q = xcalloc(1, sizeof(*q));

    q->worker = speaker->room->worker;
    q->worker->inquiry_count++;
    q->identity = identity_ref(speaker->identity);
    arena_init(&q->arena, ARENA_BYTES);
    q->topic = arena_str(&q->arena, speaker->room->room.topic.name);
    q->id = arena_str(&q->arena, a->env.id);
    q->kind = answer_kind(&a->env.kind, &q->arena);
    if (rpc_id.type == JSON_STRING || rpc_id.type == JSON_NUMBER)
        q->rpc_id = arena_str(&q->arena, span_raw(rpc_id));
    else
        q->rpc_id = S("");
    return q;
}

void inquiry_answer(const struct speaker *speaker, const struct admission *a)
{
    struct inquiry *q;

    if (kind_is_notification(&a->env.kind))
        return;
    q = inquiry_new(speaker, a);
    if (!q->rpc_id.ptr || !q->kind.ptr)
        fail(q, RPC_INVALID_REQUEST, S("The id of the request is too long."));
    else if (q->worker->inquiry_count > INQUIRIES)
        fail(q, RPC_INTERNAL, S("Too much is asked at once; try again."));
    else if (str_eq(a->env.kind.method, S("tools/list")))
        list_tools(q);
    else if (str_eq(a->env.kind.method, S("tools/call")))
        call_tool(q, mcp_message_member(a->env.payload, S("params")));
    else
        fail(q, RPC_METHOD_NOT_FOUND, S("The gateway has tools/list and tools/call."));
}
