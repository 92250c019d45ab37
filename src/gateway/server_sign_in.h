/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing in at a server behind a URL, where nobody sits at the gateway: a 401 makes its
 * state `sign_in_needed`; an administrator asks for an address (POST …/sign-in), opens
 * it, and the browser comes back to /oauth/callback/NAME. The address is told to nobody
 * else. The tokens rest in the store, sealed with DATA/secret.key.
 */
#pragma once

#include "base/str.h"
#include "bridge/bridge.h"
#include "fetch/fetch.h"
#include "gateway/worker.h"
#include "transport/credential.h"

struct server_sign_in;

/* All of it lives longer, but the bridge, which ends before its credential does. */
struct sign_in_setup {
    struct worker *worker;
    struct server_spec *spec; /* one reference is taken */
    struct bridge *bridge;
    struct fetch *(*fetch)(void *user);
    void *user;
};

/* `kept`: of the last time, as it stands in the store, or "". NULL: one does not sign in
 * there, because it is a command, or its headers have an Authorization. */
struct server_sign_in *server_sign_in_new(const struct sign_in_setup *setup,
                                          struct str kept);

/* Whoever waits for it is told. NULL is harmless, and has no credential. */
void server_sign_in_free(struct server_sign_in *sign_in);
struct credential *server_sign_in_credential(struct server_sign_in *sign_in);
