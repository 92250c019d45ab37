/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens between their three forms: what a person asks for (JSON), what is kept (the
 * store's record), what is in force (an identity in every worker's table).
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "gateway/settings.h"
#include "identity/identity.h"
#include "json/json.h"
#include "store/store.h"

/* Reads {"id", "topics", "capabilities" | "profile", "type", "name", "expires_at",
 * "admin"} and makes up what is left out. `settings` may be NULL: built-in profiles only.
 * The result lives in the arena; its hash is set with token_draw(). ERR_BAD_REQUEST, text
 * in *ret_why. */
enum err token_read_request(struct str body, const struct settings *settings,
                            struct arena *arena, struct identity *ret,
                            const char **ret_why);

/* A name of its own: the prefix and a few random characters, in the arena. */
struct str token_make_name(struct str prefix, struct arena *arena);

/* Draws the secret, shown once and never kept: its hash goes into the identity. */
void token_draw(struct identity *identity, struct buf *secret);

void token_to_record(const struct identity *identity, struct arena *arena,
                     struct store_token *ret);

/* NULL if the record cannot be understood. One reference. */
struct identity *token_from_record(const struct store_token *record);

/* An object that describes the token, without its secret. */
void token_write_json(const struct identity *identity, struct json_writer *w);
