/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a credential stands for: a token of the tables, or a JSON Web Token of an issuer
 * that the configuration trusts. The answer may come at once or later: a JWT that is seen
 * for the first time is put into the table of every worker, where it is like any other
 * token until it expires. Those of the identity provider are verified on the first
 * worker, which has its keys or fetches them.
 */
#pragma once

#include "base/str.h"
#include "gateway/worker.h"
#include "identity/identity.h"

/* `identity` is a reference that is the caller's now; NULL: ERR_UNAUTHORIZED, or
 * ERR_UNAVAILABLE where nobody can tell now; `why` is a static text. */
struct resolve_asker {
    void (*on_done)(void *user, struct identity *identity, enum err err, const char *why);
    void *user;
};
void resolve_start(struct worker *worker, struct str token,
                   const struct resolve_asker *asker);

/* A token that is in no table may still be worth resolve_start(). */
bool resolve_may_help(const struct worker *worker, struct str token);

/* Somebody has signed in at the identity provider: puts the identity (a reference that is
 * given away), which no token opens, into the table of every worker. It takes the place
 * of that of an earlier sign-in, whose sessions end if it had other rights. */
void resolve_signed_in(struct worker *worker, struct identity *identity,
                       const struct resolve_asker *asker);

/* The settings have changed: no JWT and no sign-in of before counts any
 * more. */
void resolve_end_jwts(struct worker *worker);
