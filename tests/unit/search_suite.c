/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every engine finds, as tests. A program for one engine defines, before it includes
 * this, besides what store_suite.h wants:
 *
 *     static void suite_index(const struct stage *stage);    brings an index up to date
 *
 * Records are written through the engine, without a store and its threads. What a
 * question finds is compared with what audit_query_fits() says of each record.
 */
#include "audit/batch.h"
#include "audit/chain.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "store/conversation.h"
#include "store/engine.h"
#include "store_stage.h"

enum { RECORDS = 400, FIRST_MS = 1700000000 };

/* --- writing --- */

static inline struct engine *open_engine(const struct stage *stage, enum engine_role role)
{
    const struct engine_ops *ops = engine_for(&stage->setup);
    struct engine *engine = NULL;
    char *why = NULL;

    CHECK_INT(ops->open(&stage->setup, role, NULL, &engine, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    return engine;
}

static inline void chain_and_append(struct engine *engine, struct audit_record *records,
                                    size_t count)
{
    static const char installation[] = "0123456789abcdef0123456789abcdef";
    struct audit_origin origin = { .installation = str_of(installation) };
    struct audit_head head;
    uint64_t unused;

    CHECK_INT(engine->ops->head(engine, &head, &unused), OK);
    if (head.seq == 0) {
        audit_chain_begin(origin.installation, &head);
        CHECK_INT(engine->ops->origin_set(engine, &origin), OK);
    }
    for (size_t i = 0; i < count; i++) {
        audit_seal_body(&records[i]);
        audit_chain(&head, &records[i]);
    }
    CHECK_INT(engine->ops->append(engine, records, count), OK);
}

static inline void append(const struct stage *stage, struct audit_record *records,
                          size_t count)
{
    struct engine *engine = open_engine(stage, ENGINE_WRITER);

    CHECK_INT(engine->ops->begin(engine), OK);
    chain_and_append(engine, records, count);
    CHECK_INT(engine->ops->commit(engine), OK);
    engine->ops->close(engine);
}

/* Record number i of a small world in which everything occurs with everything. */
static inline void make_record(size_t i, struct audit_record *ret, struct buf *text)
{
    static const struct str topics[] = { S("room"), S("hall"), S(""), S("a'b\"c") };
    static const struct str people[] = { S("ann"), S("bob"), S("") };
    static const struct str kinds[] = { S("chat"), S("mcp/request:tools/call"),
                                        S("mcp/request:tools/list"), S("mcp/response"),
                                        S("") };
    static const struct str verdicts[] = { S("allowed"), S("allowed"), S("paused") };

    *ret = (struct audit_record){
        .at_ms = FIRST_MS + i / 3 * 10,
        .event = (enum audit_event)(i % 4),
        .topic = topics[i / 2 % COUNT(topics)],
        .participant = people[i / 3 % COUNT(people)],
        .kind = kinds[i / 5 % COUNT(kinds)],
        .verdict = verdicts[i / 7 % COUNT(verdicts)],
        .id = S("same"),
    };
    buf_clear(text);
    buf_putf(text,
             "{\"text\":\"Hello WORLD w%zu x%zu\",\"deep\":[%zu,{\"k\\u00e4se\":"
             "\"\\u0041bc-%s\"}]}",
             i % 10, i % 3, i, i % 50 ? "usual" : "seldom");
    if (i % 11)
        ret->body = buf_str(text);
}

static inline void fill(const struct stage *stage, size_t from, size_t to)
{
    struct engine *engine = open_engine(stage, ENGINE_WRITER);
    struct audit_record record;
    struct buf text;

    buf_init(&text, 4096);
    CHECK_INT(engine->ops->begin(engine), OK);
    for (size_t i = from; i < to; i++) {
        make_record(i, &record, &text);
        chain_and_append(engine, &record, 1);
    }
    CHECK_INT(engine->ops->commit(engine), OK);
    engine->ops->close(engine);
    buf_done(&text);
}

/* --- asking --- */

static inline bool keep_seq(void *user, const struct audit_record *record)
{
    buf_putf(user, "%llu ", (unsigned long long)record->seq);
    return true;
}

/* The seqs found, as text. Borrowed until the next call. */
static inline struct str ask(struct engine *engine, const struct audit_query *query)
{
    static struct buf out = { .max = 1 << 20 };

    buf_clear(&out);
    CHECK_INT(engine->ops->read(engine, query, keep_seq, &out), OK);
    return buf_str(&out);
}

static inline bool keep_record(void *user, const struct audit_record *record)
{
    audit_batch_add(user, record);
    return true;
}

static inline bool is_behind(const struct audit_query *query, uint64_t seq)
{
    if (query->order == AUDIT_OLDEST_FIRST)
        return seq > query->after_seq;
    return !query->after_seq || seq < query->after_seq;
}

/* The same, from all records and without an engine. */
static inline struct str expected(const struct audit_batch *all,
                                  const struct audit_query *query)
{
    static struct buf out = { .max = 1 << 20 };
    struct audit_record records[2 * RECORDS];
    size_t count = 0, given = 0, at = 0;

    while (audit_batch_next(all, &at, &records[count]))
        count++;
    buf_clear(&out);
    for (size_t i = 0; i < count && (!query->limit || given < query->limit); i++) {
        const struct audit_record *record =
            &records[query->order == AUDIT_OLDEST_FIRST ? i : count - 1 - i];

        if (!audit_query_fits(query, record) || !is_behind(query, record->seq))
            continue;
        given++;
        (void)keep_seq(&out, record);
    }
    return buf_str(&out);
}

static const struct audit_query questions[] = {
    {},
    { .event = S("refusal") },
    { .event = S("nothing") },
    { .topic = S("room") },
    { .topic = S("") },
    { .topic = S("a'b\"c") },
    { .topic = S("roo") },
    { .participant = S("bob") },
    { .participant = S("") },
    { .kind = S("chat") },
    { .kind = S("mcp/*") },
    { .kind = S("mcp/request:*") },
    { .kind = S("mcp/request:tools/c*") },
    { .kind = S("m*") },
    { .kind = S("*") },
    { .kind = S("") },
    { .kind = S("mcp/request:tools/") },
    { .verdict = S("paused") },
    { .verdict = S("allowed") },
    { .text = S("hello") },
    { .text = S("Hello world W3") },
    { .text = S("w3 x*") },
    { .text = S("seldom") },
    { .text = S("sel*") },
    { .text = S("abc usual 17") },
    { .text = S("k\xc3\xa4se") },
    { .text = S("k\xc3\xa4*") },
    { .text = S("nowhere") },
    { .text = S("\"OR\" AND NOT *") },
    { .text = S("'; DROP TABLE record; --") },
    { .text = S("room") },
    { .text = S("!") },
    { .topic = S("room"), .text = S("hello") },
    { .topic = S("hall"), .participant = S("ann"), .verdict = S("paused") },
    { .topic = S("hall"), .kind = S("mcp/*"), .text = S("w1*"), .event = S("envelope") },
};

/* Every question in both orders, with and without bounds and cursors. */
static inline void ask_everything(const struct stage *stage)
{
    static const struct {
        uint64_t since, until, after;
        size_t limit;
    } bounds[] = {
        {},
        { .limit = 1 },
        { .limit = 7, .after = 150 },
        { .since = FIRST_MS + 400, .until = FIRST_MS + 900 },
        { .since = FIRST_MS + 401, .limit = 3 },
        { .until = FIRST_MS + 1, .after = 2 },
        { .since = FIRST_MS + 1000000 },
        { .until = 1 },
        { .since = 1, .until = FIRST_MS + 1000000, .after = 64 },
        { .after = 1 },
        { .after = 1000000 },
    };
    struct engine *engine = open_engine(stage, ENGINE_READER);
    struct audit_query every = { .order = AUDIT_OLDEST_FIRST };
    struct audit_batch all;

    audit_batch_init(&all);
    CHECK_INT(engine->ops->read(engine, &every, keep_record, &all), OK);
    CHECK_INT(all.count, RECORDS);
    for (size_t i = 0; i < 2 * COUNT(questions) * COUNT(bounds); i++) {
        struct audit_query query = questions[i / 2 / COUNT(bounds)];
        size_t b = i / 2 % COUNT(bounds);
        struct str found, wanted;

        query.order = i % 2 ? AUDIT_OLDEST_FIRST : AUDIT_NEWEST_FIRST;
        query.since_ms = bounds[b].since;
        query.until_ms = bounds[b].until;
        query.after_seq = bounds[b].after;
        query.limit = bounds[b].limit;
        query.without_bodies = i % 3 == 0;
        found = ask(engine, &query);
        wanted = expected(&all, &query);
        if (!str_eq(found, wanted))
            printf("# question %zu bounds %zu order %zu\n", i / 2 / COUNT(bounds), b,
                   i % 2);
        CHECK_STR(found, wanted);
    }
    CHECK(!engine->has_damaged_index);
    audit_batch_done(&all);
    engine->ops->close(engine);
}

TEST(every_question_finds_exactly_what_fits)
{
    struct stage stage;

    suite_init(&stage);
    fill(&stage, 0, RECORDS);
    ask_everything(&stage); /* without an index, where there can be none */
    suite_index(&stage);
    ask_everything(&stage);
    suite_done(&stage);
}

TEST(what_has_not_been_indexed_is_found_as_well)
{
    struct stage stage;

    suite_init(&stage);
    fill(&stage, 0, RECORDS / 2);
    suite_index(&stage);
    fill(&stage, RECORDS / 2, RECORDS - 1);
    suite_index(&stage);
    fill(&stage, RECORDS - 1, RECORDS);
    ask_everything(&stage);
    suite_done(&stage);
}

TEST(pages_follow_each_other_while_records_arrive)
{
    struct audit_query query = { .topic = S("room"),
                                 .limit = 10,
                                 .without_bodies = true };
    struct audit_query all = { .topic = S("room") };
    struct engine *engine;
    struct buf wanted, got;
    struct stage stage;

    suite_init(&stage);
    buf_init(&wanted, 1 << 16);
    buf_init(&got, 1 << 16);
    fill(&stage, 0, RECORDS / 2);
    suite_index(&stage);
    engine = open_engine(&stage, ENGINE_READER);
    buf_put(&wanted, ask(engine, &all));
    for (;;) {
        struct str page = ask(engine, &query);
        struct str rest = page;

        if (page.len == 0)
            break;
        buf_put(&got, page);
        while (rest.len) {
            struct str seq = str_cut(&rest, ' ');

            if (seq.len)
                CHECK_INT(str_to_u64(seq, UINT64_MAX, &query.after_seq), OK);
        }
        fill(&stage, RECORDS / 2, RECORDS / 2 + 20);
    }
    CHECK_STR(buf_str(&got), buf_str(&wanted));
    engine->ops->close(engine);
    buf_done(&wanted);
    buf_done(&got);
    suite_done(&stage);
}

/* --- many --- */

enum { MANY = 9000 };

/* How often a word stands among many: in each so-manyth of them. */
static const struct frequency {
    struct str word;
    uint64_t every; /* 0: nowhere */
} frequencies[] = {
    { S("always"), 1 },   { S("often"), 2 },     { S("sometimes"), 17 },
    { S("rarely"), 613 }, { S("seldom"), 1500 }, { S("never"), 0 },
};

static inline void fill_many(const struct stage *stage)
{
    struct audit_record *records = xcalloc(MANY, sizeof(*records));
    struct arena arena;
    struct buf text;

    arena_init(&arena, 1 << 24);
    buf_init(&text, 256);
    for (uint64_t i = 0; i < MANY; i++) {
        buf_clear(&text);
        buf_put(&text, S("{\"text\":\""));
        FOR_EACH_CASE(f, frequencies)
            if (f->every && (i + 1) % f->every == 0)
                buf_putf(&text, STR_FMT " ", STR_ARG(f->word));
        buf_put(&text, S("\"}"));
        records[i] = (struct audit_record){ .at_ms = FIRST_MS + i,
                                            .event = AUDIT_ENVELOPE,
                                            .topic = S("room"),
                                            .body = arena_str(&arena, buf_str(&text)) };
    }
    append(stage, records, MANY);
    buf_done(&text);
    arena_done(&arena);
    free(records);
}

/* What the question should find. */
static inline void want(const struct frequency *f, const struct audit_query *query,
                        struct buf *out)
{
    size_t count = 0;

    buf_clear(out);
    for (uint64_t i = 1; f->every && i <= MANY && count < query->limit; i++) {
        uint64_t seq = query->order == AUDIT_OLDEST_FIRST ? i : MANY + 1 - i;

        if (seq % f->every || !is_behind(query, seq))
            continue;
        buf_putf(out, "%llu ", (unsigned long long)seq);
        count++;
    }
}

TEST(what_is_rare_or_frequent_is_found_among_many)
{
    static const size_t limits[] = { 1, 100, 1000, MANY };
    static const uint64_t cursors[] = { 0, 3, 4500, MANY - 2 };
    struct engine *engine;
    struct stage stage;
    struct buf wanted;

    suite_init(&stage);
    buf_init(&wanted, 1 << 20);
    fill_many(&stage);
    suite_index(&stage);
    engine = open_engine(&stage, ENGINE_READER);
    FOR_EACH_CASE(f, frequencies)
        for (int i = 0; i < 2 * (int)COUNT(limits) * (int)COUNT(cursors); i++) {
            struct audit_query query = {
                .text = f->word,
                .order = i % 2 ? AUDIT_OLDEST_FIRST : AUDIT_NEWEST_FIRST,
                .limit = limits[i / 2 % (int)COUNT(limits)],
                .after_seq = cursors[i / 2 / (int)COUNT(limits)],
            };

            want(f, &query, &wanted);
            CHECK_STR(ask(engine, &query), buf_str(&wanted));
        }
    engine->ops->close(engine);
    buf_done(&wanted);
    suite_done(&stage);
}

/* --- threads --- */

static inline void link_records(const struct stage *stage)
{
    static const struct {
        struct str topic, id, correlation;
    } links[] = {
        /* clang-format off */
        { S("room"), S("p"),  {} },      /* 1: a proposal, */
        { S("room"), S("x"),  S("o") },  /* 2: not of it */
        { S("room"), S("r"),  S("p") },  /* 3: a request that fulfils it, */
        { S("hall"), S("r"),  {} },      /* 4: the same id in another topic */
        { S("room"), S("a"),  S("r") },  /* 5: its answer, */
        { S("room"), {},      S("a") },  /* 6: what was said of the answer, */
        { S("hall"), S("z"),  S("r") },  /* 7 */
        { S("room"), {},      {} },      /* 8: of nothing */
        { S("room"), S("q"),  S("p") },  /* 9: and a rejection */
        { S("room"), S("o"),  {} },      /* 10 */
        /* clang-format on */
    };
    struct audit_record records[COUNT(links)];

    for (size_t i = 0; i < COUNT(links); i++)
        records[i] = (struct audit_record){ .at_ms = i + 1,
                                            .topic = links[i].topic,
                                            .id = links[i].id,
                                            .correlation = links[i].correlation,
                                            .kind = i == 4 ? S("mcp/response") : S("x"),
                                            .body = S("{\"a\":1}") };
    append(stage, records, COUNT(records));
}

static inline void ask_threads(const struct stage *stage)
{
    static const struct {
        struct audit_query query;
        struct str seqs;
    } cases[] = {
        { { .thread = S("p") }, S("1 3 5 6 9 ") },
        { { .thread = S("a") }, S("1 3 5 6 9 ") },
        { { .thread = S("q") }, S("1 3 5 6 9 ") },
        { { .thread = S("r") }, S("1 3 4 5 6 7 9 ") },
        { { .thread = S("r"), .topic = S("hall") }, S("4 7 ") },
        { { .thread = S("r"), .topic = S("room") }, S("1 3 5 6 9 ") },
        { { .thread = S("z") }, S("4 7 ") },
        { { .thread = S("o") }, S("2 10 ") },
        { { .thread = S("none") }, S("") },
        { { .thread = S("") }, S("") },
        { { .thread = S("p"), .kind = S("mcp/*") }, S("5 ") },
        { { .thread = S("p"), .text = S("a") }, S("1 3 5 6 9 ") },
        { { .thread = S("p"), .since_ms = 3, .until_ms = 6 }, S("3 5 ") },
        { { .thread = S("p"), .after_seq = 3, .limit = 2 }, S("5 6 ") },
    };
    struct engine *engine = open_engine(stage, ENGINE_READER);
    struct audit_query down = { .thread = S("p"), .after_seq = 9, .limit = 3 };

    FOR_EACH_CASE(c, cases) {
        struct audit_query query = c->query;

        query.order = AUDIT_OLDEST_FIRST;
        CHECK_STR(ask(engine, &query), c->seqs);
    }
    CHECK_STR(ask(engine, &down), S("6 5 3 "));
    engine->ops->close(engine);
}

TEST(a_thread_is_what_hangs_together_in_its_topic)
{
    struct stage stage;

    suite_init(&stage);
    link_records(&stage);
    ask_threads(&stage);
    suite_index(&stage);
    ask_threads(&stage);
    suite_done(&stage);
}

TEST(a_long_thread_is_cut)
{
    enum { LINKS = CONVERSATION_RECORDS + 50 };
    struct audit_record *records = xcalloc(LINKS, sizeof(*records));
    char(*ids)[16] = xcalloc(LINKS + 1, sizeof(*ids));
    struct audit_query query = { .thread = S("0"), .without_bodies = true };
    struct audit_batch found;
    struct engine *engine;
    struct stage stage;

    suite_init(&stage);
    for (size_t i = 0; i < LINKS; i++) {
        (void)snprintf(ids[i + 1], sizeof(ids[i]), "%zu", (i + 1) / 20);
        records[i] =
            (struct audit_record){ .topic = S("room"),
                                   .id = str_of(ids[i + 1]),
                                   .correlation = i ? records[i - 1].id : S("0") };
    }
    append(&stage, records, LINKS);
    suite_index(&stage);
    engine = open_engine(&stage, ENGINE_READER);
    audit_batch_init(&found);
    CHECK_INT(engine->ops->read(engine, &query, keep_record, &found), OK);
    CHECK_INT(found.count, CONVERSATION_RECORDS);
    audit_batch_done(&found);
    engine->ops->close(engine);
    suite_done(&stage);
    free(records);
    free(ids);
}

TEST(every_word_of_a_large_body_is_found)
{
    enum { WORDS = 60000 };
    struct audit_query last = { .text = S("w59999 w5*") };
    struct audit_query missing = { .text = S("w0 v") };
    struct audit_record record = { .at_ms = 1, .topic = S("room") };
    struct engine *engine;
    struct stage stage;
    struct buf body;

    suite_init(&stage);
    buf_init(&body, 1 << 22);
    buf_put(&body, S("[0"));
    for (int i = 0; i < WORDS; i++)
        buf_putf(&body, ",\"w%d\"", i);
    buf_putc(&body, ']');
    record.body = buf_str(&body);
    append(&stage, &record, 1);
    suite_index(&stage);
    engine = open_engine(&stage, ENGINE_READER);
    CHECK_STR(ask(engine, &last), S("1 "));
    CHECK_STR(ask(engine, &missing), S(""));
    engine->ops->close(engine);
    buf_done(&body);
    suite_done(&stage);
}

/* --- retention --- */

TEST(a_body_that_was_removed_is_found_by_its_marks_alone)
{
    struct audit_query word = { .text = S("seldom"), .order = AUDIT_OLDEST_FIRST };
    struct audit_query topic = { .topic = S("room"),
                                 .limit = 3,
                                 .order = AUDIT_OLDEST_FIRST };
    struct engine_strip strip = { .topic = S("room"),
                                  .before_ms = FIRST_MS + 150,
                                  .limit = 1000 };
    struct engine_stripped gone;
    struct engine *engine;
    struct stage stage;

    suite_init(&stage);
    fill(&stage, 0, RECORDS);
    suite_index(&stage);
    engine = open_engine(&stage, ENGINE_WRITER);
    CHECK_INT(engine->ops->begin(engine), OK);
    CHECK_INT(engine->ops->strip(engine, &strip, &gone), OK);
    CHECK_INT(engine->ops->commit(engine), OK);
    engine->ops->close(engine);
    CHECK(gone.count > 0);
    engine = open_engine(&stage, ENGINE_READER);
    CHECK_STR(ask(engine, &word), S("51 101 151 201 251 301 351 "));
    CHECK_STR(ask(engine, &topic), S("1 2 9 "));
    engine->ops->close(engine);
    suite_done(&stage);
}

/* --- ending early --- */

TEST(a_question_that_was_cancelled_ends)
{
    const atomic_bool is_cancelled = true;
    struct engine *engine;
    struct stage stage;
    struct buf out;

    suite_init(&stage);
    buf_init(&out, 1 << 16);
    fill(&stage, 0, RECORDS);
    engine = open_engine(&stage, ENGINE_READER);
    engine->is_cancelled = &is_cancelled;
    FOR_EACH_CASE(query, questions) {
        enum err err = engine->ops->read(engine, query, keep_seq, &out);

        CHECK(err == ERR_CLOSED || err == OK);
    }
    CHECK(out.len < 100); /* not everything was given first */
    engine->is_cancelled = NULL;
    CHECK(ask(engine, &questions[0]).len > 1000);
    engine->ops->close(engine);
    buf_done(&out);
    suite_done(&stage);
}

/* In slices of no time at all, everything is found in the end. */
static inline void ask_in_slices(struct engine *engine, struct audit_query query)
{
    struct buf wanted, got;
    int slices = 0;
    enum err err;

    buf_init(&wanted, 1 << 16);
    buf_init(&got, 1 << 16);
    buf_put(&wanted, ask(engine, &query));
    engine->until_ns = 1;
    while ((err = engine->ops->read(engine, &query, keep_seq, &got)) == ERR_AGAIN) {
        CHECK(engine->reached_seq != query.after_seq);
        query.after_seq = engine->reached_seq;
        slices++;
    }
    engine->until_ns = 0;
    CHECK_INT(err, OK);
    CHECK_STR(buf_str(&got), buf_str(&wanted));
    CHECK(slices < RECORDS);
    buf_done(&wanted);
    buf_done(&got);
}

TEST(a_question_can_be_answered_in_slices)
{
    struct engine *engine;
    struct stage stage;

    suite_init(&stage);
    fill(&stage, 0, RECORDS / 2);
    suite_index(&stage);
    fill(&stage, RECORDS / 2, RECORDS);
    engine = open_engine(&stage, ENGINE_READER);
    FOR_EACH_CASE(query, questions)
        for (int order = 0; order < 2; order++) {
            struct audit_query sliced = *query;

            sliced.order = (enum audit_order)order;
            ask_in_slices(engine, sliced);
        }
    engine->ops->close(engine);
    suite_done(&stage);
}
