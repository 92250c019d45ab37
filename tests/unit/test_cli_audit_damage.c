/* SPDX-License-Identifier: Apache-2.0 */
/* A record that somebody has changed in its database, as `moot audit verify` reads it:
 * the first bad record is named, and what stands before it can be read. */
#include <sqlite3.h>

#include "audit/verify.h"
#include "cli/audit_source.h"
#include "cli/cli.h"
#include "store_stage.h"

/* Four times so many, each time with a checkpoint behind. */
enum { PART = 20, PARTS = 4, RECORDS = PARTS * PART };

/* A store and a connection to its file that respects nothing. */
struct target {
    struct stage stage;
    char path[64];
    sqlite3 *db;
    struct engine *engine; /* that reads it, or NULL */
    struct audit_head head;
};

static void note_full(struct store_batch *batch, unsigned number)
{
    char id[16], body[64];

    (void)snprintf(id, sizeof(id), "id-%u", number);
    (void)snprintf(body, sizeof(body), "{\"number\":%u,\"text\":\"über\"}", number);
    audit_batch_add(
        &batch->records,
        &(struct audit_record){ .at_ms = 1'000'000 + number,
                                .event = AUDIT_ENVELOPE,
                                .topic = S("room"),
                                .participant = S("ann"),
                                .kind = S("chat"),
                                .id = str_of(id),
                                .correlation = S("before"),
                                .verdict = S("allowed"),
                                .by = S("chat*"),
                                .body = number % 7 ? str_of(body) : (struct str){} });
}

/* With a checkpoint behind. */
static void fill_part(const struct stage *stage, unsigned first, unsigned count)
{
    struct loop *loop = loop_new();
    struct store *store = stage_open(stage);
    struct handed handed;

    handed_init(&handed, loop);
    for (unsigned i = 0; i < count; i++)
        note_full(&handed.batch, first + i);
    store_commit(store, &handed.batch);
    store_close(store); /* signs */
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
    loop_free(loop);
}

static void fill(const struct stage *stage)
{
    for (unsigned part = 0; part < PARTS; part++)
        fill_part(stage, part * PART + 1, PART);
}

static void run(const struct target *t, const char *sql)
{
    if (sqlite3_exec(t->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        CHECK_STR(str_of(sqlite3_errmsg(t->db)), S(""));
        CHECK_STR(str_of(sql), S(""));
    }
}

/* --- looking at it --- */

struct reading {
    struct audit_verifier *verifier;
    const struct audit_head *expected;
    uint64_t last;
};

static bool on_origin(void *user, const struct audit_origin *origin)
{
    struct reading *r = user;

    r->verifier =
        audit_verifier_new(origin->installation, origin->public_key, r->expected);
    return true;
}

static bool on_record(void *user, const struct audit_record *record)
{
    return audit_verify_record(((struct reading *)user)->verifier, record);
}

static bool on_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    return audit_verify_checkpoint(((struct reading *)user)->verifier, checkpoint);
}

static bool on_found(void *user, const struct audit_record *record)
{
    struct reading *r = user;

    if (record->seq == r->last + 1)
        r->last++;
    return record->seq == r->last;
}

static struct audit_report verify(const struct target *t,
                                  const struct audit_head *expected)
{
    struct reading r = { .expected = expected };
    struct audit_sink sink = { on_origin, on_record, on_checkpoint, &r };
    struct audit_query all = { .order = AUDIT_OLDEST_FIRST };
    struct audit_report report = { .is_damaged = true };
    struct audit_source *source = NULL;
    struct audit_place place = { .file = t->path };

    if (audit_source_open_offline(&place, &source))
        return report;
    if (audit_source_all(source, &sink) && r.verifier)
        audit_verify_unreadable(r.verifier, audit_source_problem(source));
    if (r.verifier)
        audit_verify_end(r.verifier, &report);
    audit_verifier_free(r.verifier);
    (void)audit_source_records(source, &all, on_found, &r);
    CHECK(!report.is_damaged || r.last + 1 >= report.bad_seq); /* readable up to there */
    audit_source_close(source);
    return report;
}

static void target_init(struct target *t)
{
    struct audit_report report;

    *t = (struct target){};
    stage_init(&t->stage);
    fill(&t->stage);
    (void)snprintf(t->path, sizeof(t->path), "%s", stage_path(&t->stage, "audit.db"));
    CHECK_INT(sqlite3_open(t->path, &t->db), SQLITE_OK);
    run(t, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON;"
           "CREATE TEMP TABLE r AS SELECT * FROM record;"
           "CREATE TEMP TABLE b AS SELECT * FROM body;"
           "CREATE TEMP TABLE c AS SELECT * FROM checkpoint;"
           "CREATE TEMP TABLE o AS SELECT * FROM origin;");
    report = verify(t, NULL);
    CHECK(!report.is_damaged);
    CHECK_INT(report.records, RECORDS);
    CHECK_INT(report.checkpoints, PARTS);
    CHECK_INT(report.uncovered, 0);
    t->head = report.head;
}

static void target_restore(const struct target *t)
{
    run(t, "BEGIN; DELETE FROM record; INSERT INTO record SELECT * FROM r;"
           "DELETE FROM body; INSERT INTO body SELECT * FROM b;"
           "DELETE FROM checkpoint; INSERT INTO checkpoint SELECT * FROM c;"
           "DELETE FROM origin; INSERT INTO origin SELECT * FROM o; COMMIT;");
}

static void target_done(struct target *t)
{
    CHECK_INT(sqlite3_close(t->db), SQLITE_OK);
    stage_done(&t->stage);
}

/* --- changes of whole records --- */

#define SWAP(table, a, b)                                   \
    "UPDATE " table " SET seq = -1 WHERE seq = " #a ";"     \
    "UPDATE " table " SET seq = " #a " WHERE seq = " #b ";" \
    "UPDATE " table " SET seq = " #b " WHERE seq = -1;"
#define SHIFT(table, from)                                        \
    "UPDATE " table " SET seq = -seq - 1 WHERE seq >= " #from ";" \
    "UPDATE " table " SET seq = -seq WHERE seq < 0;"
#define EXCHANGE(one, other, seq) \
    "UPDATE record SET " one " = " other ", " other " = " one " WHERE seq = " #seq

TEST(what_is_changed_in_the_database_is_named)
{
    static const struct {
        const char *sql;
        uint64_t bad; /* 0: it holds nevertheless */
    } cases[] = {
        { SWAP("record", 10, 11), 10 },
        { SWAP("record", 10, 11) SWAP("body", 10, 11), 10 },
        { SWAP("record", 1, 80) SWAP("body", 1, 80), 1 },
        { SWAP("body", 10, 11), 10 },
        { "DELETE FROM record WHERE seq = 1", 1 },
        { "DELETE FROM record WHERE seq = 15", 15 },
        { "DELETE FROM record WHERE seq > 20 AND seq <= 40", 21 },
        { "DELETE FROM record WHERE seq > 20 AND seq <= 40;"
          "DELETE FROM checkpoint WHERE seq = 40",
          21 },
        { "DELETE FROM record WHERE seq = 80", 80 },
        { "DELETE FROM record WHERE seq > 75; DELETE FROM body WHERE seq > 75", 76 },
        { "DELETE FROM record WHERE seq > 60", 61 },
        { "DELETE FROM record", 1 },
        { "DELETE FROM record WHERE seq = 30;"
          "UPDATE record SET seq = seq - 1 WHERE seq > 30;",
          30 },
        { SHIFT("record", 30) SHIFT(
              "body",
              30) "INSERT INTO record SELECT 30, at_ms, event, topic, participant, kind, id,"
                  " correlation, verdict, decided_by, body_bytes, body_hash, hash FROM record"
                  " WHERE seq = 29; INSERT INTO body SELECT 30, text FROM body WHERE seq = 29",
          30 },
        { SHIFT("record", 1) SHIFT(
              "body",
              1) "INSERT INTO record SELECT 1, at_ms, event, topic, participant, kind, id,"
                 " correlation, verdict, decided_by, body_bytes, body_hash, hash FROM record"
                 " WHERE seq = 2",
          2 },
        { "INSERT INTO record SELECT 81, at_ms, event, topic, participant, kind, id,"
          " correlation, verdict, decided_by, body_bytes, body_hash, hash FROM record"
          " WHERE seq = 80; INSERT INTO body SELECT 81, text FROM body WHERE seq = 80",
          81 },
        { EXCHANGE("topic", "participant", 33), 33 },
        { EXCHANGE("kind", "id", 34), 34 },
        { EXCHANGE("id", "correlation", 36), 36 },
        { EXCHANGE("verdict", "decided_by", 37), 37 },
        { EXCHANGE("body_hash", "hash", 38), 38 },
        { EXCHANGE("at_ms", "body_bytes", 39), 39 },
        { "UPDATE record SET topic = topic || participant, participant = ''"
          " WHERE seq = 40",
          40 },
        { "UPDATE record SET at_ms = at_ms - 1 WHERE seq = 41", 41 },
        { "UPDATE record SET event = 1 WHERE seq = 43", 43 },
        { "UPDATE record SET event = 99 WHERE seq = 43", 43 },
        { "UPDATE record SET hash = x'00' WHERE seq = 44", 44 },
        { "UPDATE record SET topic = '' WHERE seq = 45", 45 },
        { "UPDATE body SET text = text || ' ' WHERE seq = 46", 46 },
        { "UPDATE body SET text = '' WHERE seq = 46", 46 },
        { "DELETE FROM body WHERE seq = 47", 47 },
        { "INSERT INTO body VALUES (49, '{}')", 49 }, /* which has none */
        { "INSERT INTO body VALUES (49, '')", 49 },
        /* A checkpoint is named by the record behind it. */
        { "UPDATE checkpoint SET signature = zeroblob(64) WHERE seq = 20", 21 },
        { "UPDATE checkpoint SET signature = x'' WHERE seq = 40", 81 },
        { "UPDATE checkpoint SET hash = zeroblob(32) WHERE seq = 20", 21 },
        { "UPDATE checkpoint SET at_ms = at_ms + 1 WHERE seq = 80", 81 },
        { "UPDATE checkpoint SET seq = 81 WHERE seq = 80", 81 },
        { SWAP("checkpoint", 20, 40), 21 },
        { "UPDATE origin SET public_key = zeroblob(32)", 21 },
        { "DELETE FROM checkpoint WHERE seq < 80", 0 }, /* the last one covers all */
        { "DELETE FROM checkpoint WHERE seq = 80", 0 },
    };
    struct target t;

    target_init(&t);
    FOR_EACH_CASE(c, cases) {
        struct audit_report report;

        run(&t, c->sql);
        report = verify(&t, NULL);
        CHECK_INT(report.is_damaged, c->bad != 0);
        CHECK_INT(report.bad_seq, c->bad);
        CHECK(!c->bad || report.records < c->bad);
        target_restore(&t);
    }
    CHECK(!verify(&t, NULL).is_damaged);
    target_done(&t);
}

TEST(what_is_removed_behind_the_last_checkpoint_is_missed_by_the_head)
{
    struct audit_report report;
    struct target t;

    target_init(&t);
    run(&t, "DELETE FROM checkpoint WHERE seq = 80; DELETE FROM record WHERE seq > 75;"
            "DELETE FROM body WHERE seq > 75;");
    report = verify(&t, NULL);
    CHECK(!report.is_damaged);
    CHECK_INT(report.records, 75);
    CHECK_INT(report.uncovered, 15);
    report = verify(&t, &t.head);
    CHECK(report.is_damaged);
    CHECK_INT(report.bad_seq, 76);
    target_done(&t);
}

/* --- bits --- */

static const struct column {
    const char *table, *name;
} columns[] = {
    { "record", "seq" },        { "record", "at_ms" },       { "record", "event" },
    { "record", "topic" },      { "record", "participant" }, { "record", "kind" },
    { "record", "id" },         { "record", "correlation" }, { "record", "verdict" },
    { "record", "decided_by" }, { "record", "body_bytes" },  { "record", "body_hash" },
    { "record", "hash" },       { "body", "text" },
};

/* A value of a column. */
struct value {
    int type;
    sqlite3_int64 number;
    char bytes[256];
    int len; /* 8 for a number */
};

/* False: there is no body. */
static bool get(const struct target *t, const struct column *column, sqlite3_int64 seq,
                struct value *ret)
{
    sqlite3_stmt *select = NULL;
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE seq = ?", column->name,
                   column->table);
    CHECK_INT(sqlite3_prepare_v2(t->db, sql, -1, &select, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_bind_int64(select, 1, seq), SQLITE_OK);
    if (sqlite3_step(select) != SQLITE_ROW) {
        (void)sqlite3_finalize(select);
        return false;
    }
    *ret = (struct value){ .type = sqlite3_column_type(select, 0), .len = 8 };
    if (ret->type == SQLITE_INTEGER) {
        ret->number = sqlite3_column_int64(select, 0);
    } else {
        ret->len = sqlite3_column_bytes(select, 0);
        if (ret->len)
            memcpy(ret->bytes, sqlite3_column_blob(select, 0), (size_t)ret->len);
    }
    (void)sqlite3_finalize(select);
    return true;
}

/* False: there is a record of that number already. */
static bool put(const struct target *t, const struct column *column, sqlite3_int64 seq,
                const struct value *value)
{
    sqlite3_stmt *update = NULL;
    char sql[128];
    int result;

    (void)snprintf(sql, sizeof(sql), "UPDATE %s SET %s = ? WHERE seq = ?", column->table,
                   column->name);
    CHECK_INT(sqlite3_prepare_v2(t->db, sql, -1, &update, NULL), SQLITE_OK);
    if (value->type == SQLITE_INTEGER)
        (void)sqlite3_bind_int64(update, 1, value->number);
    else if (value->type == SQLITE_TEXT)
        (void)sqlite3_bind_text(update, 1, value->bytes, value->len, SQLITE_STATIC);
    else
        (void)sqlite3_bind_blob(update, 1, value->bytes, value->len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(update, 2, seq);
    result = sqlite3_step(update);
    (void)sqlite3_finalize(update);
    return result == SQLITE_DONE;
}

static struct value flipped(const struct value *good, int bit)
{
    struct value bad = *good;

    bad.bytes[bit / 8] ^= (char)(1 << bit % 8);
    bad.number ^= (sqlite3_int64)(UINT64_C(1) << bit % 64);
    return bad;
}

static bool is_seq(const struct column *column)
{
    return strcmp(column->name, "seq") == 0;
}

static void flip_bit(const struct target *t, const struct column *column,
                     sqlite3_int64 seq, const struct value *good, int bit)
{
    struct value bad = flipped(good, bit);
    struct audit_report report;
    sqlite3_int64 first = seq;

    if (!put(t, column, seq, &bad))
        return;
    if (is_seq(column) && bad.number > 0 && bad.number < seq)
        first = bad.number;
    report = verify(t, NULL);
    CHECK(report.is_damaged);
    CHECK_INT(report.bad_seq, first);
    CHECK(put(t, column, is_seq(column) ? bad.number : seq, good));
}

/* Which records, a generator says that always says the same. */
static sqlite3_int64 random_seq(uint64_t *random, uint64_t count)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return 1 + (sqlite3_int64)(*random % count);
}

/* Calls `flip` for each bit of the record. */
static void flip_each_bit(const struct target *t, sqlite3_int64 seq,
                          void (*flip)(const struct target *t,
                                       const struct column *column, sqlite3_int64 seq,
                                       const struct value *good, int bit))
{
    for (size_t column = 0; column < COUNT(columns); column++) {
        struct value good;

        if (!get(t, &columns[column], seq, &good))
            continue;
        for (int bit = 0; bit < good.len * 8; bit++)
            flip(t, &columns[column], seq, &good, bit);
    }
}

TEST(each_bit_that_is_flipped_in_the_database_is_named)
{
    uint64_t random = 88172645463325252;
    struct target t;

    target_init(&t);
    for (int i = 0; i < 2; i++)
        flip_each_bit(&t, random_seq(&random, RECORDS), flip_bit);
    CHECK(!verify(&t, NULL).is_damaged);
    target_done(&t);
}

/* --- bits of many records, each of which is read by itself --- */

struct chained {
    const struct audit_head *before;
    bool holds;
};

static bool on_next(void *user, const struct audit_record *record)
{
    struct chained *c = user;
    struct audit_record sealed = *record;
    uint8_t hash[SHA256_BYTES];

    if (record->body_bytes > UINT32_MAX)
        return false;
    if (record->body.ptr)
        audit_seal_body(&sealed);
    audit_hash(c->before, record, hash);
    c->holds = record->seq == c->before->seq + 1 &&
               memcmp(hash, record->hash, SHA256_BYTES) == 0 &&
               sealed.body_bytes == record->body_bytes &&
               memcmp(sealed.body_hash, record->body_hash, SHA256_BYTES) == 0;
    return false;
}

/* Does the record behind this one hold, as the engine reads it? */
static bool next_holds(const struct target *t, const struct audit_head *before)
{
    struct audit_query next = { .after_seq = before->seq,
                                .order = AUDIT_OLDEST_FIRST,
                                .limit = 1 };
    struct chained c = { .before = before };

    return t->engine->ops->read(t->engine, &next, on_next, &c) == OK && c.holds;
}

static void flip_bit_of_many(const struct target *t, const struct column *column,
                             sqlite3_int64 seq, const struct value *good, int bit)
{
    struct value bad = flipped(good, bit);
    struct audit_head before = {};
    struct value hash;

    if (!get(t, &(struct column){ "record", "hash" }, seq - 1, &hash)) {
        CHECK_INT(seq, 0);
        return;
    }
    before.seq = (uint64_t)seq - 1;
    memcpy(before.hash, hash.bytes, SHA256_BYTES);
    if (!put(t, column, seq, &bad))
        return;
    CHECK(!next_holds(t, &before));
    CHECK(put(t, column, is_seq(column) ? bad.number : seq, good));
    CHECK(bit || next_holds(t, &before));
}

/* How many of them: MOOT_RECORDS. */
TEST(each_bit_of_many_records_that_is_flipped_in_the_database_is_found)
{
    enum { MANY = 5000 };
    const char *wanted = getenv("MOOT_RECORDS");
    long count = wanted ? strtol(wanted, NULL, 10) : 10;
    uint64_t random = 88172645463325252;
    struct target t = {};

    stage_init(&t.stage);
    fill_part(&t.stage, 1, MANY);
    CHECK_INT(sqlite3_open(stage_path(&t.stage, "audit.db"), &t.db), SQLITE_OK);
    run(&t, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON;");
    CHECK_INT(sqlite_engine.open(&t.stage.setup, ENGINE_READER, NULL, &t.engine, NULL),
              OK);
    for (long i = 0; i < count; i++)
        flip_each_bit(&t, 1 + random_seq(&random, MANY - 1), flip_bit_of_many);
    t.engine->ops->close(t.engine);
    target_done(&t);
}
