/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/plan.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/secret.h"

/* Values of all variables; those that come from elsewhere are wiped at the end. */
struct environment {
    const struct server_spec *spec;
    struct sandbox_variable *items;
    size_t count;
    struct arena arena;
};

static enum err read_environment(struct environment *environment, char **ret_why)
{
    const struct server_spec *spec = environment->spec;

    for (size_t i = 0; i < spec->variable_count; i++) {
        const struct server_variable *variable = &spec->variables[i];
        struct sandbox_variable *item = &environment->items[i];
        enum err err = secret_read(variable, &environment->arena, &item->value, ret_why);

        if (err)
            return err;
        item->name = variable->name;
        item->is_secret = variable->source != SECRET_PLAIN;
        environment->count++;
    }
    return OK;
}

static void environment_init(struct environment *environment,
                             const struct server_spec *spec)
{
    *environment = (struct environment){ .spec = spec };
    environment->items = xcalloc(spec->variable_count + 1, sizeof(*environment->items));
    arena_init(&environment->arena, 16 << 20);
}

static void environment_done(struct environment *environment)
{
    for (size_t i = 0; i < environment->count; i++)
        secret_wipe(&environment->spec->variables[i], environment->items[i].value);
    arena_done(&environment->arena);
    free(environment->items);
}

enum err server_plan_make(const struct server_spec *spec,
                          const struct sandbox_command *command,
                          void (*on_secret)(void *user, struct str value), void *user,
                          struct sandbox_plan **ret, char **ret_why)
{
    CLEANUP(environment_done) struct environment environment;
    struct permit permit = spec->permit;
    enum err err;

    environment_init(&environment, spec);
    err = read_environment(&environment, ret_why);
    if (err)
        return err;
    permit.variables = environment.items;
    permit.variable_count = environment.count;
    for (size_t i = 0; on_secret && i < environment.count; i++)
        if (environment.items[i].is_secret)
            on_secret(user, environment.items[i].value);
    return sandbox_plan_make(&permit, command, ret, ret_why);
}
