/* SPDX-License-Identifier: Apache-2.0 */
/* The functions stand in front of those of libc, which are system calls and no more. */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fault set;

void fault_set(const struct fault *fault)
{
    (void)pthread_mutex_lock(&mutex);
    set = *fault;
    (void)pthread_mutex_unlock(&mutex);
}

void fault_clear(void)
{
    fault_set(&(struct fault){});
}

static bool is_about(const struct fault *fault, enum fault_call call, const char *path)
{
    return fault->code && fault->call == call && strstr(path, fault->name);
}

/* What the program has set: errno, or 0. */
static int ask_set(enum fault_call call, const char *path)
{
    int code = 0;

    (void)pthread_mutex_lock(&mutex);
    if (is_about(&set, call, path) && set.skip-- <= 0) {
        code = set.code;
        set.skip = 0;
        if (set.times && --set.times == 0)
            set.code = 0;
    }
    (void)pthread_mutex_unlock(&mutex);
    return code;
}

static bool parse_line(const char *line, struct fault *ret)
{
    char call[8], code[8];

    *ret = (struct fault){};
    if (sscanf(line, "%7s %7s %63s", call, code, ret->name) != 3)
        return false;
    ret->call = strcmp(call, "sync") == 0 ? FAULT_SYNC : FAULT_WRITE;
    ret->code = strcmp(code, "ENOSPC") == 0 ? ENOSPC : EIO;
    return true;
}

/* What the file says. */
static int ask_file(enum fault_call call, const char *path)
{
    const char *file = getenv("MOOT_FAULTS");
    FILE *lines = file ? fopen(file, "re") : NULL;
    struct fault fault;
    char line[128];
    int code = 0;

    if (!lines)
        return 0;
    while (!code && fgets(line, sizeof(line), lines))
        if (parse_line(line, &fault) && is_about(&fault, call, path))
            code = fault.code;
    (void)fclose(lines);
    return code;
}

/* True, with errno: this call fails. */
static bool fails(enum fault_call call, int fd)
{
    int before = errno;
    char link[32], path[4096];
    ssize_t len;
    int code;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    code = ask_set(call, path);
    if (!code)
        code = ask_file(call, path);
    errno = code ? code : before;
    return code != 0;
}

int faulty_fsync(int fd) __asm__("fsync");
int faulty_fdatasync(int fd) __asm__("fdatasync");
ssize_t faulty_write(int fd, const void *bytes, size_t size) __asm__("write");
ssize_t faulty_pwrite(int fd, const void *bytes, size_t size, off_t at) __asm__("pwrite");
ssize_t faulty_pwrite64(int fd, const void *bytes, size_t size,
                        off_t at) __asm__("pwrite64");

int faulty_fsync(int fd)
{
    return fails(FAULT_SYNC, fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int faulty_fdatasync(int fd)
{
    return fails(FAULT_SYNC, fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

ssize_t faulty_write(int fd, const void *bytes, size_t size)
{
    return fails(FAULT_WRITE, fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}

ssize_t faulty_pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return fails(FAULT_WRITE, fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}

ssize_t faulty_pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    return faulty_pwrite(fd, bytes, size, at);
}
