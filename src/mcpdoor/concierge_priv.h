/* SPDX-License-Identifier: Apache-2.0 */
/* What a concierge knows of whom it asks; for concierge*.c alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "mcpdoor/concierge.h"
#include "participant/ask.h"

enum { ALL_TYPES = (1U << OFFER_TYPES) - 1 };

enum owner_state {
    OWNER_WAITING, /* to be asked */
    OWNER_ASKED,   /* a question is under way */
    OWNER_RESTING, /* has answered, or has not */
};

struct owner {
    struct owner_facts facts;
    struct link link; /* by id */
    struct concierge *concierge;
    enum owner_state state;
    bool is_service;
    bool is_known;  /* has told what it is; facts are its own */
    bool is_met;    /* … and others have heard of it */
    bool is_silent; /* the last round was in vain */
    bool is_awaited;
    uint64_t awaited_ms; /* until then */
    uint64_t ask_ms;     /* the next round begins not before */

    /* The round that is under way, or the next one. */
    bool is_new;     /* begins with initialize */
    unsigned wanted; /* bits of enum offer_type, still to be asked for */
    /* Was heard meanwhile: the round after this one. */
    bool is_new_again;
    unsigned wanted_again;

    /* The question that is under way. */
    char call_id[ASK_ID + 1];
    enum offer_type type; /* of a list */
    size_t pages;
    struct buf items;  /* so far, without brackets */
    struct buf cursor; /* of the next page, as JSON */

    char *texts; /* of the facts */
    char id[];
};

struct concierge {
    struct concierge_setup setup;
    struct occupant *occupant;
    struct moment now;
    struct link owners;
    size_t owner_count;
    size_t asked_count;
    bool was_used;
    bool was_ready; /* as was told */
};

/* Asks the next question of a round. */
void owner_step(struct owner *owner);
/* The question is nobody's any more, nor what came of the list so far. */
void owner_forget(struct owner *owner);

/* --- of a round, to concierge.c --- */

void concierge_owner_rests(struct owner *owner); /* the round is over */
void concierge_owner_waits(struct owner *owner); /* it could not be asked now */
/* As many as may be asked at a time. */
void concierge_ask_more(struct concierge *c);
