/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread shares nothing with its owner but a job that both hold: whoever lets go of
 * it last frees it. So an owner that is freed need not wait for a name server.
 */
#include "net/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/xalloc.h"

enum { PORT_SIZE = 6 };

struct resolve {
    atomic_int holders;
    int ready; /* eventfd; -1: the answer is there */
    int error; /* of getaddrinfo() */
    struct addrinfo *found;
    struct addresses *known; /* without asking */
    char host[RESOLVE_HOST];
    char port[PORT_SIZE];
};

static void let_go(struct resolve *r)
{
    if (atomic_fetch_sub(&r->holders, 1) > 1)
        return;
    if (r->found)
        freeaddrinfo(r->found);
    if (r->ready >= 0)
        (void)close(r->ready);
    free(r->known);
    free(r);
}

static void ask(struct resolve *r, int flags)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };

    r->error = getaddrinfo(r->host, r->port, &hints, &r->found);
    if (!r->error && !r->found)
        r->error = EAI_NONAME;
}

static void *ask_apart(void *user)
{
    static const uint64_t one = 1;
    struct resolve *r = user;

    ask(r, 0);
    (void)!write(r->ready, &one, sizeof(one)); /* the first one always fits */
    let_go(r);
    return NULL;
}

/* The thread takes no signals: they are the program's. False: there is no thread. */
static bool start_thread(struct resolve *r)
{
    sigset_t all, before;
    pthread_t thread;
    bool is_started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(&thread, NULL, ask_apart, r) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started)
        (void)pthread_detach(thread);
    return is_started;
}

static void begin_thread(struct resolve *r)
{
    r->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_store(&r->holders, 2);
    if (r->ready >= 0 && start_thread(r))
        return;
    atomic_store(&r->holders, 1);
    if (r->ready >= 0)
        (void)close(r->ready);
    r->ready = -1;
    r->error = EAI_MEMORY;
}

static struct addresses *addresses_new(size_t count)
{
    struct addresses *list = xcalloc(1, sizeof(*list) + count * sizeof(list->list[0]));

    list->count = count;
    return list;
}

static struct addresses *local_address(const char *path)
{
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    struct addresses *list = addresses_new(1);

    memcpy(local.sun_path, path, strnlen(path, sizeof(local.sun_path) - 1));
    memcpy(&list->list[0].socket, &local, sizeof(local));
    list->list[0].size = sizeof(local);
    return list;
}

static struct resolve *unanswered(void)
{
    struct resolve *r = xcalloc(1, sizeof(*r));

    atomic_store(&r->holders, 1);
    r->ready = -1;
    return r;
}

struct resolve *resolve_local(const char *path)
{
    struct resolve *r = unanswered();

    r->known = local_address(path);
    return r;
}

struct resolve *resolve_new(const char *host, uint16_t port, enum resolve_how how)
{
    struct resolve *r = unanswered();

    (void)snprintf(r->host, sizeof(r->host), "%s", host);
    (void)snprintf(r->port, sizeof(r->port), "%u", port);
    ask(r, AI_NUMERICHOST);
    if (!r->error)
        return r;
    if (how == RESOLVE_IN_THREAD)
        begin_thread(r);
    else
        ask(r, 0);
    return r;
}

void resolve_free(struct resolve *resolve)
{
    if (resolve)
        let_go(resolve);
}

int resolve_fd(const struct resolve *resolve)
{
    return resolve->ready;
}

static struct addresses *copy_found(const struct addrinfo *found)
{
    struct addresses *list = addresses_new(RESOLVE_MAX);
    size_t count = 0;

    for (; found && count < RESOLVE_MAX; found = found->ai_next) {
        memcpy(&list->list[count].socket, found->ai_addr, found->ai_addrlen);
        list->list[count++].size = found->ai_addrlen;
    }
    list->count = count;
    return list;
}

enum err resolve_take(struct resolve *resolve, struct addresses **ret)
{
    uint64_t count;

    if (resolve->ready >= 0 && read(resolve->ready, &count, sizeof(count)) < 0)
        return ERR_AGAIN;
    if (resolve->error)
        return ERR_NOT_FOUND;
    *ret = resolve->known ? resolve->known : copy_found(resolve->found);
    resolve->known = NULL;
    return OK;
}

const char *resolve_why(const struct resolve *resolve)
{
    if (resolve->error == EAI_SYSTEM)
        return "the name service cannot be asked"; /* errno was the thread's */
    return gai_strerror(resolve->error);
}
