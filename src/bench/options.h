/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run: whether they go together, and what one means for another. */
#pragma once

#include "base/err.h"

struct load;

/* Completes load.options, looks the server up and reads the source addresses. ERR_INVALID
 * with the reason in load.why. */
enum err options_check(struct load *load);
