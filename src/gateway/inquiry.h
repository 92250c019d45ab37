/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a participant asks the gateway itself, in the room: a request to system:gateway
 * alone, which nobody else sees, and an answer to that participant alone.
 *
 *     {"kind":"mcp/request:tools/call:find_resources","to":["system:gateway"],…}
 *
 * It has the tools of the house (mcpdoor/house_tools.h).
 */
#pragma once

#include "gateway/speaking.h"

/* A question that was admitted (struct admission: is_question). */
void inquiry_answer(const struct speaker *speaker, const struct admission *a);
