/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bridge from inside. Who does what:
 *
 *     bridge.c          its life: seat, time, state, what is kept and told of it
 *     bridge_serve.c    requests of the room: answered here, or ordered
 *     bridge_method.c   … those that are answered here
 *     bridge_claim.c    … what their callers say of themselves, and servers hear of it
 *     bridge_gate.c     … calls that somebody must authorize first (gate.h)
 *     bridge_answer.c   answers, kept until the room has them
 *     bridge_missing.c  who was here before the room was lost, and is not back yet
 *     bridge_ask.c      what the server asks, and who is asked
 *     bridge_hear.c     notifications and progress of the server
 *     bridge_list.c     what the server offers: asked for, compared, told
 *     bridge_guest.c    what is remembered of callers: levels, subscriptions
 *     bridge_task.c     tasks of callers: whose they are, how far they are
 *     bridge_input.c    … what they ask of modern owners, who are not asked but look
 *     bridge_turn.c     … what is asked about them across the eras
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"
#include "bridge/bridge.h"
#include "bridge/bridge_ask.h"
#include "bridge/bridge_bounds.h"
#include "bridge/bridge_gate.h"
#include "bridge/bridge_guest.h"
#include "bridge/bridge_hear.h"
#include "bridge/bridge_list.h"
#include "bridge/bridge_task.h"
#include "json/json.h"
#include "json/scan.h"
#include "mcp/rpc.h"
#include "participant/ask.h"
#include "participant/occupant.h"

/* A request that somebody made of the server, until its answer is taken. */
enum bridged_state {
    BRIDGED_PARKED,  /* waits for what the server is */
    BRIDGED_GATED,   /* waits for somebody's word */
    BRIDGED_ORDERED, /* the server has it */
    BRIDGED_UNSENT,  /* answered, and the room cannot be told now */
    BRIDGED_SENT,    /* … and the room has not judged it */
};

struct bridged {
    struct link link;
    struct bridge *bridge;
    enum bridged_state state;
    struct server_order *order; /* BRIDGED_ORDERED */
    bool is_modern;
    bool is_client;     /* an MCP client itself, which says what it can be asked */
    bool is_open;       /* it names nobody: only what is worth telling is answered */
    bool is_unwanted;   /* cancelled, or its caller is gone: not answered */
    bool makes_task;    /* its task, if it becomes one, is the caller's own */
    bool is_second;     /* tasks/cancel: it was, and is looked at now */
    bool takes_up;      /* it fulfils a proposal that was open until now */
    bool is_authorized; /* somebody said so of it, as `print` has it */
    char *looked;       /* tasks/get: what it said, while its end is fetched; owned */
    struct str answer;  /* the payload, owned; UNSENT, SENT */
    char id[ASK_ID];    /* of its envelope: one, however often it is sent */
    size_t id_len;      /* 0: it was never sent */
    bool was_lost;      /* it was sent, and the connection broke: it may be there */
    uint64_t retry_ms;  /* UNSENT: not before */
    uint64_t asked_ms;  /* up to when what was asked counts */
    int level;          /* of messages: what a modern request asks for; -1: none */
    unsigned can;       /* enum client_can: what it declares */
    struct str payload; /* the request itself, owned; PARKED, GATED */
    struct gate_pending *pending; /* GATED */
    uint8_t print[GATE_PRINT];    /* is_authorized */

    /* Behind the struct. */
    struct str request_id;
    struct str method, context; /* of the kind */
    struct json_span rpc_id;
    const struct str *to; /* the first one asked */
    size_t to_count;
    struct str token; /* of progress: JSON, or "" */
    struct str uri;   /* resources/read, or "" */
    struct str task;  /* tasks/…: which, or "" */
};

/* Who the server is, as far as that is known; texts are owned. */
struct bridge_facts {
    enum mcp_era era;
    char *version, *server, *capable, *instructions; /* JSON but the first and last */
};

struct bridge {
    struct server_spec *spec;
    struct supervisor_means means;
    struct seat *seat;
    struct occupant *occupant;
    struct supervisor *supervisor;
    struct listing *listing;
    struct logbook *logbook;
    void (*keep)(void *user, enum bridge_kept what, struct str json);
    void (*on_change)(void *user);
    void *user;

    struct bridge_facts facts;
    char *kept; /* what the supervisor wants to be kept */
    enum server_state state, told_state;
    char *why;
    char *status; /* told last, of told_state, or NULL */
    bool is_signed_out;

    struct link calls;
    size_t call_count, answer_bytes;
    bool is_paced;       /* answers were refused for now: one at a time */
    uint64_t answers_ms; /* … and not before */
    bool is_returning;   /* the next welcome says who has come back */
    struct link guests, tasks, asked, elicited, missing;
    size_t guest_count, watched_count, task_count, elicited_count;
    struct bridge_lists lists;
    struct bridge_counts counts;
    struct gate *gate;
    struct gate_rules *rules;
    bool is_gated;    /* somebody said who authorizes calls */
    bool takes_up;    /* what is being heard fulfils a proposal that was open until now */
    struct str about; /* what is being served: its correlation_id */

    struct loop_timer timer;
    bool is_leaving;
    void (*on_left)(void *user);
    void *left_user;
};

static inline struct moment bridge_now(const struct bridge *b)
{
    return (struct moment){ loop_now_ms(b->means.loop), loop_wall_ms(b->means.loop) };
}

/* bridge.c */
void bridge_settle(struct bridge *b);      /* at the end of whatever comes in: time */
void bridge_tell_status(struct bridge *b); /* presence, where it has changed */
void bridge_note(struct bridge *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));    /* into the logbook */
bool bridge_is_known(const struct bridge *b); /* what it is and offers, now or once */
size_t bridge_answer_bytes(const struct bridge *b);

/* bridge_serve.c */
void bridge_serve(struct bridge *b, const struct heard *heard, const struct str *reply_to,
                  size_t reply_count);
void bridge_cancel(struct bridge *b, struct str request_id, struct str from,
                   struct str reason);
void bridge_unpark(struct bridge *b);           /* it is known what the server is */
void bridged_serve_again(struct bridged *call); /* … or somebody said that it may be */
void bridge_fail_parked(struct bridge *b);      /* … or why that cannot be had */
void bridge_caller_gone(struct bridge *b, struct str caller);
void bridge_drop_calls(struct bridge *b);
/* Another request about the task of a call, whose answer is the call's. */
void bridged_order(struct bridged *call, struct str method);
struct era_change bridged_change(const struct bridged *call);

/* bridge_method.c: false: the server is to answer. */
enum method_verdict { METHOD_ANSWERED, METHOD_PARKED, METHOD_ORDERED };
struct method_order {            /* METHOD_ORDERED */
    const struct listed *listed; /* tools/call: which */
    struct str tool;
    bool makes_task;
};
enum method_verdict bridge_method(struct bridge *b, struct str caller,
                                  const struct rpc_request *request,
                                  struct rpc_reply *ret_reply, struct method_order *ret);

/* bridge_claim.c */
void claim_read(struct bridged *call, const struct rpc_request *request);
/* What `call` says besides its method and params; texts are put into `out`. */
void bridged_claim(const struct bridged *call, const struct rpc_request *request,
                   struct mcp_call *mcp, struct buf *out);
/* False: a modern caller cannot be asked what the server asks, and was told so. */
bool bridged_input_fits(struct bridged *call, struct json_span result);

/* bridge_answer.c: from here on the call belongs to the room. */
void bridged_answer(struct bridged *call, struct str member, struct str json);
void bridged_fail(struct bridged *call, int64_t code, struct str message);
void bridged_retry(struct bridge *b); /* those that could not be sent */
uint64_t bridged_due_ms(const struct bridge *b);
void bridged_free(struct bridged *call);

/* bridge_turn.c: what a server answers about a task, where the eras differ. True: the
 * call is answered, or goes on. */
bool bridge_turn_result(struct bridged *call, struct json_span result);
bool bridge_turn_error(struct bridged *call, struct json_span error);

/* bridge_missing.c */
void missing_note(struct bridge *b, struct str id);
void missing_back(struct bridge *b, struct str id); /* what waited for him is sent */
bool missing_is(const struct bridge *b, struct str id);
void missing_tick(struct bridge *b); /* who has not come back has left */
uint64_t missing_due_ms(const struct bridge *b);
void missing_free(struct bridge *b);
