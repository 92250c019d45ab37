/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MCP servers of the configuration, and those that `moot run` added: each is a bridge
 * on a seat, on the worker of its topic. The first worker starts the spawner when there
 * is something to start, before workers apply the settings that need it.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "gateway/exchange.h"
#include "gateway/metrics.h"
#include "gateway/settings.h"
#include "gateway/worker.h"

struct server_list;
struct servers; /* of one worker */

/* `data`: the data directory. */
struct servers *servers_new(struct worker *worker, const char *data);
void servers_free(struct servers *servers); /* ends what is left; NULL is harmless */

/* Starts what is new in the worker's settings, ends what is gone, restarts what has
 * changed; others stay. */
void servers_apply(struct servers *servers);

/* Before the loop runs: those that were added in an earlier life. Their ids are claimed,
 * with what was granted under them, and no more. */
void servers_restore(struct servers *servers, struct server_list *added);

/* The gateway drains: all leave. Or they are cut, at once. */
void servers_leave(struct servers *servers);
void servers_abort(struct servers *servers);
bool servers_are_gone(const struct servers *servers);
void servers_count(const struct servers *servers, struct metrics *total);

/* The worker on which a server sits, or NULL: no such server. For SERVER_IN_PATH. */
struct worker *servers_find_worker(struct worker *worker, struct str name);

/* servers_door.c: /admin/servers. What runs, reaches or reads something of this machine
 * is added through the local socket alone. */
void admin_servers_list(struct exchange *x);
void admin_servers_add(struct exchange *x);
void admin_servers_remove(struct exchange *x);
void admin_server_get(struct exchange *x);
void admin_server_uid(struct exchange *x);
void admin_server_start(struct exchange *x);
void admin_server_stop(struct exchange *x);
void admin_server_restart(struct exchange *x);
void admin_server_logs(struct exchange *x);
void admin_server_tools(struct exchange *x);
void admin_server_pins(struct exchange *x);

/* server_sign_in.c */
void admin_server_sign_in(struct exchange *x);
void oauth_callback(struct exchange *x);
