/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying a plan out, in a fresh process with one thread: whatever is limited or given
 * up here cannot be taken back by the command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sandbox/levels.h"

/* Whoever of the machine runs out of memory takes this first. */
static void offer_to_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "500", 3);
    (void)close(fd);
}

static void reset_signals(void)
{
    sigset_t none;

    for (int signal = 1; signal < NSIG; signal++) {
        struct sigaction preset = { .sa_handler = SIG_DFL };

        (void)sigaction(signal, &preset, NULL); /* not all can be set, nor need be */
    }
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Where the limit is lower already it stays. */
static bool limit(__rlimit_resource_t which, rlim_t most)
{
    struct rlimit old, set;

    if (getrlimit(which, &old) < 0)
        return false;
    set.rlim_max = old.rlim_max < most ? old.rlim_max : most;
    set.rlim_cur = set.rlim_max;
    return setrlimit(which, &set) == 0;
}

bool enter_limits(const struct sandbox_plan *plan)
{
    bool is_set = limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, plan->files) &&
                  limit(RLIMIT_FSIZE, plan->file_bytes) && limit(RLIMIT_RTPRIO, 0);

    if (plan->group != GROUP_NONE)
        return is_set;
    /* Somebody of its own: only its own processes count. */
    if (plan->is_root && plan->uid != 0)
        is_set = is_set && limit(RLIMIT_NPROC, plan->processes);
    return is_set && limit(RLIMIT_DATA, plan->memory);
}

/* The folder and those above it that are missing. */
static bool make_folder(const char *path)
{
    CLEANUP(xfreep) char *copy = xstrdup(path);

    for (char *at = copy + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(copy, 0700) == 0 || errno == EEXIST;
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count <= 2; /* itself and the one above */
}

/* What holds something already is whose it is: it is not given away. */
static bool make_home(const struct sandbox_plan *plan)
{
    CLEANUP(fd_closep) int fd = -1;

    if (!plan->home.len)
        return true;
    if (!make_folder(plan->home.ptr))
        return false;
    fd = open(plan->home.ptr, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    return !plan->is_root || !is_empty(plan->home.ptr) ||
           fchown(fd, plan->uid, plan->gid) == 0;
}

char **enter_words(const struct str *words, size_t count)
{
    char **list = xcalloc(count + 1, sizeof(*list));

    for (size_t i = 0; i < count; i++)
        list[i] = str_dup(words[i]);
    return list;
}

static char **environment(const struct sandbox_plan *plan)
{
    char **list = xcalloc(plan->variable_count + 1, sizeof(*list));

    for (size_t i = 0; i < plan->variable_count; i++) {
        const struct sandbox_variable *variable = &plan->variables[i];
        struct buf line;

        buf_init(&line, PLAN_BYTES);
        buf_put(&line, variable->name);
        buf_putc(&line, '=');
        buf_put(&line, variable->value);
        list[i] = xstrdup(buf_cstr(&line));
        buf_done(&line);
    }
    return list;
}

static bool become(const struct sandbox_plan *plan)
{
    if (!plan->is_root || plan->uid == 0)
        return true;
    return setgroups(0, NULL) == 0 && setresgid(plan->gid, plan->gid, plan->gid) == 0 &&
           setresuid(plan->uid, plan->uid, plan->uid) == 0;
}

/* After it has become somebody else: that would clear the signal. */
static bool die_with(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return false;
    errno = ESRCH;
    return getppid() == parent;
}

struct filter_rules plan_rules(const struct sandbox_plan *plan)
{
    struct filter_rules rules = { .counts_memory = plan->group == GROUP_NONE };

    /* A path leads to sockets of others where nothing is mounted anew. */
    if (plan->level == SANDBOX_STRICT)
        rules.sockets = plan->network == NETWORK_NONE ? FILTER_LOCAL_SOCKETS
                                                      : FILTER_INTERNET_SOCKETS;
    return rules;
}

static const char *run_here(const struct sandbox_plan *plan, pid_t parent)
{
    char **words = enter_words(plan->words, plan->word_count);
    char **variables = environment(plan);
    const char *why = NULL;

    if (!become(plan))
        return "cannot become the user it runs as";
    if (!die_with(parent))
        return "cannot be ended with its parent";
    if (chdir(plan->folder.ptr) < 0)
        return "cannot enter its folder";
    if (plan->level == SANDBOX_BASIC)
        why = basic_confine(plan);
    if (why)
        return why;
    if (!enter_limits(plan))
        return "cannot set its limits";
    execve(words[0], words, variables);
    return "cannot run the command";
}

static const char *run_strict(const struct sandbox_plan *plan, pid_t parent,
                              void (*send_fd)(int fd, void *user), void *user)
{
    if (!die_with(parent))
        return "cannot be ended with its parent";
    if (plan->network == NETWORK_HOSTS) {
        int fd = network_make();

        if (fd < 0)
            return "cannot make a network of its own";
        send_fd(fd, user);
        (void)close(fd);
    }
    return strict_run(plan);
}

/* What everybody has, whatever the level; NULL, or why not. */
static const char *prepare(const struct sandbox_plan *plan)
{
    /* The descriptor through which a failure is told goes with a successful exec. */
    if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return "cannot close what is open";
    if (plan->is_root != (geteuid() == 0))
        return "the plan was made by another user";
    if (!make_home(plan))
        return "cannot make its home";
    offer_to_oom();
    reset_signals();
    return NULL;
}

enum err sandbox_enter(const struct sandbox_plan *plan,
                       void (*send_fd)(int fd, void *user), void *user,
                       const char **ret_why)
{
    pid_t parent = getppid();
    const char *why = prepare(plan);

    if (!why)
        why = plan->level == SANDBOX_STRICT ? run_strict(plan, parent, send_fd, user)
                                            : run_here(plan, parent);
    *ret_why = why;
    return ERR_IO;
}
