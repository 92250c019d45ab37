/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 5424: header, one element of structured data, message. */
#include "base/clock.h"
#include "base/utf8.h"
#include "export/export.h"

enum {
    FACILITY = 13 << 3, /* log audit */
    HOST_MAX = 255,     /* RFC 5424 6 */
    VALUE_MAX = 128,    /* bytes of a member, escapes included: ten of them fit anyhow */
    ELLIPSIS_BYTES = 3,
};

/* RFC 5424 6.2.1 */
static const uint64_t severities[] = {
    [EXPORT_INFO] = 6, [EXPORT_NOTICE] = 5, [EXPORT_WARNING] = 4, [EXPORT_ERROR] = 3
};

/* The name must carry an enterprise number; 32473 is the one for those that have none
 * (RFC 5612). */
static const struct str element = S("[moot@32473");

/* Printable ASCII alone; anything else would end the field. */
static void put_host(struct buf *out, struct str host)
{
    host = str_slice(host, 0, HOST_MAX);
    if (host.len == 0)
        buf_putc(out, '-');
    for (size_t i = 0; i < host.len; i++) {
        bool is_plain = host.ptr[i] > ' ' && host.ptr[i] < 0x7f;

        buf_put(out, is_plain ? str_slice(host, i, i + 1) : S("?"));
    }
}

static void put_header(struct buf *out, const struct export_origin *origin,
                       enum export_severity severity, uint64_t at_ms)
{
    char time[CLOCK_TEXT];

    buf_putc(out, '<');
    buf_putu(out, FACILITY + severities[severity]);
    buf_put(out, S(">1 "));
    buf_put(out, clock_write(at_ms, time));
    buf_putc(out, ' ');
    put_host(out, origin->host);
    buf_put(out, S(" moot "));
    buf_putu(out, origin->process);
    buf_putc(out, ' ');
}

/* One character as it may stand in a value (RFC 5424 6.3.3), and how long it was; what is
 * a control or no UTF-8 becomes a question mark. */
static size_t escape(struct str rest, char ret[static 4], size_t *ret_len)
{
    uint32_t code_point = 0;
    size_t len = utf8_read(rest, &code_point);
    bool is_control = code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);

    *ret_len = len ? len : 1;
    if (!len || is_control) {
        ret[0] = '?';
        return 1;
    }
    if (code_point == '"' || code_point == '\\' || code_point == ']') {
        ret[0] = '\\';
        ret[1] = rest.ptr[0];
        return 2;
    }
    memcpy(ret, rest.ptr, len);
    return len;
}

/* As much of the value as fits into `room`; returns how much of it that is. */
static size_t put_some(struct buf *out, struct str value, size_t room)
{
    size_t at = 0;

    while (at < value.len) {
        char escaped[4];
        size_t taken;
        size_t len = escape(str_slice(value, at, value.len), escaped, &taken);

        if (len > room)
            break;
        buf_put(out, (struct str){ escaped, len });
        room -= len;
        at += taken;
    }
    return at;
}

static void put_value(struct buf *out, struct str value)
{
    size_t begin = out->len;

    if (put_some(out, value, VALUE_MAX) == value.len)
        return;
    out->len = begin;
    (void)put_some(out, value, VALUE_MAX - ELLIPSIS_BYTES);
    buf_put(out, S("…"));
}

static void put_member(struct buf *out, struct str name, struct str value)
{
    if (value.len == 0)
        return;
    buf_putc(out, ' ');
    buf_put(out, name);
    buf_put(out, S("=\""));
    put_value(out, value);
    buf_putc(out, '"');
}

static void put_number(struct buf *out, struct str name, uint64_t value)
{
    buf_putc(out, ' ');
    buf_put(out, name);
    buf_put(out, S("=\""));
    buf_putu(out, value);
    buf_putc(out, '"');
}

static void put_hash(struct buf *out, const uint8_t hash[static SHA256_BYTES])
{
    buf_put(out, S(" hash=\""));
    hex_write(out, (struct str){ (const char *)hash, SHA256_BYTES });
    buf_putc(out, '"');
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    return true;
}

static bool has_controls(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    return false;
}

/* MSG-UTF8 begins with a byte order mark (RFC 5424 6.4); ASCII needs none. */
static void put_body(struct buf *out, struct str body, size_t room)
{
    struct str mark = is_ascii(body) ? S("") : S("\xef\xbb\xbf");

    if (!body.len || 1 + mark.len + body.len > room || has_controls(body) ||
        !utf8_is_valid(body))
        return;
    buf_putc(out, ' ');
    buf_put(out, mark);
    buf_put(out, body);
}

void export_syslog_record(const struct export_origin *origin,
                          const struct audit_record *record, size_t max, struct buf *out)
{
    size_t begin = out->len;

    put_header(out, origin, export_severity(record), record->at_ms);
    buf_put(out, audit_event_name(record->event));
    buf_putc(out, ' ');
    buf_put(out, element);
    put_number(out, S("seq"), record->seq);
    put_member(out, S("topic"), record->topic);
    put_member(out, S("participant"), record->participant);
    put_member(out, S("kind"), record->kind);
    put_member(out, S("id"), record->id);
    put_member(out, S("correlation_id"), record->correlation);
    put_member(out, S("verdict"), record->verdict);
    put_member(out, S("by"), record->by);
    if (record->body_bytes)
        put_number(out, S("body_bytes"), record->body_bytes);
    put_hash(out, record->hash);
    buf_putc(out, ']');
    put_body(out, record->body, max - (out->len - begin));
}

void export_syslog_head(const struct export_origin *origin, const struct audit_head *head,
                        uint64_t now_ms, struct buf *out)
{
    put_header(out, origin, EXPORT_INFO, now_ms);
    buf_put(out, S("head "));
    buf_put(out, element);
    put_member(out, S("installation"), origin->installation);
    put_number(out, S("seq"), head->seq);
    put_hash(out, head->hash);
    buf_putc(out, ']');
}
