/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of servers. What is wanted is in two lists (server_list.h); what is there
 * follows them:
 *
 *     wanted ─► loading ─► seated ─► leaving ─► gone, and perhaps wanted again
 *               what was    seat      calls end, nothing of it runs
 *               kept        + bridge
 *
 * One that has changed leaves first and comes back as what it is now, so that there are
 * never two of one name on a worker.
 */
#include "gateway/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/room.h"
#include "gateway/servers_priv.h"

enum { RETRY_MS = 1000, SPEC_BYTES = 4 << 20 };

/* --- what is wanted --- */

const struct wanted_server *servers_next_wanted(const struct servers *servers, size_t *at)
{
    const struct server_list *settled = servers->worker->settings->servers;
    size_t i = (*at)++;

    if (i < settled->count)
        return &settled->items[i];
    for (i -= settled->count; i < servers->added->count; i++, (*at)++) {
        const struct wanted_server *added = &servers->added->items[i];

        if (!server_list_find(settled, added->spec->name))
            return added; /* else the configuration says what it is */
    }
    return NULL;
}

const struct wanted_server *servers_find_wanted(const struct servers *servers,
                                                struct str name)
{
    const struct wanted_server *wanted =
        server_list_find(servers->worker->settings->servers, name);

    return wanted ? wanted : server_list_find(servers->added, name);
}

struct worker *servers_find_worker(struct worker *worker, struct str name)
{
    const struct wanted_server *wanted = servers_find_wanted(worker->servers, name);

    return wanted ? worker_of_topic(worker->gateway, wanted->spec->topic) : NULL;
}

struct server *server_find(const struct servers *servers, struct str name)
{
    struct server *server;

    LIST_FOREACH(server, &servers->all, link)
        if (str_eq(server->spec->name, name))
            return server;
    return NULL;
}

/* --- what a server works with --- */

static struct spawn *spawn_of(struct servers *servers)
{
    struct spawner *spawner = gateway_spawner(servers->worker->gateway);

    if (!servers->spawn && spawner)
        servers->spawn = spawn_new(spawner, servers->worker->loop);
    return servers->spawn;
}

static struct fetch *fetch_of(void *user)
{
    struct servers *servers = user;
    char *why = NULL;

    if (!servers->fetch && fetch_new(servers->worker->loop, &servers->fetch, &why))
        log_error("server.fetch", "reason=%s", LOG_TEXT(str_of(why ? why : "unknown")));
    free(why);
    return servers->fetch;
}

static struct credential *credential_of(void *user, const struct server_spec *spec)
{
    const struct server *server = server_find(user, spec->name);

    return server ? server_sign_in_credential(server->sign_in) : NULL;
}

static void on_keep(void *user, enum bridge_kept what, struct str json)
{
    struct server *server = user;

    server_keep(server->servers->worker, server->spec->name, what, json);
}

/* --- coming --- */

/* With a folder of its own: where that is nobody but the gateway knows. Two specs are
 * compared without it. */
static struct server_spec *spec_at_home(const struct server *server)
{
    struct server_spec *copy = NULL;
    char *why = NULL;
    struct buf text;

    if (server->spec->url.len || server->spec->permit.level == SANDBOX_OFF)
        return server_spec_ref(server->spec);
    buf_init(&text, SPEC_BYTES);
    server_spec_write(server->spec, &text);
    if (server_spec_read(buf_str(&text), &copy, &why))
        abort(); /* it was written here */
    buf_clear(&text);
    buf_putf(&text, "%s/" STR_FMT, server->servers->homes, STR_ARG(server->spec->name));
    copy->permit.home = arena_str(&copy->arena, buf_str(&text));
    buf_done(&text);
    free(why);
    return copy;
}

/* As a reload has left them. */
static const struct registries *registries_of(void *user)
{
    const struct servers *servers = user;

    return &servers->worker->settings->registries;
}

static void seat(struct server *server, const struct kept_server *kept)
{
    struct servers *servers = server->servers;
    struct worker *worker = servers->worker;
    struct server_spec *spec = spec_at_home(server);
    struct bridge_setup setup = {
        .spec = spec,
        .means = { .loop = worker->loop,
                   .spawn = spawn_of(servers),
                   .fetch = fetch_of,
                   .credential = credential_of,
                   .flusher = worker->flusher,
                   .packages = servers->packages,
                   .registries = registries_of,
                   .user = servers },
        .keep = on_keep,
        .user = server,
    };

    for (size_t k = 0; k < BRIDGE_KEPT; k++)
        setup.kept[k] = buf_str(&kept->texts[k]);
    server->stage = STAGE_SEATED;
    server->bridge = bridge_new(&setup);
    server->sign_in = server_sign_in_new(
        &(struct sign_in_setup){ worker, spec, server->bridge, fetch_of, servers },
        buf_str(&kept->texts[KEPT_SECRET]));
    server_spec_unref(spec);
    server->seat = topic_seat_open(
        worker, server->spec->topic, server->identity,
        &(struct topic_seat_terms){ .type = CONNECTION_SERVER, .address = "gateway" },
        &bridge_seat_ops, server->bridge);
    bridge_sit(server->bridge, topic_seat_of(server->seat));
    log_info("server.seated", "name=%s topic=%s id=%s", LOG_TEXT(server->spec->name),
             LOG_TEXT(server->spec->topic), LOG_TEXT(server->spec->id));
}

static void on_loaded(struct kept_servers *kept);

/* Asks the store for those that wait, all at once; one question at a time. */
static void load(struct servers *servers)
{
    struct kept_servers *kept;
    const struct server *server;

    if (servers->loading || servers->is_leaving)
        return;
    kept = kept_servers_new();
    LIST_FOREACH(server, &servers->all, link)
        if (server->stage == STAGE_LOADING && !server_spec_lacks_uid(server->spec))
            kept_servers_add(kept, server->spec);
    if (!kept->count) {
        kept_servers_free(kept);
        return;
    }
    servers->loading = kept;
    kept->on_done = on_loaded;
    kept->user = servers;
    kept_servers_read(kept, servers->worker);
}

/* While the store fails nothing begins: whoever is not known would be trusted anew. */
static void on_loaded(struct kept_servers *kept)
{
    struct servers *servers = kept->user;
    struct server *server;

    servers->loading = NULL;
    LIST_FOREACH(server, &servers->all, link) {
        const struct kept_server *found = kept_servers_find(kept, server->spec->name);

        if (!kept->err && found && server->stage == STAGE_LOADING && !servers->is_leaving)
            seat(server, found);
    }
    if (kept->err && !servers->is_leaving)
        loop_timer_set(servers->worker->loop, &servers->retry, RETRY_MS);
    else
        load(servers);
    kept_servers_free(kept);
}

static void on_retry(struct loop_timer *timer)
{
    load(CONTAINER_OF(timer, struct servers, retry));
}

/* --- going --- */

static void count_gone(struct server *server)
{
    struct bridge_counts counts = bridge_counts(server->bridge);
    struct bridge_counts *gone = &server->servers->gone;

    gone->calls += counts.calls;
    gone->errors += counts.errors;
    gone->restarts += counts.restarts;
    gone->questions += counts.questions;
}

static void server_free(struct server *server)
{
    server_end_followers(server);
    list_remove(&server->link);
    list_remove(&server->reap.link);
    if (server->bridge)
        count_gone(server);
    bridge_free(server->bridge);
    server_sign_in_free(server->sign_in);
    topic_seat_close(server->seat);
    log_info("server.gone", "name=%s", LOG_TEXT(server->spec->name));
    server_spec_unref(server->spec);
    identity_unref(server->identity);
    free(server);
}

static void follow_lists(struct servers *servers);

static void on_reap(struct loop_task *task)
{
    struct server *server = CONTAINER_OF(task, struct server, reap);
    struct servers *servers = server->servers;

    if (!servers->is_leaving)
        server_has_ended(servers->worker, server->spec->name);
    server_free(server);
    follow_lists(servers); /* perhaps it is to come back as something else */
}

static void on_left(void *user)
{
    struct server *server = user;

    loop_defer(server->servers->worker->loop, &server->reap);
}

static void server_leave(struct server *server)
{
    enum server_stage stage = server->stage;

    server->stage = STAGE_LEAVING;
    if (stage == STAGE_SEATED)
        bridge_leave(server->bridge, on_left, server);
    else if (stage == STAGE_LOADING)
        on_left(server);
}

/* --- what is there follows what is wanted --- */

static void add(struct servers *servers, const struct wanted_server *wanted)
{
    struct server *server = xcalloc(1, sizeof(*server));

    server->servers = servers;
    server->spec = server_spec_ref(wanted->spec);
    server->identity = identity_ref(wanted->identity);
    server->reap.run = on_reap;
    list_init(&server->followers);
    list_append(&servers->all, &server->link);
}

static void follow_one(struct server *server, const struct wanted_server *wanted)
{
    if (!wanted || !server_spec_is_same(server->spec, wanted->spec)) {
        server_leave(server);
        return;
    }
    if (server->seat)
        topic_seat_set_identity(server->seat, wanted->identity);
    identity_unref(server->identity);
    server->identity = identity_ref(wanted->identity);
}

static void follow_lists(struct servers *servers)
{
    struct worker *worker = servers->worker;
    const struct wanted_server *wanted;
    struct server *server;
    size_t at = 0;

    if (servers->is_leaving)
        return;
    LIST_FOREACH(server, &servers->all, link)
        if (server->stage != STAGE_LEAVING)
            follow_one(server, servers_find_wanted(servers, server->spec->name));
    while ((wanted = servers_next_wanted(servers, &at)))
        if (worker_of_topic(worker->gateway, wanted->spec->topic) == worker &&
            !server_find(servers, wanted->spec->name))
            add(servers, wanted);
    load(servers);
}

/* Of a server that is no longer wanted; one reference, or NULL. */
static struct identity *find_unwanted(const struct servers *servers)
{
    struct identity *identity;

    MAP_FOREACH(identity, &servers->worker->tokens.by_hash) {
        struct str name = identity->token_name;
        struct str what = str_cut(&name, ':');

        if (identity->source == FROM_SERVER && str_eq(what, S("server")) &&
            !servers_find_wanted(servers, name))
            return identity_ref(identity);
    }
    return NULL;
}

/* Ids of servers are taken: guests give way, what was granted stays, and nobody else is
 * invited under them. */
static void claim_ids(struct servers *servers)
{
    struct token_table *tokens = &servers->worker->tokens;
    const struct wanted_server *wanted;
    struct identity *identity;
    size_t at = 0;

    while ((wanted = servers_next_wanted(servers, &at)))
        if (token_table_find_hash(tokens, wanted->identity->token_hash))
            token_table_add(tokens, wanted->identity);
        else
            worker_add_token(servers->worker, wanted->identity);
    while ((identity = find_unwanted(servers))) {
        (void)worker_end_token(servers->worker, identity);
        identity_unref(identity);
    }
}

void servers_apply(struct servers *servers)
{
    claim_ids(servers);
    follow_lists(servers);
}

static void take_added(struct servers *servers, struct server_list *added)
{
    server_list_unref(servers->added);
    servers->added = server_list_ref(added);
}

void servers_restore(struct servers *servers, struct server_list *added)
{
    const struct wanted_server *wanted;
    size_t at = 0;

    take_added(servers, added);
    while ((wanted = servers_next_wanted(servers, &at)))
        token_table_add(&servers->worker->tokens, wanted->identity);
}

void servers_set_added(struct servers *servers, struct server_list *added)
{
    take_added(servers, added);
    servers_apply(servers);
}

/* --- all of them --- */

static char *path_of(const char *data, const char *name)
{
    char *path;
    struct buf text;

    buf_init(&text, 8192);
    buf_putf(&text, "%s/%s", data, name);
    path = xstrdup(buf_cstr(&text));
    buf_done(&text);
    return path;
}

struct servers *servers_new(struct worker *worker, const char *data)
{
    struct servers *servers = xcalloc(1, sizeof(*servers));

    servers->worker = worker;
    servers->added = server_list_new();
    servers->retry.on_fire = on_retry;
    list_init(&servers->all);
    servers->packages = path_of(data, "packages");
    servers->homes = path_of(data, "servers");
    return servers;
}

void servers_leave(struct servers *servers)
{
    struct server *server;

    servers->is_leaving = true;
    loop_timer_clear(servers->worker->loop, &servers->retry);
    LIST_FOREACH(server, &servers->all, link)
        server_leave(server);
}

bool servers_are_gone(const struct servers *servers)
{
    return list_is_empty(&servers->all);
}

void servers_abort(struct servers *servers)
{
    struct server *server;

    servers->is_leaving = true;
    LIST_FOREACH(server, &servers->all, link)
        server_free(server);
}

void servers_free(struct servers *servers)
{
    if (!servers)
        return;
    servers_abort(servers);
    loop_timer_clear(servers->worker->loop, &servers->retry);
    spawn_free(servers->spawn);
    fetch_free(servers->fetch);
    server_list_unref(servers->added);
    free(servers->packages);
    free(servers->homes);
    free(servers);
}

static void count_calls(const struct bridge_counts *counts, struct metrics *total)
{
    total->server_calls += counts->calls;
    total->server_errors += counts->errors;
    total->server_restarts += counts->restarts;
    total->server_questions += counts->questions;
}

static void count_one(const struct server *server, struct metrics *total)
{
    struct bridge_counts counts;

    total->servers++;
    if (!server->bridge)
        return;
    counts = bridge_counts(server->bridge);
    count_calls(&counts, total);
    if (bridge_lacks_sign_in(server->bridge)) {
        total->servers_signed_out++;
        return;
    }
    switch (supervisor_state(bridge_supervisor(server->bridge))) {
    case SERVER_READY: total->servers_ready++; break;
    case SERVER_FAILING: total->servers_failing++; break;
    case SERVER_RESTING:
    case SERVER_PREPARING:
    case SERVER_STARTING:
    case SERVER_STOPPED: break;
    }
}

void servers_count(const struct servers *servers, struct metrics *total)
{
    const struct server *server;

    count_calls(&servers->gone, total);
    LIST_FOREACH(server, &servers->all, link)
        count_one(server, total);
}
