/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCP servers that are wanted: those of a configuration, or those that were added at run
 * time. Of each, what it is, and who it is in its topic. Filled by one thread, then
 * immutable and shared by reference.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "bridge/spec.h"
#include "config/config.h"
#include "identity/identity.h"

enum { SERVERS_MAX = 1000 };

struct wanted_server {
    struct server_spec *spec;
    struct identity *identity;
};

struct server_list {
    atomic_uint refs;
    struct wanted_server *items;
    size_t count;
};

struct server_list *server_list_new(void);
struct server_list *server_list_ref(struct server_list *list);
void server_list_unref(struct server_list *list);

/* Takes a reference on the spec, which nobody else has yet. `capabilities`: besides those
 * of the profile `bridge`. ERR_CONFLICT: there is one of that name; ERR_OVERLOAD;
 * ERR_INVALID: *ret_why, owned by the caller, says what. */
enum err server_list_add(struct server_list *list, struct server_spec *spec,
                         struct str_list capabilities, char **ret_why);

const struct wanted_server *server_list_find(const struct server_list *list,
                                             struct str name);

/* Another list, without that one. */
struct server_list *server_list_without(const struct server_list *list, struct str name);

/* Those that a configuration names. Reads the files it names. */
enum err server_list_read(const struct config *config, struct server_list **ret,
                          struct config_problem *problem);
