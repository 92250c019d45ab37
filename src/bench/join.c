/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to come to a topic where many are: those who come do so one after the
 * other, some at a time, or by a rate; those who are there count what they hear of it.
 */
#include "bench/join.h"

#include "base/clock.h"
#include "bench/bench_priv.h"

#define SECOND UINT64_C(1'000'000'000) /* in ns */

void join_on_open(struct load *load, struct client *client)
{
    if (load->is_measuring)
        histogram_add(&load->result->latency, clock_mono_ns() - client->began_ns);
}

static size_t next_of(const struct load *load)
{
    return load->open + load->opening + load->counts.closed;
}

static bool is_due(const struct load *load)
{
    return load->options.rate ? load->due_ns <= load->now_ns
                              : load->opening < load->options.window;
}

void join_tick(struct load *load, size_t end)
{
    while (next_of(load) < end && is_due(load) && !load->has_failed) {
        client_open(load, &load->clients[next_of(load)]);
        if (load->options.rate)
            load->due_ns += SECOND / load->options.rate;
    }
}

uint64_t join_due_ns(const struct load *load)
{
    return load->options.rate ? load->due_ns : UINT64_MAX;
}
