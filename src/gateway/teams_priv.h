/* SPDX-License-Identifier: Apache-2.0 */
/* Inside teams: errands to the worker where a team lives (teams.c), what is done there
 * (teams_act.c), how it is shown (teams_show.c) and its room (teams_room.c). */
#pragma once

#include "gateway/gateway.h"
#include "gateway/recorder.h"
#include "gateway/room.h"
#include "gateway/teams.h"
#include "store/directory.h"

struct team {
    struct team_record record; /* in the arena */
    struct arena arena;
};

/* A request on its way: perhaps to the directory's readers, then to the team's worker,
 * and back when all is durable. */
struct team_errand {
    struct loop_mail mail;
    struct store_directory_job job;
    struct recorder_waiter waiter;
    struct directory_asker asker; /* with a reference of its own */
    const struct team_act *act;
    struct worker *home;
    struct arena arena; /* of all texts */
    struct str team_id;
    struct str name, contract_id, resource;
    struct str_list resources;
    bool is_checked;           /* by the act's `check` */
    struct team_member *found; /* one for each of these, without rights and state */
    enum team_answer answer;
    struct str change; /* what the news says has happened; "": none */
    struct buf news, details;
    struct str_list audience;
    enum err err;
    struct str field;
    struct buf message, data;
};

/* What can be asked for; runs on the team's worker. */
struct team_act {
    void (*run)(struct team_errand *errand);
    void (*check)(struct team_errand *errand); /* before resources are looked up */
    bool needs_resources;                      /* `found` */
    bool changes;
};
extern const struct team_act team_act_create, team_act_status, team_act_resources,
    team_act_add, team_act_remove, team_act_rename, team_act_dissolve, team_act_answer;

void team_errand_fail(struct team_errand *errand, enum err err, struct str field,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- teams_show.c --- */

enum team_view { TEAM_PUBLIC, TEAM_DETAILS };
struct team_viewer {
    struct str id; /* who sees his own contact */
    enum team_view view;
};

void team_show(struct worker *worker, const struct team_record *team,
               const struct team_viewer *viewer, struct json_writer *w);

/* The answer, and what others hear of it. `gone`: participants that hear it besides. */
void team_answer(struct team_errand *errand, const struct team_record *team);
void team_announce(struct team_errand *errand, const struct team_record *team,
                   struct str_list gone);
struct str_list team_audience(const struct team_record *team, struct str_list gone,
                              struct arena *arena);

/* --- teams_room.c --- */

struct team *team_of(const struct worker *worker, struct str id);

/* The record becomes the team's, and is kept. */
void team_set(struct worker *worker, const struct team_record *record);
void team_forget(struct worker *worker, struct team *team);

/* What the bearer may hand on of these, in the arena. */
struct str_list team_handed_on(const struct worker *worker, struct str topic,
                               const struct identity *identity, struct str_list wanted,
                               struct arena *arena);

/* Of these, what the creator holds there now, by any of his credentials. */
struct str_list team_creator_holds(const struct worker *worker,
                                   const struct team_record *team, struct str_list wanted,
                                   struct arena *arena);

/* The grant of a member: is there room for it, it gets it, it loses it. */
bool team_may_give(const struct worker *worker, const struct team_record *team,
                   const struct team_member *member);
void team_give(struct worker *worker, const struct team_record *team,
               const struct team_member *member);
void team_take(struct worker *worker, const struct team_record *team, struct str by,
               const struct team_member *member);

/* It has no place in the room any more. */
void team_expel(struct worker *worker, const struct team_record *team,
                struct str participant);
void team_close_room(struct worker *worker, const struct team_record *team,
                     struct str by);
