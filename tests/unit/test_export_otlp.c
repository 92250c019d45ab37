/* SPDX-License-Identifier: Apache-2.0 */
/* Records as OTLP logs: exactly, and through a JSON parser whatever they say. */
#include <stdlib.h>

#include "base/arena.h"
#include "export/export.h"
#include "harness.h"
#include "json/json.h"

static const struct export_origin origin = { .host = S("gate"),
                                             .installation = S("00ff"),
                                             .process = 1 };

#define HASH             "0000000000000000000000000000000000000000000000000000000000000000"
#define TEXT(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"
#define INT(key, value)  "{\"key\":\"" key "\",\"value\":{\"intValue\":\"" value "\"}}"

TEST(two_records_are_one_request)
{
    const struct audit_record one = { .seq = 7,
                                      .at_ms = 1'794'765'600'123,
                                      .event = AUDIT_REFUSAL,
                                      .topic = S("room"),
                                      .participant = S("ann"),
                                      .kind = S("chat"),
                                      .id = S("1"),
                                      .correlation = S("0"),
                                      .verdict = S("paused"),
                                      .by = S("chat"),
                                      .body = S("{\"a\":\"\\n\"}"),
                                      .body_bytes = 10 };
    const struct audit_record two = { .seq = 8, .event = AUDIT_SERVER };
    struct buf out;

    buf_init(&out, 1 << 20);
    export_otlp_begin(&origin, &out);
    export_otlp_record(&one, 1'794'765'600'200, &out);
    export_otlp_record(&two, 1, &out);
    export_otlp_end(&out);
    CHECK_STR(
        buf_str(&out),
        S("{\"resourceLogs\":[{\"resource\":{\"attributes\":[" TEXT("service.name",
                                                                    "moot") //
          "," TEXT("service.version", MOOT_VERSION) ","                     //
          TEXT("service.instance.id", "00ff") "," TEXT("host.name", "gate") //
          "]},\"scopeLogs\":[{\"scope\":{\"name\":\"moot.audit\"},\"logRecords\":["
          "{\"timeUnixNano\":\"1794765600123000000\","
          "\"observedTimeUnixNano\":\"1794765600200000000\",\"severityNumber\":13,"
          "\"severityText\":\"WARN\",\"body\":{\"stringValue\":\"{\\\"a\\\":\\\"\\\\n\\\"}\"},"
          "\"attributes\":[" INT("moot.seq", "7") "," TEXT("moot.event", "refusal") "," //
          TEXT("moot.topic", "room") "," TEXT("moot.participant", "ann") ","            //
          TEXT("moot.kind", "chat") "," TEXT("moot.id", "1") ","                        //
          TEXT("moot.correlation_id", "0") "," TEXT("moot.verdict", "paused") ","       //
          TEXT("moot.by", "chat") "," INT("moot.body_bytes", "10") ","                  //
          TEXT(
              "moot.hash",
              HASH) "]},"
                    "{\"timeUnixNano\":\"0000000\",\"observedTimeUnixNano\":\"1000000\","
                    "\"severityNumber\":10,\"severityText\":\"NOTICE\",\"attributes\":[" INT(
                        "moot.seq", "8") "," TEXT("moot.event", "server") "," //
          TEXT("moot.hash", HASH) "]}]}]}]}"));
    buf_done(&out);
}

/* What stands under one name in the attributes of the only record. */
static struct str attribute(const struct json *record, struct str name)
{
    const struct json *list = json_find(record, S("attributes"));

    JSON_FOREACH(pair, list)
        if (str_eq(json_text(json_find(pair, S("key"))), name))
            return json_text(json_find(json_find(pair, S("value")), S("stringValue")));
    return S("");
}

static const struct json *only_record(struct str text, struct arena *arena)
{
    const struct json *root = NULL;

    CHECK_INT(json_parse(text, arena, &root, NULL), OK);
    root = json_find(root, S("resourceLogs"));
    root = root ? json_find(root->first, S("scopeLogs")) : NULL;
    root = root ? json_find(root->first, S("logRecords")) : NULL;
    CHECK(root && root->count == 1);
    return root ? root->first : NULL;
}

TEST(whatever_a_record_says_comes_out_of_a_parser_as_it_went_in)
{
    struct arena arena;
    struct buf out;

    buf_init(&out, 1 << 20);
    arena_init(&arena, 1 << 20);
    srand(2);
    for (int round = 0; round < 1000; round++) {
        char noise[600];
        struct str text;
        const struct json *found;
        struct audit_record record;

        for (size_t i = 0; i < sizeof(noise); i++)
            noise[i] = (char)(rand() % (round % 2 ? 256 : 128));
        text = (struct str){ noise, 1 + (size_t)rand() % (sizeof(noise) - 1) };
        record = (struct audit_record){ .topic = text, .by = text, .body = text };
        buf_clear(&out);
        arena_reset(&arena);
        export_otlp_begin(&origin, &out);
        export_otlp_record(&record, 0, &out);
        export_otlp_end(&out);
        found = only_record(buf_str(&out), &arena);
        if (round % 2)
            continue; /* what is no UTF-8 has been replaced */
        CHECK_STR(attribute(found, S("moot.topic")), text);
        CHECK_STR(attribute(found, S("moot.by")), text);
        CHECK_STR(json_text(json_find(json_find(found, S("body")), S("stringValue"))),
                  text);
    }
    arena_done(&arena);
    buf_done(&out);
}

TEST(a_body_that_is_too_long_is_left_out)
{
    static char text[EXPORT_OTLP_BODY + 1];
    struct audit_record record = { .body = { text, EXPORT_OTLP_BODY },
                                   .body_bytes = EXPORT_OTLP_BODY };
    struct buf out;

    memset(text, 'x', sizeof(text));
    buf_init(&out, 4 << 20);
    export_otlp_record(&record, 0, &out);
    CHECK(out.len > EXPORT_OTLP_BODY);
    record.body.len++;
    buf_clear(&out);
    export_otlp_record(&record, 0, &out);
    CHECK(out.len < 1000);
    CHECK(memmem(out.ptr, out.len, "\"body\":", 7) == NULL);
    buf_done(&out);
}

TEST(the_longest_record_has_its_bound)
{
    static char text[EXPORT_OTLP_BODY];
    struct str all = { text, sizeof(text) };
    struct audit_record record = { .topic = all,
                                   .participant = all,
                                   .kind = all,
                                   .id = all,
                                   .correlation = all,
                                   .verdict = all,
                                   .by = all,
                                   .body = all };
    struct buf out;

    memset(text, 1, sizeof(text)); /* each becomes six bytes */
    buf_init(&out, 8 << 20);
    export_otlp_record(&record, 0, &out);
    CHECK(out.len > (size_t)6 * EXPORT_OTLP_BODY && out.len <= EXPORT_OTLP_RECORD);
    buf_done(&out);
}

TEST(what_a_collector_did_not_take_is_read_from_its_answer)
{
    static const struct {
        struct str answer;
        uint64_t rejected;
    } cases[] = {
        { S("{}"), 0 },
        { S(""), 0 },
        { S("{\"partialSuccess\":{}}"), 0 },
        { S("{\"partialSuccess\":{\"rejectedLogRecords\":\"3\",\"errorMessage\":\"x\"}}"),
          3 },
        { S("{\"partialSuccess\":{\"rejectedLogRecords\":4}}"), 4 },
        { S("{\"partialSuccess\":{\"rejectedLogRecords\":-1}}"), 0 },
        { S("{\"partialSuccess\":[]}"), 0 },
        { S("<html>"), 0 },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(export_otlp_rejected(c->answer), c->rejected);
}
