/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "harness.h"
#include "net/listen.h"

enum { MANY = 100 };

struct guests {
    int fds[MANY];
    int count;
    struct net_peer last;
};

static void on_accept(void *user, int fd, const struct net_peer *peer)
{
    struct guests *guests = user;

    guests->last = *peer;
    if (guests->count < MANY)
        guests->fds[guests->count++] = fd;
}

static void guests_leave(struct guests *guests)
{
    while (guests->count > 0)
        (void)close(guests->fds[--guests->count]);
}

/* Connects to what net_bound_address() wrote, or -1. */
static int call(int listening)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    int fd;

    (void)getsockname(listening, (struct sockaddr *)&at, &size);
    fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, size)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in at = {};
    socklen_t size = sizeof(at);

    (void)getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin_port);
}

TEST(addresses_are_understood_or_refused)
{
    static const struct {
        struct str address;
        enum err err;
        const char *bound; /* the beginning */
    } cases[] = {
        { S("127.0.0.1:0"), OK, "127.0.0.1:" },
        { S("localhost:0"), OK, "127.0.0.1:" },
        { S("0.0.0.0:0"), OK, "0.0.0.0:" },
        { S("127.0.0.1"), ERR_INVALID, "" },
        { S("127.0.0.1:"), ERR_INVALID, "" },
        { S("127.0.0.1:65536"), ERR_INVALID, "" },
        { S("127.0.0.1:-1"), ERR_INVALID, "" },
        { S("127.0.0.1:80x"), ERR_INVALID, "" },
        { S("[::1:80"), ERR_INVALID, "" },
        { S("::1:80"), ERR_INVALID, "" },
        { S("example.org:80"), ERR_INVALID, "" },
        { S(""), ERR_INVALID, "" },
        { S("unix:"), ERR_INVALID, "" },
        { S("192.0.2.1:0"), ERR_IO, "" },
        { S("unix:/nonexistent/folder/socket"), ERR_NOT_FOUND, "" },
    };

    FOR_EACH_CASE(c, cases) {
        char bound[NET_ADDRESS] = "";
        const char *why = NULL;
        int fd = -1;

        CHECK_INT(net_listen(c->address, &fd, &why), c->err);
        CHECK_INT(fd >= 0, c->err == OK);
        CHECK_INT(why != NULL, c->err != OK);
        if (fd < 0)
            continue;
        net_bound_address(fd, bound);
        CHECK_INT(strncmp(bound, c->bound, strlen(c->bound)), 0);
        CHECK(bound[strlen(bound) - 2] != ':' || bound[strlen(bound) - 1] != '0');
        (void)close(fd);
    }
}

TEST(loopback_addresses_are_known)
{
    static const struct {
        struct str address;
        bool is_loopback;
    } cases[] = {
        { S("127.0.0.1"), true },       { S("127.0.0.1:80"), true },
        { S("127.9.9.9:80"), true },    { S("localhost:80"), true },
        { S("localhost"), true },       { S("::1"), true },
        { S("[::1]:80"), true },        { S("unix:/x"), true },
        { S("local"), true },           { S("::ffff:127.0.0.1"), true },
        { S("0.0.0.0:80"), false },     { S("[::]:80"), false },
        { S("10.0.0.1"), false },       { S("128.0.0.1:80"), false },
        { S("example.org:80"), false }, { S("::2"), false },
        { S("127.0.0.1.evil"), false }, { S(""), false },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(net_is_loopback(c->address), c->is_loopback);
}

TEST(connections_are_accepted_with_their_address)
{
    struct loop *loop = loop_new();
    struct guests guests = {};
    struct listener listener;
    const char *why;
    int fd, caller;

    CHECK_INT(net_listen(S("127.0.0.1:0"), &fd, &why), OK);
    CHECK_INT(listener_init(&listener, loop, fd, on_accept, &guests), OK);
    caller = call(fd);
    loop_turn(loop, -1);
    CHECK_INT(guests.count, 1);
    CHECK_STR(str_of(guests.last.address), S("127.0.0.1"));
    CHECK(guests.last.port > 0);
    CHECK(!guests.last.is_local);
    listener_done(&listener);
    (void)close(call(fd));
    loop_turn(loop, 0);
    CHECK_INT(guests.count, 1);
    guests_leave(&guests);
    (void)close(caller);
    (void)close(fd);
    loop_free(loop);
}

TEST(a_turn_accepts_a_bounded_batch)
{
    struct loop *loop = loop_new();
    struct guests guests = {};
    struct listener listener;
    const char *why;
    int callers[MANY];
    int fd;

    CHECK_INT(net_listen(S("127.0.0.1:0"), &fd, &why), OK);
    CHECK_INT(listener_init(&listener, loop, fd, on_accept, &guests), OK);
    for (int i = 0; i < MANY; i++)
        callers[i] = call(fd);
    loop_turn(loop, -1);
    CHECK_INT(guests.count, 64);
    loop_turn(loop, -1);
    CHECK_INT(guests.count, MANY);
    for (int i = 0; i < MANY; i++)
        (void)close(callers[i]);
    guests_leave(&guests);
    listener_done(&listener);
    (void)close(fd);
    loop_free(loop);
}

TEST(a_taken_port_is_a_conflict)
{
    char bound[NET_ADDRESS];
    const char *why;
    int fd, second;

    CHECK_INT(net_listen(S("127.0.0.1:0"), &fd, &why), OK);
    net_bound_address(fd, bound);
    CHECK_INT(net_listen(str_of(bound), &second, &why), ERR_CONFLICT);
    (void)close(fd);
}

TEST(without_descriptors_accepting_pauses)
{
    struct loop *loop = loop_new();
    struct guests guests = {};
    struct listener listener;
    struct rlimit old, none;
    const char *why;
    int fd, caller, second;

    loop_set_now(loop, 0, 0);
    CHECK_INT(net_listen(S("127.0.0.1:0"), &fd, &why), OK);
    CHECK_INT(listener_init(&listener, loop, fd, on_accept, &guests), OK);
    caller = call(fd);
    (void)getrlimit(RLIMIT_NOFILE, &old);
    none = (struct rlimit){ 0, old.rlim_max };
    log_set_level(LOG_ERROR);
    (void)setrlimit(RLIMIT_NOFILE, &none);
    loop_turn(loop, 0);
    CHECK_INT(guests.count, 0);
    CHECK_INT(listener.io.fd, -1);
    (void)setrlimit(RLIMIT_NOFILE, &old);
    log_set_level(LOG_INFO);
    loop_turn(loop, 0);
    CHECK_INT(guests.count, 0);
    second = call(fd); /* valgrind lets the first one be accepted and drops it */
    loop_set_now(loop, 100, 0);
    loop_turn(loop, 0);
    loop_turn(loop, 0);
    CHECK(guests.count > 0);
    CHECK_INT(guests.last.port, port_of(second));
    guests_leave(&guests);
    listener_done(&listener);
    (void)close(caller);
    (void)close(second);
    (void)close(fd);
    loop_free(loop);
}

TEST(unix_sockets_tell_who_calls_and_replace_only_the_dead)
{
    char path[] = "/tmp/moot-test-XXXXXX";
    char text[NET_ADDRESS], bound[NET_ADDRESS];
    struct loop *loop = loop_new();
    struct guests guests = {};
    struct listener listener;
    struct stat st;
    const char *why;
    int fd, second, caller;

    CHECK(mkdtemp(path) != NULL);
    (void)snprintf(text, sizeof(text), "unix:%s/socket", path);
    CHECK_INT(net_listen(str_of(text), &fd, &why), OK);
    CHECK_INT(stat(text + 5, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    net_bound_address(fd, bound);
    CHECK_STR(str_of(bound), str_of(text));
    CHECK_INT(listener_init(&listener, loop, fd, on_accept, &guests), OK);
    caller = call(fd);
    loop_turn(loop, -1);
    CHECK_INT(guests.count, 1);
    CHECK(guests.last.is_local);
    CHECK_INT(guests.last.uid, getuid());
    CHECK_STR(str_of(guests.last.address), S("local"));
    CHECK_INT(net_listen(str_of(text), &second, &why), ERR_CONFLICT);
    listener_done(&listener);
    (void)close(fd);
    CHECK_INT(net_listen(str_of(text), &fd, &why), OK);
    (void)close(fd);
    (void)unlink(text + 5);
    CHECK_INT(mkdir(text + 5, 0700), 0);
    CHECK_INT(net_listen(str_of(text), &fd, &why), ERR_CONFLICT);
    (void)rmdir(text + 5);
    (void)rmdir(path);
    guests_leave(&guests);
    (void)close(caller);
    loop_free(loop);
}
