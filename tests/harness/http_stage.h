/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session over HTTP with a server of the test. What it tells is written down line by
 * line: "ready VERSION", "end N WHY", "notification METHOD 1" (1: bound to a call),
 * "question METHOD 1" (answered with no roots), "result JSON", "error …", "failed …",
 * "cancelled …", "challenge STATUS FIELD for USED", "ended WHY".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "fetch/fetch.h"
#include "http_server.h"
#include "loop/loop.h"
#include "mcp/session.h"
#include "transport/http.h"

struct http_stage {
    struct loop *loop;
    struct fetch *fetch;
    struct http_carrier *http;
    struct mcp_session *session;
    struct loop_timer due;
    struct buf told;
    struct credential credential;
    const char *tokens[3]; /* that the credential gives, one after the other; none: there
                            * is no credential */
    size_t token;
    struct loop_task renewed;
    void (*on_renewed)(void *user, enum err err, const char *why);
    void *renewed_user;
};

/* `tokens` may be set before. */
void http_stage_init(struct http_stage *stage, const char *url, enum mcp_era era);
void http_stage_done(struct http_stage *stage);

/* Turns the loop until the text was told; false after a while. */
bool http_stage_wait(struct http_stage *stage, const char *text);

/* … until the server got that many requests. */
void http_stage_wait_requests(struct http_stage *stage, struct http_server *server,
                              int count);
void http_stage_call(struct http_stage *stage, const char *method);

/* The call's end is told. */
void http_stage_on_done(void *user, const struct mcp_reply *reply);
