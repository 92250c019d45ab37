/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl's multi interface asks to be told when descriptors are ready and when time has
 * passed; the loop does both. What it brings is told to the owners of calls when it has
 * returned, so that these may begin and end calls as they like.
 */
#include "fetch/fetch.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fetch/fetch_priv.h"

static const char *const names[] = { CURL_FUNCTIONS(LIBRARY_NAME) };
_Static_assert(sizeof(struct curl) == sizeof(names));
static const struct library library = { "libcurl.so.4", "libcurl4", names, COUNT(names) };

/* A descriptor of libcurl's. It may end while its own event is dispatched. */
struct socket {
    struct fetch *fetch;
    struct link link;
    struct loop_fd io;
    struct loop_task reap;
};

static void finish_ended(struct fetch *fetch)
{
    int left;
    const CURLMsg *message;

    while ((message = fetch->curl.curl_multi_info_read(fetch->multi, &left))) {
        struct fetch_call *call = NULL;
        CURLcode result = message->data.result;

        (void)fetch->curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                                            &call);
        fetch_call_finish(call, result);
    }
}

static void go_on(struct fetch *fetch, curl_socket_t fd, int ready)
{
    int running;

    (void)fetch->curl.curl_multi_socket_action(fetch->multi, fd, ready, &running);
    fetch_calls_tell(fetch);
    finish_ended(fetch);
}

/* --- descriptors and time --- */

static void on_ready(struct loop_fd *io, uint32_t events)
{
    const struct socket *socket = CONTAINER_OF(io, struct socket, io);
    int ready = 0;

    if (events & (EPOLLIN | EPOLLHUP))
        ready |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        ready |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        ready |= CURL_CSELECT_ERR;
    go_on(socket->fetch, io->fd, ready);
}

static void on_time(struct loop_timer *timer)
{
    go_on(CONTAINER_OF(timer, struct fetch, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout_wanted(CURLM *multi [[maybe_unused]], long delay_ms, void *user)
{
    struct fetch *fetch = user;

    if (delay_ms < 0)
        loop_timer_clear(fetch->loop, &fetch->timer);
    else
        loop_timer_set(fetch->loop, &fetch->timer, (uint64_t)delay_ms);
    return 0;
}

static void reap_socket(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct socket, reap));
}

static void socket_end(struct socket *socket)
{
    loop_fd_remove(socket->fetch->loop, &socket->io);
    list_remove(&socket->link);
    loop_defer(socket->fetch->loop, &socket->reap);
}

static struct socket *socket_new(struct fetch *fetch, curl_socket_t fd)
{
    struct socket *socket = xcalloc(1, sizeof(*socket));

    socket->fetch = fetch;
    socket->reap.run = reap_socket;
    socket->io = (struct loop_fd){ .fd = fd, .on_ready = on_ready };
    list_append(&fetch->sockets, &socket->link);
    (void)fetch->curl.curl_multi_assign(fetch->multi, fd, socket);
    return socket;
}

static int on_socket_wanted(CURL *easy [[maybe_unused]], curl_socket_t fd, int what,
                            void *user, void *known)
{
    static const uint32_t events[] = { [CURL_POLL_IN] = EPOLLIN,
                                       [CURL_POLL_OUT] = EPOLLOUT,
                                       [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT };
    struct fetch *fetch = user;
    struct socket *socket = known;

    if (what == CURL_POLL_REMOVE) {
        if (socket)
            socket_end(socket);
        return 0;
    }
    if (socket) {
        loop_fd_watch(fetch->loop, &socket->io, events[what]);
        return 0;
    }
    socket = socket_new(fetch, fd);
    socket->io.events = events[what];
    return loop_fd_add(fetch->loop, &socket->io) ? -1 : 0;
}

/* --- a client --- */

enum err fetch_new(struct loop *loop, struct fetch **ret, char **ret_why)
{
    struct fetch *fetch = xcalloc(1, sizeof(*fetch));
    enum err err = library_load(&library, &fetch->curl, ret_why);

    if (err) {
        free(fetch);
        return err;
    }
    (void)fetch->curl.curl_global_init(CURL_GLOBAL_DEFAULT); /* counts, in any thread */
    fetch->loop = loop;
    fetch->timer.on_fire = on_time;
    list_init(&fetch->calls);
    list_init(&fetch->fed);
    list_init(&fetch->sockets);
    fetch->multi = fetch->curl.curl_multi_init();
    if (!fetch->multi)
        abort(); /* out of memory */
    (void)fetch->curl.curl_multi_setopt(fetch->multi, CURLMOPT_SOCKETFUNCTION,
                                        on_socket_wanted);
    (void)fetch->curl.curl_multi_setopt(fetch->multi, CURLMOPT_SOCKETDATA, fetch);
    (void)fetch->curl.curl_multi_setopt(fetch->multi, CURLMOPT_TIMERFUNCTION,
                                        on_timeout_wanted);
    (void)fetch->curl.curl_multi_setopt(fetch->multi, CURLMOPT_TIMERDATA, fetch);
    *ret = fetch;
    return OK;
}

void fetch_free(struct fetch *fetch)
{
    struct socket *socket;

    if (!fetch)
        return;
    fetch_calls_free(fetch);
    (void)fetch->curl.curl_multi_cleanup(fetch->multi); /* closes the kept connections */
    while (!list_is_empty(&fetch->sockets)) {
        socket = CONTAINER_OF(fetch->sockets.next, struct socket, link);
        socket_end(socket);
    }
    loop_timer_clear(fetch->loop, &fetch->timer);
    fetch->curl.curl_global_cleanup();
    free(fetch);
}
