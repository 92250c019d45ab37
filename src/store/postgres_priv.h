/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the PostgreSQL engine share: a connection that never waits for ever,
 * and how questions are asked over it. Values travel in binary, texts as bytea: a text
 * may hold whatever its sender wrote, a NUL included, and must come back as it was.
 *
 * Once the connection is lost, everything answers ERR_IO until the engine is closed.
 */
#pragma once

#include <libpq-fe.h>

#include "base/library.h"
#include "store/engine.h"

/* clang-format off */
#define PQ_FUNCTIONS(X)                                                             \
    X(PQcancel) X(PQfreeCancel) X(PQgetCancel)                                      \
    X(PQclear) X(PQcmdStatus) X(PQcmdTuples) X(PQconnectdbParams) X(PQconninfoFree) \
    X(PQconninfoParse) X(PQconsumeInput) X(PQenterPipelineMode) X(PQerrorMessage)   \
    X(PQexitPipelineMode) X(PQfinish) X(PQflush) X(PQfreemem) X(PQgetResult)        \
    X(PQgetisnull) X(PQgetlength) X(PQgetvalue) X(PQisBusy) X(PQntuples)            \
    X(PQparameterStatus) X(PQpipelineSync) X(PQputCopyData) X(PQputCopyEnd)         \
    X(PQresultErrorField) X(PQresultStatus) X(PQsendPrepare) X(PQsendQuery)         \
    X(PQsendQueryParams) X(PQsendQueryPrepared) X(PQserverVersion)                  \
    X(PQsetNoticeProcessor) X(PQsetSingleRowMode) X(PQsetnonblocking) X(PQsocket)   \
    X(PQstatus)
/* clang-format on */

struct pq {
    PQ_FUNCTIONS(LIBRARY_POINTER)
};

enum { POSTGRES_SECRETS = 2, POSTGRES_TAG = 16 };

struct postgres {
    struct engine engine;
    struct pq pq;
    PGconn *conn;
    char *secrets[POSTGRES_SECRETS]; /* what a problem must not tell */
    uint64_t wait_ms;                /* without a word of the server */
    size_t queued;                   /* commands whose result nobody has seen */
    bool is_piped;
    bool is_lost;
    struct buf copy; /* of append: what goes to the server, */
    struct buf words;
    struct buf lexemes;
};

static inline struct postgres *postgres_of(struct engine *engine)
{
    return (struct postgres *)engine; /* it is the first member */
}

/* --- what a command is given; not to be copied --- */

enum { POSTGRES_ARGS = 16 };

struct postgres_args {
    const char *values[POSTGRES_ARGS];
    int lengths[POSTGRES_ARGS];
    uint64_t numbers[POSTGRES_ARGS]; /* big-endian */
    int count;
};

void postgres_arg_number(struct postgres_args *args, uint64_t number); /* bigint */
void postgres_arg_bytes(struct postgres_args *args, struct str bytes); /* bytea, text */
void postgres_arg_bool(struct postgres_args *args, bool is_true);

/* --- postgres_link.c --- */

/* Loads libpq, checks the address and connects. Here and below a failure leaves its
 * reason in engine.problem. */
enum err postgres_connect(struct postgres *pg, struct str url, enum engine_role role);
void postgres_disconnect(struct postgres *pg);

/* Remembers what went wrong, without secrets; returns `err`. */
enum err postgres_fail(struct postgres *pg, enum err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Commands without results, several in one text. */
enum err postgres_run(struct postgres *pg, const char *sql);

/* One command; its result is freed with postgres_clear(). */
enum err postgres_ask(struct postgres *pg, const char *sql,
                      const struct postgres_args *args, PGresult **ret);
void postgres_clear(struct postgres *pg, PGresult *result); /* NULL: nothing */

/* Goes through the rows as they come, without keeping them. After a `false` of on_row
 * the rest is read and thrown away, so ask for pages. */
enum err
postgres_each(struct postgres *pg, const char *sql, const struct postgres_args *args,
              bool (*on_row)(void *user, struct postgres *pg, const PGresult *row),
              void *user);

/* Statements that are prepared when the engine opens; `name` is theirs for good. */
struct postgres_statement {
    const char *name;
    const char *sql;
};
enum err postgres_prepare(struct postgres *pg, const struct postgres_statement *all,
                          size_t count);

/* Sends a command and does not wait: whatever is asked next sees its failure, at the
 * latest the commit. */
enum err postgres_queue(struct postgres *pg, const char *name,
                        const struct postgres_args *args);

/* Waits for what is queued. `tag` (may be NULL): what the last command says it did. */
enum err postgres_settle(struct postgres *pg, char tag[POSTGRES_TAG]);

/* COPY … FROM STDIN: begin, bytes, end. */
enum err postgres_copy_begin(struct postgres *pg, const char *sql);
enum err postgres_copy(struct postgres *pg, struct str bytes);
enum err postgres_copy_end(struct postgres *pg);

/* --- fields of a row --- */

uint64_t postgres_number(const struct postgres *pg, const PGresult *r, int row, int at);
struct str postgres_bytes(const struct postgres *pg, const PGresult *r, int row, int at);
bool postgres_bool(const struct postgres *pg, const PGresult *r, int row, int at);

/* A hash, key or signature. False: it has another length. */
bool postgres_fixed(const struct postgres *pg, const PGresult *r, int at, size_t size,
                    uint8_t *ret);

/* --- the rest of the engine --- */

/* postgres_schema.c: a writer takes the lock and migrates, a reader looks. */
enum err postgres_schema_open(struct postgres *pg, enum engine_role role);

/* postgres_append.c */
enum err postgres_append(struct engine *engine, const struct audit_record *records,
                         size_t count);

/* The lexemes of moot.record.words are the words of the body (audit/words.h) and the
 * marks of the record (audit/marks.h). Where a body has more words than fit, this one
 * stands for the rest: it may hold any. */
#define POSTGRES_MORE ":*"

/* Appends a word or mark, made fit for PostgreSQL: bytes that are no UTF-8 become _xx,
 * which no word holds. */
void postgres_lexeme(struct buf *out, struct str word);

/* postgres_strip.c */
enum err postgres_strip(struct engine *engine, const struct engine_strip *strip,
                        struct engine_stripped *ret);

/* postgres_read.c */
enum err postgres_read(struct engine *engine, const struct audit_query *query,
                       bool (*on_record)(void *user, const struct audit_record *),
                       void *user);
