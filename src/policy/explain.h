/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why may a kind be sent, or why not? For people: `moot explain` and error messages. Each
 * capability gets a reason, and the verdict says what decided. Takes time that grows with
 * pattern times kind; admission never comes here.
 *
 *     "mcp/request:tools/call"
 *       "mcp/proposal:*"       no: at byte 5 the pattern has "proposal:*", …
 *       "mcp/request:tools*"   yes: "*" stands for "/call"
 *     allowed by "mcp/request:tools*"
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* Appends why the pattern covers the kind, or why it does not; true if it does. */
bool policy_explain_pattern(struct str pattern, struct str kind, struct buf *out);

/* What is asked. `limited`: what may be used only so often, and is asked last. `regime`:
 * policy and brake, or NULL. */
struct regime;
struct policy_question {
    struct str kind;
    struct str_list capabilities;
    struct str_list limited;
    const struct regime *regime;
};

/* Appends lines of text. True if the kind may be sent, whatever its payload. */
bool policy_explain(const struct policy_question *question, struct buf *out);

/* The same as one JSON object: kind, allowed, reason, and capabilities with pattern (or
 * the object), covers and reason each; and `policy`, where there is any. */
bool policy_explain_json(const struct policy_question *question, struct buf *out);
