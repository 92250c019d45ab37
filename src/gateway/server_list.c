/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/server_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "policy/profile.h"

struct server_list *server_list_new(void)
{
    struct server_list *list = xcalloc(1, sizeof(*list));

    atomic_init(&list->refs, 1);
    return list;
}

struct server_list *server_list_ref(struct server_list *list)
{
    atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    return list;
}

void server_list_unref(struct server_list *list)
{
    if (!list || atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < list->count; i++) {
        server_spec_unref(list->items[i].spec);
        identity_unref(list->items[i].identity);
    }
    free(list->items);
    free(list);
}

const struct wanted_server *server_list_find(const struct server_list *list,
                                             struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].spec->name, name))
            return &list->items[i];
    return NULL;
}

/* Takes both. */
static void append(struct server_list *list, struct server_spec *spec,
                   struct identity *identity)
{
    list->items = xrealloc(list->items, (list->count + 1) * sizeof(*list->items));
    list->items[list->count++] = (struct wanted_server){ spec, identity };
}

struct server_list *server_list_without(const struct server_list *list, struct str name)
{
    struct server_list *copy = server_list_new();

    for (size_t i = 0; i < list->count; i++)
        if (!str_eq(list->items[i].spec->name, name))
            append(copy, server_spec_ref(list->items[i].spec),
                   identity_ref(list->items[i].identity));
    return copy;
}

/* --- who it is --- */

static struct identity *make_identity(const struct server_spec *spec,
                                      struct str_list capabilities, char **ret_why)
{
    const struct profile *profile = profile_find(S("bridge"));
    size_t count = profile->capabilities.count + capabilities.count;
    CLEANUP(xfreep) struct str *all = xcalloc(count, sizeof(*all));
    struct identity template = { .id = spec->id,
                                 .topics = { &spec->topic, 1 },
                                 .capabilities = { all, count },
                                 .type = profile->type,
                                 .source = FROM_SERVER,
                                 .created_ms = clock_wall_ms() };
    char name[SERVER_NAME_MAX + sizeof("server:")];
    const char *why = "";

    for (size_t i = 0; i < profile->capabilities.count; i++)
        all[i] = profile->capabilities.items[i];
    for (size_t i = 0; i < capabilities.count; i++)
        all[profile->capabilities.count + i] = capabilities.items[i];
    (void)snprintf(name, sizeof(name), "server:" STR_FMT, STR_ARG(spec->name));
    template.token_name = str_of(name);
    identity_hash_unopened(spec->name, template.token_hash);
    if (identity_check(&template, &why)) {
        *ret_why = xstrdup(why);
        return NULL;
    }
    return identity_new(&template);
}

enum err server_list_add(struct server_list *list, struct server_spec *spec,
                         struct str_list capabilities, char **ret_why)
{
    struct identity *identity;

    *ret_why = server_spec_fault(spec);
    if (*ret_why)
        return ERR_INVALID;
    if (!topic_name_is_valid(spec->topic)) {
        *ret_why = xstrdup("its topic has no name that a topic can have");
        return ERR_INVALID;
    }
    if (server_list_find(list, spec->name)) {
        *ret_why = xstrdup("there is a server of that name");
        return ERR_CONFLICT;
    }
    if (list->count >= SERVERS_MAX) {
        *ret_why = xstrdup("there are too many servers");
        return ERR_OVERLOAD;
    }
    identity = make_identity(spec, capabilities, ret_why);
    if (!identity)
        return ERR_INVALID;
    append(list, server_spec_ref(spec), identity);
    return OK;
}
