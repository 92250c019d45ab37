/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the ledger share: a room, and what is said in it about proposals.
 */
#pragma once

#include "base/buf.h"
#include "fake_seat.h"
#include "harness.h"
#include "participant/ask.h"
#include "participant/proposals.h"

#define NOON 1'800'000'000'000

static struct fake_seat fake;

static inline void begin_with(const struct occupant_settings *settings)
{
    fake_seat_init(&fake, settings);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "");
}

static inline void begin(void)
{
    begin_with(&(struct occupant_settings){});
}

static inline void done(void)
{
    fake_seat_done(&fake);
}

#define CHECK_TOLD(want) CHECK_STR(fake_told(&fake), S(want))
#define ABOUT(id)        "\"correlation_id\":\"" id "\","
#define TO_SRV           "\"to\":[\"srv\"],"
#define PROPOSAL         "mcp/proposal:tools/call:rm"
#define CALL             "mcp/request:tools/call:rm"
#define PROPOSES                                                                         \
    "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{" \
    "\"f\":\"a b\"}},\"reason\":\"full\"}"
#define CALLS \
    "\"payload\":{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}"

/* What is told of it, but that it is heard. */
static inline struct str hear(const char *from, const char *id, const char *kind,
                              const char *rest)
{
    struct str told;

    fake_hear_from(&fake, from, id, kind, rest);
    told = fake_told(&fake);
    if (str_starts(told, S("heard")))
        told = str_slice(told, str_find(told, '\n', 0) + 1, told.len);
    return told;
}

static inline const struct proposed *find(const char *id)
{
    static const struct proposed none;
    const struct proposed *p = occupant_find_proposal(fake.occupant, str_of(id));

    CHECK(p);
    return p ? p : &none;
}

static inline void propose(void)
{
    CHECK_STR(hear("agent", "p", PROPOSAL, TO_SRV PROPOSES), S("proposal p open\n"));
}
[[maybe_unused]] static const struct deciding on_p = { .id = S("p"),
                                                       .reason = S("so"),
                                                       .user = &fake };

#define HEAD(id)                               \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id \
    "\",\"ts\":\"2027-01-15T08:00:00.000Z\",\"from\":\"bot\","
#define REFUSE(id)                                       \
    fake_hear_from(                                      \
        &fake, "system:gateway", "x" id, "system/error", \
        "\"to\":[\"bot\"]," ABOUT(                       \
            id) "\"payload\":{\"error\":\"proposal_state\",\"message\":\"no\"}")
#define ANNOUNCES "mcp/request:notifications/authorization/request"
#define RESPONDS  "mcp/request:authorization/respond"
#define ANNOUNCE(params)                                                                  \
    ABOUT("q")                                                                            \
    "\"payload\":{\"method\":\"notifications/authorization/request\",\"params\":{" params \
    "}}"
#define RESPOND(params) \
    ABOUT("p")          \
    TO_SRV "\"payload\":{\"method\":\"authorization/respond\",\"params\":{" params "}}"
#define WANTS \
    "\"id\":\"a1\",\"tool\":\"rm\",\"requester\":\"agent\",\"arguments\":{\"f\":1}"

static inline void announce(void)
{
    CHECK_STR(
        hear(
            "srv", "p", ANNOUNCES,
            ANNOUNCE(WANTS ",\"reason\":\"big\",\"expiresAt\":\"2027-01-15T08:01:00Z\"")),
        S("proposal p open\n"));
}
