/* SPDX-License-Identifier: Apache-2.0 */
/* The record as rules see it: what it says about proposals, and about who is a person. */
#pragma once

#include "audit/record.h"
#include "rules/history.h"

/* A record of an envelope, or of a connection; any other is passed over. The scratch is
 * reset. */
void rules_hear(struct history *history, const struct audit_record *record,
                struct arena *scratch);
