/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/place.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "config/config.h"

int cli_load_config(const char *path, struct config **ret)
{
    struct config_problem problem = {};
    struct buf out;

    if (!path) {
        *ret = config_default();
        return CLI_OK;
    }
    if (config_load(path, ret, &problem) == OK)
        return CLI_OK;
    buf_init(&out, 4096);
    config_problem_put(&problem, &out);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
    return CLI_FAILED;
}

int cli_place_init(struct cli_place *place, const char *config, const char *data)
{
    *place = (struct cli_place){};
    if (config && cli_load_config(config, &place->config))
        return CLI_FAILED;
    buf_init(&place->data, 4096);
    cli_data_directory(data, config ? place->config->data : S(""), &place->data);
    place->setup.data = buf_cstr(&place->data);
    if (config)
        place->setup.url = place->config->store;
    return CLI_OK;
}

void cli_place_done(struct cli_place *place)
{
    buf_done(&place->data);
    if (place->config)
        config_free(place->config);
}

static bool has_file(const struct cli_place *place, const char *name)
{
    char path[4096 + 16];

    (void)snprintf(path, sizeof(path), "%s/%s", place->setup.data, name);
    return access(path, F_OK) == 0;
}

bool cli_place_has_store(const struct cli_place *place)
{
    return place->setup.url.len || has_file(place, "moot.db");
}

bool cli_place_is_elsewhere(const struct cli_place *place)
{
    return !cli_place_has_store(place) && has_file(place, "audit.key");
}
