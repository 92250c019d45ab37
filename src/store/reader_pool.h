/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that answer questions: two, started with the first question, each with a
 * connection of its own. A question is answered piece by piece (store_query()), so that a
 * long one does not keep others waiting.
 */
#pragma once

#include "store/indexer.h"
#include "store/record.h"

struct reader_pool;

/* The setup stays with the caller until the end. The indexer (may be NULL) hears of an
 * index that was found damaged. */
struct reader_pool *reader_pool_new(const struct store_setup *setup);
void reader_pool_watch(struct reader_pool *pool, struct indexer *indexer);

/* Cancels what is asked; everything is answered afterwards. */
void reader_pool_free(struct reader_pool *pool); /* NULL: nothing */

void reader_pool_ask(struct reader_pool *pool, struct store_read *read);
