/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the HTTP door: a connection (http_door.c), its answers in pieces (http_stream.c)
 * and its bodies in pieces (http_upload.c). */
#pragma once

#include "gateway/exchange.h"
#include "http/response.h"
#include "net/conn.h"

enum client_state { HEAD, AUTH, BODY, UPLOAD, HANDLING, STREAMING, SENDING };

struct http_client {
    struct conn conn;
    struct worker *worker;
    struct link link;
    struct loop_timer timer; /* of the head, the body, or keep-alive */
    struct loop_task reap;
    struct exchange *exchange;
    struct buf out;
    size_t sent;
    struct str unread; /* behind the head, while on_bytes runs */
    void (*on_gone)(void *user);
    void *gone_user;
    void (*on_sent)(void *user); /* streaming */
    void *sent_user;
    unsigned suspended;
    enum client_state state;
    bool is_gone;
    bool is_detached;
    bool closes_after; /* the answer */
    struct net_peer peer;
};

/* Writes an answer, or the head of one; the exchange goes on. */
void http_answer_head(struct exchange *x, struct http_response *res);

/* There is output. A peer that does not read it is dropped by the body deadline. */
void http_wake(struct http_client *client);

/* All of an answer has left. */
void http_answered(struct http_client *client);

/* The head of such a request is complete: its handler is called. */
void http_begin_upload(struct exchange *x);

/* As conn_ops.on_bytes(). */
size_t http_take_upload(struct http_client *client, struct str bytes);

/* Whoever takes the body is told that there is no more, and the client what is wrong. */
void http_fail_upload(struct exchange *x, enum err err, const char *why);
