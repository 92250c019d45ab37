/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From where somebody is to addresses of sockets. Numbers and paths are known at once;
 * names are asked for, which may take long: either the caller waits, or a thread does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

enum {
    RESOLVE_MAX = 16,   /* addresses of one name; more are left out */
    RESOLVE_HOST = 256, /* bytes of one, with its NUL; longer ones do not exist */
};

struct address {
    struct sockaddr_storage socket;
    socklen_t size;
};

struct addresses {
    size_t count;
    struct address list[];
};

struct resolve;

enum resolve_how { RESOLVE_HERE, RESOLVE_IN_THREAD };

/* Never NULL. Freeing it while its thread still waits is harmless. The other form is for
 * the path of a local socket, which fits into an address. */
struct resolve *resolve_new(const char *host, uint16_t port, enum resolve_how how);
struct resolve *resolve_local(const char *path);
void resolve_free(struct resolve *resolve);

/* Readable when the answer is there; -1: it is there already. */
int resolve_fd(const struct resolve *resolve);

/* ERR_AGAIN: not yet. ERR_NOT_FOUND: resolve_why() says why. OK: at least one address, to
 * be freed with free(). To be asked once more only after ERR_AGAIN. */
enum err resolve_take(struct resolve *resolve, struct addresses **ret);
const char *resolve_why(const struct resolve *resolve);
