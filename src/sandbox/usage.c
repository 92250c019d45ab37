/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process and all below it hold, for who must watch them: memory that is in use
 * and theirs, without the files they have mapped.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sandbox/sandbox.h"

enum {
    MAX_TREE = 4096, /* processes that are looked at: far more than any may have */
    MAX_FILE = 64 * 1024,
};

/* Found so far; the first `looked` of them have been looked at. */
struct tree {
    pid_t pids[MAX_TREE];
    size_t count, looked;
    size_t bytes;
    char text[MAX_FILE];
};

static struct str read_proc(struct tree *tree, const char *path)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    while (fd >= 0 && len < MAX_FILE - 1) {
        ssize_t got = read(fd, tree->text + len, MAX_FILE - 1 - len);

        if (got <= 0)
            break;
        len += (size_t)got;
    }
    return (struct str){ tree->text, len };
}

/* "RssAnon:      1234 kB" */
static size_t kilobytes_of(struct str lines, struct str name)
{
    while (lines.ptr) {
        struct str line = str_cut(&lines, '\n');
        uint64_t number;

        if (!str_starts(line, name))
            continue;
        line = str_trim(str_slice(line, name.len, line.len));
        if (!str_to_u64(str_cut(&line, ' '), SIZE_MAX >> 10, &number))
            return number << 10;
    }
    return 0;
}

static void add_children(struct tree *tree, pid_t pid, const char *thread)
{
    char path[64];
    struct str rest;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", pid, thread);
    rest = read_proc(tree, path);
    while (rest.ptr && tree->count < MAX_TREE) {
        uint64_t child;

        if (!str_to_u64(str_cut(&rest, ' '), INT_MAX, &child))
            tree->pids[tree->count++] = (pid_t)child;
    }
}

/* Any of its threads may have started others. */
static void look_below(struct tree *tree, pid_t pid)
{
    char path[64];
    struct dirent *entry;
    DIR *threads;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
    threads = opendir(path);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            add_children(tree, pid, entry->d_name);
    if (threads)
        (void)closedir(threads);
}

static void look_at(struct tree *tree, pid_t pid)
{
    char path[64];
    struct str status;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    status = read_proc(tree, path);
    tree->bytes += kilobytes_of(status, S("RssAnon:"));
    tree->bytes += kilobytes_of(status, S("RssShmem:"));
    look_below(tree, pid);
}

void sandbox_usage(pid_t pid, size_t *ret_bytes, size_t *ret_processes)
{
    CLEANUP(xfreep) struct tree *tree = xcalloc(1, sizeof(*tree));

    tree->pids[tree->count++] = pid;
    while (tree->looked < tree->count)
        look_at(tree, tree->pids[tree->looked++]);
    *ret_bytes = tree->bytes;
    *ret_processes = tree->count;
}
