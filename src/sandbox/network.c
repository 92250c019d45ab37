/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of its own: no way out but a listener, made inside, that somebody outside
 * accepts on. An ordinary user needs a user namespace around it.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/levels.h"

enum { BACKLOG = 64 };

static bool write_file(const char *path, const char *text)
{
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* The same numbers inside as outside, and no others. */
static bool unshare_user(uid_t uid, gid_t gid)
{
    char users[64], groups[64];

    (void)snprintf(users, sizeof(users), "%u %u 1", uid, uid);
    (void)snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
           write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", users) &&
           write_file("/proc/self/gid_map", groups);
}

static bool raise_loopback(void)
{
    CLEANUP(fd_closep) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };

    return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

int network_make(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(NETWORK_PROXY_PORT),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    CLEANUP(fd_closep) int fd = -1;
    bool is_alone =
        geteuid() == 0 ? unshare(CLONE_NEWNET) == 0 : unshare_user(geteuid(), getegid());

    if (!is_alone || !raise_loopback())
        return -1;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, BACKLOG) < 0)
        return -1;
    return fd_take(&fd);
}
