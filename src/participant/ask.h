/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a participant asks and says, and what became of it. An answer counts only from the
 * one who was asked, once; a provisional one (-32001 with authorizationRequest) keeps the
 * call waiting.
 *
 *     occupant_request() ──► calls ──► on_progress* ──► on_done, exactly once
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"
#include "participant/occupant.h"

enum ask_end {
    ASK_RESULT,
    ASK_TOOL_ERROR,
    ASK_ERROR,
    ASK_DENIED,
    ASK_REFUSED,
    ASK_DECLINED,
    ASK_TIMED_OUT,
    ASK_CANCELLED,
    ASK_GONE,
    ASK_LOST,
    ASK_SENT,
};

struct outcome {
    enum ask_end type;
    struct str id;
    struct str by;
    struct str error;   /* a name, or "" */
    struct str message; /* for people */
    int64_t code;
    struct json_span json; /* result, error or details; text.ptr NULL: none */
};

enum ask_stage {
    ASK_PROPOSED,
    ASK_TAKEN_UP,
    ASK_AUTHORIZING,
    ASK_UNDERWAY,
    ASK_APPROVED, /* `done` of `total` have approved the proposal, the last one `by` */
};

struct progress {
    enum ask_stage type;
    struct str id;
    struct str by;
    struct str message;
    double done, total;
};

struct ask_ops {
    void (*on_progress)(void *user, const struct progress *progress); /* may be NULL */
    void (*on_done)(void *user, const struct outcome *outcome);       /* may be NULL */
};

enum { ASK_ID = 40 }; /* bytes of an id that we made, at most */

/* All of these: ERR_AGAIN (no connection), ERR_TOO_BIG, ERR_OVERLOAD (too many wait),
 * ERR_INVALID (not JSON, not a kind; *ret_why is static text), ERR_FORBIDDEN (no
 * capability; only where this is known beforehand). On failure nothing was sent, and no
 * callback comes. `ret_id` and `ret_why` may be NULL; *ret_id is valid until the next
 * thing is said. */
struct saying {
    struct str id; /* of what was said before and is said again, as it was: where it was
                    * taken the gateway refuses it (duplicate_id). "": a new one */
    struct str kind;
    struct str payload; /* JSON; "": {} */
    struct str correlation_id;
    const struct str *to;
    size_t to_count;
    bool is_edited;      /* `edited: true` */
    uint64_t expires_ms; /* wall clock; 0: none */
    struct str members;  /* JSON: what else the envelope has; "": nothing */
    struct ask_ops ops;
    void *user;
};
enum err occupant_say(struct occupant *o, const struct saying *saying, struct moment now,
                      struct str *ret_id, const char **ret_why);

/* ASK_CALL_UNLESS_TOLD: it becomes a proposal only where the gateway asks for one. */
enum ask_how { ASK_CALL_OR_PROPOSE, ASK_CALL, ASK_PROPOSE, ASK_CALL_UNLESS_TOLD };

struct asking {
    struct str to;
    struct str method, name;
    struct str params; /* JSON; "": of name and arguments */
    struct str arguments;
    struct str reason;
    struct str correlation_id; /* of the envelope: what it belongs to; "": nothing. Not
                                * said of what becomes a proposal */
    enum ask_how how;
    bool is_quiet;       /* on_progress is told of stages alone: who is asked is not asked
                          * for progress, and a token in `params` stays */
    uint64_t timeout_ms; /* 0: the default */
    uint64_t proposal_ms; /* how long a proposal of it stays open; 0: timeout_ms */
    struct ask_ops ops;
    void *user;
};
enum err occupant_request(struct occupant *o, const struct asking *asking,
                          struct moment now, struct str *ret_id, const char **ret_why);

/* Waits for what becomes of a proposal of ours that is open and of which nobody here
 * waits: one from before a restart, as the welcome told. Its id is that of the call from
 * then on. ERR_NOT_FOUND, ERR_OVERLOAD; ERR_PROPOSAL_STATE: it is not open, or not ours.
 */
enum err occupant_await(struct occupant *o, struct str proposal,
                        const struct ask_ops *ops, void *user, struct moment now);

/* Of a request the addressee is told, as far as that is possible; of a proposal that is
 * open, the room. ERR_NOT_FOUND; ERR_AGAIN, ERR_TOO_BIG: it could not be withdrawn, and
 * stays. on_done comes with the next tick, ASK_CANCELLED. */
enum err occupant_cancel(struct occupant *o, struct str id, struct str reason,
                         struct moment now);

/* A call waits this long from now on; 0: as long as it was given. ERR_NOT_FOUND: none of
 * that id waits for an answer. */
enum err occupant_prolong(struct occupant *o, struct str id, uint64_t timeout_ms,
                          struct moment now);

/* Forgets whom to tell: the call goes on, its callbacks are not called any more. */
void occupant_forget(struct occupant *o, struct str id);

/* A notification: `method` begins with "notifications/"; `to` "": to everybody. */
enum err occupant_notify(struct occupant *o, struct str to, struct str method,
                         struct str params, struct moment now, const char **ret_why);

/* Answers a request heard before: `kind` and JSON-RPC id are those of the request;
 * `member` is "result" or "error" with finished JSON. */
struct answer {
    struct str request_id;
    struct str method, context; /* of the request's kind; context.ptr NULL: none */
    struct json_span rpc_id;    /* as it stood; JSON_NULL: none */
    const struct str *to;
    size_t to_count;
    struct str member;
    struct str json;
};
enum err occupant_answer(struct occupant *o, const struct answer *answer,
                         struct moment now);

/* Deciding on what others proposed (proposals.h). ERR_NOT_FOUND, ERR_PROPOSAL_STATE: it
 * is not open, or our own. */
struct deciding {
    struct str id;
    struct str to;     /* where the proposal names nobody */
    struct str params; /* edited; "": as proposed */
    struct str reason;
    uint64_t timeout_ms;
    uint64_t valid_until_ms; /* of an authorization: it holds for the same call until
                              * then, wall clock; 0: for this call alone */
    struct str rule;         /* fulfil: the rule that allows it; "": what we may */
    struct ask_ops ops;
    void *user;
};
enum err occupant_fulfil(struct occupant *o, const struct deciding *deciding,
                         struct moment now, const char **ret_why);
enum err occupant_reject(struct occupant *o, const struct deciding *deciding,
                         struct moment now, const char **ret_why);
enum err occupant_approve(struct occupant *o, const struct deciding *deciding,
                          struct moment now, const char **ret_why);
/* Of an authorization: `to` is to decide instead of us. */
enum err occupant_delegate(struct occupant *o, const struct deciding *deciding,
                           struct moment now, const char **ret_why);
