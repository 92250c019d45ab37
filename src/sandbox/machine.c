/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine gives to a sandbox, looked up without trying it. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/group.h"
#include "sandbox/levels.h"

static void put_bwrap(struct sandbox_plan *plan, struct buf *out)
{
    struct str path = plan_find_program(plan, S("bwrap"), S(""));

    buf_putf(out, "bubblewrap         %s\n",
             path.len ? path.ptr : "not installed: no sandbox strict");
}

/* The number that a file of /proc holds, or -1. */
static long number_in(const char *path)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[32] = "";
    uint64_t number;
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

    if (len <= 0 ||
        str_to_u64(str_trim((struct str){ text, (size_t)len - 1 }), INT32_MAX, &number))
        return -1;
    return (long)number;
}

static void put_user_namespaces(struct buf *out)
{
    const char *state = "open";

    if (number_in("/proc/sys/user/max_user_namespaces") == 0 ||
        number_in("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        state = "closed: sandbox strict only as root";
    else if (number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        state = "restricted by AppArmor: sandbox strict may fail for ordinary users";
    buf_putf(out, "user namespaces    %s\n", state);
}

static void put_landlock(struct buf *out)
{
    int version = landlock_version();

    if (version)
        buf_putf(out, "Landlock           version %d\n", version);
    else
        buf_put(out, S("Landlock           not there: no sandbox basic\n"));
}

static void put_groups(struct sandbox_plan *plan, struct buf *out)
{
    static const char *const groups[] = {
        "none that can be written: limits of each process, and a watcher",
        "version 1",
        "version 2",
    };

    plan_group(plan);
    buf_putf(out, "control groups     %s\n", groups[plan->group]);
}

CLEANUP_FOR(struct sandbox_plan, sandbox_plan_free)

void sandbox_machine(struct buf *out)
{
    CLEANUP(sandbox_plan_freep) struct sandbox_plan *plan = plan_new();

    put_bwrap(plan, out);
    put_user_namespaces(out);
    put_landlock(out);
    put_groups(plan, out);
}
