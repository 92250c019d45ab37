/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

/* The process's clock and not /proc/PID/schedstat, which knows the first thread only. */
static enum err read_cpu(pid_t pid, uint64_t *ret_ns)
{
    struct timespec used;
    clockid_t id;

    if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &used))
        return ERR_NOT_FOUND;
    *ret_ns = (uint64_t)used.tv_sec * 1'000'000'000 + (uint64_t)used.tv_nsec;
    return OK;
}

static enum err read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    ssize_t got;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ERR_NOT_FOUND;
    got = read(fd, out, size - 1);
    if (got <= 0)
        return ERR_NOT_FOUND;
    out[got] = '\0';
    return OK;
}

/* The name in brackets may hold anything, so counting starts behind its last bracket:
 * state is field 3, utime 14, stime 15. */
static enum err read_split(pid_t pid, struct usage *usage)
{
    uint64_t tick_ms = 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    unsigned long long user;
    unsigned long long system;
    char text[1024];
    const char *at;
    enum err err;

    err = read_proc(pid, "stat", text, sizeof(text));
    if (err)
        return err;
    at = strrchr(text, ')');
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                      &user, &system) != 2)
        return ERR_INVALID;
    usage->user_ms = user * tick_ms;
    usage->system_ms = system * tick_ms;
    return OK;
}

/* smaps_rollup walks the page tables; the counter in statm may be off by 64 pages for
 * each processor, which is more than a few thousand idle connections make. */
static enum err read_rss(pid_t pid, uint64_t *ret_bytes)
{
    unsigned long long kib;
    char text[2048];
    const char *at;
    enum err err;

    err = read_proc(pid, "smaps_rollup", text, sizeof(text));
    if (err)
        return err;
    at = strstr(text, "Rss:");
    if (!at || sscanf(at, "Rss: %llu kB", &kib) != 1)
        return ERR_INVALID;
    *ret_bytes = kib * 1024;
    return OK;
}

enum err usage_read(pid_t pid, struct usage *ret)
{
    struct usage usage = {};
    enum err err;

    err = read_cpu(pid, &usage.cpu_ns);
    if (!err)
        err = read_split(pid, &usage);
    if (!err)
        err = read_rss(pid, &usage.rss_bytes);
    if (err)
        return err;
    *ret = usage;
    return OK;
}
