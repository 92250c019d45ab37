/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles name capability sets: the five examples of MCPx v0.1, and Moot's human, admin,
 * bridge and orchestrator. The configuration adds more.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "json/json.h"

enum participant_type { TYPE_AGENT, TYPE_HUMAN, TYPE_SERVICE };

struct profile {
    struct str name;
    struct str_list capabilities;
    enum participant_type type;
    bool is_admin; /* the role; no capability confers it */
};

/* A built-in profile, or NULL. */
const struct profile *profile_find(struct str name);

/* Walks the built-in ones: NULL gives the first, the last gives NULL. */
const struct profile *profile_next(const struct profile *after);

struct str participant_type_name(enum participant_type type);
bool participant_type_parse(struct str name, enum participant_type *ret);
