/* SPDX-License-Identifier: Apache-2.0 */
/* The engine on a PostgreSQL of its own: what is particular to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "audit/words.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "harness.h"
#include "postgres_stage.h"
#include "store/postgres_priv.h"

static enum err open_as(const char *url, enum engine_role role, struct engine **ret,
                        char **ret_why)
{
    struct store_setup setup = { .data = "/nowhere", .url = str_of(url) };

    return postgres_engine.open(&setup, role, NULL, ret, ret_why);
}

/* Opens it or complains. */
static struct engine *opened(const char *url, enum engine_role role)
{
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    CHECK_INT(open_as(url, role, &engine, &why), OK);
    CHECK_STR(str_of(why), S(""));
    return engine;
}

static void close_it(struct engine *engine)
{
    postgres_engine.close(engine);
}

/* --- records --- */

static struct audit_record made(uint64_t seq, struct str topic, struct str body)
{
    struct audit_record record = {
        .seq = seq,
        .at_ms = seq * 1000,
        .event = AUDIT_ENVELOPE,
        .topic = topic,
        .participant = S("ann"),
        .kind = S("chat"),
        .id = S("1"),
        .verdict = S("allowed"),
        .by = S("chat"),
        .body = body,
        .body_bytes = body.len,
    };

    memset(record.hash, (int)seq, sizeof(record.hash));
    memset(record.body_hash, 7, sizeof(record.body_hash));
    return record;
}

static void append(struct engine *engine, const struct audit_record *records,
                   size_t count)
{
    CHECK_INT(postgres_engine.begin(engine), OK);
    CHECK_INT(postgres_engine.append(engine, records, count), OK);
    CHECK_INT(postgres_engine.commit(engine), OK);
    CHECK_STR(str_of(engine->problem), S(""));
}

struct seen {
    size_t count;
    uint64_t first, last;
    struct audit_record record; /* the last one; its texts stand in `text` */
    char text[16][64];
    size_t stop_after;
};

static struct str keep(struct seen *seen, size_t at, struct str s)
{
    if (s.ptr && s.len <= sizeof(seen->text[at])) {
        memcpy(seen->text[at], s.ptr, s.len);
        s.ptr = seen->text[at];
    }
    return s;
}

static bool see(void *user, const struct audit_record *record)
{
    struct seen *seen = user;

    if (seen->count++ == 0)
        seen->first = record->seq;
    seen->last = record->seq;
    seen->record = *record;
    seen->record.topic = keep(seen, 0, record->topic);
    seen->record.participant = keep(seen, 1, record->participant);
    seen->record.id = keep(seen, 2, record->id);
    seen->record.body = keep(seen, 3, record->body);
    return seen->count != seen->stop_after;
}

/* Returns how many there were. */
static size_t read_all(struct engine *engine, struct audit_query query, struct seen *seen)
{
    *seen = (struct seen){};
    CHECK_INT(postgres_engine.read(engine, &query, see, seen), OK);
    return seen->count;
}

/* A question whose answer is one truth. */
static bool is_true(struct engine *engine, const char *sql)
{
    struct postgres *pg = postgres_of(engine);
    PGresult *r = NULL;
    bool answer;

    if (postgres_ask(pg, sql, NULL, &r) || pg->pq.PQntuples(r) != 1) {
        printf("# %s: %s\n", sql, engine->problem);
        postgres_clear(pg, r);
        return false;
    }
    answer = postgres_bool(pg, r, 0, 0);
    postgres_clear(pg, r);
    return answer;
}

/* --- opening --- */

TEST(only_addresses_of_postgresql_are_taken_and_none_is_told)
{
    static const char *const cases[] = {
        "",
        "mysql://ann:sesame@127.0.0.1/x",
        "host=127.0.0.1 password=sesame",
        "/tmp/sesame",
        "postgresql:/ann:sesame@127.0.0.1/x",
        "postgresql://ann:sesame%zz@127.0.0.1/x",
        "postgresql://ann:sesame@127.0.0.1:port/x",
        "postgresql://ann:sesame@127.0.0.1/x?sesame=1",
        "postgresql://ann:sesame@127.0.0.1:1/x",
        "postgres://127.0.0.1:1/x?password=sesame",
        "postgres://127.0.0.1:1/sesame?password=sesame",
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(xfreep) char *why = NULL;
        struct engine *engine = NULL;

        CHECK_INT(open_as(*c, ENGINE_WRITER, &engine, &why), ERR_IO);
        CHECK(!engine);
        CHECK(why && strstr(why, "PostgreSQL: ") == why && strlen(why) > 20);
        CHECK(why && !strstr(why, "sesame"));
    }
}

TEST(a_password_that_is_wrong_is_not_told_and_one_that_is_right_opens)
{
    char url[POSTGRES_SERVER_URL], with[POSTGRES_SERVER_URL + 40];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    fresh_database(url);
    run_there("CREATE ROLE locked LOGIN PASSWORD 'sesame' SUPERUSER");
    postgres_server_run(&server, "postgres",
                        "COPY (SELECT 'local all locked scram-sha-256' UNION ALL "
                        "SELECT 'local all all trust') TO PROGRAM "
                        "'cat > pg_hba.conf'");
    run_there("SELECT pg_reload_conf()");
    (void)snprintf(with, sizeof(with), "postgresql://locked:opensesame@/test%d?host=%s",
                   databases, server.folder);
    CHECK_INT(open_as(with, ENGINE_WRITER, &engine, &why), ERR_IO);
    CHECK(why && strstr(why, "password authentication failed"));
    CHECK(why && !strstr(why, "sesame"));
    (void)snprintf(with, sizeof(with), "postgresql://locked:sesame@/test%d?host=%s",
                   databases, server.folder);
    close_it(opened(with, ENGINE_WRITER));
}

TEST(a_password_is_hidden_wherever_the_server_repeats_it)
{
    char url[POSTGRES_SERVER_URL], with[POSTGRES_SERVER_URL];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    fresh_database(url);
    (void)snprintf(with, sizeof(with), "postgresql://moot:sesame@/sesame?host=%s",
                   server.folder);
    CHECK_INT(open_as(with, ENGINE_WRITER, &engine, &why), ERR_IO);
    CHECK(why && strstr(why, "database \"******\" does not exist"));
}

TEST(a_second_writer_is_kept_out_and_readers_are_not)
{
    char url[POSTGRES_SERVER_URL], other[POSTGRES_SERVER_URL];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *first, *second = NULL;

    fresh_database(other);
    fresh_database(url);
    first = opened(url, ENGINE_WRITER);
    CHECK_INT(open_as(url, ENGINE_WRITER, &second, &why), ERR_CONFLICT);
    CHECK(why && strstr(why, "another gateway uses this database (connected from this "
                             "machine, server process "));
    close_it(opened(url, ENGINE_READER));
    close_it(opened(other, ENGINE_WRITER));
    close_it(first);
    close_it(opened(url, ENGINE_WRITER));
}

TEST(a_reader_cannot_write)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *reader;

    fresh_database(url);
    close_it(opened(url, ENGINE_WRITER));
    reader = opened(url, ENGINE_READER);
    CHECK_INT(postgres_run(postgres_of(reader), "DELETE FROM moot.token"), ERR_IO);
    CHECK(strstr(reader->problem, "read-only"));
    close_it(reader);
}

TEST(a_reader_needs_a_store_that_is_there)
{
    char url[POSTGRES_SERVER_URL];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    fresh_database(url);
    CHECK_INT(open_as(url, ENGINE_READER, &engine, &why), ERR_IO);
    CHECK_STR(str_of(why), S("PostgreSQL: it holds no store yet"));
}

TEST(an_empty_schema_of_the_administrator_is_taken)
{
    char url[POSTGRES_SERVER_URL];

    fresh_database(url);
    run_there("CREATE SCHEMA moot");
    close_it(opened(url, ENGINE_WRITER));
}

TEST(an_older_store_is_migrated_and_keeps_what_it_has)
{
    char url[POSTGRES_SERVER_URL];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    fresh_database(url);
    close_it(opened(url, ENGINE_WRITER));
    run_there("INSERT INTO moot.item VALUES ('rule', 'a', 'b', '1');"
              "DROP TABLE moot.resource; UPDATE moot.format SET version = 1");
    CHECK_INT(open_as(url, ENGINE_READER, &engine, &why), ERR_IO);
    CHECK(why && strstr(why, "older version"));
    close_it(opened(url, ENGINE_WRITER));
    run_there("DO $$ BEGIN"
              " ASSERT (SELECT version FROM moot.format) = 2;"
              " ASSERT (SELECT count(*) FROM moot.item) = 1;"
              " ASSERT (SELECT count(*) FROM moot.resource) = 0; END $$");
    close_it(opened(url, ENGINE_READER));
}

TEST(a_newer_store_and_one_of_another_program_are_left_alone)
{
    static const struct {
        const char *sql;
        const char *why;
    } cases[] = {
        { "UPDATE moot.format SET version = 99", "newer version" },
        { "UPDATE moot.format SET program = 'other'", "belongs to another program" },
        { "DROP TABLE moot.format", "belongs to another program" },
        { "DELETE FROM moot.format", "belongs to another program" },
    };

    FOR_EACH_CASE(c, cases) {
        for (int role = ENGINE_WRITER; role <= ENGINE_READER; role++) {
            char url[POSTGRES_SERVER_URL];
            CLEANUP(xfreep) char *why = NULL;
            struct engine *engine = NULL;

            fresh_database(url);
            close_it(opened(url, ENGINE_WRITER));
            run_there(c->sql);
            CHECK_INT(open_as(url, (enum engine_role)role, &engine, &why), ERR_CONFLICT);
            CHECK(why && strstr(why, c->why));
        }
    }
}

TEST(a_database_that_cannot_hold_every_text_is_refused)
{
    char url[POSTGRES_SERVER_URL];
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine = NULL;

    fresh_database(url);
    postgres_server_run(&server, "postgres",
                        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE "
                        "template0");
    CHECK_INT(
        open_as(postgres_server_url(&server, "latin", url), ENGINE_WRITER, &engine, &why),
        ERR_CONFLICT);
    CHECK(why && strstr(why, "UTF8, it has LATIN1"));
}

/* --- what is kept --- */

TEST(a_commit_that_followed_a_failure_is_none)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct audit_record twice[2] = { made(1, S("room"), S("{}")),
                                     made(1, S("room"), S("{}")) };
    struct seen seen;

    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    CHECK_INT(postgres_engine.begin(engine), OK);
    CHECK_INT(postgres_engine.append(engine, twice, 2), ERR_IO);
    CHECK(strstr(engine->problem, "23505"));
    CHECK_INT(postgres_engine.commit(engine), ERR_IO);
    CHECK_INT(read_all(engine, (struct audit_query){}, &seen), 0);
    engine->problem[0] = '\0';
    append(engine, twice, 1);
    CHECK_INT(read_all(engine, (struct audit_query){}, &seen), 1);
    close_it(engine);
}

TEST(texts_with_any_bytes_come_back_as_they_were)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct audit_record record = made(1, S("a\0b"), S("\"\377 \0 word \xc3\xa9\""));
    struct seen seen;

    record.participant = S("\xff\xfe");
    record.id = S("");
    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, &record, 1);
    CHECK_INT(read_all(engine, (struct audit_query){}, &seen), 1);
    CHECK_STR(seen.record.topic, record.topic);
    CHECK_STR(seen.record.participant, record.participant);
    CHECK_STR(seen.record.id, S(""));
    CHECK_STR(seen.record.body, record.body);
    close_it(engine);
}

TEST(texts_may_be_longer_than_an_index_can_hold)
{
    static char text[100000];
    struct str name = { text, sizeof(text) };
    struct audit_record record = made(1, name, S("{}"));
    struct store_item item = { STORE_GRANT, name, name, S("1") };
    struct store_token token = { .name = name };
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    bool found = false;

    for (size_t i = 0; i < sizeof(text); i++) /* what does not become short */
        text[i] = (char)(i * i * 31 >> 3 ^ i >> 7);
    record.participant = record.kind = record.id = record.correlation = name;
    record.verdict = record.by = name;
    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, &record, 1);
    CHECK_INT(postgres_engine.begin(engine), OK);
    CHECK_INT(postgres_engine.item_put(engine, &item), OK);
    CHECK_INT(postgres_engine.token_add(engine, &token), OK);
    CHECK_INT(postgres_engine.token_add(engine, &token), ERR_CONFLICT);
    CHECK_INT(postgres_engine.commit(engine), OK);
    CHECK(is_true(engine, "SELECT count(*) = 1 FROM moot.item"));
    CHECK_INT(postgres_engine.begin(engine), OK);
    CHECK_INT(postgres_engine.item_remove(engine, &item), OK);
    CHECK_INT(postgres_engine.token_remove(engine, name, &found), OK);
    CHECK(found);
    CHECK_INT(postgres_engine.commit(engine), OK);
    CHECK(is_true(engine, "SELECT count(*) = 0 FROM moot.item"));
    close_it(engine);
}

static void note_token(void *user, const struct store_token *token)
{
    buf_putf(user, STR_FMT "/" STR_FMT "/%d/%llu/%llu ", STR_ARG(token->name),
             STR_ARG(token->topics), token->is_admin,
             (unsigned long long)token->created_ms,
             (unsigned long long)token->expires_ms);
}

TEST(tokens_are_kept_in_the_order_of_their_creation)
{
    const struct store_token tokens[] = {
        { .name = S("b"), .topics = S("[1]"), .created_ms = 7, .hash = { 1 } },
        { .name = S("c"), .created_ms = 5, .is_admin = true, .hash = { 2 } },
        { .name = S("a"), .created_ms = 7, .expires_ms = INT64_MAX, .hash = { 3 } },
    };
    const struct store_token same_hash = { .name = S("d"), .hash = { 2 } };
    const struct store_token too_late = { .name = S("e"), .created_ms = UINT64_MAX };
    const struct store_token unnamed = { .hash = { 4 } };
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    bool found = true;
    struct buf out;

    buf_init(&out, 4096);
    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    CHECK_INT(postgres_engine.begin(engine), OK);
    for (size_t i = 0; i < COUNT(tokens); i++)
        CHECK_INT(postgres_engine.token_add(engine, &tokens[i]), OK);
    CHECK_INT(postgres_engine.token_add(engine, &tokens[0]), ERR_CONFLICT);
    CHECK_INT(postgres_engine.token_add(engine, &same_hash), ERR_CONFLICT);
    CHECK_INT(postgres_engine.token_add(engine, &too_late), ERR_INVALID);
    CHECK_INT(postgres_engine.token_add(engine, &unnamed), ERR_INVALID);
    CHECK_INT(postgres_engine.token_remove(engine, S("nobody"), &found), OK);
    CHECK(!found);
    CHECK_INT(postgres_engine.commit(engine), OK);
    CHECK_INT(postgres_engine.token_each(engine, note_token, &out), OK);
    CHECK_STR(buf_str(&out), S("c//1/5/0 a//0/7/9223372036854775807 b/[1]/0/7/0 "));
    buf_done(&out);
    close_it(engine);
}

TEST(a_lexeme_is_always_text)
{
    static const struct {
        struct str word, lexeme;
    } cases[] = {
        { S("word"), S("word") },  { S("\xc3\xa9t\xc3\xa9"), S("\xc3\xa9t\xc3\xa9") },
        { S("a\xff"), S("a_ff") }, { S("\xc3"), S("_c3") },
        { S("a\0b"), S("a_00b") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 64);
        postgres_lexeme(&out, c->word);
        CHECK_STR(buf_str(&out), c->lexeme);
        buf_done(&out);
    }
}

TEST(a_record_is_found_by_its_words_and_marks)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct audit_record record = made(1, S("room"), S("{\"text\":\"Hello hello Welt\"}"));

    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, &record, 1);
    CHECK(is_true(engine,
                  "SELECT words @@ $$'hello' & 'welt'$$::tsquery FROM moot.record"));
    CHECK(is_true(engine, "SELECT words @@ $$'wel':*$$::tsquery FROM moot.record"));
    CHECK(is_true(engine, "SELECT NOT words @@ $$'hell'$$::tsquery FROM moot.record"));
    CHECK(is_true(engine, "SELECT count(*) > 4 FROM moot.record, unnest(words)"
                          " WHERE lexeme LIKE ':%'"));
    CHECK(is_true(engine, "SELECT count(*) = count(DISTINCT lexeme) FROM moot.record,"
                          " unnest(words)"));
    CHECK(is_true(engine, "SELECT words = words::text::tsvector FROM moot.record"));
    close_it(engine);
}

TEST(a_body_with_more_words_than_fit_says_so)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct audit_record record;
    struct seen seen;
    struct buf body;

    buf_init(&body, 8 << 20);
    buf_putc(&body, '[');
    for (unsigned i = 0; i < 60000; i++)
        buf_putf(&body, "%s\"w%054u\"", i ? "," : "", i);
    buf_putc(&body, ']');
    record = made(1, S("room"), buf_str(&body));
    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, &record, 1);
    CHECK(is_true(engine,
                  "SELECT words @@ $$':*'$$::tsquery AND body_bytes = length(body)"
                  " FROM moot.record"));
    CHECK_INT(read_all(engine, (struct audit_query){}, &seen), 1);
    CHECK_INT(seen.record.body.len, body.len);
    buf_done(&body);
    close_it(engine);
}

TEST(many_records_and_items_go_in_one_transaction)
{
    enum { MANY = 3000 };
    struct audit_record *records = xcalloc(MANY, sizeof(*records));
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct seen seen;

    for (size_t i = 0; i < MANY; i++)
        records[i] = made(i + 1, S("room"), S("{\"text\":\"some words that are said\"}"));
    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    CHECK_INT(postgres_engine.begin(engine), OK);
    for (size_t i = 0; i < MANY; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "%zu", i % 1000);
        CHECK_INT(postgres_engine.item_put(engine,
                                           &(struct store_item){ STORE_GRANT, S("room"),
                                                                 str_of(key), S("{}") }),
                  OK);
    }
    CHECK_INT(postgres_engine.append(engine, records, MANY), OK);
    CHECK_INT(postgres_engine.commit(engine), OK);
    CHECK(is_true(engine, "SELECT count(*) = 1000 FROM moot.item"));
    CHECK_INT(
        read_all(engine, (struct audit_query){ .order = AUDIT_OLDEST_FIRST }, &seen),
        MANY);
    CHECK_INT(seen.first, 1);
    CHECK_INT(seen.last, MANY);
    CHECK_INT(read_all(engine, (struct audit_query){ .limit = 300 }, &seen), 300);
    CHECK_INT(seen.first, MANY);
    CHECK_INT(seen.last, MANY - 299);
    free(records);
    close_it(engine);
}

/* --- retention --- */

TEST(what_is_stripped_can_neither_be_read_nor_found)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct engine_stripped gone;
    struct str kept = S("kept");
    const struct audit_record records[] = {
        made(1, S("room"), S("\"alpha\"")), made(2, S("kept"), S("\"alpha\"")),
        made(3, S("room"), S("\"beta\"")),  made(4, S("else"), S("\"gamma\"")),
        made(5, S("room"), (struct str){}),
    };

    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, records, COUNT(records));
    CHECK_INT(
        postgres_engine.strip(
            engine,
            &(struct engine_strip){ .topic = S("room"), .before_ms = 3000, .limit = 10 },
            &gone),
        OK);
    CHECK_INT(gone.count, 1);
    CHECK_INT(gone.bytes, 7);
    CHECK_INT(gone.first_seq, 1);
    CHECK_INT(gone.last_seq, 1);
    CHECK(is_true(engine, "SELECT body IS NULL AND body_bytes = 7 AND"
                          " NOT words @@ 'alpha'::tsquery AND length(words) > 4"
                          " FROM moot.record WHERE seq = 1"));
    CHECK(is_true(engine, "SELECT count(*) = 3 FROM moot.record WHERE body IS NOT NULL"));
    CHECK_INT(postgres_engine.strip(
                  engine,
                  &(struct engine_strip){
                      .others = &kept, .other_count = 1, .max_bytes = 8, .limit = 10 },
                  &gone),
              OK);
    CHECK_INT(gone.count, 1);
    CHECK_INT(gone.first_seq, 3);
    CHECK_INT(postgres_engine.strip(
                  engine, &(struct engine_strip){ .max_bytes = 1, .limit = 1 }, &gone),
              OK);
    CHECK_INT(gone.count, 1);
    CHECK_INT(gone.last_seq, 2);
    close_it(engine);
}

/* --- losing the connection --- */

TEST(an_engine_whose_server_has_gone_fails_until_it_is_opened_again)
{
    char url[POSTGRES_SERVER_URL];
    struct audit_record record = made(1, S("room"), S("{}"));
    CLEANUP(xfreep) char *why = NULL;
    struct engine *engine, *none = NULL;
    struct audit_head head;
    uint64_t checkpoint;

    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    append(engine, &record, 1);
    CHECK_INT(postgres_engine.begin(engine), OK);
    postgres_server_kill(&server);
    record.seq = 2;
    CHECK_INT(postgres_engine.append(engine, &record, 1), ERR_IO);
    CHECK_INT(postgres_engine.commit(engine), ERR_IO);
    CHECK_INT(postgres_engine.head(engine, &head, &checkpoint), ERR_IO);
    CHECK(engine->problem[0] != '\0');
    postgres_engine.rollback(engine);
    CHECK_INT(open_as(url, ENGINE_WRITER, &none, &why), ERR_IO);
    postgres_server_start(&server);
    CHECK_INT(postgres_engine.begin(engine), ERR_IO);
    close_it(engine);
    engine = opened(url, ENGINE_WRITER);
    CHECK_INT(postgres_engine.head(engine, &head, &checkpoint), OK);
    CHECK_INT(head.seq, 1);
    close_it(engine);
}

TEST(a_server_that_says_nothing_is_given_up)
{
    char url[POSTGRES_SERVER_URL];
    struct engine *engine;
    struct audit_head head;
    uint64_t checkpoint;

    fresh_database(url);
    engine = opened(url, ENGINE_WRITER);
    postgres_of(engine)->wait_ms = 50;
    postgres_server_freeze(&server);
    CHECK_INT(postgres_engine.head(engine, &head, &checkpoint), ERR_IO);
    CHECK_STR(str_of(engine->problem), S("the server does not answer"));
    postgres_server_thaw(&server);
    CHECK_INT(postgres_engine.head(engine, &head, &checkpoint), ERR_IO);
    close_it(engine);
    close_it(opened(url, ENGINE_WRITER));
}

TEST(a_statement_of_someone_who_has_gone_is_cancelled)
{
    const atomic_bool is_cancelled = true;
    char url[POSTGRES_SERVER_URL];
    struct engine *engine, *writer;

    fresh_database(url);
    writer = opened(url, ENGINE_WRITER);
    engine = opened(url, ENGINE_READER);
    engine->is_cancelled = &is_cancelled;
    CHECK_INT(postgres_run(postgres_of(engine), "SELECT pg_sleep(3600)"), ERR_IO);
    CHECK(strstr(engine->problem, "user request") != NULL);
    engine->is_cancelled = NULL;
    CHECK_INT(postgres_run(postgres_of(engine), "SELECT 1"), OK);
    close_it(engine);
    close_it(writer);
}
