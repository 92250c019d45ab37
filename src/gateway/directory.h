/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory as the doors see it: who may ask for what, questions to the store, and
 * the feed of what changes, which agents at /agents follow (agents_door.h).
 *
 * A question is asked on any worker and answered there, at once or later. The feed lives
 * on the first worker; all others send it what they have to tell. Resources are told by
 * the thread that writes them, so that the last event about one says what it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "identity/identity.h"
#include "json/json.h"

struct agent_query; /* directory/agent_message.h */
struct directory;
struct worker;

/* The rights, held in no topic: capabilities of the credential, and what an administrator
 * granted in all topics. An administrator has all of them. */
#define DIRECTORY_QUERY   S("directory/query")
#define DIRECTORY_DETAILS S("directory/details") /* rate and contact */
#define TEAM_CREATE       S("team/create")
#define TEAM_MANAGE       S("team/manage")
bool directory_may(struct worker *worker, struct identity *identity, struct str right);
struct str_list directory_rights(void); /* all of them */

/* What came of a request. Borrowed: valid during the call. */
struct directory_outcome {
    enum err err;
    struct str field;   /* what of the request was at fault: "team_id"; "": nothing */
    struct str message; /* a sentence; "" when all is well */
    struct str data;    /* OK: a finished JSON object */
};

/* Who asks, and who is told. `on_done` is called once, on the same worker, perhaps before
 * the call returns; until then a reference on the identity is held. */
struct directory_asker {
    struct worker *worker;
    struct identity *identity;
    void (*on_done)(void *user, const struct directory_outcome *outcome);
    void *user;
};

/* Answers at once with an error; the usual end of a check that failed. */
void directory_refuse(const struct directory_asker *asker, enum err err, struct str field,
                      struct str message);

/* {"resources":[{"resource":{…},"score":3,"present":true,"reason":{…}}],"next":"…",
 * "partial":true}. ERR_FORBIDDEN: it has not DIRECTORY_QUERY. ERR_INVALID: the cursor, or
 * a filter. */
void directory_find(const struct directory_asker *asker, const struct agent_query *query);

/* --- what changes --- */

/* An event that nobody asked for. Texts are copied. */
struct directory_news {
    struct str event_type;    /* as agent_event_is_known() */
    struct str data;          /* a finished JSON object */
    struct str details;       /* likewise for who has DIRECTORY_DETAILS; "": the same */
    struct str team;          /* of which team; "": none */
    struct str topic;         /* its topic; "": none */
    struct str_list audience; /* ids of who may hear it, besides administrators; empty:
                               * whoever has DIRECTORY_QUERY */
};

/* From any worker's thread, or the directory's that writes; events of one thread keep
 * their order. The worker is any of the gateway's. */
void directory_tell(struct worker *worker, const struct directory_news *news);

/* A resource was put, or removed (only its id is told); and so many were imported, which
 * is one event. */
enum directory_change { DIRECTORY_PUT, DIRECTORY_REMOVED };
struct resource;
void directory_tell_resource(struct worker *worker, enum directory_change change,
                             const struct resource *resource);
void directory_tell_import(struct worker *worker, uint64_t rows);
