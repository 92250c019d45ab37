/* SPDX-License-Identifier: Apache-2.0 */
/* Records as RFC 5424: exactly, bounded, and whole whatever they say. */
#include <stdlib.h>

#include "base/utf8.h"
#include "export/export.h"
#include "harness.h"

static const struct export_origin origin = { .host = S("gate.example"),
                                             .installation = S("00ff"),
                                             .process = 4711 };

static struct audit_record chat(void)
{
    return (struct audit_record){
        .seq = 7,
        .at_ms = 1'794'765'600'123,
        .event = AUDIT_ENVELOPE,
        .topic = S("room"),
        .participant = S("ann"),
        .kind = S("chat"),
        .id = S("a-1"),
        .verdict = S("allowed"),
        .by = S("chat"),
        .body = S("{\"kind\":\"chat\"}"),
        .body_bytes = 15,
    };
}

#define HASH "0000000000000000000000000000000000000000000000000000000000000000"

static struct str write_record(struct buf *out, const struct audit_record *record)
{
    buf_clear(out);
    export_syslog_record(&origin, record, EXPORT_SYSLOG_MIN, out);
    return buf_str(out);
}

TEST(a_record_is_one_message_with_structured_data_and_body)
{
    struct audit_record record = chat();
    struct buf out;

    buf_init(&out, 1 << 20);
    CHECK_STR(write_record(&out, &record),
              S("<110>1 2026-11-15T18:00:00.123Z gate.example moot 4711 envelope "
                "[moot@32473 seq=\"7\" topic=\"room\" participant=\"ann\" kind=\"chat\" "
                "id=\"a-1\" verdict=\"allowed\" by=\"chat\" body_bytes=\"15\" "
                "hash=\"" HASH "\"] {\"kind\":\"chat\"}"));
    record = (struct audit_record){ .seq = 8, .event = AUDIT_DROP };
    CHECK_STR(write_record(&out, &record),
              S("<107>1 1970-01-01T00:00:00.000Z gate.example moot 4711 drop "
                "[moot@32473 seq=\"8\" hash=\"" HASH "\"]"));
    buf_done(&out);
}

TEST(refusals_weigh_more_than_envelopes)
{
    static const struct {
        enum audit_event event;
        struct str begin;
    } cases[] = {
        { AUDIT_ENVELOPE, S("<110>1 ") }, { AUDIT_REFUSAL, S("<108>1 ") },
        { AUDIT_ADMIN, S("<109>1 ") },    { AUDIT_DROP, S("<107>1 ") },
        { AUDIT_SERVER, S("<109>1 ") },
    };
    struct buf out;

    buf_init(&out, 1 << 20);
    FOR_EACH_CASE(c, cases) {
        struct audit_record record = { .event = c->event };

        CHECK_STR(str_slice(write_record(&out, &record), 0, c->begin.len), c->begin);
    }
    buf_done(&out);
}

TEST(values_cannot_end_what_holds_them)
{
    static const struct {
        struct str topic, shown;
    } cases[] = {
        { S("a\"]\\b"), S(" topic=\"a\\\"\\]\\\\b\" ") },
        { S("a\nb\r\t\x7f\x1b[0m"), S(" topic=\"a?b????[0m\" ") },
        { S("\xff\xfeok\xc3"), S(" topic=\"??ok?\" ") },
        { S("caf\xc3\xa9 \xc2\x9b"), S(" topic=\"caf\xc3\xa9 ?\" ") },
        { S("nul\0nul"), S(" topic=\"nul?nul\" ") },
    };
    struct buf out;

    buf_init(&out, 1 << 20);
    FOR_EACH_CASE(c, cases) {
        struct audit_record record = { .topic = c->topic };
        struct str text = write_record(&out, &record);

        CHECK(memmem(text.ptr, text.len, c->shown.ptr, c->shown.len) != NULL);
    }
    buf_done(&out);
}

TEST(long_values_end_with_an_ellipsis_between_characters)
{
    char text[400];
    struct audit_record record = { .topic = { text, 128 } };
    struct buf out;
    struct str got;

    buf_init(&out, 1 << 20);
    memset(text, 'x', sizeof(text));
    got = write_record(&out, &record); /* the longest name of a topic fits */
    CHECK(memmem(got.ptr, got.len, "…", 3) == NULL);
    record.topic.len = 129;
    got = write_record(&out, &record);
    CHECK(memmem(got.ptr, got.len, "xx…\" ", 7) != NULL);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 ? '\xa9' : '\xc3';
    record.topic.len = sizeof(text);
    got = write_record(&out, &record);
    CHECK(utf8_is_valid(got));
    CHECK(memmem(got.ptr, got.len, "\xc3\xa9…\" ", 7) != NULL);
    buf_done(&out);
}

TEST(a_body_stands_there_whole_or_not_at_all)
{
    static char text[EXPORT_SYSLOG_MIN];
    struct audit_record record = chat();
    struct buf out;
    size_t base;

    buf_init(&out, 1 << 20);
    memset(text, 'x', sizeof(text));
    record.body = (struct str){};
    record.body_bytes = 1000;
    base = write_record(&out, &record).len;
    record.body = (struct str){ text, EXPORT_SYSLOG_MIN - base - 1 };
    CHECK_INT(write_record(&out, &record).len, EXPORT_SYSLOG_MIN);
    record.body.len++;
    CHECK_INT(write_record(&out, &record).len, base);
    text[0] = '\n';
    record.body.len = 10;
    CHECK_INT(write_record(&out, &record).len, base);
    record.body = S("\xff");
    CHECK_INT(write_record(&out, &record).len, base);
    record.body = S("\"\xc3\xa9\"");
    CHECK(str_ends(write_record(&out, &record), S("] \xef\xbb\xbf\"\xc3\xa9\"")));
    buf_done(&out);
}

/* Reads it as a receiver does: the header, then quoted values with escapes. */
static bool is_message(struct str m)
{
    size_t at = 0;

    for (int spaces = 0; at < m.len && spaces < 6; at++)
        spaces += m.ptr[at] == ' ';
    if (!str_starts(str_slice(m, at, m.len), S("[moot@32473 ")))
        return false;
    for (bool is_quoted = false; at < m.len; at++) {
        if ((unsigned char)m.ptr[at] < ' ')
            return false;
        if (is_quoted && m.ptr[at] == '\\')
            at++;
        else if (m.ptr[at] == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && m.ptr[at] == ']')
            return at + 1 == m.len || m.ptr[at + 1] == ' ';
    }
    return false;
}

TEST(whatever_a_record_says_the_message_is_whole_and_bounded)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    srand(1);
    for (int round = 0; round < 2000; round++) {
        char noise[3000];
        struct str text;
        struct audit_record record;

        for (size_t i = 0; i < sizeof(noise); i++)
            noise[i] = (char)(rand() % (round % 2 ? 256 : 128));
        text = (struct str){ noise, (size_t)rand() % sizeof(noise) };
        record = (struct audit_record){ .seq = UINT64_MAX,
                                        .event = (enum audit_event)(rand() %
                                                                    AUDIT_EVENT_COUNT),
                                        .topic = text,
                                        .participant = text,
                                        .kind = text,
                                        .id = text,
                                        .correlation = text,
                                        .verdict = text,
                                        .by = text,
                                        .body = text,
                                        .body_bytes = SIZE_MAX };
        (void)write_record(&out, &record);
        CHECK(out.len <= EXPORT_SYSLOG_MIN);
        CHECK(is_message(buf_str(&out)));
        CHECK(utf8_is_valid(buf_str(&out)));
    }
    buf_done(&out);
}

TEST(the_head_is_a_message_of_its_own)
{
    struct audit_head head = { .seq = 12, .hash = { 0xab } };
    struct export_origin odd = { .host = S("a b\n"), .process = 1 };
    struct buf out;

    buf_init(&out, 1 << 20);
    export_syslog_head(&origin, &head, 0, &out);
    CHECK_STR(buf_str(&out),
              S("<110>1 1970-01-01T00:00:00.000Z gate.example moot 4711 head [moot@32473 "
                "installation=\"00ff\" seq=\"12\" "
                "hash=\"ab00000000000000000000000000000000000000000000000000000000000000"
                "\"]"));
    buf_clear(&out);
    export_syslog_head(&odd, &head, 0, &out);
    CHECK(memmem(out.ptr, out.len, "Z a?b? moot 1 ", 14) != NULL);
    buf_done(&out);
}
