/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of servers: their era and the pin of their package, what they offer and
 * what people have seen of it, their tokens, sealed. Read on the store's thread when a
 * server is to begin, and not held in memory otherwise.
 */
#pragma once

#include <stddef.h>

#include "bridge/bridge.h"
#include "gateway/worker.h"
#include "store/store.h"

/* Beside what the bridge wants to be kept: its tokens (server_sign_in.h). */
enum { KEPT_SECRET = BRIDGE_KEPT, SERVER_KEPT };

struct kept_servers {
    struct store_job job; /* the store's while it reads */
    void (*on_done)(struct kept_servers *self);
    void *user;
    struct kept_server {
        struct server_spec *spec;
        struct buf texts[SERVER_KEPT]; /* "": nothing */
    } * items;
    size_t count;
    enum err err; /* ERR_IO: the store cannot be read now */
};

struct kept_servers *kept_servers_new(void);
void kept_servers_free(struct kept_servers *kept);
void kept_servers_add(struct kept_servers *kept, struct server_spec *spec);

/* on_done comes on the worker's loop, which owns it again. */
void kept_servers_read(struct kept_servers *kept, struct worker *worker);
const struct kept_server *kept_servers_find(const struct kept_servers *kept,
                                            struct str name);

/* `what`: of the bridge (enum bridge_kept), or KEPT_SECRET. */
void server_keep(struct worker *worker, struct str name, size_t what, struct str json);

/* A server that was added at run time. */
void server_keep_added(struct worker *worker, const struct server_spec *spec);

/* Started by root, a confined command gets a uid of its own, unless it names one. On the
 * first worker, before others hear of it. Where none is left it lacks one. */
void server_give_uid(struct worker *worker, struct server_spec *spec);

/* With all that is known of it. On the first worker. */
void server_forget(struct worker *worker, struct str name);

/* Nothing of it runs on this worker any more. */
void server_has_ended(struct worker *worker, struct str name);
