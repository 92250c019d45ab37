/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS settings of a server: certificate, key, protocol versions. Reference-counted; a
 * reload makes a new one and connections keep theirs.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct tls;

/* PEM files. TLS 1.2 and 1.3, AEAD ciphers only, ALPN http/1.1, idle buffers released.
 * On failure *ret_why (owned by the caller) says which file and what was wrong. */
enum err tls_new(const char *certificate, const char *key, struct tls **ret,
                 char **ret_why);
struct tls *tls_ref(struct tls *tls);
void tls_unref(struct tls *tls);
