/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `moot bridge` keeps from one run to the next, in DATA/bridges/NAME.json: which era
 * the server is of, what it offers and which of it was approved.
 */
#pragma once

#include "base/str.h"
#include "bridge/bridge.h"

struct bridge_file {
    char *path;
    char *what; /* digest of the command or URL: another one is another server */
    char *texts[BRIDGE_KEPT]; /* JSON, or NULL */
};

void bridge_file_init(struct bridge_file *file, const char *data,
                      const struct server_spec *spec);
void bridge_file_done(struct bridge_file *file);

/* Borrowed until the next bridge_file_keep(). */
void bridge_file_read(struct bridge_file *file, struct str ret[static BRIDGE_KEPT]);

/* Replaces the file. That it cannot is told on stderr. */
void bridge_file_keep(struct bridge_file *file, enum bridge_kept what, struct str json);
