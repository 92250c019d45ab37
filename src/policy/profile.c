/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profiles: MCPx v0.1, 4.1, and Moot's own. */
#include "policy/profile.h"

#include "base/cleanup.h"

#define LIST(array)         \
    {                       \
        array, COUNT(array) \
    }

/* clang-format off */
static const struct str full[]      = { S("mcp/*"), S("chat") };
static const struct str proposer[]  = { S("mcp/proposal:*"), S("mcp/response:*"), S("chat") };
static const struct str responder[] = { S("mcp/response:*"), S("chat") };
static const struct str reader[]    = { S("mcp/request:resources/read"), S("mcp/request:*/list"),
                                        S("mcp/response:*"), S("chat") };
static const struct str tools[]     = { S("mcp/request:tools/*"), S("mcp/response:tools/*"),
                                        S("chat") };
static const struct str human[]     = { S("mcp/*"), S("chat"), S("participant/status"),
                                        S("rule/accept"), S("rule/add"), S("rule/decline"),
                                        S("rule/disable"), S("rule/enable") };
static const struct str admin[]     = { S("mcp/*"), S("chat"), S("participant/status"),
                                        S("capability/*"), S("participant/*"), S("topic/*"),
                                        S("rule/*") };
static const struct str bridge[]    = { S("mcp/response:*"), S("mcp/request:notifications/*"),
                                        S("mcp/request:sampling/createMessage"),
                                        S("mcp/request:elicitation/create"),
                                        S("mcp/request:roots/list"), S("participant/status") };
/* A program that turns what people decide into rules. That a rule allows what it does says
 * rule/use; it has no mcp/request of its own. */
static const struct str orchestrator[] = { S("chat"), S("rule/suggest"), S("rule/use"),
                                           S("rule/shadow"), S("mcp/response:*"),
                                           S("participant/status") };

static const struct str directory[] = { S("directory/query"), S("team/create"), S("mcp/proposal:*"),
                                        S("mcp/response:*"), S("chat") };

static const struct profile profiles[] = {
    { S("full"),      LIST(full),      TYPE_AGENT,   .is_admin = false },
    { S("proposer"),  LIST(proposer),  TYPE_AGENT,   .is_admin = false },
    { S("responder"), LIST(responder), TYPE_AGENT,   .is_admin = false },
    { S("reader"),    LIST(reader),    TYPE_AGENT,   .is_admin = false },
    { S("tools"),     LIST(tools),     TYPE_AGENT,   .is_admin = false },
    { S("human"),     LIST(human),     TYPE_HUMAN,   .is_admin = false },
    { S("admin"),     LIST(admin),     TYPE_HUMAN,   .is_admin = true  },
    { S("bridge"),    LIST(bridge),    TYPE_SERVICE, .is_admin = false },
    { S("orchestrator"), LIST(orchestrator), TYPE_SERVICE, .is_admin = false },
    { S("directory"), LIST(directory), TYPE_AGENT,   .is_admin = false },
};

static const struct str type_names[] = {
    [TYPE_AGENT]   = S("agent"),
    [TYPE_HUMAN]   = S("human"),
    [TYPE_SERVICE] = S("service"),
};
/* clang-format on */

const struct profile *profile_find(struct str name)
{
    for (size_t i = 0; i < COUNT(profiles); i++)
        if (str_eq(profiles[i].name, name))
            return &profiles[i];
    return NULL;
}

const struct profile *profile_next(const struct profile *after)
{
    if (!after)
        return &profiles[0];
    return after < &profiles[COUNT(profiles) - 1] ? after + 1 : NULL;
}

struct str participant_type_name(enum participant_type type)
{
    return type_names[type];
}

bool participant_type_parse(struct str name, enum participant_type *ret)
{
    for (size_t i = 0; i < COUNT(type_names); i++) {
        if (!str_eq(type_names[i], name))
            continue;
        *ret = (enum participant_type)i;
        return true;
    }
    return false;
}
