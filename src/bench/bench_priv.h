/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the generator share:
 *
 *     options.c       do they go together?
 *     address.c       the URL
 *     protocol_*.c    how a server is spoken to
 *     client.c        one connection: connect, subscribe, what arrives
 *     traffic.c       what is sent when, and what every arrival proves
 *     cycle.c         connections that are made again and again
 *     join.c          members that come to a topic
 *     order.c         the one order of a topic, and what a member sees of it
 *     churn.c         members that come, go, break off and stall
 *     run.c           the phases of a run
 *     report.c        the result as text and as JSON
 *
 * A failure that ends the run is recorded once, by load_fail(); every loop asks for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/str.h"
#include "bench/bench.h"
#include "bench/message.h"
#include "bench/protocol.h"
#include "bench/source.h"
#include "bench/track.h"

enum { TOPIC_SIZE = 64, HOST_SIZE = 256 };

struct churn;
struct tls_client;
struct tls_session;

/* Where the server is. */
struct address {
    const struct protocol *protocol;
    struct str host;      /* "127.0.0.1:8420", as written in the URL */
    struct str path;      /* with its query; may be empty */
    char name[HOST_SIZE]; /* of the host alone */
    struct sockaddr_storage socket;
    socklen_t socket_size;
    bool is_loopback; /* IPv4 */
    bool is_secure;   /* by TLS */
};

/* Looks the host up; `protocol` is what a URL without a scheme means. ERR_INVALID with
 * the reason in `why`. The address borrows `url`. */
enum err address_parse(const char *url, const char *protocol, struct buf *why,
                       struct address *ret);

enum client_state {
    CLIENT_NEW,
    CLIENT_CONNECTING,
    CLIENT_SECURING,    /* the handshake of TLS */
    CLIENT_GREETING,    /* the server has not accepted it yet */
    CLIENT_SUBSCRIBING, /* … or not let it into its topic */
    CLIENT_OPEN,
    CLIENT_CLOSED,
};

struct client {
    int fd;
    uint32_t index;
    enum client_state state;
    bool is_queued;      /* stands in load.queue: has something to publish or to send */
    bool watches_write;  /* the last send was short */
    uint16_t close_code; /* that the server gave, or 0 */
    uint64_t began_ns;   /* when it began to connect */
    struct tls_session *tls;
    struct buf rest; /* the start of a unit that is not complete */
    struct buf out;
    char *id;                /* the participant, as the welcome tells it, or NULL */
    struct track *tracks;    /* per publisher of the topic, or NULL */
    struct message *message; /* what it sends, or NULL */
    uint32_t next_seq;
    uint32_t outstanding; /* own messages whose echo or answer has not come */
    uint64_t received;
    uint64_t order; /* hash over everything received, in its order */
};

struct counts {
    uint64_t published;
    uint64_t delivered;
    struct track_faults faults;
    uint64_t strays;
    uint64_t errors;
    uint64_t closed;
    uint64_t skipped;
    uint64_t joined; /* connections that became ready */
    uint64_t resumed;
    uint64_t welcome_bytes;
    uint64_t member_frames; /* that came to residents */
    uint64_t member_bytes;
};

struct load {
    struct bench_options options;
    struct address address;
    struct source_range from;
    struct buf *why;
    bool has_failed;
    char (*topics)[TOPIC_SIZE]; /* their names */
    struct client *clients;
    size_t client_count;
    size_t residents; /* joins: those who are there before; else all */
    size_t opening;   /* connections that are not ready yet */
    size_t open;
    uint64_t connecting_ns; /* how long connecting took */
    struct client **queue;  /* clients to be served at the end of the turn */
    size_t queued;
    /* What a queued client has to do before it is flushed. */
    void (*serve)(struct load *load, struct client *client);
    /* A client is ready; may be NULL. */
    void (*on_open)(struct load *load, struct client *client);
    struct tls_client *tls; /* with wss, else NULL */
    struct churn *churn;    /* or NULL */
    int receive_bytes;      /* SO_RCVBUF; 0: the system's choice */
    uint64_t limit;         /* of deliveries in this phase; 0: none */
    struct buf rx;
    struct counts counts;
    struct bench_result *result; /* receives latencies and notes while running */
    uint64_t now_ns;
    uint64_t heard_ns; /* when something last arrived */
    uint64_t due_ns;   /* by rate: when the next message is to be sent */
    size_t turn;       /* by rate: whose turn it is */
    uint32_t run;
    uint32_t random;
    int epoll;
    bool is_publishing;
    bool is_released; /* nobody has to hold any longer */
    bool is_measuring;

    const char *phase; /* for the progress */
    uint64_t phase_ns;
    uint64_t phase_delivered;
    uint64_t shown_ns;
};

/* Ends the run with a reason; the first one counts. */
void load_fail(struct load *load, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts a client on the list of those served at the end of the turn. */
void load_queue(struct load *load, struct client *client);

/* A mask for the next frame. */
uint32_t load_mask(struct load *load);

struct str load_topic(const struct load *load, const struct client *client);

/* How this client spells kinds. */
enum message_dialect client_dialect(const struct load *load, const struct client *client);

/* Begins to connect. */
void client_open(struct load *load, struct client *client);
void client_on_event(struct load *load, struct client *client, uint32_t events);

/* Sends what is waiting. */
void client_flush(struct load *load, struct client *client);

/* Resets the connection and forgets it; the client may be opened again. */
void client_drop(struct load *load, struct client *client);
void client_done(struct client *client);

/* Watches for these events of epoll. */
void client_watch(struct load *load, struct client *client, uint32_t events);

/* Asks the server for an end; what arrives until then is nobody's business. */
void client_leave(struct load *load, struct client *client);

/* Gives the members their accounts. */
void traffic_init(struct load *load);
void traffic_done(struct load *load);

/* Gives every publisher its message and starts it. */
void traffic_start(struct load *load);

/* Publishes what the window of this client allows. */
void traffic_refill(struct load *load, struct client *client);

/* Publishes what the rate asks for by now. */
void traffic_tick(struct load *load);

/* A text has arrived at an open client. */
void traffic_receive(struct load *load, struct client *client, struct str text);

/* The server has refused something, in its own words. */
void traffic_refused(struct load *load, struct client *client, struct str text);

/* How many messages somebody should have and has not. */
uint64_t traffic_missing(const struct load *load);

/* Clients that saw everything, but not in the order the first of their topic saw. */
uint64_t traffic_order_differs(const struct load *load);
