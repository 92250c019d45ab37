/* SPDX-License-Identifier: Apache-2.0 */
/* The data directory at start: its store, its first tokens. */
#pragma once

#include "base/err.h"
#include "gateway/settings.h"
#include "identity/identity.h"
#include "store/store.h"

/* Makes admin.token and human.token (0600) with their records where they are missing.
 * ERR_IO with a line in the log. */
enum err start_first_tokens(const char *data, struct store *store);

/* Is it that of DIR/admin.token: who signs in by the printed link? */
bool start_is_admin(const struct identity *identity);
struct identity *start_find_admin(struct identity *const *identities, size_t count);

/* All tokens of the store, as an array of references owned by the caller. */
enum err start_load_tokens(struct store *store, struct identity ***ret,
                           size_t *ret_count);
