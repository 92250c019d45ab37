/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bridge between a room that the test is (fake_seat.h), and servers that the test is
 * too (supervisor_stage.h).
 *
 *     room_begin(&room);
 *     (void)room_call(&room, "ann", "echo");
 *     room_answer(&room, 5, "{}");
 *     CHECK(text_has(fake_sent(&room.seat), "mcp/response:tools/call:echo"));
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "bridge/bridge.h"
#include "fake_seat.h"
#include "supervisor_stage.h"

#define CAPABLE                                                             \
    "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true}," \
    "\"tasks\":{}}"
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define ANN_AND_BOB                              \
    "{\"id\":\"ann\",\"capabilities\":[\"*\"]}," \
    "{\"id\":\"bob\",\"capabilities\":[\"*\"]}"

struct room {
    struct supervisor_stage stage;
    struct fake_seat seat;
    struct bridge *bridge;
    unsigned heard;
    unsigned ids; /* that the server was asked with so far */
};

/* A legacy server that offers the tool "echo"; ann and bob are there, or who is named.
 * What was sent so far is forgotten. */
void room_begin(struct room *room);
void room_begin_in(struct room *room, const char *participants);
/* Nothing was said by the server yet; the spec is taken. */
void room_sit(struct room *room, struct server_spec *spec, const char *participants);
/* The first catalogue is closed, and what was sent so far is forgotten. */
void room_settle(struct room *room);
void room_end(struct room *room);

/* What the room does; `rest` is what stands behind the kind. */
void room_hear(struct room *room, const char *from, const char *kind, const char *rest);
void room_welcome(struct room *room, const char *participants);
void room_presence(struct room *room, const char *event, const char *id);
/* The envelope's id is "e-N", which is what these give: N. */
unsigned room_ask(struct room *room, const char *from, const char *method,
                  const char *params);
unsigned room_call(struct room *room, const char *from, const char *tool);
void room_judge(struct room *room);

/* What the server does. */
void room_answer(struct room *room, unsigned id, const char *result);
void room_list(struct room *room, const char *tools, const char *templates);

bool text_has(struct str text, const char *what);
size_t text_count(struct str text, const char *what);
