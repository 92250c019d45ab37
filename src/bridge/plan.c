/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/plan.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/secret.h"
#include "sandbox/package.h"
#include "sandbox/profile.h"

enum { PLANNING_BYTES = 16 << 20 };

/* The permit as it grows; values of variables that come from elsewhere are wiped. */
struct planning {
    const struct server_plan_order *order;
    const struct sandbox_profile *profile; /* NULL: none */
    struct permit permit;
    struct sandbox_variable *variables;
    size_t variable_count;
    struct arena arena;
};

static void planning_init(struct planning *p, const struct server_plan_order *order)
{
    const struct server_spec *spec = order->spec;

    *p = (struct planning){ .order = order, .permit = spec->permit };
    p->variables = xcalloc(spec->variable_count + 2, sizeof(*p->variables));
    if (spec->profile.len > 0)
        p->profile = sandbox_profile_find(spec->profile);
    else
        p->profile = sandbox_profile_guess(&spec->command);
    arena_init(&p->arena, PLANNING_BYTES);
}

static void planning_done(struct planning *p)
{
    const struct server_spec *spec = p->order->spec;

    for (size_t i = 0; i < p->variable_count && i < spec->variable_count; i++)
        secret_wipe(&spec->variables[i], p->variables[i].value);
    arena_done(&p->arena);
    free(p->variables);
}

/* --- its environment --- */

static enum err read_variables(struct planning *p, char **ret_why)
{
    const struct server_spec *spec = p->order->spec;

    for (size_t i = 0; i < spec->variable_count; i++) {
        const struct server_variable *variable = &spec->variables[i];
        struct sandbox_variable *item = &p->variables[i];
        enum err err = secret_read(variable, &p->arena, &item->value, ret_why);

        if (err)
            return err;
        item->name = variable->name;
        item->is_secret = variable->source != SECRET_PLAIN;
        p->variable_count++;
        if (item->is_secret && p->order->on_secret)
            p->order->on_secret(p->order->user, item->value);
    }
    return OK;
}

static bool has_variable(const struct planning *p, struct str name)
{
    for (size_t i = 0; i < p->variable_count; i++)
        if (str_eq(p->variables[i].name, name))
            return true;
    return false;
}

/* A file in its own folder, for servers that would write beside their program. */
static void add_home_variable(struct planning *p)
{
    struct str name = p->profile->home_variable;
    CLEANUP(buf_done) struct buf path;

    buf_init(&path, 8192);
    if (name.len == 0 || p->permit.home.len == 0 || has_variable(p, name))
        return;
    buf_put(&path, p->permit.home);
    buf_putc(&path, '/');
    buf_put(&path, p->profile->name);
    buf_put(&path, S(".json"));
    p->variables[p->variable_count++] =
        (struct sandbox_variable){ .name = name,
                                   .value = arena_str(&p->arena, buf_str(&path)) };
}

/* --- what it may touch --- */

static void add_path(struct planning *p, const struct str **paths, size_t *count,
                     struct str path)
{
    struct str *more = arena_alloc(&p->arena, (*count + 1) * sizeof(*more));

    if (!more || path.len == 0)
        return;
    if (*count > 0)
        memcpy(more, *paths, *count * sizeof(*more));
    more[*count] = path;
    *paths = more;
    (*count)++;
}

static bool is_folder(struct str path)
{
    CLEANUP(xfreep) char *text = str_dup(path);
    struct stat status;

    return str_starts(path, S("/")) && stat(text, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Folders among its arguments, behind the words that say what is run. */
static void add_arguments(struct planning *p)
{
    const struct sandbox_command *command = &p->order->spec->command;
    struct package package = {};
    size_t from = package_of(command, &package) ? package.used : 2;

    for (size_t i = from; i < command->count; i++)
        if (is_folder(command->words[i]))
            add_path(p, &p->permit.write, &p->permit.write_count, command->words[i]);
}

static size_t count_hosts(const struct str *hosts)
{
    size_t count = 0;

    while (hosts[count].len > 0)
        count++;
    return count;
}

/* Whoever switched the sandbox off, or said something about the network, has decided. */
static void apply_profile(struct planning *p)
{
    const struct sandbox_profile *profile = p->profile;

    if (!profile)
        return;
    add_home_variable(p);
    if (p->permit.level == SANDBOX_OFF)
        return;
    if (profile->writes_arguments)
        add_arguments(p);
    if (p->permit.level == SANDBOX_STRICT && p->permit.network == NETWORK_NONE &&
        profile->network == NETWORK_HOSTS) {
        p->permit.network = NETWORK_HOSTS;
        p->permit.hosts = profile->hosts;
        p->permit.host_count = count_hosts(profile->hosts);
    }
}

/* --- all of it --- */

static void take_hosts(const struct permit *permit, struct server_hosts *ret)
{
    size_t bytes = 0;
    char *at;

    *ret = (struct server_hosts){};
    if (permit->network != NETWORK_HOSTS)
        return;
    for (size_t i = 0; i < permit->host_count; i++)
        bytes += permit->hosts[i].len;
    ret->items = xcalloc(permit->host_count + 1, sizeof(*ret->items));
    ret->texts = at = xmalloc(bytes + 1);
    for (size_t i = 0; i < permit->host_count; i++) {
        memcpy(at, permit->hosts[i].ptr, permit->hosts[i].len);
        ret->items[ret->count++] = (struct str){ at, permit->hosts[i].len };
        at += permit->hosts[i].len;
    }
}

void server_hosts_done(struct server_hosts *hosts)
{
    free(hosts->items);
    free(hosts->texts);
    *hosts = (struct server_hosts){};
}

enum err server_plan_order(const struct server_plan_order *order,
                           struct sandbox_plan **ret, struct server_hosts *ret_hosts,
                           char **ret_why)
{
    CLEANUP(planning_done) struct planning planning;
    enum err err;

    planning_init(&planning, order);
    err = read_variables(&planning, ret_why);
    if (err)
        return err;
    apply_profile(&planning);
    if (order->package.len > 0)
        add_path(&planning, &planning.permit.read, &planning.permit.read_count,
                 order->package);
    planning.permit.variables = planning.variables;
    planning.permit.variable_count = planning.variable_count;
    err = sandbox_plan_make(&planning.permit, order->command, ret, ret_why);
    if (!err && ret_hosts)
        take_hosts(&planning.permit, ret_hosts);
    return err;
}

enum err server_plan_make(const struct server_spec *spec,
                          const struct sandbox_command *command,
                          void (*on_secret)(void *user, struct str value), void *user,
                          struct sandbox_plan **ret, char **ret_why)
{
    struct server_plan_order order = {
        .spec = spec, .command = command, .on_secret = on_secret, .user = user
    };

    return server_plan_order(&order, ret, NULL, ret_why);
}
