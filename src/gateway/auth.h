/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is it? Resolves the credential of an exchange: bearer token, JSON Web Token or
 * ticket; without one
 * whoever comes by the local socket is the administrator, and who comes by MCP from this
 * machine is who the configuration says he is, if it says so. May finish at once or
 * later; the answer always comes through `on_done`.
 */
#pragma once

#include "base/err.h"
#include "gateway/exchange.h"

/* On success x->identity is set, or stays NULL where the route needs none. on_done gets
 * OK, ERR_UNAUTHORIZED, ERR_FORBIDDEN (not an admin), ERR_BAD_REQUEST (a token in the
 * query, two credentials), ERR_THROTTLED, and a static text for people. It is not called
 * if the client is gone. */
void auth_start(struct exchange *x,
                void (*on_done)(struct exchange *x, enum err err, const char *why));

/* For one who was let in before: a credential may go, or mean something else, while a
 * body or a long answer is under way. OK, ERR_UNAUTHORIZED or ERR_FORBIDDEN, and a static
 * text. */
enum err auth_again(struct exchange *x, const char **ret_why);

/* Does the credential still count: neither revoked nor expired? */
bool auth_is_in_force(const struct worker *worker, const struct identity *identity);

/* A ticket stands in query strings, so it opens one WebSocket and nothing more; a link
 * becomes a session. Neither is good for the other. */
enum ticket_use { TICKET_FOR_SOCKET, TICKET_FOR_SESSION };

/* Spends a single-use ticket, wherever it was issued; on_done gets the identity (a
 * reference that is now its own) or NULL. */
void ticket_spend(struct exchange *x, enum ticket_use use, struct str ticket,
                  void (*on_done)(struct exchange *x, struct identity *identity));

/* Issues one for that identity on the worker that keeps them; on_done gets the text, or
 * "" when there are too many. */
void ticket_make(struct exchange *x, struct identity *identity, enum ticket_use use,
                 uint64_t lifetime_ms,
                 void (*on_done)(struct exchange *x, struct str ticket));
