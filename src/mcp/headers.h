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

struct serve_param;

/* Plain where that is possible, else in base64. */
void header_put_value(struct buf *out, struct str value);

/* NULL, or why a tool with these annotations must not be used (static): a name that is no
 * token, given twice, on what is no string, number or boolean, …. */
const char *header_tool_fault(const struct json *tool);

/* "Mcp-Param-Name: value" for each argument that the tool wants in a header and that is
 * not null. In the arena. */
enum err header_params(const struct json *tool, const struct json *arguments,
                       struct arena *arena, struct str_list *ret);

/* True if the field says exactly this string. Blanks around it do not count; base64 is
 * read strictly. */
bool header_says(struct str field, struct json_span string);

/* NULL, or what is wrong (static) with the Mcp-Param-* of a call: one that is missing,
 * one that says something else than its argument, or something where there is none.
 * Integers are compared as numbers. Fields that the tool does not name do not count. */
const char *header_params_fault(const struct json *tool, const struct json *arguments,
                                const struct serve_param *params, size_t count);

/* Which member of the params Mcp-Name repeats for this method, or "". */
struct str header_name_member(struct str method);

/* What Mcp-Name says for this method: the name, URI or task id, unescaped; or "". */
struct str header_name(struct str method, const struct json *params);
