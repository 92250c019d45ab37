/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of the modern era: Mcp-Method, Mcp-Name and Mcp-Param-*, the latter from
 * `x-mcp-header` in the schema of a tool. Values that HTTP cannot carry are written as
 * =?base64?…?=.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

/* Plain where that is possible, else in base64. */
void header_put_value(struct buf *out, struct str value);

/* NULL, or why a tool with these annotations must not be used (static): a name that is no
 * token, given twice, on what is no string, number or boolean, …. */
const char *header_tool_fault(const struct json *tool);

/* "Mcp-Param-Name: value" for each argument that the tool wants in a header and that is
 * not null. In the arena. */
enum err header_params(const struct json *tool, const struct json *arguments,
                       struct arena *arena, struct str_list *ret);

/* What Mcp-Name says for this method: the name, URI or task id, unescaped; or "". */
struct str header_name(struct str method, const struct json *params);
