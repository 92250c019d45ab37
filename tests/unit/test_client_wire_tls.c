/* SPDX-License-Identifier: Apache-2.0 */
/* A wire over TLS, against an OpenSSL server that the test plays. */
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certificate.h"
#include "harness.h"
#include "wire_stage.h"

/* The server of a test: its certificate is the one authority that the wire trusts. */
struct server {
    struct certificate certificate;
    SSL_CTX *settings;
    char url[64];
};

static void server_init(struct server *server, struct stage *s, const char *names,
                        const char *host)
{
    certificate_init(&server->certificate, names);
    server->settings = SSL_CTX_new(TLS_server_method());
    CHECK_INT(SSL_CTX_use_certificate_file(server->settings, server->certificate.file,
                                           SSL_FILETYPE_PEM),
              1);
    CHECK_INT(SSL_CTX_use_PrivateKey_file(server->settings, server->certificate.key_file,
                                          SSL_FILETYPE_PEM),
              1);
    stage_init(s);
    stage_listen(s);
    (void)snprintf(server->url, sizeof(server->url), "wss://%s:%d", host, s->port);
}

static void server_done(struct server *server, struct stage *s)
{
    stage_done(s);
    SSL_free(s->tls);
    SSL_CTX_free(server->settings);
    certificate_done(&server->certificate);
}

static ssize_t tls_read(struct stage *s, char *out, size_t size)
{
    size_t len;

    return SSL_read_ex(s->tls, out, size, &len) == 1 ? (ssize_t)len : -1;
}

static ssize_t tls_write(struct stage *s, const char *bytes, size_t len)
{
    size_t sent;

    return SSL_write_ex(s->tls, bytes, len, &sent) == 1 ? (ssize_t)sent : -1;
}

/* Accepts the next connection and steps until hands are shaken or the wire says no. */
static void shake_hands(struct server *server, struct stage *s)
{
    SSL_free(s->tls);
    s->tls = SSL_new(server->settings);
    for (int i = 0; i < STAGE_STEPS && s->far < 0; i++) {
        stage_step(s);
        s->far = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    (void)SSL_set_fd(s->tls, s->far);
    SSL_set_accept_state(s->tls);
    s->read = tls_read;
    s->write = tls_write;
    for (int i = 0; i < STAGE_STEPS && !s->told.len && SSL_do_handshake(s->tls) != 1; i++)
        stage_step(s);
}

static void open_wire(struct server *server, struct stage *s)
{
    struct wire_settings settings = stage_settings(str_of(server->url));

    settings.ca_file = str_of(server->certificate.file);
    stage_wire(s, &settings);
    shake_hands(server, s);
    far_accept(s, S("\x81\x02hi"));
    CHECK_STR(stage_hear_texts(s, 1), S("open\ntext hi\n"));
}

TEST(a_certificate_that_is_trusted_and_fits_opens_the_wire)
{
    static const struct {
        const char *names, *host;
    } cases[] = {
        { "DNS:localhost", "localhost" },
        { "IP:127.0.0.1", "127.0.0.1" },
        { NULL, "localhost" },
    };

    FOR_EACH_CASE(c, cases) {
        struct server server;
        struct stage s;

        server_init(&server, &s, c->names, c->host);
        open_wire(&server, &s);
        CHECK_INT(wire_send(s.wire, S("hello")), OK);
        CHECK_STR(far_hear_frames(&s), S("text hello\n"));
        server_done(&server, &s);
    }
}

TEST(a_certificate_for_somebody_else_ends_it)
{
    static const struct {
        const char *names, *host, *why;
    } cases[] = {
        { "DNS:elsewhere.example", "localhost", "hostname mismatch" },
        { "DNS:l*t", "localhost", "hostname mismatch" },
        { "DNS:*", "localhost", "hostname mismatch" },
        { "DNS:localhost", "127.0.0.1", "IP address mismatch" },
        { "IP:127.0.0.2", "127.0.0.1", "IP address mismatch" },
        { NULL, "127.0.0.1", "IP address mismatch" },
    };

    FOR_EACH_CASE(c, cases) {
        struct wire_settings settings;
        struct server server;
        struct stage s;
        char expected[200];

        server_init(&server, &s, c->names, c->host);
        settings = stage_settings(str_of(server.url));
        settings.ca_file = str_of(server.certificate.file);
        stage_wire(&s, &settings);
        shake_hands(&server, &s);
        (void)snprintf(expected, sizeof(expected),
                       "over: cannot connect securely to %s:%d: %s\n", c->host, s.port,
                       c->why);
        CHECK_STR(stage_hear_wire(&s), str_of(expected));
        far_listen(&s);
        CHECK_INT(s.heard.len, 0); /* the token was not told */
        server_done(&server, &s);
    }
}

TEST(a_certificate_that_nobody_vouches_for_ends_it)
{
    struct certificate other;
    struct server server;
    struct stage s;

    certificate_init(&other, "DNS:other.example");
    for (int i = 0; i < 2; i++) {
        struct wire_settings settings;
        struct str told;

        server_init(&server, &s, "DNS:localhost", "localhost");
        settings = stage_settings(str_of(server.url));
        settings.ca_file = i ? str_of(other.file) : S(""); /* what the system trusts */
        stage_wire(&s, &settings);
        shake_hands(&server, &s);
        told = stage_hear_wire(&s);
        CHECK(str_starts(told, S("over: cannot connect securely to localhost:")));
        CHECK(memmem(told.ptr, told.len, "certificate", 11) != NULL);
        server_done(&server, &s);
    }
    certificate_done(&other);
}

TEST(a_server_without_tls_is_told_of)
{
    struct wire_settings settings;
    struct stage s;
    char url[64];

    stage_init(&s);
    stage_listen(&s);
    (void)snprintf(url, sizeof(url), "wss://127.0.0.1:%d", s.port);
    settings = stage_settings(str_of(url));
    stage_wire(&s, &settings);
    for (int i = 0; i < STAGE_STEPS && s.far < 0; i++) {
        stage_step(&s);
        s.far = accept4(s.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    far_say(&s, S("HTTP/1.1 400 Bad Request\r\n\r\n"));
    CHECK(str_starts(stage_hear_wire(&s), S("broken: cannot connect securely to ")));
    stage_done(&s);
}

/* What has been decrypted and not been taken is announced by no event. */
TEST(much_at_once_arrives_without_another_event)
{
    enum { ALL_BYTES = 200'000, RECORD_BYTES = 10'007 };
    struct server server;
    struct stage s;
    struct buf frames;
    size_t count = 1;

    server_init(&server, &s, "DNS:localhost", "localhost");
    open_wire(&server, &s);
    stage_widen(&s);
    s.is_quiet = true;
    buf_init(&frames, MIB);
    for (; frames.len < ALL_BYTES; count++)
        ws_frame_write(&frames, WS_OP_TEXT,
                       S("a text of some length, so that many make much: lorem ipsum "
                         "dolor sit amet, consectetur adipisici elit"));
    for (size_t at = 0; at < frames.len; at += RECORD_BYTES)
        far_say(&s, str_slice(buf_str(&frames), at, at + RECORD_BYTES));
    stage_await(&s, ALL_BYTES);
    for (int i = 0; i < STAGE_STEPS && s.texts < count; i++) {
        struct pollfd poller = { .fd = wire_fd(s.wire), .events = POLLIN };

        /* Only an event or a due time lets it step. */
        if (wire_due_ms(s.wire) <= s.now_ms || poll(&poller, 1, 20) > 0)
            wire_step(s.wire, s.now_ms);
    }
    CHECK_INT(s.texts, count);
    buf_done(&frames);
    server_done(&server, &s);
}

TEST(big_texts_go_both_ways)
{
    struct server server;
    struct stage s;
    struct buf big;

    server_init(&server, &s, "DNS:localhost", "localhost");
    open_wire(&server, &s);
    buf_init(&big, MIB);
    while (big.len < MIB)
        buf_putc(&big, (char)('a' + big.len % 26));
    CHECK_INT(wire_send(s.wire, buf_str(&big)), OK);
    far_hear_bytes(&s, MIB + 14);
    CHECK_INT(s.heard.len, MIB + 14);
    s.is_quiet = true;
    far_say_frame(&s, WS_OP_TEXT, buf_str(&big));
    (void)stage_hear_texts(&s, 2);
    CHECK_INT(s.texts, 2);
    buf_done(&big);
    server_done(&server, &s);
}

TEST(it_comes_back_and_resumes_the_session)
{
    struct server server;
    struct stage s;

    server_init(&server, &s, "DNS:localhost", "localhost");
    open_wire(&server, &s);
    CHECK_INT(SSL_session_reused(s.tls), 0);
    for (int i = 0; i < 3; i++) {
        far_hang_up(&s);
        CHECK(str_starts(stage_hear_wire(&s), S("broken: the connection was lost")));
        s.now_ms = wire_due_ms(s.wire);
        s.texts = 0;
        shake_hands(&server, &s);
        far_accept(&s, S("\x81\x02hi"));
        CHECK_STR(stage_hear_texts(&s, 1), S("open\ntext hi\n"));
        CHECK_INT(SSL_session_reused(s.tls), 1);
    }
    server_done(&server, &s);
}

/* The signal's default action would end the test. */
static void write_to_nobody(struct stage *s)
{
    static char text[100'000];
    struct linger linger = { .l_onoff = 1 };

    memset(text, 'x', sizeof(text));
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    CHECK_INT(setsockopt(s->far, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    far_hang_up(s);
    for (int i = 0; i < 20; i++)
        CHECK_INT(wire_send(s->wire, (struct str){ text, sizeof(text) }), OK);
    CHECK(str_starts(stage_hear_wire(s), S("broken: the connection was lost")));
}

TEST(writing_to_nobody_raises_no_signal)
{
    struct server server;
    struct stage s;

    stage_open(&s, NULL);
    write_to_nobody(&s);
    stage_done(&s);
    server_init(&server, &s, "DNS:localhost", "localhost");
    open_wire(&server, &s);
    write_to_nobody(&s);
    server_done(&server, &s);
}
