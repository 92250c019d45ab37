/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a server is confined: what its spec permits, on top of what a ready profile says of
 * it (sandbox/profile.h), with its variables as they are now.
 */
#pragma once

#include "base/err.h"
#include "bridge/spec.h"
#include "sandbox/sandbox.h"

struct server_plan_order {
    const struct server_spec *spec;
    const struct sandbox_command *command; /* the spec's, or what runs its package */
    struct str package;                    /* the folder of that, or "" */
    /* Hears each value that must not appear anywhere; may be NULL. */
    void (*on_secret)(void *user, struct str value);
    void *user;
};

/* The errors of sandbox_plan_make() and secret_read(). *ret_hosts, owned by the caller
 * with its texts in one piece, are those that the proxy lets through. */
struct server_hosts {
    struct str *items;
    size_t count;
    char *texts;
};
void server_hosts_done(struct server_hosts *hosts);
enum err server_plan_order(const struct server_plan_order *order,
                           struct sandbox_plan **ret, struct server_hosts *ret_hosts,
                           char **ret_why);

/* The same without a package, for who only wants to look at it. */
enum err server_plan_make(const struct server_spec *spec,
                          const struct sandbox_command *command,
                          void (*on_secret)(void *user, struct str value), void *user,
                          struct sandbox_plan **ret, char **ret_why);
