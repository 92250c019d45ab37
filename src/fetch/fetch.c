/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl's multi interface asks to be told when descriptors are ready and when time has
 * passed; the loop does both. Calls that have ended are taken out of it before their
 * owners hear of it, so that these may begin new ones.
 */
#include "fetch/fetch.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/buf.h"
#include "base/library.h"
#include "base/list.h"
#include "base/xalloc.h"

/* clang-format off */
#define CURL_FUNCTIONS(X)                                              \
    X(curl_global_init)       X(curl_global_cleanup) X(curl_slist_append) X(curl_slist_free_all) \
    X(curl_easy_init)         X(curl_easy_setopt)  X(curl_easy_getinfo)   \
    X(curl_easy_cleanup)      X(curl_easy_strerror)                    \
    X(curl_multi_init)        X(curl_multi_setopt) X(curl_multi_assign) \
    X(curl_multi_add_handle)  X(curl_multi_remove_handle)              \
    X(curl_multi_socket_action) X(curl_multi_info_read) X(curl_multi_cleanup)
/* clang-format on */

struct curl {
    CURL_FUNCTIONS(LIBRARY_POINTER)
};

static const char *const names[] = { CURL_FUNCTIONS(LIBRARY_NAME) };
_Static_assert(sizeof(struct curl) == sizeof(names));
static const struct library library = { "libcurl.so.4", "libcurl4", names, COUNT(names) };

enum { CONNECT_MS = 10'000 };

struct fetch {
    struct curl curl;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct link calls;
    struct link sockets;
};

/* A descriptor of libcurl's. It may end while its own event is dispatched. */
struct socket {
    struct fetch *fetch;
    struct link link;
    struct loop_fd io;
    struct loop_task reap;
};

struct fetch_call {
    struct fetch *fetch;
    struct link link;
    CURL *easy;
    struct curl_slist *fields;
    struct buf answer;
    void (*on_done)(void *user, const struct fetch_answer *answer);
    void *user;
};

static void call_free(struct fetch_call *call)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed left the list
    const struct curl *curl = &call->fetch->curl;

    (void)curl->curl_multi_remove_handle(call->fetch->multi, call->easy);
    curl->curl_easy_cleanup(call->easy);
    curl->curl_slist_free_all(call->fields);
    buf_done(&call->answer);
    list_remove(&call->link);
    free(call);
}

/* --- what libcurl says --- */

static enum err meaning(const struct fetch_call *call, CURLcode result)
{
    if (result == CURLE_OK)
        return OK;
    if (result == CURLE_OPERATION_TIMEDOUT)
        return ERR_TIMEOUT;
    return call->answer.is_full ? ERR_TOO_BIG : ERR_IO;
}

static void finish(struct fetch_call *call, CURLcode result)
{
    const struct curl *curl = &call->fetch->curl;
    struct fetch_answer answer = { .err = meaning(call, result),
                                   .body = buf_str(&call->answer),
                                   .why = curl->curl_easy_strerror(result) };
    long status = 0;

    (void)curl->curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    answer.status = (unsigned)status;
    if (answer.err == ERR_TOO_BIG)
        answer.why = "the answer is too long";
    (void)curl->curl_multi_remove_handle(call->fetch->multi, call->easy);
    list_remove(&call->link);
    call->on_done(call->user, &answer);
    call_free(call);
}

static void finish_ended(struct fetch *fetch)
{
    int left;
    const CURLMsg *message;

    while ((message = fetch->curl.curl_multi_info_read(fetch->multi, &left))) {
        struct fetch_call *call = NULL;
        CURLcode result = message->data.result;

        (void)fetch->curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                                            &call);
        finish(call, result);
    }
}

static void go_on(struct fetch *fetch, curl_socket_t fd, int ready)
{
    int running;

    (void)fetch->curl.curl_multi_socket_action(fetch->multi, fd, ready, &running);
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
    while (!list_is_empty(&fetch->calls))
        call_free(CONTAINER_OF(fetch->calls.next, struct fetch_call, link));
    (void)fetch->curl.curl_multi_cleanup(fetch->multi); /* closes the kept connections */
    while (!list_is_empty(&fetch->sockets)) {
        socket = CONTAINER_OF(fetch->sockets.next, struct socket, link);
        socket_end(socket);
    }
    loop_timer_clear(fetch->loop, &fetch->timer);
    fetch->curl.curl_global_cleanup();
    free(fetch);
}

/* --- a call --- */

static size_t on_answer(char *bytes, size_t size, size_t count, void *user)
{
    struct fetch_call *call = user;

    buf_put(&call->answer, (struct str){ bytes, size * count });
    return call->answer.is_full ? 0 : size * count;
}

static void set_up(struct fetch_call *call, const struct fetch_request *request)
{
    const char *authorities = getenv("SSL_CERT_FILE");
    CURL *easy = call->easy;
    const struct curl *curl = &call->fetch->curl;

#define SET(option, value) (void)curl->curl_easy_setopt(easy, CURLOPT_##option, (value))
    SET(URL, request->url);
    SET(PROTOCOLS_STR, "http,https");
    SET(PROXY, "");
    SET(FOLLOWLOCATION, 0L);
    SET(NOSIGNAL, 1L);
    SET(QUICK_EXIT, 1L); /* a name server that is silent must not hold up a cancel */
    SET(CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    SET(TIMEOUT_MS, (long)request->timeout_ms);
    SET(HTTPHEADER, call->fields);
    SET(POST, 1L);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    SET(POSTFIELDS, request->body.len ? request->body.ptr : "");
    SET(WRITEFUNCTION, on_answer);
    SET(WRITEDATA, call);
    SET(PRIVATE, call);
    if (authorities && *authorities)
        SET(CAINFO, authorities);
#undef SET
}

struct fetch_call *
fetch_post(struct fetch *fetch, const struct fetch_request *request,
           void (*on_done)(void *user, const struct fetch_answer *answer), void *user)
{
    struct fetch_call *call = xcalloc(1, sizeof(*call));
    const struct curl *curl = &fetch->curl;

    *call = (struct fetch_call){
        .fetch = fetch, .easy = curl->curl_easy_init(), .on_done = on_done, .user = user
    };
    if (!call->easy)
        abort(); /* out of memory */
    buf_init(&call->answer, request->max_answer);
    call->fields = curl->curl_slist_append(NULL, "Expect:"); /* says what it has to say */
    for (size_t i = 0; i < request->field_count; i++)
        call->fields = curl->curl_slist_append(call->fields, request->fields[i]);
    set_up(call, request);
    list_append(&fetch->calls, &call->link);
    (void)curl->curl_multi_add_handle(fetch->multi, call->easy);
    return call;
}

void fetch_cancel(struct fetch_call *call)
{
    call_free(call);
}
