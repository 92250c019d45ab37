/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would become of an envelope, and why? The checks of admission in their order, as
 * far as they depend on nothing but the envelope and its sender's rights, each with what
 * was found. For people: `moot explain --envelope`. Admission never comes here.
 *
 *     JSON         ok   214 bytes
 *     protocol     ok   "mcpx/v0.1"
 *     …
 *     capability   NO   none that is held allows it
 *       chat
 *           no   kind: at byte 1 the pattern has "chat", the kind "mcp/request:…"
 *       {"kind":"mcp/request:tools/call","payload":{"params":{"name":"read_*"}}}
 *           yes  kind: it names the METHOD, and that covers the CONTEXT "write"
 *           no   payload.params.name: "write" does not fit "read_*"
 *     refused: capability_violation
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct regime; /* regime.h */

/* What else a server asks, which depends on what was said before and by whom. */
#define TRIAL_NOT_JUDGED                                                            \
    "rates, the loop guard, a missing correlation_id, a repeated id, the state of " \
    "proposals and of rules, the rules of grants, moderation and invitations"

/* On whose behalf, and where. */
struct trial_sender {
    struct str id; /* "": not known, `from` is not compared */
    struct str_list capabilities;
    struct str_list limited; /* what may be used only so often; asked last */
    bool is_paused;
    bool is_strict;              /* strict validation is in force in the topic */
    const struct regime *regime; /* policy and brake; NULL: not known */
};

/* Appends lines of text, or one JSON object. OK: it would be let in; otherwise the error
 * of the check that refuses it. The arena holds everything that is needed on the way. */
enum err trial_explain(struct str text, const struct trial_sender *sender,
                       struct arena *arena, struct buf *out);
enum err trial_explain_json(struct str text, const struct trial_sender *sender,
                            struct arena *arena, struct buf *out);
