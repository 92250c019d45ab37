/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door of agents: GET /agents, a WebSocket that speaks the protocol of
 * directory/agent_message.h. Whoever comes subscribes first, within a deadline; then he
 * asks, and hears what changes. All of them live on the first worker, where the feed is.
 *
 * The functions below take NULL for a worker that has none of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/crypto.h"
#include "gateway/directory.h"
#include "gateway/exchange.h"

struct agents;

struct agents *agents_new(struct worker *worker);
void agents_free(struct agents *agents);

void agents_open(struct exchange *x);

/* Into the feed, and to everyone who may hear it. */
void agents_tell(struct agents *agents, const struct directory_news *news);

/* Is somebody of this id subscribed? */
bool agents_have(const struct agents *agents, struct str id);

/* Closes those whose credential has this hash: 1008. Returns how many. */
size_t agents_close_token(struct agents *agents, const uint8_t hash[static SHA256_BYTES]);

/* Credentials stand for something else now: as ws_change_tokens(). */
void agents_change_tokens(struct agents *agents);

/* Closes those whose credential has expired, forgets answers that are old. */
void agents_sweep(struct agents *agents);

void agents_drain(struct agents *agents); /* 1001 */
void agents_abort(struct agents *agents);
bool agents_are_gone(const struct agents *agents);
