/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session from inside. session.c hears, dispatches and keeps time; session_open.c opens
 * it, session_call.c makes the calls of its owner, session_progress.c tells how far they
 * are, session_ask.c takes the questions of the server, session_watch.c listens; mrtr.c
 * and task.c are what a call may turn into.
 *
 *     call ──► errand ──► carrier        A call is what the owner wants, an errand one
 *       ▲        │ on_answer             request on the wire. A call has one errand at a
 *       └────────┘                       time, one after the other; the session has some
 *                                        of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "json/json.h"
#include "mcp/rpc.h"
#include "mcp/session.h"

enum stage { STAGE_PROBING, STAGE_OPENING, STAGE_READY, STAGE_OVER };

enum answer_type { ANSWER_RESULT, ANSWER_ERROR, ANSWER_MISHAP };

/* What became of an errand. */
struct answer {
    enum answer_type type;
    struct json_span json; /* the result, or the error */
    const struct mishap *mishap;
};

struct call;

struct errand {
    struct link link;
    uint64_t id;
    struct call *call; /* whose; NULL: the session's own */
    uint64_t until_ms; /* UINT64_MAX: the call's own time counts */
    /* It has left the list, and is freed afterwards. */
    void (*on_answer)(struct mcp_session *session, struct call *call,
                      const struct answer *answer);
};

/* A call is ended by hearing and by time alone. What the owner, or a carrier that takes
 * nothing, does to it in between waits as its fate for the next tick. */
enum fate { FATE_OPEN, FATE_CANCELLED, FATE_FAILED, FATE_REFUSED };

/* What a modern server wants to know before a call, or its task, goes on. */
struct round {
    size_t count;       /* rounds so far */
    size_t open;        /* questions that are not answered */
    struct buf answers; /* "key":{…},… */
    struct buf seen;    /* tasks: keys that were asked, a line each */
    char *state;        /* requestState as it stood, quotes included; NULL: none */
    void (*on_answered)(struct mcp_session *session, struct call *call);
};

/* How far a call is, and what its owner was not told of it yet. */
struct advance {
    double last; /* heard last; it only rises (PROG-02) */
    bool is_begun;
    bool is_odd;      /* one did not rise, which was told */
    bool is_anew;     /* it was sent again, and may begin below */
    uint64_t paid_ms; /* then all that were told had their time */
    struct buf held;  /* params of the last one, where it was too early; empty: none */
};

struct call {
    struct link link;
    uint64_t id; /* the owner's, and the progress token */
    struct advance advance;
    struct mcp_call_ops ops;
    void *user;
    struct str method, params, tool, capable, log_level; /* in `texts` */
    char *texts;
    char *relisted; /* the tool as it was listed again, in place of that; or NULL */
    bool takes_unfinished, answers_roots;
    enum mcp_call_task task;
    struct errand *errand; /* NULL: it waits */
    enum fate fate;
    const char *why;            /* FATE_FAILED: static */
    bool was_sent;              /* so that it may have run */
    bool was_again;             /* sent a second time: never a third */
    uint64_t timeout_ms;        /* without progress */
    uint64_t until_ms, last_ms; /* when that is over; when everything is */
    uint64_t wake_ms;           /* on_wake; UINT64_MAX: never */
    void (*on_wake)(struct mcp_session *session, struct call *call);
    struct round round;
    bool is_augmented; /* sent with `task` */
    bool is_follower;  /* tasks/result: the task was there before */
    char *task_id;     /* as it stood, quotes included; NULL: it runs as no task */
    uint64_t poll_ms;
    struct buf refusal; /* FATE_REFUSED: what the owner gets, a result or an error */
    bool is_refusal_error;
};

struct question {
    struct mcp_question asked;
    struct link link;
    struct call *call;   /* whose it is; NULL: none, or not known */
    struct json_span id; /* a request's; or the name of an entry */
    bool is_entry;       /* of `inputRequests` */
    bool is_told;
    char *texts;
};

struct mcp_session {
    struct mcp_session_settings settings;
    char *texts; /* of the settings */
    struct carrier *carrier;
    struct mcp_session_ops ops;
    void *user;
    enum stage stage;
    struct mcp_session_facts facts;
    struct arena opened;                     /* what the facts are of */
    struct errand *discovered, *initialized; /* while they are under way */
    struct link calls, errands, questions;
    size_t call_count, question_count;
    uint64_t ids; /* given so far */
    uint64_t now_ms, heard_ms;
    uint64_t due_ms;
    bool is_pinged, is_ticking;
    bool has_passed_on;  /* some call was a task of its caller's own */
    uint64_t probed_ms;  /* until when silence means nothing; UINT64_MAX: it never does */
    struct watch *watch; /* NULL: nothing is */
    enum mcp_end broken; /* what the next tick says, where `why` is set */
    const char *why;
    struct buf params, line; /* scratch of whoever sends */
    struct arena scratch;    /* likewise: what headers are made of */
    bool was_rediscovered, was_reversioned;
};

static inline bool session_is_modern(const struct mcp_session *session)
{
    return session->facts.era == ERA_MODERN;
}
