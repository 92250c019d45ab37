/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Could two capabilities allow the same? Taking one away may leave another that still
 * allows a part of it; people are told which. Conditions on payloads are not looked at,
 * so the answer errs to yes; patterns of different spellings that have no equal are taken
 * to be apart.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/capability.h"

/* Takes about the product of the lengths in steps, and that off *steps; no when there are
 * not enough left. */
bool capability_overlaps(const struct capability *a, const struct capability *b,
                         size_t *steps);
