/* SPDX-License-Identifier: Apache-2.0 */
/* What clients of a hall say, for its tests. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "hall_stage.h"
#include "harness.h"

#define META(more)                                                           \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{}" more "}"
#define LEGACY(method) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\"}"
#define MODERN(method) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" META("") "}}"
#define INITIALIZE(version)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{" \
    "\"protocolVersion\":\"" version "\",\"capabilities\":{},\"clientInfo\":{" \
    "\"name\":\"test\",\"version\":\"1\"}}}"
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define READ       TOOL("read")
#define WRITE      TOOL("write")

static bool has(struct str text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what));
}

static void check_has(struct str text, const char *what, int line)
{
    if (!has(text, what))
        test_check_str(text, str_of(what), __FILE__, line, "does not have");
}
#define HAS(text, what) check_has(text, what, __LINE__)

enum { VISIT_ID = 256 };

static void open_visit_in(struct stage *stage, const char *who, char ret[VISIT_ID])
{
    size_t out = stage_post(stage, who, "", INITIALIZE("2025-11-25"));
    struct str id = stage_visit(stage, out);

    (void)snprintf(ret, VISIT_ID, STR_FMT, STR_ARG(id));
    (void)stage_said(stage, out);
}

/* Its id is there until the next one is opened so. */
static const char *open_visit(struct stage *stage, const char *who)
{
    static char id[VISIT_ID];

    open_visit_in(stage, who, id);
    return id;
}
