/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a gateway keeps its things, for commands that look at them without it: what its
 * settings say, or else the data directory, whose store is SQLite.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "store/store.h"

struct config;

struct cli_place {
    struct config *config; /* NULL: no settings were named */
    struct buf data;
    struct store_setup setup; /* made of these */
};

/* `config` (may be NULL) names the settings of the gateway, `data` goes before what they
 * say. CLI_FAILED: the reason has been printed, and there is nothing to be done(). */
int cli_place_init(struct cli_place *place, const char *config, const char *data);
void cli_place_done(struct cli_place *place);

/* Has a store been begun there? Of a database only opening it tells: true. */
bool cli_place_has_store(const struct cli_place *place);

/* The keys of a store are there, but not the store: it is a database that only the
 * gateway's settings name. */
bool cli_place_is_elsewhere(const struct cli_place *place);

/* Reads settings; NULL gives the default. CLI_FAILED: the reason has been printed. */
int cli_load_config(const char *path, struct config **ret);
