/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing envelopes: the head, then the payload, which is one JSON value. Texts that are
 * "" are left out.
 *
 *     say_begin(&w, out, &head);
 *     say_call(&w, &(struct say_call){ .id = head.id, .method = S("ping") });
 *     say_end(&w);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"

struct say_head {
    struct str id;
    struct str from;
    struct str kind;
    struct str correlation_id;
    const struct str *to;
    size_t to_count;
    uint64_t wall_ms;
    uint64_t expires_ms; /* 0: none */
    bool is_edited;
    struct str rule;    /* that allows a fulfilment */
    struct str members; /* an object, scanned before: what else the envelope has */
};

void say_begin(struct json_writer *w, struct buf *out, const struct say_head *head);
void say_end(struct json_writer *w);

/* Finished JSON comes in as it is: it was scanned before. */
struct say_call {
    struct str id; /* of JSON-RPC; "": nobody answers it */
    struct str method;
    struct str params;         /* an object */
    struct str progress_token; /* goes into params._meta, over what stands there */
};
void say_call(struct json_writer *w, const struct say_call *call);

void say_proposal(struct json_writer *w, struct str method, struct str params,
                  struct str reason);

/* `member` is "result" or "error". */
void say_answer(struct json_writer *w, struct json_span id, struct str member,
                struct str json);

void say_reason(struct json_writer *w, struct str reason);

/* notifications/cancelled */
void say_cancelled(struct json_writer *w, struct str request_id, struct str reason);

/* authorization/respond */
struct say_decision {
    struct str id;
    struct str decision; /* "approve", "deny" or "delegate" */
    struct str reason;
    struct str delegate;     /* of "delegate": to whom */
    uint64_t valid_until_ms; /* wall clock; 0: it is about this call alone */
};
void say_authorization(struct json_writer *w, const struct say_decision *decision);

/* The params of a method that is about something with a name: a tool, a prompt, a
 * resource. Nothing where there is neither name nor arguments. */
void say_params(struct buf *out, struct str method, struct str name,
                struct str arguments);
