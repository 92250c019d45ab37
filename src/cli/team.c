/* SPDX-License-Identifier: Apache-2.0 */
/* moot team create | list | show | add | remove | rename | dissolve | accept | decline:
 * resources of the directory that work together, and their rooms. */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/resource.h"
#include "cli/result.h"
#include "cli/table.h"
#include "json/json.h"

enum {
    TREE_BYTES = 64 << 20,
    OUT_BYTES = 16 << 20,
    BODY_BYTES = 1 << 20,
    KEY_WIDTH = 14,
};

struct team_options {
    struct resource_place place;
    const char *contract, *resource;
    bool json;
};

#define OPT(member) CLI_AT(struct team_options, member)
/* clang-format off */
static const struct cli_option options[] = {
    { "--json", NULL, "answer as JSON", OPT(json) },
    CLI_RESOURCE_PLACE(struct team_options),
};
static const struct cli_option create_options[] = {
    { "--contract", "ID", "the contract it works under",  OPT(contract) },
    { "--json",     NULL, "answer as JSON",               OPT(json) },
    CLI_RESOURCE_PLACE(struct team_options),
};
static const struct cli_option answer_options[] = {
    { "--for",  "RESOURCE", "for whom, as an administrator; else for yourself", OPT(resource) },
    { "--json", NULL,       "answer as JSON",                                   OPT(json) },
    CLI_RESOURCE_PLACE(struct team_options),
};
/* clang-format on */

/* --- showing --- */

static struct str text_of(const struct json *object, struct str member)
{
    const struct json *value = json_find(object, member);
    bool is_shown = value && value->text.len &&
                    (value->type == JSON_STRING || value->type == JSON_NUMBER);

    return is_shown ? value->text : S("-");
}

/* clang-format off */
static const struct table_column team_columns[] = {
    { S("TEAM"),    true },
    { S("NAME"),    false },
    { S("STATE"),   true },
    { S("MEMBERS"), true },
    { S("CREATOR"), false },
};
/* clang-format on */

static struct str team_cell(const struct json *team, size_t column)
{
    static const struct str members[COUNT(team_columns)] = { S("team_id"), S("name"),
                                                             S("state"), S("members"),
                                                             S("creator") };

    return text_of(team, members[column]);
}

static void put_line(struct buf *out, const char *key, struct str text)
{
    (void)cell_put(out, str_of(key), KEY_WIDTH);
    plain_put(out, text, PLAIN_LINE);
    buf_putc(out, '\n');
}

static struct str member_cell(const struct json *member, size_t column)
{
    static const struct str members[] = { S("resource_id"), S("name"), S("state") };
    const struct json *present = json_find(member, S("present"));

    if (column < COUNT(members))
        return text_of(member, members[column]);
    return present && present->type == JSON_TRUE ? S("in the room") : S("");
}

/* Beside the key, and without a head. */
static void put_members(struct buf *out, const struct json *members)
{
    static const struct table_column columns[] = {
        { .is_whole = true }, {}, { .is_whole = true }, { .is_whole = true }
    };
    size_t room = table_room();
    struct table table = { .columns = columns,
                           .count = COUNT(columns),
                           .cell = member_cell,
                           .room = room > KEY_WIDTH ? room - KEY_WIDTH : 0 };
    struct str key = S("members");

    table_fit(&table, members);
    JSON_FOREACH(member, members) {
        (void)cell_put(out, key, KEY_WIDTH);
        table_put_row(&table, member, out);
        key = S("");
    }
}

static int put_team(struct buf *out, const struct json *root)
{
    /* clang-format off */
    static const struct { const char *title; struct str member; } lines[] = {
        { "team",          S("team_id") },
        { "name",          S("name") },
        { "contract",      S("contract_id") },
        { "state",         S("state") },
        { "creator",       S("creator") },
        { "created",       S("created_at") },
        { "dissolved",     S("dissolved_at") },
        { "last activity", S("last_activity_at") },
        { "topic",         S("topic") },
    };
    /* clang-format on */
    const struct json *members = json_find(root, S("members"));
    const struct json *proposals = json_find(root, S("open_proposals"));

    if (root->type != JSON_OBJECT)
        return cli_fail("the server's answer cannot be read");
    for (size_t i = 0; i < COUNT(lines); i++)
        if (json_find(root, lines[i].member))
            put_line(out, lines[i].title, text_of(root, lines[i].member));
    if (members && members->type == JSON_ARRAY)
        put_members(out, members);
    if (proposals && proposals->type == JSON_ARRAY)
        JSON_FOREACH(proposal, proposals)
            put_line(out, "open proposal", text_of(proposal, S("id")));
    return CLI_OK;
}

/* --- asking --- */

struct question {
    const char *method;
    const char *team;   /* NULL: all */
    const char *what;   /* below it: "/members"; NULL: nothing */
    const char *member; /* below that; NULL: nobody */
    struct str body;
};

typedef int put_fn(struct buf *out, const struct json *root);

static int show(const struct team_options *o, struct str body, put_fn *put)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    const struct json *root;
    int code = CLI_OK;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, OUT_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    if (o->json)
        result_put_json(&out, body, isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else
        code = put(&out, root);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    return code;
}

static int ask(const struct team_options *o, const struct question *question, put_fn *put)
{
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    int code;

    buf_init(&path, RESOURCE_PATH);
    buf_put(&path, S("/teams"));
    if (question->team) {
        buf_putc(&path, '/');
        cli_put_segment(&path, str_of(question->team));
    }
    buf_put(&path, str_of(question->what ? question->what : ""));
    if (question->member) {
        buf_putc(&path, '/');
        cli_put_segment(&path, str_of(question->member));
    }
    code = resource_ask(&o->place,
                        &(struct cli_request){ .method = question->method,
                                               .path = buf_str(&path),
                                               .body = question->body },
                        NULL, &answer);
    if (code == CLI_OK && put)
        code = show(o, buf_str(&answer.body), put);
    buf_done(&answer.body);
    return code;
}

/* {"resources":[…]}, and what stands before it. */
static void put_resources(struct json_writer *w, char **names, size_t count)
{
    json_key(w, S("resources"));
    json_array_open(w);
    for (size_t i = 0; i < count; i++)
        json_str(w, str_of(names[i]));
    json_array_close(w);
}

static int create(void *fields, char **arguments, size_t count)
{
    const struct team_options *o = fields;
    CLEANUP(buf_done) struct buf body;
    struct json_writer w;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("name"), str_of(arguments[0]));
    if (o->contract)
        json_put_str(&w, S("contract_id"), str_of(o->contract));
    put_resources(&w, arguments + 1, count - 1);
    json_object_close(&w);
    return ask(o, &(struct question){ .method = "POST", .body = buf_str(&body) },
               put_team);
}

struct listing {
    const struct team_options *options;
    struct buf next; /* where the next page begins; empty behind the last */
    struct table table;
    bool has_head;
};

static void put_head(struct listing *l, const struct json *list, struct buf *out)
{
    if (l->has_head || l->options->json || list->count == 0)
        return;
    l->has_head = true;
    table_fit(&l->table, list);
    table_put_head(&l->table, out);
}

static int put_page(struct listing *l, struct str body, struct arena *arena)
{
    enum result_form form = isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW;
    const struct json *root, *list, *next;
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, OUT_BYTES);
    if (json_parse(body, arena, &root, NULL) || !(list = json_find(root, S("teams"))) ||
        list->type != JSON_ARRAY)
        return cli_fail("the server's answer cannot be read");
    put_head(l, list, &out);
    JSON_FOREACH(team, list)
        if (l->options->json)
            result_put_json(&out, team->raw, form);
        else
            table_put_row(&l->table, team, &out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    next = json_find(root, S("next"));
    buf_clear(&l->next);
    buf_put(&l->next, next ? next->text : S(""));
    return CLI_OK;
}

static int list_page(struct listing *l)
{
    struct cli_answer answer = {};
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf path;
    int code;

    arena_init(&arena, TREE_BYTES);
    buf_init(&path, RESOURCE_PATH);
    buf_put(&path, S("/teams?limit=1000"));
    if (l->next.len) {
        buf_put(&path, S("&cursor="));
        cli_put_segment(&path, buf_str(&l->next));
    }
    code = resource_ask(&l->options->place,
                        &(struct cli_request){ .method = "GET", .path = buf_str(&path) },
                        NULL, &answer);
    if (code == CLI_OK)
        code = put_page(l, buf_str(&answer.body), &arena);
    buf_done(&answer.body);
    return code;
}

static int list(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    struct listing l = { .options = fields,
                         .table = { .columns = team_columns,
                                    .count = COUNT(team_columns),
                                    .cell = team_cell,
                                    .room = table_room() } };
    int code;

    buf_init(&l.next, RESOURCE_PATH);
    do
        code = list_page(&l);
    while (code == CLI_OK && l.next.len);
    if (code == CLI_OK && !l.has_head && !l.options->json)
        fputs("There is no team; `moot team create NAME RESOURCE...` makes one.\n",
              stderr);
    buf_done(&l.next);
    return code;
}

static int show_team(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return ask(fields, &(struct question){ .method = "GET", .team = arguments[0] },
               put_team);
}

static int add(void *fields, char **arguments, size_t count)
{
    CLEANUP(buf_done) struct buf body;
    struct json_writer w;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    put_resources(&w, arguments + 1, count - 1);
    json_object_close(&w);
    return ask(fields,
               &(struct question){ .method = "POST",
                                   .team = arguments[0],
                                   .what = "/members",
                                   .body = buf_str(&body) },
               put_team);
}

/* One after the other; what comes of the last is shown. */
static int remove_some(void *fields, char **arguments, size_t count)
{
    int code = CLI_OK;

    for (size_t i = 1; i < count && code == CLI_OK; i++)
        code = ask(fields,
                   &(struct question){ .method = "DELETE",
                                       .team = arguments[0],
                                       .what = "/members",
                                       .member = arguments[i] },
                   i + 1 == count ? put_team : NULL);
    return code;
}

static int rename_team(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    CLEANUP(buf_done) struct buf body;
    struct json_writer w;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("name"), str_of(arguments[1]));
    json_object_close(&w);
    return ask(fields,
               &(struct question){
                   .method = "PATCH", .team = arguments[0], .body = buf_str(&body) },
               put_team);
}

static int dissolve(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return ask(fields, &(struct question){ .method = "DELETE", .team = arguments[0] },
               put_team);
}

static int answer(const struct team_options *o, const char *team, const char *what)
{
    CLEANUP(buf_done) struct buf body;
    struct json_writer w;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    if (o->resource)
        json_put_str(&w, S("resource"), str_of(o->resource));
    json_object_close(&w);
    return ask(o,
               &(struct question){
                   .method = "POST", .team = team, .what = what, .body = buf_str(&body) },
               put_team);
}

static int accept_it(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return answer(fields, arguments[0], "/accept");
}

static int decline_it(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return answer(fields, arguments[0], "/decline");
}

/* --- the commands --- */

#define COMMAND(the_options, least, most, how)                                          \
    .options = the_options, .option_count = COUNT(the_options), .min_arguments = least, \
    .max_arguments = most, .run = how, .options_size = sizeof(struct team_options)

const struct cli_command cli_team_create = {
    .name = "team create",
    .usage = "NAME RESOURCE...",
    .summary = "make a team of people and agents, and open its room",
    .more =
        "Members are granted directory.team_profile in the team's topic, as far as you\n"
        "hold it. Who has invite=ask must accept first.\n\n"
        "  moot team create Falcon ann bot\n",
    COMMAND(create_options, 2, SIZE_MAX, create),
};
const struct cli_command cli_team_list = {
    .name = "team list",
    .usage = "[OPTIONS]",
    .summary = "the teams that you have to do with; administrators see all",
    COMMAND(options, 0, 0, list),
};
const struct cli_command cli_team_show = {
    .name = "team show",
    .usage = "TEAM",
    .summary = "who is in a team, who is in its room, what is proposed there",
    COMMAND(options, 1, 1, show_team),
};
const struct cli_command cli_team_add = {
    .name = "team add",
    .usage = "TEAM RESOURCE...",
    .summary = "take more into a team",
    COMMAND(options, 2, SIZE_MAX, add),
};
const struct cli_command cli_team_remove = {
    .name = "team remove",
    .usage = "TEAM RESOURCE...",
    .summary = "take somebody out of a team and its room",
    COMMAND(options, 2, SIZE_MAX, remove_some),
};
const struct cli_command cli_team_rename = {
    .name = "team rename",
    .usage = "TEAM NAME",
    .summary = "call a team otherwise",
    COMMAND(options, 2, 2, rename_team),
};
const struct cli_command cli_team_dissolve = {
    .name = "team dissolve",
    .usage = "TEAM",
    .summary = "end a team: its room closes for good",
    COMMAND(options, 1, 1, dissolve),
};
const struct cli_command cli_team_accept = {
    .name = "team accept",
    .usage = "TEAM",
    .summary = "accept an invitation to a team",
    COMMAND(answer_options, 1, 1, accept_it),
};
const struct cli_command cli_team_decline = {
    .name = "team decline",
    .usage = "TEAM",
    .summary = "decline an invitation to a team, or leave it",
    COMMAND(answer_options, 1, 1, decline_it),
};
