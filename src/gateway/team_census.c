/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/team_census.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/worker.h"

struct creator {
    size_t count;
    size_t id_len;
    char id[];
};

void team_census_init(struct team_census *census)
{
    map_init(&census->creators);
}

void team_census_done(struct team_census *census)
{
    struct creator *creator;

    MAP_FOREACH(creator, &census->creators)
        free(creator);
    map_done(&census->creators);
}

void team_census_add(struct team_census *census, struct str id)
{
    struct creator *creator = map_find(&census->creators, id);

    if (!creator) {
        creator = xcalloc(1, sizeof(*creator) + id.len);
        creator->id_len = id.len;
        memcpy(creator->id, id.ptr, id.len);
        map_set(&census->creators, (struct str){ creator->id, id.len }, creator);
    }
    creator->count++;
    census->total++;
}

const char *team_census_enter(struct team_census *census,
                              const struct config_directory *limits, struct str id)
{
    const struct creator *creator = map_find(&census->creators, id);

    if (census->total >= limits->max_teams)
        return "There are too many teams.";
    if (creator && creator->count >= limits->max_teams_each)
        return "You have too many teams; dissolve one first.";
    team_census_add(census, id);
    return NULL;
}

static void remove_one(struct team_census *census, struct str id)
{
    struct creator *creator = map_find(&census->creators, id);

    if (!creator)
        return;
    census->total--;
    if (--creator->count)
        return;
    (void)map_remove(&census->creators, id);
    free(creator);
}

/* --- from other workers --- */

struct leaving {
    struct loop_mail mail;
    struct worker *first;
    size_t id_len;
    char id[];
};

static void on_leaving(struct loop_mail *mail)
{
    struct leaving *leaving = CONTAINER_OF(mail, struct leaving, mail);

    remove_one(&leaving->first->census, (struct str){ leaving->id, leaving->id_len });
    free(leaving);
}

void team_census_leave(struct worker *worker, struct str id)
{
    struct leaving *leaving = xcalloc(1, sizeof(*leaving) + id.len);

    leaving->mail.deliver = on_leaving;
    leaving->first = gateway_worker(worker->gateway, 0);
    leaving->id_len = id.len;
    memcpy(leaving->id, id.ptr, id.len);
    loop_post(leaving->first->loop, &leaving->mail);
}
