/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server for tests, in a thread of its own: each request gets the answer of the
 * first rule that fits it. What came is written down.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { HTTP_SERVER_PEERS = 32, HTTP_SERVER_RULES = 32 };

struct http_rule {
    const char *begins; /* of the request: "POST /mcp"; NULL: any */
    const char *has;    /* somewhere in it; NULL: anything */
    const char *answer; /* the whole of it, as it goes out; NULL: none */
    bool closes;        /* the connection, behind the answer */
    int times;          /* how often it is used; 0: always */
};

struct http_server {
    char url[64];   /* "http://127.0.0.1:PORT/mcp" */
    struct buf log; /* all requests; to be read when the server has stopped */
    atomic_int requests, connections;
    /* its own */
    struct http_rule rules[HTTP_SERVER_RULES];
    size_t rule_count;
    int fd, wake_fd;
    int peers[HTTP_SERVER_PEERS];
    struct buf incoming[HTTP_SERVER_PEERS];
    pthread_t thread;
};

void http_server_start(struct http_server *server, const struct http_rule *rules,
                       size_t count);
void http_server_stop(struct http_server *server);
void http_server_done(struct http_server *server);

/* How often the text stands in the log. */
size_t http_server_count(struct http_server *server, const char *text);
