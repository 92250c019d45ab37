/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of the load generator: connect everybody, wait until the room is quiet, warm up,
 * measure, let what is on the way arrive. Every phase has a deadline.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/bench_priv.h"
#include "bench/churn.h"
#include "bench/join.h"
#include "bench/options.h"
#include "bench/stream.h"
#include "bench/usage.h"
#include "net/tls_client.h"

#define MS UINT64_C(1'000'000) /* in ns */

enum { OPENING_MAX = 128 }; /* connections in the making at a time */
enum { QUIET_MS = 150, SETTLE_MS = 5000, DRAIN_MS = 3000, SHOW_MS = 200 };
enum { EVENTS = 512, SPARE_FILES = 32 };

/* What was there at one moment: a measurement is the difference of two. */
struct moment {
    uint64_t now_ns;
    struct counts counts;
    struct usage usage;
    uint64_t own_cpu_ns;
};

void load_fail(struct load *load, const char *format, ...)
{
    char text[2 * BENCH_NOTE];
    va_list args;

    if (load->has_failed)
        return;
    load->has_failed = true;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_put(load->why, str_of(text));
}

void load_queue(struct load *load, struct client *client)
{
    if (client->is_queued)
        return;
    client->is_queued = true;
    load->queue[load->queued++] = client;
}

/* xorshift: enough for masks, which only must not be constant. */
uint32_t load_mask(struct load *load)
{
    load->random ^= load->random << 13;
    load->random ^= load->random >> 17;
    load->random ^= load->random << 5;
    return load->random;
}

struct str load_topic(const struct load *load, const struct client *client)
{
    if (client->index >= load->residents)
        return str_of(
            load->topics[(client->index - load->residents) % load->options.topics]);
    return str_of(load->topics[client->index / load->options.members]);
}

/* --- the loop --- */

static struct timespec time_left(uint64_t now_ns, uint64_t until_ns)
{
    uint64_t left = until_ns > now_ns ? until_ns - now_ns : 0;

    return (struct timespec){ .tv_sec = (time_t)(left / (1000 * MS)),
                              .tv_nsec = (long)(left % (1000 * MS)) };
}

/* Everybody who has something to say publishes and is sent once. */
static void serve_queue(struct load *load)
{
    for (size_t i = 0; i < load->queued; i++) {
        struct client *client = load->queue[i];

        load->serve(load, client);
        client_flush(load, client);
        client->is_queued = false;
    }
    load->queued = 0;
}

static void show(struct load *load)
{
    const struct bench_options *options = &load->options;

    if (!options->on_progress || load->now_ns < load->shown_ns + SHOW_MS * MS)
        return;
    load->shown_ns = load->now_ns;
    options->on_progress(options->user,
                         &(struct bench_progress){
                             .phase = load->phase,
                             .open = load->open,
                             .connections = load->client_count,
                             .deliveries = load->counts.delivered - load->phase_delivered,
                             .seconds = (double)(load->now_ns - load->phase_ns) / 1e9,
                         });
}

static void begin_phase(struct load *load, const char *phase)
{
    load->phase = phase;
    load->phase_ns = load->now_ns = clock_mono_ns();
    load->phase_delivered = load->counts.delivered;
    if (load->options.on_phase)
        load->options.on_phase(load->options.user, phase);
}

/* The event of a descriptor that is no client's. */
static void release(struct load *load)
{
    load->is_released = true;
    (void)epoll_ctl(load->epoll, EPOLL_CTL_DEL, load->options.hold_fd, NULL);
}

/* One turn of the loop; sleeps until `until_ns` at most. */
static void turn(struct load *load, uint64_t until_ns)
{
    struct epoll_event events[EVENTS];
    struct timespec timeout;
    int count;

    if (load->is_publishing && load->options.rate && load->due_ns < until_ns)
        until_ns = load->due_ns;
    if (load->churn && churn_due_ns(load) < until_ns)
        until_ns = churn_due_ns(load);
    if (load->options.on_progress && load->now_ns + SHOW_MS * MS < until_ns)
        until_ns = load->now_ns + SHOW_MS * MS;
    timeout = time_left(clock_mono_ns(), load->queued ? 0 : until_ns);
    count = epoll_pwait2(load->epoll, events, EVENTS, &timeout, NULL);
    if (count < 0 && errno != EINTR)
        load_fail(load, "epoll_pwait2: %s", strerror(errno));
    load->now_ns = clock_mono_ns();
    for (int i = 0; i < count; i++)
        if (events[i].data.ptr)
            client_on_event(load, events[i].data.ptr, events[i].events);
        else
            release(load);
    traffic_tick(load);
    if (load->churn)
        churn_tick(load);
    serve_queue(load);
    show(load);
}

static bool has_reached_limit(const struct load *load)
{
    return load->limit && load->counts.delivered - load->phase_delivered >= load->limit;
}

static void run_until(struct load *load, uint64_t until_ns)
{
    while (load->now_ns < until_ns && !load->has_failed && !has_reached_limit(load))
        turn(load, until_ns);
}

/* --- setting up --- */

/* Raises the limit on files as far as it goes. */
static void make_room(struct load *load)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (load->client_count + SPARE_FILES > limit.rlim_cur)
        load_fail(load, "%zu connections need a higher limit on open files than %llu",
                  load->client_count, (unsigned long long)limit.rlim_cur);
}

static enum err make_tls(struct load *load)
{
    const struct tls_trust trust = { .cacert = load->options.cacert,
                                     .is_insecure = load->options.is_insecure };
    char *why = NULL;
    enum err err;

    if (!load->address.is_secure)
        return OK;
    err = tls_client_new(&trust, &load->tls, &why);
    if (err)
        load_fail(load, "%s", why);
    free(why);
    return err;
}

static void make_clients(struct load *load)
{
    const struct bench_options *options = &load->options;

    load->topics = xcalloc(options->topics, sizeof(*load->topics));
    for (size_t i = 0; i < options->topics; i++)
        (void)snprintf(load->topics[i], TOPIC_SIZE, "%s-%zu", options->topic, i);
    load->clients = xcalloc(load->client_count, sizeof(*load->clients));
    load->queue = xcalloc(load->client_count, sizeof(struct client *));
    for (size_t i = 0; i < load->client_count; i++) {
        struct client *client = &load->clients[i];

        client->fd = -1;
        client->index = (uint32_t)i;
        buf_init(&client->rest, STREAM_MAX);
        buf_init(&client->out, STREAM_MAX);
    }
}

static void load_init(struct load *load)
{
    const struct bench_options *options = &load->options;

    load->serve = options->is_cycling ? cycle_serve : traffic_refill;
    load->on_open = options->is_cycling ? load_queue : NULL;
    if (options->joins)
        load->on_open = join_on_open;
    load->residents = options->idle ? options->idle : options->members * options->topics;
    load->client_count = load->residents + options->joins;
    make_room(load);
    make_clients(load);
    buf_init(&load->rx, (size_t)2 * STREAM_MAX);
    if (getrandom(&load->run, sizeof(load->run), 0) != sizeof(load->run))
        load_fail(load, "getrandom: %s", strerror(errno));
    load->random = load->run | 1;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->epoll < 0)
        load_fail(load, "epoll_create1: %s", strerror(errno));
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (options->is_churning)
        churn_init(load);
    traffic_init(load);
}

static void load_done(struct load *load)
{
    for (size_t i = 0; i < load->client_count; i++)
        client_done(&load->clients[i]);
    traffic_done(load);
    churn_done(load);
    tls_client_free(load->tls);
    free(load->topics);
    free(load->clients);
    free(load->queue);
    buf_done(&load->rx);
    if (load->epoll >= 0)
        (void)close(load->epoll);
}

/* --- phases --- */

/* Connects the clients up to, not including, number `end`. */
static void connect_until(struct load *load, size_t end)
{
    size_t next = load->open + load->counts.closed;
    uint64_t until_ns;

    begin_phase(load, "connecting");
    until_ns = load->now_ns + load->options.connect_seconds * 1000 * MS;
    while (load->open + load->counts.closed < end && !load->has_failed) {
        while (next < end && load->opening < OPENING_MAX && !load->has_failed)
            client_open(load, &load->clients[next++]);
        turn(load, until_ns);
        if (load->now_ns >= until_ns)
            load_fail(load, "only %zu of %zu clients were ready after %llu s", load->open,
                      end, (unsigned long long)load->options.connect_seconds);
    }
    load->connecting_ns += load->now_ns - load->phase_ns;
}

/* Joins are announced to those who came earlier; the run begins when that has ended. */
static void settle(struct load *load)
{
    uint64_t until_ns = load->now_ns + SETTLE_MS * MS;

    load->heard_ns = load->now_ns;
    while (load->now_ns < until_ns && load->now_ns < load->heard_ns + QUIET_MS * MS &&
           !load->has_failed)
        turn(load, load->heard_ns + QUIET_MS * MS);
}

static void drain(struct load *load)
{
    uint64_t until_ns = load->now_ns + DRAIN_MS * MS;

    begin_phase(load, "draining");
    load->is_publishing = false;
    while (load->now_ns < until_ns && (load->opening || traffic_missing(load)) &&
           !load->has_failed)
        turn(load, load->now_ns + 10 * MS);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec used = {};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000 * MS + (uint64_t)used.tv_nsec;
}

static void take_moment(struct load *load, struct moment *ret)
{
    struct moment moment = { .counts = load->counts };
    pid_t pid = (pid_t)load->options.pid;

    if (pid && usage_read(pid, &moment.usage))
        load_fail(load, "the usage of process %d cannot be read", (int)pid);
    moment.own_cpu_ns = own_cpu_ns();
    moment.now_ns = clock_mono_ns();
    *ret = moment;
}

static void fill_result(const struct load *load, const struct moment *from,
                        const struct moment *to)
{
    struct bench_result *result = load->result;

    result->connections = load->client_count;
    result->seconds = (double)(to->now_ns - from->now_ns) / 1e9;
    result->published = to->counts.published - from->counts.published;
    result->deliveries = to->counts.delivered - from->counts.delivered;
    result->joined = to->counts.joined - from->counts.joined;
    result->resumed = to->counts.resumed - from->counts.resumed;
    if (load->churn)
        result->joined = load->counts.joined;
    result->welcome_bytes = to->counts.welcome_bytes - from->counts.welcome_bytes;
    result->member_frames = to->counts.member_frames - from->counts.member_frames;
    result->member_bytes = to->counts.member_bytes - from->counts.member_bytes;
    result->connecting = (double)load->connecting_ns / 1e9;
    result->lost = traffic_missing(load);
    result->duplicates = load->counts.faults.duplicates;
    result->disorder = load->counts.faults.disorder;
    result->order_differs = traffic_order_differs(load);
    result->strays = load->counts.strays;
    result->errors = load->counts.errors;
    result->closed = load->counts.closed;
    result->skipped = load->counts.skipped;
    result->own_cpu_ns = to->own_cpu_ns - from->own_cpu_ns;
    result->has_usage = load->options.pid != 0;
    result->cpu_ns = to->usage.cpu_ns - from->usage.cpu_ns;
    result->user_ms = to->usage.user_ms - from->usage.user_ms;
    result->system_ms = to->usage.system_ms - from->usage.system_ms;
    result->rss_before = from->usage.rss_bytes;
    result->rss_after = to->usage.rss_bytes;
}

/* So many connections come before the first look at an idle server's memory: they pay
 * for what it loads and sets up once. */
static size_t idle_first(const struct load *load)
{
    return load->client_count / 100;
}

/* What cannot be watched, a file or nothing, does not hold anybody up. */
static void hold(struct load *load)
{
    struct epoll_event event = { .events = EPOLLIN };

    begin_phase(load, "holding");
    if (load->options.hold_fd < 0) {
        run_until(load, load->now_ns + load->options.seconds * 1000 * MS);
        return;
    }
    load->is_released =
        epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->options.hold_fd, &event) != 0;
    while (!load->is_released && !load->has_failed)
        turn(load, load->now_ns + 1000 * MS);
}

/* One message in each topic, sent by its first member. */
static void probe(struct load *load)
{
    traffic_start(load);
    serve_queue(load);
    drain(load);
}

static void run_idle(struct load *load)
{
    struct moment from;
    struct moment to;

    connect_until(load, idle_first(load));
    settle(load);
    take_moment(load, &from);
    connect_until(load, load->client_count);
    settle(load);
    hold(load);
    take_moment(load, &to);
    if (load->options.is_probing && !load->has_failed)
        probe(load);
    fill_result(load, &from, &to);
    load->result->published = load->counts.published;
    load->result->deliveries = load->counts.delivered;
    load->result->idle_added = load->client_count - idle_first(load);
}

/* The first connections pay for what the server sets up once, and bring the ticket. */
static void run_cycles(struct load *load)
{
    struct moment from;
    struct moment to;

    begin_phase(load, "warming up");
    for (size_t i = 0; i < load->client_count && !load->has_failed; i++)
        client_open(load, &load->clients[i]);
    run_until(load, load->now_ns + load->options.warm_ms * MS);
    take_moment(load, &from);
    load->is_measuring = true;
    begin_phase(load, "measuring");
    run_until(load, load->now_ns + load->options.seconds * 1000 * MS);
    take_moment(load, &to);
    fill_result(load, &from, &to);
    if (!load->result->joined)
        load_fail(load, "no connection was ready within %llu s",
                  (unsigned long long)load->options.seconds);
}

static void join_all(struct load *load)
{
    uint64_t until_ns;

    begin_phase(load, "measuring");
    until_ns = load->now_ns + load->options.connect_seconds * 1000 * MS;
    load->due_ns = load->now_ns;
    load->connecting_ns = 0;
    load->is_measuring = true;
    while (load->open + load->counts.closed < load->client_count && !load->has_failed) {
        join_tick(load, load->client_count);
        turn(load, join_due_ns(load) < until_ns ? join_due_ns(load) : until_ns);
        if (load->now_ns >= until_ns)
            load_fail(load, "only %zu of %zu clients were ready after %llu s", load->open,
                      load->client_count,
                      (unsigned long long)load->options.connect_seconds);
    }
    load->connecting_ns = load->now_ns - load->phase_ns;
}

static void run_joins(struct load *load)
{
    struct moment from;
    struct moment to;

    connect_until(load, load->residents);
    settle(load);
    if (load->has_failed)
        return;
    take_moment(load, &from);
    join_all(load);
    settle(load);
    take_moment(load, &to);
    fill_result(load, &from, &to);
}

static void run_traffic(struct load *load)
{
    struct moment from;
    struct moment to;

    connect_until(load, load->client_count);
    settle(load);
    if (load->has_failed)
        return;
    traffic_start(load);
    begin_phase(load, "warming up");
    run_until(load, load->now_ns + load->options.warm_ms * MS);
    take_moment(load, &from);
    load->is_measuring = true;
    begin_phase(load, "measuring");
    load->limit = load->options.deliveries;
    run_until(load, load->now_ns + load->options.seconds * 1000 * MS);
    load->limit = 0;
    load->is_measuring = false;
    take_moment(load, &to);
    if (load->churn)
        churn_end(load);
    drain(load);
    fill_result(load, &from, &to);
}

enum err bench_run(const struct bench_options *options, struct buf *why,
                   struct bench_result *ret)
{
    struct bench_result *result = xcalloc(1, sizeof(*result));
    struct load load = { .options = *options, .why = why, .result = result, .epoll = -1 };
    enum err err = options_check(&load);

    if (!err)
        err = make_tls(&load);
    if (!err) {
        load_init(&load);
        if (load.options.is_cycling)
            run_cycles(&load);
        else if (load.options.joins)
            run_joins(&load);
        else if (load.options.idle)
            run_idle(&load);
        else
            run_traffic(&load);
        err = load.has_failed ? ERR_IO : OK;
        load_done(&load);
    }
    if (!err)
        *ret = *result;
    free(result);
    return err;
}
