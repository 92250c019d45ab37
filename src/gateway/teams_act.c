/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with a team, on its worker: the whole of a change is worked out first,
 * then put in place at once. */
#include <stdlib.h>

#include "base/log.h"
#include "gateway/recording.h"
#include "gateway/teams_priv.h"

static const char no_such[] = "There is no such team.";

static uint64_t now_of(const struct team_errand *e)
{
    return loop_wall_ms(e->home->loop);
}

/* A copy to be changed. False: that was answered. */
static bool begin(struct team_errand *e, struct team_record *ret)
{
    const struct identity *identity = e->asker.identity;
    const struct team *team = team_of(e->home, e->team_id);

    if (!team || !(identity->is_admin || team_concerns(&team->record, identity->id))) {
        team_errand_fail(e, ERR_NOT_FOUND, S("team_id"), "%s", no_such);
        return false;
    }
    if (team_copy(&team->record, TEAM_TO_CHANGE, &e->arena, ret)) {
        team_errand_fail(e, ERR_INTERNAL, S(""), "The team is too large.");
        return false;
    }
    if (e->act->changes && ret->dissolved_ms) {
        team_errand_fail(e, ERR_CONFLICT, S("team_id"), "The team has been dissolved.");
        return false;
    }
    return true;
}

static bool begin_managing(struct team_errand *e, struct team_record *ret)
{
    struct identity *identity = e->asker.identity;

    if (!begin(e, ret))
        return false;
    if (identity->is_admin || str_eq(ret->creator, identity->id) ||
        directory_may(e->home, identity, TEAM_MANAGE))
        return true;
    team_errand_fail(e, ERR_FORBIDDEN, S(""),
                     "This is for the team's creator, or needs the capability "
                     "team/manage.");
    return false;
}

static void finish(struct team_errand *e, const struct team_record *record,
                   struct str change, struct str_list gone)
{
    char topic[TEAM_TOPIC + 1];

    log_info("team.change", "team=%s change=%s by=%s", LOG_TEXT(record->id),
             LOG_TEXT(change), LOG_TEXT(e->asker.identity->id));
    team_set(e->home, record);
    e->change = change;
    team_answer(e, record);
    team_announce(e, record, gone);
    recording_team(e->home, &(struct team_change){ .topic = team_topic(record->id, topic),
                                                   .by = e->asker.identity->id,
                                                   .change = change,
                                                   .status = buf_str(&e->details) });
}

/* --- looking --- */

static void run_status(struct team_errand *e)
{
    struct team_record record;

    if (begin(e, &record))
        team_answer(e, &record);
}

static void run_resources(struct team_errand *e)
{
    struct team_record record;
    struct json_writer w;

    if (!begin(e, &record))
        return;
    json_write_init(&w, &e->data);
    json_object_open(&w);
    json_key(&w, S("resources"));
    json_array_open(&w);
    for (size_t i = 0; i < record.member_count; i++)
        if (record.members[i].state == TEAM_MEMBER)
            json_str(&w, record.members[i].resource);
    json_array_close(&w);
    json_object_close(&w);
}

/* --- members come --- */

/* Nobody gets more than the creator holds, who may hold less than he did. What an
 * administrator does is his own word: then what he held when the team was made. */
static struct str_list bounds_of(struct team_errand *e, const struct team_record *record,
                                 struct str_list wanted)
{
    if (e->asker.identity->is_admin)
        return wanted;
    return team_creator_holds(e->home, record, wanted, &e->arena);
}

/* Puts those found into the record, with what they are granted. */
static bool put_found(struct team_errand *e, struct team_record *record)
{
    char topic[TEAM_TOPIC + 1];
    struct str_list granted =
        team_handed_on(e->home, team_topic(record->id, topic), e->asker.identity,
                       bounds_of(e, record, record->capabilities), &e->arena);

    for (size_t i = 0; i < e->resources.count; i++) {
        struct team_member *member = &e->found[i];
        enum err err;

        member->capabilities = granted;
        member->until_ms = identity_lasts_ms(e->asker.identity);
        err = team_put(record, member);
        if (err == ERR_CONFLICT)
            team_errand_fail(e, err, S("resources"), "%s is in the team already.",
                             arena_str(&e->arena, member->resource).ptr);
        else if (err)
            team_errand_fail(e, err, S("resources"), "A team has at most %d members.",
                             TEAM_MEMBERS);
        else if (!team_may_give(e->home, record, member))
            team_errand_fail(e, ERR_OVERLOAD, S("resources"),
                             "%s has too many grants already.",
                             arena_str(&e->arena, member->resource).ptr);
        if (e->err)
            return false;
    }
    return true;
}

static void give_found(struct team_errand *e, const struct team_record *record)
{
    for (size_t i = 0; i < e->resources.count; i++)
        if (e->found[i].state == TEAM_MEMBER)
            team_give(e->home, record, &e->found[i]);
}

static void run_create(struct team_errand *e)
{
    struct team_record record = { .id = e->team_id,
                                  .name = e->name,
                                  .contract_id = e->contract_id,
                                  .creator = e->asker.identity->id,
                                  .created_ms = now_of(e) };
    struct profile profile = {};
    char topic[TEAM_TOPIC + 1];

    if (team_of(e->home, e->team_id)) { /* 64 random bits */
        team_errand_fail(e, ERR_OVERLOAD, S(""), "The id is taken; try again.");
        return;
    }
    /* That there is one was checked with the settings. */
    (void)settings_profile(e->home->settings,
                           e->home->settings->config->directory.team_profile, &profile);
    record.members = arena_alloc(&e->arena, TEAM_MEMBERS * sizeof(*record.members));
    record.capabilities =
        team_handed_on(e->home, team_topic(record.id, topic), e->asker.identity,
                       profile.capabilities, &e->arena);
    if (!put_found(e, &record))
        return;
    finish(e, &record, S("created"), (struct str_list){});
    give_found(e, &record);
}

static void check_managing(struct team_errand *e)
{
    struct team_record record;

    (void)begin_managing(e, &record);
}

static void run_add(struct team_errand *e)
{
    struct team_record record;

    if (!begin_managing(e, &record) || !put_found(e, &record))
        return;
    finish(e, &record, S("added"), (struct str_list){});
    give_found(e, &record);
}

/* --- members go --- */

/* He is no member by another resource, nor the creator. */
static void expel(struct team_errand *e, const struct team_record *record,
                  const struct team_member *member)
{
    const struct team_member *other = team_find_participant(record, member->participant);

    if (other && other->state == TEAM_MEMBER)
        return;
    team_take(e->home, record, e->asker.identity->id, member);
    if (!str_eq(record->creator, member->participant))
        team_expel(e->home, record, member->participant);
}

static void run_remove(struct team_errand *e)
{
    struct str *gone = arena_alloc(&e->arena, (TEAM_MEMBERS + 1) * sizeof(*gone));
    struct team_record record;
    size_t count = 0;

    if (!begin_managing(e, &record))
        return;
    for (size_t i = 0; i < e->resources.count; i++) {
        struct team_member *member = team_find(&record, e->resources.items[i]);

        if (!member || !team_member_counts(member)) {
            team_errand_fail(e, ERR_NOT_FOUND, S("resources"), "%s is not in the team.",
                             e->resources.items[i].ptr);
            return;
        }
        member->state = TEAM_REMOVED;
        gone[count++] = member->participant;
    }
    finish(e, &record, S("removed"), (struct str_list){ gone, count });
    for (size_t i = 0; i < e->resources.count; i++)
        expel(e, &record, team_find(&record, e->resources.items[i]));
}

/* Whose invitation is it? */
static struct team_member *find_invited(struct team_errand *e,
                                        const struct team_record *record)
{
    struct team_member *member;

    if (e->resource.len && e->asker.identity->is_admin)
        member = team_find(record, e->resource);
    else
        member = team_find_participant(record, e->asker.identity->id);
    if (member && e->resource.len && !str_eq(member->resource, e->resource))
        member = NULL;
    if (!member || !team_member_counts(member)) {
        team_errand_fail(e, ERR_NOT_FOUND, S("resource"),
                         e->resource.len ? "There is no invitation of this resource."
                                         : "You are not invited to this team.");
        return NULL;
    }
    return member;
}

static void accept_it(struct team_errand *e, struct team_record *record,
                      struct team_member *member)
{
    if (member->state != TEAM_INVITED) {
        team_errand_fail(e, ERR_CONFLICT, S(""), "There is nothing to accept any more.");
        return;
    }
    member->capabilities = bounds_of(e, record, member->capabilities);
    if (!team_may_give(e->home, record, member)) {
        team_errand_fail(e, ERR_OVERLOAD, S(""), "There are too many grants already.");
        return;
    }
    member->state = TEAM_MEMBER;
    finish(e, record, S("accepted"), (struct str_list){});
    team_give(e->home, record, member);
}

static void decline_it(struct team_errand *e, struct team_record *record,
                       struct team_member *member)
{
    bool was_invited = member->state == TEAM_INVITED;
    struct str_list gone = { &member->participant, 1 };

    member->state = was_invited ? TEAM_DECLINED : TEAM_LEFT;
    finish(e, record, was_invited ? S("declined") : S("left"), gone);
    if (!was_invited)
        expel(e, record, member);
}

static void run_answer(struct team_errand *e)
{
    struct team_member *member;
    struct team_record record;

    if (!begin(e, &record))
        return;
    member = find_invited(e, &record);
    if (!member)
        return;
    if (e->answer == TEAM_ACCEPT)
        accept_it(e, &record, member);
    else
        decline_it(e, &record, member);
}

/* --- the whole --- */

static void run_rename(struct team_errand *e)
{
    struct team_record record;

    if (!begin_managing(e, &record))
        return;
    record.name = e->name;
    finish(e, &record, S("renamed"), (struct str_list){});
}

/* Of teams that are over as many are kept as there may be others; the oldest go. */
static void make_place(struct worker *worker)
{
    size_t most = worker->settings->config->directory.max_teams /
                      gateway_worker_count(worker->gateway) +
                  1;
    struct team *oldest = NULL;
    struct team *team;

    if (worker->teams_over <= most)
        return;
    MAP_FOREACH(team, &worker->teams)
        if (team->record.dissolved_ms &&
            (!oldest || team->record.dissolved_ms < oldest->record.dissolved_ms))
            oldest = team;
    if (oldest)
        team_forget(worker, oldest);
}

static void run_dissolve(struct team_errand *e)
{
    struct team_record record;

    if (!begin_managing(e, &record))
        return;
    record.dissolved_ms = now_of(e);
    finish(e, &record, S("dissolved"), (struct str_list){});
    team_close_room(e->home, &record, e->asker.identity->id);
    team_census_leave(e->home, record.creator);
    make_place(e->home);
}

const struct team_act team_act_create = { .run = run_create,
                                          .needs_resources = true,
                                          .changes = true };
const struct team_act team_act_status = { .run = run_status };
const struct team_act team_act_resources = { .run = run_resources };
const struct team_act team_act_add = {
    .run = run_add, .check = check_managing, .needs_resources = true, .changes = true
};
const struct team_act team_act_remove = { .run = run_remove, .changes = true };
const struct team_act team_act_rename = { .run = run_rename, .changes = true };
const struct team_act team_act_dissolve = { .run = run_dissolve, .changes = true };
const struct team_act team_act_answer = { .run = run_answer, .changes = true };
