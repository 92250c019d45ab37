/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a command is that stands for somebody else (a server, a client): the token that it
 * is given, or one of its own, made at the local server for this topic alone, and revoked
 * at the end.
 */
#pragma once

#include "base/str.h"
#include "cli/session.h"
#include "json/json.h"

struct guest_token {
    char *name;   /* of the token that was made, or NULL */
    char *folder; /* the data directory */
};

struct guest_order {
    struct str id;
    struct str profile;           /* "": the capabilities */
    struct str_list capabilities; /* of an agent */
    bool is_server; /* two under one name would answer the same calls: refused */
};

/* As session_find(). */
int guest_token_find(const struct session_options *options,
                     const struct guest_order *order, struct session_target *ret,
                     struct guest_token *ret_token);
void guest_token_done(struct guest_token *token, struct session_target *target);
