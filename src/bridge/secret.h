/* SPDX-License-Identifier: Apache-2.0 */
/* Values of variables and headers that do not stand in the configuration. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "bridge/spec.h"

enum { SECRET_MAX = 64 << 10 };

/* What it says now, in the arena, which the caller wipes with secret_wipe(); of a file
 * without the line end. ERR_NOT_FOUND, ERR_INVALID, ERR_TOO_BIG: *ret_why, owned by the
 * caller, names it and where it should be, never what it says. */
enum err secret_read(const struct server_variable *variable, struct arena *arena,
                     struct str *ret, char **ret_why);

/* Overwrites values that came from elsewhere. */
void secret_wipe(const struct server_variable *variable, struct str value);
