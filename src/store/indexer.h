/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that keeps search.db (search.h) behind the record: a reader of it like any
 * other, so it never holds up the writer, and of low priority, so it takes only what
 * others leave. What it has not reached is found as well, by looking through it.
 */
#pragma once

#include "store/store.h"

struct indexer;

/* Starts it. The setup stays with the caller until the end. */
struct indexer *indexer_new(const struct store_setup *setup);

/* Ends it after the piece it is at. NULL: nothing. */
void indexer_free(struct indexer *indexer);

/* The record has grown. From any thread, as all below. */
void indexer_wake(struct indexer *indexer);

/* A reader found the index damaged: it is built anew. */
void indexer_discard(struct indexer *indexer);

uint64_t indexer_seq(struct indexer *indexer); /* the last record in the index */
