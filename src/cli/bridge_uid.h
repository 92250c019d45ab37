/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the server of `moot bridge` becomes that root starts: each name has a uid of its
 * own, kept in DATA/bridges/uids, a line each: NAME UID. A gateway on the same data
 * directory gives its servers others (gateway/server_uids.h).
 */
#pragma once

#include "bridge/spec.h"

enum {
    BRIDGE_UID_FIRST = 65'001,
    BRIDGE_UID_COUNT = 500,
};

/* Fills in spec->permit, where nobody is named and somebody is needed. What is wrong has
 * been reported on stderr. */
int bridge_uid_settle(struct server_spec *spec, const char *data);
