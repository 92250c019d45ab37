/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record by itself, without rooms: how fast it is written, found and verified, and
 * what the disk could do at best. Each answers with one line of JSON.
 *
 *     record fill   DATA URL RECORDS SECONDS    writes until one of them is reached
 *     record search DATA URL QUESTIONS          asks in turn, newest first, 100 at most
 *     record verify DATA URL
 *     record disk   DATA BYTES SECONDS          appends so much and fdatasync()s, again
 *                                               and again
 *
 * URL is "" for SQLite.
 */
#include "store/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify.h"
#include "base/clock.h"
#include "base/xalloc.h"

enum {
    BATCH = 64,  /* records: what a busy turn of a worker has to say */
    WINDOW = 64, /* batches under way */
    TOPICS = 100,
    PEOPLE = 1000,
    WORDS = 5000,
    PAGE = 100,
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "record: %s: %s\n", what, why ? why : "failed");
    exit(1);
}

/* --- records, by their number --- */

struct text {
    char topic[16], person[16], id[24], correlation[24], body[400];
};

/* Few words are frequent and many are rare, as in what people say. */
static unsigned word_of(uint64_t seed)
{
    uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15;
    unsigned wide = (unsigned)(mixed >> 33) % WORDS;

    return (unsigned)(mixed >> 20) % 4 ? wide % (1 + wide / 8) : wide;
}

/* An envelope of about 300 bytes. Every tenth is a request, and the next its response. */
static struct audit_record record_of(uint64_t n, struct text *t)
{
    bool is_request = n % 10 == 0, is_response = n % 10 == 1;
    struct audit_record record = { .event = AUDIT_ENVELOPE, .verdict = S("allowed") };

    (void)snprintf(t->topic, sizeof(t->topic), "topic-%u", (unsigned)(n / 10 % TOPICS));
    (void)snprintf(t->person, sizeof(t->person), "person-%u", (unsigned)(n % PEOPLE));
    (void)snprintf(t->id, sizeof(t->id), "e-%llu", (unsigned long long)n);
    (void)snprintf(t->correlation, sizeof(t->correlation), "e-%llu",
                   (unsigned long long)n - 1);
    record.kind = is_request    ? S("mcp/request:tools/call")
                  : is_response ? S("mcp/response:tools/call")
                                : S("chat");
    (void)snprintf(t->body, sizeof(t->body),
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\","
                   "\"kind\":\"" STR_FMT "\",\"ts\":\"2026-11-15T18:00:00.000Z\","
                   "\"payload\":{\"text\":\"w%u w%u w%u w%u w%u w%u w%u w%u w%u w%u w%u "
                   "w%u and some more that everybody says\",\"format\":\"plain\"}}",
                   t->id, t->person, STR_ARG(record.kind), word_of(n * 12),
                   word_of(n * 12 + 1), word_of(n * 12 + 2), word_of(n * 12 + 3),
                   word_of(n * 12 + 4), word_of(n * 12 + 5), word_of(n * 12 + 6),
                   word_of(n * 12 + 7), word_of(n * 12 + 8), word_of(n * 12 + 9),
                   word_of(n * 12 + 10), word_of(n * 12 + 11));
    record.topic = str_of(t->topic);
    record.participant = str_of(t->person);
    record.id = str_of(t->id);
    record.correlation = is_response ? str_of(t->correlation) : S("");
    record.by = record.kind;
    record.body = str_of(t->body);
    return record;
}

/* --- writing --- */

struct fill {
    struct loop *loop;
    struct store *store;
    uint64_t next, wanted, done;
    uint64_t until_ns;
    size_t under_way;
    struct store_batch batches[WINDOW];
};

static struct fill *filling; /* the program has one */

static void send_batch(struct store_batch *batch);

static void on_durable(struct store_batch *batch)
{
    if (batch->err)
        fail("writing", "the store has failed");
    filling->done += batch->records.count;
    filling->under_way--;
    if (filling->next < filling->wanted && clock_mono_ns() < filling->until_ns)
        send_batch(batch);
    else if (!filling->under_way)
        loop_stop(filling->loop);
}

static void send_batch(struct store_batch *batch)
{
    struct text text;

    store_batch_done(batch);
    store_batch_init(batch, filling->loop);
    batch->done = on_durable;
    for (int i = 0; i < BATCH && filling->next < filling->wanted; i++) {
        struct audit_record record = record_of(filling->next++, &text);

        audit_batch_add(&batch->records, &record);
    }
    filling->under_way++;
    store_commit(filling->store, batch);
}

/* Until search knows all of it; bounded, because it may never do. */
static double wait_indexed(struct store *store, double max_seconds)
{
    uint64_t began_ns = clock_mono_ns();
    struct store_health health;

    do {
        (void)usleep(20'000);
        store_health(store, &health);
    } while (health.indexed_seq < health.head.seq &&
             (double)(clock_mono_ns() - began_ns) / 1e9 < max_seconds);
    return (double)(clock_mono_ns() - began_ns) / 1e9;
}

static void fill(const struct store_setup *setup, uint64_t records, uint64_t seconds)
{
    struct fill *f = xcalloc(1, sizeof(*f));
    uint64_t began_ns = clock_mono_ns();
    struct store_health health;
    double took, indexing;
    char *why = NULL;

    if (store_open(setup, &f->store, &why))
        fail("open", why);
    store_health(f->store, &health);
    *f = (struct fill){ .loop = loop_new(),
                        .store = f->store,
                        .next = health.head.seq,
                        .wanted = health.head.seq + records,
                        .until_ns = began_ns + seconds * 1'000'000'000 };
    filling = f;
    for (size_t i = 0; i < WINDOW; i++)
        send_batch(&f->batches[i]);
    loop_run(f->loop);
    took = (double)(clock_mono_ns() - began_ns) / 1e9;
    indexing = setup->url.len ? 0 : wait_indexed(f->store, 60 + 4 * took);
    store_health(f->store, &health);
    printf("{\"records\":%llu,\"seconds\":%.3f,\"records_per_s\":%.0f,\"commits\":%llu,"
           "\"index_seconds\":%.3f,\"indexed\":%s}\n",
           (unsigned long long)f->done, took, (double)f->done / took,
           (unsigned long long)health.commits, indexing,
           health.indexed_seq >= health.head.seq ? "true" : "false");
    store_close(f->store);
    loop_turn(f->loop, 0);
    for (size_t i = 0; i < WINDOW; i++)
        store_batch_done(&f->batches[i]);
    loop_free(f->loop);
    free(f);
}

/* --- finding --- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool count_record(void *user, const struct audit_record *record [[maybe_unused]])
{
    (*(size_t *)user)++;
    return true;
}

struct asked {
    const char *name;
    void (*make)(uint64_t n, uint64_t total, struct text *t, struct audit_query *ret);
};

static void ask_frequent(uint64_t n, uint64_t, struct text *t, struct audit_query *ret)
{
    (void)snprintf(t->body, sizeof(t->body), "everybody w%u", (unsigned)(n % 5));
    ret->text = str_of(t->body);
}

static void ask_rare(uint64_t n, uint64_t, struct text *t, struct audit_query *ret)
{
    (void)snprintf(t->body, sizeof(t->body), "w%u", 4000 + (unsigned)(n * 7 % 900));
    ret->text = str_of(t->body);
}

static void ask_absent(uint64_t n, uint64_t, struct text *t, struct audit_query *ret)
{
    (void)snprintf(t->body, sizeof(t->body), "absent%u", (unsigned)n);
    ret->text = str_of(t->body);
}

static void ask_participant(uint64_t n, uint64_t, struct text *t, struct audit_query *ret)
{
    (void)snprintf(t->person, sizeof(t->person), "person-%u",
                   (unsigned)(n * 37 % PEOPLE));
    (void)snprintf(t->topic, sizeof(t->topic), "topic-%u", (unsigned)(n * 11 % TOPICS));
    ret->participant = str_of(t->person);
    ret->topic = str_of(t->topic);
}

static void ask_thread(uint64_t n, uint64_t total, struct text *t,
                       struct audit_query *ret)
{
    (void)snprintf(t->id, sizeof(t->id), "e-%llu",
                   (unsigned long long)(n * 7919 * 10 % total));
    ret->thread = str_of(t->id);
}

static const struct asked questions[] = {
    { "frequent words", ask_frequent }, { "rare word", ask_rare },
    { "absent word", ask_absent },      { "participant and topic", ask_participant },
    { "thread", ask_thread },
};

static void ask(struct store_reader *reader, const struct asked *asked, size_t count,
                uint64_t total)
{
    double *took = xcalloc(count, sizeof(*took));
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        struct audit_query query = { .order = AUDIT_NEWEST_FIRST, .limit = PAGE };
        uint64_t began_ns = clock_mono_ns();
        struct text text;

        asked->make(i, total, &text, &query);
        if (store_reader_records(reader, &query, count_record, &found))
            fail("search", store_reader_problem(reader));
        took[i] = (double)(clock_mono_ns() - began_ns) / 1e6;
    }
    qsort(took, count, sizeof(*took), compare);
    printf("{\"question\":\"%s\",\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,"
           "\"found\":%.1f}",
           asked->name, took[count / 2], took[count * 99 / 100], took[count - 1],
           (double)found / (double)count);
    free(took);
}

static struct store_reader *open_reader(const struct store_setup *setup,
                                        struct audit_head *ret_head)
{
    struct store_reader *reader;
    char *why = NULL;

    if (store_reader_open(setup, NULL, &reader, &why))
        fail("open", why);
    if (store_reader_head(reader, ret_head))
        fail("head", store_reader_problem(reader));
    return reader;
}

static void search(const struct store_setup *setup, size_t count)
{
    struct audit_head head;
    struct store_reader *reader = open_reader(setup, &head);

    printf("{\"records\":%llu,\"questions\":[", (unsigned long long)head.seq);
    for (size_t i = 0; i < COUNT(questions); i++) {
        printf("%s", i ? "," : "");
        ask(reader, &questions[i], count, head.seq);
    }
    printf("]}\n");
    store_reader_close(reader);
}

/* --- verifying --- */

struct check {
    struct audit_verifier *verifier;
    struct audit_checkpoint *signs;
    size_t sign_count, sign_at, sign_size;
};

static bool keep_sign(void *user, const struct audit_checkpoint *checkpoint)
{
    struct check *check = user;

    if (check->sign_count == check->sign_size) {
        check->sign_size = check->sign_size ? 2 * check->sign_size : 1024;
        check->signs = xrealloc(check->signs, check->sign_size * sizeof(*check->signs));
    }
    check->signs[check->sign_count++] = *checkpoint;
    return true;
}

static bool check_record(void *user, const struct audit_record *record)
{
    struct check *check = user;

    if (!audit_verify_record(check->verifier, record))
        return false;
    if (check->sign_at < check->sign_count &&
        check->signs[check->sign_at].head.seq == record->seq)
        return audit_verify_checkpoint(check->verifier, &check->signs[check->sign_at++]);
    return true;
}

static void verify(const struct store_setup *setup)
{
    struct audit_head head;
    struct store_reader *reader = open_reader(setup, &head);
    char installation[AUDIT_INSTALLATION];
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    struct audit_origin origin;
    struct audit_report report;
    struct check check = {};
    uint64_t began_ns = clock_mono_ns();
    double took;

    if (store_reader_origin(reader, &origin, installation))
        fail("origin", store_reader_problem(reader));
    check.verifier = audit_verifier_new(origin.installation, origin.public_key, &head);
    if (store_reader_checkpoints(reader, 0, keep_sign, &check) ||
        store_reader_records(reader, &query, check_record, &check))
        fail("verify", store_reader_problem(reader));
    audit_verify_end(check.verifier, &report);
    took = (double)(clock_mono_ns() - began_ns) / 1e9;
    if (report.is_damaged)
        fail("verify", report.what);
    printf("{\"records\":%llu,\"checkpoints\":%llu,\"body_bytes\":%llu,\"seconds\":%.3f,"
           "\"records_per_s\":%.0f}\n",
           (unsigned long long)report.records, (unsigned long long)report.checkpoints,
           (unsigned long long)report.bytes, took, (double)report.records / took);
    audit_verifier_free(check.verifier);
    free(check.signs);
    store_reader_close(reader);
}

/* --- what the disk allows --- */

static void disk(const char *data, size_t bytes, uint64_t seconds)
{
    char path[4096];
    char *block = xcalloc(1, bytes);
    uint64_t began_ns = clock_mono_ns(), until_ns = began_ns + seconds * 1'000'000'000;
    uint64_t writes = 0;
    double took;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/bare", data);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        fail("open", path);
    memset(block, 'x', bytes);
    for (; clock_mono_ns() < until_ns; writes++)
        if (write(fd, block, bytes) != (ssize_t)bytes || fdatasync(fd))
            fail("write", path);
    took = (double)(clock_mono_ns() - began_ns) / 1e9;
    printf("{\"writes\":%llu,\"writes_per_s\":%.0f,\"mib_per_s\":%.1f}\n",
           (unsigned long long)writes, (double)writes / took,
           (double)writes * (double)bytes / took / (1 << 20));
    (void)close(fd);
    (void)unlink(path);
    free(block);
}

static uint64_t number(const char *text)
{
    uint64_t value = 0;

    if (str_to_u64(str_of(text), 1'000'000'000, &value) || !value)
        fail("not a number", text);
    return value;
}

int main(int count, char **words)
{
    struct store_setup setup = {};

    if (count > 3)
        setup = (struct store_setup){ .data = words[2], .url = str_of(words[3]) };
    if (count == 6 && strcmp(words[1], "fill") == 0)
        fill(&setup, number(words[4]), number(words[5]));
    else if (count == 5 && strcmp(words[1], "search") == 0)
        search(&setup, (size_t)number(words[4]));
    else if (count == 4 && strcmp(words[1], "verify") == 0)
        verify(&setup);
    else if (count == 5 && strcmp(words[1], "disk") == 0)
        disk(words[2], (size_t)number(words[3]), number(words[4]));
    else
        fail("usage", "record fill|search|verify|disk DATA …");
    return 0;
}
