/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a browser lands after signing in, for programs without a door of their own: a
 * listener on 127.0.0.1 that answers one path with a page that says "done".
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct landing;

/* Port 0: any. `on_query` may close it. ERR_IO. */
enum err landing_open(struct loop *loop, unsigned port,
                      void (*on_query)(void *user, struct str query), void *user,
                      struct landing **ret);
void landing_close(struct landing *landing);
struct str
landing_uri(const struct landing *landing); /* http://127.0.0.1:PORT/callback */
