/* SPDX-License-Identifier: Apache-2.0 */
/* moot tools: everything that can be called in a topic, by participant. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "cli/cell.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/servers.h"
#include "cli/session.h"
#include "cli/toolbox.h"
#include "json/json.h"

enum { TEXT_BYTES = 64 << 20, ARENA_BYTES = 256 << 20, ASK_MS = 5000, MAX_MS = 600'000 };
enum { DESCRIPTION = 400, DEEP = 6, PATH_BYTES = 4096 };

struct tools_options {
    struct session_options session;
    const char *timeout;
    const char *approve;
    bool all, yes;
};

#define OPT(member) CLI_AT(struct tools_options, member)
static const struct cli_option options[] = {
    { "--timeout", "TIME", "how long to wait for answers; default 5 (seconds)",
      OPT(timeout) },
    { "--approve", "TOOL", "--server NAME: what is held of this tool has been looked at",
      OPT(approve) },
    { "--all", NULL, "--server NAME: … of everything that is held", OPT(all) },
    { "--yes", NULL, "do not ask before it is approved", OPT(yes) },
    CLI_SESSION(struct tools_options),
};

struct asking {
    const char *participant; /* NULL: all */
    struct toolbox box;
};

/* --- as text --- */

static bool is_required(const struct json *schema, struct str name)
{
    const struct json *required = json_find(schema, S("required"));

    if (required && required->type == JSON_ARRAY)
        JSON_FOREACH(item, required)
            if (item->type == JSON_STRING && str_eq(item->text, name))
                return true;
    return false;
}

/* "(a: number, [b: string])" of its schema. */
static void put_parameters(struct buf *out, const struct json *schema)
{
    const struct json *properties = json_find(schema, S("properties"));
    const char *comma = "";

    buf_putc(out, '(');
    if (properties && properties->type == JSON_OBJECT)
        JSON_FOREACH(property, properties) {
            struct str type = json_text(json_find(property, S("type")));
            bool is_needed = is_required(schema, property->key);

            buf_putf(out, "%s%s", comma, is_needed ? "" : "[");
            plain_put(out, property->key, PLAIN_LINE);
            buf_put(out, type.len ? S(": ") : S(""));
            plain_put(out, type, PLAIN_LINE);
            buf_put(out, is_needed ? S("") : S("]"));
            comma = ", ";
        }
    buf_putc(out, ')');
}

/* The first paragraph, each of its lines below the name. */
static void put_description(struct buf *out, struct str text)
{
    struct buf plain;

    text = utf8_cut(text, DESCRIPTION);
    buf_init(&plain, TEXT_BYTES);
    while (text.ptr) {
        struct str line = str_trim(str_cut(&text, '\n'));

        if (line.len == 0)
            break;
        buf_clear(&plain);
        plain_put(&plain, line, PLAIN_LINE);
        buf_putf(out, "\n%*s", DEEP, "");
        cell_put_wrapped(out, buf_str(&plain), DEEP, progress_columns(STDOUT_FILENO));
    }
    buf_done(&plain);
}

/* "name(a: string, [b: number])", which is broken between words. */
static void put_signature(struct session *session, struct buf *out,
                          const struct json *tool)
{
    struct buf plain, lines;
    size_t name;

    buf_init(&plain, TEXT_BYTES);
    buf_init(&lines, TEXT_BYTES);
    plain_put(&plain, json_text(json_find(tool, S("name"))), PLAIN_LINE);
    name = plain.len;
    put_parameters(&plain, json_find(tool, S("inputSchema")));
    cell_put_wrapped(&lines, buf_str(&plain), DEEP, progress_columns(STDOUT_FILENO));
    buf_put(out, str_of(session->ink->bold));
    buf_put(out, str_slice(buf_str(&lines), 0, name));
    buf_put(out, str_of(session->ink->off));
    buf_put(out, str_slice(buf_str(&lines), name, lines.len));
    buf_done(&lines);
    buf_done(&plain);
}

static void put_tool(struct session *session, struct buf *out, const struct json *tool)
{
    buf_put(out, S("  "));
    put_signature(session, out, tool);
    put_description(out, json_text(json_find(tool, S("description"))));
    buf_putc(out, '\n');
}

static void put_shelf(struct session *session, struct buf *out, const struct shelf *shelf,
                      const struct json *tools)
{
    plain_put(out, str_of(shelf->owner), PLAIN_LINE);
    if (*shelf->type) {
        buf_putf(out, " %s(", session->ink->dim);
        plain_put(out, str_of(shelf->type), PLAIN_LINE);
        buf_putf(out, ")%s", session->ink->off);
    }
    buf_put(out, tools->first ? S("\n") : S(": no tools\n"));
    JSON_FOREACH(tool, tools)
        put_tool(session, out, tool);
}

/* --- as JSON --- */

static void put_json(struct session *session, struct buf *out, const struct shelf *shelf,
                     struct str tools)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("participant"), str_of(shelf->owner));
    if (shelf->why) {
        json_put_str(&w, S("error"), str_of(shelf->why));
    } else {
        json_key(&w, S("tools"));
        json_raw(&w, tools);
    }
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

/* --- all of them --- */

static void complain(const struct shelf *shelf)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    plain_put(&out, str_of(shelf->owner), PLAIN_LINE);
    buf_put(&out, S(": "));
    plain_put(&out, str_of(shelf->why), PLAIN_LINE);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
}

static void print_shelf(struct session *session, const struct shelf *shelf)
{
    const struct json *tools;
    struct arena arena;
    struct buf list, out;

    arena_init(&arena, ARENA_BYTES);
    buf_init(&list, TEXT_BYTES);
    buf_init(&out, TEXT_BYTES);
    buf_putf(&list, "[" STR_FMT "]", STR_ARG(buf_str(&shelf->tools)));
    if (session->options->json)
        put_json(session, &out, shelf, buf_str(&list));
    else if (!shelf->why && json_parse(buf_str(&list), &arena, &tools, NULL) == OK)
        put_shelf(session, &out, shelf, tools);
    session_print(session, &out);
    if (shelf->why)
        complain(shelf);
    buf_done(&out);
    buf_done(&list);
    arena_done(&arena);
}

/* Who does not answer is named; it is a failure only of the one that was asked for. */
static void on_all(struct toolbox *box)
{
    struct session *session = box->session;
    const struct asking *asking = session->user;
    bool has_failed = false;

    for (size_t i = 0; i < box->count; i++) {
        print_shelf(session, &box->shelves[i]);
        has_failed |= asking->participant && box->shelves[i].why;
    }
    if (box->count == 0)
        session_tell(session, "nobody here may offer tools");
    session_end(session, has_failed ? CLI_FAILED : CLI_OK);
}

static void on_begin(struct session *session)
{
    struct asking *asking = session->user;
    int code;

    asking->box.session = session;
    asking->box.on_done = on_all;
    code = toolbox_ask(&asking->box, asking->participant);
    if (code)
        session_end(session, code);
}

/* --- of an MCP server --- */

/* --server names a gateway by its URL, or one of the MCP servers of a gateway. */
static bool names_server(const char *server)
{
    return server && !strstr(server, "://") && strncmp(server, "unix:", 5) != 0;
}

static int show_server(const struct tools_options *o)
{
    const char *url = getenv("MOOT_SERVER");
    struct servers_options where = { .data = o->session.data,
                                     .server =
                                         url && *url && !o->session.data ? url : NULL,
                                     .token_file = o->session.token_file,
                                     .ca = o->session.ca };
    CLEANUP(buf_done) struct buf data;
    struct cli_server server;

    buf_init(&data, PATH_BYTES);
    server = servers_place(&where, &data);
    return servers_show_tools(
        &server, &(struct servers_tools_options){ .name = o->session.server,
                                                  .approve = o->all ? "" : o->approve,
                                                  .is_sure = o->yes,
                                                  .json = o->session.json });
}

static int tools(void *fields, char **arguments, size_t count)
{
    const struct tools_options *o = fields;
    struct asking asking = { .participant = count ? arguments[0] : NULL };
    struct session_plan plan = { .on_begin = on_begin, .user = &asking };
    uint64_t ms = ASK_MS;
    int code = cli_read_timeout(o->timeout, MAX_MS, &ms);

    if (code)
        return code;
    if (names_server(o->session.server))
        return show_server(o);
    if (!o->session.topic || o->approve || o->all) {
        (void)cli_fail(
            "something is missing: a topic, or --server with the name of an MCP "
            "server");
        return CLI_USAGE;
    }
    asking.box.timeout_ms = (uint32_t)ms;
    code = session_run(&o->session, &plan);
    toolbox_done(&asking.box);
    return code;
}

const struct cli_command cli_tools = {
    .name = "tools",
    .usage = "TOPIC [PARTICIPANT] | --server NAME",
    .summary = "list what can be called, by participant",
    .more = "--server NAME, which is no URL, shows what an MCP server of the gateway\n"
            "offers, what of it is held because it is new or has changed, and how.\n"
            "What is approved is what is shown: in a terminal it is shown and asked\n"
            "for first, and refused where the server has changed it meanwhile.\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = 1,
    .run = tools,
    .options_size = sizeof(struct tools_options),
    .takes_topic = true,
    .is_topic_optional = true,
};
