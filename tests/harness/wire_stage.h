/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wire against a server that the test plays itself, over loopback, in the same thread.
 * Time is the test's: a step takes it as an argument.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"
#include "client/wire.h"
#include "moot.h"
#include "ws/ws.h"

enum { MIB = 1024 * 1024, STAGE_STEPS = 250 /* of 20 ms at most, until one gives up */ };

struct stage {
    int listener;
    int port;
    int far; /* the server's end of a connection, or -1 */
    struct wire *wire;
    struct moot *moot; /* stepped instead of the wire, by its own clock */
    bool is_stepping;  /* moot_step() is under way */
    uint64_t now_ms;
    char after[300];
    struct buf told; /* what the wire said, one line each */
    size_t texts;    /* counted, also where they are not told */
    bool is_quiet;
    bool is_unmoved;     /* no text is taken for a welcome; else all are */
    const char *answers; /* to every text */
    bool leaves_on_text;
    struct buf heard; /* what the server has read */
    /* How the server reads and writes: as recv() and send() do, or otherwise. */
    ssize_t (*read)(struct stage *s, char *out, size_t size);
    ssize_t (*write)(struct stage *s, const char *bytes, size_t len);
    void *tls;
    struct ws_shared shared;
    struct ws_decoder decoder;
};

extern const struct wire_ops stage_ops; /* tell the stage; `user` is it */

void stage_init(struct stage *s);
void stage_done(struct stage *s);
void stage_listen(struct stage *s); /* on a free port */
struct str stage_url(const struct stage *s);
struct wire_settings stage_settings(struct str url);
void stage_wire(struct stage *s, const struct wire_settings *settings);

/* All of it: a wire that is open and has been welcomed. NULL: the usual settings. */
void stage_open(struct stage *s, const struct wire_settings *changes);

/* Waits for what the wire waits for, but at most a moment; then steps. */
void stage_step(struct stage *s);

/* For much at once: room under way for a megabyte; and waits until so many bytes have
 * come to the wire's socket. */
void stage_widen(struct stage *s);
void stage_await(const struct stage *s, int bytes);

/* What was told since the last time: as it is; once there is something; once so many
 * texts have come since the beginning. */
struct str stage_told(struct stage *s);
struct str stage_hear_wire(struct stage *s);
struct str stage_hear_texts(struct stage *s, size_t count);

/* The server's end. Each steps the wire as long as it waits for it. */
struct str far_hear_request(struct stage *s);
void far_accept(struct stage *s, struct str behind); /* what follows the answer at once */
void far_say(struct stage *s, struct str bytes);
void far_say_frame(struct stage *s, enum ws_opcode op, struct str payload);
void far_say_close(struct stage *s, uint16_t code, struct str reason);
void far_hang_up(struct stage *s);

/* Reads into s->heard: what is there; until there are so many bytes. */
void far_listen(struct stage *s);
void far_hear_bytes(struct stage *s, size_t count);

/* The next frames, a line each: "text hello", "ping 0001", "close 1000 ". */
struct str far_hear_frames(struct stage *s);
