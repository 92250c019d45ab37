/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is what an MCP client does towards one server, in both eras, over whatever
 * carries its messages (carrier.h). Pure: time and texts are arguments.
 *
 *     probing ─► opening ─► ready ─► ended          modern: discover, then ready
 *        └ silence, other errors ─► legacy          legacy: initialize, initialized,
 * ready
 *
 * It hides the difference of the eras from its owner: what a server asks during a call
 * comes as a question bound to that call, whether it came as a request (legacy) or as
 * `input_required`, which is answered by asking again (MRTR, MCP.md 2.5 LM-03). A tool
 * that runs as a task is polled; changes of lists are listened to. Ids and progress
 * tokens are per session (BR-01, BR-02).
 *
 * Callbacks come from inside session_hear(), session_mishap(), session_ended() and
 * session_tick() alone, and may call everything but those and session_free().
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

struct session;
struct question; /* something that the server asks */

enum session_era { ERA_UNKNOWN, ERA_LEGACY, ERA_MODERN };

struct session_settings {
    struct str name, version; /* clientInfo */
    enum session_era era;     /* ERA_UNKNOWN: find out */
    struct str newest;        /* legacy: the version that is offered; "": 2025-11-25 */
    bool has_sampling, has_elicitation, has_url_elicitation, has_roots, has_tasks;
    struct str log_level; /* "": the server says nothing */
    uint64_t probe_ms;    /* silence that means legacy: stdio 2 s, HTTP: its timeout */
    uint64_t open_ms;     /* for the handshake */
    uint64_t call_ms;     /* where a call does not say; progress begins it anew */
    uint64_t call_max_ms; /* whatever the progress */
    uint64_t ping_ms;     /* legacy: silence before a ping; 0: never */
    size_t max_calls, max_questions, max_depth, max_rounds;
    size_t max_message; /* bytes */
};

/* Who the server is; valid until the session is freed or opens anew. */
struct session_facts {
    enum session_era era;
    struct str version;       /* agreed upon */
    struct str server;        /* serverInfo: a JSON object, or "" */
    struct json_span capable; /* capabilities */
    struct str instructions;  /* unescaped, or "" */
};

enum session_end {
    SESSION_ENDED,     /* the carrier did */
    SESSION_REFUSED,   /* the handshake failed: a version, an error, a status */
    SESSION_SILENT,    /* no answer in time, to the handshake or to a ping */
    SESSION_NO_PROBE,  /* it ended while it was probed: start it again as ERA_LEGACY */
    SESSION_FORBIDDEN, /* 401, 403 */
};

struct session_ops {
    void (*on_ready)(void *user, const struct session_facts *facts);
    /* Once; calls have ended before, each with its on_done. */
    void (*on_end)(void *user, enum session_end end, const char *why);
    /* All but progress, cancellation and what the session itself needs: list_changed,
     * message, resources/updated, tasks/status, elicitation/complete. `call`: to which it
     * belongs, 0: to none, or that is not known. Without a subscriptionId. */
    void (*on_notification)(void *user, const struct message *message, uint64_t call);
    /* To be answered with question_answer(), now or later. */
    void (*on_question)(void *user, struct question *question);
    /* The server no longer wants an answer, or its call has ended: the question is gone
     * when this returns. */
    void (*on_question_gone)(void *user, struct question *question);
};

/* Sends the first message. The carrier lives longer than the session. */
struct session *session_new(const struct session_settings *settings,
                            struct carrier *carrier, const struct session_ops *ops,
                            void *user, uint64_t now_ms);
void session_free(struct session *session);
bool session_is_ready(const struct session *session);
const struct session_facts *session_facts(const struct session *session);

/* --- from the carrier --- */

/* `via`: the call on whose stream it came; 0: a common one. */
void session_hear(struct session *session, struct str text, uint64_t via,
                  uint64_t now_ms);
void session_mishap(struct session *session, uint64_t call, const struct mishap *mishap,
                    uint64_t now_ms);
void session_ended(struct session *session, const char *why, uint64_t now_ms);

void session_tick(struct session *session, uint64_t now_ms);
uint64_t session_due_ms(const struct session *session); /* UINT64_MAX: never */

/* --- asking --- */

enum reply_type {
    REPLY_RESULT, /* json is the result, as the server's era has it */
    REPLY_ERROR,  /* json is the error of JSON-RPC */
    REPLY_FAILED, /* json is an error that we made: timeout, ended, too big. Whether it
                   * ran is known only where `was_sent` is false */
    REPLY_CANCELLED,
};

struct reply {
    enum reply_type type;
    struct json_span json;
    bool was_sent;
};

struct call_ops {
    /* The whole params of notifications/progress; may be NULL. */
    void (*on_progress)(void *user, struct json_span params);
    void (*on_done)(void *user, const struct reply *reply); /* once */
};

enum call_task { TASK_AS_NEEDED, TASK_NEVER, TASK_PASSED_ON };

struct call {
    struct str method;
    struct str params;   /* an object, or "". Its _meta stays, but for what is ours */
    struct str tool;     /* tools/call: the tool as it stood in tools/list, for headers
                          * and tasks; "": not known */
    enum call_task task; /* PASSED_ON: `params.task` is the caller's own business */
    uint64_t timeout_ms; /* 0: the default */
    struct call_ops ops;
    void *user;
};

/* ERR_AGAIN: not ready. ERR_OVERLOAD, ERR_TOO_BIG, ERR_CLOSED. Never answers inside. */
enum err session_call(struct session *session, const struct call *call, uint64_t now_ms,
                      uint64_t *ret_call);
/* on_done comes with the next tick (REPLY_CANCELLED); the server is told as its era and
 * carrier have it (BR-10). */
void session_cancel(struct session *session, uint64_t call, struct str reason,
                    uint64_t now_ms);
enum err session_notify(struct session *session, struct str method, struct str params);

/* Resources of which changes are wanted, all of them: subscribe and unsubscribe, or a
 * new listen stream. */
void session_watch(struct session *session, const struct str *uris, size_t count,
                   uint64_t now_ms);
size_t session_underway(const struct session *session);

/* --- being asked --- */

struct question {
    uint64_t call;     /* that caused it; 0: none, or not known */
    struct str method; /* sampling/createMessage, elicitation/create, roots/list */
    struct str params; /* an object or "", until it is answered; legacy in shape */
    void *owner;       /* the answerer's */
};

/* `member`: "result" or "error", with finished JSON. The question is gone afterwards. */
void question_answer(struct session *session, struct question *question,
                     struct str member, struct str json, uint64_t now_ms);
