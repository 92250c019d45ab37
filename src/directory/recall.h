/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that were answered, by who sent them and their message_id: one that comes
 * again gets the same answer and is not carried out twice. Bounded for each sender and in
 * all, and by age; what changed something is kept longer than what only asked.
 *
 * Pure: the time is an argument.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "directory/agent_message.h"

enum recall_kind { RECALL_QUESTION, RECALL_ACT, RECALL_KINDS };

struct recall_limits {
    size_t each[RECALL_KINDS]; /* of one sender */
    size_t bytes;              /* of what is answered, in all */
    uint64_t age_ms;
};

struct recall {
    struct recall_limits limits;
    struct map by_key;                /* sender and message_id */
    struct map senders;               /* by id */
    struct link by_age[RECALL_KINDS]; /* those answered, the oldest first */
    size_t bytes;
};

struct recall_entry {
    struct link age_link;    /* answered: in by_age */
    struct link sender_link; /* likewise, among those of the sender */
    struct recall_sender *sender;
    struct str key;
    struct str answer; /* ptr NULL: it is under way */
    enum recall_kind kind;
    uint64_t answered_ms;
    /* The caller's: */
    uint8_t digest[SHA256_BYTES]; /* of what was asked */
    unsigned rights;              /* that the answer may depend on */
    struct link waiting;          /* whoever waits for the answer */
    char text[];
};

void recall_init(struct recall *recall, const struct recall_limits *limits);
void recall_done(struct recall *recall);

/* The message_id in either case. NULL: it is new, or forgotten. */
struct recall_entry *recall_find(const struct recall *recall, struct str sender,
                                 struct str message_id);

/* A new one, under way until recall_answer() or recall_forget(); it is not dropped
 * meanwhile. */
struct recall_entry *recall_begin(struct recall *recall, struct str sender,
                                  struct str message_id, enum recall_kind kind);

/* Keeps a copy. Others make room; this one may be the next to go. */
void recall_answer(struct recall *recall, struct recall_entry *entry, struct str answer,
                   uint64_t now_ms);
void recall_forget(struct recall *recall, struct recall_entry *entry); /* may be NULL */

/* Drops what is old. */
void recall_sweep(struct recall *recall, uint64_t now_ms);
