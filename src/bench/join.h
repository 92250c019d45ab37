/* SPDX-License-Identifier: Apache-2.0 */
/* Coming as a load: connections that are made again and again (cycle.c), and members that
 * come to a topic where others are (join.c). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct client;
struct load;

/* Serves clients that connect, are ready, break off and connect again. */
void cycle_serve(struct load *load, struct client *client);

/* Measures how long it took to be ready. */
void join_on_open(struct load *load, struct client *client);

/* Opens those whose turn it is, up to, not including, number `end`; when the next one's
 * will come. */
void join_tick(struct load *load, size_t end);
uint64_t join_due_ns(const struct load *load);
