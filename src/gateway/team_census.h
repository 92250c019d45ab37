/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many teams there are that are not dissolved, and of whom. It is kept on the first
 * worker, so that both limits are exact: whoever makes a team asks there first.
 */
#pragma once

#include <stddef.h>

#include "base/map.h"

struct config_directory;
struct worker;

struct team_census {
    struct map creators; /* by id */
    size_t total;
};

void team_census_init(struct team_census *census);
void team_census_done(struct team_census *census);

/* On the first worker: is there place for one more of the creator with this id? NULL: it
 * has been counted; else a sentence that says why not. */
const char *team_census_enter(struct team_census *census,
                              const struct config_directory *limits, struct str id);

/* Counted whatever the limits say: it was there before. */
void team_census_add(struct team_census *census, struct str id);

/* From any worker: there is one less. */
void team_census_leave(struct worker *worker, struct str id);
