/* SPDX-License-Identifier: Apache-2.0 */
/* A team as those see it whom it concerns. */
#include "gateway/state.h"
#include "gateway/teams_priv.h"

enum { PROPOSALS_SHOWN = 100 };

static bool is_present(const struct live_room *room, struct str id)
{
    const struct participant *participant =
        room && id.len ? participant_find(&room->room.topic, id) : NULL;

    return participant && participant->member_count;
}

static void show_member(const struct team_member *member, const struct live_room *room,
                        const struct team_viewer *viewer, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("resource_id"), member->resource);
    json_put_str(w, S("name"), member->name);
    if (member->participant.len &&
        (viewer->view == TEAM_DETAILS || str_eq(viewer->id, member->participant)))
        json_put_str(w, S("participant"), member->participant);
    json_put_str(w, S("state"), team_state_name(member->state));
    if (member->state == TEAM_MEMBER)
        json_put_bool(w, S("present"), is_present(room, member->participant));
    json_object_close(w);
}

static void show_proposals(struct worker *worker, struct str topic,
                           struct live_room *room, struct json_writer *w)
{
    struct parked *parked = map_find(&worker->parked, topic);
    struct ledger *ledger = room ? &room->room.ledger : parked ? &parked->ledger : NULL;
    uint64_t now_ms = loop_wall_ms(worker->loop);
    const struct proposal *proposal = NULL;
    size_t count = 0;

    json_key(w, S("open_proposals"));
    json_array_open(w);
    while (ledger && count++ < PROPOSALS_SHOWN &&
           (proposal = ledger_next_open(ledger, proposal, now_ms))) {
        json_object_open(w);
        json_put_str(w, S("id"), proposal->id);
        json_put_str(w, S("proposer"), proposal->proposer);
        json_put_str(w, S("kind"), proposal->kind.text);
        json_put_time(w, S("created_at"), proposal->created_ms);
        json_put_time(w, S("expires_at"), proposal->expires_ms);
        json_object_close(w);
    }
    json_array_close(w);
}

static void show_enter(struct str topic, struct json_writer *w)
{
    struct buf text;

    buf_init(&text, 256);
    json_put_str(w, S("topic"), topic);
    json_key(w, S("enter"));
    json_object_open(w);
    buf_putf(&text, "/ws?topic=" STR_FMT, STR_ARG(topic));
    json_put_str(w, S("websocket"), buf_str(&text));
    buf_clear(&text);
    buf_putf(&text, "/mcp/" STR_FMT, STR_ARG(topic));
    json_put_str(w, S("mcp"), buf_str(&text));
    json_object_close(w);
    buf_done(&text);
}

void team_show(struct worker *worker, const struct team_record *team,
               const struct team_viewer *viewer, struct json_writer *w)
{
    char name[TEAM_TOPIC + 1];
    struct str topic = team_topic(team->id, name);
    struct live_room *room = room_find(worker, topic);
    uint64_t active_ms =
        room && room->active_ms > team->active_ms ? room->active_ms : team->active_ms;

    json_put_str(w, S("team_id"), team->id);
    json_put_str(w, S("name"), team->name);
    if (team->contract_id.len)
        json_put_str(w, S("contract_id"), team->contract_id);
    json_put_str(w, S("state"), team->dissolved_ms ? S("dissolved") : S("active"));
    json_put_str(w, S("creator"), team->creator);
    json_put_bool(w, S("creator_present"), is_present(room, team->creator));
    json_put_time(w, S("created_at"), team->created_ms);
    if (team->dissolved_ms)
        json_put_time(w, S("dissolved_at"), team->dissolved_ms);
    if (active_ms)
        json_put_time(w, S("last_activity_at"), active_ms);
    if (!team->dissolved_ms)
        show_enter(topic, w);
    json_key(w, S("members"));
    json_array_open(w);
    for (size_t i = 0; i < team->member_count; i++)
        show_member(&team->members[i], room, viewer, w);
    json_array_close(w);
    if (!team->dissolved_ms)
        show_proposals(worker, topic, room, w);
}

void team_answer(struct team_errand *e, const struct team_record *team)
{
    bool has_details = directory_may(e->home, e->asker.identity, DIRECTORY_DETAILS);
    struct team_viewer viewer = { e->asker.identity->id,
                                  has_details ? TEAM_DETAILS : TEAM_PUBLIC };
    struct json_writer w;

    json_write_init(&w, &e->data);
    json_object_open(&w);
    team_show(e->home, team, &viewer, &w);
    json_object_close(&w);
}

static void write_news(struct team_errand *e, const struct team_record *team,
                       enum team_view view, struct buf *out)
{
    struct team_viewer viewer = { .view = view };
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("change"), e->change);
    json_put_str(&w, S("by"), e->asker.identity->id);
    team_show(e->home, team, &viewer, &w);
    json_object_close(&w);
}

struct str_list team_audience(const struct team_record *team, struct str_list gone,
                              struct arena *arena)
{
    struct str *ids =
        arena_alloc(arena, (team->member_count + gone.count + 1) * sizeof(*ids));
    size_t count = 0;

    if (!ids)
        return (struct str_list){ &team->creator, 1 };
    ids[count++] = team->creator;
    for (size_t i = 0; i < team->member_count; i++)
        if (team_member_counts(&team->members[i]) && team->members[i].participant.len)
            ids[count++] = team->members[i].participant;
    for (size_t i = 0; i < gone.count; i++)
        if (gone.items[i].len)
            ids[count++] = gone.items[i];
    return (struct str_list){ ids, count };
}

void team_announce(struct team_errand *e, const struct team_record *team,
                   struct str_list gone)
{
    write_news(e, team, TEAM_PUBLIC, &e->news);
    write_news(e, team, TEAM_DETAILS, &e->details);
    e->audience = team_audience(team, gone, &e->arena);
}
