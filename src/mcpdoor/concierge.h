/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The concierge keeps the showcase: it asks those who are here what they offer, again
 * when they say that this has changed, and forgets who leaves. It sits nowhere itself: it
 * asks through an occupant, in the gateway one of the hall's own, on stdio the client's.
 *
 *     joins, list_changed, status ──► initialize ──► the lists that it has ──► showcase
 *          no answer in time ──► left out, noted; asked again when it says something
 *
 * Lists are asked for in the legacy shape: what a bridge gives then are its server's own
 * words, whatever the era.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcpdoor/showcase.h"
#include "participant/occupant.h"

enum {
    CONCIERGE_PATIENCE_MS = 2000, /* for one answer; of whoever first looks: for all */
    CONCIERGE_AGENT_MS = 300,     /* likewise, of agents: few of them offer anything */
    CONCIERGE_AT_ONCE = 8,        /* participants asked at a time */
    CONCIERGE_PAGES = 100,        /* of one list */
    CONCIERGE_BYTES = 4 << 20,    /* likewise */
    CONCIERGE_GAP_MS = 1000,      /* between two rounds of questions to the same */
    CONCIERGE_FACTS = 64 << 10,   /* what one may say of itself */
};

struct concierge;

struct owner_facts;

struct concierge_setup {
    struct showcase *showcase;
    /* Somebody has answered for the first time since it came. */
    void (*on_owner)(void *user, const struct owner_facts *owner);
    /* What is shown has changed: bits of enum offer_type; or (0) only what is known of
     * owners, or whether all have been asked. */
    void (*on_change)(void *user, unsigned types);
    void (*on_note)(void *user, struct str text); /* for the log */
    /* Participants that are never asked: clients of this very hall. */
    bool (*is_ours)(void *user, struct str id);
    /* While something is heard, which may be an answer: the next question follows it. */
    struct moment (*now)(void *user);
    void *user;
};

/* What an owner says of itself; texts are valid until something is heard. */
struct owner_facts {
    struct str id;
    struct json_span server;  /* serverInfo; text.ptr NULL: none, like the next one */
    struct json_span capable; /* capabilities */
    struct str instructions;  /* unescaped, or "" */
};

struct concierge *concierge_new(const struct concierge_setup *setup);
void concierge_free(struct concierge *concierge);

/* Through whom it asks, with every welcome; NULL: through nobody for now, before that one
 * is freed. What the occupant hears of these is to be told. */
void concierge_use(struct concierge *concierge, struct occupant *occupant,
                   struct moment now);
void concierge_presence(struct concierge *concierge, enum presence_change change,
                        struct str id, struct moment now);
void concierge_hear(struct concierge *concierge, const struct heard *heard,
                    struct moment now); /* list_changed, participant/status */

/* Everybody who was here at the first welcome has answered, or has had its time. */
bool concierge_is_ready(const struct concierge *concierge);
/* Those who have answered, by id: start with *at = 0; NULL at the end. */
const struct owner_facts *concierge_next_owner(const struct concierge *concierge,
                                               size_t *at);
const struct owner_facts *concierge_find_owner(const struct concierge *concierge,
                                               struct str id);
/* Those who do not answer, for room_who and the instructions: "ann, bob", or nothing. */
void concierge_put_silent(const struct concierge *concierge, struct buf *out);

void concierge_tick(struct concierge *concierge, struct moment now);
uint64_t concierge_due_ms(const struct concierge *concierge);
