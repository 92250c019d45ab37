/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP door: connections that speak HTTP/1.1, one request at a time.
 */
#pragma once

#include "gateway/worker.h"
#include "net/listen.h"

/* A connection was accepted; takes the descriptor. */
void http_accept(struct worker *worker, int fd, const struct net_peer *peer);

/* Ends idle connections at once and the others after their answer. */
void http_drain(struct worker *worker);

void http_close_all(struct worker *worker);
