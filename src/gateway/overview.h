/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the gateway is doing, now and in the last day: the first worker asks all of them
 * once a minute, and whenever an administrator wants to know.
 */
#pragma once

#include "gateway/metrics.h"

struct overview;
struct worker;

struct overview *overview_new(struct worker *worker);
void overview_free(struct overview *overview);

/* The counters of a worker, and what there is on it now. */
void overview_measure(const struct worker *worker, struct metrics *ret);
