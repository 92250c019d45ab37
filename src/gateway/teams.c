/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     asker's worker ──► directory's readers ──► team's worker ──► durable ──► asker
 */
#include "gateway/teams.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/teams_priv.h"

enum {
    ERRAND_BYTES = 32 << 20,
    MESSAGE_BYTES = 4096,
    MISSING_BYTES = 3000, /* of names in a message */
    ID_BYTES = 8,
};

static const char no_such[] = "There is no such team.";

/* --- the way --- */

static void errand_free(struct team_errand *e)
{
    buf_done(&e->message);
    buf_done(&e->data);
    buf_done(&e->news);
    buf_done(&e->details);
    arena_done(&e->arena);
    identity_unref(e->asker.identity);
    free(e);
}

void team_errand_fail(struct team_errand *e, enum err err, struct str field,
                      const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    e->err = err;
    e->field = field;
    buf_clear(&e->message);
    buf_put(&e->message, str_of(text));
}

static void answer(struct team_errand *e)
{
    struct directory_outcome outcome = { .err = e->err };

    if (e->err) {
        outcome.field = e->field;
        outcome.message = buf_str(&e->message);
    } else {
        outcome.data = buf_str(&e->data);
    }
    e->asker.on_done(e->asker.user, &outcome);
    errand_free(e);
}

static void on_back(struct loop_mail *mail)
{
    answer(CONTAINER_OF(mail, struct team_errand, mail));
}

static void send_back(struct team_errand *e)
{
    e->mail.deliver = on_back;
    loop_post(e->asker.worker->loop, &e->mail);
}

static void tell(const struct team_errand *e)
{
    char topic[TEAM_TOPIC + 1];

    directory_tell(e->home,
                   &(struct directory_news){ .event_type = S("TEAM_STATUS_UPDATED"),
                                             .data = buf_str(&e->news),
                                             .details = buf_str(&e->details),
                                             .team = e->team_id,
                                             .topic = team_topic(e->team_id, topic),
                                             .audience = e->audience });
}

static void on_durable(struct recorder_waiter *waiter, enum err err)
{
    struct team_errand *e = CONTAINER_OF(waiter, struct team_errand, waiter);

    if (err)
        team_errand_fail(e, ERR_UNAVAILABLE, S(""), "%s", recorder_problem);
    else if (e->news.len)
        tell(e);
    send_back(e);
}

/* By the directory's readers; what they find comes back to this worker. */
static void look_up_on(struct team_errand *e, struct worker *worker);

/* Who may not change the team does not learn which resources there are either. */
static void check_first(struct team_errand *e)
{
    e->is_checked = true;
    e->act->check(e);
    if (e->err)
        send_back(e);
    else
        look_up_on(e, e->home);
}

static void on_home(struct loop_mail *mail)
{
    struct team_errand *e = CONTAINER_OF(mail, struct team_errand, mail);
    bool is_counted = e->act == &team_act_create;

    if (e->act->check && !e->is_checked) {
        check_first(e);
        return;
    }

    if (e->act->changes && !recorder_is_able(e->home))
        team_errand_fail(e, ERR_UNAVAILABLE, S(""), "%s", recorder_problem);
    else
        e->act->run(e);
    if (e->err && is_counted)
        team_census_leave(e->home, e->asker.identity->id);
    if (e->err || !e->act->changes) {
        send_back(e);
        return;
    }
    e->waiter = (struct recorder_waiter){ .ticket = recorder_last(e->home),
                                          .on_end = on_durable };
    recorder_wait(e->home, &e->waiter);
}

static void go_home(struct team_errand *e)
{
    char topic[TEAM_TOPIC + 1];

    e->home = worker_of_topic(e->asker.worker->gateway, team_topic(e->team_id, topic));
    e->mail.deliver = on_home;
    loop_post(e->home->loop, &e->mail);
}

/* On the first worker: a team more. */
static void on_census(struct loop_mail *mail)
{
    struct team_errand *e = CONTAINER_OF(mail, struct team_errand, mail);
    struct worker *first = gateway_worker(e->asker.worker->gateway, 0);
    const char *why = team_census_enter(
        &first->census, &first->settings->config->directory, e->asker.identity->id);

    if (why) {
        team_errand_fail(e, ERR_OVERLOAD, S(""), "%s", why);
        send_back(e);
        return;
    }
    go_home(e);
}

static void go_on(struct team_errand *e)
{
    if (e->act != &team_act_create) {
        go_home(e);
        return;
    }
    e->mail.deliver = on_census;
    loop_post(gateway_worker(e->asker.worker->gateway, 0)->loop, &e->mail);
}

/* --- resources --- */

static void note_missing(struct team_errand *e, struct str id)
{
    if (e->message.len > MISSING_BYTES)
        return;
    buf_put(&e->message, e->message.len ? S(", ") : S("There is no such resource: "));
    buf_put(&e->message, id);
}

static enum err look_up(struct team_errand *e, struct store_directory *directory,
                        size_t at)
{
    struct team_member *member = &e->found[at];
    struct resource resource;
    struct arena arena;
    enum err err;

    arena_init(&arena, RESOURCE_TEXT + RESOURCE_ARENA);
    err = store_resource_get(directory, e->resources.items[at], &arena, &resource);
    if (!err)
        *member = (struct team_member){
            .resource = e->resources.items[at],
            .name = arena_str(&e->arena, resource.name),
            .participant = arena_str(&e->arena, resource.participant),
            .state = resource.invite == RESOURCE_ASK ? TEAM_INVITED : TEAM_MEMBER,
        };
    arena_done(&arena);
    return err;
}

static void look_up_all(struct store_directory_job *job,
                        struct store_directory *directory)
{
    struct team_errand *e = CONTAINER_OF(job, struct team_errand, job);

    for (size_t i = 0; i < e->resources.count; i++) {
        enum err err = look_up(e, directory, i);

        if (err == ERR_NOT_FOUND)
            note_missing(e, e->resources.items[i]);
        if (err && e->err != ERR_IO)
            e->err = err == ERR_NOT_FOUND ? ERR_NOT_FOUND : ERR_IO;
    }
}

static void on_looked_up(struct store_directory_job *job)
{
    struct team_errand *e = CONTAINER_OF(job, struct team_errand, job);

    if (!e->err) {
        go_on(e);
        return;
    }
    if (e->err == ERR_NOT_FOUND) {
        e->field = S("resources");
        buf_putc(&e->message, '.');
    } else {
        team_errand_fail(e, ERR_UNAVAILABLE, S(""),
                         "The directory cannot be reached now.");
    }
    send_back(e);
}

static void look_up_on(struct team_errand *e, struct worker *worker)
{
    e->found = arena_alloc(&e->arena, TEAM_MEMBERS * sizeof(*e->found));
    e->job = (struct store_directory_job){ .loop = worker->loop,
                                           .lane = DIRECTORY_READS,
                                           .work = look_up_all,
                                           .done = on_looked_up };
    store_directory_submit(gateway_store(worker->gateway), &e->job);
}

/* --- the start --- */

static struct team_errand *errand_new(const struct directory_asker *asker,
                                      const struct team_act *act, struct str team_id)
{
    struct team_errand *e = xcalloc(1, sizeof(*e));

    arena_init(&e->arena, ERRAND_BYTES);
    buf_init(&e->message, MESSAGE_BYTES + RESOURCE_ID);
    buf_init(&e->data, SIZE_MAX / 2);
    buf_init(&e->news, SIZE_MAX / 2);
    buf_init(&e->details, SIZE_MAX / 2);
    e->asker = *asker;
    (void)identity_ref(asker->identity);
    e->act = act;
    e->team_id = arena_str(&e->arena, team_id);
    return e;
}

/* What is wrong with a list of resources; ERR_INVALID has been said then. */
static bool lists_resources(struct team_errand *e, struct str_list resources)
{
    for (size_t i = 0; i < resources.count; i++) {
        const char *wrong = resource_id_problem(resources.items[i]);

        for (size_t k = 0; !wrong && k < i; k++)
            if (str_eq(resources.items[i], resources.items[k]))
                wrong = "is named twice";
        if (wrong) {
            team_errand_fail(e, ERR_INVALID, S("resources"),
                             "Number %zu of the resources %s.", i + 1, wrong);
            return false;
        }
    }
    if (resources.count == 0)
        team_errand_fail(e, ERR_INVALID, S("resources"), "No resource is named.");
    else if (resources.count > TEAM_MEMBERS)
        team_errand_fail(e, ERR_INVALID, S("resources"), "A team has at most %d members.",
                         TEAM_MEMBERS);
    return !e->err;
}

static void start(struct team_errand *e)
{
    if (!e->err && !team_id_is_valid(e->team_id))
        team_errand_fail(e, ERR_NOT_FOUND, S("team_id"), "%s", no_such);
    if (e->err) {
        answer(e);
        return;
    }
    if (e->act->needs_resources && !e->act->check)
        look_up_on(e, e->asker.worker);
    else
        go_home(e);
}

static void check_name(struct team_errand *e)
{
    const char *wrong = team_name_problem(e->name);

    if (wrong)
        team_errand_fail(e, ERR_INVALID, S("name"), "The name %s.", wrong);
}

static struct str draw_id(struct arena *arena)
{
    uint8_t random[ID_BYTES];
    struct str id;
    struct buf text;

    crypto_random(random, sizeof(random));
    buf_init(&text, TEAM_OWN_ID);
    buf_put(&text, S("t-"));
    hex_write(&text, (struct str){ (const char *)random, sizeof(random) });
    id = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return id;
}

void teams_create(const struct directory_asker *asker, const struct team_plan *plan)
{
    struct team_errand *e = errand_new(asker, &team_act_create, S(""));

    e->team_id = draw_id(&e->arena);
    e->name = arena_str(&e->arena, plan->name);
    e->contract_id = arena_str(&e->arena, plan->contract_id);
    if (!directory_may(asker->worker, asker->identity, TEAM_CREATE))
        team_errand_fail(e, ERR_FORBIDDEN, S(""),
                         "This needs the capability team/create.");
    if (!e->err)
        check_name(e);
    if (!e->err && plan->contract_id.len && team_name_problem(plan->contract_id))
        team_errand_fail(e, ERR_INVALID, S("contract_id"), "The contract_id %s.",
                         team_name_problem(plan->contract_id));
    if (!e->err && lists_resources(e, plan->resources))
        e->resources = str_list_copy(plan->resources, &e->arena);
    start(e);
}

void teams_status(const struct directory_asker *asker, struct str team_id)
{
    start(errand_new(asker, &team_act_status, team_id));
}

void teams_resources(const struct directory_asker *asker, struct str team_id)
{
    start(errand_new(asker, &team_act_resources, team_id));
}

struct resource_ids {
    struct str_list resources;
};

static const struct json_field resource_ids_fields[] = {
    JSON_FIELD(struct resource_ids, resources, JSON_REQUIRED),
};

enum err teams_read_resources(struct str data, struct arena *arena, struct str_list *ret)
{
    struct str text = arena_str(arena, data);
    struct resource_ids ids = {};
    const struct json *root;

    if (!text.ptr || json_parse(text, arena, &root, NULL) ||
        json_read(root, resource_ids_fields, COUNT(resource_ids_fields), arena, &ids,
                  NULL))
        return ERR_TOO_BIG;
    *ret = ids.resources;
    return OK;
}

static void start_with(const struct directory_asker *asker, const struct team_act *act,
                       struct str team_id, struct str_list resources)
{
    struct team_errand *e = errand_new(asker, act, team_id);

    if (lists_resources(e, resources))
        e->resources = str_list_copy(resources, &e->arena);
    start(e);
}

void teams_add(const struct directory_asker *asker, struct str team_id,
               struct str_list resources)
{
    start_with(asker, &team_act_add, team_id, resources);
}

void teams_remove(const struct directory_asker *asker, struct str team_id,
                  struct str_list resources)
{
    start_with(asker, &team_act_remove, team_id, resources);
}

void teams_rename(const struct directory_asker *asker, struct str team_id,
                  struct str name)
{
    struct team_errand *e = errand_new(asker, &team_act_rename, team_id);

    e->name = arena_str(&e->arena, name);
    check_name(e);
    start(e);
}

void teams_dissolve(const struct directory_asker *asker, struct str team_id)
{
    start(errand_new(asker, &team_act_dissolve, team_id));
}

void teams_answer_invitation(const struct directory_asker *asker, struct str team_id,
                             struct str resource, enum team_answer said)
{
    struct team_errand *e = errand_new(asker, &team_act_answer, team_id);

    e->resource = arena_str(&e->arena, resource);
    e->answer = said;
    start(e);
}

/* --- the list --- */

struct team_listing {
    struct gather gather;
    struct directory_asker asker; /* with a reference of its own */
    size_t limit;
    size_t after_len; /* 0: from the first */
    char after[TEAM_OWN_ID];
};

static void write_line(const struct team_record *record, struct buf *out)
{
    char topic[TEAM_TOPIC + 1];
    size_t members = 0;
    struct json_writer w;

    for (size_t i = 0; i < record->member_count; i++)
        members += record->members[i].state == TEAM_MEMBER;
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("team_id"), record->id); /* the first: lines are sorted */
    json_put_str(&w, S("name"), record->name);
    json_put_str(&w, S("state"), record->dissolved_ms ? S("dissolved") : S("active"));
    json_put_str(&w, S("creator"), record->creator);
    json_put_time(&w, S("created_at"), record->created_ms);
    json_put_str(&w, S("topic"), team_topic(record->id, topic));
    json_put_uint(&w, S("members"), members);
    json_object_close(&w);
    buf_putc(out, '\n');
}

/* Into its place among those found, of which the last goes where there are too many. */
static size_t put_sorted(const struct team_record **found, size_t count, size_t most,
                         const struct team_record *record)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (str_cmp(found[middle]->id, record->id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == most)
        return count;
    count -= count == most ? 1 : 0;
    memmove(found + low + 1, found + low, (count - low) * sizeof(*found));
    found[low] = record;
    return count + 1;
}

/* A line for each of the first, and one more where there are others. */
static void visit_teams(struct gather *gather, struct gather_part *part)
{
    const struct team_listing *listing =
        CONTAINER_OF(gather, struct team_listing, gather);
    const struct identity *identity = listing->asker.identity;
    struct str after = { listing->after, listing->after_len };
    size_t most = listing->limit + 1;
    CLEANUP(xfreep) const struct team_record **found = xcalloc(most, sizeof(*found));
    const struct team *team;

    MAP_FOREACH(team, &part->worker->teams)
        if (str_cmp(team->record.id, after) > 0 &&
            (identity->is_admin || team_concerns(&team->record, identity->id)))
            part->count = put_sorted(found, part->count, most, &team->record);
    for (size_t i = 0; i < part->count; i++)
        write_line(found[i], &part->out);
}

static int compare_lines(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* All workers' lines, in one order. */
static struct str *sort_lines(const struct gather *gather, size_t *ret_count)
{
    struct str *lines;
    size_t count = 0;

    for (size_t i = 0; i < gather->part_count; i++)
        count += gather->parts[i].count;
    lines = xcalloc(count + 1, sizeof(*lines));
    count = 0;
    for (size_t i = 0; i < gather->part_count; i++) {
        struct str rest = buf_str(&gather->parts[i].out);

        while (rest.len)
            lines[count++] = str_cut(&rest, '\n');
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    *ret_count = count;
    return lines;
}

/* {"team_id":"t-0123456789abcdef",… */
static struct str id_in(struct str line)
{
    size_t at = sizeof("{\"team_id\":\"") - 1;

    return str_slice(line, at, at + TEAM_OWN_ID);
}

static void write_listing(const struct team_listing *listing, struct buf *out)
{
    size_t count;
    CLEANUP(xfreep) struct str *lines = sort_lines(&listing->gather, &count);
    size_t shown = count < listing->limit ? count : listing->limit;
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("teams"));
    json_array_open(&w);
    for (size_t i = 0; i < shown; i++)
        json_raw(&w, lines[i]);
    json_array_close(&w);
    if (shown < count)
        json_put_str(&w, S("next"), id_in(lines[shown - 1]));
    json_object_close(&w);
}

static void on_listed(struct gather *gather)
{
    struct team_listing *listing = CONTAINER_OF(gather, struct team_listing, gather);
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    write_listing(listing, &out);
    listing->asker.on_done(listing->asker.user,
                           &(struct directory_outcome){ .data = buf_str(&out) });
    buf_done(&out);
    gather_done(gather);
    identity_unref(listing->asker.identity);
    free(listing);
}

void teams_list(const struct directory_asker *asker, struct str after, size_t limit)
{
    struct team_listing *listing;

    if (after.len && !team_id_is_valid(after)) {
        directory_refuse(asker, ERR_INVALID, S("cursor"),
                         S("The cursor is not one that an answer had."));
        return;
    }
    listing = xcalloc(1, sizeof(*listing));
    listing->asker = *asker;
    (void)identity_ref(asker->identity);
    listing->limit = limit;
    listing->after_len = after.len;
    memcpy(listing->after, after.ptr, after.len);
    listing->gather = (struct gather){ .visit = visit_teams, .done = on_listed };
    gather_start(&listing->gather, asker->worker);
}
