/* SPDX-License-Identifier: Apache-2.0 */
/* Connections over socket pairs: what is offered, kept, pulled, finished and moved. */
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "net/conn.h"

enum { MIB = 1024 * 1024 };

/* An owner that records everything and follows simple orders. */
struct peer {
    struct conn conn;
    struct buf received; /* consumed bytes */
    size_t chunk;        /* consumes only whole multiples of this; 0: everything */
    bool pauses;         /* pauses in on_bytes, consuming nothing */
    bool closes;         /* closes in on_bytes, twice */
    bool finishes;       /* finishes in on_bytes */
    size_t last_offered;
    struct str output;
    size_t span; /* length of the pulled spans; 0: uneven */
    size_t taken;
    int blocked;   /* calls with true */
    int unblocked; /* calls with false */
    int ends;
    enum err why;
};

static size_t on_bytes(struct conn *conn, struct str bytes)
{
    struct peer *peer = CONTAINER_OF(conn, struct peer, conn);
    size_t used = peer->chunk ? bytes.len / peer->chunk * peer->chunk : bytes.len;

    peer->last_offered = bytes.len;
    if (peer->closes) {
        conn_close(conn, ERR_FORBIDDEN);
        conn_close(conn, ERR_IO);
    }
    if (peer->finishes)
        conn_finish(conn);
    if (peer->pauses) {
        conn_pause_reads(conn, true);
        return 0;
    }
    CHECK_INT(buf_append(&peer->received, str_slice(bytes, 0, used)), OK);
    return used;
}

/* Spans of uneven length, so that short writes end inside and between them. */
static size_t on_pull(struct conn *conn, struct iovec *out, size_t max)
{
    struct peer *peer = CONTAINER_OF(conn, struct peer, conn);
    size_t at = peer->taken;
    size_t count = 0;

    for (; count < max && at < peer->output.len; count++) {
        size_t len = peer->span ? peer->span : 1 + (at * 7) % 5000;

        if (len > peer->output.len - at)
            len = peer->output.len - at;
        out[count] = (struct iovec){ (char *)(uintptr_t)peer->output.ptr + at, len };
        at += len;
    }
    return count;
}

static void on_taken(struct conn *conn, size_t bytes, size_t)
{
    CONTAINER_OF(conn, struct peer, conn)->taken += bytes;
}

static void on_blocked(struct conn *conn, bool is_blocked)
{
    struct peer *peer = CONTAINER_OF(conn, struct peer, conn);

    if (is_blocked)
        peer->blocked++;
    else
        peer->unblocked++;
}

static void on_end(struct conn *conn, enum err why)
{
    struct peer *peer = CONTAINER_OF(conn, struct peer, conn);

    peer->ends++;
    peer->why = why;
}

static const struct conn_ops ops = {
    .on_bytes = on_bytes,
    .on_pull = on_pull,
    .on_taken = on_taken,
    .on_blocked = on_blocked,
    .on_end = on_end,
};

/* A loop, a connection on it, and the plain descriptor at the other end. */
struct stage {
    struct loop *loop;
    struct conn_flusher *flusher;
    struct peer peer;
    int far;
};

static void stage_open(struct stage *stage)
{
    int ends[2] = { -1, -1 };

    *stage = (struct stage){ .loop = loop_new() };
    stage->flusher = conn_flusher_new(stage->loop, NULL);
    loop_set_now(stage->loop, 0, 0);
    buf_init(&stage->peer.received, 16 * MIB);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
              0);
    stage->far = ends[1];
    CHECK_INT(conn_init(&stage->peer.conn, stage->flusher, ends[0], NULL, &ops), OK);
}

static void stage_close(struct stage *stage)
{
    conn_close(&stage->peer.conn, ERR_CLOSED);
    loop_turn(stage->loop, 0);
    CHECK(stage->peer.ends <= 1);
    buf_done(&stage->peer.received);
    if (stage->far >= 0)
        (void)close(stage->far);
    conn_flusher_free(stage->flusher);
    loop_free(stage->loop);
}

static void say(const struct stage *stage, struct str bytes)
{
    CHECK_INT(send(stage->far, bytes.ptr, bytes.len, MSG_NOSIGNAL), bytes.len);
}

static void turns(const struct stage *stage, int count)
{
    while (count-- > 0)
        loop_turn(stage->loop, 0);
}

static void advance(struct stage *stage, uint64_t ms)
{
    loop_set_now(stage->loop, loop_now_ms(stage->loop) + ms, 0);
    turns(stage, 2);
}

/* Reads what is there at the far end. */
static size_t hear(const struct stage *stage, struct buf *into)
{
    static char part[16 * 1024];
    ssize_t len = recv(stage->far, part, sizeof(part), 0);

    if (len <= 0)
        return 0;
    CHECK_INT(buf_append(into, (struct str){ part, (size_t)len }), OK);
    return (size_t)len;
}

static struct str pattern(char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        memory[i] = (char)(i * 31 + i / 251);
    return (struct str){ memory, size };
}

TEST(bytes_not_consumed_are_offered_again_with_more)
{
    struct stage stage;

    stage_open(&stage);
    stage.peer.chunk = 4;
    say(&stage, S("abcdef"));
    turns(&stage, 1);
    CHECK_STR(buf_str(&stage.peer.received), S("abcd"));
    CHECK(stage.peer.conn.rest != NULL);
    say(&stage, S("g"));
    turns(&stage, 1);
    CHECK_INT(stage.peer.last_offered, 3);
    say(&stage, S("h"));
    turns(&stage, 1);
    CHECK_STR(buf_str(&stage.peer.received), S("abcdefgh"));
    CHECK(stage.peer.conn.rest == NULL);
    stage_close(&stage);
}

TEST(an_owner_that_never_consumes_is_closed_at_the_limit)
{
    static char memory[64 * 1024];
    struct stage stage;

    stage_open(&stage);
    stage.peer.chunk = MIB;
    for (int i = 0; i < 10 && !stage.peer.ends; i++) {
        (void)!send(stage.far, memory, sizeof(memory), MSG_NOSIGNAL);
        turns(&stage, 2);
    }
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_TOO_BIG);
    stage_close(&stage);
}

TEST(paused_reads_keep_the_rest_and_resuming_offers_it)
{
    struct stage stage;

    stage_open(&stage);
    stage.peer.pauses = true;
    say(&stage, S("first"));
    turns(&stage, 2);
    CHECK_INT(stage.peer.conn.io.events, EPOLLIN); /* silence costs no system call */
    say(&stage, S("second"));
    turns(&stage, 3);
    CHECK_INT(stage.peer.conn.io.events, 0); /* else it would be told for ever */
    CHECK_INT(stage.peer.last_offered, 5);
    stage.peer.pauses = false;
    conn_pause_reads(&stage.peer.conn, false);
    CHECK_INT(stage.peer.received.len, 0);
    turns(&stage, 2);
    CHECK_STR(buf_str(&stage.peer.received), S("firstsecond"));
    stage_close(&stage);
}

TEST(woken_output_leaves_at_the_end_of_the_turn)
{
    struct stage stage;
    struct buf heard;

    buf_init(&heard, MIB);
    stage_open(&stage);
    stage.peer.output = S("hello");
    conn_wake(&stage.peer.conn);
    conn_wake(&stage.peer.conn);
    CHECK_INT(stage.peer.taken, 0);
    loop_turn(stage.loop, -1); /* must not sleep: there is output */
    (void)hear(&stage, &heard);
    CHECK_STR(buf_str(&heard), S("hello"));
    CHECK_INT(stage.peer.blocked, 0);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(a_turn_sends_one_pull_and_the_next_turn_goes_on)
{
    static char memory[CONN_SPANS * 2 + 10];
    struct stage stage;

    stage_open(&stage);
    stage.peer.span = 1;
    stage.peer.output = (struct str){ memory, sizeof(memory) };
    conn_wake(&stage.peer.conn);
    turns(&stage, 1);
    CHECK_INT(stage.peer.taken, CONN_SPANS);
    loop_turn(stage.loop, -1);
    CHECK_INT(stage.peer.taken, CONN_SPANS * 2);
    loop_turn(stage.loop, -1);
    CHECK_INT(stage.peer.taken, sizeof(memory));
    CHECK(!link_is_set(&stage.peer.conn.flush_link));
    stage_close(&stage);
}

/* --- taking turns --- */

enum { CROWD = 100 };

/* One connection of a crowd that writes down when it was asked. */
struct one {
    struct conn conn;
    struct crowd *crowd;
    int far;
    size_t asked;  /* how many had been asked before it */
    size_t greedy; /* how often it says that there is more */
    size_t pulls;
};

struct crowd {
    struct flush_source source;
    struct loop *loop;
    struct conn_flusher *flusher;
    struct one ones[CROWD];
    size_t from, to; /* what the source has left to wake */
    size_t asked;
};

static size_t pull_one(struct conn *conn, struct iovec *out, size_t max)
{
    struct one *one = CONTAINER_OF(conn, struct one, conn);

    if (one->pulls++ == 0)
        one->asked = one->crowd->asked++;
    out[0] = (struct iovec){ (char *)(uintptr_t) "x", 1 };
    for (size_t i = 0; i < max && one->pulls <= one->greedy; i++)
        out[i] = out[0];
    return one->pulls <= one->greedy ? max : 1;
}

static void ignore_taken(struct conn *, size_t, size_t)
{
}

static void ignore_end(struct conn *, enum err)
{
}

static const struct conn_ops one_ops = {
    .on_pull = pull_one,
    .on_taken = ignore_taken,
    .on_end = ignore_end,
};

static size_t wake_some(struct flush_source *source, size_t max)
{
    struct crowd *crowd = CONTAINER_OF(source, struct crowd, source);
    size_t count = 0;

    for (; count < max && crowd->from < crowd->to; count++)
        conn_wake(&crowd->ones[crowd->from++].conn);
    return count;
}

static void crowd_open(struct crowd *crowd)
{
    *crowd = (struct crowd){ .source = { wake_some }, .loop = loop_new() };
    crowd->flusher = conn_flusher_new(crowd->loop, &crowd->source);
    for (size_t i = 0; i < CROWD; i++) {
        struct one *one = &crowd->ones[i];
        int ends[2];

        CHECK_INT(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        one->crowd = crowd;
        one->far = ends[1];
        CHECK_INT(conn_init(&one->conn, crowd->flusher, ends[0], NULL, &one_ops), OK);
    }
}

static void crowd_close(struct crowd *crowd)
{
    for (size_t i = 0; i < CROWD; i++) {
        conn_close(&crowd->ones[i].conn, ERR_CLOSED);
        (void)close(crowd->ones[i].far);
    }
    loop_turn(crowd->loop, 0);
    conn_flusher_free(crowd->flusher);
    loop_free(crowd->loop);
}

TEST(those_in_line_and_those_of_the_source_take_turns)
{
    static struct crowd crowd;

    crowd_open(&crowd);
    crowd.from = 50;
    crowd.to = CROWD;
    for (size_t i = 0; i < 50; i++)
        conn_wake(&crowd.ones[i].conn);
    for (size_t i = 0; i < 100 && crowd.asked < CROWD; i++)
        loop_turn(crowd.loop, 0); /* a slow machine needs more than one */
    CHECK_INT(crowd.asked, CROWD);
    CHECK_INT(crowd.ones[0].asked, 0);
    CHECK(crowd.ones[50].asked < 20);
    CHECK(crowd.ones[16].asked > crowd.ones[50].asked);
    CHECK(crowd.ones[49].asked < CROWD);
    crowd_close(&crowd);
}

TEST(one_that_always_has_more_waits_for_the_others)
{
    static struct crowd crowd;

    crowd_open(&crowd);
    crowd.ones[50].greedy = 3;
    crowd.from = 50;
    crowd.to = CROWD;
    loop_turn(crowd.loop, 0);
    CHECK_INT(crowd.ones[50].pulls, 1); /* again in the next turn, at the earliest */
    for (size_t i = 0; i < 100 && crowd.asked < 50; i++)
        loop_turn(crowd.loop, 0);
    loop_turn(crowd.loop, 0);
    loop_turn(crowd.loop, 0);
    loop_turn(crowd.loop, 0);
    CHECK_INT(crowd.asked, 50);
    CHECK_INT(crowd.ones[50].pulls, 4);
    crowd_close(&crowd);
}

TEST(a_slow_reader_blocks_and_unblocks_and_loses_nothing)
{
    static char memory[3 * MIB];
    struct stage stage;
    struct buf heard;
    int small = 4096;

    buf_init(&heard, 4 * MIB);
    stage_open(&stage);
    (void)setsockopt(stage.peer.conn.io.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    stage.peer.output = pattern(memory, sizeof(memory));
    conn_wake(&stage.peer.conn);
    turns(&stage, 3);
    CHECK_INT(stage.peer.blocked, 1);
    CHECK_INT(stage.peer.unblocked, 0);
    while (heard.len < sizeof(memory)) {
        if (!hear(&stage, &heard))
            loop_turn(stage.loop, -1);
    }
    turns(&stage, 2);
    CHECK_INT(stage.peer.blocked, stage.peer.unblocked);
    CHECK(memcmp(heard.ptr, memory, sizeof(memory)) == 0);
    CHECK(!stage.peer.conn.is_blocked);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(the_end_of_the_peer_comes_after_its_bytes)
{
    struct stage stage;

    stage_open(&stage);
    say(&stage, S("last words"));
    (void)close(stage.far);
    stage.far = -1;
    turns(&stage, 3);
    CHECK_STR(buf_str(&stage.peer.received), S("last words"));
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    stage_close(&stage);
}

TEST(a_peer_that_only_stops_sending_still_gets_what_waits_for_it)
{
    static char memory[MIB];
    struct stage stage;
    struct buf heard;

    buf_init(&heard, 2 * MIB);
    stage_open(&stage);
    stage.peer.output = pattern(memory, sizeof(memory));
    conn_wake(&stage.peer.conn);
    (void)shutdown(stage.far, SHUT_WR);
    turns(&stage, 4);
    CHECK_INT(stage.peer.ends, 0);
    while (heard.len < sizeof(memory) && !stage.peer.ends)
        if (!hear(&stage, &heard))
            loop_turn(stage.loop, -1);
    turns(&stage, 2);
    CHECK_INT(heard.len, sizeof(memory));
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(a_peer_that_stops_sending_gets_what_its_owner_has_not_even_told_of)
{
    struct stage stage;
    struct buf heard;

    stage_open(&stage);
    buf_init(&heard, MIB);
    stage.peer.output = S("said in the room, but nobody has woken the connection yet");
    CHECK_INT(shutdown(stage.far, SHUT_WR), 0);
    turns(&stage, 3);
    (void)hear(&stage, &heard);
    CHECK_STR(buf_str(&heard), stage.peer.output);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    buf_done(&heard);
    stage_close(&stage);
}

TEST(writing_to_a_peer_that_is_gone_ends_with_an_error)
{
    struct stage stage;

    stage_open(&stage);
    conn_pause_reads(&stage.peer.conn, true);
    stage.peer.output = S("hello");
    (void)close(stage.far);
    stage.far = -1;
    conn_wake(&stage.peer.conn);
    turns(&stage, 3);
    CHECK_INT(stage.peer.ends, 1);
    CHECK(stage.peer.why != OK);
    stage_close(&stage);
}

TEST(the_end_of_a_peer_is_noticed_while_reads_are_paused_if_that_is_wanted)
{
    for (int is_silent = 0; is_silent < 2; is_silent++) {
        struct stage stage;

        stage_open(&stage);
        conn_pause_reads(&stage.peer.conn, true);
        if (!is_silent)
            say(&stage, S("the next request"));
        turns(&stage, 2);
        CHECK_INT(stage.peer.ends, 0);
        conn_watch_end(&stage.peer.conn);
        turns(&stage, 2);
        CHECK_INT(stage.peer.ends, 0); /* what it sends meanwhile is no end */
        CHECK_INT(shutdown(stage.far, SHUT_WR), 0);
        turns(&stage, 3);
        CHECK_INT(stage.peer.ends, 1);
        CHECK_INT(stage.peer.why, ERR_CLOSED);
        stage_close(&stage);
    }
}

TEST(a_peer_that_ended_its_side_gets_its_answer_where_its_end_is_not_watched)
{
    struct stage stage;
    struct buf heard;

    stage_open(&stage);
    buf_init(&heard, MIB);
    conn_watch_end(&stage.peer.conn); /* nothing is paused */
    conn_pause_reads(&stage.peer.conn, true);
    conn_watch_end(&stage.peer.conn);
    conn_pause_reads(&stage.peer.conn, false);
    conn_pause_reads(&stage.peer.conn, true);
    CHECK_INT(shutdown(stage.far, SHUT_WR), 0);
    turns(&stage, 3);
    CHECK_INT(stage.peer.ends, 0);
    stage.peer.output = S("answer");
    conn_wake(&stage.peer.conn);
    turns(&stage, 2);
    (void)hear(&stage, &heard);
    CHECK_STR(buf_str(&heard), S("answer"));
    stage_close(&stage);
    buf_done(&heard);
}

TEST(closing_twice_ends_once_and_later)
{
    struct stage stage;

    stage_open(&stage);
    conn_close(&stage.peer.conn, ERR_TIMEOUT);
    conn_close(&stage.peer.conn, ERR_IO);
    conn_wake(&stage.peer.conn);
    conn_finish(&stage.peer.conn);
    conn_pause_reads(&stage.peer.conn, true);
    CHECK_INT(stage.peer.ends, 0);
    turns(&stage, 2);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_TIMEOUT);
    stage_close(&stage);
}

TEST(closing_inside_on_bytes_is_safe)
{
    struct stage stage;

    stage_open(&stage);
    stage.peer.chunk = 4;
    say(&stage, S("abcdef"));
    turns(&stage, 1);
    stage.peer.closes = true;
    say(&stage, S("ghi"));
    turns(&stage, 1);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_FORBIDDEN);
    stage_close(&stage);
}

TEST(finishing_sends_what_is_left_and_waits_for_the_peer)
{
    static char memory[MIB];
    struct stage stage;
    struct buf heard;

    buf_init(&heard, 2 * MIB);
    stage_open(&stage);
    stage.peer.finishes = true;
    stage.peer.output = pattern(memory, sizeof(memory));
    say(&stage, S("bye"));
    turns(&stage, 2);
    while (heard.len < sizeof(memory))
        if (!hear(&stage, &heard))
            loop_turn(stage.loop, -1);
    turns(&stage, 2);
    CHECK_INT(recv(stage.far, memory, 1, 0), 0); /* its sending side is shut */
    say(&stage, S("nobody listens"));
    turns(&stage, 2);
    CHECK_INT(stage.peer.ends, 0);
    CHECK_STR(buf_str(&stage.peer.received), S("bye"));
    (void)close(stage.far);
    stage.far = -1;
    turns(&stage, 2);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(a_peer_that_does_not_close_is_waited_for_two_seconds)
{
    struct stage stage;

    stage_open(&stage);
    conn_finish(&stage.peer.conn);
    turns(&stage, 2);
    advance(&stage, CONN_LINGER_MS - 1);
    CHECK_INT(stage.peer.ends, 0);
    advance(&stage, 1);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    stage_close(&stage);
}

TEST(a_peer_that_reads_nothing_does_not_hold_up_finishing_forever)
{
    static char memory[4 * MIB];
    struct stage stage;

    stage_open(&stage);
    stage.peer.output = pattern(memory, sizeof(memory));
    conn_finish(&stage.peer.conn);
    turns(&stage, 2);
    CHECK(stage.peer.conn.is_blocked);
    advance(&stage, CONN_DRAIN_MS);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_TIMEOUT);
    stage_close(&stage);
}

/* What an open connection waits for and the deadline of finishing share their place. */
TEST(finishing_while_kept_bytes_wait_to_be_offered_drops_them_and_has_a_deadline)
{
    struct stage stage;

    stage_open(&stage);
    stage.peer.pauses = true;
    say(&stage, S("first"));
    turns(&stage, 2);
    conn_pause_reads(&stage.peer.conn, false);
    conn_finish(&stage.peer.conn);
    turns(&stage, 2);
    CHECK_INT(stage.peer.last_offered, 5);
    CHECK_INT(stage.peer.received.len, 0);
    CHECK_INT(stage.peer.ends, 0);
    advance(&stage, CONN_LINGER_MS);
    CHECK_INT(stage.peer.ends, 1);
    CHECK_INT(stage.peer.why, ERR_CLOSED);
    stage_close(&stage);
}

TEST(a_detached_connection_goes_on_elsewhere_with_its_unread_bytes)
{
    struct stage from, to;
    struct conn_cargo cargo;

    stage_open(&from);
    stage_open(&to);
    from.peer.chunk = 4;
    say(&from, S("abcdef"));
    turns(&from, 1);
    conn_detach(&from.peer.conn, S(""), &cargo);
    turns(&from, 2);
    CHECK_INT(from.peer.ends, 0);
    conn_close(&to.peer.conn, ERR_CLOSED);
    turns(&to, 1);
    CHECK_INT(conn_init_from(&to.peer.conn, to.flusher, &cargo, &ops), OK);
    CHECK_INT(cargo.fd, -1);
    loop_turn(to.loop, -1);
    CHECK_STR(buf_str(&to.peer.received), S("ef"));
    say(&from, S("gh"));
    turns(&to, 1);
    CHECK_STR(buf_str(&to.peer.received), S("efgh"));
    to.peer.ends = 0;
    stage_close(&to);
    stage_close(&from);
}

TEST(cargo_that_nobody_takes_is_closed)
{
    struct stage stage;
    struct conn_cargo cargo;
    char c;

    stage_open(&stage);
    stage.peer.chunk = 4;
    say(&stage, S("ab"));
    turns(&stage, 1);
    conn_detach(&stage.peer.conn, S(""), &cargo);
    conn_cargo_done(&cargo);
    conn_cargo_done(&cargo);
    CHECK_INT(recv(stage.far, &c, 1, 0), 0);
    stage_close(&stage);
}

/* A connection handed from one thread's loop to another's in a letter, from on_bytes. */
struct worker {
    struct loop *loop;
    struct conn_flusher *flusher;
    struct peer peer;
};

struct handover {
    struct loop_mail mail;
    struct conn_cargo cargo;
    struct worker *to;
};

static struct handover handover;

static size_t move_on_bytes(struct conn *conn, struct str bytes)
{
    conn_detach(conn, str_slice(bytes, 5, bytes.len), &handover.cargo);
    loop_post(handover.to->loop, &handover.mail);
    loop_stop(CONTAINER_OF(conn, struct worker, peer.conn)->loop);
    return bytes.len;
}

static void stop_on_end(struct conn *conn, enum err why)
{
    on_end(conn, why);
    loop_stop(CONTAINER_OF(conn, struct worker, peer.conn)->loop);
}

static const struct conn_ops moving_ops = { move_on_bytes, on_pull, on_taken,
                                            NULL,          NULL,    on_end };
static const struct conn_ops moved_ops = { on_bytes, on_pull, on_taken,
                                           NULL,     NULL,    stop_on_end };

static void deliver_handover(struct loop_mail *mail)
{
    struct handover *h = CONTAINER_OF(mail, struct handover, mail);

    CHECK_INT(conn_init_from(&h->to->peer.conn, h->to->flusher, &h->cargo, &moved_ops),
              OK);
}

static void *run_worker(void *user)
{
    loop_run(((struct worker *)user)->loop);
    return NULL;
}

static void worker_open(struct worker *worker)
{
    *worker = (struct worker){ .loop = loop_new() };
    worker->flusher = conn_flusher_new(worker->loop, NULL);
    buf_init(&worker->peer.received, MIB);
}

static void worker_done(struct worker *worker)
{
    buf_done(&worker->peer.received);
    conn_flusher_free(worker->flusher);
    loop_free(worker->loop);
}

TEST(a_connection_moves_between_threads)
{
    struct worker a, b;
    pthread_t threads[2];
    int ends[2];

    worker_open(&a);
    worker_open(&b);
    handover = (struct handover){ .mail.deliver = deliver_handover, .to = &b };
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    CHECK_INT(conn_init(&a.peer.conn, a.flusher, ends[0], NULL, &moving_ops), OK);
    (void)pthread_create(&threads[0], NULL, run_worker, &a);
    (void)pthread_create(&threads[1], NULL, run_worker, &b);
    CHECK_INT(send(ends[1], "hello world", 11, 0), 11);
    CHECK_INT(send(ends[1], "!", 1, 0), 1);
    (void)shutdown(ends[1], SHUT_WR);
    (void)pthread_join(threads[0], NULL);
    (void)pthread_join(threads[1], NULL);
    CHECK_STR(buf_str(&b.peer.received), S(" world!"));
    CHECK_INT(a.peer.ends, 0);
    CHECK_INT(b.peer.ends, 1);
    (void)close(ends[1]);
    worker_done(&a);
    worker_done(&b);
}

TEST(a_peer_that_has_ended_is_noticed_without_reading)
{
    struct stage stage;

    stage_open(&stage);
    conn_pause_reads(&stage.peer.conn, true);
    say(&stage, S("unread"));
    CHECK(!conn_peer_has_ended(&stage.peer.conn));
    CHECK_INT(shutdown(stage.far, SHUT_WR), 0);
    CHECK(conn_peer_has_ended(&stage.peer.conn));
    CHECK_INT(stage.peer.ends, 0);
    stage_close(&stage);
    CHECK(conn_peer_has_ended(&stage.peer.conn));
}
