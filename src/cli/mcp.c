/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot mcp: a topic as an MCP server on standard input and output, for one client that
 * starts it; and what such a client's settings have to say for that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "cli/guest_token.h"
#include "cli/mcp_clients.h"
#include "cli/mcp_install.h"
#include "cli/mcp_stdio.h"
#include "cli/session.h"
#include "oauth/uri.h"

enum { TEXT_BYTES = 1 << 20, PATH_BYTES = 4096, MAX_WORDS = 24 };

struct mcp_options {
    struct session_options session;
    const char *as, *profile;
    bool no_room_tools;
    const char *print_config, *install;
    bool yes;
    const char *name, *url;
};

/* clang-format off */
static const struct cli_option options[] = {
    { "--print-config",  "CLIENT", "what the settings of this client have to say",    CLI_AT(struct mcp_options, print_config) },
    { "--install",       "CLIENT", "write that into its settings, after you have seen it", CLI_AT(struct mcp_options, install) },
    { "--yes",           NULL,     "… without being asked",                           CLI_AT(struct mcp_options, yes) },
    { "--name",          "NAME",   "of the room in these settings; else moot-TOPIC",  CLI_AT(struct mcp_options, name) },
    { "--url",           "URL",    "print-config: the client goes to this gateway over HTTP, without moot mcp", CLI_AT(struct mcp_options, url) },
    { "--as",            "NAME",   "without a token: whom the local server takes it for; else mcp-client", CLI_AT(struct mcp_options, as) },
    { "--profile",       "NAME",   "without a token: what it may do; else look and propose", CLI_AT(struct mcp_options, profile) },
    { "--no-room-tools", NULL,     "the tools of participants alone, no room_chat …", CLI_AT(struct mcp_options, no_room_tools) },
    CLI_PLACE(struct mcp_options),
};
/* clang-format on */

static bool is_given(const char *text)
{
    return text && *text;
}

/* --- what a client starts --- */

/* Words of the command; those that were made are owned. */
struct words {
    struct str items[MAX_WORDS];
    char *made[MAX_WORDS];
    size_t count, made_count;
};

static void words_done(struct words *words)
{
    for (size_t i = 0; i < words->made_count; i++)
        free(words->made[i]);
}

static void add(struct words *words, const char *option, const char *value)
{
    if (!value)
        return;
    words->items[words->count++] = str_of(option);
    words->items[words->count++] = str_of(value);
}

/* A client starts us in a folder of its own. */
static int add_path(struct words *words, const char *option, const char *path)
{
    char *real = path ? realpath(path, NULL) : NULL;

    if (path && !real)
        return cli_fail("%s %s: there is no such file", option, path);
    if (real)
        words->made[words->made_count++] = real;
    add(words, option, real);
    return CLI_OK;
}

static const char *or_variable(const char *given, const char *variable)
{
    const char *value = getenv(variable);

    return given || !is_given(value) ? given : value;
}

/* What the environment says here it does not say there. */
static int collect(struct words *words, const struct mcp_options *o)
{
    const struct session_options *s = &o->session;
    const char *server = or_variable(s->server, s->data ? "" : "MOOT_SERVER");
    int code;

    if (!s->token_file && (server || is_given(getenv("MOOT_TOKEN"))))
        return cli_fail("put the token into a file and name it with --token-file: tokens "
                        "do not stand in the settings of clients");
    words->items[words->count++] = S("mcp");
    add(words, "--topic", s->topic);
    add(words, "--server", server);
    code = add_path(words, "--token-file", s->token_file);
    if (!code)
        code = add_path(words, "--ca", s->ca);
    if (!code && !server)
        code = add_path(words, "--data", or_variable(s->data, "MOOT_DATA"));
    add(words, "--as", o->as);
    add(words, "--profile", o->profile);
    if (o->no_room_tools)
        words->items[words->count++] = S("--no-room-tools");
    return code;
}

/* --- what its settings say --- */

static void put_name(struct buf *out, const struct mcp_options *o)
{
    struct str topic = str_of(o->session.topic);

    if (is_given(o->name)) {
        buf_put(out, str_of(o->name));
        return;
    }
    buf_put(out, S("moot-"));
    for (size_t i = 0; i < topic.len; i++) {
        char c = topic.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';

        if (!is_plain)
            c = '-';
        buf_putc(out, c);
    }
}

/* A gateway without a path has the topic at /mcp/TOPIC. */
static int put_url(struct buf *out, const struct mcp_options *o)
{
    struct str url = str_of(o->url);
    const char *host = o->url ? strstr(o->url, "://") : NULL;
    const char *path = host ? strchr(host + 3, '/') : NULL;

    if (!url.len)
        return CLI_OK;
    if (!str_starts(url, S("http://")) && !str_starts(url, S("https://"))) {
        (void)cli_fail("--url %s: http:// or https:// is wanted", o->url);
        return CLI_USAGE;
    }
    buf_put(out, url);
    if (path && path[1])
        return CLI_OK;
    buf_put(out, path ? S("mcp/") : S("/mcp/"));
    uri_put_escaped(out, str_of(o->session.topic));
    return CLI_OK;
}

static int find_client(const char *name, const struct mcp_client **ret)
{
    CLEANUP(buf_done) struct buf names = {};

    *ret = mcp_client_find(str_of(name));
    if (*ret)
        return CLI_OK;
    buf_init(&names, 1024);
    mcp_client_put_names(&names);
    (void)cli_fail("the settings of \"%s\" are not known; there are %s", name,
                   buf_cstr(&names));
    return CLI_USAGE;
}

static int print_entry(const struct mcp_client *client, const struct mcp_entry *entry)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, TEXT_BYTES);
    mcp_client_put_file(&text, client, entry);
    fprintf(stderr, "moot: for " STR_FMT " of " STR_FMT ":\n", STR_ARG(client->path),
            STR_ARG(client->title));
    fputs(buf_cstr(&text), stdout);
    return CLI_OK;
}

static int give_entry(const struct mcp_options *o, const struct mcp_entry *entry)
{
    const struct mcp_client *client;
    int code = find_client(o->install ? o->install : o->print_config, &client);
    const char *fault = code ? NULL : mcp_client_fault(client, entry);

    if (code)
        return code;
    if (fault) {
        (void)cli_fail(STR_FMT " %s", STR_ARG(client->title), fault);
        return CLI_USAGE;
    }
    return o->install ? mcp_install(client, entry, o->yes) : print_entry(client, entry);
}

static int configure(const struct mcp_options *o)
{
    CLEANUP(xfreep) char *program = realpath("/proc/self/exe", NULL);
    CLEANUP(words_done) struct words words = {};
    CLEANUP(buf_done) struct buf name;
    CLEANUP(buf_done) struct buf url;
    struct mcp_entry entry = { .command = str_of(program ? program : "moot") };
    int code;

    buf_init(&name, PATH_BYTES);
    buf_init(&url, PATH_BYTES);
    if (o->install && (o->print_config || o->url)) {
        (void)cli_fail("--install goes neither with --print-config nor with --url");
        return CLI_USAGE;
    }
    put_name(&name, o);
    code = o->url ? put_url(&url, o) : collect(&words, o);
    if (code)
        return code;
    entry.name = buf_str(&name);
    entry.arguments = (struct str_list){ words.items, words.count };
    entry.url = buf_str(&url);
    entry.has_token = o->session.token_file || is_given(getenv("MOOT_TOKEN"));
    return give_entry(o, &entry);
}

/* --- serving --- */

/* Who starts a client need not trust it: it looks and proposes, and people decide. */
static int serve(const struct mcp_options *o)
{
    static const struct str modest[] = { S("mcp/request:initialize"),
                                         S("mcp/request:*/list"), S("mcp/proposal:*"),
                                         S("mcp/response:*"), S("chat") };
    struct guest_order order = {
        .id = is_given(o->as) ? str_of(o->as) : S("mcp-client"),
        .profile = is_given(o->profile) ? str_of(o->profile) : S(""),
        .capabilities = { modest, COUNT(modest) },
    };
    struct session_target target;
    struct guest_token token;
    int code = guest_token_find(&o->session, &order, &target, &token);

    if (!code)
        code =
            mcp_stdio_run(&(struct mcp_stdio){ &o->session, &target, !o->no_room_tools });
    guest_token_done(&token, &target);
    return code;
}

static int run_mcp(void *fields, char **words, size_t count)
{
    const struct mcp_options *o = fields;

    (void)words;
    (void)count;
    return o->print_config || o->install ? configure(o) : serve(o);
}

const struct cli_command cli_mcp = {
    .name = "mcp",
    .usage = "TOPIC [OPTIONS]",
    .summary = "be an MCP server for a client that starts this: all that a topic offers",
    .more =
        "An MCP client (Claude, Cursor, VS Code …) starts this and talks to it on\n"
        "standard input and output. It sees the tools, resources and prompts of all\n"
        "participants that it may use; what it may only propose waits until somebody\n"
        "decides. Without --token-file and --server a token is made at the local\n"
        "server, with which it may look and propose, and revoked at the end.\n\n"
        "  moot mcp lobby --install cursor\n"
        "  moot mcp lobby --token-file ~/agent.token --print-config claude-desktop\n"
        "  moot mcp lobby --print-config vscode --url https://moot.example.org\n\n"
        "Clients: claude-desktop, claude-code, cursor, vscode, windsurf, zed, gemini,\n"
        "codex (printed alone).\n",
    .options = options,
    .option_count = COUNT(options),
    .run = run_mcp,
    .options_size = sizeof(struct mcp_options),
    .takes_topic = true,
    .makes_token = true,
};
