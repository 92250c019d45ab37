/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A supervisor whose servers are fake carriers: the test is the servers, the callers and
 * the clock. What the supervisor tells is kept as lines:
 *
 *     "state ready", "facts 2025-11-25", "ada: result {…}", "question ada roots/list", …
 */
#pragma once

#include "base/buf.h"
#include "bridge/supervisor.h"
#include "fake_carrier.h"
#include "loop/loop.h"

enum { STAGE_SERVERS = 32, STAGE_CALLS = 64 };

/* A server that was started; numbered from 0. */
struct stage_server {
    struct carriage carriage;
    struct fake_carrier fake;
    struct carriage_events events;
    void *user;
    struct supervisor_stage *stage;
    bool is_closed; /* asked to leave */
    bool is_gone;
};

struct stage_call {
    struct supervisor_stage *stage;
    struct server_order *order; /* NULL: done */
    char name[32];
};

struct supervisor_stage {
    struct loop *loop;
    struct server_spec *spec;
    struct supervisor *supervisor;
    uint64_t now_ms;
    const char *refusal; /* why nothing can be started, or NULL */
    const char *excess;  /* what all of them use too much, or NULL */
    bool is_unread;      /* servers end without having read anything */
    struct stage_server servers[STAGE_SERVERS];
    size_t server_count;
    struct stage_call calls[STAGE_CALLS];
    size_t call_count;
    struct mcp_question *question; /* the last that is open */
    struct buf told, last, kept;
};

/* The servers and the clock alone, for whoever makes the supervisor himself, of these
 * means. `spec` is taken. */
void stage_begin(struct supervisor_stage *stage, struct server_spec *spec);
struct supervisor_means stage_means(struct supervisor_stage *stage);

/* With a supervisor. */
void stage_init(struct supervisor_stage *stage, struct server_spec *spec);
void stage_done(struct supervisor_stage *stage);
struct server_spec *stage_spec(void); /* of a legacy server */
struct server_spec *stage_spec_of_era(enum mcp_era era);

/* Time passes, and what is due happens. */
void stage_pass(struct supervisor_stage *stage, uint64_t ms);

/* Asks the method for a caller; the answer is told as "CALLER: …". */
struct stage_call *stage_order(struct supervisor_stage *stage, const char *caller,
                               const char *method);

/* What one server does. */
void stage_opens(struct supervisor_stage *stage, size_t server); /* the handshake */
void stage_says(struct supervisor_stage *stage, size_t server, const char *text);
void stage_answers(struct supervisor_stage *stage, size_t server, unsigned id);
void stage_ends(struct supervisor_stage *stage, size_t server, const char *why);

/* What was told since the last time, and what a server was sent ("ID METHOD"). */
struct str stage_told(struct supervisor_stage *stage);
struct str stage_sent(struct supervisor_stage *stage, size_t server);
