/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload, in two phases: the settings are read, checked and laid out on the store's
 * thread; if all of it is right, every worker puts them into force, else nothing has
 * changed.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/export.h"
#include "gateway/gateway_priv.h"
#include "gateway/recording.h"

static const struct str stopping = S("the server is stopping");

struct reload {
    struct store_job job; /* files are read on the store's thread, not on a loop */
    struct gather gather;
    struct gateway *gateway;
    struct worker *worker;
    struct settings *settings;
    struct tuning tuning; /* what lies over the file */
    struct buf problem;
    void (*on_done)(void *user, struct str problem);
    void *user;
};

static void on_sighup_done(void *user [[maybe_unused]],
                           struct str problem [[maybe_unused]])
{
    /* The log has said how it went. */
}

/* A signal is never lost: what it is about may have been written after the last look. */
void gateway_reload_by_signal(struct gateway *gateway)
{
    gateway->reloads_again = gateway->is_reloading;
    if (!gateway->is_reloading)
        gateway_reload(gateway, &gateway->workers[0], on_sighup_done, NULL);
}

static void log_refusal(struct str reason)
{
    log_error("config.refuse", "reason=%s", LOG_TEXT(reason));
}

static void reload_finish(struct reload *reload)
{
    struct gateway *gateway = reload->gateway;

    if (reload->problem.len) {
        log_refusal(buf_str(&reload->problem));
    } else {
        log_info("config.reload", "file=%s set=%zu",
                 gateway->options->config_path ? gateway->options->config_path : "",
                 gateway->tuning.count);
        log_set_level(reload->settings->config->log);
        gateway_set_limits(gateway, reload->settings->config);
    }
    recording_config(reload->worker, S("reload"), buf_str(&reload->problem));
    gateway->is_reloading = false;
    reload->on_done(reload->user, buf_str(&reload->problem));
    tuning_done(&reload->tuning);
    if (reload->gather.parts)
        gather_done(&reload->gather);
    settings_unref(reload->settings);
    buf_done(&reload->problem);
    free(reload);
    if (gateway->reloads_again)
        gateway_reload_by_signal(gateway);
}

static void on_all_applied(struct gather *gather)
{
    struct reload *reload = CONTAINER_OF(gather, struct reload, gather);
    struct gateway *gateway = reload->gateway;

    settings_unref(gateway->settings);
    gateway->settings = settings_ref(reload->settings);
    tuning_done(&gateway->tuning);
    gateway->tuning = reload->tuning;
    reload->tuning = (struct tuning){};
    exporter_apply(gateway->exporter, gateway->settings);
    gateway_apply_record(gateway);
    reload_finish(reload);
}

static void visit_apply(struct gather *gather, struct gather_part *part)
{
    const struct reload *reload = CONTAINER_OF(gather, struct reload, gather);

    worker_apply(part->worker, reload->settings);
}

static void read_config(struct store_job *job, struct store *store [[maybe_unused]])
{
    struct reload *reload = CONTAINER_OF(job, struct reload, job);
    struct config_problem problem = {};
    struct config *config = NULL;
    const char *option;

    if (gateway_load_config(reload->gateway, &reload->tuning, &config, &problem)) {
        config_problem_put(&problem, &reload->problem);
        return;
    }
    option = config_needs_restart(reload->gateway->settings->config, config);
    if (option)
        buf_putf(&reload->problem, "`%s` has changed, and that needs a restart", option);
    else if (settings_new(config, &reload->settings, &problem))
        config_problem_put(&problem, &reload->problem);
    if (!reload->settings)
        config_free(config);
}

static void on_config_read(struct store_job *job)
{
    struct reload *reload = CONTAINER_OF(job, struct reload, job);

    /* The store's last letters come when it is closed already. */
    if (!reload->problem.len && reload->gateway->is_draining)
        buf_put(&reload->problem, stopping);
    if (reload->problem.len) {
        reload_finish(reload);
        return;
    }
    gateway_unwant_servers(reload->gateway, reload->settings->servers);
    gateway_prepare_servers(reload->gateway, reload->settings->servers);
    reload->gather.visit = visit_apply;
    reload->gather.done = on_all_applied;
    gather_start(&reload->gather, reload->worker);
}

/* Always on the first worker, so reloads follow one another. Why not now, or "". */
static struct str hindrance(const struct gateway *gateway)
{
    if (gateway->is_draining)
        return stopping;
    return gateway->is_reloading ? S("another reload is under way") : S("");
}

static struct reload *reload_new(struct gateway *gateway, struct worker *worker,
                                 const struct tuning *tuning, void *user)
{
    struct reload *reload = xcalloc(1, sizeof(*reload));

    reload->job = (struct store_job){ .loop = worker->loop,
                                      .work = read_config,
                                      .done = on_config_read };
    reload->gateway = gateway;
    reload->worker = worker;
    reload->user = user;
    tuning_copy(&reload->tuning, tuning);
    buf_init(&reload->problem, 4096);
    return reload;
}

static void reload_start(struct reload *reload)
{
    reload->gateway->is_reloading = true;
    store_submit(reload->gateway->store, &reload->job);
}

void gateway_reload(struct gateway *gateway, struct worker *worker,
                    void (*on_done)(void *user, struct str problem), void *user)
{
    struct str why = hindrance(gateway);
    struct reload *reload;

    if (!gateway->options->config_path) {
        why = S("the server runs without a configuration file");
        log_refusal(why);
    }
    if (why.len) {
        on_done(user, why);
        return;
    }
    reload = reload_new(gateway, worker, &gateway->tuning, user);
    reload->on_done = on_done;
    reload_start(reload);
}

void gateway_tune(struct gateway *gateway, const struct tuning *tuning,
                  void (*on_done)(void *user, struct str problem), void *user)
{
    struct worker *worker = &gateway->workers[0];
    struct str why = hindrance(gateway);
    struct reload *reload;

    if (why.len) {
        on_done(user, why);
        return;
    }
    reload = reload_new(gateway, worker, tuning, user);
    reload->on_done = on_done;
    reload_start(reload);
}
