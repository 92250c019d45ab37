/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `mcp`. */
#include "base/cleanup.h"
#include "config/config_priv.h"

static const char *const off_on[] = { "off", "on", NULL };
static const char *const names[] = { "auto", "prefixed", NULL };

/* clang-format off */
#define T(member, sort) ROW(struct config_anonymous, member, sort)
static const struct option anonymous_options[] = {
    { T(id,      OPTION_TEXT),                                                               .help = "participant id of whoever comes so" },
    { T(profile, OPTION_TEXT),  .mark = offsetof(struct config_anonymous, profile_mark),     .help = "what he may do" },
    { T(topics,  OPTION_TEXTS),                                                              .help = "topics it is for; * at the end stands for anything" },
};
#undef T

static const struct schema anonymous_schema =
    SCHEMA(struct config_anonymous, anonymous_options, "anonymous", check_anonymous);

#define T(member, sort) ROW(struct config_mcp, member, sort)
#define MS(member)      ROW_MS(struct config_mcp, member)
static const struct option mcp_options[] = {
    { T(open,       OPTION_BOOL),    .preset = "true",                                       .help = "whether there is /mcp at all" },
    { T(topic,      OPTION_TEXT),    .mark = offsetof(struct config_mcp, topic_mark),        .help = "the one that /mcp without a topic stands for; none when not given" },
    { T(id,         OPTION_TEXT),    .preset = "mcp", .mark = offsetof(struct config_mcp, id_mark), .help = "participant id under which the gateway asks what others offer" },
    { T(anonymous,  OPTION_SECTION), .schema = &anonymous_schema,                            .help = "MCP without a token: from loopback addresses of this machine alone, and not through a proxy that says so; one on this machine that says nothing makes everybody local: not for use behind one; nobody when not given" },
    { T(room_tools, OPTION_BOOL),    .preset = "on", .choices = off_on,                      .help = "tools of the room itself, besides those of its participants: room_chat, room_who, room_wait, room_propose, tool_search" },
    { T(names,      OPTION_CHOICE),  .preset = "auto", .choices = names,                     .help = "names of tools: as they are where one participant offers some, else PARTICIPANT.TOOL; or always so" },
    { MS(idle),     .preset = "30m",   .min = "1s",    .max = "168h",                        .help = "silence after which a session ends; one with an open stream stays" },
    { MS(hold),     .preset = "25s",   .min = "100ms", .max = "10m",                         .help = "how long a call of 2026-07-28 that waits for a decision is held, before the client is told to ask again" },
    { MS(poll),     .preset = "0",     .min = "0",     .max = "1h",                          .help = "how long a stream of 2025-11-25 is open before it is closed, to be resumed; 0 is for ever" },
    { T(sessions,   OPTION_COUNT),   .preset = "20000", .min = "1", .max = "1000000",        .help = "sessions of one participant in one topic; the longest idle one ends" },
    { T(calls,      OPTION_COUNT),   .preset = "256",   .min = "1", .max = "256",            .help = "calls of one participant in one topic at a time" },
};
#undef MS
#undef T
/* clang-format on */

const struct schema mcp_schema = SCHEMA(struct config_mcp, mcp_options, "mcp", NULL);
