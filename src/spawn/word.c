/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn/spawn_priv.h"

/* Room for the descriptors of one message, aligned for its header. */
union fd_room {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * WORD_FDS)];
};

static enum err failure(void)
{
    switch (errno) {
    case EAGAIN:
    case ETOOMANYREFS: /* too many descriptors are under way */
    case ENOBUFS: return ERR_AGAIN;
    case EPIPE:
    case ENOTCONN:
    case ECONNRESET: return ERR_CLOSED;
    default: return ERR_IO;
    }
}

enum err word_send(int socket, const struct word *word, const int *fds, size_t count)
{
    struct word copy = *word;
    struct iovec text = { &copy, sizeof(copy) };
    struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };
    union fd_room room = {};
    ssize_t sent;

    if (count) {
        message.msg_control = room.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        room.header.cmsg_level = SOL_SOCKET;
        room.header.cmsg_type = SCM_RIGHTS;
        room.header.cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(&room.header), fds, sizeof(int) * count);
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? failure() : OK;
}

static void take_fds(struct msghdr *message, int ret_fds[static WORD_FDS])
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    size_t bytes;

    for (size_t i = 0; i < WORD_FDS; i++)
        ret_fds[i] = -1;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return;
    bytes = header->cmsg_len - CMSG_LEN(0);
    if (bytes <= sizeof(int) * WORD_FDS)
        memcpy(ret_fds, CMSG_DATA(header), bytes);
}

enum err word_receive(int socket, struct word *ret, int ret_fds[static WORD_FDS])
{
    struct iovec text = { ret, sizeof(*ret) };
    union fd_room room = {};
    struct msghdr message = { .msg_iov = &text,
                              .msg_iovlen = 1,
                              .msg_control = room.bytes,
                              .msg_controllen = sizeof(room.bytes) };
    ssize_t got;

    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return failure();
    take_fds(&message, ret_fds);
    if (got != sizeof(*ret))
        return ERR_CLOSED; /* 0: its end. Nothing else has another length */
    ret->why[WORD_WHY - 1] = '\0';
    return OK;
}

enum err word_pair(int ret[static 2])
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
        return ERR_IO;
    ret[0] = pair[0];
    ret[1] = pair[1];
    return OK;
}
