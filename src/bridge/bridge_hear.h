/* SPDX-License-Identifier: Apache-2.0 */
/* What the server of a bridge tells, and what the bridge tells the room. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/scan.h"

struct bridge;
struct bridged;
struct mcp_message;

struct hearing {
    const struct mcp_message *message;
    const struct bridged *call; /* that it belongs to, or NULL */
    bool is_likely;             /* … as far as can be told */
};
void bridge_hear(struct bridge *b, const struct hearing *hearing);
void bridge_progress(struct bridged *call, struct json_span params);
/* The caller's own token in place of ours (BR-02); all else as it stands. */
void bridge_put_progress(struct buf *out, struct json_span params, struct str token);
/* To one participant, or with "" to everybody; `about`: the envelope it belongs to. */
void bridge_tell(struct bridge *b, struct str to, struct str method, struct str params,
                 struct str about);
