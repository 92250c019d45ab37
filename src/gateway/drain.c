/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping: no new connections, 1001 to everyone, a while for farewells, then the loops
 * end. Until the last of them has, letters may still go from each to each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/agents_door.h"
#include "gateway/gateway_priv.h"
#include "gateway/http_door.h"
#include "gateway/recording.h"
#include "gateway/servers.h"
#include "gateway/ws_door.h"

enum {
    DRAIN_TICK_MS = 20,
    LAST_TURNS = 8, /* a letter of the store, a call on all workers, and back */
};

/* A letter that makes a worker stop its loop. */
static void on_stop(struct loop_mail *mail)
{
    struct gather_part *part = CONTAINER_OF(mail, struct gather_part, mail);

    loop_stop(part->worker->loop);
    free(part);
}

void gateway_stop_workers(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->worker_count; i++) {
        struct gather_part *part = xcalloc(1, sizeof(*part));

        part->worker = &gateway->workers[i];
        part->mail.deliver = on_stop;
        loop_post(part->worker->loop, &part->mail);
    }
}

static void visit_drain(struct gather *gather [[maybe_unused]], struct gather_part *part)
{
    worker_drain(part->worker);
}

static void visit_abort(struct gather *gather [[maybe_unused]], struct gather_part *part)
{
    ws_abort_all(part->worker);
    agents_abort(part->worker->agents);
    servers_abort(part->worker->servers);
    http_close_all(part->worker);
}

/* Nobody waits for a disk that fails while we stop. */
static void visit_count(struct gather *gather [[maybe_unused]], struct gather_part *part)
{
    if (store_is_failing(gateway_store(part->worker->gateway)))
        recorder_give_up(part->worker);
    part->count = !worker_is_empty(part->worker);
}

/* After the workers have stopped watching them: who comes now is refused at once. */
void gateway_close_listeners(struct gateway *gateway)
{
    char local[4096];

    for (size_t i = 0; i < gateway->listen_count; i++)
        (void)close(gateway->listen_fds[i]);
    if (gateway->listen_count) {
        (void)snprintf(local, sizeof(local), "%s/moot.sock", gateway->options->data);
        (void)unlink(local);
    }
    gateway->listen_count = 0;
}

static void on_drained(struct gather *gather)
{
    struct gateway *gateway = gather->origin->gateway;

    gather_done(gather);
    free(gather);
    gateway_close_listeners(gateway);
    loop_timer_set(gateway->workers[0].loop, &gateway->drain_timer, DRAIN_TICK_MS);
}

static void on_counted(struct gather *gather)
{
    struct gateway *gateway = gather->origin->gateway;
    size_t busy = gather_total(gather);
    bool is_late = loop_now_ms(gather->origin->loop) >= gateway->drain_until_ms;

    gather_done(gather);
    free(gather);
    if (busy && !is_late)
        loop_timer_set(gateway->workers[0].loop, &gateway->drain_timer, DRAIN_TICK_MS);
    else
        gateway_stop_workers(gateway);
}

static void visit_all(struct gateway *gateway,
                      void (*visit)(struct gather *, struct gather_part *),
                      void (*done)(struct gather *))
{
    struct gather *gather = xcalloc(1, sizeof(*gather));

    gather->visit = visit;
    gather->done = done;
    gather_start(gather, &gateway->workers[0]);
}

void gateway_on_drain_tick(struct loop_timer *timer)
{
    struct gateway *gateway = CONTAINER_OF(timer, struct gateway, drain_timer);

    visit_all(gateway, visit_count, on_counted);
}

static void on_aborted(struct gather *gather)
{
    struct gateway *gateway = gather->origin->gateway;

    gather_done(gather);
    free(gather);
    gateway_stop_workers(gateway);
}

void gateway_drain(struct gateway *gateway)
{
    struct loop *loop = gateway->workers[0].loop;

    if (gateway->is_draining) { /* asked twice: no more patience */
        visit_all(gateway, visit_abort, on_aborted);
        return;
    }
    gateway->is_draining = true;
    atomic_store(&gateway->is_ready, false);
    log_info("server.drain", "connections=%zu", atomic_load(&gateway->connections));
    gateway->drain_until_ms =
        loop_now_ms(loop) + gateway->settings->config->limits.drain_timeout_ms;
    visit_all(gateway, visit_drain, on_drained);
}

/* What is under way between workers ends before any of them does: letters may still go
 * from each to each. */
static void last_turns(struct gateway *gateway)
{
    for (size_t turn = 0; turn < LAST_TURNS; turn++)
        for (size_t i = 0; i < gateway->worker_count; i++)
            loop_turn(gateway->workers[i].loop, 0);
}

void gateway_quiet_workers(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->worker_count; i++) {
        worker_drain(&gateway->workers[i]); /* where it has not begun to */
        visit_abort(NULL, &(struct gather_part){ .worker = &gateway->workers[i] });
    }
    last_turns(gateway);
    for (size_t i = 0; i < gateway->worker_count; i++)
        worker_end_halls(&gateway->workers[i]);
    for (size_t i = 1; i < gateway->worker_count; i++)
        recorder_close(&gateway->workers[i]);
    if (gateway->worker_count && gateway->has_started)
        recording_server(&gateway->workers[0], S("stop")); /* the last of all */
    if (gateway->worker_count)
        recorder_close(&gateway->workers[0]);
}

void gateway_end_workers(struct gateway *gateway)
{
    last_turns(gateway);
    for (size_t i = 0; i < gateway->worker_count; i++)
        worker_end_servers(&gateway->workers[i]);
    spawner_close(gateway->spawner); /* lives on the first one's loop */
    for (size_t i = 0; i < gateway->worker_count; i++)
        worker_done(&gateway->workers[i]);
    free(gateway->workers);
}
