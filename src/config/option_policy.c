/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `policy`. */
#include "base/cleanup.h"
#include "config/config_priv.h"

static const char *const outcomes[] = { "allow", "deny", "ask", NULL };

/* clang-format off */
#define T(member, sort) ROW(struct config_policy_row, member, sort)
static const struct option policy_options[] = {
    { T(outcome, OPTION_CHOICE), .choices = outcomes, .is_required = true, .help = "what becomes of it: nothing changes; it is refused; or it is refused with the proposal that may be sent instead, and passes when a person agrees" },
    { T(kind,    OPTION_TEXT),   .is_required = true,                      .help = "pattern over the whole kind, as in capabilities: mcp/request:tools/call:deploy_*; ask is for mcp/request alone" },
    { T(payload, OPTION_OBJECT),                                           .help = "conditions on the payload, as in capabilities; what cannot be read in one way alone fits deny and ask" },
    { T(topics,  OPTION_TEXTS),                                            .help = "topics it is for, * stands for anything; all when not given" },
    { T(from,    OPTION_TEXTS),                                            .help = "participant ids of senders, * stands for anything; all when not given" },
    { T(types,   OPTION_TEXTS),                                            .help = "what senders are: agent, human, service; all when not given" },
    { T(message, OPTION_TEXT),                                             .help = "what the sender is told, up to 1024 bytes" },
};
#undef T
/* clang-format on */

const struct schema policy_schema =
    SCHEMA(struct config_policy_row, policy_options, "policy row", NULL);
