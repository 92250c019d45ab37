/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a credential stands for: a token of the tables, or a JSON Web Token of an issuer
 * that the configuration trusts. The answer may come at once or later: a JWT that is seen
 * for the first time is put into the table of every worker, where it is like any other
 * token until it expires; algorithms that need a key from elsewhere would fetch it here.
 */
#pragma once

#include "base/str.h"
#include "gateway/worker.h"
#include "identity/identity.h"

/* `identity` is a reference that is the caller's now; NULL: `why` is a static text. */
struct resolve_asker {
    void (*on_done)(void *user, struct identity *identity, const char *why);
    void *user;
};
void resolve_start(struct worker *worker, struct str token,
                   const struct resolve_asker *asker);

/* A token that is in no table may still be worth resolve_start(). */
bool resolve_may_help(const struct worker *worker, struct str token);

/* The settings have changed: no JWT of before counts any more. */
void resolve_end_jwts(struct worker *worker);
