/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge_room.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* --- what the room does --- */

void room_hear(struct room *room, const char *from, const char *kind, const char *rest)
{
    struct buf text;

    buf_init(&text, 1 << 22);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e-%u\",\"from\":\"%s\","
             "\"kind\":\"%s\",",
             ++room->heard, from, kind);
    buf_put(&text, str_of(rest));
    buf_putc(&text, '}');
    bridge_seat_ops.on_text(room->bridge, buf_str(&text));
    buf_done(&text);
    stage_pass(&room->stage, 0);
}

void room_welcome(struct room *room, const char *participants)
{
    struct buf rest;

    buf_init(&rest, 1 << 22);
    buf_put(&rest, S("\"to\":[\"tool\"],\"payload\":{\"you\":{\"id\":\"tool\","
                     "\"capabilities\":[\"*\"]},\"participants\":["));
    buf_put(&rest, str_of(participants));
    buf_put(&rest, S("]}"));
    bridge_seat_ops.on_begin(room->bridge, false);
    room_hear(room, "system:gateway", "system/welcome", buf_cstr(&rest));
    buf_done(&rest);
}

void room_presence(struct room *room, const char *event, const char *id)
{
    char rest[256];

    (void)snprintf(rest, sizeof(rest),
                   "\"payload\":{\"event\":\"%s\",\"participant\":{\"id\":\"%s\","
                   "\"capabilities\":[\"*\"]}}",
                   event, id);
    room_hear(room, "system:gateway", "system/presence", rest);
}

/* The envelope's id is "e-N", which is what this gives: N. */
unsigned room_ask(struct room *room, const char *from, const char *method,
                  const char *params)
{
    char kind[128], rest[1024];

    (void)snprintf(kind, sizeof(kind), "mcp/request:%s", method);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":%u,"
                   "\"method\":\"%s\",\"params\":%s}",
                   room->heard + 1, method, params);
    room_hear(room, from, kind, rest);
    return room->heard;
}

unsigned room_call(struct room *room, const char *from, const char *tool)
{
    char kind[128], params[256];

    (void)snprintf(params, sizeof(params),
                   "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":%u,"
                   "\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                   "\"_meta\":{\"progressToken\":\"t\"}}}",
                   room->heard + 1, tool);
    (void)snprintf(kind, sizeof(kind), "mcp/request:tools/call:%s", tool);
    room_hear(room, from, kind, params);
    return room->heard;
}

void room_judge(struct room *room)
{
    bridge_seat_ops.on_judged(room->bridge, room->seat.fence);
    stage_pass(&room->stage, 0);
}

/* --- what came of it --- */

bool text_has(struct str text, const char *what)
{
    return text.len && strstr(text.ptr, what) != NULL;
}

size_t text_count(struct str text, const char *what)
{
    size_t count = 0;

    for (const char *at = text.len ? text.ptr : ""; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* --- the stage --- */

void room_answer(struct room *room, unsigned id, const char *result)
{
    struct buf text;

    buf_init(&text, 4 << 20);
    buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":", id);
    buf_put(&text, str_of(result));
    buf_putc(&text, '}');
    stage_says(&room->stage, room->stage.server_count - 1, buf_cstr(&text));
    buf_done(&text);
}

/* The three lists that a bridge asks for. */
void room_list(struct room *room, const char *tools, const char *templates)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "{\"tools\":[%s]}", tools);
    room_answer(room, ++room->ids, text);
    room_answer(room, ++room->ids, "{\"resources\":[]}");
    (void)snprintf(text, sizeof(text), "{\"resourceTemplates\":[%s]}", templates);
    room_answer(room, ++room->ids, text);
}

void room_sit(struct room *room, struct server_spec *spec, const char *participants)
{
    struct bridge_setup setup = {};

    *room = (struct room){};
    stage_begin(&room->stage, spec);
    fake_seat_init(&room->seat, &(struct occupant_settings){});
    setup.spec = room->stage.spec;
    setup.means = stage_means(&room->stage);
    room->bridge = bridge_new(&setup);
    bridge_sit(room->bridge, &room->seat.seat);
    room_welcome(room, participants);
}

void room_settle(struct room *room)
{
    stage_pass(&room->stage, 20'000);
    (void)stage_sent(&room->stage, 0);
    (void)fake_sent(&room->seat);
}

void room_begin_in(struct room *room, const char *participants)
{
    room_sit(room, stage_spec(), participants);
    room_answer(room, ++room->ids,
                "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABLE "}");
    room_list(room, TOOL("echo"), "");
    room_settle(room);
}

void room_begin(struct room *room)
{
    room_begin_in(room, ANN_AND_BOB);
}

void room_end(struct room *room)
{
    bridge_free(room->bridge);
    fake_seat_done(&room->seat);
    stage_done(&room->stage);
}
