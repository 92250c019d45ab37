/* SPDX-License-Identifier: Apache-2.0 */
/* moot topic list | show | set: the topics of a gateway; the brake and the rules of one.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/result.h"
#include "cli/servers.h"
#include "json/json.h"

enum {
    TEXT_BYTES = 64 << 20,
    TREE_BYTES = 256 << 20,
    PATH_BYTES = 4096,
    WIDEST = 60,
};

#define OPT(member) CLI_AT(struct servers_options, member)
static const struct cli_option options[] = {
    { "--json", NULL, "answer as JSON", OPT(json) },
    CLI_WHERE(struct servers_options),
};

/* --- asking --- */

struct question {
    const char *method;
    const char *topic; /* NULL: all */
    struct str body;
};

/* The caller frees answer->body in any case. */
static int ask(const struct servers_options *o, const struct question *question,
               struct cli_answer *answer)
{
    CLEANUP(buf_done) struct buf data, path;
    struct cli_server server;

    buf_init(&data, PATH_BYTES);
    buf_init(&path, PATH_BYTES);
    server = servers_place(o, &data);
    buf_put(&path, S("/admin/topics"));
    if (question->topic) {
        buf_putc(&path, '/');
        cli_put_segment(&path, str_of(question->topic));
    }
    return servers_ask(&server, NULL, question->method, buf_str(&path), question->body,
                       answer);
}

typedef int put_fn(struct buf *out, const struct json *root);

static int put_body(struct buf *out, struct str body, put_fn *put)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    return put(out, root);
}

/* Asks, and shows what came. */
static int answer(const struct servers_options *o, const struct question *question,
                  put_fn *put)
{
    struct cli_answer got = {};
    CLEANUP(buf_done) struct buf out;
    int code = ask(o, question, &got);

    buf_init(&out, TEXT_BYTES);
    if (code == CLI_OK && o->json)
        result_put_json(&out, buf_str(&got.body),
                        isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else if (code == CLI_OK)
        code = put_body(&out, buf_str(&got.body), put);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    (void)fflush(stdout);
    buf_done(&got.body);
    return code;
}

/* --- showing --- */

static struct str text_of(const struct json *topic, struct str member)
{
    const struct json *value = json_find(topic, member);
    bool is_shown = value && value->text.len > 0 &&
                    (value->type == JSON_STRING || value->type == JSON_NUMBER);

    return is_shown ? value->text : S("-");
}

static size_t width_of_names(const struct json *list)
{
    size_t width = sizeof("TOPIC") - 1;
    CLEANUP(buf_done) struct buf cell;

    buf_init(&cell, TEXT_BYTES);
    JSON_FOREACH(topic, list) {
        size_t count = cell_put_cut(&cell, text_of(topic, S("name")), WIDEST);

        width = count > width ? count : width;
        buf_clear(&cell);
    }
    return width;
}

struct row {
    struct str name, here, brake, automation;
};

static void put_row(struct buf *out, size_t width, const struct row *row)
{
    size_t count = cell_put_cut(out, row->name, width);

    (void)cell_put(out, S(""), width + 2 - count);
    (void)cell_put(out, row->here, sizeof("PARTICIPANTS") + 1);
    (void)cell_put(out, row->brake, sizeof("BRAKE") + 1);
    plain_put(out, row->automation, PLAIN_LINE);
    buf_putc(out, '\n');
}

static int put_list(struct buf *out, const struct json *root)
{
    const struct json *list = json_find(root, S("topics"));
    size_t width;

    if (!list || list->type != JSON_ARRAY)
        return cli_fail("the server's answer cannot be read");
    width = width_of_names(list);
    put_row(out, width,
            &(struct row){ S("TOPIC"), S("PARTICIPANTS"), S("BRAKE"), S("AUTOMATION") });
    JSON_FOREACH(topic, list)
        put_row(
            out, width,
            &(struct row){ text_of(topic, S("name")), text_of(topic, S("participants")),
                           text_of(topic, S("brake")), text_of(topic, S("automation")) });
    return CLI_OK;
}

static void put_line(struct buf *out, const char *title, struct str text)
{
    buf_putf(out, "%-13s ", title);
    plain_put(out, text, PLAIN_LINE);
    buf_putc(out, '\n');
}

static int put_topic(struct buf *out, const struct json *root)
{
    /* clang-format off */
    static const struct { const char *title; struct str member; } lines[] = {
        { "topic",        S("name") },
        { "brake",        S("brake") },
        { "  by",         S("brake_by") },
        { "  since",      S("brake_since") },
        { "automation",   S("automation") },
        { "  by",         S("automation_by") },
        { "  since",      S("automation_since") },
        { "rules",        S("rules") },
        { "policy rows",  S("policy") },
        { "participants", S("participants") },
        { "connections",  S("connections") },
        { "proposals",    S("proposals") },
    };
    /* clang-format on */

    for (size_t i = 0; i < COUNT(lines); i++)
        if (json_find(root, lines[i].member))
            put_line(out, lines[i].title, text_of(root, lines[i].member));
    return CLI_OK;
}

/* --- the commands --- */

static int list(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    return answer(fields, &(struct question){ "GET", NULL, S("") }, put_list);
}

static int show(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return answer(fields, &(struct question){ "GET", arguments[0], S("") }, put_topic);
}

static bool is_switch(const char *name)
{
    return strcmp(name, "brake") == 0 || strcmp(name, "automation") == 0;
}

static int set(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const char *name = arguments[1], *value = arguments[2];
    bool is_on = strcmp(value, "on") == 0;
    char body[64];
    int len;

    if (!is_switch(name))
        return cli_fail("there is nothing called \"%s\" to be set; there are: brake and "
                        "automation",
                        name),
               CLI_USAGE;
    if (!is_on && strcmp(value, "off") != 0)
        return cli_fail("the %s is on or off, not \"%s\"", name, value), CLI_USAGE;
    len = snprintf(body, sizeof(body), "{\"%s\":\"%s\"}", name, is_on ? "on" : "off");
    return answer(
        fields,
        &(struct question){ "POST", arguments[0], (struct str){ body, (size_t)len } },
        put_topic);
}

const struct cli_command cli_topic_list = {
    .name = "topic list",
    .usage = "[OPTIONS]",
    .summary = "list the topics that are used now, their brakes, and whether rules act",
    .options = options,
    .option_count = COUNT(options),
    .run = list,
    .options_size = sizeof(struct servers_options),
};

const struct cli_command cli_topic_show = {
    .name = "topic show",
    .usage = "TOPIC",
    .summary = "how a topic is, whether its brake is on and its rules act",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = show,
    .options_size = sizeof(struct servers_options),
};

const struct cli_command cli_topic_set = {
    .name = "topic set",
    .usage = "TOPIC brake|automation on|off",
    .summary = "put the brake of a topic on, or let no rule act there",
    .more =
        "While the brake is on, what agents call there needs a proposal, and passes\n"
        "when a person agrees. Lists, pings, notifications and answers go on.\n\n"
        "While automation is off, no rule of the topic acts: whatever a rule would let\n"
        "through waits for a person. Nothing else changes.\n\n"
        "Both hold over restarts.\n\n"
        "  moot topic set lobby brake on\n"
        "  moot topic set lobby automation off\n",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 3,
    .max_arguments = 3,
    .run = set,
    .options_size = sizeof(struct servers_options),
};
