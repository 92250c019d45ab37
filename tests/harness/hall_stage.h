/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hall on a stage: a room without a network, in which its attendees and concierge sit
 * beside owners that a test plays, clients whose outlets are lines of text, and a clock
 * that stands still until it is moved.
 *
 *     stage_init(&stage, &(struct hall_settings){});
 *     stage_owner(&stage, "files", "{\"tools\":[…]}");       answers lists by itself
 *     id = stage_post(&stage, "ann", "", "{…initialize…}");  which outlet
 *     CHECK_STR(stage_said(&stage, id), S("200 {…}\n"));
 *     stage_answer(&stage, "files", "{\"result\":{…}}");     the last call it heard
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"
#include "mcpdoor/hall.h"
#include "participant/occupant.h"

enum { STAGE_OUTLETS = 256, STAGE_SEATS = 64 };

struct stage_outlet {
    struct outlet outlet;
    struct buf said; /* "STATUS JSON\n", or "event ID JSON\n" …, "end\n" */
    struct buf visit;
    bool is_over;
};

struct stage {
    struct hall *hall;
    struct hall_settings settings;
    struct moment now;
    struct stage_seat *seats[STAGE_SEATS]; /* attendees, concierge, owners, people */
    struct stage_outlet *outlets[STAGE_OUTLETS];
    size_t seat_count, outlet_count;
    struct buf said;  /* what stage_said() and stage_asked() gave out */
    struct buf log;   /* envelopes of participants, one a line, in their order */
    struct link post; /* what is on its way to seats */
    size_t ids;
    bool is_silent; /* owners answer nothing by themselves */
};

/* What is 0 in the settings is made generous; without a topic it is "room". */
void stage_init(struct stage *stage, const struct hall_settings *settings);
void stage_done(struct stage *stage);

/* Somebody with these capabilities (JSON array) by the time he first sends; else all. */
void stage_rights(struct stage *stage, const char *id, const char *capabilities);

/* Joins, and answers initialize and lists with these members of one object: tools,
 * resources, resourceTemplates, prompts, serverInfo, capabilities, instructions. */
void stage_owner(struct stage *stage, const char *id, const char *offers);
void stage_owner_leaves(struct stage *stage, const char *id);
/* The last request to it that is no list: its payload; "" where there is none. */
struct str stage_asked(struct stage *stage, const char *id);
/* Answers that, with the member and its value; or says anything else, REST of an
 * envelope. */
void stage_answer(struct stage *stage, const char *id, const char *member);
void stage_say(struct stage *stage, const char *id, const char *kind, const char *rest);

/* A POST with correct headers; `visit` "" for none. Returns the number of its outlet.
 * "ann#2" is another credential of ann. */
size_t stage_post(struct stage *stage, const char *who, const char *visit,
                  const char *body);
size_t stage_get(struct stage *stage, const char *who, const char *visit,
                 const char *after);
size_t stage_delete(struct stage *stage, const char *who, const char *visit);
void stage_end(struct stage *stage, const char *who, const char *why);
void stage_lose(struct stage *stage, size_t outlet);       /* the client goes */
struct str stage_said(struct stage *stage, size_t outlet); /* since it was last asked */
struct str stage_visit(struct stage *stage, size_t outlet);

/* Everything that is due until then, in its order. */
void stage_pass(struct stage *stage, uint64_t ms);
