/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are children: a plan, the pipes, and what is told about them. */
#include "bridge/carriage.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/carriage_priv.h"
#include "bridge/plan.h"
#include "bridge/supervisor.h"
#include "proxy/proxy.h"
#include "transport/stdio.h"

enum {
    PROCESSES = 64,
    WRAPPERS = 2, /* bubblewrap, outside and inside */
    LEAVE_MS = 2'000,
    TERM_MS = 2'000,
    UNREAD_BYTES = 4 << 20,
    PROXY_CONNECTIONS = 64,
    PROXY_IDLE_MS = 300'000,
    PROXY_CONNECT_MS = 10'000,
};

struct child_carriage {
    struct carriage carriage;
    struct carriage_events events;
    void *user;
    struct stdio *stdio;
    struct sandbox_plan *plan;
    struct loop *loop;
    struct conn_flusher *flusher;
    struct server_hosts hosts;
    struct proxy *proxy; /* NULL: none */
    pid_t pid;           /* 0: not yet */
    size_t processes;    /* that it may have */
    char excess[160];
};

static struct child_carriage *child_of(struct carriage *carriage)
{
    return CONTAINER_OF(carriage, struct child_carriage, carriage);
}

static struct carrier *child_carrier(struct carriage *carriage)
{
    return stdio_carrier(child_of(carriage)->stdio);
}

static void child_close(struct carriage *carriage)
{
    stdio_close(child_of(carriage)->stdio);
}

static bool child_was_read(struct carriage *carriage)
{
    return stdio_was_read(child_of(carriage)->stdio);
}

static void child_free(struct carriage *carriage)
{
    struct child_carriage *child = child_of(carriage);

    proxy_free(child->proxy);
    stdio_free(child->stdio);
    sandbox_plan_free(child->plan);
    server_hosts_done(&child->hosts);
    free(child);
}

static void child_put_json(struct carriage *carriage, struct json_writer *w)
{
    const struct child_carriage *child = child_of(carriage);

    size_t bytes, processes;

    if (child->pid == 0)
        return;
    sandbox_usage(child->pid, &bytes, &processes);
    json_put_uint(w, S("pid"), (uint64_t)child->pid);
    json_put_uint(w, S("memory"), bytes);
    json_put_uint(w, S("processes"), processes);
}

/* Where the kernel does not hold it to what it may use. */
static const char *child_excess(struct carriage *carriage)
{
    struct child_carriage *child = child_of(carriage);
    size_t max_bytes = sandbox_plan_memory(child->plan);
    size_t bytes, processes;

    if (child->pid == 0 || !sandbox_plan_is_watched(child->plan))
        return NULL;
    sandbox_usage(child->pid, &bytes, &processes);
    if (bytes <= max_bytes && processes <= child->processes)
        return NULL;
    if (bytes > max_bytes)
        (void)snprintf(child->excess, sizeof(child->excess),
                       "it uses %zu MiB of memory, and may use %zu", bytes >> 20,
                       max_bytes >> 20);
    else
        (void)snprintf(child->excess, sizeof(child->excess),
                       "it has %zu processes, and may have %zu", processes,
                       child->processes);
    return child->excess;
}

static const struct carriage_ops child_ops = {
    .carrier = child_carrier,
    .close = child_close,
    .free = child_free,
    .was_read = child_was_read,
    .excess = child_excess,
    .put_json = child_put_json,
};

/* --- what the pipes tell --- */

static void on_refused(void *user, struct str host, const char *why)
{
    const struct child_carriage *child = user;
    CLEANUP(buf_done) struct buf line;

    buf_init(&line, 1024);
    buf_put(&line, S("it may not reach "));
    buf_put(&line, str_slice(host, 0, 256));
    buf_putf(&line, ": %s", why);
    child->events.on_log(child->user, buf_str(&line));
}

/* The way out listens before the command begins. */
static void on_started(void *user, pid_t pid, int proxy_fd)
{
    struct child_carriage *child = user;

    child->pid = pid;
    if (proxy_fd < 0)
        return;
    child->proxy = proxy_new(child->loop, child->flusher, proxy_fd,
                             &(struct proxy_settings){
                                 .hosts = child->hosts.items,
                                 .host_count = child->hosts.count,
                                 .reaches_private = PROXY_LITERALS,
                                 .max_connections = PROXY_CONNECTIONS,
                                 .idle_ms = PROXY_IDLE_MS,
                                 .connect_ms = PROXY_CONNECT_MS,
                                 .on_refused = on_refused,
                                 .user = child,
                             });
}

static void on_log(void *user, struct str line)
{
    const struct child_carriage *child = user;

    child->events.on_log(child->user, line);
}

static void on_ended(void *user, const struct child_end *end)
{
    struct child_carriage *child = user;

    child->events.on_ended(child->user, end->why ? end->why : "it is lost",
                           end->type == CHILD_NOT_STARTED);
}

static const struct stdio_ops stdio_ops = {
    .on_started = on_started,
    .on_log = on_log,
    .on_noise = on_log,
    .on_ended = on_ended,
};

static enum err open_child(const struct supervisor_means *means,
                           const struct carriage_order *order, struct carriage **ret,
                           char **ret_why)
{
    struct child_carriage *child;
    struct server_hosts hosts;
    struct sandbox_plan *plan;
    enum err err;

    if (!means->spawn) {
        *ret_why = xstrdup("no command can be started here");
        return ERR_FORBIDDEN;
    }
    err = server_plan_order(
        &(struct server_plan_order){ .spec = order->spec,
                                     .command = order->command,
                                     .package = order->package,
                                     .on_secret = order->events->on_secret,
                                     .user = order->user },
        &plan, &hosts, ret_why);
    if (err)
        return err;
    if (hosts.count > 0 && !means->flusher) {
        *ret_why = xstrdup("network: hosts is not possible here");
        server_hosts_done(&hosts);
        sandbox_plan_free(plan);
        return ERR_FORBIDDEN;
    }
    child = xcalloc(1, sizeof(*child));
    child->carriage.ops = &child_ops;
    child->events = *order->events;
    child->user = order->user;
    child->plan = plan;
    child->hosts = hosts;
    child->loop = means->loop;
    child->flusher = means->flusher;
    child->processes =
        order->spec->permit.processes ? order->spec->permit.processes : PROCESSES;
    child->processes += WRAPPERS;
    child->stdio = stdio_open(means->spawn, means->loop,
                              &(struct stdio_settings){
                                  .plan = plan,
                                  .max_message = order->spec->max_message,
                                  .max_waiting = UNREAD_BYTES,
                                  .leave_ms = LEAVE_MS,
                                  .term_ms = TERM_MS,
                              },
                              &stdio_ops, child);
    *ret = &child->carriage;
    return OK;
}

enum err carriage_open(const struct supervisor_means *means,
                       const struct carriage_order *order, struct carriage **ret,
                       char **ret_why)
{
    if (order->spec->url.len == 0)
        return open_child(means, order, ret, ret_why);
    return carriage_open_url(means, order, ret, ret_why);
}
