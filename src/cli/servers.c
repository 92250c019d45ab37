/* SPDX-License-Identifier: Apache-2.0 */
/* moot ps, logs, stop, restart, sign-in: the MCP servers of a gateway. */
#include "cli/servers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/result.h"
#include "json/json.h"

enum {
    TEXT_BYTES = 64 << 20,
    TREE_BYTES = 256 << 20,
    PATH_BYTES = 4096,
    LINE_BYTES = 1 << 20,
    PLAIN_BYTES = LINE_BYTES * 6,
    FOLLOW_MS = 24 * 3600 * 1000,
    WIDEST = 40,
};

#define OPT(member) CLI_AT(struct servers_options, member)
static const struct cli_option options[] = {
    { "--json", NULL, "answer as JSON", OPT(json) },
    CLI_WHERE(struct servers_options),
};

static const struct cli_option log_options[] = {
    { "-f", NULL, "go on with what comes", OPT(follow) },
    { "--lines", "N", "the last ones only", OPT(lines) },
    { "--json", NULL, "one JSON object a line", OPT(json) },
    CLI_WHERE(struct servers_options),
};

struct cli_server servers_place(const struct servers_options *o, struct buf *data)
{
    cli_data_directory(o->data, S(""), data);
    return (struct cli_server){
        .url = o->server, .token_file = o->token_file, .ca = o->ca, .data = buf_cstr(data)
    };
}

void servers_path(struct buf *out, const char *name, const char *what)
{
    buf_put(out, S("/admin/servers/"));
    cli_put_segment(out, str_of(name));
    buf_put(out, str_of(what));
}

static int no_gateway(const struct cli_server *server)
{
    return cli_fail(
        "no gateway runs on %s; `moot serve` starts one, --data names another",
        server->data);
}

/* Of what was asked about one server by name. */
static int report(const struct cli_answer *answer, const char *name)
{
    if (answer->status == 404)
        return cli_fail("there is no server \"%s\"; `moot ps` lists them, `moot run "
                        "TOPIC --as NAME -- COMMAND` adds one",
                        name);
    return cli_report(answer);
}

int servers_ask(const struct cli_server *server, const char *name, const char *method,
                struct str path, struct str body, struct cli_answer *answer)
{
    enum err err = cli_call(server, method, path, body, answer);

    if (err == ERR_NOT_FOUND)
        return no_gateway(server);
    if (err)
        return CLI_FAILED;
    if (answer->status < 400)
        return CLI_OK;
    return name ? report(answer, name) : cli_report(answer);
}

/* The caller frees answer->body in any case. */
static int tell_server(const struct cli_server *server, const char *name,
                       const char *what, struct str body, struct cli_answer *answer)
{
    CLEANUP(buf_done) struct buf path;

    buf_init(&path, PATH_BYTES);
    servers_path(&path, name, what);
    return servers_ask(server, name, *what ? "POST" : "DELETE", buf_str(&path), body,
                       answer);
}

int servers_act(const struct cli_server *server, const char *name, const char *what)
{
    struct cli_answer answer = {};
    int code = tell_server(server, name, what, S(""), &answer);

    buf_done(&answer.body);
    return code;
}

/* --- ps --- */

/* clang-format off */
static const struct column {
    struct str title, member;
} columns[] = {
    { S("NAME"),     S("name") },
    { S("TOPIC"),    S("topic") },
    { S("STATE"),    S("state") },
    { S("ERA"),      S("era") },
    { S("TOOLS"),    S("tools") },
    { S("HELD"),     S("held") },
    { S("CALLS"),    S("calls") },
    { S("ERRORS"),   S("errors") },
    { S("RESTARTS"), S("restarts") },
};
/* clang-format on */

static void end_line(struct buf *out)
{
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    buf_putc(out, '\n');
}

static struct str cell_of(const struct json *server, size_t column)
{
    const struct json *value = json_find(server, columns[column].member);
    bool is_shown = value && value->text.len > 0 &&
                    (value->type == JSON_STRING || value->type == JSON_NUMBER);

    return is_shown ? value->text : S("-");
}

static size_t width_of(const struct json *list, size_t column)
{
    size_t width = columns[column].title.len;
    CLEANUP(buf_done) struct buf cell;

    buf_init(&cell, TEXT_BYTES);
    JSON_FOREACH(server, list) {
        size_t count = cell_put_cut(&cell, cell_of(server, column), WIDEST);

        width = count > width ? count : width;
        buf_clear(&cell);
    }
    return width;
}

static void put_cell(struct buf *out, struct str text, size_t width)
{
    size_t count = cell_put_cut(out, text, width);

    (void)cell_put(out, S(""), width + 2 - count);
}

/* A line of figures and, where there is something to say, a sentence below it. */
static void put_server(struct buf *out, const struct json *server, const size_t *widths)
{
    struct str why = json_text(json_find(server, S("why")));

    for (size_t i = 0; i < COUNT(columns); i++)
        put_cell(out, cell_of(server, i), widths[i]);
    end_line(out);
    if (!why.len)
        return;
    buf_put(out, S("  "));
    plain_put(out, why, PLAIN_LINE);
    buf_putc(out, '\n');
}

static int put_list(struct buf *out, struct str body)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *list;
    size_t widths[COUNT(columns)];

    arena_init(&arena, TREE_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    list = json_find(root, S("servers"));
    if (!list || list->type != JSON_ARRAY)
        return cli_fail("the server's answer cannot be read");
    for (size_t i = 0; i < COUNT(columns); i++) {
        widths[i] = width_of(list, i);
        put_cell(out, columns[i].title, widths[i]);
    }
    end_line(out);
    JSON_FOREACH(server, list)
        put_server(out, server, widths);
    return CLI_OK;
}

static int print_body(const struct servers_options *o, struct str body,
                      int (*put)(struct buf *out, struct str body))
{
    CLEANUP(buf_done) struct buf out;
    int code = CLI_OK;

    buf_init(&out, TEXT_BYTES);
    if (o->json)
        result_put_json(&out, body, isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else
        code = put(&out, body);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    return code;
}

static int ps(void *fields, char **arguments [[maybe_unused]],
              size_t count [[maybe_unused]])
{
    const struct servers_options *o = fields;
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf data;
    struct cli_server server;
    int code;

    buf_init(&data, PATH_BYTES);
    server = servers_place(o, &data);
    code = servers_ask(&server, NULL, "GET", S("/admin/servers"), S(""), &answer);
    if (code == CLI_OK)
        code = print_body(o, buf_str(&answer.body), put_list);
    (void)fflush(stdout);
    if (code == CLI_OK && !o->json &&
        str_eq(buf_str(&answer.body), S("{\"servers\":[]}")))
        fputs("There is none; `moot run` adds one.\n", stderr);
    buf_done(&answer.body);
    return code;
}

/* --- logs --- */

struct reading {
    const struct servers_options *options;
    struct buf rest; /* of a line that is not whole */
};

static void print_line(const struct servers_options *o, struct str json)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, PLAIN_BYTES);
    if (o->json) {
        buf_put(&out, json);
    } else if (json_parse(json, &arena, &root, NULL) == OK) {
        plain_put(&out, json_text(json_find(root, S("ts"))), PLAIN_LINE);
        buf_putf(&out, " %-6.*s ", STR_ARG(json_text(json_find(root, S("by")))));
        plain_put(&out, json_text(json_find(root, S("line"))), PLAIN_LINE);
    }
    printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

static bool on_bytes(void *user, struct str piece)
{
    struct reading *r = user;
    size_t at;

    if (buf_append(&r->rest, piece))
        return false;
    while ((at = str_find(buf_str(&r->rest), '\n', 0)) < r->rest.len) {
        print_line(r->options, str_slice(buf_str(&r->rest), 0, at));
        buf_drop(&r->rest, at + 1);
    }
    return fflush(stdout) == 0;
}

static int read_logs(const struct cli_server *server, const struct servers_options *o,
                     const char *name, struct str path)
{
    struct reading reading = { .options = o };
    struct cli_answer answer = {};
    enum err err;
    int code = CLI_OK;

    buf_init(&reading.rest, LINE_BYTES);
    err = cli_stream(server,
                     &(struct cli_request){ .method = "GET",
                                            .path = path,
                                            .patience_ms = o->follow ? FOLLOW_MS : 0,
                                            .on_bytes = on_bytes,
                                            .user = &reading },
                     &answer);
    if (err == ERR_NOT_FOUND)
        code = no_gateway(server);
    else if (err)
        code = CLI_FAILED;
    else if (answer.status >= 400)
        code = report(&answer, name);
    buf_done(&answer.body);
    buf_done(&reading.rest);
    return code;
}

static int logs(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct servers_options *o = fields;
    CLEANUP(buf_done) struct buf data;
    CLEANUP(buf_done) struct buf path;
    struct cli_server server;
    uint64_t lines = 0;

    buf_init(&data, PATH_BYTES);
    buf_init(&path, PATH_BYTES);
    server = servers_place(o, &data);
    if (o->lines && str_to_u64(str_of(o->lines), 1'000'000, &lines)) {
        (void)cli_fail("--lines is a number");
        return CLI_USAGE;
    }
    servers_path(&path, arguments[0], "/logs");
    buf_putf(&path, "?lines=%llu&follow=%d", (unsigned long long)lines, o->follow);
    return read_logs(&server, o, arguments[0], buf_str(&path));
}

/* --- stop, restart --- */

static int act(const struct servers_options *o, const char *name, const char *what)
{
    CLEANUP(buf_done) struct buf data;
    struct cli_server server;

    buf_init(&data, PATH_BYTES);
    server = servers_place(o, &data);
    return servers_act(&server, name, what);
}

struct stop_options {
    struct servers_options where;
    bool remove;
};

static const struct cli_option stop_options[] = {
    { "--remove", NULL, "and forget it, where `moot run` added it",
      CLI_AT(struct stop_options, remove) },
    { "--data", "DIR", "data directory of the server",
      CLI_AT(struct stop_options, where.data) },
    { "--server", "URL", "another server, https://HOST:PORT, with its own token",
      CLI_AT(struct stop_options, where.server) },
    { "--token-file", "FILE", "the token for --server; else $MOOT_TOKEN",
      CLI_AT(struct stop_options, where.token_file) },
    { "--ca", "FILE", "https: trust these certificates, not the system's",
      CLI_AT(struct stop_options, where.ca) },
};

static int stop(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct stop_options *o = fields;

    return act(&o->where, arguments[0], o->remove ? "" : "/stop");
}

static int restart(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    return act(fields, arguments[0], "/restart");
}

/* --- sign-in --- */

struct sign_in_options {
    struct servers_options where;
    const char *origin;
};

static const struct cli_option sign_in_options[] = {
    { "--origin", "URL",
      "where the browser reaches the gateway; else as this command does",
      CLI_AT(struct sign_in_options, origin) },
    { "--data", "DIR", "data directory of the server",
      CLI_AT(struct sign_in_options, where.data) },
    { "--server", "URL", "another server, https://HOST:PORT, with a token of its own",
      CLI_AT(struct sign_in_options, where.server) },
    { "--token-file", "FILE", "the token for --server; else $MOOT_TOKEN",
      CLI_AT(struct sign_in_options, where.token_file) },
    { "--ca", "FILE", "https: trust these certificates, not the system's",
      CLI_AT(struct sign_in_options, where.ca) },
};

static int print_url(struct str body)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf out;
    const struct json *root;

    arena_init(&arena, TREE_BYTES);
    buf_init(&out, LINE_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    plain_put(&out, json_text(json_find(root, S("url"))), PLAIN_LINE);
    (void)fprintf(stderr, "Open this address in a browser within ten minutes:\n");
    printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    return CLI_OK;
}

static void put_origin(struct buf *out, const char *origin)
{
    struct json_writer w;

    if (!origin)
        return;
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("origin"), str_of(origin));
    json_object_close(&w);
}

static int sign_in(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct sign_in_options *o = fields;
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf data, body;
    struct cli_server server;
    int code;

    buf_init(&data, PATH_BYTES);
    buf_init(&body, PATH_BYTES);
    server = servers_place(&o->where, &data);
    put_origin(&body, o->origin ? o->origin : o->where.server);
    code = tell_server(&server, arguments[0], "/sign-in", buf_str(&body), &answer);
    if (code == CLI_OK)
        code = print_url(buf_str(&answer.body));
    buf_done(&answer.body);
    return code;
}

/* --- the commands --- */

const struct cli_command cli_ps = {
    .name = "ps",
    .usage = "[OPTIONS]",
    .summary = "list the MCP servers of a gateway, and how they are",
    .options = options,
    .option_count = COUNT(options),
    .run = ps,
    .options_size = sizeof(struct servers_options),
};

const struct cli_command cli_logs = {
    .name = "logs",
    .usage = "NAME [-f]",
    .summary = "what an MCP server wrote to its standard error",
    .more = "Lines of \"moot\" tell what happened to it. Secrets of its environment do\n"
            "not appear.\n",
    .options = log_options,
    .option_count = COUNT(log_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = logs,
    .options_size = sizeof(struct servers_options),
};

const struct cli_command cli_stop = {
    .name = "stop",
    .usage = "NAME [--remove]",
    .summary = "stop an MCP server until `moot run NAME`, or the gateway starts anew",
    .options = stop_options,
    .option_count = COUNT(stop_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = stop,
    .options_size = sizeof(struct stop_options),
};

const struct cli_command cli_restart = {
    .name = "restart",
    .usage = "NAME",
    .summary = "start an MCP server anew",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = restart,
    .options_size = sizeof(struct servers_options),
};

const struct cli_command cli_sign_in = {
    .name = "sign-in",
    .usage = "NAME [--origin URL]",
    .summary = "where to sign in at an MCP server that wants it",
    .more =
        "Prints an address for a browser, which comes back to the gateway. The gateway\n"
        "keeps what it is given, sealed, and renews it. `moot ps` shows the servers that\n"
        "wait for it: sign_in_needed.\n",
    .options = sign_in_options,
    .option_count = COUNT(sign_in_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = sign_in,
    .options_size = sizeof(struct sign_in_options),
};
