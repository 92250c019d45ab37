/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is a child: one message per line on its standard input and output; what
 * it says on standard error goes to its log.
 *
 *     running ──stdio_close: end of input──► leaving ──► SIGTERM ──► SIGKILL ──► ended
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "mcp/carrier.h"
#include "spawn/spawn.h"

struct stdio;

struct stdio_settings {
    const struct sandbox_plan *plan; /* only read */
    size_t max_message;              /* a longer line ends the server */
    size_t max_waiting;              /* bytes that it may leave unread */
    uint64_t leave_ms, term_ms;      /* how long each step of closing may take */
};

struct stdio_ops {
    void (*on_started)(void *user, pid_t pid, int proxy_fd);
    /* A line, or a part of an endless one, without its end. */
    void (*on_log)(void *user, struct str line);
    /* A line of output that is no message: told, and ignored (STDIO-03). */
    void (*on_noise)(void *user, struct str line);
    /* The last: nothing of it is left. mcp_session_ended() has been called before. The
     * stdio may be freed inside. */
    void (*on_ended)(void *user, const struct child_end *end);
};

struct stdio *stdio_open(struct spawn *spawn, struct loop *loop,
                         const struct stdio_settings *settings,
                         const struct stdio_ops *ops, void *user);
struct carrier *stdio_carrier(struct stdio *stdio);
/* Whether it read anything of what it was sent, so that this may be why it ended. */
bool stdio_was_read(const struct stdio *stdio);
void stdio_close(struct stdio *stdio); /* gently; on_ended comes */
void stdio_free(struct stdio *stdio);  /* at once; no callback any more */
