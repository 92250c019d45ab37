/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of RFC 6455 5.2, as far as the generator needs them. It is written apart
 * from src/ws on purpose: a measure must not share code with what it measures, and this
 * parser, which takes only whole frames and looks at no byte of the body, is cheaper than
 * a decoder that checks everything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    FRAME_TEXT = 1,
    FRAME_BINARY = 2,
    FRAME_CLOSE = 8,
    FRAME_PING = 9,
    FRAME_PONG = 10,
};

enum { FRAME_HEAD_MAX = 14, FRAME_BODY_MAX = 32 * 1024 * 1024 };

struct frame {
    uint8_t opcode;
    bool is_masked;
    uint32_t mask;
    struct str body; /* as received: still masked */
    size_t size;     /* head and body together */
};

/* Reads the frame at the start of `bytes`. ERR_AGAIN while it is not complete,
 * ERR_INVALID for a fragment or reserved bits, ERR_TOO_BIG. */
enum err frame_parse(struct str bytes, struct frame *ret);

/* Applies the mask, or takes it off; `out` may be `in`. */
void frame_mask(char *out, const char *in, size_t len, uint32_t mask);

/* Appends a frame as servers send it. ERR_TOO_BIG. */
enum err frame_write(struct buf *out, uint8_t opcode, struct str body);

/* Appends a frame as clients send it. ERR_TOO_BIG. */
enum err frame_write_masked(struct buf *out, uint8_t opcode, struct str body,
                            uint32_t mask);

/* Appends what a server sends for a client's frame: the same body, without its mask.
 * ERR_TOO_BIG. */
enum err frame_forward(struct buf *out, const struct frame *frame);
