/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a temporary folder, what is handed to it, and what is found in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"
#include "loop/loop.h"
#include "store/engine.h"
#include "store/record.h"
#include "store/store.h"

struct stage {
    struct store_setup setup;
    char folder[40];
};

void stage_init(struct stage *stage);

/* Removes the folder with the files in it. */
void stage_done(struct stage *stage);

/* Borrowed until the next call. */
const char *stage_path(const struct stage *stage, const char *name);

struct store *stage_open(const struct stage *stage);

/* --- handing over and waiting --- */

struct handed {
    struct store_batch batch;
    bool is_done;
};

void handed_init(struct handed *handed, struct loop *loop);

void wait_for(struct loop *loop, const bool *is_done);

void put_item(struct store_batch *batch, enum store_section section, const char *topic,
              const char *key, const char *value);

void remove_item(struct store_batch *batch, enum store_section section, const char *topic,
                 const char *key);

/* Records that are told apart by their id; every third has no body. */
void note_records(struct store_batch *batch, const char *topic, int count);

/* Hands a batch with these over and waits until it is durable. */
void commit_records(struct store *store, struct loop *loop, const char *topic, int count);

/* --- looking --- */

/* The store as it is when opened anew. Borrowed until the next call. */
struct str items_of(const struct stage *stage, enum store_section section);

/* The whole record, checked: nothing is missing, every hash fits. */
struct walk {
    struct audit_head begin, head;
    uint64_t count, bodies;
    uint64_t checkpoints;
    struct str installation;
    uint8_t public_key[ED25519_PUBLIC];
    struct audit_head last_signed;
};

/* Goes through the record of a store that is closed. */
void walk_all(const struct stage *stage, struct walk *walk);
