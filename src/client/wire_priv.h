/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the three files of a wire share: wire.c (its life, time), wire_open.c (from a name
 * to an upgrade) and wire_talk.c (frames).
 */
#pragma once

#include "base/buf.h"
#include "base/hash.h"
#include "client/channel.h"
#include "client/opening.h"
#include "client/retry.h"
#include "client/wire.h"
#include "ws/ws.h"

struct tls_client;

enum wire_state {
    WIRE_RESTING,
    WIRE_RESOLVING,
    WIRE_CONNECTING,
    WIRE_SECURING, /* TLS */
    WIRE_UPGRADING,
    WIRE_OPEN,
    WIRE_CLOSING,
    WIRE_OVER,
};

/* What only an attempt to connect needs. */
struct wire_attempt {
    struct resolve *resolve;
    struct addresses *addresses;
    size_t at;               /* the one that is tried */
    uint64_t address_due_ms; /* when the next one is */
    char *after;             /* "" or where to resume */
    char key[OPENING_KEY + 1];
    struct buf answer;
};

struct wire {
    struct wire_ops ops;
    void *user;
    struct url url;
    char *topic;
    char *token;
    struct tls_client *tls; /* NULL: without */
    struct retry retry;
    uint32_t connect_timeout_ms;
    uint32_t silence_ms;
    size_t outbox_bytes;
    bool is_directed, echoes, resolves_in_thread;

    enum wire_state state;
    bool is_untold;  /* over, and on_broken has not been called */
    bool is_pressed; /* more could be read at once */
    bool is_welcome; /* the owner says so */
    bool has_asked;  /* a ping into the silence */
    uint64_t now_ms; /* of the present step */
    uint64_t due_ms; /* resting: the next attempt; until welcome: giving up; closing */
    uint64_t end_ms; /* closing: however much still moves */
    uint64_t welcome_ms;
    uint64_t heard_ms;
    uint64_t asked_ms;

    struct wire_attempt *attempt;
    struct channel channel;
    struct ws_shared shared;
    struct ws_decoder decoder;
    struct buf out;
    size_t sent; /* the front of `out` */
    struct hash_key random;
    uint64_t random_count;
    uint64_t fence_wanted, fence_sent, fence_heard; /* 0: none */
    struct buf why;
};

/* Random enough for masks (RFC 6455 5.3) and pauses. */
uint64_t wire_random(struct wire *w);

/* It ends, with w->why; on_broken is called. */
void wire_break(struct wire *w, struct ending ending);

/* Appends to w->why. */
void wire_say(struct wire *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* wire_open.c: false when nothing more can be done now. */
void wire_attempt_begin(struct wire *w);
bool wire_attempt_step(struct wire *w);
void wire_attempt_end(struct wire *w);
uint64_t wire_attempt_due_ms(const struct wire *w);

/* wire_talk.c */
void wire_talk_begin(struct wire *w, bool resumes);
bool wire_hear(struct wire *w, struct str bytes); /* false: it has ended */
void wire_talk_step(struct wire *w);
uint64_t wire_talk_due_ms(const struct wire *w);
void wire_close_begin(struct wire *w);
bool wire_has_output(const struct wire *w);
void wire_drop_output(struct wire *w);
/* Writes what the socket takes. ERR_AGAIN: some is left. ERR_CLOSED, ERR_IO. */
enum err wire_flush(struct wire *w);
/* The channel failed: a sentence about it, and the end. */
void wire_lose(struct wire *w, enum err err);
