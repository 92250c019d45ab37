/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames (RFC 6455) with permessage-deflate (RFC 7692). Pure: bytes in, events
 * out. A frame that lies wholly in the received bytes is handed out as it stands, still
 * masked, so that the caller can unmask it straight to where it will stay; everything
 * else (fragments, frames cut by the network, compressed messages) is assembled here, on
 * demand.
 *
 *     struct ws_event ev = ws_decode(&decoder, &bytes);
 *     switch (ev.type) { case WS_NEED_MORE: return; case WS_MESSAGE: … }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"

enum ws_code {
    WS_CODE_NORMAL = 1000,
    WS_CODE_GOING_AWAY = 1001,
    WS_CODE_PROTOCOL = 1002,
    WS_CODE_UNSUPPORTED = 1003,
    WS_CODE_NONE = 1005, /* never on the wire */
    WS_CODE_UTF8 = 1007,
    WS_CODE_POLICY = 1008,
    WS_CODE_TOO_BIG = 1009,
    WS_CODE_INTERNAL = 1011,
    WS_CODE_REPLACED = 4001,
    WS_CODE_KICKED = 4003,
    WS_CODE_SLOW = 4008,
    WS_CODE_RATE = 4029,
};

enum ws_event_type {
    WS_NEED_MORE, /* all bytes are consumed */
    WS_MESSAGE,   /* a whole message */
    WS_PING,      /* body: up to 125 bytes, unmasked, valid until the next call */
    WS_PONG,
    WS_CLOSE,     /* code and reason; WS_CODE_NONE when the peer gave none */
    WS_VIOLATION, /* the connection must be closed with `code`; `why` is for the log */
};

struct ws_event {
    enum ws_event_type type;
    bool is_binary;  /* WS_MESSAGE */
    bool is_masked;  /* WS_MESSAGE: ws_unmask() must still be applied to the body */
    bool is_checked; /* WS_MESSAGE: text already known to be UTF-8 (assembled messages) */
    uint32_t mask;   /* as the four bytes stood on the wire */
    struct str body; /* valid until the next call; unmask in place or elsewhere */
    uint16_t code;
    const char *why;
};

struct ws_inflater; /* see deflate.h */

/* What all connections of a loop share. */
struct ws_shared {
    size_t message_bytes;         /* after inflation; WS_CODE_TOO_BIG */
    size_t fragments;             /* frames of one fragmented message; WS_CODE_TOO_BIG */
    bool refuses_binary;          /* 1003 at the first binary frame (D6) */
    struct ws_inflater *inflater; /* for those that take compressed messages */
};

enum ws_role { WS_SERVER, WS_CLIENT }; /* whom the decoder serves: servers demand masks */

struct ws_decoder {
    const struct ws_shared *shared; /* outlives the decoder */
    struct ws_assembly *assembly;   /* on demand; NULL while idle between messages */
    uint8_t role;
    bool is_deflated; /* compression was agreed on; else RSV1 is a violation */
    bool has_closed;  /* a close frame or violation was seen; later bytes are ignored */
};

/* Every idle connection has one: see docs/PERFORMANCE.md. */
_Static_assert(sizeof(struct ws_decoder) <= 24, "an idle connection has grown");

void ws_decoder_init(struct ws_decoder *d, enum ws_role role,
                     const struct ws_shared *shared, bool is_deflated);
void ws_decoder_done(struct ws_decoder *d);

/* Takes from the front of `*bytes`, which is writable memory (control frames and partial
 * payloads are unmasked in place). */
struct ws_event ws_decode(struct ws_decoder *d, struct str *bytes);

/* True between messages: no partial frame or message is held. */
bool ws_decoder_is_idle(const struct ws_decoder *d);

/* dst = src unmasked; they may be the same memory. */
void ws_unmask(void *dst, const void *src, size_t len, uint32_t mask);

/* Frame heads, as a server sends them (never masked). */
enum ws_opcode {
    WS_OP_CONT = 0,
    WS_OP_TEXT = 1,
    WS_OP_BINARY = 2,
    WS_OP_CLOSE = 8,
    WS_OP_PING = 9,
    WS_OP_PONG = 10
};
enum { WS_MAX_HEAD = 10, WS_MAX_CONTROL = 125 };

/* The length of the head of a final frame with that payload. */
size_t ws_head_size(size_t payload);

/* Writes the head of a final frame; returns its length. */
size_t ws_head_write(uint8_t out[static WS_MAX_HEAD], enum ws_opcode op, size_t payload,
                     bool is_compressed);

/* The length, head included, of the unmasked frame whose head stands at the front. */
size_t ws_frame_size(struct str bytes);

/* What stands behind the head of this whole, unmasked frame. */
struct str ws_frame_body(struct str frame);

/* Whole frames, for answers and for tests. What does not fit sets `is_full` and leaves no
 * part of a frame. */
void ws_frame_write(struct buf *out, enum ws_opcode op, struct str payload);

/* The reason is cut to what a control frame holds. WS_CODE_NONE: a close without a code.
 */
void ws_close_write(struct buf *out, uint16_t code, struct str reason);

/* As a client sends it. */
void ws_frame_write_masked(struct buf *out, enum ws_opcode op, struct str payload,
                           uint32_t mask);

/* True for codes that may stand in a close frame received (RFC 6455 7.4). */
bool ws_code_is_valid(uint16_t code);
