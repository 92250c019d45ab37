/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an offer says, as lines that can be compared: one for each value, in the order of
 * their paths. Two offers say the same where their lines are equal; what differs is told
 * by the lines that only one of them has.
 *
 *     description: "Reads a file"
 *     inputSchema.properties.path.type: "string"
 *     name: "read"
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "mcp/offer.h"

/* Of what its description says, not of `_meta` and other passengers. ERR_TOO_BIG. */
enum err canonical_put(struct buf *out, enum offer_type type, const struct json *offer);

/* "- " for lines of `before` alone, "+ " for those of `after` alone; made fit for a
 * terminal. */
void canonical_put_difference(struct buf *out, struct str before, struct str after);
