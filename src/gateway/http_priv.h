/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the HTTP door: a connection (http_door.c) and its answers in pieces
 * (http_stream.c). */
#pragma once

#include "gateway/exchange.h"
#include "http/response.h"
#include "net/conn.h"

enum client_state { HEAD, AUTH, BODY, HANDLING, STREAMING, SENDING };

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
