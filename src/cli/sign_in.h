/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing in at a server behind a URL, from a terminal: the address is printed, a browser
 * on this machine comes back to a landing of ours, and the tokens rest sealed in
 * DATA/secrets/NAME.
 */
#pragma once

#include "bridge/spec.h"
#include "fetch/fetch.h"
#include "loop/loop.h"
#include "transport/credential.h"

struct sign_in_desk;

/* NULL: none is needed (a command, or its headers have an Authorization), or there can be
 * none, which was told. `fetch` and `loop` live longer. */
struct sign_in_desk *sign_in_desk_new(struct loop *loop, struct fetch *fetch,
                                      const struct server_spec *spec, const char *data);
void sign_in_desk_free(struct sign_in_desk *desk); /* after who uses its credential */
struct credential *sign_in_desk_credential(struct sign_in_desk *desk);
