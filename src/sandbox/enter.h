/* SPDX-License-Identifier: Apache-2.0 */
/* What carrying out has in common for all levels. */
#pragma once

#include "sandbox/sandbox_priv.h"

/* For exec; never freed, for what replaces the process. */
char **enter_words(const struct str *words, size_t count);
