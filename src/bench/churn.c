/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members that come and go. The publishers of a topic stay; every other member does
 * something after a random number of deliveries: it leaves with a close, breaks off with
 * a reset, or reads nothing for a while and then goes on. Whoever is gone comes again.
 *
 *     connect ─► welcome ─► deliveries … ─┬─► close, wait for the end ─► connect …
 *                              ▲          ├─► reset ─► connect …
 *                              └─ pause ◄─┘      (the server may close it: 4008)
 *
 * As long as it reads, it must see all that is sent from its welcome on, once, in the
 * order that all others see (order.h). A stalled one that the server closes is none of
 * the server's faults; it has lost only what it did not read.
 */
#include "bench/churn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bench/bench_priv.h"
#include "bench/order.h"

#define MS UINT64_C(1'000'000) /* in ns */

enum { SLOW_CODE = 4008 };
enum { RECEIVE_BYTES = 64 * 1024 }; /* the kernel must not read for who does not */

enum deed { DEED_NONE, DEED_LEAVE, DEED_RESET, DEED_STALL };

/* One member between a welcome and its end. */
struct life {
    struct view view;
    enum deed deed;   /* what it is at */
    bool is_listed;   /* in churn.acting */
    bool is_asleep;   /* in churn.stalled */
    bool has_stalled; /* not long ago */
    uint32_t left;    /* deliveries until it does something */
    uint64_t wake_ns; /* stalled: until then */
};

struct churn {
    struct order *orders;   /* per topic */
    uint32_t *sent;         /* per topic and publisher: how many */
    struct life *lives;     /* per client */
    struct client **acting; /* who does something at the end of this turn */
    size_t acting_count;
    struct client **stalled;
    size_t stalled_count;
    uint64_t wake_ns; /* when the first of them goes on */
    uint64_t random;
    bool is_over;
};

/* splitmix64: the same deeds from the same seed, as far as the clock agrees. */
static uint64_t below(struct churn *churn, uint64_t limit)
{
    uint64_t x = churn->random += 0x9e3779b97f4a7c15;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (x ^ x >> 31) % limit;
}

static size_t topic_of(const struct load *load, const struct client *client)
{
    return client->index / load->options.members;
}

static bool is_publisher(const struct load *load, const struct client *client)
{
    return client->index % load->options.members < load->options.publishers;
}

static uint32_t *sent_in(const struct load *load, const struct client *client)
{
    return &load->churn->sent[topic_of(load, client) * load->options.publishers];
}

/* How many messages each publisher of a topic has sent by now. */
static const uint32_t *look_up_sent(const struct load *load, const struct client *client)
{
    const struct client *first =
        &load->clients[topic_of(load, client) * load->options.members];
    uint32_t *sent = sent_in(load, client);

    for (size_t p = 0; p < load->options.publishers; p++)
        sent[p] = first[p].next_seq;
    return sent;
}

void churn_init(struct load *load)
{
    const struct bench_options *options = &load->options;
    struct churn *churn = xcalloc(1, sizeof(*churn));

    load->churn = churn;
    load->on_open = churn_on_open;
    load->receive_bytes = RECEIVE_BYTES;
    churn->random = options->seed;
    churn->wake_ns = UINT64_MAX;
    churn->orders = xcalloc(options->topics, sizeof(*churn->orders));
    churn->sent = xcalloc(options->topics * options->publishers, sizeof(*churn->sent));
    for (size_t i = 0; i < options->topics; i++)
        order_init(&churn->orders[i], (uint32_t)options->publishers);
    churn->lives = xcalloc(load->client_count, sizeof(*churn->lives));
    churn->acting = xcalloc(load->client_count, sizeof(struct client *));
    churn->stalled = xcalloc(load->client_count, sizeof(struct client *));
    for (size_t i = 0; i < load->client_count; i++)
        view_init(&churn->lives[i].view, &churn->orders[0]);
}

void churn_done(struct load *load)
{
    struct churn *churn = load->churn;

    if (!churn)
        return;
    for (size_t i = 0; i < load->client_count; i++)
        view_done(&churn->lives[i].view);
    for (size_t i = 0; i < load->options.topics; i++)
        order_done(&churn->orders[i]);
    free(churn->orders);
    free(churn->sent);
    free(churn->lives);
    free(churn->acting);
    free(churn->stalled);
    free(churn);
    load->churn = NULL;
}

/* --- what a member receives --- */

static uint32_t new_span(struct load *load)
{
    return 1 + (uint32_t)below(load->churn, 2 * load->options.life);
}

void churn_on_open(struct load *load, struct client *client)
{
    struct churn *churn = load->churn;
    struct life *life = &churn->lives[client->index];

    life->deed = DEED_NONE;
    life->has_stalled = false;
    life->left = new_span(load);
    view_begin(&life->view, &churn->orders[topic_of(load, client)],
               look_up_sent(load, client));
}

static void list_acting(struct churn *churn, struct client *client)
{
    struct life *life = &churn->lives[client->index];

    if (life->is_listed)
        return;
    life->is_listed = true;
    churn->acting[churn->acting_count++] = client;
}

/* A publisher goes on when it has its own message back; the others live on. */
static void go_on(struct load *load, struct client *client, const struct stamp *stamp)
{
    struct life *life = &load->churn->lives[client->index];

    if (is_publisher(load, client)) {
        if (stamp->client != client->index)
            return;
        if (client->outstanding)
            client->outstanding--;
        load_queue(load, client);
        return;
    }
    if (life->left && --life->left == 0 && !load->churn->is_over)
        list_acting(load->churn, client);
}

void churn_receive(struct load *load, struct client *client, const struct stamp *stamp)
{
    struct churn *churn = load->churn;
    struct life *life = &churn->lives[client->index];
    uint32_t publisher = stamp->client % (uint32_t)load->options.members;
    struct sighting sighting = { publisher, stamp->seq };
    enum err err;

    if (life->deed == DEED_LEAVE)
        return;
    if (stamp->seq >= load->clients[stamp->client].next_seq) {
        load->counts.strays++;
        return;
    }
    load->counts.delivered++;
    if (load->is_measuring && load->now_ns > stamp->sent_ns && !life->has_stalled)
        histogram_add(&load->result->latency, load->now_ns - stamp->sent_ns);
    err = view_see(&life->view, &churn->orders[topic_of(load, client)], sighting,
                   &load->counts.faults);
    if (err)
        load->result->churn.unchecked++;
    go_on(load, client, stamp);
}

bool churn_expects(struct load *load, const struct client *client, struct str text)
{
    struct str warning = S("\"slow_consumer\"");

    if (!load->churn->lives[client->index].has_stalled ||
        !memmem(text.ptr, text.len, warning.ptr, warning.len))
        return false;
    load->result->churn.warned++;
    return true;
}

/* --- what a member does --- */

bool churn_on_close(struct load *load, struct client *client)
{
    struct life *life = &load->churn->lives[client->index];
    struct bench_churn *result = &load->result->churn;

    if (is_publisher(load, client))
        return false;
    list_acting(load->churn, client);
    if (life->deed == DEED_LEAVE) {
        result->leaves++;
        return true;
    }
    if (!life->has_stalled || (client->close_code && client->close_code != SLOW_CODE))
        return false;
    result->slow++;
    return true;
}

static void stall(struct load *load, struct client *client)
{
    struct churn *churn = load->churn;
    struct life *life = &churn->lives[client->index];

    life->deed = DEED_STALL;
    life->has_stalled = true;
    life->wake_ns = load->now_ns + (1 + below(churn, load->options.stall_ms)) * MS;
    life->is_asleep = true;
    churn->stalled[churn->stalled_count++] = client;
    if (life->wake_ns < churn->wake_ns)
        churn->wake_ns = life->wake_ns;
    load->result->churn.stalls++;
    client_watch(load, client, 0);
}

static void break_off(struct load *load, struct client *client)
{
    client_drop(load, client);
    load->result->churn.resets++;
    client_open(load, client);
}

/* Who was closed while it stalled, and has come again, may still stand among the stalled.
 */
static enum deed choose(struct churn *churn, const struct life *life)
{
    static const enum deed deeds[] = { DEED_LEAVE, DEED_LEAVE, DEED_RESET, DEED_STALL };
    enum deed deed = deeds[below(churn, COUNT(deeds))];

    return deed == DEED_STALL && life->is_asleep ? DEED_RESET : deed;
}

/* Whether nothing of what it missed while it stalled is on the way any longer. */
static bool has_caught_up(const struct load *load, const struct client *client)
{
    const struct view *view = &load->churn->lives[client->index].view;
    const struct order *order = &load->churn->orders[topic_of(load, client)];

    return view->is_placed && order->head - view->track.next <
                                  load->options.publishers * load->options.window;
}

static void act(struct load *load, struct client *client)
{
    struct life *life = &load->churn->lives[client->index];

    life->is_listed = false;
    if (load->churn->is_over)
        return;
    if (client->state == CLIENT_CLOSED) {
        client_open(load, client);
        return;
    }
    if (client->state != CLIENT_OPEN || life->deed != DEED_NONE)
        return;
    life->has_stalled = life->has_stalled && !has_caught_up(load, client);
    switch (choose(load->churn, life)) {
    case DEED_LEAVE:
        life->deed = DEED_LEAVE;
        client_leave(load, client);
        break;
    case DEED_RESET: break_off(load, client); break;
    case DEED_STALL: stall(load, client); break;
    case DEED_NONE: break;
    }
}

/* It may have been closed meanwhile, and even have come again. */
static void wake(struct load *load, struct client *client)
{
    struct life *life = &load->churn->lives[client->index];

    if (client->state != CLIENT_OPEN || life->deed != DEED_STALL)
        return;
    life->deed = DEED_NONE;
    life->left = new_span(load);
    client_watch(load, client, client->watches_write ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void wake_due(struct load *load)
{
    struct churn *churn = load->churn;

    churn->wake_ns = UINT64_MAX;
    for (size_t i = 0; i < churn->stalled_count;) {
        struct client *client = churn->stalled[i];
        struct life *life = &churn->lives[client->index];

        if (!churn->is_over && life->wake_ns > load->now_ns) {
            if (life->wake_ns < churn->wake_ns)
                churn->wake_ns = life->wake_ns;
            i++;
            continue;
        }
        life->is_asleep = false;
        wake(load, client);
        churn->stalled[i] = churn->stalled[--churn->stalled_count];
    }
}

/* At the end nothing may follow that would show where a view begins. */
static void settle_all(struct load *load)
{
    for (size_t i = 0; i < load->client_count; i++)
        if (load->clients[i].state == CLIENT_OPEN &&
            view_settle(&load->churn->lives[i].view,
                        &load->churn->orders[topic_of(load, &load->clients[i])],
                        &load->counts.faults))
            load->result->churn.unchecked++;
}

void churn_tick(struct load *load)
{
    struct churn *churn = load->churn;

    if (load->now_ns >= churn->wake_ns)
        wake_due(load);
    if (churn->is_over)
        settle_all(load);
    for (size_t i = 0; i < churn->acting_count; i++)
        act(load, churn->acting[i]);
    churn->acting_count = 0;
}

uint64_t churn_due_ns(const struct load *load)
{
    return load->churn->wake_ns;
}

void churn_end(struct load *load)
{
    load->churn->is_over = true;
    wake_due(load);
}

uint64_t churn_missing(const struct load *load)
{
    const struct churn *churn = load->churn;
    uint64_t missing = 0;

    for (size_t i = 0; i < load->client_count; i++) {
        const struct client *client = &load->clients[i];
        const struct life *life = &churn->lives[i];

        if (client->state == CLIENT_OPEN && life->deed != DEED_LEAVE)
            missing += view_lacks(&life->view, &churn->orders[topic_of(load, client)],
                                  look_up_sent(load, client));
    }
    return missing;
}
