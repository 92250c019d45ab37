/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of calls share: a room with "srv", who is asked, and "ann".
 */
#pragma once

#include <stdio.h>

#include "fake_seat.h"
#include "harness.h"
#include "participant/ask.h"

#define CAPS      "[\"mcp/*\",\"chat\"]"
#define PEOPLE    "{\"id\":\"srv\",\"capabilities\":[]},{\"id\":\"ann\",\"capabilities\":[]}"
#define RESPONSE  "mcp/response:tools/call:add"
#define REQUEST   "mcp/request:tools/call:add"
#define ABOUT(id) "\"correlation_id\":\"" id "\","

static struct fake_seat fake;

static inline void begin_with(const char *capabilities)
{
    fake_seat_init(&fake, &(struct occupant_settings){});
    fake_seat_welcome(&fake, capabilities, PEOPLE);
}

static inline void begin(void)
{
    begin_with(CAPS);
}

static inline void done(void)
{
    fake_seat_done(&fake);
}

#define CHECK_TOLD(want) CHECK_STR(fake_told(&fake), S(want))

static inline enum err ask(enum ask_how how)
{
    return occupant_request(fake.occupant,
                            &(struct asking){ .to = S("srv"),
                                              .method = S("tools/call"),
                                              .name = S("add"),
                                              .arguments = S("{\"a\":1}"),
                                              .how = how,
                                              .ops = fake_ask,
                                              .user = &fake },
                            fake.now, NULL, NULL);
}

/* A response to `about`, with its JSON-RPC id; returns what was told of it but that it
 * was heard. */
static inline struct str answer(const char *from, const char *about, const char *member)
{
    static unsigned count;
    char id[32], rest[1024], heard[128];
    struct str told;

    (void)snprintf(id, sizeof(id), "r%u", ++count);
    (void)snprintf(
        rest, sizeof(rest),
        "\"correlation_id\":\"%s\",\"payload\":{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}",
        about, about, member);
    fake_hear_from(&fake, from, id, RESPONSE, rest);
    told = fake_told(&fake);
    (void)snprintf(heard, sizeof(heard), "heard %s %s " RESPONSE "\n", id, from);
    if (str_starts(told, str_of(heard)))
        return str_slice(told, str_of(heard).len, told.len);
    return told;
}

static inline struct str say(const char *from, const char *kind, const char *rest)
{
    static unsigned count;
    char id[32];
    struct str told;

    (void)snprintf(id, sizeof(id), "s%u", ++count);
    fake_hear_from(&fake, from, id, kind, rest);
    told = fake_told(&fake);
    return str_slice(told, str_find(told, '\n', 0) + 1, told.len);
}

#define REFUSE(id, error)                                                          \
    fake_hear_from(&fake, "system:gateway", "x" id, "system/error",                \
                   "\"to\":[\"bot\"]," ABOUT(id) "\"payload\":{\"error\":\"" error \
                                                 "\",\"message\":\"no\"}")
#define REFUSED(error)                                              \
    "refused by system:gateway " error ": no = {\"error\":\"" error \
    "\",\"message\":\"no\"}\n"
#define HEARD_ERROR "heard system/error to me\n"
