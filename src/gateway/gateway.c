/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/gateway.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/export.h"
#include "gateway/gateway_priv.h"
#include "gateway/http_door.h"
#include "gateway/record_rules.h"
#include "gateway/recording.h"
#include "gateway/server_keeping.h"
#include "gateway/servers.h"
#include "gateway/start.h"
#include "gateway/state.h"
#include "store/lock.h"

enum {
    LINK_MS = 10 * 60 * 1000,
    MAX_WORKERS = 64,
    MAX_PLEDGED = 256 << 20,
    MAX_TRIALS = 2,             /* each holds up to HISTORY_BYTES */
    PLEDGE_PARTS = 8,           /* one of them for a proposer, on all workers, */
    MIN_PLEDGE_SHARE = 2 << 20, /* and this on each */
};

/* --- what the doors need --- */

size_t gateway_worker_count(const struct gateway *gateway)
{
    return gateway->worker_count;
}

struct worker *gateway_worker(struct gateway *gateway, size_t index)
{
    return &gateway->workers[index];
}

bool gateway_connection_started(struct gateway *gateway)
{
    if (atomic_fetch_add(&gateway->connections, 1) <
        atomic_load(&gateway->max_connections))
        return true;
    gateway_connection_ended(gateway);
    return false;
}

void gateway_connection_forced(struct gateway *gateway)
{
    atomic_fetch_add(&gateway->connections, 1);
}

void gateway_connection_ended(struct gateway *gateway)
{
    atomic_fetch_sub(&gateway->connections, 1);
}

bool gateway_room_started(struct gateway *gateway)
{
    if (atomic_fetch_add(&gateway->rooms, 1) < atomic_load(&gateway->max_rooms))
        return true;
    gateway_room_ended(gateway);
    return false;
}

void gateway_room_ended(struct gateway *gateway)
{
    atomic_fetch_sub(&gateway->rooms, 1);
}

bool gateway_may_pledge(const struct gateway *gateway, size_t more)
{
    return atomic_load(&gateway->pledged) + more <= MAX_PLEDGED;
}

size_t gateway_pledge_share(const struct gateway *gateway)
{
    size_t share = MAX_PLEDGED / PLEDGE_PARTS / gateway->worker_count;

    return share < MIN_PLEDGE_SHARE ? MIN_PLEDGE_SHARE : share;
}

void gateway_pledge(struct gateway *gateway, size_t was, size_t is)
{
    atomic_fetch_add(&gateway->pledged, is - was);
}

struct identity *gateway_local_identity(struct gateway *gateway)
{
    return gateway->local;
}

bool gateway_import_begin(struct gateway *gateway)
{
    return !atomic_exchange(&gateway->is_importing, true);
}

void gateway_import_end(struct gateway *gateway)
{
    atomic_store(&gateway->is_importing, false);
}

bool gateway_trial_begin(struct gateway *gateway)
{
    if (atomic_fetch_add(&gateway->trials, 1) < MAX_TRIALS)
        return true;
    gateway_trial_end(gateway);
    return false;
}

void gateway_trial_end(struct gateway *gateway)
{
    atomic_fetch_sub(&gateway->trials, 1);
}

bool gateway_is_importing(const struct gateway *gateway)
{
    return atomic_load(&gateway->is_importing);
}

struct store *gateway_store(struct gateway *gateway)
{
    return gateway->store;
}

const struct exporter *gateway_exporter(const struct gateway *gateway)
{
    return gateway->exporter;
}

const char *gateway_address(const struct gateway *gateway)
{
    return gateway->address;
}

const char *gateway_data(const struct gateway *gateway)
{
    return gateway->options->data;
}

const char *gateway_config_path(const struct gateway *gateway)
{
    return gateway->options->config_path;
}

const struct tuning *gateway_tuning(const struct gateway *gateway)
{
    return &gateway->tuning;
}

struct spawner *gateway_spawner(const struct gateway *gateway)
{
    return gateway->spawner;
}

struct server_list *gateway_added(const struct gateway *gateway)
{
    return gateway->added;
}

struct server_uids *gateway_uids(struct gateway *gateway)
{
    return &gateway->uids;
}

void gateway_set_added(struct gateway *gateway, struct server_list *list)
{
    gateway_prepare_servers(gateway, list);
    server_list_unref(gateway->added);
    gateway->added = server_list_ref(list);
}

/* In the data directory; servers have theirs below it. */
static void make_folder(const struct gateway *gateway, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", gateway->options->data, name);
    if (mkdir(path, 0700) && errno != EEXIST)
        log_error("server.folder", "path=%s reason=\"%s\"", LOG_TEXT(str_of(path)),
                  strerror(errno));
}

/* Those that workers know have theirs. */
static bool has_uid(const struct gateway *gateway, const struct server_list *list,
                    const struct server_spec *spec)
{
    const struct wanted_server *known = server_list_find(gateway->added, spec->name);

    return list != gateway->added && known && known->spec == spec;
}

static void give_uids(struct gateway *gateway, const struct server_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!has_uid(gateway, list, list->items[i].spec))
            server_uids_reserve(&gateway->uids, list->items[i].spec->permit.uid);
    for (size_t i = 0; i < list->count; i++)
        if (!has_uid(gateway, list, list->items[i].spec))
            server_give_uid(&gateway->workers[0], list->items[i].spec);
}

void gateway_unwant_servers(struct gateway *gateway, const struct server_list *next)
{
    const struct server_list *now = gateway->settings->servers;

    for (size_t i = 0; i < now->count; i++) {
        struct str name = now->items[i].spec->name;

        if (!server_list_find(next, name) && !server_list_find(gateway->added, name))
            server_uids_unwant(&gateway->uids, name);
    }
}

void gateway_prepare_servers(struct gateway *gateway, const struct server_list *list)
{
    bool has_command = false;

    give_uids(gateway, list);
    for (size_t i = 0; i < list->count; i++)
        has_command |= list->items[i].spec->url.len == 0;
    if (!has_command || gateway->spawner)
        return;
    make_folder(gateway, "servers");
    make_folder(gateway, "packages");
    if (spawner_open(gateway->workers[0].loop, &gateway->spawner))
        log_error("spawner.open", "reason=\"%s\"", strerror(errno));
}

bool gateway_is_ready(const struct gateway *gateway)
{
    return atomic_load(&gateway->is_ready);
}

void gateway_set_limits(struct gateway *gateway, const struct config *config)
{
    atomic_store(&gateway->max_connections, config->limits.connections);
    atomic_store(&gateway->max_rooms, config->topics.max);
}

/* --- starting --- */

static enum err block_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is the store's business */
    return pthread_sigmask(SIG_BLOCK, ret, NULL) ? ERR_IO : OK;
}

static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum err open_data(struct gateway *gateway)
{
    const char *data = gateway->options->data;
    struct store_setup setup = { .data = data, .url = gateway->settings->config->store };
    CLEANUP(xfreep) char *why = NULL;
    enum err err = data_lock(data, &gateway->lock_fd);

    if (err) {
        log_error("data.lock", "dir=%s reason=\"%s\"", LOG_TEXT(str_of(data)),
                  err == ERR_CONFLICT ? "another server uses it" : strerror(errno));
        return err;
    }
    err = store_open(&setup, &gateway->store, &why);
    if (err)
        log_error("store.open", "dir=%s reason=\"%s\"", LOG_TEXT(str_of(data)),
                  why ? why : err_name(err));
    return err ? err : start_first_tokens(data, gateway->store);
}

enum err gateway_load_config(const struct gateway *gateway, const struct tuning *tuning,
                             struct config **ret, struct config_problem *problem)
{
    const struct gateway_options *options = gateway->options;
    struct config_setting items[CONFIG_OVERLAY_MAX];
    struct config_overlay overlay = tuning_overlay(tuning, items);
    enum err err = config_load_over(options->config_path, &overlay, ret, problem);

    if (!err)
        options->adjust(*ret, options->user);
    return err;
}

static enum err read_tuned(const struct gateway *gateway, struct settings **ret,
                           struct config_problem *problem)
{
    struct config *config = NULL;
    enum err err = gateway_load_config(gateway, &gateway->tuning, &config, problem);

    if (err)
        return err;
    err = settings_new(config, ret, problem);
    if (err)
        config_free(config);
    return err;
}

/* What was set at run time is in force again. A file that does not go with it counts for
 * more: the server starts as that says. */
static enum err restore_tuning(struct gateway *gateway)
{
    struct config_problem problem = {};
    struct settings *settings = NULL;
    enum err err = tuning_restore(&gateway->tuning, gateway->store);

    if (err || gateway->tuning.count == 0)
        return err;
    if (read_tuned(gateway, &settings, &problem)) {
        log_error("setting.refuse", "reason=%s", LOG_TEXT(str_of(problem.message)));
        tuning_done(&gateway->tuning);
        return OK;
    }
    settings_unref(gateway->settings);
    gateway->settings = settings;
    log_set_level(settings->config->log);
    gateway_set_limits(gateway, settings->config);
    return OK;
}

static enum err add_listener(struct gateway *gateway, struct str address)
{
    const char *why = "";
    int fd;

    if (net_listen(address, &fd, &why)) {
        log_error("listen.fail", "address=%s reason=\"%s\"", LOG_TEXT(address), why);
        return ERR_IO;
    }
    gateway->listen_fds[gateway->listen_count++] = fd;
    return OK;
}

/* Of the first one by TCP; what listens on all addresses listens on loopback. */
static void note_address(struct gateway *gateway)
{
    static const struct str everywhere[] = { S("0.0.0.0:"), S("[::]:") };
    static const char *const here[] = { "127.0.0.1", "[::1]" };
    char bound[NET_ADDRESS] = "";

    for (size_t i = 0; i < gateway->listen_count; i++) {
        net_bound_address(gateway->listen_fds[i], bound);
        if (strrchr(bound, ':') && !str_starts(str_of(bound), S("unix:")))
            break;
        bound[0] = '\0';
    }
    (void)snprintf(gateway->address, sizeof(gateway->address), "%s", bound);
    for (size_t i = 0; i < COUNT(everywhere); i++)
        if (str_starts(str_of(bound), everywhere[i]))
            (void)snprintf(gateway->address, sizeof(gateway->address), "%s%s", here[i],
                           strrchr(bound, ':'));
}

static enum err open_listeners(struct gateway *gateway)
{
    const struct config_strs *listen = &gateway->settings->config->listen;
    char local[4096];

    gateway->listen_fds = xcalloc(listen->count + 1, sizeof(int));
    for (size_t i = 0; i < listen->count; i++)
        if (add_listener(gateway, listen->items[i]))
            return ERR_IO;
    note_address(gateway);
    (void)snprintf(local, sizeof(local), "unix:%s/moot.sock", gateway->options->data);
    return add_listener(gateway, str_of(local));
}

static void on_accept(void *user, int fd, const struct net_peer *peer)
{
    http_accept(user, fd, peer);
}

/* The data directory's own socket: whoever may use it is an administrator. Those of the
 * configuration are like any other address, since a proxy may stand before them. */
static void on_accept_local(void *user, int fd, const struct net_peer *peer)
{
    struct net_peer trusted = *peer;

    if (peer->uid != 0 && peer->uid != getuid()) {
        (void)close(fd);
        return;
    }
    trusted.is_trusted = true;
    http_accept(user, fd, &trusted);
}

static enum err start_listening(struct gateway *gateway, struct worker *worker)
{
    worker->listeners = xcalloc(gateway->listen_count, sizeof(*worker->listeners));
    for (size_t i = 0; i < gateway->listen_count; i++) {
        bool is_last = i + 1 == gateway->listen_count;
        enum err err =
            listener_init(&worker->listeners[i], worker->loop, gateway->listen_fds[i],
                          is_last ? on_accept_local : on_accept, worker);

        if (err)
            return err;
        worker->listener_count++;
    }
    return OK;
}

static void share_tokens(struct gateway *gateway, struct identity *const *identities,
                         size_t count)
{
    for (size_t w = 0; w < gateway->worker_count; w++)
        for (size_t i = 0; i < count; i++)
            token_table_add(&gateway->workers[w].tokens, identities[i]);
}

static void *run_worker(void *user)
{
    struct worker *worker = user;

    loop_run(worker->loop);
    return NULL;
}

static enum err start_workers(struct gateway *gateway)
{
    for (size_t i = 0; i < gateway->worker_count; i++) {
        struct worker *worker = &gateway->workers[i];

        if (start_listening(gateway, worker))
            return ERR_IO;
        if (i > 0 && pthread_create(&worker->thread, NULL, run_worker, worker))
            return ERR_IO;
        worker->has_thread = i > 0;
    }
    return OK;
}

static size_t count_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (cores > MAX_WORKERS)
        return MAX_WORKERS;
    return cores < 1 ? 1 : (size_t)cores;
}

void gateway_put_link(const struct worker *worker, struct str ticket, struct buf *out)
{
    char address[NET_ADDRESS];

    net_bound_address(worker->gateway->listen_fds[0], address);
    buf_putf(out, "%s://%s", worker->settings->tls ? "https" : "http", address);
    if (ticket.len)
        buf_putf(out, "/#ticket=" STR_FMT, STR_ARG(ticket));
}

/* Where it listens, and how to get in. */
static void print_banner(struct gateway *gateway, struct identity *admin)
{
    struct worker *first = &gateway->workers[0];
    struct buf ticket, link;

    buf_init(&ticket, 256);
    buf_init(&link, 1024);
    gateway_put_link(first, S(""), &link);
    printf("Moot %s is listening on %s\n", MOOT_VERSION, buf_cstr(&link));
    printf("Data directory: %s\n", gateway->options->data);
    if (gateway->options->shows_link && admin &&
        ticket_issue(&first->links, admin, LINK_MS, loop_now_ms(first->loop), &ticket) ==
            OK) {
        buf_clear(&link);
        gateway_put_link(first, buf_str(&ticket), &link);
        printf("Sign in (once, within 10 minutes): %s\n", buf_cstr(&link));
    }
    (void)fflush(stdout);
    crypto_wipe(ticket.ptr, ticket.len);
    crypto_wipe(link.ptr, link.len);
    buf_done(&ticket);
    buf_done(&link);
}

static struct identity *make_local_identity(void)
{
    static const struct str everywhere[] = { S("*") };
    const struct profile *profile = profile_find(S("admin"));

    return identity_new(&(struct identity){ .id = S("local"),
                                            .token_name = S("local"),
                                            .topics = { everywhere, 1 },
                                            .capabilities = profile->capabilities,
                                            .profile = profile->name,
                                            .type = profile->type,
                                            .source = FROM_SESSION,
                                            .is_admin = true });
}

static void make_workers(struct gateway *gateway)
{
    size_t wanted = gateway->settings->config->workers;

    gateway->worker_count = wanted ? wanted : count_cores();
    gateway->workers = xcalloc(gateway->worker_count, sizeof(*gateway->workers));
    for (size_t i = 0; i < gateway->worker_count; i++)
        worker_init(&gateway->workers[i], gateway, i, gateway->settings);
}

static void free_identities(struct identity **identities, size_t count)
{
    for (size_t i = 0; i < count; i++)
        identity_unref(identities[i]);
    free(identities);
}

static void on_signal(struct loop_fd *self, uint32_t events [[maybe_unused]])
{
    struct gateway *gateway = CONTAINER_OF(self, struct gateway, signals);
    struct signalfd_siginfo info;

    while (read(self->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP)
            gateway_reload_by_signal(gateway);
        else
            gateway_drain(gateway);
    }
}

static enum err watch_signals(struct gateway *gateway, const sigset_t *signals)
{
    int fd = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);

    if (fd < 0)
        return ERR_IO;
    gateway->signals =
        (struct loop_fd){ .fd = fd, .events = EPOLLIN, .on_ready = on_signal };
    gateway->drain_timer.on_fire = gateway_on_drain_tick;
    return loop_fd_add(gateway->workers[0].loop, &gateway->signals);
}

static void log_warnings(const struct config *config)
{
    for (size_t i = 0; i < config->warnings.count; i++)
        log_warn("config.warn", "file=%s line=%u what=%s", LOG_TEXT(config->file),
                 config->warnings.marks[i].line, LOG_TEXT(config->warnings.items[i]));
}

void gateway_apply_record(struct gateway *gateway)
{
    store_set_audit(gateway->store, record_rules_new(gateway->settings->config,
                                                     store_redact_key(gateway->store)));
}

/* It comes before whatever happens at other workers. */
static void note_start(struct gateway *gateway)
{
    gateway->has_started = true;
    recording_server(&gateway->workers[0], S("start"));
    recording_config(&gateway->workers[0], S("load"), S(""));
    recorder_hand_over(&gateway->workers[0]);
}

/* The loops do not run yet. */
static void start_servers(struct gateway *gateway)
{
    gateway_prepare_servers(gateway, gateway->settings->servers);
    gateway_prepare_servers(gateway, gateway->added);
    for (size_t i = 0; i < gateway->worker_count; i++)
        servers_apply(gateway->workers[i].servers);
}

static enum err start(struct gateway *gateway, const sigset_t *signals)
{
    struct config_problem problem = {};
    struct identity **identities = NULL;
    size_t count = 0;
    enum err err = settings_new(gateway->options->config, &gateway->settings, &problem);

    if (err) {
        struct buf out;

        buf_init(&out, 4096);
        config_problem_put(&problem, &out);
        fprintf(stderr, "moot: %s\n", buf_cstr(&out));
        buf_done(&out);
        config_free(gateway->options->config);
        return err;
    }
    log_set_level(gateway->settings->config->log);
    log_warnings(gateway->settings->config);
    gateway_set_limits(gateway, gateway->settings->config);
    err = open_data(gateway);
    if (!err)
        err = restore_tuning(gateway);
    if (!err)
        err = open_listeners(gateway);
    if (!err)
        err = start_load_tokens(gateway->store, &identities, &count);
    if (err)
        return err;
    gateway->exporter = exporter_new(gateway->store, gateway->options->data);
    gateway->local = make_local_identity();
    make_workers(gateway);
    share_tokens(gateway, identities, count);
    err = state_restore(gateway);
    if (!err)
        err = watch_signals(gateway, signals);
    if (!err) {
        gateway_apply_record(gateway);
        note_start(gateway);
        atomic_store(&gateway->is_ready, true);
        print_banner(gateway, start_find_admin(identities, count));
        exporter_apply(gateway->exporter, gateway->settings);
        start_servers(gateway);
        err = start_workers(gateway);
    }
    free_identities(identities, count);
    return err;
}

static void gateway_done(struct gateway *gateway)
{
    gateway->is_draining = true; /* for those that have not got so far */
    for (size_t i = 0; i < gateway->worker_count; i++)
        if (gateway->workers[i].has_thread)
            (void)pthread_join(gateway->workers[i].thread, NULL);
    gateway_quiet_workers(gateway);
    exporter_stop(gateway->exporter);
    if (gateway->store)
        store_stop(gateway->store); /* its answers still go to the loops, */
    exporter_free(gateway->exporter);
    gateway_end_workers(gateway);
    store_close(gateway->store); /* which may have asked how it is */
    gateway_close_listeners(gateway);
    free(gateway->listen_fds);
    identity_unref(gateway->local);
    server_list_unref(gateway->added);
    server_uids_done(&gateway->uids);
    settings_unref(gateway->settings);
    tuning_done(&gateway->tuning);
    if (gateway->signals.fd > 0)
        (void)close(gateway->signals.fd);
    if (gateway->lock_fd >= 0)
        (void)close(gateway->lock_fd);
}

int gateway_run(const struct gateway_options *options)
{
    struct gateway gateway = { .options = options,
                               .lock_fd = -1,
                               .added = server_list_new() };
    sigset_t signals;

    server_uids_init(&gateway.uids);
    raise_file_limit();
    if (block_signals(&signals) || start(&gateway, &signals)) {
        gateway_stop_workers(&gateway);
        gateway_done(&gateway);
        return 1;
    }
    loop_run(gateway.workers[0].loop);
    gateway_done(&gateway);
    log_info("server.stop", "version=%s", MOOT_VERSION);
    return 0;
}
