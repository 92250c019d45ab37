/* SPDX-License-Identifier: Apache-2.0 */
/* moot config check | print | options */
#include "config/config.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "gateway/settings.h"

static int print_problem(const struct config_problem *problem)
{
    struct buf out;

    buf_init(&out, 4096);
    config_problem_put(problem, &out);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
    return CLI_FAILED;
}

/* Reads and checks it as `moot serve` would. */
static int load(const char *path, struct settings **ret)
{
    struct config_problem problem = {};
    struct config *config = path ? NULL : config_default();

    if (path && config_load(path, &config, &problem))
        return print_problem(&problem);
    if (settings_new(config, ret, &problem)) {
        config_free(config);
        return print_problem(&problem);
    }
    return CLI_OK;
}

static int check(void *fields [[maybe_unused]], char **arguments,
                 size_t count [[maybe_unused]])
{
    struct settings *settings;
    int code = load(arguments[0], &settings);

    if (code)
        return code;
    for (size_t i = 0; i < settings->config->warnings.count; i++)
        fprintf(stderr, "moot: %s:%u: warning: " STR_FMT "\n", arguments[0],
                settings->config->warnings.marks[i].line,
                STR_ARG(settings->config->warnings.items[i]));
    printf("%s is fine: %zu tokens, %zu profiles, %zu named topics.\n", arguments[0],
           settings->config->tokens.count, settings->config->profiles.count,
           settings->config->topics.named.count);
    settings_unref(settings);
    return CLI_OK;
}

static int print(void *fields [[maybe_unused]], char **arguments, size_t count)
{
    struct settings *settings;
    struct buf out;
    int code = load(count ? arguments[0] : NULL, &settings);

    if (code)
        return code;
    buf_init(&out, 16 << 20);
    config_print(settings->config, &out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    settings_unref(settings);
    return CLI_OK;
}

static int list_options(void *fields [[maybe_unused]], char **arguments [[maybe_unused]],
                        size_t count [[maybe_unused]])
{
    struct buf out;

    buf_init(&out, 1 << 20);
    config_help(&out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    return CLI_OK;
}

const struct cli_command cli_config_check = {
    .name = "config check",
    .usage = "FILE",
    .summary = "say whether a settings file is right, and if not, where",
    .min_arguments = 1,
    .max_arguments = 1,
    .run = check,
};

const struct cli_command cli_config_print = {
    .name = "config print",
    .usage = "[FILE]",
    .summary = "print the settings in force, with defaults; tokens appear as ***",
    .max_arguments = 1,
    .run = print,
};

const struct cli_command cli_config_options = {
    .name = "config options",
    .usage = "",
    .summary = "list every setting with its default and bounds",
    .run = list_options,
};
