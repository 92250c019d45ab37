/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a session (session_priv.h) do for each other.
 */
#pragma once

#include "mcp/session_priv.h"

/* Key of `_meta` in the legacy line: to which task something belongs. */
#define RELATED_TASK S("io.modelcontextprotocol/related-task")

/* --- session.c --- */

/* Tick at that time, or before. */
void mcp_session_wake(struct mcp_session *session, uint64_t at_ms);

/* Everything ends, now; or with the next tick, where nothing may be told. */
void mcp_session_end(struct mcp_session *session, enum mcp_end end, const char *why);
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
    struct str tool; /* of which Mcp-Param-* is made, or "" */
};

/* ERR_CLOSED, ERR_OVERLOAD, ERR_TOO_BIG. */
enum err errand_send(struct mcp_session *session, const struct errand_order *order,
                     struct errand **ret);
/* Nobody waits for it any more. */
void errand_drop(struct mcp_session *session, struct errand *errand);
struct errand *errand_find(const struct mcp_session *session, uint64_t id);

enum err session_answer(struct mcp_session *session, struct json_span id,
                        struct str member, struct str json);
/* notifications/cancelled, where it is not the carrier's way to say so. */
void session_call_off(struct mcp_session *session, struct errand *errand,
                      struct str reason);
enum err session_say(struct mcp_session *session, struct str method, struct str params);

/* --- session_open.c --- */

void session_open(struct mcp_session *session);
void session_tick_opening(struct mcp_session *session);
/* The server forgot us: from the beginning. */
void session_reopen(struct mcp_session *session);
/* Tells a legacy server the level of the settings. */
void session_say_level(struct mcp_session *session);

/* --- session_params.c --- */

/* The params of a request, with what every request of this era brings, into
 * session->params: "" where there is nothing to say. */
struct params_change {
    struct str params; /* an object, or "" */
    struct str_list without;
    struct str more;               /* further members, finished, or "" */
    uint64_t token;                /* of progress; 0: none */
    struct str capable, log_level; /* modern, as in struct mcp_call */
};
struct str session_params(struct mcp_session *session,
                          const struct params_change *change);

/* What we can be asked, as the era has it. */
void session_put_capabilities(const struct mcp_session *session, struct json_writer *w);
void session_put_client(const struct mcp_session *session, struct json_writer *w);

/* --- session_call.c --- */

/* Sends it with these members besides its own, or gives it up. */
void call_resend(struct mcp_session *session, struct call *call, struct str more);
/* Ended with the next tick. */
void call_give_up(struct mcp_session *session, struct call *call, const char *why);
/* What it wants cannot be had: a tool's result says so, else an error (LM-04). */
void call_refuse(struct mcp_session *session, struct call *call, struct str why);
/* A sign of life, or an answer that was waited for. */
void call_prolong(struct mcp_session *session, struct call *call);
void call_wake(struct mcp_session *session, struct call *call, uint64_t after_ms,
               void (*on_wake)(struct mcp_session *session, struct call *call));
/* An answer that ends it. */
void mcp_call_finish(struct mcp_session *session, struct call *call,
                     const struct answer *answer);
void call_hear_mishap(struct mcp_session *session, struct call *call,
                      const struct mishap *mishap);
struct call *call_find(const struct mcp_session *session, uint64_t id);
/* With an error of ours. */
void call_fail(struct mcp_session *session, struct call *call, const char *reason,
               const char *why);
void calls_end(struct mcp_session *session, const char *reason, const char *why);
void mcp_calls_free(struct mcp_session *session);
void mcp_calls_tick(struct mcp_session *session);
/* The session is ready again: what it refused is sent a second time. */
void calls_again(struct mcp_session *session);
/* To which call something belongs: by its stream, or by its task; 0: not known. */
uint64_t call_behind(const struct mcp_session *session, const struct mcp_message *message,
                     uint64_t via);

/* --- session_progress.c --- */

void call_hear_progress(struct mcp_session *session, const struct mcp_message *message);
/* What was held back is told now: its time has come, or the call ends. */
void call_tell_progress(struct mcp_session *session, struct call *call);
uint64_t call_progress_due(const struct call *call); /* UINT64_MAX: nothing is held */

/* --- session_again.c --- */

/* Whether an error of a modern server is about how it was asked: it is asked again, once
 * (LM-07). */
bool again_hear(struct mcp_session *session, struct call *call, struct json_span error);

/* Whether a list of versions names this one. */
bool again_lists(struct json_span versions, struct str version);

/* --- session_ask.c --- */

/* "", or the code that refuses it. */
struct str question_fault(const struct mcp_session *session, struct str method,
                          struct json_span params);
struct question *question_new(struct mcp_session *session, struct json_span id,
                              struct str method, struct str params);
/* Those of a call that nobody was asked yet. */
void questions_tell(struct mcp_session *session, const struct call *call);
/* Whether somebody is asked something that the call may wait for. */
bool questions_wait(const struct mcp_session *session, const struct call *call);
void question_hear(struct mcp_session *session, const struct mcp_message *message,
                   uint64_t via);
void question_hear_cancelled(struct mcp_session *session,
                             const struct mcp_message *message);
/* Of a call that ends, or, NULL, all of them. */
void questions_drop(struct mcp_session *session, const struct call *call);
void questions_free(struct mcp_session *session);

/* --- mrtr.c --- */

/* Whether a result is no result but questions, which are asked now. */
bool mrtr_hear(struct mcp_session *session, struct call *call, struct json_span result);
/* The entries of `inputRequests`, each a question; the round's on_answered follows when
 * all are answered. False: the call is over. */
bool round_begin(struct mcp_session *session, struct call *call,
                 struct json_span requests);
void round_answer(struct mcp_session *session, struct question *question,
                  struct str member, struct str json);
void round_done(struct round *round);

/* --- task.c --- */

/* Whether the tool runs as a task alone, and the server takes one. */
bool task_is_needed(const struct mcp_session *session, const struct call *call);
/* Whether a result is no result but a task, which is polled from now on. */
bool task_hear(struct mcp_session *session, struct call *call, struct json_span result);
/* tasks/result: the task that it names is the one whose questions belong to it. */
void task_name(struct call *call);
/* … which a modern server does not know. ERR_INVALID: it names none. */
enum err task_follow(struct mcp_session *session, struct call *call);
/* Nobody waits for it. */
void task_cancel(struct mcp_session *session, struct call *call);

/* --- session_watch.c --- */

void watch_begin(struct mcp_session *session); /* the session is ready */
void watch_tick(struct mcp_session *session);
/* A notification of a modern server: its listen stream's, or not. */
void watch_hear(struct mcp_session *session, const struct mcp_message *message,
                uint64_t via);
void watch_done(struct mcp_session *session);
