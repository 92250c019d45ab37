/* SPDX-License-Identifier: Apache-2.0 */
/* The gateway itself, and what its own files share: start, reload, stop. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/gateway.h"
#include "gateway/server_list.h"
#include "gateway/server_uids.h"
#include "gateway/tuning.h"
#include "spawn/spawn.h"

struct gateway {
    const struct gateway_options *options;
    struct settings *settings; /* the first worker's; for reloads */
    struct tuning tuning;      /* what of them was set at run time; likewise */
    struct worker *workers;
    size_t worker_count;
    struct store *store;
    struct exporter *exporter;
    struct spawner *spawner;   /* NULL: there was no command to start */
    struct server_list *added; /* MCP servers, at run time; the first worker's */
    struct server_uids uids;   /* the first worker's as well */
    int lock_fd;
    int *listen_fds; /* the configured ones, then the local socket */
    char address[NET_ADDRESS];
    size_t listen_count;
    struct identity *local;
    atomic_size_t connections;
    atomic_size_t max_connections;
    atomic_size_t rooms;
    atomic_size_t max_rooms;
    atomic_size_t pledged; /* bytes of open proposals, roughly */
    atomic_bool is_ready;
    atomic_bool is_importing;
    atomic_size_t trials; /* of rules, that run */
    struct loop_fd signals;
    struct loop_timer drain_timer;
    uint64_t drain_until_ms;
    bool is_draining;
    bool is_reloading;
    bool has_started;   /* the record says so */
    bool reloads_again; /* SIGHUP came meanwhile */
};

/* The file, and what lies over it. The caller frees it. */
enum err gateway_load_config(const struct gateway *gateway, const struct tuning *tuning,
                             struct config **ret, struct config_problem *problem);

/* What a configuration says about the process as a whole. */
void gateway_set_limits(struct gateway *gateway, const struct config *config);

/* Redaction and retention are those of the settings. */
void gateway_apply_record(struct gateway *gateway);

/* SIGHUP: a reload whose outcome stands in the log. */
void gateway_reload_by_signal(struct gateway *gateway);

/* SIGTERM, SIGINT: 1001 to everyone, then the end; at once when asked twice. */
void gateway_drain(struct gateway *gateway);
void gateway_on_drain_tick(struct loop_timer *timer);

/* Makes every worker's loop return. */
void gateway_stop_workers(struct gateway *gateway);

/* The workers' threads have ended: ends what is left on their loops, while the store can
 * still be told of it; then frees them, when it has answered. */
void gateway_quiet_workers(struct gateway *gateway);
void gateway_end_workers(struct gateway *gateway);

void gateway_close_listeners(struct gateway *gateway);

/* On the main thread, before workers hear of these servers: whoever starts commands is
 * there if one of them is a command. */
void gateway_prepare_servers(struct gateway *gateway, const struct server_list *list);

/* Before that: those of the settings in force that are not in the next ones. */
void gateway_unwant_servers(struct gateway *gateway, const struct server_list *next);
