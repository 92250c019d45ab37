/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which capability a server declares where it has a method (MCP.md LIFE-10): what it did
 * not declare is not sent to it.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "json/scan.h"

/* "": it has it, or the method needs none that is known. Else what its capabilities, an
 * object, lack: "tools", "resources.subscribe"; static text. */
struct str ability_missing(struct json_span capable, bool is_modern, struct str method);

/* Whether tools may be called as tasks of the caller (TASK-03): the server declares it,
 * and so does the tool, an object as it stood in tools/list. */
bool ability_has_tasks(struct json_span capable);
bool ability_runs_as_task(struct str tool);
bool ability_needs_task(struct str tool); /* … and in no other way */
