/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of wishes share: a hall with one attendee, "bot", whose strands are
 * lines of text, and an owner, "srv", who is played by the test.
 *
 *     begin(ALL);
 *     post("s", LEGACY, CALL("1", "add", "{}"));
 *     answer("me-1", "tools/call:add", "\"result\":{}");
 *     SAID("s 200 {…}\n");
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fake_seat.h"
#include "harness.h"
#include "mcpdoor/wish_priv.h"

#define ALL "[\"mcp/*\",\"chat\"]"
#define PROPOSER                                                           \
    "[\"mcp/proposal:*\",\"mcp/withdraw\",\"mcp/request:resources/read\"," \
    "\"mcp/request:notifications/*\"]"
#define CALL_WITH(id, name, arguments, more)                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                         \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
    "\",\"arguments\":" arguments more "}}"
#define CALL(id, name, arguments) CALL_WITH(id, name, arguments, "")
#define CLAIM_WITH(capable, more)                                                \
    ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","    \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\",\"version\":\"1\"}," \
    "\"io.modelcontextprotocol/clientCapabilities\":" capable more "}"
#define CLAIM(capable) CLAIM_WITH(capable, "")
#define LISTED(name)   "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

extern struct fake_seat fake;
extern struct hall hall;
extern struct attendee bot;
extern struct visit visit;
extern struct buf said;
extern unsigned envelopes; /* were heard */

void begin(const char *capabilities);
void done(void);

/* What strands said until now, and watches; it is forgotten with this. */
struct str said_so_far(void);
#define SAID(want) CHECK_STR(said_so_far(), S(want))
#define SAYS(want) CHECK(strstr(buf_cstr(&said), want))
#define SENT(want) CHECK(strstr(buf_cstr(&fake.sent), want))

struct strand *strand_named(const char *name);

enum client { LEGACY, MODERN };

/* The strand of that name; the body is gone afterwards. */
void post(const char *name, enum client client, const char *text);
void hear_from(const char *from, const char *kind, const char *rest);
/* `what`: METHOD:NAME */
void answer(const char *call, const char *what, const char *member);
/* A notification, or a question with an id, about a call. */
void say(const char *call, const char *method, const char *members);
void pass(uint64_t ms);
/* The answer of the legacy client to one of our requests. */
bool reply(const char *text);
/* What stands behind "NAME":" in what was said. */
void find_text(const char *name, char *ret, size_t size);
