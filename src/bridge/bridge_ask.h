/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server asks: whom, what does not fit, and what became of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"
#include "participant/ask.h"

struct bridge;
struct bridged;
struct mcp_question;
struct owned_task;

/* A question that somebody was asked. */
struct asked {
    struct link link;
    struct bridge *bridge;
    struct mcp_question *question;
    bool is_client;  /* who is asked: what it answers is its own business */
    char id[ASK_ID]; /* of the envelope */
    size_t id_len;
};

/* A URL that somebody was shown; its end may be told later. */
struct elicited {
    struct link link;
    struct str id, whom; /* behind the struct */
};

/* `call`, `task`: that caused it; both NULL: none, or it cannot be told which. */
void bridge_ask(struct bridge *b, struct mcp_question *question, struct bridged *call,
                struct owned_task *task);
void bridge_refuse(struct bridge *b, struct mcp_question *question, int64_t code,
                   struct str message);
/* What the server is to get for this result. ERR_INVALID: it does not fit. */
enum err bridge_fit(const struct mcp_question *question, struct str result,
                    struct buf *out, struct buf *why);
bool bridge_has_roots(const struct bridge *b); /* of its own: nobody is asked */
void bridge_roots_changed(struct bridge *b, struct str whose);
void bridge_unask(struct bridge *b, struct mcp_question *question);
void bridge_drop_asked(struct bridge *b);
/* Somebody was shown a URL of that id, and it has not ended; or NULL. */
struct elicited *bridge_elicited(const struct bridge *b, struct str id);
void bridge_elicited_end(struct bridge *b, struct elicited *elicited);
/* The URLs of an error -32042 are for `whom`. False: they are none to be shown. */
bool bridge_elicits(struct bridge *b, struct json_span error, struct str whom,
                    struct buf *why);
/* bridge_urls.c: an error of that kind. True: the call is answered; false: as any. */
bool bridge_turn_urls(struct bridged *call, struct json_span error);
/* bridge_turn.c: `_meta` of modern results: who the server is, where it said it. */
void bridge_put_meta(const struct bridge *b, struct json_writer *w);
