/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a participant offers to MCP clients: tools, resources, templates of resources and
 * prompts. It answers what follows from that alone, and finds whom a call is for.
 *
 *     initialize, ping, server/discover, …/list  ──►  answered here
 *     tools/call, resources/read, prompts/get    ──►  what was offered, or an error
 *     everything else                            ──►  somebody else's
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "mcp/offer.h"
#include "mcp/rpc.h"

struct catalogue;

struct catalogue_settings {
    struct str name, version; /* what we call ourselves */
    size_t max_items;
    size_t max_bytes;         /* of all descriptions */
    void (*drop)(void *user); /* an item goes; may be NULL */
};

struct catalogue_item {
    enum offer_type type;
    struct str key;
    struct str mime_type;
    struct str arguments; /* of prompts: as they were given */
    struct str json;      /* as it stands in lists */
    void *user;
    uint64_t serial; /* the order of lists, and their cursors */
    struct link link;
};

struct catalogue *catalogue_new(const struct catalogue_settings *settings);
void catalogue_free(struct catalogue *c);

/* Adds it, or replaces one of the same type and key, which keeps its place in lists.
 * ERR_INVALID (*ret_why, static text), ERR_TOO_BIG (one description), ERR_OVERLOAD (all
 * of them). `user` belongs to the item only when it was added. */
enum err catalogue_add(struct catalogue *c, const struct offer *offer, void *user,
                       const char **ret_why);

/* ERR_NOT_FOUND. */
enum err catalogue_remove(struct catalogue *c, enum offer_type type, struct str key);

size_t catalogue_count(const struct catalogue *c, enum offer_type type);

/* The resource of that URI, or the first template that it matches, or NULL. */
const struct catalogue_item *catalogue_find_resource(const struct catalogue *c,
                                                     struct str uri);
const struct catalogue_item *catalogue_find(const struct catalogue *c,
                                            enum offer_type type, struct str key);

/* False only for the list of something of which there is nothing. */
bool catalogue_has(const struct catalogue *c, struct str method);

enum catalogue_verdict {
    CATALOGUE_ANSWERED, /* `ret_reply` is the answer, a result or an error */
    CATALOGUE_FOUND,    /* `ret_item` is to answer; its arguments are an object */
    CATALOGUE_OTHER,    /* the method is none of ours */
};

/* A page of a list has at most `page_bytes`, but at least one item. `ret_reply` is
 * initialised and empty; `scratch` holds what is only looked at. */
enum catalogue_verdict catalogue_ask(const struct catalogue *c,
                                     const struct rpc_request *request, size_t page_bytes,
                                     struct arena *scratch, struct rpc_reply *ret_reply,
                                     const struct catalogue_item **ret_item);
