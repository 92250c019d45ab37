/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a gateway that comes back: resolves, connects, TLS, the upgrade,
 * frames; when it breaks, it waits (longer each time, cut at random) and tries again,
 * unless what ended it says that this is of no use. Driven from outside: fd, events, due,
 * step.
 *
 *     resting ─► resolving ─► connecting ─► upgrading ─► open ─► closing
 *        ▲                                                 │        │
 *        └───────────── breaks: a pause, then again ◄──────┘        └► over
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct wire;

struct wire_ops {
    /* The upgrade succeeded. `resumes`: with the `after` that on_after gave. */
    void (*on_open)(void *user, bool resumes);
    /* A text message, valid during the call. */
    void (*on_text)(void *user, struct str text);
    /* The pong to wire_fence(), and to all before it: those that follow each other
     * closely are one. */
    void (*on_fence)(void *user, uint64_t number);
    /* It broke, or could not be made; `why` is for people, without secrets. `is_over`:
     * for good. Else wire_due_ms() tells when it tries again. */
    void (*on_broken)(void *user, struct str why, bool is_over);
    /* A new attempt: behind which envelope to resume, or "". */
    struct str (*on_after)(void *user);
};

struct wire_settings {
    struct str url, topic, token;
    struct str ca_file; /* "": what the system trusts */
    bool is_directed;
    bool echoes;
    bool connects_once;
    bool resolves_in_thread;
    uint32_t connect_timeout_ms; /* up to wire_welcome(); 0: none */
    uint32_t retry_min_ms, retry_max_ms;
    uint32_t silence_ms; /* a ping after one half, the end after the other; 0: for ever */
    size_t message_bytes; /* received at most */
    size_t outbox_bytes;  /* waiting at most */
};

/* ERR_INVALID: *ret_why, owned by the caller, says what is wrong with the settings. */
enum err wire_new(const struct wire_settings *settings, const struct wire_ops *ops,
                  void *user, struct wire **ret, char **ret_why);
void wire_free(struct wire *wire);

int wire_fd(const struct wire *wire);          /* -1: only time matters */
short wire_events(const struct wire *wire);    /* POLLIN, POLLOUT */
uint64_t wire_due_ms(const struct wire *wire); /* monotonic; UINT64_MAX: never */

/* Does what can be done without waiting (but for a name server, unless
 * resolves_in_thread). */
void wire_step(struct wire *wire, uint64_t now_ms);

/* ERR_AGAIN: not open. ERR_TOO_BIG: the outbox is full. Sent with the next step, or at
 * once when much waits. */
enum err wire_send(struct wire *wire, struct str text);

/* A ping behind what was sent. Numbers begin with 1 and grow. Not open: nothing. */
void wire_fence(struct wire *wire, uint64_t number);

/* Sends what waits, then the close frame, and ends with its answer, or when nothing moved
 * for 2 s. Not open: ends at once. The next step calls on_broken, is_over. */
void wire_close(struct wire *wire);
bool wire_is_open(const struct wire *wire);
bool wire_is_over(const struct wire *wire);

/* The welcome has come, which is for the owner to say: the connection counts as made. And
 * the gateway takes and sends envelopes of up to this size: raises message_bytes. */
void wire_welcome(struct wire *wire, size_t message_bytes);
