/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is it? An identity is what a credential stands for: a participant id, the topics it
 * may enter, its capabilities, its type and whether it has the admin role. Immutable and
 * reference-counted with atomics, since tables on several workers share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "json/json.h"
#include "policy/profile.h"

enum identity_source {
    FROM_CONFIG,
    FROM_STORE,
    FROM_SESSION,
    FROM_INVITATION, /* that waits to be used */
    FROM_GUEST,      /* the session that it became */
    FROM_SERVER,     /* an MCP server in the gateway itself: no token opens it */
    FROM_JWT,        /* a JSON Web Token, as long as it is valid: jwt.h */
    FROM_PROVIDER,   /* signed in at the identity provider: no token opens it */
};

/* Sets of sources. */
enum {
    SOURCES_ALL = (1U << (FROM_PROVIDER + 1)) - 1,
    SOURCES_ISSUERS = 1U << FROM_JWT | 1U << FROM_PROVIDER, /* of others */
    SOURCES_TOKENS =
        1U << FROM_CONFIG | 1U << FROM_STORE | 1U << FROM_SERVER | SOURCES_ISSUERS,
    SOURCES_SESSIONS = 1U << FROM_SESSION | 1U << FROM_GUEST,
    SOURCES_GUESTS = 1U << FROM_INVITATION | 1U << FROM_GUEST,
};

struct identity {
    struct str id;          /* the participant id: 1–256 bytes, no control characters */
    struct str token_name;  /* public name of the credential, for lists and revoking */
    struct str_list topics; /* patterns: `*` at the end stands for anything */
    struct str_list capabilities;
    struct str profile; /* "" when capabilities were given */
    enum participant_type type;
    enum identity_source source;
    bool is_admin;
    uint64_t created_ms; /* wall clock */
    uint64_t expires_ms; /* wall clock; 0: never */
    uint64_t lasts_ms;   /* sessions and guests; see identity_lasts_ms() */
    uint8_t token_hash[SHA256_BYTES];
};

/* A deep copy of the template, its capabilities in normal form, with one reference. */
struct identity *identity_new(const struct identity *template);
struct identity *identity_ref(struct identity *identity);
void identity_unref(struct identity *identity);

static inline bool identity_is_from(const struct identity *identity, unsigned sources)
{
    return sources >> identity->source & 1;
}

/* The hash of a credential that nobody can present: no token has one that begins with 16
 * zero bytes. The same name has the same one after a reload. */
void identity_hash_unopened(struct str name, uint8_t ret[static SHA256_BYTES]);

/* Until when what it may do lasts, and whatever it hands on: a token as long as it is
 * valid, a session as long as the token behind it, somebody invited as long as the
 * inviter. Wall clock; 0: for ever. */
uint64_t identity_lasts_ms(const struct identity *identity);

/* ERR_INVALID with a static text in *ret_why: bad id (also `system` and `system:…`, which
 * the gateway goes by), bad topic pattern, bad capability. */
enum err identity_check(const struct identity *identity, const char **ret_why);

/* Guests are named by participants, so their ids must not be taken for those of others:
 * 1–64 of [A-Za-z0-9._-], beginning with a letter or digit, not with `system`. */
bool guest_id_is_valid(struct str id);

/* May this identity enter the topic? */
bool identity_may_enter(const struct identity *identity, struct str topic);

/* Is the topic one of those it names, and not merely covered by a `*`? */
bool identity_names_topic(const struct identity *identity, struct str topic);

/* A topic name: 1–128 bytes of [A-Za-z0-9._~-], not starting with a dot. */
bool topic_name_is_valid(struct str name);

/* Live credentials of one worker by the hash of their token. An unknown token never
 * touches the store. */
struct token_table {
    struct map by_hash; /* raw SHA-256 → struct identity, one reference each */
};

void token_table_init(struct token_table *table);
void token_table_done(struct token_table *table);

/* Takes a reference of its own; an entry with the same hash is replaced. */
void token_table_add(struct token_table *table, struct identity *identity);

/* Removes by hash, or one by its public name; false if there is none. */
bool token_table_remove(struct token_table *table,
                        const uint8_t hash[static SHA256_BYTES]);
bool token_table_remove_named(struct token_table *table, struct str token_name);

/* The credential with this hash, expired or not; borrowed, or NULL. */
struct identity *token_table_find_hash(const struct token_table *table,
                                       const uint8_t hash[static SHA256_BYTES]);

/* Forgets everything that came from there, as a reload does with the configuration's. */
void token_table_drop_source(struct token_table *table, enum identity_source source);

/* Forgets what came from one of these and has expired. */
void token_table_drop_expired(struct token_table *table, unsigned sources,
                              uint64_t wall_ms);

/* Some credential with this public name, or for this participant; borrowed, or NULL. */
struct identity *token_table_find_named(const struct token_table *table,
                                        struct str token_name);
struct identity *token_table_find_id(const struct token_table *table, struct str id);

/* Some credential from one of these sources for this participant, or for one whose id
 * differs in the case of ASCII letters only; borrowed, or NULL. */
struct identity *token_table_find_like(const struct token_table *table, struct str id,
                                       unsigned sources);

/* The identity of a presented token (hashed here), borrowed; NULL: unknown or expired. */
struct identity *token_table_find(const struct token_table *table, struct str token,
                                  uint64_t wall_ms);

/* A new token: "moot_" and 43 characters of base64url, 256 random bits. */
void token_write(struct buf *out);
