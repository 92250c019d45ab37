/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelopes that the generator sends, and the stamp at the end of their text by which
 * a receiver knows them again:
 *
 *     {"protocol":"mcpx/v0.1","id":"RUNWORDACLIENTNOSEQUENCE","from":"bench-1",
 *      "kind":"chat","payload":{"text":"xxxx@RUNWORDACLIENTNOSEQUENCESENTTIMESENTTIME@"}}
 *
 * Each word is 32 bits written as eight letters A to P. The stamp stands at the end, so
 * a receiver finds it in a message of any size without reading through it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct stamp {
    uint32_t run;    /* random for each run: no other text is taken for ours */
    uint32_t client; /* who sent it */
    uint32_t seq;    /* from 0, per sender */
    uint64_t sent_ns;
};

/* Finds the stamp of this run in a received text. */
bool stamp_find(struct str text, uint32_t run, struct stamp *ret);

enum message_kind { MESSAGE_CHAT, MESSAGE_REQUEST, MESSAGE_RESPONSE };
enum message_dialect { MESSAGE_SLASH, MESSAGE_DOTTED };

/* Kinds of the gateway, in quotes, by dialect. */
extern const struct str message_welcome[2];
extern const struct str message_error[2];

/* A prepared envelope; sending it patches the places that change. */
struct message {
    struct buf text;
    size_t id_at;
    size_t correlation_at; /* 0: has none */
    size_t stamp_at;
};

/* `to` may be empty. The envelope is padded to `size` bytes, or stays as long as it must
 * be. ERR_TOO_BIG. */
enum err message_init(struct message *message, enum message_kind kind,
                      enum message_dialect dialect, struct str from, struct str to,
                      size_t size);
void message_done(struct message *message);

/* The text to send, borrowed until the next call. `cause` is the stamp of the request
 * that a response answers, else NULL. */
struct str message_stamp(struct message *message, const struct stamp *stamp,
                         const struct stamp *cause);
