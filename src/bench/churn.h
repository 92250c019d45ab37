/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members that come and go while others publish: what the other files of the generator
 * tell churn.c, which knows what each of them is up to and what it has to receive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct client;
struct load;
struct stamp;

/* From now on those who do not publish come and go. */
void churn_init(struct load *load);
void churn_done(struct load *load);
void churn_on_open(struct load *load, struct client *client);
void churn_receive(struct load *load, struct client *client, const struct stamp *stamp);

/* The connection is gone. True if that was to be expected. */
bool churn_on_close(struct load *load, struct client *client);

/* Whether a text of the server is one that this client has deserved. */
bool churn_expects(struct load *load, const struct client *client, struct str text);

/* Lets those act whose time has come; when the next one's will come. */
void churn_tick(struct load *load);
uint64_t churn_due_ns(const struct load *load);

/* The comings and goings end: nobody stalls any longer. */
void churn_end(struct load *load);

/* What those who are here lack of what was sent since they came. */
uint64_t churn_missing(const struct load *load);
