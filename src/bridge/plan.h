/* SPDX-License-Identifier: Apache-2.0 */
/* How a server is confined: what its spec permits, with its variables as they are now. */
#pragma once

#include "base/err.h"
#include "bridge/spec.h"
#include "sandbox/sandbox.h"

/* `on_secret` hears each value that must not appear anywhere; may be NULL. The errors of
 * sandbox_plan_make() and secret_read(). */
enum err server_plan_make(const struct server_spec *spec,
                          const struct sandbox_command *command,
                          void (*on_secret)(void *user, struct str value), void *user,
                          struct sandbox_plan **ret, char **ret_why);
