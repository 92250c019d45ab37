/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is what an MCP client does towards one server, in both eras, over whatever
 * carries its messages (carrier.h). Pure: time and texts are arguments.
 *
 *     probing ─► opening ─► ready ─► ended      modern: discover, then ready
 *        └ silence, other errors ─► legacy      legacy: initialize, initialized, ready
 *
 * It hides the difference of the eras from its owner: what a server asks during a call
 * comes as a question bound to that call, whether it came as a request (legacy) or as
 * `input_required`, which is answered by asking again (MRTR, MCP.md 2.5 LM-03). A tool
 * that runs as a task is polled; changes of lists are listened to. Ids and progress
 * tokens are per session (BR-01, BR-02).
 *
 * Callbacks come from inside mcp_session_hear(), mcp_session_mishap(),
 * mcp_session_ended() and mcp_session_tick() alone, and may call everything but those and
 * mcp_session_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcp/carrier.h"
#include "mcp/message.h"

struct mcp_session;
struct mcp_question; /* something that the server asks */

enum mcp_era { ERA_UNKNOWN, ERA_LEGACY, ERA_MODERN };

struct mcp_session_settings {
    struct str name, version; /* clientInfo */
    enum mcp_era era;         /* ERA_UNKNOWN: find out */
    struct str newest;        /* legacy: the version that is offered; "": 2025-11-25 */
    bool has_sampling, has_elicitation, has_url_elicitation, has_roots, has_tasks;
    struct str log_level; /* one of MCP's; "": the server says nothing */
    uint64_t probe_ms;    /* silence that means legacy: stdio 2 s, HTTP: its timeout */
    uint64_t open_ms;     /* for the handshake */
    uint64_t call_ms;     /* where a call does not say; progress begins it anew */
    uint64_t call_max_ms; /* whatever the progress */
    uint64_t ping_ms;     /* legacy: silence before a ping; 0: never */
    size_t max_calls, max_questions, max_depth, max_rounds;
    size_t max_message; /* bytes */
};

/* Who the server is; valid until the session is freed or opens anew. */
struct mcp_session_facts {
    enum mcp_era era;
    struct str version;       /* agreed upon */
    struct str server;        /* serverInfo: a JSON object, or "" */
    struct json_span capable; /* capabilities */
    struct str instructions;  /* unescaped, or "" */
};

enum mcp_end {
    SESSION_ENDED,     /* the carrier did */
    SESSION_REFUSED,   /* the handshake failed: a version, an error, a status */
    SESSION_SILENT,    /* no answer in time, to the handshake or to a ping */
    SESSION_NO_PROBE,  /* it ended while it was probed: start it again as ERA_LEGACY */
    SESSION_FORBIDDEN, /* 401, 403 */
};

struct mcp_session_ops {
    /* Again where a server had forgotten the session. */
    void (*on_ready)(void *user, const struct mcp_session_facts *facts);
    /* Once; calls have ended before, each with its on_done. */
    void (*on_end)(void *user, enum mcp_end end, const char *why);
    /* All but progress, cancellation and what the session itself needs: list_changed,
     * message, resources/updated, tasks/status, elicitation/complete. `call`: to which it
     * belongs, 0: to none, or that is not known. Without a subscriptionId. And the
     * progress of tasks that were passed on, whose call has ended: `call` is its number.
     */
    void (*on_notification)(void *user, const struct mcp_message *message, uint64_t call);
    /* To be answered with mcp_question_answer(), now or later. */
    void (*on_question)(void *user, struct mcp_question *question);
    /* The server no longer wants an answer, or its call has ended: the question is gone
     * when this returns. */
    void (*on_question_gone)(void *user, struct mcp_question *question);
    /* mcp_session_due_ms() is earlier than it was: from whichever function. */
    void (*on_due)(void *user);
    /* The server did what it must not, and it was passed over: for people. At most once
     * for each call. May be NULL. */
    void (*on_oddity)(void *user, const char *what);
};

/* Sends the first message. The carrier lives longer than the session. */
struct mcp_session *mcp_session_new(const struct mcp_session_settings *settings,
                                    struct carrier *carrier,
                                    const struct mcp_session_ops *ops, void *user,
                                    uint64_t now_ms);
void mcp_session_free(struct mcp_session *session);
bool mcp_session_is_ready(const struct mcp_session *session);
const struct mcp_session_facts *mcp_session_facts(const struct mcp_session *session);

/* --- from the carrier --- */

/* `via`: the request (parcel.call) on whose stream it came; 0: a common one. False: it is
 * no message, and was passed over. */
bool mcp_session_hear(struct mcp_session *session, struct str text, uint64_t via,
                      uint64_t now_ms);
/* `call` as in parcel.call. */
void mcp_session_mishap(struct mcp_session *session, uint64_t call,
                        const struct mishap *mishap, uint64_t now_ms);
void mcp_session_ended(struct mcp_session *session, const char *why, uint64_t now_ms);

void mcp_session_tick(struct mcp_session *session, uint64_t now_ms);
uint64_t mcp_session_due_ms(const struct mcp_session *session); /* UINT64_MAX: never */

/* --- asking --- */

enum mcp_reply_type {
    REPLY_RESULT, /* json is the result, as the server's era has it */
    REPLY_ERROR,  /* json is the error of JSON-RPC */
    REPLY_FAILED, /* json is an error that we made: timeout, ended, too big. Whether it
                   * ran is known only where `was_sent` is false */
    REPLY_CANCELLED,
};

struct mcp_reply {
    enum mcp_reply_type type;
    struct json_span json;
    bool was_sent;
};

struct mcp_call_ops {
    /* The whole params of notifications/progress; may be NULL. It rises from one to the
     * next, comes ten times a second at most after the first ten, and the last one before
     * on_done. */
    void (*on_progress)(void *user, struct json_span params);
    void (*on_done)(void *user, const struct mcp_reply *reply); /* once */
};

enum mcp_call_task { TASK_AS_NEEDED, TASK_NEVER, TASK_PASSED_ON };

struct mcp_call {
    struct str method;
    struct str params; /* an object, or "". Its _meta stays, but for what is ours */
    struct str tool;   /* tools/call: the tool as it stood in tools/list, for headers
                        * and tasks; "": not known */
    enum mcp_call_task task; /* PASSED_ON: it is to run as one, which is the caller's own
                              * business; `params.task`, or {} where there is none */
    /* Modern servers: */
    struct str capable;    /* clientCapabilities, the caller's; "": ours */
    struct str log_level;  /* where params name none; "": nor do we */
    bool takes_unfinished; /* a caller of the modern era: `input_required` is his result,
                            * and what he brings along for it stays in params */
    bool answers_roots;    /* … but where it asks for roots, all of it is asked of us */

    uint64_t timeout_ms; /* 0: the default */
    struct mcp_call_ops ops;
    void *user;
};

/* ERR_AGAIN: not ready. ERR_OVERLOAD, ERR_TOO_BIG, ERR_CLOSED; ERR_INVALID: tasks/result
 * without a taskId. Never answers inside. While somebody is asked only call_max_ms
 * counts.
 */
enum err mcp_session_call(struct mcp_session *session, const struct mcp_call *call,
                          uint64_t now_ms, uint64_t *ret_call);
/* on_done comes with the next tick (REPLY_CANCELLED); the server is told as its era and
 * carrier have it (BR-10). */
void mcp_session_cancel(struct mcp_session *session, uint64_t call, struct str reason,
                        uint64_t now_ms);
/* A modern server is told nothing, and no server what we did not declare: OK, and
 * nothing is sent. */
enum err mcp_session_notify(struct mcp_session *session, struct str method,
                            struct str params);

/* Legacy servers: of the messages that they send; "": as the server likes. Modern ones
 * are told with each call. */
void mcp_session_level(struct mcp_session *session, struct str level, uint64_t now_ms);

/* Resources of which changes are wanted, all of them: subscribe and unsubscribe, or a
 * new listen stream. */
void mcp_session_watch(struct mcp_session *session, const struct str *uris, size_t count,
                       uint64_t now_ms);
size_t mcp_session_underway(const struct mcp_session *session);

/* --- being asked --- */

struct mcp_question {
    uint64_t call;     /* that caused it; 0: none, or not known */
    struct str method; /* sampling/createMessage, elicitation/create, roots/list */
    struct str params; /* an object or "", until it is answered; legacy in shape */
    void *owner;       /* the answerer's */
};

/* `member`: "result" or "error", with finished JSON. The question is gone afterwards. */
void mcp_question_answer(struct mcp_session *session, struct mcp_question *question,
                         struct str member, struct str json, uint64_t now_ms);
