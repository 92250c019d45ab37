/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP/HTTP with JSON (opentelemetry-proto, logs/v1): numbers of 64 bits are strings
 * there. Attributes of ours are called moot.*, as the conventions ask.
 */
#include "base/utf8.h"
#include "export/export.h"
#include "json/json.h"

enum {
    ANSWER_ARENA = 256 << 10,
    ATTRIBUTE_MAX = 4096, /* bytes: who wants more of it looks into the record */
};

static const struct {
    uint64_t number;
    struct str text;
} severities[] = {
    [EXPORT_INFO] = { 9, S("INFO") },
    [EXPORT_NOTICE] = { 10, S("NOTICE") },
    [EXPORT_WARNING] = { 13, S("WARN") },
    [EXPORT_ERROR] = { 17, S("ERROR") },
};

static void put_attribute(struct json_writer *w, struct str key, struct str value)
{
    if (value.len == 0)
        return;
    json_object_open(w);
    json_put_str(w, S("key"), key);
    json_key(w, S("value"));
    json_object_open(w);
    json_put_str(w, S("stringValue"), utf8_cut(value, ATTRIBUTE_MAX));
    json_object_close(w);
    json_object_close(w);
}

/* As a string of digits, because 2^53 is not enough. */
static void put_quoted(struct json_writer *w, struct str key, uint64_t value,
                       struct str zeros)
{
    char text[64];
    struct buf digits = { .ptr = text, .size = sizeof(text), .max = sizeof(text) };

    buf_putu(&digits, value);
    buf_put(&digits, zeros);
    json_put_str(w, key, buf_str(&digits));
}

static void put_number(struct json_writer *w, struct str key, uint64_t value)
{
    json_object_open(w);
    json_put_str(w, S("key"), key);
    json_key(w, S("value"));
    json_object_open(w);
    put_quoted(w, S("intValue"), value, S(""));
    json_object_close(w);
    json_object_close(w);
}

static void put_hash(struct json_writer *w, const uint8_t hash[static SHA256_BYTES])
{
    char text[2 * SHA256_BYTES + 1];
    struct buf hex = { .ptr = text, .size = sizeof(text), .max = sizeof(text) };

    hex_write(&hex, (struct str){ (const char *)hash, SHA256_BYTES });
    put_attribute(w, S("moot.hash"), buf_str(&hex));
}

void export_otlp_begin(const struct export_origin *origin, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    buf_put(out, S("{\"resourceLogs\":[{\"resource\":{\"attributes\":["));
    put_attribute(&w, S("service.name"), S("moot"));
    put_attribute(&w, S("service.version"), S(MOOT_VERSION));
    put_attribute(&w, S("service.instance.id"), origin->installation);
    put_attribute(&w, S("host.name"), origin->host);
    buf_put(out, S("]},\"scopeLogs\":[{\"scope\":{\"name\":\"moot.audit\"},"
                   "\"logRecords\":["));
}

void export_otlp_record(const struct audit_record *record, uint64_t now_ms,
                        struct buf *out)
{
    enum export_severity severity = export_severity(record);
    struct json_writer w;

    if (out->len && out->ptr[out->len - 1] == '}')
        buf_putc(out, ',');
    json_write_init(&w, out);
    json_object_open(&w);
    put_quoted(&w, S("timeUnixNano"), record->at_ms, S("000000"));
    put_quoted(&w, S("observedTimeUnixNano"), now_ms, S("000000"));
    json_put_uint(&w, S("severityNumber"), severities[severity].number);
    json_put_str(&w, S("severityText"), severities[severity].text);
    if (record->body.len && record->body.len <= EXPORT_OTLP_BODY) {
        json_key(&w, S("body"));
        json_object_open(&w);
        json_put_str(&w, S("stringValue"), record->body);
        json_object_close(&w);
    }
    json_key(&w, S("attributes"));
    json_array_open(&w);
    put_number(&w, S("moot.seq"), record->seq);
    put_attribute(&w, S("moot.event"), audit_event_name(record->event));
    put_attribute(&w, S("moot.topic"), record->topic);
    put_attribute(&w, S("moot.participant"), record->participant);
    put_attribute(&w, S("moot.kind"), record->kind);
    put_attribute(&w, S("moot.id"), record->id);
    put_attribute(&w, S("moot.correlation_id"), record->correlation);
    put_attribute(&w, S("moot.verdict"), record->verdict);
    put_attribute(&w, S("moot.by"), record->by);
    if (record->body_bytes)
        put_number(&w, S("moot.body_bytes"), record->body_bytes);
    put_hash(&w, record->hash);
    json_array_close(&w);
    json_object_close(&w);
}

void export_otlp_end(struct buf *out)
{
    buf_put(out, S("]}]}]}"));
}

uint64_t export_otlp_rejected(struct str answer)
{
    const struct json *root;
    const struct json *rejected;
    struct arena arena;
    uint64_t count = 0;

    arena_init(&arena, ANSWER_ARENA);
    if (json_parse(answer, &arena, &root, NULL) == OK) {
        rejected =
            json_find(json_find(root, S("partialSuccess")), S("rejectedLogRecords"));
        if (rejected) /* a number, or as a string of digits */
            (void)str_to_u64(rejected->text, UINT64_MAX, &count);
    }
    arena_done(&arena);
    return count;
}
