/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of times as bars in a terminal. Rows end at round numbers that grow
 * logarithmically, as latencies do; the last one holds the tail.
 *
 *     ≤ 220 µs ████████▌                      12.3 %
 *     ≤ 330 µs ██████████████████████████████ 43.1 %
 *     …
 *     > 1.5 ms ▏                               0.1 %
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bench/histogram.h"

enum plot_style { PLOT_UNICODE, PLOT_ASCII };

/* Bars are up to `width` columns wide. Writes nothing for an empty histogram. */
void plot_write(const struct histogram *histogram, enum plot_style style, size_t width,
                struct buf *out);

/* A time with three significant digits and its unit: "812 µs", "1.25 ms", "12.0 s". */
void plot_time(uint64_t ns, enum plot_style style, struct buf *out);
