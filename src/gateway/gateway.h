/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway as a whole: workers, listening sockets, the store, start, reload and stop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/config.h"
#include "gateway/worker.h"
#include "identity/identity.h"
#include "store/store.h"

struct gateway;

struct gateway_options {
    struct config *config;   /* taken */
    const char *config_path; /* NULL: the embedded default; cannot be reloaded */
    const char *data;        /* the data directory */
    /* What the command line said again applies after a reload. */
    void (*adjust)(struct config *config, void *user);
    void *user;
    bool shows_link;
};

/* Runs until SIGTERM or SIGINT. Prints where it listens and the sign-in link on stdout.
 * Returns the exit code. */
int gateway_run(const struct gateway_options *options);

/* --- what the doors need --- */

size_t gateway_worker_count(const struct gateway *gateway);
struct worker *gateway_worker(struct gateway *gateway, size_t index);

/* Counts connections against the limit of the process; false: one too many. */
bool gateway_connection_started(struct gateway *gateway);
void gateway_connection_forced(struct gateway *gateway); /* counts it all the same */
void gateway_connection_ended(struct gateway *gateway);

/* The same for topics. */
bool gateway_room_started(struct gateway *gateway);
void gateway_room_ended(struct gateway *gateway);

/* What open proposals weigh in all topics together is bounded: may there be so much more?
 * And: it was so much, and is. */
bool gateway_may_pledge(const struct gateway *gateway, size_t more);
void gateway_pledge(struct gateway *gateway, size_t was, size_t is);

/* The most of it that one proposer may have on one worker. */
size_t gateway_pledge_share(const struct gateway *gateway);

/* Whoever reaches the local socket: an administrator. */
struct identity *gateway_local_identity(struct gateway *gateway);

struct store *gateway_store(struct gateway *gateway);

/* At most one import into the directory at a time; false: there is one. What is written
 * to the directory would wait for its end. */
bool gateway_import_begin(struct gateway *gateway);
void gateway_import_end(struct gateway *gateway);
bool gateway_is_importing(const struct gateway *gateway);

/* A few dry runs of rules at a time; false: there are as many. */
bool gateway_trial_begin(struct gateway *gateway);
void gateway_trial_end(struct gateway *gateway);

struct exporter;
const struct exporter *gateway_exporter(const struct gateway *gateway);

/* Where a browser on this machine reaches it, "127.0.0.1:8420"; "": by TCP nowhere. */
const char *gateway_address(const struct gateway *gateway);

const char *gateway_data(const struct gateway *gateway); /* the data directory */

/* Who starts commands, or NULL. */
struct spawner;
struct spawner *gateway_spawner(const struct gateway *gateway);

/* MCP servers that were added at run time: the first worker's list, which all others get
 * by mail. Takes a reference of its own. */
struct server_list;
struct server_list *gateway_added(const struct gateway *gateway);
void gateway_set_added(struct gateway *gateway, struct server_list *list);

/* Whom servers become; for the first worker alone. */
struct server_uids;
struct server_uids *gateway_uids(struct gateway *gateway);

/* True once it serves and until it drains. */
bool gateway_is_ready(const struct gateway *gateway);

/* Reads the configuration again and puts it into force on all workers, or changes
 * nothing. `on_done` is called on the worker's thread with "" or what was wrong. */
void gateway_reload(struct gateway *gateway, struct worker *worker,
                    void (*on_done)(void *user, struct str problem), void *user);

/* What was set at run time, in force on the first worker; and another instead, over the
 * file, which is read again. All or nothing, as above; always on the first worker. */
struct tuning;
const struct tuning *gateway_tuning(const struct gateway *gateway);
void gateway_tune(struct gateway *gateway, const struct tuning *tuning,
                  void (*on_done)(void *user, struct str problem), void *user);

/* Where browsers come in, as the first listener says it: without a ticket the address,
 * with one the link that signs in. */
void gateway_put_link(const struct worker *worker, struct str ticket, struct buf *out);

const char *gateway_config_path(const struct gateway *gateway); /* or NULL */
