/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/mcp_house.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "directory/agent_message.h"
#include "gateway/teams.h"

enum { ARENA_BYTES = 8 << 20, WHY = 512 };

/* --- results --- */

static void put_text_block(struct json_writer *w, struct str text)
{
    json_key(w, S("content"));
    json_array_open(w);
    json_object_open(w);
    json_put_str(w, S("type"), S("text"));
    json_put_str(w, S("text"), text);
    json_object_close(w);
    json_array_close(w);
}

static void fail(const struct house_asker *asker, struct str why)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, 8 * why.len + WHY);
    json_write_init(&w, &out);
    json_object_open(&w);
    put_text_block(&w, why);
    json_put_bool(&w, S("isError"), true);
    json_object_close(&w);
    asker->on_result(asker->user, buf_str(&out));
}

static void on_done(void *user, const struct directory_outcome *outcome)
{
    CLEANUP(xfreep) struct house_asker *asker = user;
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, 8 * outcome->data.len + WHY);
    if (outcome->err) {
        fail(asker, outcome->message);
        return;
    }
    json_write_init(&w, &out);
    json_object_open(&w);
    put_text_block(&w, outcome->data);
    json_key(&w, S("structuredContent"));
    json_raw(&w, outcome->data);
    json_object_close(&w);
    asker->on_result(asker->user, buf_str(&out));
}

/* --- the tools --- */

struct arguments {
    struct str query, availability, kind, location, currency, team, cursor;
    struct str name, contract_id, team_id;
    struct str_list skills, resources;
    const struct json *max_rate;
    uint64_t limit;
};

#define F(member, need) JSON_FIELD(struct arguments, member, need)
static const struct json_field find_fields[] = {
    F(query, JSON_OPTIONAL),        F(skills, JSON_OPTIONAL),
    F(availability, JSON_OPTIONAL), F(kind, JSON_OPTIONAL),
    F(location, JSON_OPTIONAL),     F(max_rate, JSON_OPTIONAL),
    F(currency, JSON_OPTIONAL),     F(team, JSON_OPTIONAL),
    F(limit, JSON_OPTIONAL),        F(cursor, JSON_OPTIONAL),
};
static const struct json_field create_fields[] = {
    F(name, JSON_REQUIRED),
    F(resources, JSON_REQUIRED),
    F(contract_id, JSON_OPTIONAL),
};
static const struct json_field status_fields[] = { F(team_id, JSON_REQUIRED) };
#undef F

static void find(const struct directory_asker *asker, const struct arguments *args)
{
    struct agent_query query = { .text = args->query,
                                 .skills = args->skills,
                                 .availability = args->availability,
                                 .kind = args->kind,
                                 .location = args->location,
                                 .team = args->team,
                                 .currency = args->currency,
                                 .limit = args->limit,
                                 .cursor = args->cursor };

    if (args->max_rate && args->max_rate->type != JSON_NUMBER)
        directory_refuse(asker, ERR_INVALID, S("max_rate"), S("`max_rate` is a number."));
    else if (args->limit == 0 || args->limit > AGENT_LIMIT)
        directory_refuse(asker, ERR_INVALID, S("limit"),
                         S("`limit` is a number from 1 to 100."));
    else {
        query.max_rate = args->max_rate ? args->max_rate->text : S("");
        directory_find(asker, &query);
    }
}

static void create(const struct directory_asker *asker, const struct arguments *args)
{
    teams_create(asker,
                 &(struct team_plan){ args->name, args->resources, args->contract_id });
}

static void status(const struct directory_asker *asker, const struct arguments *args)
{
    teams_status(asker, args->team_id);
}

/* clang-format off */
static const struct {
    struct str name;
    const struct json_field *fields;
    size_t field_count;
    void (*use)(const struct directory_asker *asker, const struct arguments *args);
} tools[] = {
    { S("find_resources"), find_fields,   COUNT(find_fields),   find },
    { S("create_team"),    create_fields, COUNT(create_fields), create },
    { S("team_status"),    status_fields, COUNT(status_fields), status },
};
/* clang-format on */

static bool has(struct worker *worker, struct identity *identity, struct str right)
{
    return right.len && directory_may(worker, identity, right);
}

bool mcp_house_may(struct worker *worker, struct identity *identity, struct str tool)
{
    struct house_rights rights;

    return worker->settings->config->directory.open && house_tool_rights(tool, &rights) &&
           (has(worker, identity, rights.first) || has(worker, identity, rights.second));
}

static void complain(const struct house_asker *asker, const struct json_problem *problem)
{
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, WHY);
    buf_putf(&why, "These arguments cannot be used. " STR_FMT ": %s",
             STR_ARG(str_slice(problem->field, 0, WHY / 4)),
             problem->what ? problem->what : "is wrong");
    fail(asker, buf_str(&why));
}

void mcp_house_use(const struct house_asker *asker, struct str tool,
                   struct json_span arguments)
{
    struct arguments args = { .limit = AGENT_LIMIT_DEFAULT };
    CLEANUP(arena_done) struct arena arena;
    struct json_problem problem = {};
    const struct json *root;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(arguments.text.ptr ? arguments.text : S("{}"), &arena, &root,
                   &problem)) {
        complain(asker, &problem);
        return;
    }
    for (size_t i = 0; i < COUNT(tools); i++) {
        struct house_asker *kept;

        if (!str_eq(tools[i].name, tool))
            continue;
        if (json_read(root, tools[i].fields, tools[i].field_count, &arena, &args,
                      &problem)) {
            complain(asker, &problem);
            return;
        }
        kept = xmalloc(sizeof(*kept));
        *kept = *asker;
        tools[i].use(
            &(struct directory_asker){ asker->worker, asker->identity, on_done, kept },
            &args);
        return;
    }
    fail(asker, S("There is no such tool."));
}
