/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmoot: a participant in a room of a Moot gateway (MCPx v0.1).
 *
 *     struct moot *m;
 *     struct moot_options options = { .url = "ws://127.0.0.1:8420", .topic = "lobby" };
 *
 *     options.token = getenv("MOOT_TOKEN");
 *     if (moot_new(&options, &m) == MOOT_OK) {
 *         moot_add_tool(m, &(struct moot_tool){ .name = "add", .call = add });
 *         moot_run(m);
 *         moot_free(m);
 *     }
 *
 * What it does by itself: connects, checks certificates, reconnects with growing pauses,
 * resumes behind the last envelope it heard, drops what is repeated; checks everything
 * that arrives (structure, kind against payload) and counts per sender what it dropped;
 * keeps track of who is here and what they may do, of calls that wait for an answer, and
 * of open proposals; answers MCP requests for what was registered.
 *
 * A handle belongs to one thread at a time; different handles know nothing of each other.
 * There is no global state, and no thread but that of resolves_in_thread, which touches
 * nothing of the handle. Handlers are called from inside moot_step()
 * and moot_run() alone, never from the function that asked; they may call everything but
 * those two and moot_free(). What a handler is given is valid until it returns, unless
 * something else is said. Texts that are given are copied. Zero and NULL stand for the
 * default.
 *
 * Texts are UTF-8 that ends with NUL. JSON that came from outside is a struct moot_str,
 * which does not; JSON that is given is a text.
 */
#ifndef MOOT_H
#define MOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOOT_API __attribute__((visibility("default")))

struct moot;      /* a participant */
struct moot_call; /* a request of somebody else that waits for our answer */
struct moot_json; /* a value inside a JSON text */

struct moot_str {
    const char *ptr;
    size_t len;
};

enum moot_err {
    MOOT_OK = 0,
    MOOT_INVALID,   /* an argument; moot_why() says what is wrong with it */
    MOOT_OFFLINE,   /* there is no connection now */
    MOOT_FORBIDDEN, /* our capabilities do not allow it */
    MOOT_TOO_LARGE, /* an envelope over the limit of the gateway or our own */
    MOOT_FULL,      /* too many calls, proposals or waiting bytes: see moot_limits */
    MOOT_UNKNOWN,   /* no such call, proposal, tool … */
    MOOT_STATE,     /* it is no longer open, or not ours to decide */
    MOOT_ENDED,     /* the participant has left, or was refused for good */
};

/* The name of an error, in a few words; and what the last function that failed on this
 * handle had to complain about. Both are never NULL. */
MOOT_API const char *moot_strerror(enum moot_err err);
MOOT_API const char *moot_why(const struct moot *m);
MOOT_API const char *moot_version(void);

/* --- what happens ----------------------------------------------------------------- */

enum moot_state {
    MOOT_CONNECTING,
    MOOT_JOINED,  /* the welcome has come */
    MOOT_WAITING, /* for the next attempt to connect */
    MOOT_OVER,    /* there will be none */
};

/* An envelope that has passed all checks. Fields that are absent are NULL. */
struct moot_message {
    const char *id, *from, *kind, *ts, *correlation_id;
    const char *const *to;
    size_t to_count;         /* 0: to everybody */
    struct moot_str payload; /* a JSON object */
    struct moot_str text;    /* the whole envelope, as it came */
    bool is_replay;          /* said while we were away */
    bool is_mine;            /* sent by this handle (hears_itself) */
};

struct moot_participant {
    const char *id;
    const char *type;             /* "human", "agent", "service", or "" */
    struct moot_str capabilities; /* a JSON array: patterns, then objects */
};

enum moot_presence { MOOT_IS_HERE, MOOT_JOINS, MOOT_LEAVES, MOOT_CHANGES };

enum moot_proposal_state {
    MOOT_OPEN,
    MOOT_FULFILLED,
    MOOT_REJECTED,
    MOOT_WITHDRAWN,
    MOOT_EXPIRED,
};

/* A proposal (of anybody), or a call that its owner wants authorized. */
struct moot_proposal {
    const char *id;
    const char *proposer;      /* of an authorization: who called */
    const char *owner;         /* of an authorization: who asks; else NULL */
    const char *method, *name; /* "tools/call", "read_file"; name may be NULL */
    const char *const *to;
    size_t to_count;
    struct moot_str
        params;         /* a JSON object; empty: not known, and it cannot be decided */
    const char *reason; /* why it is asked, or why it was rejected; may be NULL */
    const char *by;     /* who decided; NULL while open */
    uint64_t created_ms, expires_ms; /* since 1970 */
    enum moot_proposal_state state;
    bool is_mine;           /* made by our own participant id: not ours to decide */
    uint32_t needed, given; /* approvals, as the gateway counts; needed 0: not known */
    const char *const *approvers;
    size_t approver_count;
    const char *authorization_id; /* what its owner calls it; NULL of a proposal */
    const char *asked; /* of an authorization: whose answer counts; NULL: anybody's */
};

/* What was dropped: because it was malformed, or pretended to be what it is not. */
struct moot_offence {
    const char *from;     /* "" where that could not be read */
    const char *what;     /* "kind_payload_mismatch", "foreign_response", … */
    const char *field;    /* or "" */
    uint64_t count;       /* of this sender so far */
    struct moot_str text; /* as it came; may be anything */
};

/* The gateway refused what we sent, and no on_done tells it. */
struct moot_refusal {
    const char *id;              /* of our envelope, or "" */
    const char *error, *message; /* "capability_violation", a sentence */
    struct moot_str details;     /* the payload of the error */
};

/* Every handler may be NULL. */
struct moot_handlers {
    void (*on_state)(struct moot *m, void *user, enum moot_state state, const char *why);
    /* The welcome has come, for the first time or again: who we are and what we may do is
     * known. `resumed`: nothing was missed since the last time. */
    void (*on_welcome)(struct moot *m, void *user, bool resumed);
    void (*on_presence)(struct moot *m, void *user, enum moot_presence change,
                        const struct moot_participant *who);
    /* Envelopes were lost while we were away: `missed` of them; 0: nobody knows how many,
     * or whether. */
    void (*on_gap)(struct moot *m, void *user, uint64_t missed);
    void (*on_chat)(struct moot *m, void *user, const struct moot_message *message,
                    const char *text);
    /* Everything, before any other handler hears of it. */
    void (*on_message)(struct moot *m, void *user, const struct moot_message *message);
    /* A proposal or an authorization is open, or has changed. */
    void (*on_proposal)(struct moot *m, void *user, const struct moot_proposal *proposal);
    void (*on_refusal)(struct moot *m, void *user, const struct moot_refusal *refusal);
    void (*on_offence)(struct moot *m, void *user, const struct moot_offence *offence);
};

/* --- life ------------------------------------------------------------------------- */

/* Bytes up to 1 GiB, numbers up to 10 million, depth up to 1024. */
struct moot_limits {
    size_t envelope_bytes; /* received: 1 MiB, but never below what the gateway says; a
                            * welcome may be longer, by 256 for each of `participants` */
    size_t outbox_bytes;   /* not yet sent: 4 MiB */
    size_t depth;          /* of JSON: 128 */
    size_t calls;          /* of ours that wait: 1024 */
    size_t served;         /* of others, answered later: 1024 */
    size_t served_bytes;   /* … and what they hold: 64 MiB */
    size_t proposals;      /* known at once: 1024; the oldest decided ones go first */
    size_t participants;   /* known at once: 100000 */
    size_t offenders;      /* counted by name: 256; the rest together */
    size_t recent;         /* envelopes remembered, to drop repeats: 1024 */
};

struct moot_options {
    const char *url; /* ws://HOST:PORT, wss://HOST:PORT, http(s)://… or unix:/PATH */
    const char *topic;
    const char *token;   /* wiped from memory by moot_free() */
    const char *ca_file; /* wss: PEM of what is trusted; NULL: what the system trusts */
    const char *name;    /* what we call ourselves to MCP: "calculator" */
    const char *version;
    const char *after; /* resume behind this envelope */
    bool is_directed;  /* hear what is for everybody or for us only */
    bool hears_itself; /* handlers hear of our own envelopes too, in the room's order */
    bool reports;      /* tell the room (participant/report) of offenders, now and then */
    bool connects_once;          /* no second attempt, neither at first nor later */
    bool resolves_in_thread;     /* names of hosts, so that moot_step() never blocks */
    uint32_t connect_timeout_ms; /* 10 s, up to the welcome */
    uint32_t retry_min_ms, retry_max_ms; /* 250 ms, 30 s; each pause is cut at random */
    uint32_t silence_ms;                 /* 60 s: pings, then takes it for dead */
    uint32_t call_timeout_ms;            /* 60 s */
    struct moot_limits limits;
    struct moot_handlers handlers;
    void *user; /* of the handlers */
};

/* MOOT_INVALID: *ret is still a handle, to be asked moot_why() and freed; NULL only where
 * `ret` itself is. Nothing is connected before the first moot_step() or moot_run(). */
MOOT_API enum moot_err moot_new(const struct moot_options *options, struct moot **ret);
MOOT_API void moot_free(struct moot *m); /* at once; NULL is harmless */

/* Any event loop: wait for `events` (as of poll(2)) on `fd` for at most `timeout`
 * milliseconds, then step; ask all three again afterwards. fd -1: only time matters.
 * timeout -1: for ever. MOOT_ENDED: there is nothing to wait for any more. */
MOOT_API int moot_fd(const struct moot *m);
MOOT_API short moot_events(const struct moot *m);
MOOT_API int moot_timeout(const struct moot *m);
MOOT_API enum moot_err moot_step(struct moot *m);

/* Steps until moot_stop() (MOOT_OK), or it is over (MOOT_ENDED; moot_why() says why).
 * MOOT_FULL: there is no descriptor left. */
MOOT_API enum moot_err moot_run(struct moot *m);
MOOT_API void moot_stop(struct moot *m); /* from a handler or a signal handler */

/* Says goodbye: what was sent is sent first, refusals still arrive, then it is over. */
MOOT_API void moot_leave(struct moot *m);

MOOT_API enum moot_state moot_state(const struct moot *m);
/* MOOT_WAITING: milliseconds until it tries again; else -1. */
MOOT_API int moot_retry_ms(const struct moot *m);
MOOT_API void *moot_user(const struct moot *m);

/* --- who --------------------------------------------------------------------------- */

/* "" before the first welcome. */
MOOT_API const char *moot_id(const struct moot *m);
/* The last envelope heard, for moot_options.after of another run; before, what was given
 * there, or "". */
MOOT_API const char *moot_last(const struct moot *m);
MOOT_API struct moot_str moot_capabilities(const struct moot *m); /* ours, a JSON array */

/* May we send this kind? Where that depends on the payload, `payload` decides; NULL: no.
 */
MOOT_API bool moot_may(struct moot *m, const char *kind, const char *payload);

/* Who else is here. Start with *at = 0; false at the end. Valid until the handler
 * returns, or the next step. */
MOOT_API bool moot_next_participant(const struct moot *m, size_t *at,
                                    struct moot_participant *ret);
MOOT_API bool moot_find_participant(const struct moot *m, const char *id,
                                    struct moot_participant *ret);

/* --- saying ------------------------------------------------------------------------ */

enum { MOOT_ID = 40 }; /* an id that we made, with its NUL */

/* What became of something that we sent. */
enum moot_outcome_type {
    MOOT_RESULT,     /* `json` is the result */
    MOOT_TOOL_ERROR, /* the same, and the tool says that it failed (isError) */
    MOOT_ERROR,      /* JSON-RPC: code and message; `json` is the error */
    MOOT_DENIED,     /* its owner asked, and it was not authorized */
    MOOT_REFUSED,    /* by the gateway; `error` names it, `json` are the details */
    MOOT_DECLINED,   /* the proposal was rejected, withdrawn or has expired: `error` */
    MOOT_TIMED_OUT,
    MOOT_CANCELLED, /* by moot_cancel() */
    MOOT_GONE,      /* the addressee left before it answered; it may have run */
    MOOT_LOST,      /* the connection broke; it may have run */
    MOOT_SENT,      /* moot_send(), moot_chat() …: the gateway took it */
};

struct moot_outcome {
    enum moot_outcome_type type;
    const char *id;    /* of what we sent */
    const char *by;    /* who answered or decided; "system:gateway"; or "" */
    const char *error; /* a name: "timeout", "rejected", "capability_violation", or "" */
    const char *message; /* for people; never NULL */
    int64_t code;        /* of JSON-RPC, or 0 */
    struct moot_str json;
};

/* How a call goes on before its outcome. */
enum moot_stage {
    MOOT_PROPOSED,    /* we may not call it ourselves: it waits for somebody's decision */
    MOOT_TAKEN_UP,    /* `by` has fulfilled the proposal: the answer is under way */
    MOOT_AUTHORIZING, /* its owner asks somebody first */
    MOOT_UNDERWAY,    /* `done` of `total` (0: not known), `message` */
    MOOT_APPROVED,    /* `by` is for the proposal: `done` of `total` that are needed */
};

struct moot_progress {
    const char *id;
    enum moot_stage type;
    const char *by;
    const char *message;
    double done, total;
};

typedef void moot_on_done(struct moot *m, void *user, const struct moot_outcome *outcome);

/* Any envelope. Its outcome is MOOT_SENT, MOOT_REFUSED or MOOT_LOST; `on_done` may be
 * NULL. `ret_id`, here and below, is NULL or has room for MOOT_ID bytes. */
struct moot_envelope {
    const char *kind;
    const char *payload; /* a JSON object; NULL: {} */
    const char *correlation_id;
    const char *const *to;
    size_t to_count;
    moot_on_done *on_done;
    void *user;
    const char *members; /* further ones of the envelope, a JSON object; NULL: none */
};
MOOT_API enum moot_err moot_send(struct moot *m, const struct moot_envelope *envelope,
                                 char *ret_id);
MOOT_API enum moot_err moot_chat(struct moot *m, const char *text);

enum moot_how {
    MOOT_CALL_OR_PROPOSE, /* call it if we may, else propose it */
    MOOT_CALL,
    MOOT_PROPOSE,
};

/* A request to one participant, or a proposal that somebody makes one. */
struct moot_request {
    const char *to;        /* MOOT_PROPOSE: may be NULL */
    const char *method;    /* "tools/call" */
    const char *name;      /* the tool, prompt or URI that the kind names; NULL: none */
    const char *params;    /* a JSON object; NULL: of `name` and `arguments` */
    const char *arguments; /* a JSON object; NULL: {} */
    const char *reason;    /* for those who decide on a proposal; may be NULL */
    enum moot_how how;
    uint32_t timeout_ms; /* of the call; of a proposal: until it expires */
    void (*on_progress)(struct moot *m, void *user, const struct moot_progress *progress);
    moot_on_done *on_done; /* exactly once, unless the handle is freed before */
    void *user;
};
MOOT_API enum moot_err moot_request(struct moot *m, const struct moot_request *request,
                                    char *ret_id);

/* Ends a call of ours and tells the addressee; a proposal is withdrawn. */
MOOT_API enum moot_err moot_cancel(struct moot *m, const char *id, const char *reason);

/* A call of ours waits this long from now on; 0: as long as it was given when it was
 * made. For whoever is asked something about it, and thinks. MOOT_UNKNOWN: it does not
 * wait, or is a proposal that nobody has taken up. */
MOOT_API enum moot_err moot_prolong(struct moot *m, const char *id, uint32_t timeout_ms);

/* A notification; `to` NULL: to everybody. */
MOOT_API enum moot_err moot_notify(struct moot *m, const char *to, const char *method,
                                   const char *params);

/* --- deciding ---------------------------------------------------------------------- */

/* Open ones and some that were decided, oldest first: start with *at = 0; false at the
 * end. Valid until the handler returns, or the next step. */
MOOT_API bool moot_next_proposal(const struct moot *m, size_t *at,
                                 struct moot_proposal *ret);
MOOT_API bool moot_find_proposal(const struct moot *m, const char *id,
                                 struct moot_proposal *ret);

/* Fulfils a proposal: makes the call that it proposes. Of an authorization: approves it.
 */
struct moot_decision {
    const char *id;
    const char *to;     /* whom to ask, where the proposal does not say; else NULL */
    const char *params; /* edited; NULL: as proposed. No name may stand twice in it */
    const char *reason; /* of an authorization; may be NULL */
    uint32_t timeout_ms;
    moot_on_done *on_done;
    void *user;
    uint64_t valid_until_ms; /* of an authorization: its owner is not to ask again about
                              * the same call before, since 1970; 0: this once */
    const char *rule;        /* moot_fulfil(): a rule of the topic allows it, not our own
                              * capabilities; `rule/use` is needed. NULL: none */
};
MOOT_API enum moot_err moot_fulfil(struct moot *m, const struct moot_decision *decision);

/* Says no. Of an authorization: denies it. */
MOOT_API enum moot_err moot_reject(struct moot *m, const struct moot_decision *decision);

/* mcp/approve: a voice for it, where several are needed; calls nothing. */
MOOT_API enum moot_err moot_approve(struct moot *m, const struct moot_decision *decision);

/* Of an authorization: lets `to` decide instead. Its owner asks him, or everybody. */
MOOT_API enum moot_err moot_delegate(struct moot *m,
                                     const struct moot_decision *decision);

/* --- serving MCP ------------------------------------------------------------------- */

/* Called for each request that was checked and is addressed to us. It answers with one of
 * moot_reply…(), now or later: the call is valid until then, or moot_free(). Who asked
 * may have left, or cancelled: a reply is wanted all the same, and does no harm. */
typedef void moot_serve(struct moot *m, void *user, struct moot_call *call);

struct moot_tool {
    const char *name, *title, *description;
    const char *input_schema;  /* JSON; NULL: any object */
    const char *output_schema; /* JSON */
    const char *annotations;   /* JSON */
    moot_serve *call;
    void *user;
};
struct moot_resource {
    const char *uri; /* or, with braces, a template of them: file:///logs/{day} */
    const char *name, *title, *description, *mime_type;
    moot_serve *read;
    void *user;
};
struct moot_prompt {
    const char *name, *title, *description;
    const char *arguments; /* a JSON array of { name, description, required } */
    moot_serve *get;
    void *user;
};
/* Adding one of a name that is there replaces it. The room is told of changes. */
MOOT_API enum moot_err moot_add_tool(struct moot *m, const struct moot_tool *tool);
MOOT_API enum moot_err moot_add_resource(struct moot *m, const struct moot_resource *r);
MOOT_API enum moot_err moot_add_prompt(struct moot *m, const struct moot_prompt *prompt);
MOOT_API enum moot_err moot_remove_tool(struct moot *m, const char *name);
MOOT_API enum moot_err moot_remove_resource(struct moot *m, const char *uri);
MOOT_API enum moot_err moot_remove_prompt(struct moot *m, const char *name);

/* All other requests that name us: else they are answered with "method not found". */
MOOT_API void moot_serve_others(struct moot *m, moot_serve *serve, void *user);

/* Valid until the call is answered. */
MOOT_API const char *moot_call_from(const struct moot_call *call);
MOOT_API const char *moot_call_method(const struct moot_call *call);
MOOT_API const char *moot_call_name(const struct moot_call *call); /* or "" */
/* The envelope that it belongs to, or "": a server that asks back while it works on a
 * call of ours names that call. */
MOOT_API const char *moot_call_correlation_id(const struct moot_call *call);
MOOT_API const struct moot_json *moot_call_params(const struct moot_call *call);
MOOT_API const struct moot_json *moot_call_argument(const struct moot_call *call,
                                                    const char *name);
MOOT_API bool moot_call_is_cancelled(const struct moot_call *call);
MOOT_API void moot_call_on_cancel(struct moot_call *call, moot_serve *on_cancel);

/* All answers end the call, whatever they return. */
MOOT_API enum moot_err moot_reply_text(struct moot_call *call, const char *text);
MOOT_API enum moot_err moot_reply_failure(struct moot_call *call, const char *text);
MOOT_API enum moot_err moot_reply_json(struct moot_call *call, const char *result);
MOOT_API enum moot_err moot_reply_error(struct moot_call *call, int code,
                                        const char *message);
MOOT_API enum moot_err moot_call_progress(struct moot_call *call, double done,
                                          double total, const char *message);

/* --- JSON --------------------------------------------------------------------------- */

/* The payload of a message, or NULL; valid as long as the message. */
MOOT_API const struct moot_json *moot_payload(struct moot *m,
                                              const struct moot_message *message);
/* Any text; valid until the handler returns, or the next step. NULL: it is no JSON. */
MOOT_API const struct moot_json *moot_parse(struct moot *m, struct moot_str text);
/* A member, an item, the first or next of either; NULL where there is none. */
MOOT_API const struct moot_json *moot_get(const struct moot_json *json, const char *name);
MOOT_API const struct moot_json *moot_first(const struct moot_json *json);
MOOT_API const struct moot_json *moot_next(const struct moot_json *json);
MOOT_API const char *moot_key(const struct moot_json *json); /* of a member; else "" */
/* As it stands in the text, quotes included; valid as long as the value. */
MOOT_API struct moot_str moot_raw(const struct moot_json *json);
/* NULL, false: it is no such thing. A NUL inside a text is told as U+FFFD. */
MOOT_API const char *moot_text(const struct moot_json *json);
MOOT_API bool moot_number(const struct moot_json *json, double *ret);
MOOT_API bool moot_is_true(const struct moot_json *json);
/* Writes the text as a JSON string, quotes included, cut where it does not fit. Returns
 * the length it needs, without the NUL. */
MOOT_API size_t moot_quote(const char *text, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
