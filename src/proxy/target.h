/* SPDX-License-Identifier: Apache-2.0 */
/* Where a request through the proxy wants to go, and whether that is among the permitted
 * hosts. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { PROXY_MAX_HEAD = 16 * 1024, PROXY_MAX_HOST = 253 };

struct proxy_target {
    struct str host; /* without brackets and without a dot at the end */
    uint16_t port;
    bool is_tunnel;  /* CONNECT: what follows is not looked at */
    struct str head; /* otherwise: what is sent on instead of the head that came */
};

/*
 * Reads one head from the front of the bytes. ERR_AGAIN: more is needed. Otherwise
 * ERR_BAD_REQUEST and others of http/request.h, with *ret_why. The result lives in the
 * bytes and in the arena.
 */
enum err proxy_target_parse(struct str bytes, struct arena *arena,
                            struct proxy_target *ret, size_t *ret_used,
                            const char **ret_why);

/* The permitted host that it is: "name", "*.name" (below it, not itself), "*" (all),
 * each with ":port" or, without, the ports 443 and 80. "": none. */
struct str proxy_target_permitted(const struct proxy_target *target,
                                  const struct str *hosts, size_t count);

/* What is wrong with such a host as somebody wrote it, a sentence; NULL: nothing. */
const char *proxy_host_fault(struct str host);

/* "localhost" or numbers: the operator knows where that is. */
bool proxy_host_is_literal(struct str host);
