/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is sent when, and what every arrival proves. A publisher goes by a window (the
 * echo of its own message, or the answer to its call, lets it send the next) or by a
 * common rate. By rate a message carries the time at which it was due, so that a server
 * that stalls the generator does not hide its own delay. In ping-pong the caller goes by
 * either, and the answer carries the time of the call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/bench_priv.h"
#include "bench/churn.h"

enum { OUT_MAX = 4 * 1024 * 1024 }; /* by rate: more than this waiting skips a message */
enum { NAME_SIZE = 128 };

static const struct bench_options *options_of(const struct load *load)
{
    return &load->options;
}

static size_t member_of(const struct load *load, const struct client *client)
{
    return client->index % options_of(load)->members;
}

enum message_dialect client_dialect(const struct load *load, const struct client *client)
{
    return options_of(load)->is_mixed && member_of(load, client) % 2 ? MESSAGE_DOTTED
                                                                     : MESSAGE_SLASH;
}

static struct client *first_of_topic(const struct load *load, size_t index)
{
    return &load->clients[index - index % options_of(load)->members];
}

/* Who a client is: what its welcome said, else a name that says nothing. */
static struct str id_of(const struct load *load, size_t index,
                        char text[static NAME_SIZE])
{
    if (load->clients[index].id)
        return str_of(load->clients[index].id);
    (void)snprintf(text, NAME_SIZE, "bench-%zu", index);
    return str_of(text);
}

static void give_message(struct load *load, struct client *client)
{
    const struct bench_options *options = options_of(load);
    enum message_kind kind = MESSAGE_CHAT;
    char from[NAME_SIZE];
    char to[NAME_SIZE];
    struct str addressee = {};

    if (options->is_pingpong) {
        kind = member_of(load, client) == 0 ? MESSAGE_REQUEST : MESSAGE_RESPONSE;
        addressee = id_of(load, client->index ^ 1, to);
    }
    client->message = xmalloc(sizeof(*client->message));
    if (message_init(client->message, kind, client_dialect(load, client),
                     id_of(load, client->index, from), addressee, options->size))
        load_fail(load, "messages of that size are too large");
}

void traffic_init(struct load *load)
{
    size_t publishers = options_of(load)->publishers;

    for (size_t i = 0; i < load->client_count && publishers && !load->churn; i++)
        load->clients[i].tracks = xcalloc(publishers, sizeof(struct track));
}

void traffic_done(struct load *load)
{
    for (size_t i = 0; i < load->client_count; i++) {
        struct client *client = &load->clients[i];

        free(client->tracks);
        if (client->message)
            message_done(client->message);
        free(client->message);
    }
}

static void publish(struct load *load, struct client *client, uint64_t sent_ns,
                    const struct stamp *cause)
{
    struct stamp stamp = {
        .run = load->run,
        .client = client->index,
        .seq = client->next_seq,
        .sent_ns = sent_ns,
    };
    struct str text;

    text = message_stamp(client->message, &stamp, cause);
    if (load->address.protocol->publish(load_topic(load, client), text, load_mask(load),
                                        &client->out)) {
        load_fail(load, "client %u: the server does not read", (unsigned)client->index);
        return;
    }
    client->next_seq++;
    client->outstanding++;
    load->counts.published++;
    load_queue(load, client);
}

static bool is_answering(const struct load *load, const struct client *client)
{
    return options_of(load)->is_pingpong && member_of(load, client) == 1;
}

void traffic_refill(struct load *load, struct client *client)
{
    if (!load->is_publishing || options_of(load)->rate || !client->message ||
        is_answering(load, client) || client->state != CLIENT_OPEN)
        return;
    while (client->outstanding < options_of(load)->window && !load->has_failed)
        publish(load, client, clock_mono_ns(), NULL);
}

void traffic_tick(struct load *load)
{
    const struct bench_options *options = options_of(load);
    size_t senders = options->is_pingpong ? 1 : options->publishers; /* of each topic */

    if (!options->rate)
        return;
    while (load->is_publishing && load->due_ns <= load->now_ns && !load->has_failed) {
        size_t turn = load->turn++ % (senders * options->topics);
        struct client *client =
            &load->clients[turn / senders * options->members + turn % senders];

        if (client->state != CLIENT_OPEN || client->out.len > OUT_MAX)
            load->counts.skipped++;
        else
            publish(load, client, load->due_ns, NULL);
        load->due_ns += 1'000'000'000 / options->rate;
    }
}

void traffic_start(struct load *load)
{
    for (size_t i = 0; i < load->client_count; i++) {
        struct client *client = &load->clients[i];

        if (member_of(load, client) >= options_of(load)->publishers)
            continue;
        give_message(load, client);
        load_queue(load, client);
    }
    load->is_publishing = true;
    load->due_ns = load->now_ns = clock_mono_ns();
}

void traffic_refused(struct load *load, struct client *client, struct str text)
{
    if (load->counts.errors++ == 0)
        (void)snprintf(load->result->first_error, BENCH_NOTE, "client %u: " STR_FMT,
                       (unsigned)client->index, STR_ARG(str_slice(text, 0, BENCH_NOTE)));
    if (client->outstanding)
        client->outstanding--;
    load_queue(load, client);
}

/* Texts of the gateway itself: presence is none of our business, errors are. */
static void on_foreign(struct load *load, struct client *client, struct str text)
{
    struct str error = message_error[client_dialect(load, client)];

    if (load->churn && churn_expects(load, client, text))
        return;
    if (memmem(text.ptr, text.len, error.ptr, error.len))
        traffic_refused(load, client, text);
}

static void on_call(struct load *load, struct client *client, const struct stamp *stamp)
{
    if (is_answering(load, client)) {
        publish(load, client, stamp->sent_ns, stamp);
        client->outstanding = 0;
        return;
    }
    if (load->is_measuring && load->now_ns > stamp->sent_ns)
        histogram_add(&load->result->latency, load->now_ns - stamp->sent_ns);
    if (client->outstanding)
        client->outstanding--;
    load_queue(load, client);
}

static void on_broadcast(struct load *load, struct client *client,
                         const struct stamp *stamp)
{
    if (load->is_measuring && load->now_ns > stamp->sent_ns)
        histogram_add(&load->result->latency, load->now_ns - stamp->sent_ns);
    if (stamp->client != client->index)
        return;
    if (client->outstanding)
        client->outstanding--;
    load_queue(load, client);
}

void traffic_receive(struct load *load, struct client *client, struct str text)
{
    const struct bench_options *options = options_of(load);
    struct stamp stamp;
    size_t sender;

    if (!stamp_find(text, load->run, &stamp)) {
        on_foreign(load, client, text);
        return;
    }
    sender = stamp.client % options->members;
    if (stamp.client / options->members != client->index / options->members ||
        sender >= options->publishers) {
        load->counts.strays++;
        return;
    }
    if (load->churn) {
        churn_receive(load, client, &stamp);
        return;
    }
    if (options->is_pingpong && stamp.client == client->index)
        return; /* an echo nobody asked for */
    load->counts.delivered++;
    client->received++;
    client->order = (client->order + stamp.seq) * 0x9e3779b97f4a7c15 + sender + 1;
    track_account(&client->tracks[sender], stamp.seq, &load->counts.faults);
    if (options->is_pingpong)
        on_call(load, client, &stamp);
    else
        on_broadcast(load, client, &stamp);
}

uint64_t traffic_missing(const struct load *load)
{
    const struct bench_options *options = options_of(load);
    uint64_t missing = load->counts.faults.missing;

    if (load->churn)
        return missing + churn_missing(load);
    for (size_t i = 0; i < load->client_count; i++) {
        const struct client *client = &load->clients[i];
        const struct client *senders = first_of_topic(load, i);

        for (size_t p = 0; p < options->publishers; p++)
            if (!options->is_pingpong || &senders[p] != client)
                missing += senders[p].next_seq - client->tracks[p].next;
    }
    return missing;
}

uint64_t traffic_order_differs(const struct load *load)
{
    uint64_t count = 0;

    if (options_of(load)->is_pingpong || load->churn)
        return 0; /* churn tells it as disorder */
    for (size_t i = 0; i < load->client_count; i++) {
        const struct client *first = first_of_topic(load, i);
        const struct client *client = &load->clients[i];

        count += client->received == first->received && client->order != first->order;
    }
    return count;
}
