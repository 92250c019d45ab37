/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/room_tools.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/message.h"
#include "mcp/result.h"
#include "participant/keep.h"

enum { MORE = 4096 }; /* bytes of a message around its result */

/* A request until it is answered. */
struct request {
    struct hall *hall;
    struct strand *strand;
    struct json_span id; /* behind the struct, with its quotes */
    bool is_modern;
};

static struct request *request_new(const struct asked_for *ask)
{
    struct json_span id = ask->in->message.id;
    struct request *request = xcalloc(1, sizeof(*request) + span_raw(id).len);
    char *at = (char *)(request + 1);

    request->hall = ask->attendee->hall;
    request->strand = ask->strand;
    request->id = keep_span(&at, id);
    request->is_modern = ask->in->era == ERA_MODERN;
    return request;
}

static void on_answer(void *user, struct str result)
{
    CLEANUP(xfreep) struct request *request = user;
    const struct result_of of = { .method = S("tools/call"),
                                  .is_modern = request->is_modern };
    CLEANUP(buf_done) struct buf json, message;

    buf_init(&json, result.len + MORE);
    buf_init(&message, json.max + MORE + request->id.text.len);
    if (result_write(&json, &of, result))
        return;
    mcp_message_put_answer(&message, request->id, S("result"), buf_str(&json));
    strand_answer(request->strand, 200, buf_str(&message),
                  hall_now(request->hall).mono_ms);
}

void room_tools_put(struct attendee *a, struct buf *out)
{
    const struct room_desk *desk = hall_desk(a->hall);
    struct showcase_view view = attendee_view(a);

    if (desk)
        room_desk_put_tools(desk,
                            &(struct room_guest){
                                .occupant = a->occupant, .news = a->news, .view = &view },
                            out);
}

static struct room_news *own_news(struct attendee *a)
{
    if (!a->news)
        a->news = room_news_new(ROOM_OWN_NEWS, ROOM_OWN_NEWS_BYTES);
    return a->news;
}

bool room_tools_call(const struct asked_for *ask, struct str name,
                     struct json_span arguments)
{
    struct attendee *a = ask->attendee;
    struct room_desk *desk = hall_desk(a->hall);
    struct showcase_view view = attendee_view(a);
    struct request *request;

    if (!desk)
        return false;
    request = request_new(ask);
    if (room_desk_call(desk,
                       &(struct room_guest){
                           .occupant = a->occupant, .news = own_news(a), .view = &view },
                       &(struct room_call){ .tool = name,
                                            .arguments = arguments,
                                            .on_answer = on_answer,
                                            .on_dropped = free,
                                            .user = request,
                                            .name = ask->strand },
                       hall_now(a->hall)))
        return true;
    free(request);
    return false;
}

void room_tools_hear(struct hall *hall, struct attendee *a, const struct heard *heard)
{
    struct room_desk *desk = hall_desk(hall);

    if (!desk || !room_news_wants(heard) || (a && !heard->names_me))
        return;
    room_desk_hear(desk, a ? own_news(a) : NULL, heard);
}

void room_tools_lost(struct hall *hall, const struct strand *strand)
{
    struct room_desk *desk = hall_desk(hall);

    if (desk)
        room_desk_cancel(desk, strand);
}

void room_tools_leave(struct attendee *a)
{
    struct room_desk *desk = hall_desk(a->hall);

    if (desk)
        room_desk_leave(desk, a->occupant);
    room_news_free(a->news);
    a->news = NULL;
}
