/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: resources of the directory that work together. A team is a room: its topic is
 * "team-" and its id, whose members are granted a profile there, never more than the
 * creator holds. Nobody else comes in but administrators and who names the topic in full.
 *
 * A team lives on the worker of its topic, where its room is. Every call is asynchronous
 * (directory.h says how), may come from any worker, and checks the rights of who asks. A
 * team that he may not see is ERR_NOT_FOUND, like one that does not exist. What changes
 * is answered and told (directory_tell()) when it is durable.
 */
#pragma once

#include "directory/team.h"
#include "gateway/directory.h"

struct kept_text; /* kept.h */
struct live_room;

struct team_plan {
    struct str name;
    struct str_list resources; /* ids; no two are the same */
    struct str contract_id;    /* "": none */
};

/* As teams_status(). ERR_FORBIDDEN without TEAM_CREATE; ERR_NOT_FOUND names every
 * resource that is not there, and nothing was done. */
void teams_create(const struct directory_asker *asker, const struct team_plan *plan);

/* {"team_id","name","contract_id"?,"state","creator","created_at","topic",
 * "enter":{"websocket":"/ws?topic=…","mcp":"/mcp/…"},
 * "members":[{"resource_id","name","participant"?,"state","present"?}],
 * "creator_present","open_proposals":[…],"last_activity_at"?}. For its creator, its
 * members and administrators; contacts with DIRECTORY_DETAILS. */
void teams_status(const struct directory_asker *asker, struct str team_id);

/* {"teams":[{"team_id","name","state","creator","created_at","topic","members"}],"next"?}:
 * those that he may see, by id, behind `after` ("": from the first); `next`, where there
 * are more, is the one to go on behind. At most `limit`, which is TEAMS_PAGE or less. */
enum { TEAMS_PAGE = 1000, TEAMS_PRESET_PAGE = 100 };
void teams_list(const struct directory_asker *asker, struct str after, size_t limit);

/* {"resources":["r-1"]}: the ids of those in it, for directory_find(). For the same. */
void teams_resources(const struct directory_asker *asker, struct str team_id);

/* That answer, read; in the arena. ERR_TOO_BIG */
enum err teams_read_resources(struct str data, struct arena *arena, struct str_list *ret);

/* For its creator, for who is in it and has TEAM_MANAGE, and administrators. Each answers
 * as teams_status(). */
void teams_add(const struct directory_asker *asker, struct str team_id,
               struct str_list resources);
void teams_remove(const struct directory_asker *asker, struct str team_id,
                  struct str_list resources);
void teams_rename(const struct directory_asker *asker, struct str team_id,
                  struct str name);
void teams_dissolve(const struct directory_asker *asker, struct str team_id);

/* For who was invited and is asked first; who declines and is in it leaves. `resource`:
 * an administrator answers for it; "": who asks, for himself. */
enum team_answer { TEAM_ACCEPT, TEAM_DECLINE };
void teams_answer_invitation(const struct directory_asker *asker, struct str team_id,
                             struct str resource, enum team_answer said);

/* --- rooms, on the worker of the topic --- */

/* May it enter, as far as teams are concerned? ERR_NOT_FOUND: nobody may, or not he. */
enum err teams_admit(const struct worker *worker, struct str topic,
                     const struct identity *identity);

/* What stands in the way of a room of that name, and what makes one. */
enum team_room { TEAM_ROOM_NONE, TEAM_ROOM_OPEN, TEAM_ROOM_CLOSED };
enum team_room teams_room(const struct worker *worker, struct str topic);

/* Somebody has come into a room, or left it. What is no team's is none of its business.
 */
void teams_hear_presence(struct worker *worker, struct str topic, struct str id,
                         bool is_present);

/* When something was last said in the room is kept: every minute or so, at the latest
 * when the room is given up, or the gateway stops. */
enum { TEAM_ACTIVITY_MS = 60'000 };
void teams_hear_sweep(const struct live_room *room);
void teams_hear_end(const struct live_room *room);
void teams_hear_stop(struct worker *worker);

/* Rights of those without a credential are forgotten between these; members of teams get
 * back what the team gave them. */
void teams_note_grants(struct worker *worker);
void teams_renew_grants(struct worker *worker);

/* --- the worker's --- */

void teams_init(struct worker *worker);
void teams_done(struct worker *worker);

/* At the start: an item of STORE_TEAM. ERR_INVALID; ERR_NOT_FOUND: it is over. */
enum err teams_restore(struct worker *worker, const struct kept_text *text);
