/* SPDX-License-Identifier: Apache-2.0 */
/* What a confined command sees of the file system: the system's part and the permit's. */
#pragma once

#include "sandbox/sandbox_priv.h"

/* Fills plan->places and lets the command run by a path that it can see there. `texts`
 * take the place of files that would tell about this machine; NULL: they cannot.
 * ERR_NOT_FOUND, ERR_FORBIDDEN, ERR_INVALID. */
enum err plan_places(struct planning *planning, const struct place *texts, size_t count);

/* Is it that path, or below it? */
bool path_is_below(struct str path, struct str folder);

/* What it would be found by without links; "" if it is not there. */
struct str path_resolve(struct sandbox_plan *plan, struct str path);
