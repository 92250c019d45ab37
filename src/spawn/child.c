/* SPDX-License-Identifier: Apache-2.0 */
/* The program's side of one child: a socket to its keeper. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "spawn/program.h"
#include "spawn/spawn.h"

enum {
    PLAN_BYTES = 4 << 20,
    TRY_MS = 20, /* while the spawner has no room, or is being started again */
    MAX_TRIES = 250,
};

struct child {
    struct link link;
    struct spawn *spawn;
    struct child_ops ops;
    void *user;
    struct loop_fd socket;
    struct loop_timer again; /* set: START was not sent yet */
    unsigned tries;
    int start_fds[WORD_FDS]; /* until it was */
    int proxy_fd;            /* until it is handed over */
    struct word end;         /* what could not be begun */
};

struct spawn *spawn_new(struct spawner *spawner, struct loop *loop)
{
    struct spawn *spawn = xcalloc(1, sizeof(*spawn));

    spawn->spawner = spawner;
    spawn->loop = loop;
    list_init(&spawn->children);
    return spawn;
}

void spawn_free(struct spawn *spawn)
{
    struct child *child;

    if (!spawn)
        return;
    LIST_FOREACH(child, &spawn->children, link)
        child_abandon(child);
    free(spawn);
}

static void close_start_fds(struct child *child)
{
    for (int i = 0; i < WORD_FDS; i++) {
        fd_closep(&child->start_fds[i]);
        child->start_fds[i] = -1;
    }
}

/* Its keeper sees the end of the socket and kills it. */
void child_abandon(struct child *child)
{
    int fd = child->socket.fd;

    if (!link_is_set(&child->link))
        return; /* it is ending already, which frees it */
    loop_fd_remove(child->spawn->loop, &child->socket);
    loop_timer_clear(child->spawn->loop, &child->again);
    fd_closep(&fd);
    fd_closep(&child->proxy_fd);
    close_start_fds(child);
    list_remove(&child->link);
    free(child);
}

/* --- what becomes of it --- */

static void finish(struct child *child, const struct word *word)
{
    struct child_end end = { .type = word->exit, .code = word->value, .why = word->why };
    struct loop *loop = child->spawn->loop;
    int fd = child->socket.fd;

    loop_fd_remove(loop, &child->socket);
    loop_timer_clear(loop, &child->again);
    fd_closep(&fd);
    fd_closep(&child->proxy_fd);
    close_start_fds(child);
    list_remove(&child->link);
    child->ops.on_ended(child->user, &end);
    free(child);
}

static void on_word(struct child *child, const struct word *word,
                    int fds[static WORD_FDS])
{
    switch (word->type) {
    case WORD_PROXY:
        fd_closep(&child->proxy_fd);
        child->proxy_fd = fd_take(&fds[0]);
        break;
    case WORD_STARTED:
        child->ops.on_started(child->user, word->value, fd_take(&child->proxy_fd));
        break;
    case WORD_ENDED: finish(child, word); break;
    case WORD_START:
    case WORD_SIGNAL:
    case WORD_STOP: break;
    }
}

/* One word at a time: the child may be gone afterwards. */
static void on_ready(struct loop_fd *self, uint32_t)
{
    static const struct word lost = { .exit = CHILD_LOST,
                                      .why = "the spawner was killed" };
    struct child *child = CONTAINER_OF(self, struct child, socket);
    int fds[WORD_FDS];
    struct word word;
    enum err err = word_receive(self->fd, &word, fds);

    if (err == ERR_AGAIN)
        return;
    if (err) {
        finish(child, &lost);
        return;
    }
    on_word(child, &word, fds);
    for (int i = 0; i < WORD_FDS; i++)
        fd_closep(&fds[i]);
}

/* --- starting --- */

static void fail(struct child *child, int code, const char *what)
{
    child->end = (struct word){ .exit = CHILD_NOT_STARTED, .value = code };
    (void)snprintf(child->end.why, WORD_WHY, "%s: %s", what, strerror(code));
    loop_timer_set(child->spawn->loop, &child->again, 0);
}

static void try_to_send(struct child *child)
{
    static const struct word start = { .type = WORD_START };
    struct spawn *spawn = child->spawn;
    enum err err;

    err = word_send(spawn->spawner->control, &start, child->start_fds, WORD_FDS);
    if (err == OK)
        close_start_fds(child);
    else if (err == ERR_IO || ++child->tries == MAX_TRIES)
        fail(child, errno, "the spawner");
    else
        loop_timer_set(spawn->loop, &child->again, TRY_MS);
}

static void on_again(struct loop_timer *timer)
{
    struct child *child = CONTAINER_OF(timer, struct child, again);

    if (child->end.exit == CHILD_NOT_STARTED)
        finish(child, &child->end);
    else
        try_to_send(child);
}

static int plan_file(const struct sandbox_plan *plan)
{
    CLEANUP(fd_closep) int fd = memfd_create("plan", MFD_CLOEXEC);
    struct buf bytes;
    bool is_written;

    if (fd < 0)
        return -1;
    buf_init(&bytes, PLAN_BYTES);
    sandbox_plan_write(plan, &bytes);
    is_written = !bytes.is_full && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len;
    buf_done(&bytes);
    return is_written ? fd_take(&fd) : -1;
}

static bool prepare(struct child *child, const struct sandbox_plan *plan)
{
    int pair[2];

    child->start_fds[START_PLAN] = plan_file(plan);
    if (child->start_fds[START_PLAN] < 0 || word_pair(pair))
        return false;
    child->start_fds[START_SOCKET] = pair[1];
    child->socket.fd = pair[0];
    if (loop_fd_add(child->spawn->loop, &child->socket) == OK)
        return true;
    (void)close(fd_take(&child->socket.fd));
    return false;
}

struct child *child_start(struct spawn *spawn, const struct sandbox_plan *plan,
                          const int fds[static 3], const struct child_ops *ops,
                          void *user)
{
    struct child *child = xcalloc(1, sizeof(*child));

    *child = (struct child){ .spawn = spawn,
                             .ops = *ops,
                             .user = user,
                             .start_fds = { fds[0], fds[1], fds[2], -1, -1 },
                             .proxy_fd = -1 };
    child->socket = (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_ready };
    child->again.on_fire = on_again;
    list_append(&spawn->children, &child->link);
    if (prepare(child, plan))
        try_to_send(child);
    else
        fail(child, errno, "its descriptors");
    return child;
}

/* --- while it runs --- */

static bool is_sent(const struct child *child)
{
    return child->start_fds[START_SOCKET] < 0 && child->socket.fd >= 0;
}

void child_signal(struct child *child, int signal)
{
    struct word word = { .type = WORD_SIGNAL, .value = signal };

    if (is_sent(child))
        (void)word_send(child->socket.fd, &word, NULL, 0);
}

/* What was not even begun is not begun any more. */
void child_stop(struct child *child, uint64_t grace_ms)
{
    struct word word = { .type = WORD_STOP, .grace_ms = grace_ms };

    if (is_sent(child))
        (void)word_send(child->socket.fd, &word, NULL, 0);
    else
        fail(child, ECANCELED, "it was stopped before it began");
}
