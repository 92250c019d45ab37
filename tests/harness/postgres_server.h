/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PostgreSQL of the test's own: fresh, in a temporary folder, on a unix socket only. It
 * does not run as root: started by root it runs as nobody. It goes when the test ends,
 * however that happens.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { POSTGRES_SERVER_URL = 160 };

struct postgres_server {
    char folder[64];
    pid_t pid; /* 0: it does not run */
};

/* Ends the program as skipped where there can be none. For a constructor. */
void postgres_server_need(void);

/* Makes it and starts it; a test without it cannot go on, so a failure ends the program.
 */
void postgres_server_init(struct postgres_server *server);
void postgres_server_done(struct postgres_server *server); /* stops and removes it */

/* Writes "postgresql://moot@/NAME?host=…". "postgres" is the database that is there. */
const char *postgres_server_url(const struct postgres_server *server,
                                const char *database,
                                char out[static POSTGRES_SERVER_URL]);

/* Runs SQL as the administrator; a failure ends the program. */
void postgres_server_run(const struct postgres_server *server, const char *database,
                         const char *sql);

/* As a crash: connections break, nothing is written any more. */
void postgres_server_kill(struct postgres_server *server);
void postgres_server_start(struct postgres_server *server);

/* It stays and says nothing any more, until it goes on. */
void postgres_server_freeze(const struct postgres_server *server);
void postgres_server_thaw(const struct postgres_server *server);
