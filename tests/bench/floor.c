/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: the least that a WebSocket broadcaster can do on this machine. It accepts
 * handshakes, takes masks off and sends each text frame to every connection of its room
 * (?topic=), with one send per connection and turn. No JSON, no checks, no limits but
 * memory. What a real server needs beyond this is the price of what it does.
 *
 * A room collects the frames of a turn in one run; at the end of the turn every member
 * is sent the whole run. A member with echo=off gets it without its own pieces.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "bench/frame.h"
#include "bench/stream.h"
#include "crypto/crypto.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455 1.3 */

enum { EVENTS = 512, BACKLOG = 4096, HEAD_MAX = 8192 };

struct member;

struct piece {
    const struct member *from;
    size_t start;
    size_t end;
};

struct room {
    char *name;
    struct link members;
    struct link dirty; /* in floor.dirty while the run is not empty */
    struct buf run;
    struct buf pieces; /* struct piece, for those without echo */
};

struct member {
    int fd;
    bool is_upgraded;
    bool has_echo;
    bool watches_write;
    struct room *room;
    struct link link;
    struct buf rest;
    struct buf out; /* what a full socket did not take */
};

struct floor {
    int epoll;
    int listener;
    struct map rooms;
    struct link dirty;
    struct buf rx;
    struct buf scratch;
};

static volatile sig_atomic_t has_stopped;

static void on_signal(int)
{
    has_stopped = 1;
}

_Noreturn static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void watch(const struct floor *floor, struct member *member, int op,
                  uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = member };

    if (epoll_ctl(floor->epoll, op, member->fd, &event))
        fail("epoll_ctl");
}

static struct room *room_of(struct floor *floor, struct str name)
{
    struct room *room = map_find(&floor->rooms, name);

    if (room)
        return room;
    room = xcalloc(1, sizeof(*room));
    room->name = str_dup(name);
    list_init(&room->members);
    buf_init(&room->run, STREAM_MAX);
    buf_init(&room->pieces, STREAM_MAX);
    map_set(&floor->rooms, str_of(room->name), room);
    return room;
}

static void member_free(struct member *member)
{
    list_remove(&member->link);
    (void)close(member->fd);
    buf_done(&member->rest);
    buf_done(&member->out);
    free(member);
}

/* Sends what is waiting; false when the peer is gone. */
static bool member_flush(const struct floor *floor, struct member *member)
{
    enum err err = stream_send(member->fd, &member->out);

    if (err && err != ERR_AGAIN)
        return false;
    if (!err && member->out.ptr)
        buf_done(&member->out);
    if ((err == ERR_AGAIN) == member->watches_write)
        return true;
    member->watches_write = err == ERR_AGAIN;
    watch(floor, member, EPOLL_CTL_MOD,
          member->watches_write ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return true;
}

/* Sends straight from the caller's memory and keeps only what the socket refused. */
static bool member_send(const struct floor *floor, struct member *member,
                        struct str bytes)
{
    ssize_t sent = 0;

    if (!bytes.len)
        return true;
    if (!member->out.len)
        sent = send(member->fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
        return false;
    if (sent < 0)
        sent = 0;
    if ((size_t)sent == bytes.len)
        return true;
    if (buf_append(&member->out, str_slice(bytes, (size_t)sent, bytes.len)))
        return false;
    return member_flush(floor, member);
}

static struct str run_without(struct floor *floor, const struct room *room,
                              const struct member *member)
{
    const struct piece *pieces = (const struct piece *)(void *)room->pieces.ptr;
    size_t count = room->pieces.len / sizeof(*pieces);

    buf_clear(&floor->scratch);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].from != member)
            buf_put(&floor->scratch,
                    str_slice(buf_str(&room->run), pieces[i].start, pieces[i].end));
    return buf_str(&floor->scratch);
}

static void room_flush(struct floor *floor, struct room *room)
{
    struct member *member;

    LIST_FOREACH(member, &room->members, link) {
        struct str run =
            member->has_echo ? buf_str(&room->run) : run_without(floor, room, member);

        if (!member_send(floor, member, run))
            member_free(member);
    }
    buf_clear(&room->run);
    buf_clear(&room->pieces);
    list_remove(&room->dirty);
}

static bool room_append(struct floor *floor, const struct member *member,
                        const struct frame *frame)
{
    struct room *room = member->room;
    struct piece piece = { .from = member, .start = room->run.len };

    if (frame_forward(&room->run, frame))
        return false;
    piece.end = room->run.len;
    buf_put(&room->pieces, (struct str){ (const char *)&piece, sizeof(piece) });
    if (!link_is_set(&room->dirty))
        list_append(&floor->dirty, &room->dirty);
    return true;
}

static bool on_frame(struct floor *floor, struct member *member,
                     const struct frame *frame)
{
    switch (frame->opcode) {
    case FRAME_TEXT: return room_append(floor, member, frame);
    case FRAME_PING: {
        struct frame pong = *frame;

        pong.opcode = FRAME_PONG;
        return frame_forward(&member->out, &pong) == OK && member_flush(floor, member);
    }
    case FRAME_PONG: return true;
    default: return false;
    }
}

/* The value of a header, or the empty str. */
static struct str header(struct str head, struct str name)
{
    while (head.ptr) {
        struct str line = str_cut(&head, '\n');
        struct str key = str_cut(&line, ':');

        if (line.ptr && str_ieq(key, name))
            return str_trim(str_slice(line, 0, str_find(line, '\r', 0)));
    }
    return (struct str){};
}

static void enter_room(struct floor *floor, struct member *member, struct str head)
{
    struct str target = str_slice(head, 4, str_find(head, ' ', 4));
    struct str topic = {};

    member->has_echo = true;
    (void)str_cut(&target, '?');
    while (target.ptr) {
        struct str pair = str_cut(&target, '&');

        if (str_starts(pair, S("topic=")))
            topic = str_slice(pair, 6, pair.len);
        if (str_eq(pair, S("echo=off")))
            member->has_echo = false;
    }
    member->room = room_of(floor, topic);
    list_append(&member->room->members, &member->link);
}

static void write_accept(struct buf *out, struct str key)
{
    uint8_t digest[SHA1_BYTES];
    char text[128];
    int len = snprintf(text, sizeof(text), STR_FMT GUID, STR_ARG(str_slice(key, 0, 64)));

    crypto_sha1((struct str){ text, (size_t)len }, digest);
    buf_put(out, S("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"));
    buf_put(out, S("Connection: Upgrade\r\nSec-WebSocket-Accept: "));
    base64_write(out, (struct str){ (const char *)digest, sizeof(digest) });
    buf_put(out, S("\r\n\r\n"));
}

/* Takes the request off `bytes`. ERR_AGAIN while it is not complete, ERR_CLOSED when the
 * connection is done. */
static enum err on_request(struct floor *floor, struct member *member, struct str *bytes)
{
    const char *end = memmem(bytes->ptr, bytes->len, "\r\n\r\n", 4);
    struct str head;
    struct str key;

    if (!end)
        return bytes->len < HEAD_MAX ? ERR_AGAIN : ERR_CLOSED;
    head = str_slice(*bytes, 0, (size_t)(end - bytes->ptr) + 4);
    *bytes = str_slice(*bytes, head.len, bytes->len);
    key = header(head, S("Sec-WebSocket-Key"));
    if (!key.len) {
        buf_put(&member->out, S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                                "Connection: close\r\n\r\n"));
        (void)member_flush(floor, member);
        return ERR_CLOSED;
    }
    write_accept(&member->out, key);
    if (!member_flush(floor, member))
        return ERR_CLOSED;
    enter_room(floor, member, head);
    member->is_upgraded = true;
    return OK;
}

/* False when the connection is done. */
static bool on_readable(struct floor *floor, struct member *member)
{
    enum err err = stream_read(member->fd, &member->rest, &floor->rx);
    struct str bytes = buf_str(&floor->rx);

    if (err)
        return err == ERR_AGAIN;
    if (!member->is_upgraded)
        err = on_request(floor, member, &bytes);
    while (!err) {
        struct frame frame;

        err = frame_parse(bytes, &frame);
        if (err)
            break;
        if (!on_frame(floor, member, &frame))
            return false;
        bytes = str_slice(bytes, frame.size, bytes.len);
    }
    return err == ERR_AGAIN && stream_keep(&member->rest, bytes) == OK;
}

static void on_accept(const struct floor *floor)
{
    int on = 1;

    for (;;) {
        int fd = accept4(floor->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        struct member *member;

        if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR))
            return;
        if (fd < 0)
            fail("accept");
        member = xcalloc(1, sizeof(*member));
        member->fd = fd;
        buf_init(&member->rest, STREAM_MAX);
        buf_init(&member->out, STREAM_MAX);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        watch(floor, member, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void on_event(struct floor *floor, struct member *member, uint32_t events)
{
    bool is_alive = true;

    if (!member) {
        on_accept(floor);
        return;
    }
    if (events & EPOLLOUT)
        is_alive = member_flush(floor, member);
    if (is_alive && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        is_alive = on_readable(floor, member);
    if (!is_alive)
        member_free(member);
}

static void turn(struct floor *floor)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(floor->epoll, events, EVENTS, -1);

    if (count < 0 && errno != EINTR)
        fail("epoll_wait");
    for (int i = 0; i < count; i++)
        on_event(floor, events[i].data.ptr, events[i].events);
    while (!list_is_empty(&floor->dirty))
        room_flush(floor, LIST_FIRST(&floor->dirty, struct room, dirty));
}

static unsigned start_listening(struct floor *floor, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct epoll_event event = { .events = EPOLLIN };
    socklen_t size = sizeof(address);
    int on = 1;

    floor->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (floor->listener < 0)
        fail("socket");
    (void)setsockopt(floor->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(floor->listener, (struct sockaddr *)&address, size))
        fail("bind");
    if (listen(floor->listener, BACKLOG))
        fail("listen");
    if (epoll_ctl(floor->epoll, EPOLL_CTL_ADD, floor->listener, &event))
        fail("epoll_ctl");
    (void)getsockname(floor->listener, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

/* Frees the rooms; connections still in their handshake end with the process. */
static void floor_done(struct floor *floor)
{
    struct room *room;

    MAP_FOREACH(room, &floor->rooms) {
        struct member *member;

        LIST_FOREACH(member, &room->members, link)
            member_free(member);
        buf_done(&room->run);
        buf_done(&room->pieces);
        free(room->name);
        free(room);
    }
    map_done(&floor->rooms);
    buf_done(&floor->rx);
    buf_done(&floor->scratch);
}

static void raise_file_limit(void)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    struct floor floor = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
    struct sigaction stop = { .sa_handler = on_signal };
    uint64_t port = 0;

    if (argc > 2 || (argc == 2 && str_to_u64(str_of(argv[1]), UINT16_MAX, &port))) {
        (void)fputs("usage: floor [PORT]\n", stderr);
        return 2;
    }
    if (floor.epoll < 0)
        fail("epoll_create1");
    (void)sigaction(SIGTERM, &stop, NULL);
    (void)sigaction(SIGINT, &stop, NULL);
    raise_file_limit();
    map_init(&floor.rooms);
    list_init(&floor.dirty);
    buf_init(&floor.rx, (size_t)2 * STREAM_MAX);
    buf_init(&floor.scratch, STREAM_MAX);
    printf("listening on 127.0.0.1:%u\n", start_listening(&floor, (uint16_t)port));
    (void)fflush(stdout);
    while (!has_stopped)
        turn(&floor);
    floor_done(&floor);
    return 0;
}
