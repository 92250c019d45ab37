/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups: what a child and all it starts may hold and use together. Version 2
 * where a part of the tree was handed to us, version 1 where its folders can be written.
 *
 * A group is named by the folders it has, a line each (version 1 has one per controller).
 */
#include "sandbox/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

enum {
    MAX_FILE = 64 * 1024,
    END_TRIES = 200, /* 5 ms each: until the killed are gone */
    CPU_PERIOD_US = 100'000,
};

#define PREFIX "moot-"

/* The controllers of version 1; the first two must be there. */
static const char *const controllers[GROUP_FOLDERS] = { "memory", "pids", "cpu" };

struct path {
    char text[PATH_MAX];
};

static struct path join(const char *folder, const char *name)
{
    struct path path;
    int len = snprintf(path.text, sizeof(path.text), "%s/%s", folder, name);

    if (len < 0 || (size_t)len >= sizeof(path.text))
        path.text[0] = '\0';
    return path;
}

/* What the file says, in memory of the caller's. */
static struct str read_file(const char *path, char text[static MAX_FILE])
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    while (fd >= 0 && len < MAX_FILE - 1) {
        ssize_t got = read(fd, text + len, MAX_FILE - 1 - len);

        if (got <= 0)
            break;
        len += (size_t)got;
    }
    text[len] = '\0';
    return (struct str){ text, len };
}

static bool write_file(const char *folder, const char *name, const char *text)
{
    struct path path = join(folder, name);
    CLEANUP(fd_closep) int fd = open(path.text, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool has_word(struct str list, const char *word, char separator)
{
    while (list.ptr)
        if (str_eq(str_trim(str_cut(&list, separator)), str_of(word)))
            return true;
    return false;
}

/* Of /proc/self/cgroup, "4:memory:/our/group": ours for that controller ("": version 2).
 */
static struct str own_group(struct str lines, const char *controller)
{
    while (lines.ptr) {
        struct str line = str_cut(&lines, '\n');

        (void)str_cut(&line, ':');
        if (!line.ptr)
            continue;
        if (has_word(str_cut(&line, ':'), controller, ',') && line.ptr)
            return line;
    }
    return S("");
}

/* Of /proc/self/mounts, "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0": where. */
static struct str mount_of(struct str lines, const char *type, const char *controller)
{
    while (lines.ptr) {
        struct str line = str_cut(&lines, '\n');
        struct str where, options;

        (void)str_cut(&line, ' ');
        where = str_cut(&line, ' ');
        if (!line.ptr || !str_eq(str_cut(&line, ' '), str_of(type)))
            continue;
        options = str_cut(&line, ' ');
        if (!*controller || has_word(options, controller, ','))
            return where;
    }
    return S("");
}

/* Seen through a namespace or a container, the group may lie at the top of the mount. */
static struct path folder_of(struct str mount, struct str group)
{
    struct path path;
    int len = snprintf(path.text, sizeof(path.text), STR_FMT STR_FMT, STR_ARG(mount),
                       STR_ARG(group));

    if (len < 0 || (size_t)len >= sizeof(path.text))
        path.text[0] = '\0';
    while (len > 1 && path.text[len - 1] == '/')
        path.text[--len] = '\0';
    if (access(path.text, F_OK) < 0)
        (void)snprintf(path.text, sizeof(path.text), STR_FMT, STR_ARG(mount));
    return path;
}

static bool can_make_below(const char *folder)
{
    return access(folder, W_OK | X_OK) == 0;
}

static bool find_v1(struct sandbox_plan *plan, struct str mounts, struct str groups)
{
    size_t found = 0;

    for (size_t i = 0; i < GROUP_FOLDERS; i++) {
        struct str mount = mount_of(mounts, "cgroup", controllers[i]);
        struct path folder;

        plan->group_folders[i] = S("");
        if (!mount.len)
            continue;
        folder = folder_of(mount, own_group(groups, controllers[i]));
        if (!can_make_below(folder.text))
            continue;
        plan->group_folders[i] = plan_text(plan, str_of(folder.text));
        found += i < 2;
    }
    return found == 2;
}

/* Handed over by systemd (Delegate=), or nobody's: the top. */
static bool is_ours(const char *folder, const char *mount)
{
    char value[2] = "";

    if (strcmp(folder, mount) == 0)
        return true;
    return (getxattr(folder, "user.delegate", value, 1) == 1 && *value == '1') ||
           (getxattr(folder, "trusted.delegate", value, 1) == 1 && *value == '1');
}

static bool is_usable_v2(const char *folder, const char *mount)
{
    char text[MAX_FILE];
    struct path list = join(folder, "cgroup.controllers");
    struct path control = join(folder, "cgroup.subtree_control");
    struct path procs = join(folder, "cgroup.procs");
    struct str found = read_file(list.text, text);

    found = str_slice(found, 0, str_find(found, '\n', 0));
    if (!has_word(found, "memory", ' ') || !has_word(found, "pids", ' '))
        return false;
    if (!is_ours(folder, mount) || access(control.text, W_OK) < 0 ||
        !can_make_below(folder))
        return false;
    /* Whoever has groups below may hold no process, but at the top. */
    return strcmp(folder, mount) == 0 || read_file(procs.text, text).len == 0;
}

/* Our own group holds us, so what was handed over must lie above it (DelegateSubgroup=).
 */
static bool find_v2(struct sandbox_plan *plan, struct str mounts, struct str groups)
{
    struct str mount = mount_of(mounts, "cgroup2", "");
    CLEANUP(xfreep) char *top = str_dup(mount);
    struct path folder;
    char *slash;

    if (!mount.len)
        return false;
    folder = folder_of(mount, own_group(groups, ""));
    if (!is_usable_v2(folder.text, top)) {
        slash = strrchr(folder.text, '/');
        if (strcmp(folder.text, top) == 0 || !slash)
            return false;
        *slash = '\0';
        if (!is_usable_v2(folder.text, top))
            return false;
    }
    plan->group_folders[0] = plan_text(plan, str_of(folder.text));
    return true;
}

void plan_group(struct sandbox_plan *plan)
{
    CLEANUP(xfreep) char *mounts_text = xmalloc(MAX_FILE);
    CLEANUP(xfreep) char *groups_text = xmalloc(MAX_FILE);
    struct str mounts = read_file("/proc/self/mounts", mounts_text);
    struct str groups = read_file("/proc/self/cgroup", groups_text);

    plan->group = GROUP_NONE;
    if (find_v2(plan, mounts, groups))
        plan->group = GROUP_V2;
    else if (find_v1(plan, mounts, groups))
        plan->group = GROUP_V1;
    else
        for (size_t i = 0; i < GROUP_FOLDERS; i++)
            plan->group_folders[i] = S("");
}

static bool set_number(const char *folder, const char *name, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return write_file(folder, name, text);
}

static bool set_cpu(const char *folder, enum group_type type, unsigned percent)
{
    uint64_t quota = (uint64_t)percent * CPU_PERIOD_US / 100;
    char text[64];

    if (type == GROUP_V1)
        return set_number(folder, "cpu.cfs_period_us", CPU_PERIOD_US) &&
               set_number(folder, "cpu.cfs_quota_us", quota);
    (void)snprintf(text, sizeof(text), "%llu %d", (unsigned long long)quota,
                   CPU_PERIOD_US);
    return write_file(folder, "cpu.max", text);
}

/* Swap and the processor are limited where that can be: not every kernel counts them. */
static bool set_limits(const struct sandbox_plan *plan, const char *folder, size_t which)
{
    if (plan->group == GROUP_V2) {
        (void)set_number(folder, "memory.swap.max", 0);
        (void)set_cpu(folder, GROUP_V2, plan->cpu_percent);
        return set_number(folder, "memory.max", plan->memory) &&
               set_number(folder, "pids.max", plan->processes);
    }
    if (strcmp(controllers[which], "memory") == 0) {
        bool is_set = set_number(folder, "memory.limit_in_bytes", plan->memory);

        (void)set_number(folder, "memory.memsw.limit_in_bytes", plan->memory);
        return is_set;
    }
    if (strcmp(controllers[which], "pids") == 0)
        return set_number(folder, "pids.max", plan->processes);
    (void)set_cpu(folder, GROUP_V1, plan->cpu_percent);
    return true;
}

/* What a spawner left that was killed: empty, since whoever made it is gone. */
static void sweep(const char *folder)
{
    DIR *all = opendir(folder);
    struct dirent *entry;

    while (all && (entry = readdir(all))) {
        struct path path = join(folder, entry->d_name);
        long pid = strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0
                       ? strtol(entry->d_name + strlen(PREFIX), NULL, 10)
                       : 0;

        if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
            (void)rmdir(path.text);
    }
    if (all)
        (void)closedir(all);
}

/* With a name that nobody has: one that was removed may still be there. */
static bool make_folder(const char *above, struct path *ret)
{
    for (unsigned i = 1; i < UINT_MAX; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), PREFIX "%d-%u", getpid(), i);
        *ret = join(above, name);
        if (mkdir(ret->text, 0755) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static enum err make_one(const struct sandbox_plan *plan, size_t which,
                         struct buf *ret_path)
{
    const char *above = plan->group_folders[which].ptr;
    struct path folder;

    if (plan->group == GROUP_V2) {
        (void)write_file(above, "cgroup.subtree_control", "+cpu");
        if (!write_file(above, "cgroup.subtree_control", "+memory +pids"))
            return ERR_IO;
    }
    sweep(above);
    if (!make_folder(above, &folder))
        return ERR_IO;
    buf_put(ret_path, str_of(folder.text));
    buf_putc(ret_path, '\n');
    return set_limits(plan, folder.text, which) ? OK : ERR_IO;
}

enum err sandbox_group_make(const struct sandbox_plan *plan, struct buf *ret_path)
{
    enum err err = OK;

    buf_clear(ret_path);
    for (size_t i = 0; i < GROUP_FOLDERS && !err; i++)
        if (plan->group != GROUP_NONE && plan->group_folders[i].len)
            err = make_one(plan, i, ret_path);
    if (err) {
        sandbox_group_end(buf_cstr(ret_path));
        buf_clear(ret_path);
    }
    return err;
}

/* Calls for each folder of the group; false as soon as one does. */
static bool each_folder(const char *path, bool (*act)(const char *folder))
{
    struct str rest = str_of(path);

    while (rest.ptr) {
        struct str line = str_cut(&rest, '\n');
        CLEANUP(xfreep) char *folder = str_dup(line);

        if (line.len && !act(folder))
            return false;
    }
    return true;
}

static bool join_folder(const char *folder)
{
    return write_file(folder, "cgroup.procs", "0");
}

enum err sandbox_group_join(const char *path)
{
    return each_folder(path, join_folder) ? OK : ERR_IO;
}

static bool kill_folder(const char *folder)
{
    CLEANUP(xfreep) char *text = xmalloc(MAX_FILE);
    struct path procs = join(folder, "cgroup.procs");
    struct str rest;

    if (write_file(folder, "cgroup.kill", "1"))
        return true;
    rest = read_file(procs.text, text);
    while (rest.ptr) {
        uint64_t pid;

        if (!str_to_u64(str_cut(&rest, '\n'), INT_MAX, &pid) && pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
    }
    return true;
}

static bool end_folder(const char *folder)
{
    const struct timespec pause = { .tv_nsec = 5'000'000 };

    for (size_t i = 0; i < END_TRIES; i++) {
        if (rmdir(folder) == 0 || errno == ENOENT)
            return true;
        (void)kill_folder(folder);
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

void sandbox_group_end(const char *path)
{
    (void)each_folder(path, kill_folder);
    (void)each_folder(path, end_folder);
}
