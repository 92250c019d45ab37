/* SPDX-License-Identifier: Apache-2.0 */
/* moot link: one more link that signs in to the console. */
#include <stdio.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/servers.h"
#include "json/json.h"

enum { TREE_BYTES = 64 << 10, PATH_BYTES = 4096 };

static const struct cli_option options[] = { CLI_WHERE(struct servers_options) };

/* Behind --server it is that address: the gateway knows where it listens, and not by
 * which way browsers come. */
static int print_link(const struct servers_options *o, struct str body)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;
    struct str ticket, link;

    arena_init(&arena, TREE_BYTES);
    if (json_parse(body, &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    ticket = json_text(json_find(root, S("ticket")));
    link = json_text(json_find(root, S("link")));
    if (!ticket.len || !link.len)
        return cli_fail("the server's answer cannot be read");
    if (o->server) {
        struct str server = str_of(o->server);

        while (server.len && server.ptr[server.len - 1] == '/')
            server.len--;
        printf(STR_FMT "/#ticket=" STR_FMT "\n", STR_ARG(server), STR_ARG(ticket));
    } else {
        printf(STR_FMT "\n", STR_ARG(link));
    }
    return CLI_OK;
}

static int run(void *fields, char **arguments [[maybe_unused]],
               size_t count [[maybe_unused]])
{
    const struct servers_options *o = fields;
    CLEANUP(buf_done) struct buf data;
    struct cli_answer answer = {};
    struct cli_server server;
    int code;

    buf_init(&data, PATH_BYTES);
    server = servers_place(o, &data);
    code = servers_ask(&server, NULL, "POST", S("/admin/link"), S(""), &answer);
    if (code == CLI_OK)
        code = print_link(o, buf_str(&answer.body));
    buf_done(&answer.body);
    return code;
}

const struct cli_command cli_link = {
    .name = "link",
    .usage = "",
    .summary = "print a link that signs in to the console",
    .more = "It works once, within ten minutes. On this machine it signs in as the\n"
            "administrator of admin.token, with --server as the token that is given.\n",
    .options = options,
    .option_count = COUNT(options),
    .run = run,
    .options_size = sizeof(struct servers_options),
};
