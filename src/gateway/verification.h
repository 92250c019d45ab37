/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record verified while the gateway runs, as `moot audit verify` does it to files:
 * one at a time, on the first worker, in small pieces, so that nobody waits for it.
 */
#pragma once

struct verification;
struct worker;

struct verification *verification_new(struct worker *worker);

/* When the store answers no more. */
void verification_free(struct verification *verification);
