/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a bridge is: the token that it is given, or one of its own, made at the local
 * server with the profile `bridge` for this topic alone, and revoked at the end.
 */
#pragma once

#include "base/str.h"
#include "cli/session.h"

struct guest_token {
    char *name;   /* of the token that was made, or NULL */
    char *folder; /* the data directory */
};

/* As session_find(). */
int guest_token_find(const struct session_options *options, struct str id,
                     struct session_target *ret, struct guest_token *ret_token);
void guest_token_done(struct guest_token *token, struct session_target *target);
