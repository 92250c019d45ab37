/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instance of a server runs on: a child with its pipes, or an address. It gives
 * the carrier of a session, and tells when nothing of it is left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bridge/spec.h"
#include "json/json.h"
#include "mcp/carrier.h"

struct supervisor_means;

struct carriage {
    const struct carriage_ops *ops;
};

struct carriage_ops {
    struct carrier *(*carrier)(struct carriage *carriage);
    void (*close)(struct carriage *carriage); /* gently; on_ended comes */
    void (*free)(struct carriage *carriage);  /* at once; no callback any more */
    /* Whether it read anything of what it was sent. NULL: that is not known, and may be.
     */
    bool (*was_read)(struct carriage *carriage);
    /* What it uses beyond what it may, for people (valid until the next call), or NULL:
     * asked now and then where nothing else limits it. May be NULL. */
    const char *(*excess)(struct carriage *carriage);
    /* Members of an object: pid, memory, …. May be NULL. */
    void (*put_json)(struct carriage *carriage, struct json_writer *w);
};

struct carriage_events {
    /* A line of its standard error, or about it. */
    void (*on_log)(void *user, struct str line);
    /* A value that must not appear anywhere. */
    void (*on_secret)(void *user, struct str value);
    /* Once, and the last, never inside open and close; the session was told before.
     * `never_ran`: trying again at once is of no use. May be freed inside. */
    void (*on_ended)(void *user, const char *why, bool never_ran);
};

struct carriage_order {
    const struct server_spec *spec;
    const struct sandbox_command *command; /* the spec's, or what runs its package */
    struct str package;                    /* the folder of that, or "" */
    const struct carriage_events *events;
    void *user;
};

/* ERR_NOT_FOUND, ERR_FORBIDDEN, ERR_INVALID, ERR_IO: *ret_why, owned by the caller. */
enum err carriage_open(const struct supervisor_means *means,
                       const struct carriage_order *order, struct carriage **ret,
                       char **ret_why);
