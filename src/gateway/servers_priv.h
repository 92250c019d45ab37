/* SPDX-License-Identifier: Apache-2.0 */
/* Servers from inside: their lives (servers.c) and their doors (servers_door.c,
 * servers_logs.c). */
#pragma once

#include "bridge/bridge.h"
#include "gateway/server_keeping.h"
#include "gateway/server_list.h"
#include "gateway/server_sign_in.h"
#include "gateway/servers.h"
#include "gateway/topic_seat.h"

enum server_stage {
    STAGE_LOADING, /* what was kept of it is being read */
    STAGE_SEATED,
    STAGE_LEAVING,
};

/* A server on the worker of its topic. */
struct server {
    struct link link;
    struct servers *servers;
    struct server_spec *spec;
    struct identity *identity;
    enum server_stage stage;
    struct topic_seat *seat; /* from STAGE_SEATED on, as the bridge */
    struct bridge *bridge;
    struct server_sign_in *sign_in; /* NULL: it is none where one signs in */
    struct link followers;          /* of its log: servers_logs.c */
    struct loop_task reap;          /* it has left */
};

struct servers {
    struct worker *worker;
    struct link all;
    struct server_list *added;    /* at run time; the first worker's is the newest */
    struct spawn *spawn;          /* made with the first command */
    struct fetch *fetch;          /* with the first URL */
    struct kept_servers *loading; /* what the store is asked for, or NULL */
    struct loop_timer retry;      /* the store could not be read */
    struct bridge_counts gone;    /* of those that are no more */
    char *packages, *homes;       /* paths */
    bool is_leaving;
};

/* NULL: it is not on this worker. */
struct server *server_find(const struct servers *servers, struct str name);

/* Puts another list of added ones into force on this worker. */
void servers_set_added(struct servers *servers, struct server_list *added);

/* Those that are wanted: of the settings, then those that were added. NULL at the end. */
const struct wanted_server *servers_next_wanted(const struct servers *servers,
                                                size_t *at);
const struct wanted_server *servers_find_wanted(const struct servers *servers,
                                                struct str name);

/* The one of the path, seated; NULL if that already answered. */
struct server *server_asked_for(struct exchange *x);

/* The server goes: whoever follows its log is told by the end of the answer. */
void server_end_followers(struct server *server);
