/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to PostgreSQL: opened, asked, and given up when it falls silent. */
#include <endian.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "store/postgres_priv.h"

enum {
    QUEUE_MAX = 256,
    CANCEL_MS = 100, /* between two looks whether a question was cancelled */
    OLDEST_SERVER = 150000,
    /* The server gives up a reader's statement first, so that its message is seen. */
    WRITER_WAIT_MS = 20 * 1000,
    READER_WAIT_MS = 40 * 1000,
};

static const char *const names[] = { PQ_FUNCTIONS(LIBRARY_NAME) };
_Static_assert(sizeof(struct pq) == sizeof(names));

static const struct library libpq = { "libpq.so.5", "libpq5", names, COUNT(names) };

/* --- problems --- */

/* Stars in the place of `secret`, however often it stands there. */
static void hide(char *text, const char *secret)
{
    size_t len = secret ? strlen(secret) : 0;

    if (len == 0)
        return;
    for (char *at = strstr(text, secret); at; at = strstr(at + len, secret))
        memset(at, '*', len);
}

enum err postgres_fail(struct postgres *pg, enum err err, const char *format, ...)
{
    char *problem = pg->engine.problem;
    char text[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < POSTGRES_SECRETS; i++)
        hide(text, pg->secrets[i]);
    text[strcspn(text, "\r\n")] = '\0'; /* what follows are hints and details */
    (void)snprintf(problem, sizeof(pg->engine.problem), "%.255s", text);
    return err;
}

/* The connection is of no use any more. */
static enum err lose(struct postgres *pg, const char *why)
{
    pg->is_lost = true;
    return postgres_fail(pg, ERR_IO, "%s", why);
}

static enum err lose_conn(struct postgres *pg)
{
    return lose(pg, pg->pq.PQerrorMessage(pg->conn));
}

/* A command has failed. */
static enum err complain(struct postgres *pg, const PGresult *result)
{
    const char *state = pg->pq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = pg->pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (pg->pq.PQstatus(pg->conn) == CONNECTION_BAD)
        return lose_conn(pg);
    return postgres_fail(pg, ERR_IO, "%s (SQLSTATE %s)", text ? text : "it failed",
                         state ? state : "unknown");
}

/* --- waiting --- */

/* Asks the server to end what it does; it answers that with an error. */
static void cancel(struct postgres *pg)
{
    PGcancel *way = pg->pq.PQgetCancel(pg->conn);
    char why[256];

    if (way)
        (void)pg->pq.PQcancel(way, why, sizeof(why));
    pg->pq.PQfreeCancel(way);
}

/* What the socket is ready for, 0 when it is for nothing in time. */
static short wait_socket(struct postgres *pg, short events, uint64_t deadline)
{
    struct pollfd fd = { .fd = pg->pq.PQsocket(pg->conn), .events = events };
    bool has_cancelled = false;

    for (;;) {
        uint64_t now = clock_mono_ms();
        uint64_t wait = now < deadline ? deadline - now : 0;
        int ready;

        if (pg->engine.is_cancelled && wait > CANCEL_MS)
            wait = CANCEL_MS;
        ready = poll(&fd, 1, (int)wait);
        if (ready > 0)
            return fd.revents;
        if (now >= deadline)
            return 0;
        if (!has_cancelled && engine_is_cancelled(&pg->engine)) {
            has_cancelled = true;
            cancel(pg);
        }
    }
}

static enum err await(struct postgres *pg, short events, uint64_t deadline)
{
    short ready = wait_socket(pg, events, deadline);

    if (!ready)
        return lose(pg, "the server does not answer");
    if ((ready & ~POLLOUT) && !pg->pq.PQconsumeInput(pg->conn))
        return lose_conn(pg);
    return OK;
}

/* Sends what is left. What the server says meanwhile is read, else both would wait. */
static enum err flush(struct postgres *pg)
{
    int left = pg->pq.PQflush(pg->conn);

    while (left == 1) {
        enum err err = await(pg, POLLIN | POLLOUT, clock_mono_ms() + pg->wait_ms);

        if (err)
            return err;
        left = pg->pq.PQflush(pg->conn);
    }
    return left ? lose_conn(pg) : OK;
}

/* NULL: there is no further one of this command. */
static enum err next_result(struct postgres *pg, PGresult **ret)
{
    uint64_t deadline = clock_mono_ms() + pg->wait_ms;
    enum err err = flush(pg);

    while (!err && pg->pq.PQisBusy(pg->conn))
        err = await(pg, POLLIN, deadline);
    if (err)
        return err;
    *ret = pg->pq.PQgetResult(pg->conn);
    if (!*ret && pg->pq.PQstatus(pg->conn) == CONNECTION_BAD)
        return lose_conn(pg);
    return OK;
}

/* --- connecting --- */

static bool is_secret(const char *keyword)
{
    return strcmp(keyword, "password") == 0 || strcmp(keyword, "sslpassword") == 0;
}

/* What libpq says about an address it cannot read may quote a password. */
static enum err check_address(struct postgres *pg, const char *url)
{
    PQconninfoOption *options;
    char *message = NULL;
    size_t count = 0;

    if (!str_starts(str_of(url), S("postgresql://")) &&
        !str_starts(str_of(url), S("postgres://")))
        return postgres_fail(pg, ERR_IO, "the address does not begin with postgresql://");
    options = pg->pq.PQconninfoParse(url, &message);
    pg->pq.PQfreemem(message);
    if (!options)
        return postgres_fail(pg, ERR_IO,
                             "the address cannot be read as "
                             "postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE");
    for (const PQconninfoOption *o = options; o->keyword; o++)
        if (o->val && is_secret(o->keyword) && count < POSTGRES_SECRETS)
            pg->secrets[count++] = str_dup(str_of(o->val));
    pg->pq.PQconninfoFree(options);
    return OK;
}

static void drop_notice(void *user [[maybe_unused]], const char *text [[maybe_unused]])
{
}

/* Before `dbname`: what the address may say otherwise. Behind it: what it may not. */
static void dial(struct postgres *pg, const char *url, enum engine_role role)
{
    const char *which = role == ENGINE_READER ? "any" : "read-write";
    /* clang-format off */
    const struct { const char *key, *value; } rows[] = {
        { "connect_timeout",           "5" },
        { "keepalives_idle",           "10" },
        { "keepalives_interval",       "5" },
        { "keepalives_count",          "3" },
        { "tcp_user_timeout",          "20000" },
        { "target_session_attrs",      which },
        { "fallback_application_name", "moot" },
        { "dbname",                    url },
        { "client_encoding",           "UTF8" },
        {},
    };
    /* clang-format on */
    const char *keys[COUNT(rows)], *values[COUNT(rows)];

    for (size_t i = 0; i < COUNT(rows); i++) {
        keys[i] = rows[i].key;
        values[i] = rows[i].value;
    }
    pg->conn = pg->pq.PQconnectdbParams(keys, values, 1);
}

static enum err check_server(struct postgres *pg)
{
    const char *encoding = pg->pq.PQparameterStatus(pg->conn, "server_encoding");
    int version = pg->pq.PQserverVersion(pg->conn);

    if (version < OLDEST_SERVER)
        return postgres_fail(pg, ERR_CONFLICT,
                             "the server is too old: PostgreSQL 15 is needed, it has %d",
                             version / 10000);
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return postgres_fail(pg, ERR_CONFLICT,
                             "the database must have the encoding UTF8, it has %s",
                             encoding ? encoding : "none");
    return OK;
}

/* The server notices a dead client too, and with it frees the writer's lock. Where the
 * server waits for the disk of a standby, so do we. */
static const char *const common_session =
    "SET search_path = pg_catalog; SET client_min_messages = error;"
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;"
    "SET tcp_keepalives_count = 3;"
    "SET idle_in_transaction_session_timeout = 60000;";

static const char *const session[] = {
    [ENGINE_WRITER] =
        "SET synchronous_commit = on; SET statement_timeout = 0; SET lock_timeout = 3000",
    [ENGINE_READER] = "SET default_transaction_read_only = on;"
                      "SET statement_timeout = 30000; SET lock_timeout = 5000",
    /* What it asks for takes less time than a plan takes to be compiled. The rest is for
     * imports: what is added reaches the index in larger lots, at three quarters of the
     * cost; much larger ones would be in the way of searches meanwhile. */
    [ENGINE_DIRECTORY] = "SET synchronous_commit = on; SET statement_timeout = 30000;"
                         "SET lock_timeout = 5000; SET jit = off;"
                         "SET gin_pending_list_limit = '8MB'; SET work_mem = '32MB'",
};

/* Not every system that PostgreSQL runs on can do this. */
static const char *const notice_us = "SET client_connection_check_interval = 5000";

static enum err set_up(struct postgres *pg, enum engine_role role)
{
    enum err err = check_server(pg);

    if (!err)
        err = postgres_run(pg, common_session);
    if (!err)
        err = postgres_run(pg, session[role]);
    if (!err && postgres_run(pg, notice_us))
        pg->engine.problem[0] = '\0';
    return err;
}

enum err postgres_connect(struct postgres *pg, struct str url, enum engine_role role)
{
    CLEANUP(xfreep) char *address = str_dup(url);
    CLEANUP(xfreep) char *why = NULL;
    enum err err;

    if (library_load(&libpq, &pg->pq, &why))
        return postgres_fail(pg, ERR_IO, "%s", why);
    err = check_address(pg, address);
    if (err)
        return err;
    pg->wait_ms = role == ENGINE_WRITER ? WRITER_WAIT_MS : READER_WAIT_MS;
    dial(pg, address, role);
    if (!pg->conn || pg->pq.PQstatus(pg->conn) != CONNECTION_OK)
        return pg->conn ? lose_conn(pg) : lose(pg, "out of memory");
    (void)pg->pq.PQsetNoticeProcessor(pg->conn, drop_notice, NULL);
    if (pg->pq.PQsetnonblocking(pg->conn, 1))
        return lose_conn(pg);
    return set_up(pg, role);
}

void postgres_disconnect(struct postgres *pg)
{
    if (pg->conn)
        pg->pq.PQfinish(pg->conn);
    pg->conn = NULL;
    for (size_t i = 0; i < POSTGRES_SECRETS; i++)
        free(pg->secrets[i]);
}

/* --- arguments and fields --- */

static const int binary[POSTGRES_ARGS] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

void postgres_arg_number(struct postgres_args *args, uint64_t number)
{
    uint64_t *space = &args->numbers[args->count];

    *space = htobe64(number);
    args->values[args->count] = (const char *)space;
    args->lengths[args->count++] = sizeof(*space);
}

void postgres_arg_bytes(struct postgres_args *args, struct str bytes)
{
    args->values[args->count] = bytes.ptr ? bytes.ptr : "";
    args->lengths[args->count++] = (int)bytes.len;
}

void postgres_arg_bool(struct postgres_args *args, bool is_true)
{
    postgres_arg_bytes(args, is_true ? S("\1") : (struct str){ "\0", 1 });
}

struct str postgres_bytes(const struct postgres *pg, const PGresult *r, int row, int at)
{
    return (struct str){ pg->pq.PQgetvalue(r, row, at),
                         (size_t)pg->pq.PQgetlength(r, row, at) };
}

uint64_t postgres_number(const struct postgres *pg, const PGresult *r, int row, int at)
{
    struct str bytes = postgres_bytes(pg, r, row, at);
    uint64_t number = 0;

    for (size_t i = 0; i < bytes.len; i++)
        number = number << 8 | (uint8_t)bytes.ptr[i];
    return number;
}

bool postgres_bool(const struct postgres *pg, const PGresult *r, int row, int at)
{
    return postgres_number(pg, r, row, at) == 1;
}

bool postgres_fixed(const struct postgres *pg, const PGresult *r, int at, size_t size,
                    uint8_t *ret)
{
    struct str bytes = postgres_bytes(pg, r, 0, at);

    if (bytes.len != size)
        return false;
    memcpy(ret, bytes.ptr, size);
    return true;
}

/* --- asking --- */

void postgres_clear(struct postgres *pg, PGresult *result)
{
    if (result)
        pg->pq.PQclear(result);
}

static bool has_failed(const struct postgres *pg, const PGresult *result)
{
    switch (pg->pq.PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_COPY_IN:
    case PGRES_PIPELINE_SYNC: return false;
    default: return true;
    }
}

/* All results of a command. The last one is *ret (may be NULL). */
static enum err finish(struct postgres *pg, PGresult **ret)
{
    PGresult *last = NULL;
    enum err failure = OK;

    for (;;) {
        PGresult *result = NULL;
        enum err err = next_result(pg, &result);

        if (err || !result) {
            failure = err ? err : failure;
            break;
        }
        if (has_failed(pg, result) && !failure)
            failure = complain(pg, result);
        postgres_clear(pg, last);
        last = result;
    }
    if (failure || !ret) {
        postgres_clear(pg, last);
        return failure;
    }
    *ret = last;
    return OK;
}

enum err postgres_run(struct postgres *pg, const char *sql)
{
    enum err err = postgres_settle(pg, NULL);

    if (err)
        return err;
    if (!pg->pq.PQsendQuery(pg->conn, sql))
        return lose_conn(pg);
    return finish(pg, NULL);
}

static enum err send_query(struct postgres *pg, const char *sql,
                           const struct postgres_args *args)
{
    static const struct postgres_args none = {};
    enum err err = postgres_settle(pg, NULL);

    if (err)
        return err;
    if (!args)
        args = &none;
    if (!pg->pq.PQsendQueryParams(pg->conn, sql, args->count, NULL, args->values,
                                  args->lengths, binary, 1))
        return lose_conn(pg);
    return OK;
}

enum err postgres_ask(struct postgres *pg, const char *sql,
                      const struct postgres_args *args, PGresult **ret)
{
    enum err err = send_query(pg, sql, args);

    return err ? err : finish(pg, ret);
}

enum err
postgres_each(struct postgres *pg, const char *sql, const struct postgres_args *args,
              bool (*on_row)(void *user, struct postgres *pg, const PGresult *row),
              void *user)
{
    enum err failure = send_query(pg, sql, args);
    bool goes_on = true;

    if (failure)
        return failure;
    (void)pg->pq.PQsetSingleRowMode(pg->conn);
    for (;;) {
        PGresult *result = NULL;
        enum err err = next_result(pg, &result);

        if (err || !result)
            return err ? err : failure;
        if (has_failed(pg, result) && !failure)
            failure = complain(pg, result);
        if (goes_on && pg->pq.PQresultStatus(result) == PGRES_SINGLE_TUPLE)
            goes_on = on_row(user, pg, result);
        postgres_clear(pg, result);
    }
}

/* --- many at once --- */

static enum err enter_pipe(struct postgres *pg)
{
    if (pg->is_lost)
        return ERR_IO;
    if (pg->is_piped)
        return OK;
    if (!pg->pq.PQenterPipelineMode(pg->conn))
        return lose_conn(pg);
    pg->is_piped = true;
    return OK;
}

enum err postgres_prepare(struct postgres *pg, const struct postgres_statement *all,
                          size_t count)
{
    enum err err = enter_pipe(pg);

    for (size_t i = 0; i < count && !err; i++)
        if (!pg->pq.PQsendPrepare(pg->conn, all[i].name, all[i].sql, 0, NULL))
            err = lose_conn(pg);
    return err ? err : postgres_settle(pg, NULL);
}

enum err postgres_queue(struct postgres *pg, const char *name,
                        const struct postgres_args *args)
{
    static const struct postgres_args none = {};
    enum err err = pg->queued < QUEUE_MAX ? OK : postgres_settle(pg, NULL);

    if (!err)
        err = enter_pipe(pg);
    if (err)
        return err;
    if (!args)
        args = &none;
    if (!pg->pq.PQsendQueryPrepared(pg->conn, name, args->count, args->values,
                                    args->lengths, binary, 1))
        return lose_conn(pg);
    pg->queued++;
    return OK;
}

static void note_tag(struct postgres *pg, PGresult *result, char tag[POSTGRES_TAG])
{
    if (tag && pg->pq.PQresultStatus(result) == PGRES_COMMAND_OK)
        (void)snprintf(tag, POSTGRES_TAG, "%s", pg->pq.PQcmdStatus(result));
}

/* Reads to the mark that PQpipelineSync() has set; the first failure is the one. */
static enum err read_to_sync(struct postgres *pg, char tag[POSTGRES_TAG])
{
    enum err failure = OK;
    bool is_at_sync = false;

    while (!is_at_sync) {
        PGresult *result = NULL;
        enum err err = next_result(pg, &result);

        if (err)
            return err;
        if (!result)
            continue; /* the end of one command */
        is_at_sync = pg->pq.PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (has_failed(pg, result) && !failure)
            failure = complain(pg, result);
        note_tag(pg, result, tag);
        postgres_clear(pg, result);
    }
    return failure;
}

enum err postgres_settle(struct postgres *pg, char tag[POSTGRES_TAG])
{
    enum err err;

    if (pg->is_lost)
        return ERR_IO;
    if (!pg->is_piped)
        return OK;
    if (!pg->pq.PQpipelineSync(pg->conn))
        return lose_conn(pg);
    err = read_to_sync(pg, tag);
    pg->queued = 0;
    if (!pg->is_lost && !pg->pq.PQexitPipelineMode(pg->conn))
        return lose_conn(pg);
    pg->is_piped = false;
    return err;
}

/* --- COPY --- */

enum err postgres_copy_begin(struct postgres *pg, const char *sql)
{
    PGresult *result = NULL;
    enum err err = send_query(pg, sql, NULL);

    if (!err)
        err = next_result(pg, &result);
    if (err)
        return err;
    if (pg->pq.PQresultStatus(result) != PGRES_COPY_IN) {
        err = complain(pg, result);
        (void)finish(pg, NULL);
    }
    postgres_clear(pg, result);
    return err;
}

enum err postgres_copy(struct postgres *pg, struct str bytes)
{
    if (pg->is_lost)
        return ERR_IO;
    if (pg->pq.PQputCopyData(pg->conn, bytes.ptr, (int)bytes.len) != 1)
        return lose_conn(pg);
    return flush(pg);
}

enum err postgres_copy_end(struct postgres *pg)
{
    if (pg->is_lost)
        return ERR_IO;
    if (pg->pq.PQputCopyEnd(pg->conn, NULL) != 1)
        return lose_conn(pg);
    return finish(pg, NULL);
}
