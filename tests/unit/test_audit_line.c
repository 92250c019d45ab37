/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/line.h"
#include "guard.h"
#include "harness.h"

/* clang-format off */
#define HASH "20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"
#define ORIGIN "{\"moot_audit\":1,\"installation\":\"0123456789abcdef0123456789abcdef\",\"public_key\":\"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\"}"
#define START "{\"seq\":1,\"at\":\"2025-11-15T18:00:00.000Z\",\"event\":\"server\",\"kind\":\"start\",\"verdict\":\"allowed\",\"hash\":\"" HASH "\"}"
#define CHAT "{\"seq\":2,\"at\":\"2025-11-15T18:00:00.001Z\",\"event\":\"envelope\",\"topic\":\"room\",\"participant\":\"ann\",\"kind\":\"chat\",\"id\":\"\xc3\xbc\\n1\",\"correlation_id\":\"c0\",\"verdict\":\"allowed\",\"by\":\"chat\",\"body\":{\"a\": 1},\"body_bytes\":8,\"body_hash\":\"" HASH "\",\"hash\":\"" HASH "\"}"
#define REMOVED "{\"seq\":3,\"at\":\"2025-11-15T18:00:00.001Z\",\"event\":\"envelope\",\"body_bytes\":8,\"body_hash\":\"" HASH "\",\"hash\":\"" HASH "\"}"
#define SIGNATURE "GILRUS6tXZOCmhE4Wcv2OAIb8QRb5rmnP1A1Pi62OTfatjJpmBOJNDQz3aYcKUTvN0tnM8Xev3W7nvkOocB8CQ=="
#define CHECKPOINT "{\"checkpoint\":{\"seq\":2,\"at\":\"2025-11-15T18:00:00.001Z\",\"hash\":\"" HASH "\",\"signature\":\"" SIGNATURE "\"}}"
/* clang-format on */

static const uint8_t hash[SHA256_BYTES] = {
    0x20, 0xb3, 0xcc, 0x57, 0xd3, 0x35, 0x11, 0xe1, 0xd8, 0xec, 0xa5,
    0xdc, 0x76, 0xa5, 0x7c, 0x29, 0xc0, 0x88, 0xd3, 0xe9, 0xd1, 0x67,
    0x5b, 0xb6, 0xc9, 0x44, 0xed, 0xf6, 0x93, 0x32, 0xe2, 0xa2,
};

static enum err parse(struct str text, struct audit_line *ret, const char **ret_what)
{
    static struct arena arena;
    static bool is_made;

    if (!is_made)
        arena_init(&arena, 100000);
    is_made = true;
    arena_reset(&arena);
    return audit_line_parse(text, &arena, ret, ret_what);
}

TEST(a_record_is_written_in_one_way)
{
    struct audit_record record = { .seq = 2,
                                   .at_ms = 1763229600001,
                                   .topic = S("room"),
                                   .participant = S("ann"),
                                   .kind = S("chat"),
                                   .id = S("\xc3\xbc\n1"),
                                   .correlation = S("c0"),
                                   .verdict = S("allowed"),
                                   .by = S("chat"),
                                   .body = S("{\"a\": 1}"),
                                   .body_bytes = 8 };
    struct buf out;

    memcpy(record.hash, hash, sizeof(hash));
    memcpy(record.body_hash, hash, sizeof(hash));
    buf_init(&out, 10000);
    audit_record_write(&record, &out);
    CHECK_STR(buf_str(&out), S(CHAT "\n"));
    buf_done(&out);
}

static void write_again(const struct audit_line *line, struct buf *out)
{
    switch (line->type) {
    case AUDIT_LINE_ORIGIN: audit_origin_write(&line->origin, out); break;
    case AUDIT_LINE_RECORD: audit_record_write(&line->record, out); break;
    case AUDIT_LINE_CHECKPOINT: audit_checkpoint_write(&line->checkpoint, out); break;
    }
}

TEST(what_is_read_is_written_the_same)
{
    static const struct {
        struct str text;
        enum audit_line_type type;
    } cases[] = {
        { S(ORIGIN), AUDIT_LINE_ORIGIN },         { S(START), AUDIT_LINE_RECORD },
        { S(CHAT), AUDIT_LINE_RECORD },           { S(REMOVED), AUDIT_LINE_RECORD },
        { S(CHECKPOINT), AUDIT_LINE_CHECKPOINT },
    };

    FOR_EACH_CASE(c, cases) {
        struct audit_line line = {};
        const char *what = "";
        struct buf out;

        buf_init(&out, 10000);
        CHECK_INT(parse(c->text, &line, &what), OK);
        CHECK_STR(str_of(what), S(""));
        CHECK_INT(line.type, c->type);
        write_again(&line, &out);
        CHECK_STR(str_slice(buf_str(&out), 0, out.len - 1), c->text);
        buf_done(&out);
    }
}

TEST(what_a_line_says_is_read)
{
    struct audit_line line = {};
    const char *what;

    CHECK_INT(parse(S(CHAT), &line, &what), OK);
    CHECK_INT(line.record.seq, 2);
    CHECK_INT(line.record.at_ms, 1763229600001);
    CHECK_INT(line.record.event, AUDIT_ENVELOPE);
    CHECK_STR(line.record.id, S("\xc3\xbc\n1"));
    CHECK_STR(line.record.correlation, S("c0"));
    CHECK_STR(line.record.body, S("{\"a\": 1}"));
    CHECK_INT(line.record.body_bytes, 8);
    CHECK(memcmp(line.record.hash, hash, sizeof(hash)) == 0);
    CHECK_INT(parse(S(REMOVED), &line, &what), OK);
    CHECK(audit_body_is_removed(&line.record));
    CHECK_INT(parse(S(ORIGIN), &line, &what), OK);
    CHECK_STR(line.origin.installation, S("0123456789abcdef0123456789abcdef"));
    CHECK_INT(line.origin.public_key[0], 0xd7);
    CHECK_INT(parse(S(CHECKPOINT), &line, &what), OK);
    CHECK_INT(line.checkpoint.head.seq, 2);
    CHECK_INT(line.checkpoint.signature[0], 0x18);
    CHECK(memcmp(line.checkpoint.head.hash, hash, sizeof(hash)) == 0);
}

TEST(a_body_may_be_any_json)
{
    static const struct str bodies[] = { S("\"text\""), S("1"), S("null"), S("[]"),
                                         S("\"\"") };

    FOR_EACH_CASE(c, bodies) {
        struct audit_record record = { .seq = 1, .body = *c, .body_bytes = c->len };
        struct audit_line line = {};
        const char *what;
        struct buf out;

        buf_init(&out, 10000);
        audit_record_write(&record, &out);
        CHECK_INT(parse(str_slice(buf_str(&out), 0, out.len - 1), &line, &what), OK);
        CHECK_STR(line.record.body, *c);
        buf_done(&out);
    }
}

/* clang-format off */
static const struct {
    struct str text, what;
} refused[] = {
    { S(""), S("it is no line of a record") },
    { S("{}"), S("it is no line of a record") },
    { S(" " START), S("it is no line of a record") },
    { S(START "\n"), S("it is more than one line") },
    { S(START " "), S("it is not written as the record writes it") },
    { S(START "x"), S("something follows the value") },
    { S("{\"seq\":01}"), S("a number begins with 0") },
    { S("{\"seq\":-1}"), S("a number is none, or out of bounds") },
    { S("{\"seq\":1e3}"), S("a number is none, or out of bounds") },
    { S("{\"seq\":18446744073709551616}"), S("a number is none, or out of bounds") },
    { S("{\"seq\":\"1\"}"), S("a number is none, or out of bounds") },
    { S("{\"seq\":1}"), S("it is not written as the record writes it") },
    { S("{\"seq\":1,\"at\":\"yesterday\"}"), S("the time is none") },
    { S("{\"seq\":1,\"event\":\"nothing\"}"), S("the event is not known") },
    { S("{\"seq\":1,\"event\":1}"), S("a text is none") },
    { S("{\"seq\":1,\"extra\":1}"), S("a member is not known") },
    { S("{\"seq\":1,\"hash\":\"20\"}"), S("a hash is none") },
    { S("{\"seq\":1,\"body_bytes\":4294967296}"), S("a number is none, or out of bounds") },
    { S("{\"moot_audit\":2}"), S("it is of a version that is not known") },
    { S("{\"moot_audit\":1,\"installation\":\"x\"}"), S("the name of the installation is none") },
    { S("{\"moot_audit\":1,\"public_key\":\"AAAA\"}"), S("a key or signature is none") },
    { S("{\"moot_audit\":1,\"x\":1}"), S("a member is not known") },
    { S("{\"checkpoint\":1}"), S("expected an object") },
    { S("{\"checkpoint\":{\"x\":1}}"), S("a member is not known") },
    { S("{\"checkpoint\":{},\"seq\":1}"), S("a member is not known") },
    { S("{\"seq\":1,\"at\":\"2025-11-15T18:00:00.000+00:00\",\"event\":\"server\",\"hash\":\"" HASH "\"}"), S("it is not written as the record writes it") },
    { S("{\"seq\":1,\"at\":\"2025-11-15T18:00:00.000Z\",\"event\":\"server\",\"event\":\"server\",\"hash\":\"" HASH "\"}"), S("it is not written as the record writes it") },
    { S("{\"seq\":1,\"event\":\"server\",\"at\":\"2025-11-15T18:00:00.000Z\",\"hash\":\"" HASH "\"}"), S("it is not written as the record writes it") },
    { S("{\"seq\":1,\"at\":\"2025-11-15T18:00:00.000Z\",\"event\":\"server\",\"topic\":\"\",\"hash\":\"" HASH "\"}"), S("it is not written as the record writes it") },
    { S("{\"seq\":1,\"at\":\"2025-11-15T18:00:00.000Z\",\"event\":\"serv\\u0065r\",\"hash\":\"" HASH "\"}"), S("it is not written as the record writes it") },
};
/* clang-format on */

TEST(a_line_that_was_not_written_so_is_refused)
{
    FOR_EACH_CASE(c, refused) {
        struct audit_line line = { .type = AUDIT_LINE_CHECKPOINT };
        const char *what = "";

        CHECK_INT(parse(c->text, &line, &what), ERR_INVALID);
        CHECK_STR(str_of(what), c->what);
        CHECK_INT(line.type, AUDIT_LINE_CHECKPOINT);
    }
}

TEST(a_line_that_ends_early_is_refused)
{
    static const struct str cases[] = { S(ORIGIN), S(START), S(CHAT), S(CHECKPOINT) };
    struct guard guard;

    guard_init(&guard);
    FOR_EACH_CASE(c, cases) {
        for (size_t len = 0; len < c->len; len++) {
            char *text = guard_last(&guard, len);
            struct audit_line line;
            const char *what;

            memcpy(text, c->ptr, len);
            CHECK_INT(parse((struct str){ text, len }, &line, &what), ERR_INVALID);
        }
    }
    guard_done(&guard);
}

TEST(an_impossible_time_is_written_as_the_last_possible)
{
    struct audit_record record = { .at_ms = UINT64_MAX };
    struct buf out;

    buf_init(&out, 10000);
    audit_record_write(&record, &out);
    CHECK(memmem(out.ptr, out.len, "9999-12-31T23:59:59.999Z", 24) != NULL);
    buf_done(&out);
}

TEST(csv_quotes_what_must_be_quoted)
{
    struct audit_record record = { .seq = 1,
                                   .at_ms = 1763229600001,
                                   .event = AUDIT_REFUSAL,
                                   .topic = S("a,b"),
                                   .kind = S("x\r\ny"),
                                   .body = S("{\"a\":1}"),
                                   .body_bytes = 7 };
    struct buf out;

    buf_init(&out, 10000);
    memcpy(record.hash, hash, sizeof(hash));
    audit_csv_head(&out);
    audit_csv_write(&record, &out);
    CHECK_STR(
        buf_str(&out),
        S("seq,at,event,topic,participant,kind,id,correlation_id,verdict,by,body,"
          "body_bytes,body_hash,hash\r\n"
          "1,2025-11-15T18:00:00.001Z,refusal,\"a,b\",,\"x\r\ny\",,,,,\"{\"\"a\"\":1}\",7,," HASH
          "\r\n"));
    buf_done(&out);
}
