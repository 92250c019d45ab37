/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the supervisor. An *instance* is a place for one running server: it stays when
 * the server crashes, so that pauses grow and orders know where to wait. Orders stand in
 * `waiting`, in the order of their coming, until an instance takes them.
 *
 *     resting ─► starting ─► ready ─► leaving ─► resting
 *        ▲           └─────────┴─► gone ─► pausing ─┘
 *
 * Nothing is freed or started inside callbacks of a session: what follows from them
 * happens in deferred tasks (reap, pump).
 */
#pragma once

#include "base/list.h"
#include "bridge/carriage.h"
#include "bridge/supervisor.h"
#include "crypto/crypto.h"
#include "loop/loop.h"

enum {
    STEADY_MS = 60'000,      /* ready for so long: the next pause is a short one again */
    WATCH_MS = 500,          /* between two looks at what children use */
    WAITING_BYTES = 4 << 20, /* of orders that wait */
    ORDER_TRIES = 3,         /* how often one that was not sent is given to another */
    REPROBE_MS = 7 * 24 * 3600 * 1000,
};

enum instance_state {
    INSTANCE_RESTING,
    INSTANCE_STARTING,
    INSTANCE_READY,
    INSTANCE_LEAVING, /* it was asked to, or its session has ended */
    INSTANCE_PAUSING,
};

/* Why one leaves. */
enum instance_end {
    END_NONE,
    END_WANTED,   /* idle, stopped, forgotten, restarted */
    END_FAILED,   /* it crashed: others may be sent to the next one */
    END_HOPELESS, /* it cannot be started as it is: nobody waits for it */
    END_NO_PROBE, /* again at once, as legacy */
};

struct instance {
    struct link link;
    struct supervisor *owner;
    char *caller; /* "": nobody's */
    enum instance_state state;
    enum instance_end end;
    char *why; /* of the last failure, or NULL */
    struct carriage *carriage;
    struct mcp_session *session;
    uint64_t run; /* no other session has had this number */
    struct loop_timer tick, pause, idle;
    struct loop_task reap;
    struct link orders; /* under way, in the order of their sending */
    size_t order_count;
    size_t failures; /* in a row */
    uint64_t ready_ms, used_ms;
    char **watched;
    size_t watched_count;
    bool is_kept_watching; /* it runs for what is watched */
    bool is_wanted;        /* also without an order */
    bool was_started;
    bool is_forgotten; /* goes when it has ended */
};

/* Something that a server asks, and which. */
struct asked {
    struct link link;
    struct instance *instance;
    struct mcp_question *question;
};

struct server_order {
    struct link link; /* in waiting, or in the orders of its instance */
    struct supervisor *owner;
    struct instance *instance; /* NULL: it waits */
    uint64_t call, run;
    uint64_t due_ms; /* while it waits */
    size_t tries;
    bool is_cancelled;
    struct mcp_call what; /* texts are behind the caller, below */
    struct str caller;
    size_t bytes;
    char texts[];
};

struct supervisor {
    struct server_spec *spec;
    struct supervisor_means means;
    const struct supervisor_ops *ops;
    void *user;
    struct link instances;
    size_t instance_count;
    struct link waiting;
    size_t waiting_count, waiting_bytes;
    size_t order_count; /* all */
    uint64_t runs;      /* so far */
    struct link asked;
    struct loop_task pump;
    struct loop_timer expiry, watch;
    enum mcp_era era;
    uint64_t era_wall_ms; /* when it was found out; 0: it was not */
    uint8_t facts[SHA256_BYTES];
    bool has_facts;
    bool is_stopped;
    enum server_state told; /* the last state that on_state heard */
    char *told_why;
    uint64_t since_wall_ms, restarts;
    struct prepare *prepare; /* NULL: what it runs is there */
    char *kept;              /* what on_keep heard last */
    char *stopped_why;
};

/* --- instance.c --- */
struct instance *instance_new(struct supervisor *owner, struct str caller);
void instance_free(
    struct instance *instance); /* at once; asked questions are forgotten */

/* From RESTING. It may be PAUSING when this returns. */
void instance_start(struct instance *instance);

/* Gently, by us; harmless where nothing runs. */
void instance_leave(struct instance *instance);

/* At once, as a failure. Not inside callbacks of its session. */
void instance_kill(struct instance *instance, const char *why);

/* Ends a pause. */
void instance_unpause(struct instance *instance);
enum err instance_send(struct instance *instance, struct server_order *order);
bool instance_runs(const struct instance *instance);
bool instance_is_idle(const struct instance *instance);
void instance_watch(struct instance *instance, const struct str *uris, size_t count);
void instance_relevel(struct instance *instance);
void instance_idle_from_now(struct instance *instance);

/* --- order.c --- */
struct server_order *order_new(struct supervisor *owner, struct str caller,
                               const struct mcp_call *call);
void order_wait(struct server_order *order); /* at the end of the queue */
void order_unwait(struct server_order *order);

/* The last: on_done is called, the order is gone. */
void order_finish(struct server_order *order, const struct mcp_reply *reply);
void order_fail(struct server_order *order, struct str message, struct str reason);
void order_free(struct server_order *order);

/* The session's answer. `user` is the order. */
extern const struct mcp_call_ops order_ops;

/* --- pool.c --- */

/* The instance that is to take it, in whatever state; one is made where there may be
 * more. NULL: it waits for one to become free. */
struct instance *pool_find(struct supervisor *supervisor,
                           const struct server_order *order);
struct instance *pool_of_caller(const struct supervisor *supervisor, struct str caller);

/* --- supervisor.c --- */
void supervisor_pump_soon(struct supervisor *supervisor);
void supervisor_tell(struct supervisor *supervisor); /* its state, where it changed */
void supervisor_log(struct supervisor *supervisor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void supervisor_note_facts(struct supervisor *supervisor,
                           const struct mcp_session_facts *facts);
/* It did not open: what was found out before may not hold any more. */
void supervisor_doubt_era(struct supervisor *supervisor);
void supervisor_keep(struct supervisor *supervisor);
