/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basic: Landlock says what is seen of the file system, the filter which system calls
 * there are. Nothing is mounted, so it works where namespaces do not; other processes of
 * the same user can be seen, but neither looked into nor, since Landlock 6, signalled.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/levels.h"
#include "sandbox/places.h"

/* As of linux/landlock.h, which need not be as new as the kernel. */
enum {
    LANDLOCK_VERSION = 1,
    LANDLOCK_PATH_BENEATH = 1,
    WITH_REFER = 2,
    WITH_TRUNCATE = 3,
    WITH_TCP = 4,
    WITH_IOCTL = 5,
    WITH_SCOPES = 6,
};

struct landlock_rules {
    uint64_t files, network, scopes;
};

struct landlock_path {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

enum {
    FILE_EXECUTE = 1 << 0,
    FILE_WRITE = 1 << 1,
    FILE_READ = 1 << 2,
    FOLDER_READ = 1 << 3,
    VERSION_1 = (1 << 13) - 1, /* all there were then */
    FILE_REFER = 1 << 13,
    FILE_TRUNCATE = 1 << 14,
    FILE_IOCTL = 1 << 15,
    READING = FILE_EXECUTE | FILE_READ | FOLDER_READ,
    OF_FILES = FILE_EXECUTE | FILE_WRITE | FILE_READ | FILE_TRUNCATE | FILE_IOCTL,
    DEVICES_MADE = 1 << 6 | 1 << 11, /* nobody needs to make any */
    TCP_BOTH = 3,
    SCOPES_BOTH = 3,
};

int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);

    return version > 0 ? (int)version : 0;
}

/* clang-format off */
static const struct place device_places[] = {
    { PLACE_WRITE, S("/dev/null"),     S("/dev/null") },
    { PLACE_WRITE, S("/dev/zero"),     S("/dev/zero") },
    { PLACE_WRITE, S("/dev/full"),     S("/dev/full") },
    { PLACE_READ,  S("/dev/random"),   S("/dev/random") },
    { PLACE_READ,  S("/dev/urandom"),  S("/dev/urandom") },
    { PLACE_READ,  S("/proc/self"),    S("/proc/self") },
    { PLACE_READ,  S("/proc/meminfo"), S("/proc/meminfo") },
    { PLACE_READ,  S("/proc/cpuinfo"), S("/proc/cpuinfo") },
    { PLACE_READ,  S("/etc/passwd"),   S("/etc/passwd") },
    { PLACE_READ,  S("/etc/group"),    S("/etc/group") },
    { PLACE_READ,  S("/etc/nsswitch.conf"), S("/etc/nsswitch.conf") },
};
/* clang-format on */

enum err basic_plan(struct planning *planning)
{
    if (!landlock_version())
        return planning_fail(planning, ERR_FORBIDDEN,
                             "sandbox basic needs Landlock, which this kernel does not "
                             "have or does not allow");
    return plan_places(planning, device_places, COUNT(device_places));
}

static uint64_t all_files(int version)
{
    return VERSION_1 | (version >= WITH_REFER ? FILE_REFER : 0) |
           (version >= WITH_TRUNCATE ? FILE_TRUNCATE : 0) |
           (version >= WITH_IOCTL ? FILE_IOCTL : 0);
}

/* What is not there is not permitted either. */
static bool permit_place(int rules, const struct place *place, uint64_t all)
{
    CLEANUP(fd_closep) int fd = open(place->from.ptr, O_PATH | O_CLOEXEC);
    struct landlock_path rule = { .allowed = READING, .parent_fd = fd };
    struct stat st;

    if (fd < 0)
        return errno == ENOENT;
    if (fstat(fd, &st) < 0)
        return false;
    if (place->type == PLACE_WRITE)
        rule.allowed = all & ~(uint64_t)DEVICES_MADE;
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= OF_FILES;
    return syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0) == 0;
}

static const char *confine_files(const struct sandbox_plan *plan)
{
    int version = landlock_version();
    struct landlock_rules set = {
        .files = all_files(version),
        .network = version >= WITH_TCP ? TCP_BOTH : 0,
        .scopes = version >= WITH_SCOPES ? SCOPES_BOTH : 0,
    };
    size_t size = version >= WITH_SCOPES ? sizeof(set)
                  : version >= WITH_TCP  ? 2 * sizeof(uint64_t)
                                         : sizeof(uint64_t);
    CLEANUP(fd_closep) int rules = -1;

    rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
    if (!version || rules < 0)
        return "cannot use Landlock";
    for (size_t i = 0; i < plan->place_count; i++)
        if (plan->places[i].type != PLACE_LINK &&
            !permit_place(rules, &plan->places[i], set.files))
            return "cannot permit a path";
    if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
        return "cannot confine it by Landlock";
    return NULL;
}

const char *basic_confine(const struct sandbox_plan *plan)
{
    struct filter_rules rules = plan_rules(plan);
    struct sock_filter program[FILTER_MAX];
    struct sock_fprog filter = { (unsigned short)filter_make(&rules, program), program };
    const char *why;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return "cannot give up new privileges";
    why = confine_files(plan);
    if (why)
        return why;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0)
        return "cannot load the filter of system calls";
    return NULL;
}
