/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "policy/overlap.h"

static bool overlap(struct str a, struct str b, size_t steps)
{
    struct capability *one, *other;
    bool is_so;

    CHECK_INT(capability_new(a, &one, NULL), OK);
    CHECK_INT(capability_new(b, &other, NULL), OK);
    is_so = capability_overlaps(one, other, &steps);
    capability_free(one);
    capability_free(other);
    return is_so;
}

TEST(capabilities_overlap_where_one_kind_is_allowed_by_both)
{
    /* clang-format off */
    static const struct { struct str a, b; bool is_so; } cases[] = {
        { S("chat"),                   S("chat"),                        true  },
        { S("chat"),                   S("chats"),                       false },
        { S("chat"),                   S("*"),                           true  },
        { S("chat"),                   S("mcp/*"),                       false },
        { S("x/*"),                    S("*/y"),                         true  },
        { S("x/*"),                    S("y/*"),                         false },
        { S("mcp/request:tools/*"),    S("mcp/request:*/list"),          true  },
        { S("mcp/request:tools/*"),    S("mcp/request:tools/call:read"), true  },
        { S("mcp/request:tools/call"), S("mcp/request:tools/call:*"),    true  },
        { S("mcp/request:tools/call"), S("mcp/request:tools/call:a"),    true  },
        { S("mcp/request:tools/list"), S("mcp/request:tools/call:a"),    false },
        { S("mcp/r*:tools/call"),      S("mcp/response:*"),              true  },
        { S("mcp/r*:tools/call"),      S("mcp/proposal:*"),              false },
        { S("a*c"),                    S("ac"),                          false }, /* one or more */
        { S("a*b*c"),                  S("a*c"),                         true  },
        { S("a*:c"),                   S("a:*"),                         false }, /* stops at : */
        { S("cha*"),                   S("cha"),                         false },
        { S("mcp.request.*"),          S("mcp/request:tools/call"),      true  },
        { S("mcp.request.*"),          S("mcp/response:*"),              false },
        { S("mcp.request.tools/call"), S("mcp.request.tools/call:read"), true  },
        { S("mcp.request.tools/call"), S("mcp/request:tools/call:read"), true  },
        { S("mcp.request.tools/list"), S("mcp.request.tools/call:read"), false },
        { S("mcp.*.tools/call"),       S("mcp.request.tools/call:read"), true  },
        { S("mcpx.approve.proposal"),  S("mcpx.approve.proposal:a"),     false },
        { S("{\"kind\":\"x/*\",\"payload\":{\"a\":1}}"), S("x/y"),       true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(overlap(c->a, c->b, 100'000), c->is_so);
        CHECK_INT(overlap(c->b, c->a, 100'000), c->is_so);
    }
}

TEST(without_steps_nothing_is_said)
{
    CHECK(!overlap(S("chat"), S("chat"), 10));
}
