/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MCPx door: GET /ws?topic=NAME. A connection that passed authentication is upgraded
 * and becomes a member of its topic.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gateway/exchange.h"
#include "gateway/worker.h"

void ws_open(struct exchange *x);

void ws_clients_init(struct worker *worker);
bool ws_clients_are_gone(const struct worker *worker);

/* Closes every WebSocket of this worker. */
void ws_close_all(struct worker *worker, uint16_t code, struct str reason);

/* Closes those whose credential has this hash: 1008. Returns how many. */
size_t ws_close_token(struct worker *worker, const uint8_t hash[static SHA256_BYTES]);

/* Credentials of the worker's table stand for something else now, or topics have other
 * settings: connections get the new capabilities, or are closed where they may no longer
 * be. */
void ws_change_tokens(struct worker *worker);

/* Closes those whose credential has expired meanwhile: 1008. */
void ws_close_expired(struct worker *worker);

/* Cuts whatever is left, without ceremony. */
void ws_abort_all(struct worker *worker);

/* How frames look: the lanes' encodings. */
void ws_encodings_init(struct worker *worker);
void ws_settings_changed(struct worker *worker);
void ws_encodings_done(struct worker *worker);
