/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session from inside. session.c hears, dispatches and keeps time; session_open.c opens
 * it, session_call.c makes the calls of its owner, session_ask.c takes the questions of
 * the server, session_watch.c listens; mrtr.c and task.c are what a call may turn into.
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
enum fate { FATE_OPEN, FATE_CANCELLED, FATE_FAILED };

struct call {
    struct link link;
    uint64_t id; /* the owner's, and the progress token */
    struct mcp_call_ops ops;
    void *user;
    struct str method, params, tool; /* in `texts` */
    char *texts;
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
};

struct question {
    struct mcp_question asked;
    struct link link;
    struct call *call; /* whose it is; NULL: none, or not known */
    struct json_span id;
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
    struct arena opened;        /* what the facts are of */
    struct errand *initialized; /* initialize, while it is under way */
    struct link calls, errands, questions;
    size_t call_count, question_count;
    uint64_t ids; /* given so far */
    uint64_t now_ms, heard_ms;
    uint64_t due_ms;
    bool is_pinged, is_ticking;
    uint64_t probed_ms;  /* until when silence means nothing; UINT64_MAX: it never does */
    enum mcp_end broken; /* what the next tick says, where `why` is set */
    const char *why;
    struct buf params, line; /* scratch of whoever sends */
};

/* --- session.c --- */

static inline bool session_is_modern(const struct mcp_session *session)
{
    return session->facts.era == ERA_MODERN;
}

/* Tick at that time, or before. */
void session_wake(struct mcp_session *session, uint64_t at_ms);

/* Everything ends, now; or with the next tick, where nothing may be told. */
void session_end(struct mcp_session *session, enum mcp_end end, const char *why);
void session_break(struct mcp_session *session, enum mcp_end end, const char *why);

/* A copy at that place, which is large enough. */
static inline struct str text_keep(char *place, struct str text)
{
    if (text.len)
        memcpy(place, text.ptr, text.len);
    return (struct str){ place, text.len };
}

/* What a request says on its way. */
struct errand_order {
    struct str method, params; /* finished */
    struct call *call;
    uint64_t until_ms;
    void (*on_answer)(struct mcp_session *session, struct call *call,
                      const struct answer *answer);
    struct str name;
    const struct str *fields;
    size_t field_count;
};

/* ERR_CLOSED, ERR_OVERLOAD, ERR_TOO_BIG. */
enum err errand_send(struct mcp_session *session, const struct errand_order *order,
                     struct errand **ret);
/* Nobody waits for it any more. */
void errand_drop(struct mcp_session *session, struct errand *errand);
struct errand *errand_find(const struct mcp_session *session, uint64_t id);

enum err session_answer(struct mcp_session *session, struct json_span id,
                        struct str member, struct str json);
enum err session_say(struct mcp_session *session, struct str method, struct str params);

/* --- session_open.c --- */

void session_open(struct mcp_session *session);
void session_tick_opening(struct mcp_session *session);
/* The server forgot us: from the beginning. */
void session_reopen(struct mcp_session *session);

/* --- session_params.c --- */

/* The params of a request, with what every request of this era brings, into
 * session->params: "" where there is nothing to say. */
struct params_change {
    struct str params; /* an object, or "" */
    struct str_list without;
    struct str more; /* further members, finished, or "" */
    uint64_t token;  /* of progress; 0: none */
};
struct str session_params(struct mcp_session *session,
                          const struct params_change *change);

/* What we can be asked, as the era has it. */
void session_put_capabilities(const struct mcp_session *session, struct json_writer *w);
void session_put_client(const struct mcp_session *session, struct json_writer *w);

/* --- session_call.c --- */

struct call *call_find(const struct mcp_session *session, uint64_t id);
void call_end(struct mcp_session *session, struct call *call,
              const struct mcp_reply *reply);
/* With an error of ours. */
void call_fail(struct mcp_session *session, struct call *call, const char *reason,
               const char *why);
void calls_end(struct mcp_session *session, const char *reason, const char *why);
void calls_free(struct mcp_session *session);
void calls_tick(struct mcp_session *session);
/* The session is ready again: what it refused is sent a second time. */
void calls_again(struct mcp_session *session);
/* To which call something belongs: by its stream, or by its task; 0: not known. */
uint64_t call_behind(const struct mcp_session *session, const struct mcp_message *message,
                     uint64_t via);
void call_hear_progress(struct mcp_session *session, const struct mcp_message *message);

/* --- session_ask.c --- */

void question_hear(struct mcp_session *session, const struct mcp_message *message,
                   uint64_t via);
void question_hear_cancelled(struct mcp_session *session,
                             const struct mcp_message *message);
/* Of a call that ends, or, NULL, all of them. */
void questions_drop(struct mcp_session *session, const struct call *call);
void questions_free(struct mcp_session *session);
