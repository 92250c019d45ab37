/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of carriages, for carriage.c alone. */
#pragma once

#include "bridge/carriage.h"

/* As carriage_open(), for a server with a URL. */
enum err carriage_open_url(const struct supervisor_means *means,
                           const struct carriage_order *order, struct carriage **ret,
                           char **ret_why);
