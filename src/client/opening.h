/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opening handshake as a participant makes it: the request for a topic, and what the
 * gateway, or whatever stands in its place, answers. Pure: bytes in, bytes out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "client/url.h"

enum {
    OPENING_KEY = 24,            /* bytes of Sec-WebSocket-Key */
    OPENING_AFTER = 256,         /* bytes of an id, as the gateway takes them */
    OPENING_REQUEST = 16 * 1024, /* no request is longer, with a topic and a token that */
    OPENING_TOPIC = 128,         /* … are no longer than this */
    OPENING_TOKEN = 8 * 1024,    /* … and this */
    OPENING_ANSWER = 64 * 1024,  /* of an answer that is no upgrade, no more is read */
};

struct opening {
    const struct url *url;
    struct str topic;
    struct str token; /* "": none is sent */
    struct str after; /* "": no replay; at most OPENING_AFTER bytes */
    struct str key;   /* opening_key_write() */
    bool is_directed;
    bool echoes;
};

/* The key for 16 random bytes. */
void opening_key_write(struct buf *out, const uint8_t random[static 16]);

/* ERR_INVALID: `why` says what is wrong with topic or token; it does not repeat them. */
enum err opening_check(const struct opening *opening, struct buf *why);

/* Into a buffer of OPENING_REQUEST bytes, whose memory is allocated once: it holds a
 * secret. */
void opening_write(struct buf *out, const struct opening *opening);

enum opening_more { OPENING_GOES_ON, OPENING_ENDS };

struct opening_answer {
    int status;       /* 101: it speaks WebSocket now */
    size_t used;      /* 101: where its frames begin */
    uint64_t wait_ms; /* else: Retry-After, or 0 */
};

/*
 * Judges all bytes that have come so far. ERR_AGAIN: more are needed; never if `more` is
 * OPENING_ENDS. OK with another status than 101: it was refused, and a sentence with the
 * problem's detail is appended to `why`, fit to be shown. ERR_INVALID: this is no answer,
 * or none to our request; `why` says so.
 */
enum err opening_read(struct str bytes, enum opening_more more, struct str key,
                      struct opening_answer *ret, struct buf *why);
