/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/export_feed.h"

#include "base/arena.h"
#include "base/log.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum {
    FIRST_REST_MS = 1000,
    LONGEST_REST_MS = 60'000,
    KEEP_MS = 1000,
    VALUE_ARENA = 4096,
};

static void read_on(struct feed *feed);

/* --- the cursor --- */

void feed_restore(struct feed *feed, struct str value)
{
    const struct json *root = NULL;
    const struct json *seq;
    struct arena arena;

    arena_init(&arena, VALUE_ARENA);
    if (json_parse(value, &arena, &root, NULL) == OK) {
        seq = json_find(root, S("seq"));
        feed->has_cursor = seq && str_to_u64(seq->text, UINT64_MAX, &feed->cursor) == OK;
    }
    arena_done(&arena);
    feed->marked = feed->settled = feed->kept = feed->cursor;
}

static void on_kept(struct store_batch *batch)
{
    struct feed *feed = CONTAINER_OF(batch, struct feed, keep);

    feed->is_keeping = false;
    if (batch->err)
        feed->kept = 0; /* that was the last chance, or there will be another */
}

static void keep(struct feed *feed, uint64_t seq)
{
    struct json_writer w;
    struct buf value;

    if (feed->is_keeping || seq == feed->kept)
        return;
    buf_init(&value, 256);
    json_write_init(&w, &value);
    json_object_open(&w);
    json_put_uint(&w, S("seq"), seq);
    json_object_close(&w);
    store_batch_done(&feed->keep);
    store_batch_init(&feed->keep, feed->loop);
    feed->keep.done = on_kept;
    store_batch_put(&feed->keep, &(struct store_item){ .section = STORE_EXPORT,
                                                       .key = str_of(feed->name),
                                                       .value = buf_str(&value) });
    buf_done(&value);
    feed->is_keeping = true;
    feed->kept = seq;
    feed->kept_ms = loop_now_ms(feed->loop);
    store_commit(feed->store, &feed->keep);
}

/* What was taken a while ago, and nobody has complained since, has arrived. */
static void settle(struct feed *feed)
{
    uint64_t now_ms = loop_now_ms(feed->loop);
    uint64_t settles_ms = feed->sink->ops->settles_ms;

    if (!settles_ms) {
        feed->settled = feed->cursor;
        return;
    }
    if (feed->state == FEED_RESTING || now_ms - feed->marked_ms < settles_ms)
        return;
    feed->settled = feed->marked;
    feed->marked = feed->cursor;
    feed->marked_ms = now_ms;
}

static void go_back(struct feed *feed)
{
    feed->cursor = feed->marked = feed->settled;
    feed->marked_ms = loop_now_ms(feed->loop);
    feed->is_stale = feed->state == FEED_READING;
}

/* --- failures --- */

static void on_rested(struct loop_timer *timer)
{
    CONTAINER_OF(timer, struct feed, rest)->state = FEED_IDLE; /* the next tick goes on */
}

/* Twice as long each time, and never all at once. */
static uint64_t rest_ms(unsigned failures)
{
    uint64_t ms = failures > 6 ? LONGEST_REST_MS : (uint64_t)FIRST_REST_MS << failures;
    uint32_t random;

    crypto_random(&random, sizeof(random));
    if (ms > LONGEST_REST_MS)
        ms = LONGEST_REST_MS;
    return ms / 2 + random % (ms / 2 + 1);
}

static void take_rest(struct feed *feed, const char *why)
{
    uint64_t ms = rest_ms(feed->failures);

    feed->failures++;
    atomic_fetch_add(&feed->counts.failures, 1);
    log_warn("export.fail", "to=%s reason=%s retry_ms=%llu", feed->name,
             LOG_TEXT(str_of(why)), (unsigned long long)ms);
    feed->is_stale = feed->is_asking;
    feed->state = FEED_RESTING;
    loop_timer_set(feed->loop, &feed->rest, ms);
}

static void note_success(struct feed *feed)
{
    if (feed->failures)
        log_info("export.resume", "to=%s failures=%u", feed->name, feed->failures);
    feed->failures = 0;
}

/* --- pages --- */

static void page_ended(struct feed *feed)
{
    audit_batch_clear(&feed->read.page);
    if (feed->read.has_more)
        read_on(feed);
    else
        feed->state = FEED_IDLE;
}

static bool has_record(const struct audit_batch *page, size_t at)
{
    struct audit_record record;

    return audit_batch_next(page, &at, &record);
}

static void note_taken(struct feed *feed, const struct export_result *result)
{
    atomic_fetch_add(&feed->counts.records,
                     result->outcome == EXPORT_TAKEN ? result->records : 0);
    atomic_fetch_add(&feed->counts.rejected, result->rejected);
    if (result->rejected)
        log_warn("export.reject", "to=%s records=%llu up_to=%llu reason=%s", feed->name,
                 (unsigned long long)result->rejected, (unsigned long long)result->seq,
                 LOG_TEXT(str_of(result->why)));
    note_success(feed);
    feed->cursor = result->seq;
    if (has_record(&feed->read.page, result->at))
        export_sink_send(feed->sink, &feed->read.page, result->at);
    else
        page_ended(feed);
}

static void on_result(struct export_owner *owner, const struct export_result *result)
{
    struct feed *feed = CONTAINER_OF(owner, struct feed, owner);

    switch (result->outcome) {
    case EXPORT_TAKEN:
    case EXPORT_REFUSED: note_taken(feed, result); return;
    case EXPORT_LOST: go_back(feed); break;
    case EXPORT_FAILED: break;
    }
    take_rest(feed, result->why);
}

static void on_read(struct store_read *read)
{
    struct feed *feed = CONTAINER_OF(read, struct feed, read);

    feed->is_asking = false;
    if (feed->is_stale) {
        feed->is_stale = false;
        if (feed->state == FEED_READING)
            feed->state = FEED_IDLE;
        return;
    }
    if (read->err) {
        take_rest(feed, "the record cannot be read");
    } else if (!has_record(&read->page, 0)) {
        feed->state = FEED_IDLE;
    } else {
        feed->state = FEED_SENDING;
        export_sink_send(feed->sink, &read->page, 0);
    }
}

static void read_on(struct feed *feed)
{
    store_read_done(&feed->read);
    store_read_init(&feed->read, feed->loop);
    feed->read.done = on_read;
    feed->read.query = (struct audit_query){ .order = AUDIT_OLDEST_FIRST,
                                             .after_seq = feed->cursor,
                                             .limit = FEED_PAGE };
    feed->state = FEED_READING;
    feed->is_asking = true;
    store_query(feed->store, &feed->read);
}

/* --- what the exporter calls --- */

void feed_init(struct feed *feed, const char *name, struct store *store,
               struct loop *loop)
{
    *feed = (struct feed){ .owner.on_result = on_result,
                           .name = name,
                           .store = store,
                           .loop = loop,
                           .rest.on_fire = on_rested };
    store_read_init(&feed->read, loop);
    store_batch_init(&feed->keep, loop);
}

void feed_done(struct feed *feed)
{
    store_read_done(&feed->read);
    store_batch_done(&feed->keep);
}

/* A store from yesterday's copy has fewer records than were sent. */
static void place_cursor(struct feed *feed, uint64_t head_seq)
{
    if (feed->has_cursor && feed->cursor > head_seq)
        log_warn("export.rewind", "to=%s cursor=%llu head=%llu", feed->name,
                 (unsigned long long)feed->cursor, (unsigned long long)head_seq);
    if (feed->has_cursor && feed->cursor <= head_seq)
        return;
    feed->has_cursor = true;
    feed->cursor = feed->marked = feed->settled = head_seq;
    feed->kept = UINT64_MAX;
}

void feed_attach(struct feed *feed, struct export_sink *sink, uint64_t head_seq)
{
    export_sink_free(feed->sink);
    feed->sink = sink;
    loop_timer_clear(feed->loop, &feed->rest);
    feed->failures = 0;
    feed->is_stale = feed->is_asking;
    if (!feed->is_asking)
        audit_batch_clear(&feed->read.page);
    feed->state = FEED_IDLE;
    feed->marked_ms = loop_now_ms(feed->loop);
    if (sink)
        place_cursor(feed, head_seq);
}

void feed_tick(struct feed *feed, uint64_t head_seq)
{
    if (!feed->sink) {
        atomic_store(&feed->counts.lag, 0);
        return;
    }
    atomic_store(&feed->counts.lag,
                 head_seq > feed->cursor ? head_seq - feed->cursor : 0);
    settle(feed);
    if (feed->kept == UINT64_MAX || loop_now_ms(feed->loop) - feed->kept_ms >= KEEP_MS)
        keep(feed, feed->settled);
    if (feed->state == FEED_IDLE && !feed->is_asking && head_seq > feed->cursor)
        read_on(feed);
}

void feed_stop(struct feed *feed)
{
    bool had_sink = feed->sink != NULL;

    feed_attach(feed, NULL, 0);
    atomic_store(&feed->read.is_cancelled, true);
    if (had_sink)
        keep(feed, feed->cursor);
}
