/* SPDX-License-Identifier: Apache-2.0 */
/* Policy beyond capabilities: rows, of which the first that fits decides. */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "config/mark.h"

enum config_outcome { CONFIG_OUTCOME_ALLOW, CONFIG_OUTCOME_DENY, CONFIG_OUTCOME_ASK };

struct config_policy_row {
    struct config_mark mark;
    struct str name; /* there is none */
    enum config_outcome outcome;
    struct str kind;
    struct str payload; /* JSON; "": none */
    struct config_strs topics;
    struct config_strs from;
    struct config_strs types;
    struct str message;
};

struct config_policy {
    const struct config_policy_row *items;
    size_t count;
};
