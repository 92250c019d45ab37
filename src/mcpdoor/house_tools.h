/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools of the house: what the gateway itself can do for whoever is here, beside what the
 * room can (room_tools.h). They are offered where there is somebody behind the hall who
 * does them (hall_ops), to those who may, and hidden by a tool of the same name of a
 * single owner.
 *
 *     find_resources  query, skills?, …, limit?, cursor?   of the directory
 *     create_team     name, resources, contract_id?        and its room
 *     team_status     team_id                              who is in it, who is there
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "mcpdoor/attendee.h"

/* Their definitions, as they stand in tools/list, with commas between. The second: of
 * those that `may` says. */
void house_tools_put(struct attendee *a, struct buf *out);
void house_tools_write(bool (*may)(const void *user, struct str tool), const void *user,
                       struct buf *out);

/* Which of two rights it takes to use one, "" for none; false: there is no such tool. */
struct house_rights {
    struct str first, second;
};
bool house_tool_rights(struct str tool, struct house_rights *ret);

/* False: it is none of them. */
bool house_tools_call(const struct asked_for *ask, struct str name,
                      struct json_span arguments);

/* A strand goes without an answer (NULL: all of them, with the hall). */
void house_tools_lost(struct hall *hall, const struct strand *strand);
