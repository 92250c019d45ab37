/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of the load generator. Until the run has begun every failure ends it
 * with its reason; afterwards a lost connection is counted.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "bench/bench_priv.h"
#include "bench/churn.h"
#include "bench/frame.h"
#include "bench/stream.h"
#include "json/json.h"
#include "net/tls_client.h"

enum { CLIENTS_PER_SOURCE = 20'000 };
enum { TOKEN_SIZE = 256, WELCOME_ARENA = 64 * 1024 * 1024 };

static void watch(struct load *load, struct client *client, int op, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = client };

    if (epoll_ctl(load->epoll, op, client->fd, &event))
        load_fail(load, "epoll_ctl: %s", strerror(errno));
}

static void disconnect(struct client *client)
{
    tls_session_free(client->tls);
    client->tls = NULL;
    if (client->fd >= 0)
        (void)close(client->fd);
    client->fd = -1;
    client->watches_write = false;
    buf_clear(&client->out);
    buf_clear(&client->rest);
}

void client_watch(struct load *load, struct client *client, uint32_t events)
{
    watch(load, client, EPOLL_CTL_MOD, events);
}

static void refuse(struct load *load, const struct client *client, const char *why)
{
    load_fail(load, "client %u: %s", (unsigned)client->index, why);
}

static void client_close(struct load *load, struct client *client, const char *why)
{
    if (client->state == CLIENT_CLOSED)
        return;
    if (client->state == CLIENT_OPEN) {
        load->open--;
        if (!(load->churn && churn_on_close(load, client)) && load->counts.closed++ == 0)
            (void)snprintf(load->result->first_close, BENCH_NOTE, "client %u: %s",
                           (unsigned)client->index, why);
    } else {
        refuse(load, client, why);
    }
    client->state = CLIENT_CLOSED;
    disconnect(client);
}

/* The port is chosen when the other end is known, so that all ports serve each server. */
static enum err bind_to(const struct client *client, uint32_t address)
{
    struct sockaddr_in source = { .sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(address) };
    int on = 1;

    (void)setsockopt(client->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    return bind(client->fd, (struct sockaddr *)&source, sizeof(source)) ? ERR_IO : OK;
}

/* A source address has some 28,000 ports towards one server; 127.0.0.0/8 has many. */
static enum err bind_source(const struct load *load, const struct client *client)
{
    uint64_t sources = load->options.sources;

    if (load->from.count)
        return bind_to(client, source_of(&load->from, client->index));
    if (!sources)
        sources = 1 + load->client_count / CLIENTS_PER_SOURCE;
    if (sources == 1 || !load->address.is_loopback)
        return OK;
    return bind_to(client, INADDR_LOOPBACK + (uint32_t)(client->index % sources));
}

void client_open(struct load *load, struct client *client)
{
    const struct address *address = &load->address;
    int on = 1;

    client->state = CLIENT_CONNECTING;
    client->close_code = 0;
    client->began_ns = clock_mono_ns();
    client->fd =
        socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || bind_source(load, client)) {
        refuse(load, client, strerror(errno));
        return;
    }
    (void)setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (load->receive_bytes)
        (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &load->receive_bytes,
                         sizeof(load->receive_bytes));
    if (connect(client->fd, (const struct sockaddr *)&address->socket,
                address->socket_size) &&
        errno != EINPROGRESS) {
        refuse(load, client, strerror(errno));
        return;
    }
    load->opening++;
    watch(load, client, EPOLL_CTL_ADD, EPOLLOUT);
}

static struct str token_of(const struct load *load, const struct client *client,
                           char text[static TOKEN_SIZE])
{
    const struct bench_options *options = &load->options;
    uint64_t participant = client->index;

    if (options->participants)
        participant %= options->participants;
    if (options->token_count)
        return options->tokens[participant % options->token_count];
    if (!options->token_prefix)
        return (struct str){};
    (void)snprintf(text, TOKEN_SIZE, "%s-%llu", options->token_prefix,
                   (unsigned long long)participant);
    return str_of(text);
}

/* A call needs no echo: the answer is the sign that it arrived. */
static void greet(struct load *load, struct client *client,
                  void (*write)(const struct seat *seat, struct buf *out))
{
    char token[TOKEN_SIZE];
    struct seat seat = {
        .host = load->address.host,
        .path = load->address.path,
        .topic = load_topic(load, client),
        .token = token_of(load, client, token),
        .presence = str_of(load->options.presence),
        .client = client->index,
        .has_echo = !load->options.is_pingpong,
        .is_dotted = client_dialect(load, client) == MESSAGE_DOTTED,
    };

    write(&seat, &client->out);
    client_flush(load, client);
}

static void begin_greeting(struct load *load, struct client *client)
{
    client->state = CLIENT_GREETING;
    watch(load, client, EPOLL_CTL_MOD, EPOLLIN);
    if (load->address.protocol->connect)
        greet(load, client, load->address.protocol->connect);
}

static void go_on_securing(struct load *load, struct client *client)
{
    enum err err = tls_session_handshake(client->tls);

    if (err == ERR_AGAIN)
        watch(load, client, EPOLL_CTL_MOD,
              tls_session_wants_write(client->tls) ? EPOLLOUT : EPOLLIN);
    else if (err)
        load_fail(load, "client %u: TLS: %s", (unsigned)client->index,
                  tls_session_why(client->tls));
    else
        begin_greeting(load, client);
}

static void begin_securing(struct load *load, struct client *client)
{
    client->state = CLIENT_SECURING;
    if (tls_session_new(load->tls, client->fd, load->address.name, load->options.resumes,
                        &client->tls))
        refuse(load, client, "TLS cannot be started");
    else
        go_on_securing(load, client);
}

static void on_connected(struct load *load, struct client *client)
{
    socklen_t size = sizeof(int);
    int failure = 0;

    (void)getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure) {
        load_fail(load, "client %u cannot connect: %s", (unsigned)client->index,
                  strerror(failure));
        return;
    }
    if (load->tls)
        begin_securing(load, client);
    else
        begin_greeting(load, client);
}

static void become_open(struct load *load, struct client *client)
{
    if (client->state == CLIENT_OPEN)
        return;
    client->state = CLIENT_OPEN;
    load->opening--;
    load->open++;
    load->counts.joined++;
    load->counts.resumed += client->tls && tls_session_is_resumed(client->tls);
    if (load->on_open)
        load->on_open(load, client);
}

static void on_accepted(struct load *load, struct client *client)
{
    const struct protocol *protocol = load->address.protocol;

    if (client->state != CLIENT_GREETING)
        return;
    client->state = CLIENT_SUBSCRIBING;
    if (protocol->subscribe)
        greet(load, client, protocol->subscribe);
    else if (load->options.is_plain)
        become_open(load, client);
}

/* The token decides who a client is, so the welcome is what knows the name that its
 * envelopes are from. */
static void read_welcome(struct client *client, struct str text)
{
    const struct json *root;
    const struct json *id;
    struct arena arena;

    arena_init(&arena, WELCOME_ARENA);
    if (json_parse(text, &arena, &root, NULL) == OK) {
        id = json_find(json_find(json_find(root, S("payload")), S("you")), S("id"));
        if (id && id->type == JSON_STRING)
            client->id = str_dup(id->text);
    }
    arena_done(&arena);
}

static bool contains(struct str text, struct str part)
{
    return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

static void on_message(struct load *load, struct client *client, struct str text)
{
    if (client->state == CLIENT_OPEN) {
        if (client->index < load->residents) {
            load->counts.member_frames++;
            load->counts.member_bytes += text.len;
        }
        traffic_receive(load, client, text);
        return;
    }
    if (contains(text, message_welcome[client_dialect(load, client)])) {
        if (load->options.publishers && !client->id)
            read_welcome(client, text);
        load->counts.welcome_bytes += text.len;
        become_open(load, client);
    } else if (contains(text, message_error[client_dialect(load, client)])) {
        load_fail(load, "client %u: instead of a welcome: " STR_FMT,
                  (unsigned)client->index, STR_ARG(str_slice(text, 0, BENCH_NOTE)));
    }
}

static void on_refused(struct load *load, struct client *client, struct str why)
{
    if (client->state == CLIENT_OPEN)
        traffic_refused(load, client, why);
    else
        load_fail(load, "client %u: the server refuses: " STR_FMT,
                  (unsigned)client->index, STR_ARG(str_slice(why, 0, BENCH_NOTE)));
}

/* WebSocket gives a code, the others nothing. */
static void on_end(struct load *load, struct client *client, struct str body)
{
    char why[64] = "closed by the server";

    if (body.len >= 2) {
        client->close_code = (uint16_t)((uint8_t)body.ptr[0] << 8 | (uint8_t)body.ptr[1]);
        (void)snprintf(why, sizeof(why), "closed by the server with %u",
                       (unsigned)client->close_code);
    }
    client_close(load, client, why);
}

static void on_ping(struct load *load, struct client *client, struct str body)
{
    const struct protocol *protocol = load->address.protocol;

    if (protocol->pong)
        protocol->pong(body, load_mask(load), &client->out);
    load_queue(load, client);
}

static void on_unit(struct load *load, struct client *client, const struct unit *unit)
{
    switch (unit->type) {
    case UNIT_MESSAGE: on_message(load, client, unit->body); break;
    case UNIT_NOTHING: break;
    case UNIT_ACCEPTED: on_accepted(load, client); break;
    case UNIT_READY: become_open(load, client); break;
    case UNIT_PING: on_ping(load, client, unit->body); break;
    case UNIT_REFUSED: on_refused(load, client, unit->body); break;
    case UNIT_END: on_end(load, client, unit->body); break;
    }
}

static void read_units(struct load *load, struct client *client, struct str bytes)
{
    enum err (*parse)(struct str, struct unit *) = load->address.protocol->parse;
    enum err err = OK;

    while (client->state != CLIENT_CLOSED && !load->has_failed) {
        struct unit unit;

        err = parse(bytes, &unit);
        if (err)
            break;
        on_unit(load, client, &unit);
        bytes = str_slice(bytes, unit.size, bytes.len);
    }
    if (client->state == CLIENT_CLOSED)
        return;
    if (err == ERR_AGAIN)
        err = stream_keep(&client->rest, bytes);
    if (err)
        client_close(load, client, "what the server sends cannot be read");
}

static void on_readable(struct load *load, struct client *client)
{
    enum err err = client->tls ? stream_read_tls(client->tls, &client->rest, &load->rx)
                               : stream_read(client->fd, &client->rest, &load->rx);

    if (err == ERR_AGAIN)
        return;
    if (err) {
        client_close(load, client, "connection lost");
        return;
    }
    load->now_ns = clock_mono_ns();
    load->heard_ns = load->now_ns;
    read_units(load, client, buf_str(&load->rx));
}

void client_on_event(struct load *load, struct client *client, uint32_t events)
{
    if (client->state == CLIENT_CLOSED || load->has_failed)
        return;
    if (client->state == CLIENT_CONNECTING) {
        on_connected(load, client);
        return;
    }
    if (client->state == CLIENT_SECURING) {
        go_on_securing(load, client);
        return;
    }
    if (events & EPOLLOUT)
        client_flush(load, client);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && client->state != CLIENT_CLOSED)
        on_readable(load, client);
}

void client_flush(struct load *load, struct client *client)
{
    enum err err;

    if (client->state == CLIENT_NEW || client->state == CLIENT_CLOSED)
        return;
    err = client->tls ? stream_send_tls(client->tls, &client->out)
                      : stream_send(client->fd, &client->out);
    if (err && err != ERR_AGAIN) {
        client_close(load, client, "connection lost while sending");
        return;
    }
    if ((err == ERR_AGAIN) == client->watches_write)
        return;
    client->watches_write = err == ERR_AGAIN;
    watch(load, client, EPOLL_CTL_MOD,
          client->watches_write ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void client_leave(struct load *load, struct client *client)
{
    static const char normal[] = { 0x03, (char)0xe8 }; /* 1000 */

    if (load->address.protocol == &protocol_ws)
        (void)frame_write_masked(&client->out, FRAME_CLOSE,
                                 (struct str){ normal, sizeof(normal) }, load_mask(load));
    load_queue(load, client);
}

/* Without lingering, so that neither side keeps the address for a minute. */
void client_drop(struct load *load, struct client *client)
{
    struct linger linger = { .l_onoff = 1 };

    if (client->state == CLIENT_OPEN)
        load->open--;
    (void)setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    disconnect(client);
    client->state = CLIENT_NEW;
}

void client_done(struct client *client)
{
    disconnect(client);
    free(client->id);
    buf_done(&client->rest);
    buf_done(&client->out);
}
