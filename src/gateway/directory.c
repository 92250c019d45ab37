/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question goes to the directory's readers (store/directory.h); then every worker says
 * who of those found is present with it; then the answer is written.
 */
#include "gateway/directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "directory/agent_message.h"
#include "gateway/agents_door.h"
#include "gateway/gateway.h"
#include "gateway/room.h"
#include "gateway/teams.h"
#include "store/directory.h"

enum {
    ANSWER_BYTES = 1 << 20, /* what follows is for the next page */
    ARENA_BYTES = 1 << 20,
    TEAM_BYTES = 1 << 20,
    LOOKS_MAX = 200'000, /* rooms times resources: more take too long to look through */
};

bool directory_may(struct worker *worker, struct identity *identity, struct str right)
{
    return identity->is_admin ||
           capset_may(holdings_find(&worker->holdings, S(""), identity,
                                    loop_wall_ms(worker->loop)),
                      right) == VERDICT_ALLOW;
}

struct str_list directory_rights(void)
{
    static const struct str rights[] = { DIRECTORY_QUERY, DIRECTORY_DETAILS, TEAM_CREATE,
                                         TEAM_MANAGE };

    return (struct str_list){ rights, COUNT(rights) };
}

void directory_refuse(const struct directory_asker *asker, enum err err, struct str field,
                      struct str message)
{
    asker->on_done(asker->user, &(struct directory_outcome){
                                    .err = err, .field = field, .message = message });
}

/* --- searching --- */

enum attendance { ATTENDANCE_UNKNOWN, ATTENDANCE_ABSENT, ATTENDANCE_PRESENT };

struct search {
    struct store_directory_job job;
    struct gather gather;
    struct directory_asker asker; /* with a reference of its own */
    struct arena arena;
    struct directory_query query;
    struct directory_ask ask;
    struct directory_page page;
    enum attendance attendance[DIRECTORY_PAGE];
    struct str team;
    enum err err;
};

static void search_free(struct search *s)
{
    directory_page_done(&s->page);
    arena_done(&s->arena);
    identity_unref(s->asker.identity);
    free(s);
}

static void search_fail(struct search *s, enum err err, struct str field,
                        struct str message)
{
    directory_refuse(&s->asker, err, field, message);
    search_free(s);
}

/* What the query's own names are called in the request. */
static struct str field_of(struct str field)
{
    /* clang-format off */
    static const struct { struct str ours, theirs; } names[] = {
        { S("text"),         S("query") },
        { S("query"),        S("query") },
        { S("cursor"),       S("cursor") },
        { S("limit"),        S("limit") },
        { S("skills"),       S("filters.skills") },
        { S("availability"), S("filters.availability") },
        { S("kind"),         S("filters.kind") },
        { S("location"),     S("filters.location") },
        { S("max_rate"),     S("filters.max_rate") },
        { S("currency"),     S("filters.currency") },
        { S("members"),      S("filters.team") },
    };
    /* clang-format on */

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(names[i].ours, field))
            return names[i].theirs;
    return S("");
}

static void write_hit(const struct search *s, size_t at, struct json_writer *w)
{
    const struct directory_hit *hit = &s->page.hits[at];
    bool has_details =
        directory_may(s->asker.worker, s->asker.identity, DIRECTORY_DETAILS);

    json_object_open(w);
    json_key(w, S("resource"));
    resource_write(w, &hit->resource, has_details ? RESOURCE_DETAILS : RESOURCE_PUBLIC);
    json_put_uint(w, S("score"), hit->match.score);
    if (s->attendance[at] != ATTENDANCE_UNKNOWN)
        json_put_bool(w, S("present"), s->attendance[at] == ATTENDANCE_PRESENT);
    json_key(w, S("reason"));
    directory_reason_write(w, &s->ask, &hit->resource, &hit->match);
    json_object_close(w);
}

/* The answer is cut where it becomes too long: the next page begins there. */
static void write_page(const struct search *s, struct buf *out)
{
    struct json_writer w;
    struct buf next;
    size_t count = 0;

    buf_init(&next, DIRECTORY_CURSOR);
    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("resources"));
    json_array_open(&w);
    while (count < s->page.count && out->len < ANSWER_BYTES)
        write_hit(s, count++, &w);
    json_array_close(&w);
    if (count < s->page.count) {
        const struct directory_hit *last = &s->page.hits[count - 1];

        directory_cursor_write(
            &next, &(struct directory_place){ last->match.score,
                                              resource_rank(&last->resource) });
        json_put_str(&w, S("next"), buf_str(&next));
    } else if (s->page.cursor[0]) {
        json_put_str(&w, S("next"), str_of(s->page.cursor));
    }
    if (s->page.is_partial)
        json_put_bool(&w, S("partial"), true);
    json_object_close(&w);
    buf_done(&next);
}

static void answer(struct search *s)
{
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    write_page(s, &out);
    s->asker.on_done(s->asker.user, &(struct directory_outcome){ .data = buf_str(&out) });
    buf_done(&out);
    search_free(s);
}

/* Everybody in one room, then in the next: a room is looked up in what is near. */
static void look_into(const struct live_room *room, const struct search *s, char *letters)
{
    const struct topic *topic = &room->room.topic;

    for (size_t i = 0; i < s->page.count; i++) {
        struct str id = s->page.hits[i].resource.participant;
        const struct participant *participant =
            letters[i] == '-' && id.len ? participant_find(topic, id) : NULL;

        if (participant && participant->member_count)
            letters[i] = '+';
    }
}

/* A letter for each hit: here, not here, or too many rooms to say. */
static void visit_present(struct gather *gather, struct gather_part *part)
{
    const struct search *s = CONTAINER_OF(gather, struct search, gather);
    bool looks = part->worker->rooms.count * s->page.count <= LOOKS_MAX;
    struct live_room *room;

    for (size_t i = 0; i < s->page.count; i++) {
        struct str id = s->page.hits[i].resource.participant;

        if (agents_have(part->worker->agents, id))
            buf_putc(&part->out, '+');
        else
            buf_putc(&part->out, looks || !id.len ? '-' : '?');
    }
    MAP_FOREACH(room, &part->worker->rooms) {
        if (!looks)
            break;
        look_into(room, s, part->out.ptr);
    }
}

static void on_present(struct gather *gather)
{
    struct search *s = CONTAINER_OF(gather, struct search, gather);

    for (size_t i = 0; i < s->page.count; i++) {
        bool is_sure = true, is_present = false;

        for (size_t p = 0; p < gather->part_count; p++) {
            is_present |= gather->parts[p].out.ptr[i] == '+';
            is_sure &= gather->parts[p].out.ptr[i] != '?';
        }
        if (is_sure || is_present)
            s->attendance[i] = is_present ? ATTENDANCE_PRESENT : ATTENDANCE_ABSENT;
    }
    gather_done(gather);
    answer(s);
}

static void search_work(struct store_directory_job *job,
                        struct store_directory *directory)
{
    struct search *s = CONTAINER_OF(job, struct search, job);

    s->err = store_resource_search(directory, &s->ask, &s->page);
}

static void on_found(struct store_directory_job *job)
{
    struct search *s = CONTAINER_OF(job, struct search, job);

    if (s->err) {
        search_fail(s, ERR_UNAVAILABLE, S(""), S("The directory cannot be reached now."));
        return;
    }
    if (s->page.count == 0) {
        answer(s);
        return;
    }
    s->gather = (struct gather){ .visit = visit_present, .done = on_present };
    gather_start(&s->gather, s->asker.worker);
}

static void submit(struct search *s)
{
    struct resource_problem problem = {};
    struct buf why;

    if (directory_ask_read(&s->query, &s->ask, &problem) == OK) {
        s->job = (struct store_directory_job){ .loop = s->asker.worker->loop,
                                               .lane = DIRECTORY_READS,
                                               .work = search_work,
                                               .done = on_found };
        store_directory_submit(gateway_store(s->asker.worker->gateway), &s->job);
        return;
    }
    buf_init(&why, 1024);
    resource_problem_put(&why, &problem);
    buf_putc(&why, '.');
    directory_refuse(&s->asker, ERR_INVALID, field_of(problem.field), buf_str(&why));
    buf_done(&why);
    search_free(s);
}

/* --- of a team --- */

static void on_team(void *user, const struct directory_outcome *outcome)
{
    struct search *s = user;

    if (outcome->err) {
        search_fail(s, outcome->err, S("filters.team"), outcome->message);
        return;
    }
    if (teams_read_resources(outcome->data, &s->arena, &s->query.members)) {
        search_fail(s, ERR_INTERNAL, S("filters.team"),
                    S("The team could not be looked up."));
        return;
    }
    s->query.is_of_team = true;
    submit(s);
}

static struct search *search_new(const struct directory_asker *asker,
                                 const struct agent_query *query)
{
    struct search *s = xcalloc(1, sizeof(*s));
    struct arena *arena = &s->arena;

    arena_init(arena, ARENA_BYTES + TEAM_BYTES);
    directory_page_init(&s->page);
    s->asker = *asker;
    (void)identity_ref(asker->identity);
    s->team = arena_str(arena, query->team);
    s->query = (struct directory_query){
        .text = arena_str(arena, query->text),
        .skills = str_list_copy(query->skills, arena),
        .availability = arena_str(arena, query->availability),
        .kind = arena_str(arena, query->kind),
        .location = arena_str(arena, query->location),
        .max_rate = arena_str(arena, query->max_rate),
        .currency = arena_str(arena, query->currency),
        .limit = query->limit,
        .cursor = arena_str(arena, query->cursor),
    };
    return s;
}

void directory_find(const struct directory_asker *asker, const struct agent_query *query)
{
    struct search *s;

    if (!directory_may(asker->worker, asker->identity, DIRECTORY_QUERY)) {
        directory_refuse(asker, ERR_FORBIDDEN, S(""),
                         S("This needs the capability directory/query."));
        return;
    }
    /* Whoever asks often enough would learn the rate. */
    if ((query->max_rate.len || query->currency.len) &&
        !directory_may(asker->worker, asker->identity, DIRECTORY_DETAILS)) {
        directory_refuse(asker, ERR_FORBIDDEN,
                         query->max_rate.len ? S("filters.max_rate")
                                             : S("filters.currency"),
                         S("Rates need the capability directory/details."));
        return;
    }
    s = search_new(asker, query);
    if (s->team.len)
        teams_resources(
            &(struct directory_asker){ asker->worker, asker->identity, on_team, s },
            s->team);
    else
        submit(s);
}

/* --- news --- */

struct news_letter {
    struct loop_mail mail;
    struct agents *agents;
    struct arena arena;
    struct directory_news news;
};

static void on_news(struct loop_mail *mail)
{
    struct news_letter *letter = CONTAINER_OF(mail, struct news_letter, mail);

    agents_tell(letter->agents, &letter->news);
    arena_done(&letter->arena);
    free(letter);
}

void directory_tell(struct worker *worker, const struct directory_news *news)
{
    struct worker *home = gateway_worker(worker->gateway, 0);
    struct news_letter *letter = xcalloc(1, sizeof(*letter));
    struct arena *arena = &letter->arena;

    arena_init(arena, SIZE_MAX / 2);
    letter->mail.deliver = on_news;
    letter->agents = home->agents;
    letter->news = (struct directory_news){
        .event_type = arena_str(arena, news->event_type),
        .data = arena_str(arena, news->data),
        .details = arena_str(arena, news->details),
        .team = arena_str(arena, news->team),
        .topic = arena_str(arena, news->topic),
        .audience = str_list_copy(news->audience, arena),
    };
    loop_post(home->loop, &letter->mail);
}

static void write_change(struct buf *out, enum directory_change change,
                         const struct resource *resource, enum resource_view view)
{
    struct json_writer w;

    buf_init(out, SIZE_MAX / 2);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("change"), change == DIRECTORY_PUT ? S("put") : S("removed"));
    json_put_str(&w, S("resource_id"), resource->id);
    if (change == DIRECTORY_PUT) {
        json_key(&w, S("resource"));
        resource_write(&w, resource, view);
    }
    json_object_close(&w);
}

void directory_tell_resource(struct worker *worker, enum directory_change change,
                             const struct resource *resource)
{
    struct buf data, details;

    write_change(&data, change, resource, RESOURCE_PUBLIC);
    write_change(&details, change, resource, RESOURCE_DETAILS);
    directory_tell(worker, &(struct directory_news){ .event_type = S("RESOURCE_UPDATED"),
                                                     .data = buf_str(&data),
                                                     .details = change == DIRECTORY_PUT
                                                                    ? buf_str(&details)
                                                                    : S("") });
    buf_done(&data);
    buf_done(&details);
}

void directory_tell_import(struct worker *worker, uint64_t rows)
{
    struct json_writer w;
    struct buf data;

    buf_init(&data, 256);
    json_write_init(&w, &data);
    json_object_open(&w);
    json_put_str(&w, S("change"), S("imported"));
    json_put_uint(&w, S("rows"), rows);
    json_object_close(&w);
    directory_tell(worker, &(struct directory_news){ .event_type = S("RESOURCE_UPDATED"),
                                                     .data = buf_str(&data) });
    buf_done(&data);
}
