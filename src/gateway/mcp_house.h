/* SPDX-License-Identifier: Apache-2.0 */
/* The directory as tools of MCP (mcpdoor/house_tools.h), at the door and in the room. */
#pragma once

#include "gateway/worker.h"
#include "mcpdoor/house_tools.h"

/* Who uses one. `on_result` is called once, perhaps at once, with a result in the shape
 * of the legacy line; until then a reference on the identity is held. */
struct house_asker {
    struct worker *worker;
    struct identity *identity;
    void (*on_result)(void *user, struct str result);
    void *user;
};

/* May the identity use the tool? */
bool mcp_house_may(struct worker *worker, struct identity *identity, struct str tool);

void mcp_house_use(const struct house_asker *asker, struct str tool,
                   struct json_span arguments);
