/* SPDX-License-Identifier: Apache-2.0 */
/* TLS connections against an OpenSSL client at the other end of a socket pair. */
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "certificate.h"
#include "harness.h"
#include "net/conn.h"
#include "net/tls.h"

enum { MIB = 1024 * 1024 };

static struct certificate certificate;

static void remove_files(void)
{
    certificate_done(&certificate);
}

/* The server's settings, made once. */
static struct tls *settings(void)
{
    static struct tls *tls;
    char *why;

    if (tls)
        return tls;
    certificate_init(&certificate, NULL);
    (void)atexit(remove_files);
    CHECK_INT(tls_new(certificate.file, certificate.key_file, &tls, &why), OK);
    return tls;
}

struct stage {
    struct loop *loop;
    struct conn_flusher *flusher;
    struct conn conn;
    struct buf received;
    bool pauses;
    bool moves; /* detaches in on_bytes, having read one byte */
    struct conn_cargo cargo;
    struct str output;
    size_t taken;
    int blocked;
    int ends;
    enum err why;
    int far;
    SSL_CTX *client_settings;
    SSL *client;
};

static size_t on_bytes(struct conn *conn, struct str bytes)
{
    struct stage *stage = CONTAINER_OF(conn, struct stage, conn);

    if (stage->moves) {
        CHECK_INT(buf_append(&stage->received, str_slice(bytes, 0, 1)), OK);
        conn_detach(conn, str_slice(bytes, 1, bytes.len), &stage->cargo);
        return bytes.len;
    }
    if (stage->pauses) {
        conn_pause_reads(conn, true);
        return 0;
    }
    CHECK_INT(buf_append(&stage->received, bytes), OK);
    return bytes.len;
}

static size_t on_pull(struct conn *conn, struct iovec *out, size_t max)
{
    struct stage *stage = CONTAINER_OF(conn, struct stage, conn);
    size_t at = stage->taken;
    size_t count = 0;

    for (; count < max && at < stage->output.len; count++) {
        size_t len = 1 + (at * 7) % 5000;

        if (len > stage->output.len - at)
            len = stage->output.len - at;
        out[count] = (struct iovec){ (char *)(uintptr_t)stage->output.ptr + at, len };
        at += len;
    }
    return count;
}

static void on_taken(struct conn *conn, size_t bytes, size_t)
{
    CONTAINER_OF(conn, struct stage, conn)->taken += bytes;
}

static void on_blocked(struct conn *conn, bool is_blocked)
{
    CONTAINER_OF(conn, struct stage, conn)->blocked += is_blocked ? 1 : -1;
}

static void on_end(struct conn *conn, enum err why)
{
    struct stage *stage = CONTAINER_OF(conn, struct stage, conn);

    stage->ends++;
    stage->why = why;
}

static const struct conn_ops ops = {
    on_bytes, on_pull, on_taken, NULL, on_blocked, on_end
};

static void stage_open(struct stage *stage)
{
    int ends[2] = { -1, -1 };

    *stage = (struct stage){ .loop = loop_new(), .cargo.fd = -1 };
    stage->flusher = conn_flusher_new(stage->loop, NULL);
    loop_set_now(stage->loop, 0, 0);
    buf_init(&stage->received, 16 * MIB);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
              0);
    stage->far = ends[1];
    CHECK_INT(conn_init(&stage->conn, stage->flusher, ends[0], settings(), &ops), OK);
    stage->client_settings = SSL_CTX_new(TLS_client_method());
    stage->client = SSL_new(stage->client_settings);
    (void)SSL_set_fd(stage->client, stage->far);
    SSL_set_connect_state(stage->client);
}

static void stage_close(struct stage *stage)
{
    conn_close(&stage->conn, ERR_CLOSED);
    loop_turn(stage->loop, 0);
    conn_cargo_done(&stage->cargo);
    SSL_free(stage->client);
    SSL_CTX_free(stage->client_settings);
    if (stage->far >= 0)
        (void)close(stage->far);
    buf_done(&stage->received);
    conn_flusher_free(stage->flusher);
    loop_free(stage->loop);
}

static void turns(const struct stage *stage, int count)
{
    while (count-- > 0)
        loop_turn(stage->loop, 0);
}

static void shake_hands(struct stage *stage)
{
    for (int i = 0; i < 20 && SSL_do_handshake(stage->client) != 1; i++)
        loop_turn(stage->loop, 0);
    turns(stage, 2);
    CHECK_INT(SSL_is_init_finished(stage->client), 1);
    CHECK_INT(stage->conn.state, CONN_OPEN);
}

/* The client reads what is there; returns the last error. */
static int hear(struct stage *stage, struct buf *into)
{
    static char part[16 * 1024];
    size_t len;

    while (SSL_read_ex(stage->client, part, sizeof(part), &len) == 1)
        CHECK_INT(buf_append(into, (struct str){ part, len }), OK);
    return SSL_get_error(stage->client, 0);
}

static void say(struct stage *stage, struct str bytes)
{
    size_t done = 0;
    size_t len;

    while (done < bytes.len && !stage->ends) {
        size_t part = bytes.len - done < 16'000 ? bytes.len - done : 16'000;

        if (SSL_write_ex(stage->client, bytes.ptr + done, part, &len) == 1)
            done += len;
        else
            loop_turn(stage->loop, 0);
    }
}

static struct str pattern(char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        memory[i] = (char)(i * 31 + i / 251);
    return (struct str){ memory, size };
}

static void hear_all(struct stage *stage, struct buf *heard, size_t size)
{
    for (int i = 0; heard->len < size && i < 100'000; i++) {
        CHECK_INT(hear(stage, heard), SSL_ERROR_WANT_READ);
        loop_turn(stage->loop, 0);
    }
}

TEST(bytes_go_both_ways_and_the_end_is_announced)
{
    static char memory[MIB];
    struct stage stage;
    struct buf heard;

    buf_init(&heard, 4 * MIB);
    stage_open(&stage);
    conn_wake(&stage.conn); /* before the handshake: harmless */
    stage.output = pattern(memory, sizeof(memory));
    shake_hands(&stage);
    say(&stage, S("hello"));
    conn_wake(&stage.conn);
    hear_all(&stage, &heard, sizeof(memory));
    CHECK_STR(buf_str(&stage.received), S("hello"));
    CHECK_INT(heard.len, sizeof(memory));
    CHECK(memcmp(heard.ptr, memory, sizeof(memory)) == 0);
    conn_finish(&stage.conn);
    turns(&stage, 2);
    CHECK_INT(hear(&stage, &heard), SSL_ERROR_ZERO_RETURN);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(a_slow_reader_leaves_bounded_ciphertext_and_loses_nothing)
{
    static char memory[2 * MIB];
    struct stage stage;
    struct buf heard;
    size_t taken;
    int small = 4096;

    buf_init(&heard, 4 * MIB);
    stage_open(&stage);
    shake_hands(&stage);
    (void)setsockopt(stage.conn.io.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    stage.output = pattern(memory, sizeof(memory));
    conn_wake(&stage.conn);
    turns(&stage, 2);
    CHECK_INT(stage.blocked, 1);
    CHECK(conn_unsent(&stage.conn) > 0);
    CHECK(conn_unsent(&stage.conn) < 20'000);
    taken = stage.taken;
    conn_wake(&stage.conn);
    turns(&stage, 3);
    CHECK_INT(stage.taken, taken);
    hear_all(&stage, &heard, sizeof(memory));
    turns(&stage, 2);
    CHECK_INT(heard.len, sizeof(memory));
    CHECK(memcmp(heard.ptr, memory, heard.len) == 0);
    CHECK_INT(stage.blocked, 0);
    CHECK_INT(conn_unsent(&stage.conn), 0);
    CHECK(stage.conn.ciphertext == NULL);
    stage_close(&stage);
    buf_done(&heard);
}

TEST(what_the_session_has_already_decrypted_is_not_forgotten)
{
    static char memory[150'000];
    struct stage stage;

    stage_open(&stage);
    shake_hands(&stage);
    say(&stage, pattern(memory, sizeof(memory)));
    for (int i = 0; i < 50 && stage.received.len < sizeof(memory); i++)
        turns(&stage, 1);
    CHECK_INT(stage.received.len, sizeof(memory));
    CHECK(memcmp(stage.received.ptr, memory, stage.received.len) == 0);
    stage_close(&stage);
}

TEST(pausing_holds_back_even_what_is_decrypted)
{
    struct stage stage;

    stage_open(&stage);
    shake_hands(&stage);
    stage.pauses = true;
    say(&stage, S("one"));
    turns(&stage, 2);
    say(&stage, S("two"));
    (void)SSL_shutdown(stage.client);
    turns(&stage, 2);
    CHECK_INT(stage.ends, 0);
    stage.pauses = false;
    conn_pause_reads(&stage.conn, false);
    turns(&stage, 3);
    CHECK_STR(buf_str(&stage.received), S("onetwo"));
    CHECK_INT(stage.ends, 1);
    CHECK_INT(stage.why, ERR_CLOSED);
    stage_close(&stage);
}

TEST(an_end_seen_while_paused_waits_for_the_bytes_before_it)
{
    struct stage stage;

    stage_open(&stage);
    shake_hands(&stage);
    stage.pauses = true;
    say(&stage, S("one"));
    (void)SSL_shutdown(stage.client); /* arrives in the same read */
    turns(&stage, 3);
    CHECK_INT(stage.ends, 0);
    stage.pauses = false;
    conn_pause_reads(&stage.conn, false);
    turns(&stage, 2);
    CHECK_STR(buf_str(&stage.received), S("one"));
    CHECK_INT(stage.ends, 1);
    CHECK_INT(stage.why, ERR_CLOSED);
    stage_close(&stage);
}

TEST(a_session_moves_with_its_connection)
{
    struct stage from, to;

    stage_open(&from);
    stage_open(&to);
    shake_hands(&from);
    from.moves = true;
    say(&from, S("hello"));
    turns(&from, 2);
    CHECK_INT(from.ends, 0);
    CHECK_INT(from.received.len, 1);
    conn_close(&to.conn, ERR_CLOSED);
    turns(&to, 1);
    CHECK_INT(conn_init_from(&to.conn, to.flusher, &from.cargo, &ops), OK);
    say(&from, S(" world"));
    turns(&to, 2);
    CHECK_STR(buf_str(&to.received), S("ello world"));
    to.output = S("answer");
    conn_wake(&to.conn);
    turns(&to, 1);
    CHECK_INT(hear(&from, &from.received), SSL_ERROR_WANT_READ);
    CHECK_STR(buf_str(&from.received), S("hanswer"));
    stage_close(&to);
    stage_close(&from);
}

TEST(a_cut_connection_is_an_error)
{
    struct stage stage;

    stage_open(&stage);
    shake_hands(&stage);
    (void)shutdown(stage.far, SHUT_WR);
    turns(&stage, 2);
    CHECK_INT(stage.ends, 1);
    CHECK_INT(stage.why, ERR_IO);
    stage_close(&stage);
}

TEST(what_is_not_tls_ends_the_handshake)
{
    struct stage stage;

    stage_open(&stage);
    CHECK_INT(send(stage.far, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    turns(&stage, 2);
    CHECK_INT(stage.ends, 1);
    CHECK_INT(stage.why, ERR_IO);
    stage_close(&stage);
}

TEST(a_handshake_has_a_deadline)
{
    struct stage stage;

    stage_open(&stage);
    CHECK_INT(send(stage.far, "\x16\x03", 2, 0), 2);
    turns(&stage, 2);
    loop_set_now(stage.loop, CONN_HANDSHAKE_MS - 1, 0);
    turns(&stage, 1);
    CHECK_INT(stage.ends, 0);
    loop_set_now(stage.loop, CONN_HANDSHAKE_MS, 0);
    turns(&stage, 1);
    CHECK_INT(stage.ends, 1);
    CHECK_INT(stage.why, ERR_TIMEOUT);
    stage_close(&stage);
}

TEST(http_1_1_is_agreed_on_and_nothing_else)
{
    static const struct {
        struct str offer;
        bool is_fine;
    } cases[] = {
        { S("\x08http/1.1"), true },
        { S("\x02h2\x08http/1.1"), true },
        { S("\x02h2"), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        const unsigned char *chosen;
        unsigned len;

        stage_open(&stage);
        (void)SSL_set_alpn_protos(stage.client, (const unsigned char *)c->offer.ptr,
                                  (unsigned)c->offer.len);
        for (int i = 0; i < 10 && SSL_do_handshake(stage.client) != 1; i++)
            turns(&stage, 1);
        SSL_get0_alpn_selected(stage.client, &chosen, &len);
        CHECK_INT(SSL_is_init_finished(stage.client), c->is_fine);
        CHECK_INT(len, c->is_fine ? 8 : 0);
        stage_close(&stage);
    }
}

TEST(bad_files_are_named)
{
    struct tls *tls;
    char *why;

    (void)settings();
    CHECK_INT(tls_new("/nonexistent.pem", certificate.key_file, &tls, &why), ERR_INVALID);
    CHECK(strstr(why, "/nonexistent.pem") != NULL);
    free(why);
    CHECK_INT(tls_new(certificate.file, certificate.file, &tls, &why), ERR_INVALID);
    CHECK(strstr(why, "key") != NULL);
    free(why);
}

TEST(settings_are_counted)
{
    struct tls *tls = settings();

    tls_unref(tls_ref(tls));
    tls_unref(tls);
    tls_unref(NULL);
}
