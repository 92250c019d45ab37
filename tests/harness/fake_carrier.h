/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A carrier without a server: keeps what a session sends, and what it tells its owner, as
 * lines; the test is the server.
 *
 *     fake_carrier_init(&fake, &(struct mcp_session_settings){ .era = ERA_LEGACY });
 *     CHECK_STR(fake_carrier_sent(&fake), S("1 initialize {…}\n"));
 *     fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{…}}");
 *     CHECK_STR(fake_carrier_told(&fake), S("ready legacy 2025-11-25\n"));
 *
 * Sent: "ID METHOD TEXT", then "  NAME" and "  FIELD" where there are some; "-": no id,
 * "answer": no method. "drop ID", "settled …" and "renew" stand among them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "mcp/session.h"

enum { FAKE_QUESTIONS = 16 };

struct fake_carrier {
    struct carrier carrier;
    struct mcp_session *session;
    uint64_t now_ms;
    enum err refusal; /* what the next messages meet */
    bool is_terse;    /* texts of what is sent are left out */
    bool is_brief;    /* of requests only the params are told, without _meta */
    struct buf sent, told, last_sent, last_told;
    struct mcp_question *questions[FAKE_QUESTIONS]; /* open ones, in their order */
    size_t question_count;
};

/* The carrier alone, for whoever makes the session himself. */
void fake_carrier_begin(struct fake_carrier *fake);
/* With a session; settings that are 0 are made large enough. */
void fake_carrier_init(struct fake_carrier *fake,
                       const struct mcp_session_settings *settings);
void fake_carrier_done(struct fake_carrier *fake);

/* A legacy session, or a modern one, that is ready; nothing of that is told. `capable`
 * are the capabilities of the server. */
void fake_carrier_ready(struct fake_carrier *fake,
                        const struct mcp_session_settings *settings, const char *capable);

/* What the server says on the common stream, or on that of a request. */
bool fake_carrier_says(struct fake_carrier *fake, const char *text);
bool fake_carrier_says_via(struct fake_carrier *fake, uint64_t via, const char *text);
/* The result of a request. */
void fake_carrier_answers(struct fake_carrier *fake, uint64_t id, const char *result);
void fake_carrier_mishap(struct fake_carrier *fake, uint64_t id, struct mishap mishap);
void fake_carrier_tick(struct fake_carrier *fake, uint64_t ms); /* time passes */

/* A call of which everything is told; its number, or 0 (told with the error). */
uint64_t fake_carrier_call(struct fake_carrier *fake, const char *method,
                           const char *params);
extern const struct mcp_call_ops fake_carrier_call_ops; /* `user`: the fake carrier */

/* Answers the first question that is open with a result. */
void fake_carrier_reply(struct fake_carrier *fake, const char *result);

/* What was sent, or told, since the last time: a line each; valid until the next time. */
struct str fake_carrier_sent(struct fake_carrier *fake);
struct str fake_carrier_told(struct fake_carrier *fake);
