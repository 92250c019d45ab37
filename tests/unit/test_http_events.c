/* SPDX-License-Identifier: Apache-2.0 */
/* Event streams, whole and in pieces. What was heard is written down as type|data|id;. */
#include "base/buf.h"
#include "harness.h"
#include "http/events.h"

enum { MAX = 40 };

struct heard {
    struct events events;
    struct buf told;
};

static void heard_init(struct heard *heard)
{
    events_init(&heard->events, MAX);
    buf_init(&heard->told, 4096);
}

static void heard_done(struct heard *heard)
{
    events_done(&heard->events);
    buf_done(&heard->told);
}

static void feed(struct heard *heard, struct str bytes)
{
    struct event event;

    while (events_next(&heard->events, &bytes, &event))
        buf_putf(&heard->told, STR_FMT "|" STR_FMT "|" STR_FMT ";", STR_ARG(event.type),
                 STR_ARG(event.data), STR_ARG(event.id));
    CHECK(heard->events.has_failed || bytes.len == 0);
}

static void check_outcome(struct heard *heard, struct str told, bool has_failed)
{
    CHECK_STR(buf_str(&heard->told), told);
    CHECK_INT(heard->events.has_failed, has_failed);
    heard_done(heard);
}

/* Whole, byte by byte, and cut at every place. */
static void check_stream(struct str bytes, struct str told, bool has_failed)
{
    struct heard heard;

    heard_init(&heard);
    for (size_t at = 0; at < bytes.len; at++)
        feed(&heard, str_slice(bytes, at, at + 1));
    check_outcome(&heard, told, has_failed);
    for (size_t cut = 0; cut <= bytes.len; cut++) {
        heard_init(&heard);
        feed(&heard, str_slice(bytes, 0, cut));
        feed(&heard, str_slice(bytes, cut, bytes.len));
        check_outcome(&heard, told, has_failed);
    }
}

TEST(streams_mean_the_same_wherever_they_are_cut)
{
    static const struct {
        struct str bytes;
        struct str told;
    } cases[] = {
        { S("data: x\n\n"), S("message|x|;") },
        { S("data:x\n\n"), S("message|x|;") },
        { S("data:  x \n\n"), S("message| x |;") },
        /* the three ends of a line, mixed */
        { S("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n"),
          S("message|a|;message|b|;message|c|;message|d|;") },
        { S("data: a\ndata: b\ndata\n\n"), S("message|a\nb\n|;") },
        { S("event: endpoint\ndata: /message?s=1\n\n"), S("endpoint|/message?s=1|;") },
        /* a type does not outlive its event, an id does */
        { S("event: e\nid: 7\ndata: a\n\ndata: b\n\n"), S("e|a|7;message|b|7;") },
        { S("id: 7\ndata: a\n\nid\ndata: b\n\n"), S("message|a|7;message|b|;") },
        /* what primes a stream: an id without data, or with empty data */
        { S("id: p\ndata:\n\n"), S("message||p;") },
        { S("id: p\nretry: 10\n\n"), S("message||p;") },
        { S("data\n\n"), S("message||;") },
        /* neither data nor id */
        { S("event: e\n\ndata: a\n\n"), S("message|a|;") },
        { S("\n\n\r\r: hello\n\n:\n\n"), S("") },
        { S("Data: a\nfoo: b\n data: c\n\n"), S("") },
        /* an id with a NUL is none; a cut event is none */
        { S("id: a\0b\ndata: x\n\n"), S("message|x|;") },
        { S("data: x\n\nid: 9\ndata: y\n"), S("message|x|;") },
        { S("data: x\n\nid: 9\ndata: y"), S("message|x|;") },
        /* a mark of the encoding, once */
        { S("\xEF\xBB\xBF"
            "data: x\n\n\xEF\xBB\xBF"
            "data: y\n\n"),
          S("message|x|;") },
        { S("\xEF\xBB\xBF\n\ndata: y\n\n"), S("message|y|;") },
        /* exactly as long as it may be */
        { S("data: 0123456789012345678901234567890123456789\n\n"),
          S("message|0123456789012345678901234567890123456789|;") },
    };

    FOR_EACH_CASE(c, cases)
        check_stream(c->bytes, c->told, false);
}

TEST(what_is_too_long_is_a_failure_and_nothing_comes_after_it)
{
    static const struct str streams[] = {
        S("data: a\n\ndata: 01234567890123456789012345678901234567890\n\ndata: b\n\n"),
        S("data: a\n\ndata: 01234567890123456789\ndata: 01234567890123456789\n\n"),
        S("data: a\n\n:0123456789012345678901234567890123456789012345678901234567890123456789"
          "012345678901234567890123456789012345"),
    };

    FOR_EACH_CASE(c, streams)
        check_stream(*c, S("message|a|;"), true);
}

TEST(an_endless_id_is_a_failure)
{
    struct heard heard;
    struct buf stream;

    buf_init(&stream, 3L * EVENTS_MAX_ID);
    buf_put(&stream, S("id: "));
    for (int i = 0; i <= EVENTS_MAX_ID; i++)
        buf_putc(&stream, 'x');
    buf_put(&stream, S("\ndata: x\n\n"));
    heard_init(&heard);
    events_done(&heard.events);
    events_init(&heard.events, 2L * EVENTS_MAX_ID);
    feed(&heard, buf_str(&stream));
    check_outcome(&heard, S(""), true);
    buf_done(&stream);
}

TEST(the_time_before_a_new_attempt_is_digits)
{
    static const struct {
        struct str bytes;
        uint64_t retry_ms;
    } cases[] = {
        { S("data: x\n\n"), UINT64_MAX },
        { S("retry: 500\n"), 500 },
        { S("retry: 500\n\nretry:0\n"), 0 },
        { S("retry: 500\nretry: 1s\n"), 500 },
        { S("retry: -1\n"), UINT64_MAX },
        { S("retry\n"), UINT64_MAX },
        { S("retry: 99999999999999999999999\n"), UINT64_MAX },
    };

    FOR_EACH_CASE(c, cases) {
        struct heard heard;

        heard_init(&heard);
        feed(&heard, c->bytes);
        CHECK_INT(heard.events.retry_ms, c->retry_ms);
        heard_done(&heard);
    }
}

/* A stream is resumed behind the last event that was complete. */
TEST(an_id_counts_when_its_event_is_complete)
{
    struct heard heard;

    heard_init(&heard);
    feed(&heard, S("id: 1\ndata: x\n\nid: 2\ndata: y\n"));
    CHECK_STR(buf_str(&heard.events.id), S("1"));
    feed(&heard, S("\n"));
    CHECK_STR(buf_str(&heard.events.id), S("2"));
    heard_done(&heard);
}

TEST(a_resting_stream_keeps_no_large_event)
{
    struct heard heard;
    struct buf stream;

    buf_init(&stream, 1 << 20);
    buf_put(&stream, S("data: "));
    for (int i = 0; i < 1 << 19; i++)
        buf_putc(&stream, 'x');
    buf_put(&stream, S("\n\n:"));
    heard_init(&heard);
    events_done(&heard.events);
    events_init(&heard.events, 1 << 20);
    for (size_t at = 0; at < stream.len; at += 1000)
        feed(&heard, str_slice(buf_str(&stream), at, at + 1000));
    CHECK(!heard.events.has_failed);
    CHECK(heard.events.data.size + heard.events.line.size < 64 * 1024);
    heard_done(&heard);
    buf_done(&stream);
}
