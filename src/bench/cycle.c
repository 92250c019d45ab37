/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What coming costs: each client connects, is accepted and welcomed, breaks off and
 * connects again. Breaking off is a reset, so that no address has to wait; a server
 * whose clients come by the thousand a second sees nothing else from a crash of theirs.
 */
#include "base/clock.h"
#include "bench/bench_priv.h"
#include "bench/join.h"

void cycle_serve(struct load *load, struct client *client)
{
    if (client->state != CLIENT_OPEN)
        return;
    if (load->is_measuring)
        histogram_add(&load->result->latency, clock_mono_ns() - client->began_ns);
    client_drop(load, client);
    client_open(load, client);
}
