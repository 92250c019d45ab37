/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom servers become that root starts: each has a uid of its own, the same one as long
 * as the server is known, so that its files stay its own. Given out by the first worker,
 * before others hear of a server, and kept in the store.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/str.h"

enum {
    UID_FIRST = 64'001, /* the one before is that of whoever has none of his own */
    UID_COUNT = 1000,   /* those behind are of `moot bridge` (cli/bridge_uid.h) */
};

struct server_uids {
    struct map by_name;
    bool is_taken[UID_COUNT];
    bool is_reserved[UID_COUNT];
};

void server_uids_init(struct server_uids *uids);
void server_uids_done(struct server_uids *uids);

/* 0: it has none. */
uid_t server_uids_find(const struct server_uids *uids, struct str name);

/* The one that it has, or the lowest that nobody has, or else one that rests: whoever has
 * that is server_uids_resting(). 0: there is none left. */
uid_t server_uids_next(const struct server_uids *uids, struct str name);
struct str server_uids_resting(const struct server_uids *uids);

/* The server is wanted from now on: the one that it has, or the lowest that nobody has;
 * 0: there is none left. */
uid_t server_uids_take(struct server_uids *uids, struct str name);

/* What was kept; it rests. False: it is none of these, or somebody else's. */
bool server_uids_restore(struct server_uids *uids, struct str name, uid_t uid);

/* The server is wanted no longer: its number rests once nothing of it runs. It finds it
 * again if it comes back before somebody else has got it. A server that is forgotten has
 * no such claim: true if its number is to be dropped now. */
void server_uids_unwant(struct server_uids *uids, struct str name);
bool server_uids_forget(struct server_uids *uids, struct str name);

/* Nothing of it runs any more. True: its number is to be dropped. */
bool server_uids_ended(struct server_uids *uids, struct str name);

/* Its number is free. */
void server_uids_drop(struct server_uids *uids, struct str name);

/* An administrator has given this one to a server himself: nobody else gets it. */
void server_uids_reserve(struct server_uids *uids, uid_t uid);
