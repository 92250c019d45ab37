/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "spawn/spawn_priv.h"

enum { CANNOT_RUN = 127 };

static void send_proxy(int fd, void *user)
{
    const struct leader *leader = user;
    struct word word = { .type = WORD_PROXY };

    (void)word_send(leader->socket, &word, &fd, 1);
}

static const char *set_up(const struct leader *leader)
{
    if (setsid() < 0)
        return "a session of its own";
    for (int i = 0; i < 3; i++)
        if (dup2(leader->streams[i], i) < 0)
            return "its standard streams";
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return "its end with its keeper";
    if (getppid() != leader->keeper)
        raise(SIGKILL); /* the keeper ended before it could have told us */
    if (sandbox_group_join(leader->group))
        return "its cgroup";
    return NULL;
}

void leader_run(const struct leader *leader)
{
    struct leader_failure failure = {};
    struct leader mine = *leader;
    const char *why = set_up(leader);

    if (!why)
        (void)sandbox_enter(leader->plan, send_proxy, &mine, &why);
    failure.code = errno;
    (void)snprintf(failure.why, sizeof(failure.why), "%s", why ? why : "");
    (void)!write(leader->report, &failure, sizeof(failure));
    _exit(CANNOT_RUN);
}
