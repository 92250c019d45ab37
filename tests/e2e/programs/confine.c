/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command under a permit, without a bridge around it:
 *
 *     confine [--level L] [--network N] [--read P] [--write P] [--home P] [--folder P]
 *             [--host H] [--set N=V] [--secret N=V] [--memory BYTES] [--processes N]
 *             [--files N] [--file-bytes N] [--uid N] [--explain | --json | --warn] -- CMD
 * …
 *
 * The plan goes through its bytes, as it does on its way to the spawner. The exit code is
 * the command's; 120: there is no plan, 121: it could not be entered. With hosts there is
 * the proxy.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "net/conn.h"
#include "proxy/proxy.h"
#include "sandbox/sandbox.h"

enum { MAX = 16, NO_PLAN = 120, NOT_ENTERED = 121, MAX_BYTES = 1 << 20 };

struct order {
    struct permit permit;
    struct str read[MAX], write[MAX], hosts[MAX];
    struct sandbox_variable variables[MAX];
    struct str words[256];
    struct sandbox_command command;
    char show; /* e, j, w: instead of running it */
};

static unsigned index_of(const char *word, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    (void)fprintf(stderr, "confine: what is %s?\n", word);
    exit(NO_PLAN);
}

static struct sandbox_variable variable(const char *text, bool is_secret)
{
    struct str rest = str_of(text);
    struct str name = str_cut(&rest, '=');

    return (struct sandbox_variable){ name, rest, is_secret };
}

static void take(struct order *o, const char *option, const char *value)
{
    static const char *const levels[] = { "strict", "basic", "off" };
    static const char *const networks[] = { "none", "loopback", "hosts", "any" };
    static const char *const options[] = {
        "--level",     "--network", "--read",       "--write",  "--home",
        "--folder",    "--host",    "--set",        "--secret", "--memory",
        "--processes", "--files",   "--file-bytes", "--uid",
    };
    struct permit *p = &o->permit;
    size_t number = strtoull(value, NULL, 10);

    switch (index_of(option, options, COUNT(options))) {
    case 0: p->level = index_of(value, levels, COUNT(levels)); break;
    case 1: p->network = index_of(value, networks, COUNT(networks)); break;
    case 2: o->read[p->read_count++ % MAX] = str_of(value); break;
    case 3: o->write[p->write_count++ % MAX] = str_of(value); break;
    case 4: p->home = str_of(value); break;
    case 5: o->command.folder = str_of(value); break;
    case 6: o->hosts[p->host_count++ % MAX] = str_of(value); break;
    case 7: o->variables[p->variable_count++ % MAX] = variable(value, false); break;
    case 8: o->variables[p->variable_count++ % MAX] = variable(value, true); break;
    case 9: p->memory = number; break;
    case 10: p->processes = number; break;
    case 11: p->files = number; break;
    case 12: p->file_bytes = number; break;
    case 13: p->uid = (uid_t)number; break;
    }
}

static void parse(struct order *o, char **args)
{
    for (; *args && strcmp(*args, "--") != 0; args++) {
        bool is_show = !strcmp(*args, "--explain") || !strcmp(*args, "--json") ||
                       !strcmp(*args, "--warn");

        if (is_show)
            o->show = (*args)[2];
        else if (args[1]) {
            take(o, args[0], args[1]);
            args++;
        }
    }
    for (args += *args != NULL; *args && o->command.count < COUNT(o->words); args++)
        o->words[o->command.count++] = str_of(*args);
    o->permit.read = o->read;
    o->permit.write = o->write;
    o->permit.hosts = o->hosts;
    o->permit.variables = o->variables;
    o->command.words = o->words;
}

static void show(const struct order *o, const struct sandbox_plan *plan)
{
    struct buf out;

    buf_init(&out, MAX_BYTES);
    if (o->show == 'e')
        sandbox_explain(plan, &out);
    else if (o->show == 'j')
        sandbox_explain_json(plan, &out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
}

static struct sandbox_plan *through_bytes(struct sandbox_plan *plan)
{
    struct sandbox_plan *copy = NULL;
    struct buf bytes;

    buf_init(&bytes, MAX_BYTES);
    sandbox_plan_write(plan, &bytes);
    if (bytes.is_full || sandbox_plan_read(buf_str(&bytes), &copy))
        abort();
    buf_done(&bytes);
    sandbox_plan_free(plan);
    return copy;
}

/* A signal that ends it goes to the group of the command, as the spawner sends it. */
static volatile sig_atomic_t command_pid;

static void pass_on(int signal)
{
    if (command_pid)
        (void)kill(-command_pid, signal);
}

/* One descriptor, as the spawner sends it. */
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int fd, void *user)
{
    union control control = { .head = { CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS } };
    struct iovec byte = { (char[]){ 'x' }, 1 };
    struct msghdr message = { .msg_iov = &byte,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };

    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    (void)sendmsg(*(int *)user, &message, 0);
}

static int receive_fd(int from)
{
    union control control;
    char byte;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    int fd = -1;

    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) > 0 && message.msg_controllen)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
    return fd;
}

static void on_refused(void *, struct str host, const char *why)
{
    (void)fprintf(stderr, "confine: refused " STR_FMT ": %s\n", STR_ARG(host), why);
}

/* The way out of a network of its own, until the command has ended. */
static void serve(const struct permit *permit, int listen_fd, pid_t pid, int *status)
{
    struct loop *loop = loop_new();
    struct conn_flusher *flusher = conn_flusher_new(loop, NULL);
    const struct proxy_settings settings = {
        .hosts = permit->hosts,
        .host_count = permit->host_count,
        .reaches_private = PROXY_LITERALS,
        .max_connections = 8,
        .idle_ms = 10'000,
        .connect_ms = 5'000,
        .on_refused = on_refused,
    };
    struct proxy *proxy = proxy_new(loop, flusher, listen_fd, &settings);

    while (waitpid(pid, status, WNOHANG) == 0)
        loop_turn(loop, 10);
    proxy_free(proxy);
    loop_turn(loop, 0);
    loop_turn(loop, 0);
    conn_flusher_free(flusher);
    loop_free(loop);
}

static int run(const struct order *o, const struct sandbox_plan *plan)
{
    struct buf group;
    const char *why;
    int status, ends[2], fd;
    pid_t pid;

    buf_init(&group, MAX_BYTES);
    if (sandbox_group_make(plan, &group) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        (void)fprintf(stderr, "confine: no group\n");
        return NO_PLAN;
    }
    pid = fork();
    if (pid == 0) {
        (void)setsid();
        if (!sandbox_group_join(buf_cstr(&group)) &&
            sandbox_enter(plan, send_fd, &ends[1], &why))
            (void)fprintf(stderr, "confine: %s: %s\n", why, strerror(errno));
        _exit(NOT_ENTERED);
    }
    command_pid = pid;
    (void)signal(SIGTERM, pass_on);
    (void)close(ends[1]);
    fd = o->permit.network == NETWORK_HOSTS ? receive_fd(ends[0]) : -1;
    if (fd >= 0)
        serve(&o->permit, fd, pid, &status);
    else
        while (waitpid(pid, &status, 0) < 0)
            ;
    sandbox_group_end(buf_cstr(&group));
    buf_done(&group);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int, char **args)
{
    struct order *o = xcalloc(1, sizeof(*o));
    struct sandbox_plan *plan = NULL;
    char *why = NULL;
    int code = 0;

    parse(o, args + 1);
    if (sandbox_plan_make(&o->permit, &o->command, &plan, &why)) {
        (void)fprintf(stderr, "confine: %s\n", why);
        code = NO_PLAN;
    } else {
        plan = through_bytes(plan);
        if (o->show)
            show(o, plan);
        else
            code = run(o, plan);
    }
    sandbox_plan_free(plan);
    free(why);
    free(o);
    return code;
}
