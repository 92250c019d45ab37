/* SPDX-License-Identifier: Apache-2.0 */
/* moot serve: the gateway. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/place.h"
#include "config/config.h"
#include "gateway/gateway.h"

struct serve_options {
    const char *config;
    const char *listen;
    const char *data;
    const char *workers;
    bool no_link;
};

static const struct cli_option options[] = {
    { "--config", "FILE", "settings; without it an embedded default",
      CLI_AT(struct serve_options, config) },
    { "--listen", "ADDRESS", "listen here instead of what the settings say",
      CLI_AT(struct serve_options, listen) },
    { "--data", "DIR", "data directory instead of what the settings say",
      CLI_AT(struct serve_options, data) },
    { "--workers", "N", "threads instead of one per core",
      CLI_AT(struct serve_options, workers) },
    { "--no-link", NULL, "print no sign-in link", CLI_AT(struct serve_options, no_link) },
};

/* What the command line says goes before what the file says, at every reload again. */
struct adjustment {
    struct str listen;
    struct config_mark mark;
    size_t workers;
    bool has_workers;
};

static void adjust(struct config *config, void *user)
{
    const struct adjustment *adjustment = user;

    if (adjustment->listen.len)
        config->listen =
            (struct config_strs){ &adjustment->listen, 1, &adjustment->mark };
    if (adjustment->has_workers)
        config->workers = adjustment->workers;
}

static int serve(void *fields, char **arguments [[maybe_unused]],
                 size_t count [[maybe_unused]])
{
    const struct serve_options *o = fields;
    struct adjustment adjustment = { .listen = str_of(o->listen) };
    struct config *config;
    struct buf data;
    uint64_t workers = 0;
    int code;

    if (o->workers && str_to_u64(str_of(o->workers), 64, &workers))
        return cli_fail("--workers is a number from 0 (one per core) to 64");
    adjustment.has_workers = o->workers != NULL;
    adjustment.workers = (size_t)workers;
    code = cli_load_config(o->config, &config);
    if (code)
        return code;
    adjust(config, &adjustment);
    buf_init(&data, 4096);
    cli_data_directory(o->data, config->data, &data);
    code = gateway_run(&(struct gateway_options){ .config = config,
                                                  .config_path = o->config,
                                                  .data = buf_cstr(&data),
                                                  .adjust = adjust,
                                                  .user = &adjustment,
                                                  .shows_link = !o->no_link });
    buf_done(&data);
    return code;
}

const struct cli_command cli_serve = {
    .name = "serve",
    .usage = "[OPTIONS]",
    .summary = "run the gateway",
    .more =
        "Without --config it listens on 127.0.0.1:8420, keeps its data in\n"
        "$MOOT_DATA, $XDG_STATE_HOME/moot or ~/.local/state/moot, and makes\n"
        "admin.token and human.token there on first start. Every start prints a link\n"
        "that signs a browser in as admin, once; use --no-link where standard output\n"
        "is kept in a log.\n\n"
        "SIGHUP reads the settings again, all or nothing. SIGTERM and SIGINT close\n"
        "every connection with 1001 and stop. `moot config options` lists all settings.\n",
    .options = options,
    .option_count = COUNT(options),
    .run = serve,
    .options_size = sizeof(struct serve_options),
};
