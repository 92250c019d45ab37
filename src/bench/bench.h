/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator: connects many clients to a server, publishes, and accounts for
 * every message at every receiver: nothing may be lost, doubled or out of order.
 *
 * One thread, one epoll of its own: a shared receive buffer, one timestamp per read and
 * waits shorter than a millisecond keep it several times cheaper than the server it
 * measures, which src/loop and src/net, made for servers, are not made for.
 *
 * Clients are numbered through all topics: client i is member i % members of topic
 * i / members. The first `publishers` members of each topic send. A publisher goes by a
 * window of own messages on the way, or all of them by a common rate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bench/histogram.h"
#include "bench/plot.h"

struct bench_progress {
    const char *phase;
    size_t open; /* connections that are ready */
    size_t connections;
    uint64_t deliveries; /* since the phase began */
    double seconds;      /* … */
};

struct bench_options {
    const char *url;          /* ws://HOST:PORT/PATH, wss://…, nats://HOST:PORT, … */
    const char *protocol;     /* what a URL without a scheme means; NULL: ws */
    const char *topic;        /* topic i is called TOPIC-i */
    const struct str *tokens; /* client i uses token i, again from the start after all */
    size_t token_count;
    const char *token_prefix; /* or PREFIX-i; NULL: no token */
    bool is_plain;            /* any broadcaster: no welcome is waited for */
    bool is_pingpong;         /* topics of two: the first calls, the second answers */
    bool is_cycling;    /* connect, be welcomed, break off, again; nothing is sent */
    bool is_churning;   /* who does not publish comes, goes, breaks off, stalls */
    bool resumes;       /* cycling: with the ticket of an earlier TLS session */
    const char *cacert; /* PEM file of what is trusted; NULL: what the system does */
    bool is_insecure;   /* no certificate is checked */
    uint64_t members;
    uint64_t topics;
    uint64_t publishers;   /* per topic */
    uint64_t participants; /* tokens repeat after so many; 0: never */
    uint64_t window;
    uint64_t rate; /* messages a second, all publishers together; 0: by window */
    uint64_t size; /* of an envelope in bytes */
    uint64_t seconds;
    uint64_t deliveries; /* end after so many; 0: by time alone */
    uint64_t life;       /* churn: deliveries between two deeds, on average */
    uint64_t stall_ms;   /* churn: the longest time without reading */
    uint64_t seed;       /* churn: of what happens when */
    uint64_t warm_ms;
    uint64_t idle;   /* so many clients that only hold their connection */
    bool is_probing; /* idle: at the end a message in each topic must reach everybody */
    uint64_t joins;  /* so many come to the members, by `rate` or `window` at a time */
    const char *presence; /* how members want to hear of others, or NULL */
    bool is_mixed;        /* every second member of a topic speaks the dotted dialect */
    int hold_fd;      /* idle: hold until this can be read, not for `seconds`; or -1 */
    const char *from; /* "127.0.0.2-127.0.0.9": addresses to connect from, or NULL */
    uint64_t sources; /* addresses 127.0.0.x to connect from; 0: as needed */
    uint64_t connect_seconds;
    uint64_t pid; /* of a local server; 0: its usage is not reported */

    /* A phase begins; may be NULL. */
    void (*on_phase)(void *user, const char *phase);
    /* Called a few times a second; may be NULL. */
    void (*on_progress)(void *user, const struct bench_progress *progress);
    void *user;
};

enum { BENCH_NOTE = 256 };

/* What became of those who come and go. */
struct bench_churn {
    uint64_t leaves; /* with a close */
    uint64_t resets;
    uint64_t stalls;
    uint64_t slow; /* stalled ones that the server closed */
    uint64_t warned;
    uint64_t unchecked; /* so far behind that the order had been forgotten */
};

/* Rates and latency are of the measured time, faults of the whole run. */
struct bench_result {
    size_t connections;
    double seconds;
    uint64_t published;
    uint64_t deliveries;
    struct histogram latency; /* ns; cycling, joins: from connecting to being ready */
    uint64_t joined;          /* connections that became ready */
    uint64_t resumed;         /* … with the ticket of an earlier TLS session */
    double connecting;        /* seconds that connecting took */

    struct bench_churn churn;

    uint64_t welcome_bytes; /* joins: of all welcomes together */
    uint64_t member_frames; /* joins: what those received who were there before */
    uint64_t member_bytes;

    uint64_t lost;
    uint64_t duplicates;
    uint64_t disorder; /* arrived after a later message of the same sender */
    uint64_t
        order_differs; /* members that saw another order than the first of the topic */
    uint64_t strays;   /* from another topic, or from nobody */
    uint64_t errors;   /* what the server refused */
    uint64_t closed;   /* connections that the server ended */
    uint64_t skipped;  /* by rate: not sent because the server did not read */
    char first_error[BENCH_NOTE];
    char first_close[BENCH_NOTE];

    uint64_t own_cpu_ns; /* of the generator itself */

    bool has_usage; /* of the server, when its pid was given */
    uint64_t cpu_ns;
    uint64_t user_ms;
    uint64_t system_ms;
    uint64_t rss_before;
    uint64_t rss_after;
    size_t idle_added; /* idle: connections that came between these two */
};

/* Runs the whole measurement. On failure (ERR_INVALID: an option; ERR_IO: the server)
 * `why` is given the reason. */
enum err bench_run(const struct bench_options *options, struct buf *why,
                   struct bench_result *ret);

/* A report for people, with a plot of the latencies. */
void bench_write_text(const struct bench_options *options,
                      const struct bench_result *result, enum plot_style style,
                      struct buf *out);

/* One JSON object, for programs. */
void bench_write_json(const struct bench_result *result, struct buf *out);
