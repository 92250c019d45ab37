/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DATA/search.db: the index by which SQLite finds records (FTS5 over the words of bodies
 * and over marks, see audit/marks.h). Nothing stands there that the record does not say:
 * it may be deleted at any time, and is built again when it is missing, damaged or of
 * another record.
 *
 * It consists of parts, tables of so many records each:
 *
 *     w0: 1 … 1048576    w1: 1048577 … 2097152    w2: … the last one indexed
 *
 * so that a search for the newest looks into the last part first and often nowhere else,
 * and so that a part can be built anew alone. That is how the words of bodies vanish
 * which retention has removed: the index keeps no texts and cannot take single records
 * out; a part that lost bodies is built again a day later (search_writer.c). Until then
 * such words lead to candidates that do not fit.
 */
#pragma once

#include <sqlite3.h>

#include "audit/chain.h"
#include "store/engine.h"

enum {
    SEARCH_VERSION = 1,
    SEARCH_BOOT = 36, /* characters of a boot's name */
    SEARCH_PART = 1 << 20,
};

/* What the index knows of itself. */
struct search_state {
    char installation[AUDIT_INSTALLATION];
    uint64_t part_records;
    uint64_t seq; /* the last record in it; 0: none */
    uint8_t hash[SHA256_BYTES];
};

/* ERR_NOT_FOUND: it has just been made. ERR_INVALID: it cannot be trusted, as one that
 * was open when the machine went down: its writes are not waited for. */
enum err search_state_read(sqlite3 *db, struct search_state *ret);

/* Which boot of the machine this is. */
void search_boot(char ret[static SEARCH_BOOT]);

static inline uint64_t search_part_of(const struct search_state *state, uint64_t seq)
{
    return (seq - 1) / state->part_records;
}

static inline uint64_t search_part_first(const struct search_state *state, uint64_t part)
{
    return part * state->part_records + 1;
}

/* --- reading (search_reader.c) --- */

struct search_reader;

/* NULL where there is no file. */
struct search_reader *search_reader_open(const char *path, struct engine *engine);
void search_reader_close(struct search_reader *reader); /* NULL: nothing */

/* The file was replaced by another one, or is gone. */
bool search_reader_is_old(const struct search_reader *reader);

/* Until search_end() the index stays as it is now. Errors: it cannot be used. */
enum err search_begin(struct search_reader *reader, struct search_state *ret);
void search_end(struct search_reader *reader);

struct search_range {
    struct str match; /* in FTS5's own language, ending with NUL */
    uint64_t part;
    uint64_t above, below; /* these seqs: between, not included */
    enum audit_order order;
};

/* Calls on_seq for each candidate until it says false. ERR_CLOSED: the engine was
 * cancelled; ERR_IO: the index is damaged. */
enum err search_find(struct search_reader *reader, const struct search_range *range,
                     bool (*on_seq)(void *user, uint64_t seq), void *user);

/* --- writing (search_writer.c) --- */

struct search_writer;

struct search_options {
    const char *path;
    uint64_t part_records; /* of an index that is made; others keep theirs */
    uint64_t stale_ms;     /* a part that lost bodies is built again after this */
};

/* Opens the index of this record, or makes one. The engine is a reader of the record. On
 * failure nothing is open, and *ret_is_damaged tells whether search_discard() helps. */
enum err search_writer_open(const struct search_options *options, struct engine *engine,
                            struct search_writer **ret, bool *ret_is_damaged);

/* Leaves it so that it can be trusted after the machine went down. */
void search_writer_close(struct search_writer *writer);
void search_discard(const char *path);

/* Takes in the next records, or goes on with a part that is to be built again; a bounded
 * piece of work in one transaction. *ret_has_more: there was more to do than that.
 * ERR_IO: close it. */
enum err search_write(struct search_writer *writer, uint64_t now_ms, bool *ret_has_more);

const struct search_state *search_writer_state(const struct search_writer *writer);
bool search_writer_is_damaged(const struct search_writer *writer);
