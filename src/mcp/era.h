/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one era to the other (MCP.md 2.5): what a result of a server looks like to a
 * caller of the other era. Unknown members and the text of numbers survive.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"

struct era_change {
    struct str method;
    bool is_modern_from, is_modern_to;
    struct str server; /* serverInfo, for modern readers; "": unknown */
    struct str uri;    /* resources/read: what was asked for; "": unknown */
    struct str task;   /* tasks/result: of which, for legacy readers; "": unknown */
};

/* ML-02, ML-10, LM-06: adds or strips resultType, ttlMs, cacheScope, serverInfo; drops
 * what the other side must not see; tasks take the other shape. Unchanged between equal
 * eras. ERR_INVALID: no object; ERR_TOO_BIG. */
enum err era_put_result(struct buf *out, const struct era_change *change,
                        struct json_span result);
/* ML-10, LM-07. ERR_INVALID: no object. */
enum err era_put_error(struct buf *out, const struct era_change *change,
                       struct json_span error);

/* The members of a task, whichever its era, as the other one names them; without what its
 * end adds, and `_meta`. `status` stands in place of its own; "": as it is. */
void era_put_task(struct json_writer *w, struct json_span task, bool is_modern_to,
                  struct str status);
