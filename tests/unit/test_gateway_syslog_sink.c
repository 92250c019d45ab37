/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of records to receivers of the test: over a local socket, UDP and TCP. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gateway/export_sink.h"
#include "harness.h"

enum { PATIENCE_MS = 20'000, RECORDS = 300 };

static const struct export_origin origin = { .host = S("h"), .process = 1 };

/* A sink, its owner, and the receiver at the other end. */
struct stage {
    struct export_owner owner;
    struct loop *loop;
    struct export_sink *sink;
    struct audit_batch page;
    struct export_result result;
    int results;
    int listener; /* or the receiving datagram socket */
    int fd;       /* an accepted connection, or -1 */
    struct syslog_target target;
    char path[64];
    struct buf got; /* messages with a line end each */
};

static void on_result(struct export_owner *owner, const struct export_result *result)
{
    struct stage *stage = CONTAINER_OF(owner, struct stage, owner);

    stage->result = *result;
    stage->results++;
}

static void fill_page(struct stage *stage, uint64_t first, size_t count, struct str body)
{
    audit_batch_clear(&stage->page);
    for (size_t i = 0; i < count; i++)
        audit_batch_add(&stage->page, &(struct audit_record){ .seq = first + i,
                                                              .topic = S("room"),
                                                              .body = body,
                                                              .body_bytes = body.len });
}

static int bound(struct stage *stage, int family, int type)
{
    struct sockaddr_in inet = { .sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons(stage->target.port) };
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(inet);
    int on = 1;

    (void)snprintf(local.sun_path, sizeof(local.sun_path), "%s", stage->path);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_UNIX)
        CHECK_INT(bind(fd, (struct sockaddr *)&local, sizeof(local)), 0);
    else
        CHECK_INT(bind(fd, (struct sockaddr *)&inet, sizeof(inet)), 0);
    if (family == AF_INET && getsockname(fd, (struct sockaddr *)&inet, &size) == 0)
        stage->target.port = ntohs(inet.sin_port);
    if (type == SOCK_STREAM)
        CHECK_INT(listen(fd, 8), 0);
    return fd;
}

static void receiver_open(struct stage *stage)
{
    bool is_local = stage->target.transport == SYSLOG_UNIX;

    stage->listener =
        bound(stage, is_local ? AF_UNIX : AF_INET,
              stage->target.transport == SYSLOG_TCP ? SOCK_STREAM : SOCK_DGRAM);
    stage->fd = -1;
}

static void receiver_close(struct stage *stage)
{
    if (stage->fd >= 0)
        (void)close(stage->fd);
    if (stage->listener >= 0)
        (void)close(stage->listener);
    stage->fd = stage->listener = -1;
    (void)unlink(stage->path);
}

static void stage_init(struct stage *stage, enum syslog_transport transport)
{
    *stage = (struct stage){ .owner.on_result = on_result, .loop = loop_new() };
    audit_batch_init(&stage->page);
    buf_init(&stage->got, 64 << 20);
    (void)snprintf(stage->path, sizeof(stage->path), "/tmp/test_syslog.%d", getpid());
    stage->target = (struct syslog_target){
        .transport = transport,
        .host = transport == SYSLOG_UNIX ? stage->path : "127.0.0.1",
    };
    receiver_open(stage);
    stage->sink = syslog_sink_new(&(struct export_sink){ .loop = stage->loop,
                                                         .owner = &stage->owner,
                                                         .origin = &origin },
                                  &stage->target);
}

static void stage_done(struct stage *stage)
{
    export_sink_free(stage->sink);
    receiver_close(stage);
    audit_batch_done(&stage->page);
    buf_done(&stage->got);
    loop_free(stage->loop);
}

static void receive_some(struct stage *stage)
{
    static char part[65536];
    ssize_t got;

    if (stage->target.transport == SYSLOG_TCP && stage->fd < 0)
        stage->fd = accept4(stage->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    for (;;) {
        int fd = stage->target.transport == SYSLOG_TCP ? stage->fd : stage->listener;

        got = recv(fd, part, sizeof(part), 0);
        if (got <= 0)
            return;
        buf_put(&stage->got, (struct str){ part, (size_t)got });
        if (stage->target.transport != SYSLOG_TCP)
            buf_putc(&stage->got, '\n');
    }
}

/* Turns the loop until so many results have come. */
static void wait_for(struct stage *stage, int results)
{
    uint64_t end = loop_now_ms(stage->loop) + PATIENCE_MS;

    while (stage->results < results && loop_now_ms(stage->loop) < end) {
        loop_turn(stage->loop, 5);
        receive_some(stage);
    }
    receive_some(stage);
    CHECK_INT(stage->results, results);
}

/* The next message of what came; of a stream by its length. */
static struct str next_message(struct stage *stage, struct str *rest)
{
    uint64_t len = 0;
    struct str head;
    struct str message;

    if (stage->target.transport != SYSLOG_TCP)
        return str_cut(rest, '\n');
    head = str_cut(rest, ' ');
    CHECK_INT(str_to_u64(head, 1 << 20, &len), OK);
    message = str_slice(*rest, 0, (size_t)len);
    *rest = str_slice(*rest, (size_t)len, rest->len);
    return message;
}

static uint64_t seq_of(struct str message)
{
    const char *at = memmem(message.ptr, message.len, " seq=\"", 6);
    uint64_t seq = 0;

    if (at)
        for (at += 6; *at >= '0' && *at <= '9'; at++)
            seq = seq * 10 + (uint64_t)(*at - '0');
    return seq;
}

static const enum syslog_transport all[] = { SYSLOG_UNIX, SYSLOG_UDP, SYSLOG_TCP };

TEST(a_page_arrives_whole_and_in_order)
{
    FOR_EACH_CASE(transport, all) {
        struct stage stage;
        struct str rest;

        stage_init(&stage, *transport);
        fill_page(&stage, 1, RECORDS, S("{}"));
        export_sink_send(stage.sink, &stage.page, 0);
        CHECK_INT(stage.results, 0);
        wait_for(&stage, 1);
        CHECK_INT(stage.result.outcome, EXPORT_TAKEN);
        CHECK_INT(stage.result.seq, RECORDS);
        CHECK_INT(stage.result.records, RECORDS);
        rest = buf_str(&stage.got);
        for (uint64_t seq = 1; seq <= RECORDS; seq++)
            CHECK_INT(seq_of(next_message(&stage, &rest)), seq);
        CHECK_INT(rest.len, 0);
        stage_done(&stage);
    }
}

TEST(a_stream_takes_long_pages_in_pieces)
{
    static char body[7000];
    struct stage stage;
    struct str rest;
    int pieces = 0;

    memset(body, 'x', sizeof(body));
    stage_init(&stage, SYSLOG_TCP);
    fill_page(&stage, 1, RECORDS, (struct str){ body, sizeof(body) });
    for (size_t at = 0; stage.result.seq < RECORDS && pieces < RECORDS;
         at = stage.result.at) {
        export_sink_send(stage.sink, &stage.page, at);
        wait_for(&stage, ++pieces);
        CHECK_INT(stage.result.outcome, EXPORT_TAKEN);
    }
    CHECK(pieces > 1);
    rest = buf_str(&stage.got);
    for (uint64_t seq = 1; seq <= RECORDS; seq++)
        CHECK_INT(seq_of(next_message(&stage, &rest)), seq);
    stage_done(&stage);
}

TEST(a_head_comes_before_the_next_page_and_without_one)
{
    FOR_EACH_CASE(transport, all) {
        struct stage stage;
        struct str rest;

        stage_init(&stage, *transport);
        stage.sink->ops->send_head(stage.sink, &(struct audit_head){ .seq = 99 });
        fill_page(&stage, 1, 2, S("{}"));
        export_sink_send(stage.sink, &stage.page, 0);
        wait_for(&stage, 1);
        stage.sink->ops->send_head(stage.sink, &(struct audit_head){ .seq = 100 });
        while (!memmem(stage.got.ptr, stage.got.len, "\"100\"", 5)) {
            loop_turn(stage.loop, 5);
            receive_some(&stage);
        }
        rest = buf_str(&stage.got);
        CHECK_INT(seq_of(next_message(&stage, &rest)), 99);
        CHECK_INT(seq_of(next_message(&stage, &rest)), 1);
        CHECK_INT(seq_of(next_message(&stage, &rest)), 2);
        CHECK_INT(seq_of(next_message(&stage, &rest)), 100);
        CHECK_INT(stage.results, 1);
        stage_done(&stage);
    }
}

TEST(who_is_not_there_is_failed_and_later_found)
{
    FOR_EACH_CASE(transport, all) {
        struct stage stage;
        struct str rest;
        int results = 0;

        stage_init(&stage, *transport);
        receiver_close(&stage);
        fill_page(&stage, 1, RECORDS, S("{}"));
        do { /* the first datagram tells nothing */
            export_sink_send(stage.sink, &stage.page, 0);
            wait_for(&stage, ++results);
        } while (stage.result.outcome == EXPORT_TAKEN && results < 10);
        CHECK(stage.result.outcome == EXPORT_FAILED ||
              stage.result.outcome == EXPORT_LOST);
        CHECK(stage.result.why[0] != '\0');
        receiver_open(&stage);
        export_sink_send(stage.sink, &stage.page, 0);
        wait_for(&stage, ++results);
        CHECK_INT(stage.result.outcome, EXPORT_TAKEN);
        rest = buf_str(&stage.got);
        for (uint64_t seq = 1; seq <= RECORDS; seq++)
            CHECK_INT(seq_of(next_message(&stage, &rest)), seq);
        stage_done(&stage);
    }
}

enum { FLOOD = 3000 };

/* Sends what is left of the page, again and again; the receiver reads or does not. */
static void send_all(struct stage *stage, void (*turn)(struct stage *), int turns)
{
    int results = stage->results;

    for (int i = 0; i < turns && stage->result.seq < FLOOD; i++) {
        turn(stage);
        if (stage->results == results)
            continue;
        results = stage->results;
        CHECK_INT(stage->result.outcome, EXPORT_TAKEN);
        if (stage->result.seq < FLOOD)
            export_sink_send(stage->sink, &stage->page, stage->result.at);
    }
}

static void turn_deaf(struct stage *stage)
{
    loop_turn(stage->loop, 5);
}

static void turn_reading(struct stage *stage)
{
    loop_turn(stage->loop, 5);
    receive_some(stage);
}

/* A loop that hangs would not come back from the first send_all(). */
TEST(a_receiver_that_does_not_read_leaves_the_loop_alone)
{
    static const enum syslog_transport kinds[] = { SYSLOG_UNIX, SYSLOG_TCP };
    static char body[7000];

    memset(body, 'x', sizeof(body));
    FOR_EACH_CASE(transport, kinds) {
        struct stage stage;
        int small = 4096;

        stage_init(&stage, *transport);
        (void)setsockopt(stage.listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        fill_page(&stage, 1, FLOOD, (struct str){ body, sizeof(body) });
        export_sink_send(stage.sink, &stage.page, 0);
        send_all(&stage, turn_deaf, 200);
        CHECK(stage.result.seq < FLOOD);
        send_all(&stage, turn_reading, 100'000);
        CHECK_INT(stage.result.seq, FLOOD);
        stage_done(&stage);
    }
}

/* Closing with something unread resets the connection. */
TEST(a_reset_says_that_what_was_taken_may_be_lost)
{
    struct stage stage;

    stage_init(&stage, SYSLOG_TCP);
    fill_page(&stage, 1, 10, S("{}"));
    export_sink_send(stage.sink, &stage.page, 0);
    while (!stage.results)
        loop_turn(stage.loop, 5);
    CHECK_INT(stage.result.outcome, EXPORT_TAKEN);
    stage.fd = accept4(stage.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    CHECK(stage.fd >= 0);
    (void)close(stage.fd);
    stage.fd = -1;
    wait_for(&stage, 2);
    CHECK_INT(stage.result.outcome, EXPORT_LOST);
    stage_done(&stage);
}

TEST(an_end_in_good_order_is_none_of_that_and_the_next_page_connects_again)
{
    struct stage stage;

    stage_init(&stage, SYSLOG_TCP);
    fill_page(&stage, 1, 10, S("{}"));
    export_sink_send(stage.sink, &stage.page, 0);
    wait_for(&stage, 1);
    receive_some(&stage);
    (void)close(stage.fd);
    stage.fd = -1;
    for (int turn = 0; turn < 10; turn++)
        loop_turn(stage.loop, 5);
    CHECK_INT(stage.results, 1);
    fill_page(&stage, 11, 10, S("{}"));
    export_sink_send(stage.sink, &stage.page, 0);
    wait_for(&stage, 2);
    CHECK_INT(stage.result.outcome, EXPORT_TAKEN);
    CHECK_INT(stage.result.seq, 20);
    stage_done(&stage);
}

TEST(a_name_that_does_not_exist_is_told)
{
    struct stage stage;

    stage_init(&stage, SYSLOG_TCP);
    export_sink_free(stage.sink);
    stage.target.host = "no-such-host.invalid";
    stage.sink = syslog_sink_new(&(struct export_sink){ .loop = stage.loop,
                                                        .owner = &stage.owner,
                                                        .origin = &origin },
                                 &stage.target);
    fill_page(&stage, 1, 1, S("{}"));
    export_sink_send(stage.sink, &stage.page, 0);
    wait_for(&stage, 1);
    CHECK_INT(stage.result.outcome, EXPORT_FAILED);
    stage_done(&stage);
}
