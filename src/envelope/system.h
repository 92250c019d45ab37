/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gateway itself says: system/welcome, system/presence, system/error,
 * system/gap. The head is the same for all; the caller writes the members of the payload
 * between begin and end.
 *
 *     system_begin(&w, out, &(struct system_head){ .kind = S("system/gap"), … });
 *     json_put_str(&w, S("after"), id);
 *     system_end(&w);
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "json/json.h"

#define SYSTEM_SENDER "system:gateway"

struct system_head {
    enum dialect dialect; /* of who reads it */
    struct str kind;      /* in slash spelling */
    struct str id;
    uint64_t wall_ms;
    struct str to;             /* one participant, or "" for all */
    struct str correlation_id; /* "" for none */
};

void system_begin(struct json_writer *w, struct buf *out, const struct system_head *head);
void system_end(struct json_writer *w);

/* Capabilities as finished JSON, each "" to leave it out. */
struct system_capabilities {
    struct str patterns; /* what MCPx v0.1 knows; "": who leaves has none */
    struct str objects;  /* those that look into the payload (D15) */
};

/* {"id":…,"capabilities":[…],"moot":{"type":…,"capabilities":[{…}]}} as it stands in
 * welcome and presence. */
void system_participant(struct json_writer *w, struct str id,
                        struct system_capabilities capabilities, struct str type);
