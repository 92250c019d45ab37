/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records go in with COPY in its binary form, many at once: a row is the number of its
 * fields, and a length before each. The words of a record go with it, as a tsvector that
 * is made here, since the parsers of PostgreSQL know other words than ours.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/marks.h"
#include "audit/words.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "store/postgres_priv.h"

enum {
    CHUNK = 256 * 1024,
    LEXEME_BYTES = 1000 * 1000, /* PostgreSQL allows 1 MiB of them */
    COLUMNS = 15,
};

static const char *const copy_sql =
    "COPY moot.record (seq, at_ms, event, topic, participant, kind, id, correlation,"
    " verdict, by, body, body_bytes, body_hash, hash, words) FROM STDIN (FORMAT binary)";

static const struct str copy_head = S("PGCOPY\n\377\r\n\0"
                                      "\0\0\0\0"
                                      "\0\0\0\0");
static const struct str copy_tail = S("\377\377");

/* --- numbers and fields --- */

static void put_number(struct buf *out, uint64_t number, size_t bytes)
{
    while (bytes-- > 0)
        buf_putc(out, (char)(number >> (8 * bytes)));
}

static void put_number_field(struct buf *out, uint64_t number, size_t bytes)
{
    put_number(out, bytes, 4);
    put_number(out, number, bytes);
}

static void put_field(struct buf *out, struct str bytes)
{
    put_number(out, bytes.len, 4);
    buf_put(out, bytes);
}

static void put_null(struct buf *out)
{
    put_number(out, UINT32_MAX, 4);
}

/* --- lexemes --- */

void postgres_lexeme(struct buf *out, struct str word)
{
    if (utf8_is_valid(word) && !memchr(word.ptr, '\0', word.len)) {
        buf_put(out, word);
        return;
    }
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = (uint8_t)word.ptr[i];

        if (c && c < 0x80)
            buf_putc(out, (char)c);
        else
            buf_putf(out, "_%02x", c);
    }
}

/* What a record is found by: lexemes one behind the other, each with its NUL. What does
 * not fit is told by a mark. Returns how many there are. */
static size_t collect(struct postgres *pg, const struct audit_record *record)
{
    struct str rest;
    size_t count = 0;

    buf_clear(&pg->words);
    buf_clear(&pg->lexemes);
    audit_marks(record, &pg->words);
    if (record->body.ptr)
        audit_words(record->body, &pg->words);
    rest = buf_str(&pg->words);
    while (rest.len && pg->lexemes.len < LEXEME_BYTES) {
        struct str word = str_cut(&rest, ' ');

        if (word.len == 0)
            continue;
        postgres_lexeme(&pg->lexemes, word);
        buf_putc(&pg->lexemes, '\0');
        count++;
    }
    if (rest.len == 0)
        return count;
    buf_put(&pg->lexemes, S(POSTGRES_MORE "\0"));
    return count + 1;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The binary form of a tsvector: their number, then each with its NUL and the number of
 * its places, which are not kept. */
static void put_tsvector(struct buf *out, struct postgres *pg, size_t count)
{
    const char **sorted = xcalloc(count + 1, sizeof(*sorted));
    size_t at = 0, kept = 0, begin = out->len;

    for (size_t i = 0; i < count; i++) {
        sorted[i] = pg->lexemes.ptr + at;
        at += strlen(sorted[i]) + 1;
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    put_number(out, 0, 8); /* the length of the field, and their number */
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0)
            continue;
        buf_put(out, (struct str){ sorted[i], strlen(sorted[i]) + 1 });
        put_number(out, 0, 2);
        kept++;
    }
    free(sorted);
    for (size_t i = 0; i < 4; i++) {
        out->ptr[begin + i] = (char)((out->len - begin - 4) >> (24 - 8 * i));
        out->ptr[begin + 4 + i] = (char)(kept >> (24 - 8 * i));
    }
}

/* --- rows --- */

static void put_row(struct postgres *pg, const struct audit_record *record)
{
    struct buf *out = &pg->copy;

    put_number(out, COLUMNS, 2);
    put_number_field(out, record->seq, 8);
    put_number_field(out, record->at_ms, 8);
    put_number_field(out, record->event, 2);
    put_field(out, record->topic);
    put_field(out, record->participant);
    put_field(out, record->kind);
    put_field(out, record->id);
    put_field(out, record->correlation);
    put_field(out, record->verdict);
    put_field(out, record->by);
    if (record->body.ptr)
        put_field(out, record->body);
    else
        put_null(out);
    put_number_field(out, record->body_bytes, 8);
    put_field(out, (struct str){ (const char *)record->body_hash, SHA256_BYTES });
    put_field(out, (struct str){ (const char *)record->hash, SHA256_BYTES });
    put_tsvector(out, pg, collect(pg, record));
}

enum err postgres_append(struct engine *engine, const struct audit_record *records,
                         size_t count)
{
    struct postgres *pg = postgres_of(engine);
    enum err err = count ? postgres_copy_begin(pg, copy_sql) : OK;

    if (err || count == 0)
        return err;
    buf_clear(&pg->copy);
    buf_put(&pg->copy, copy_head);
    for (size_t i = 0; i < count && !err; i++) {
        put_row(pg, &records[i]);
        if (pg->copy.len < CHUNK)
            continue;
        err = postgres_copy(pg, buf_str(&pg->copy));
        buf_clear(&pg->copy);
    }
    buf_put(&pg->copy, copy_tail);
    if (!err)
        err = postgres_copy(pg, buf_str(&pg->copy));
    return err ? err : postgres_copy_end(pg);
}
