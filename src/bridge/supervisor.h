/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a server running and finds for each call the instance that answers it. Whoever
 * orders a call does not see instances: they start with the first order, stop when idle,
 * come back after a crash with growing pauses.
 *
 *     resting ─► preparing ─► starting ─► ready ─► resting        idle
 *        ▲           │            │         │ crash
 *        │           └────────────┴─────────┴──► failing ─► starting …     a pause,
 * doubled stopped ◄── supervisor_stop(): by a person, until supervisor_start()
 *
 *     shared      one instance for all           per-caller   one for each participant
 *     pooled(n)   n instances, each with one call at a time
 *
 * An order that was sent when its instance died ends with an error that says so; one that
 * was not waits for the next instance, as long as its own time lasts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bridge/carriage.h"
#include "bridge/spec.h"
#include "fetch/fetch.h"
#include "mcp/session.h"
#include "spawn/spawn.h"
#include "transport/credential.h"

struct registries;
struct supervisor;
struct server_order;

enum server_state {
    SERVER_RESTING,
    SERVER_PREPARING, /* its package is being installed */
    SERVER_STARTING,
    SERVER_READY,
    SERVER_FAILING, /* it crashed, or did not start: a pause */
    SERVER_STOPPED,
};

/* What it works with; all of it lives longer. */
struct supervisor_means {
    struct loop *loop;
    struct spawn *spawn;                /* NULL: URLs alone */
    struct fetch *(*fetch)(void *user); /* made when it is first needed; NULL: none */
    struct credential *(*credential)(void *user, const struct server_spec *spec);
    struct conn_flusher *flusher; /* of proxies */
    const char *packages;         /* the folder of what prepare installs; NULL: nothing */
    /* Where that comes from: as it is now, valid until the loop is back. */
    const struct registries *(*registries)(void *user);
    /* How an instance comes to run; NULL: carriage_open(), as the spec says. */
    enum err (*open)(const struct supervisor_means *means,
                     const struct carriage_order *order, struct carriage **ret,
                     char **ret_why);
    void *user;
};

/* Where an order was sent: which run of an instance, and the call's number in it. */
struct server_origin {
    uint64_t run, call; /* 0: nowhere */
};

struct server_question {
    struct mcp_question *question;
    struct server_order *order; /* that caused it, or NULL */
    size_t callers; /* 0: no call is under way; 2: of several, not told whose */
};

struct server_notice {
    const struct mcp_message *message;
    struct server_order *order; /* to whose call it belongs, or NULL */
    bool is_likely; /* … which it does not say: all that is under way is its caller's */
};

/* None of them may free the supervisor. All may be asked for more. */
struct supervisor_ops {
    void (*on_state)(void *user, enum server_state state, const char *why);
    /* The first instance is ready, or one with other facts. */
    void (*on_facts)(void *user, const struct mcp_session_facts *facts);
    void (*on_notification)(void *user, const struct server_notice *notice);
    /* Progress of a task that was passed on, whose order has ended. May be NULL. */
    void (*on_late_progress)(void *user, struct server_origin of,
                             struct json_span params);
    void (*on_question)(void *user, const struct server_question *from);
    void (*on_question_gone)(void *user, struct mcp_question *question);
    /* Of messages, that legacy servers are to be told: as this caller wants it, or ("")
     * all of them together; "": none does. Static. May be NULL. */
    struct str (*level)(void *user, struct str caller);
    void (*on_log)(void *user, struct str line);    /* of the server */
    void (*on_event)(void *user, const char *line); /* what happened to it, for people */
    /* A value that must never appear: before the server starts that is given it. */
    void (*on_secret)(void *user, struct str value);
    /* To be kept: which era it is, and the pin of its package. JSON. */
    void (*on_keep)(void *user, struct str json);
};

struct supervisor *supervisor_new(struct server_spec *spec,
                                  const struct supervisor_means *means,
                                  const struct supervisor_ops *ops, void *user);

/* Kills what runs; no callback comes any more. */
void supervisor_free(struct supervisor *supervisor);
void supervisor_restore(struct supervisor *supervisor, struct str kept);

/* What is asked of the server, for whom. `caller` "": the bridge itself, which does not
 * start anything that rests. Ends with call.ops.on_done, once. ERR_OVERLOAD: too many
 * wait; ERR_UNAVAILABLE: stopped. */
enum err supervisor_order(struct supervisor *supervisor, struct str caller,
                          const struct mcp_call *call, struct server_order **ret);
void supervisor_cancel(struct supervisor *supervisor, struct server_order *order,
                       struct str reason);
void *server_order_user(const struct server_order *order); /* call.user */
struct server_origin server_order_origin(const struct server_order *order);

/* To the instance of that caller, or to all ("" ). What rests hears nothing. */
void supervisor_notify(struct supervisor *supervisor, struct str caller,
                       struct str method, struct str params);
void supervisor_watch(struct supervisor *supervisor, struct str caller,
                      const struct str *uris, size_t count);
void supervisor_relevel(struct supervisor *supervisor); /* ops.level may say another */
void supervisor_answer(struct supervisor *supervisor, struct mcp_question *question,
                       struct str member, struct str json);

/* A participant has left: its instance is stopped, its orders are cancelled. */
void supervisor_forget(struct supervisor *supervisor, struct str caller);

void supervisor_start(struct supervisor *supervisor);
void supervisor_stop(struct supervisor *supervisor, const char *why); /* gently */
void supervisor_restart(struct supervisor *supervisor);
bool supervisor_is_quiet(const struct supervisor *supervisor); /* nothing runs */
enum server_state supervisor_state(const struct supervisor *supervisor);
const char *server_state_name(enum server_state state); /* "resting", … */
uint64_t supervisor_restarts(const struct supervisor *supervisor);

/* state, since, instances with pid, memory and calls, restarts, last failure, sandbox. */
void supervisor_put_json(const struct supervisor *supervisor, struct buf *out);
