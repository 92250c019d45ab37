/* SPDX-License-Identifier: Apache-2.0 */
/* Which control groups there are for a plan. */
#pragma once

#include "sandbox/sandbox_priv.h"

void plan_group(struct sandbox_plan *plan);
