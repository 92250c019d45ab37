/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages that a command would fetch each time (npx, uvx) are installed beforehand:
 * once, confined, from the registry alone and without any of the server's secrets. What
 * was installed is pinned, by version and digest; from then on nothing else is run.
 *
 *     needed ─► running ─► done
 *        └──────────┴────► failed ─► needed, at the next try
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "bridge/supervisor.h"
#include "sandbox/sandbox.h"

struct prepare;

enum prepare_state { PREPARE_NEEDED, PREPARE_RUNNING, PREPARE_DONE, PREPARE_FAILED };

struct prepare_ops {
    void (*on_log)(void *user, struct str line);    /* what npm, uv or pip say */
    void (*on_event)(void *user, const char *line); /* what happens, for people */
    void (*on_done)(void *user);                    /* or failed */
};

/* NULL: its command runs what is there. */
struct prepare *prepare_new(const struct server_spec *spec,
                            const struct supervisor_means *means,
                            const struct prepare_ops *ops, void *user);
void prepare_free(struct prepare *prepare); /* kills what runs */

/* Begins where it is needed, and says how far it is. PREPARE_FAILED is said once. */
enum prepare_state prepare_go(struct prepare *prepare);
void prepare_stop(struct prepare *prepare); /* it will have failed */
bool prepare_is_running(const struct prepare *prepare);
const char *prepare_why(const struct prepare *prepare); /* it failed */

/* When it is done: what runs it, from which folder, and its pin. */
const struct sandbox_command *prepare_command(const struct prepare *prepare);
struct str prepare_folder(const struct prepare *prepare);
struct str prepare_pin(const struct prepare *prepare);
void prepare_restore(struct prepare *prepare, struct str pin);
