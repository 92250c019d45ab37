/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An envelope on its way out: written, checked as strictly as what is heard, and sent if
 * we may. There is one at a time.
 *
 *     draft_begin(o, &draft, &head);        head.from and head.wall_ms are filled in
 *     say_reason(&draft.w, reason);
 *     err = draft_send(o, &draft);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "participant/ask.h"
#include "participant/occupant.h"
#include "participant/say.h"

/* What drafts are written on, one after the other. */
struct pad {
    struct buf out;
    struct buf kind;
    struct buf params;
    struct arena arena;
    char id[ASK_ID];
};

void pad_init(struct pad *pad);
void pad_done(struct pad *pad);
void pad_rest(struct pad *pad); /* what is large goes */

struct draft {
    struct json_writer w;
    struct say_head head;
    size_t payload_at;
    bool is_told;    /* to send it, by the gateway or by a rule: whatever we may */
    const char *why; /* ERR_INVALID: what is wrong with it; static */
};

/* A new id of ours; valid until the next one. */
struct str draft_id(struct occupant *o);

/* `type` METHOD[:NAME]; valid until the next one. */
struct str draft_kind(struct occupant *o, struct str type, struct str method,
                      struct str name);

void draft_begin(struct occupant *o, struct draft *draft, const struct say_head *head);

/* ERR_AGAIN, ERR_TOO_BIG, ERR_INVALID, ERR_FORBIDDEN. What was sent is in the ledger. */
enum err draft_send(struct occupant *o, struct draft *draft);

/* Is it one JSON value, or object, not too deep, and nothing else? "" is none. */
bool draft_is_json(const struct occupant *o, struct str json);
bool draft_is_object(const struct occupant *o, struct str json);
