/* SPDX-License-Identifier: Apache-2.0 */
/* A line is read, written again and compared: so there is one way to write a record, and
 * it is said once. */
#include "audit/line.h"

#include "base/clock.h"
#include "base/csv.h"
#include "json/json.h"

enum { VERSION = 1 };

static const uint8_t no_hash[SHA256_BYTES];

static struct str bytes_of(const uint8_t *bytes, size_t len)
{
    return (struct str){ (const char *)bytes, len };
}

/* --- writing --- */

static void put_hash(struct json_writer *w, struct str key,
                     const uint8_t hash[static SHA256_BYTES])
{
    json_key(w, key);
    buf_putc(w->out, '"');
    hex_write(w->out, bytes_of(hash, SHA256_BYTES));
    buf_putc(w->out, '"');
    w->needs_comma = true;
}

static void put_base64(struct json_writer *w, struct str key, struct str bytes)
{
    json_key(w, key);
    buf_putc(w->out, '"');
    base64_write(w->out, bytes);
    buf_putc(w->out, '"');
    w->needs_comma = true;
}

static void put_at(struct json_writer *w, uint64_t at_ms)
{
    json_put_time(w, S("at"), at_ms < AUDIT_MAX_TIME ? at_ms : AUDIT_MAX_TIME);
}

void audit_origin_write(const struct audit_origin *origin, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("moot_audit"), VERSION);
    json_put_str(&w, S("installation"), origin->installation);
    put_base64(&w, S("public_key"), bytes_of(origin->public_key, ED25519_PUBLIC));
    json_object_close(&w);
    buf_putc(out, '\n');
}

static void put_body(struct json_writer *w, const struct audit_record *record)
{
    if (record->body.len) {
        json_key(w, S("body"));
        json_raw(w, record->body);
    }
    if (record->body_bytes)
        json_put_uint(w, S("body_bytes"), record->body_bytes);
    if (memcmp(record->body_hash, no_hash, SHA256_BYTES) != 0)
        put_hash(w, S("body_hash"), record->body_hash);
}

void audit_record_write(const struct audit_record *record, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("seq"), record->seq);
    put_at(&w, record->at_ms);
    json_put_str(&w, S("event"), audit_event_name(record->event));
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
        if (audit_text_of(record, i).len)
            json_put_str(&w, audit_text_name(i), audit_text_of(record, i));
    put_body(&w, record);
    put_hash(&w, S("hash"), record->hash);
    json_object_close(&w);
    buf_putc(out, '\n');
}

void audit_checkpoint_write(const struct audit_checkpoint *checkpoint, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("checkpoint"));
    json_object_open(&w);
    json_put_uint(&w, S("seq"), checkpoint->head.seq);
    put_at(&w, checkpoint->head.at_ms);
    put_hash(&w, S("hash"), checkpoint->head.hash);
    put_base64(&w, S("signature"), bytes_of(checkpoint->signature, ED25519_SIGNATURE));
    json_object_close(&w);
    json_object_close(&w);
    buf_putc(out, '\n');
}

static void write_line(const struct audit_line *line, struct buf *out)
{
    switch (line->type) {
    case AUDIT_LINE_ORIGIN: audit_origin_write(&line->origin, out); break;
    case AUDIT_LINE_RECORD: audit_record_write(&line->record, out); break;
    case AUDIT_LINE_CHECKPOINT: audit_checkpoint_write(&line->checkpoint, out); break;
    }
}

/* --- reading --- */

struct reader {
    struct arena *arena;
    struct audit_line *line;
    const char *what; /* is wrong; NULL: nothing so far */
};

static void fail(struct reader *r, const char *what)
{
    if (!r->what)
        r->what = what;
}

static struct str read_text(struct reader *r, struct json_span value)
{
    struct str text = S("");

    if (value.type != JSON_STRING)
        fail(r, "a text is none");
    else if (json_unescape(value, r->arena, &text))
        fail(r, "it is too large");
    return text;
}

static uint64_t read_number(struct reader *r, struct json_span value, uint64_t max)
{
    uint64_t number = 0;

    if (value.type != JSON_NUMBER || str_to_u64(value.text, max, &number))
        fail(r, "a number is none, or out of bounds");
    return number;
}

static void read_at(struct reader *r, struct json_span value, uint64_t *ret)
{
    if (clock_parse(read_text(r, value), ret))
        fail(r, "the time is none");
}

static void read_hash(struct reader *r, struct json_span value,
                      uint8_t ret[static SHA256_BYTES])
{
    if (hex_parse(read_text(r, value), ret, SHA256_BYTES))
        fail(r, "a hash is none");
}

static void read_base64(struct reader *r, struct json_span value, uint8_t *ret,
                        size_t size)
{
    struct buf bytes;

    buf_init(&bytes, size);
    if (base64_parse(read_text(r, value), &bytes) || bytes.len != size)
        fail(r, "a key or signature is none");
    else
        memcpy(ret, bytes.ptr, size);
    buf_done(&bytes);
}

static void read_event(struct reader *r, struct json_span value)
{
    if (audit_event_parse(read_text(r, value), &r->line->record.event))
        fail(r, "the event is not known");
}

/* As it stands in the line: a string with its quotes. */
static struct str raw_of(struct json_span value)
{
    struct str text = value.text;

    return value.type == JSON_STRING ? (struct str){ text.ptr - 1, text.len + 2 } : text;
}

static bool read_record_text(struct reader *r, const struct json_member *m)
{
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++) {
        if (json_string_is(m->key, audit_text_name(i))) {
            *audit_text(&r->line->record, i) = read_text(r, m->value);
            return true;
        }
    }
    return false;
}

static void read_record_member(struct reader *r, const struct json_member *m)
{
    struct audit_record *record = &r->line->record;

    if (json_string_is(m->key, S("seq")))
        record->seq = read_number(r, m->value, UINT64_MAX);
    else if (json_string_is(m->key, S("at")))
        read_at(r, m->value, &record->at_ms);
    else if (json_string_is(m->key, S("event")))
        read_event(r, m->value);
    else if (json_string_is(m->key, S("body")))
        record->body = raw_of(m->value);
    else if (json_string_is(m->key, S("body_bytes")))
        record->body_bytes = read_number(r, m->value, UINT32_MAX);
    else if (json_string_is(m->key, S("body_hash")))
        read_hash(r, m->value, record->body_hash);
    else if (json_string_is(m->key, S("hash")))
        read_hash(r, m->value, record->hash);
    else if (!read_record_text(r, m))
        fail(r, "a member is not known");
}

static void read_origin_member(struct reader *r, const struct json_member *m)
{
    struct audit_origin *origin = &r->line->origin;
    uint8_t name[AUDIT_INSTALLATION / 2];

    if (json_string_is(m->key, S("moot_audit"))) {
        if (read_number(r, m->value, UINT64_MAX) != VERSION)
            fail(r, "it is of a version that is not known");
    } else if (json_string_is(m->key, S("installation"))) {
        origin->installation = read_text(r, m->value);
        if (hex_parse(origin->installation, name, sizeof(name)))
            fail(r, "the name of the installation is none");
    } else if (json_string_is(m->key, S("public_key"))) {
        read_base64(r, m->value, origin->public_key, ED25519_PUBLIC);
    } else {
        fail(r, "a member is not known");
    }
}

static void read_signed_member(struct reader *r, const struct json_member *m)
{
    struct audit_checkpoint *checkpoint = &r->line->checkpoint;

    if (json_string_is(m->key, S("seq")))
        checkpoint->head.seq = read_number(r, m->value, UINT64_MAX);
    else if (json_string_is(m->key, S("at")))
        read_at(r, m->value, &checkpoint->head.at_ms);
    else if (json_string_is(m->key, S("hash")))
        read_hash(r, m->value, checkpoint->head.hash);
    else if (json_string_is(m->key, S("signature")))
        read_base64(r, m->value, checkpoint->signature, ED25519_SIGNATURE);
    else
        fail(r, "a member is not known");
}

static void read_members(struct reader *r, struct str text,
                         void (*read)(struct reader *, const struct json_member *))
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err))
        read(r, &m);
    if (!err)
        err = json_scan_end(&scan);
    if (err)
        fail(r, scan.what);
}

static void read_checkpoint_member(struct reader *r, const struct json_member *m)
{
    if (!json_string_is(m->key, S("checkpoint")))
        fail(r, "a member is not known");
    else
        read_members(r, m->value.text, read_signed_member);
}

static void read_line(struct reader *r, struct str text)
{
    struct audit_line *line = r->line;

    if (str_starts(text, S("{\"seq\":"))) {
        line->type = AUDIT_LINE_RECORD;
        read_members(r, text, read_record_member);
    } else if (str_starts(text, S("{\"checkpoint\":"))) {
        line->type = AUDIT_LINE_CHECKPOINT;
        read_members(r, text, read_checkpoint_member);
    } else if (str_starts(text, S("{\"moot_audit\":"))) {
        line->type = AUDIT_LINE_ORIGIN;
        read_members(r, text, read_origin_member);
    } else {
        fail(r, "it is no line of a record");
    }
}

/* Would it be written just so? */
static bool is_canonical(const struct audit_line *line, struct str text)
{
    struct buf again;
    bool is_same;

    buf_init(&again, text.len + 1);
    (void)buf_reserve(&again, text.len + 1);
    write_line(line, &again);
    is_same = !again.is_full && again.len == text.len + 1 &&
              memcmp(again.ptr, text.ptr, text.len) == 0;
    buf_done(&again);
    return is_same;
}

enum err audit_line_parse(struct str text, struct arena *arena, struct audit_line *ret,
                          const char **ret_what)
{
    struct audit_line line = {};
    struct reader r = { .arena = arena, .line = &line };

    if (memchr(text.ptr ? text.ptr : "", '\n', text.len))
        fail(&r, "it is more than one line");
    else
        read_line(&r, text);
    if (!r.what && !is_canonical(&line, text))
        fail(&r, "it is not written as the record writes it");
    if (r.what) {
        *ret_what = r.what;
        return ERR_INVALID;
    }
    *ret = line;
    return OK;
}

/* --- CSV --- */

void audit_csv_head(struct buf *out)
{
    buf_put(out, S("seq,at,event"));
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++) {
        buf_putc(out, ',');
        buf_put(out, audit_text_name(i));
    }
    buf_put(out, S(",body,body_bytes,body_hash,hash\r\n"));
}

static void put_field(struct buf *out, struct str text)
{
    buf_putc(out, ',');
    csv_put(out, text);
}

void audit_csv_write(const struct audit_record *record, struct buf *out)
{
    uint64_t at_ms = record->at_ms < AUDIT_MAX_TIME ? record->at_ms : AUDIT_MAX_TIME;
    char time[CLOCK_TEXT];

    buf_putu(out, record->seq);
    put_field(out, clock_write(at_ms, time));
    put_field(out, audit_event_name(record->event));
    for (enum audit_text i = 0; i < AUDIT_TEXT_COUNT; i++)
        put_field(out, audit_text_of(record, i));
    put_field(out, record->body);
    buf_putc(out, ',');
    buf_putu(out, record->body_bytes);
    buf_putc(out, ',');
    if (memcmp(record->body_hash, no_hash, SHA256_BYTES) != 0)
        hex_write(out, bytes_of(record->body_hash, SHA256_BYTES));
    buf_putc(out, ',');
    hex_write(out, bytes_of(record->hash, SHA256_BYTES));
    buf_put(out, S("\r\n"));
}
