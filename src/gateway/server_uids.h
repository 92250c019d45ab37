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
    UID_COUNT = 1500,
};

struct server_uids {
    struct map by_name;
    bool is_taken[UID_COUNT];
};

void server_uids_init(struct server_uids *uids);
void server_uids_done(struct server_uids *uids);

/* 0: it has none. */
uid_t server_uids_find(const struct server_uids *uids, struct str name);

/* The one that it has, or the lowest that nobody has; 0: there is none left. */
uid_t server_uids_take(struct server_uids *uids, struct str name);

/* What was kept. False: it is none of these, or somebody else's. */
bool server_uids_restore(struct server_uids *uids, struct str name, uid_t uid);

/* The server is forgotten: its number is free. */
void server_uids_drop(struct server_uids *uids, struct str name);

/* An administrator has given this one to a server himself: nobody else gets it. */
void server_uids_reserve(struct server_uids *uids, uid_t uid);
