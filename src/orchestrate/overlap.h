/* SPDX-License-Identifier: Apache-2.0 */
/* Do two shapes have something in common? */
#pragma once

#include "rules/shape.h"

/* False: nothing is covered by both. True: something may be. */
bool shapes_may_overlap(const struct shape *a, const struct shape *b);
