/* SPDX-License-Identifier: Apache-2.0 */
/* One PostgreSQL for all tests of a program, a fresh database for each. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "postgres_server.h"

__attribute__((constructor)) static void need(void)
{
    postgres_server_need();
}

/* Started for the first database. */
static struct postgres_server server;
static int databases;

static inline void stop_server(void)
{
    postgres_server_done(&server);
}

/* Writes its address to `url`. */
static inline void fresh_database(char url[static POSTGRES_SERVER_URL])
{
    char name[32], sql[64];

    if (!server.pid) {
        postgres_server_init(&server);
        (void)atexit(stop_server);
    }
    (void)snprintf(name, sizeof(name), "test%d", ++databases);
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    postgres_server_run(&server, "postgres", sql);
    (void)postgres_server_url(&server, name, url);
}

/* In the last one, as its administrator. */
static inline void run_there(const char *sql)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "test%d", databases);
    postgres_server_run(&server, name, sql);
}
