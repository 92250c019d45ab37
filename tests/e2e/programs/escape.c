/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to get out of the sandbox it is started in, one way at a time:
 *
 *     escape WAY [ARGUMENT]
 *
 * Prints "refused: ERROR", or what it got, and then ends with 0 either way: who started
 * it judges.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void judge(long result, const char *got)
{
    if (result < 0)
        printf("refused: %s\n", strerrorname_np(errno));
    else
        printf("got: %s\n", got);
}

static void try_read(const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (len >= 0) {
        text[len] = '\0';
        text[strcspn(text, "\n")] = '\0';
    }
    judge(len, text);
}

static void try_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    judge(fd < 0 ? -1 : write(fd, "x", 1), "written");
}

static void try_list(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (!folder) {
        judge(-1, NULL);
        return;
    }
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            printf("%s ", entry->d_name);
    puts("");
}

static void try_link(const char *to)
{
    (void)unlink("link");
    if (symlink(to, "link") < 0) {
        judge(-1, NULL);
        return;
    }
    try_read("link");
}

static void try_socket(const char *family)
{
    int number = atoi(family);

    judge(socket(number, SOCK_STREAM, 0) < 0 && socket(number, SOCK_RAW, 0) < 0 ? -1 : 0,
          "a socket");
}

static void try_connect(const char *port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(port)),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    judge(fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to)), "connected");
}

static void try_local(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t len = strlen(path);

    memcpy(to.sun_path, path, len < sizeof(to.sun_path) ? len : 0);
    if (path[0] == '@')
        to.sun_path[0] = '\0';
    judge(fd < 0 ? -1
                 : connect(fd, (struct sockaddr *)&to,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
          "connected");
}

static void try_kill(const char *pid)
{
    judge(kill((pid_t)atoi(pid), 0), "it may be signalled");
}

static void try_ptrace(const char *pid)
{
    judge(ptrace(PTRACE_ATTACH, (pid_t)atoi(pid), NULL, NULL), "attached");
}

static void try_namespace(const char *flags)
{
    judge(unshare((int)strtoul(flags, NULL, 0)), "a namespace");
}

static void try_clone(const char *flags)
{
    judge(syscall(SYS_clone, strtoul(flags, NULL, 0) | SIGCHLD, NULL, NULL, NULL, NULL),
          "a namespace");
}

static void try_clone3(const char *)
{
    struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };

    judge(syscall(SYS_clone3, &args, sizeof(args)), "a namespace");
}

static void try_mount(const char *path)
{
    judge(mount("none", path, "tmpfs", 0, NULL), "mounted");
}

static void try_chroot(const char *path)
{
    judge(chroot(path), "another root");
}

static void try_call(const char *number)
{
    judge(syscall(atol(number), 0, 0, 0, 0, 0, 0), "the call");
}

static void try_type(const char *)
{
    /* The kernel looks at 32 bits of the request alone. */
    judge(syscall(SYS_ioctl, 0, (1UL << 32) | TIOCSTI, "x"), "typed");
}

static void try_setuid(const char *)
{
    judge(setuid(0), "root");
}

static void try_caps(const char *)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof(line), status))
        if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10) ||
            !strncmp(line, "Seccomp:", 8) || !strncmp(line, "Uid", 3) ||
            !strncmp(line, "Groups", 6))
            fputs(line, stdout);
}

static void try_forks(const char *)
{
    int count = 0;

    for (pid_t pid; count < 10'000; count++) {
        pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            (void)pause();
            _exit(0);
        }
    }
    printf("%d processes\n", count);
}

/* Written to page by page, in a child: who takes too much is killed or gets no more. */
static void try_memory(const char *mebibytes)
{
    size_t bytes = strtoul(mebibytes, NULL, 10) << 20;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
            _exit(1);
        for (size_t i = 0; i < bytes; i += 4096)
            memory[i] = 1;
        _exit(0);
    }
    (void)waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        printf("killed: %d\n", WTERMSIG(status));
    else
        puts(WEXITSTATUS(status) ? "refused: ENOMEM" : "got: all of it");
}

/* Memory that belongs to a file which nobody has mapped. */
static void try_hidden_memory(const char *)
{
    judge(memfd_create("hidden", 0), "a file in memory");
}

static void try_core(const char *)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max = 1 << 20;
    judge(setrlimit(RLIMIT_CORE, &limit), "core dumps");
}

static void try_big_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    (void)signal(SIGXFSZ, SIG_IGN);
    judge(fd < 0 ? -1 : ftruncate(fd, 1L << 40), "a large file");
}

/* The root, /dev and the like are in memory: nobody may fill that. */
static void try_fill(const char *path)
{
    static char block[1 << 20];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    size_t count = 0;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (fd < 0) {
        judge(-1, NULL);
        return;
    }
    while (count < 4096 && write(fd, block, sizeof(block)) == sizeof(block))
        count++;
    (void)unlink(path);
    printf("%zu MiB\n", count);
}

static void try_files(const char *)
{
    int count = 0;

    while (count < 100'000 && dup(0) >= 0)
        count++;
    printf("%d files\n", count);
}

static void try_env(const char *)
{
    extern char **environ;

    for (char **at = environ; *at; at++)
        puts(*at);
}

static void try_descriptors(const char *)
{
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    puts("");
}

static void try_where(const char *)
{
    char folder[4096];

    puts(getcwd(folder, sizeof(folder)) ? folder : "nowhere");
}

static void on_term(int)
{
    static const char text[] = "finished\n";

    (void)!write(1, text, sizeof(text) - 1);
    _exit(3);
}

/* Waits to be asked to end, and says that it was. */
static void try_wait(const char *)
{
    struct sigaction old;

    (void)sigaction(SIGTERM, NULL, &old);
    if (old.sa_handler == SIG_IGN)
        puts("SIGTERM is ignored");
    (void)signal(SIGTERM, on_term);
    puts("ready");
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}

/* Another session, so that no signal to the group finds it. */
static void try_stay(const char *seconds)
{
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0)
            execlp("sleep", "sleep", seconds, NULL);
        _exit(0);
    }
    try_wait(NULL);
}

static const struct {
    const char *name;
    void (*run)(const char *argument);
} ways[] = {
    { "read", try_read },
    { "write", try_write },
    { "list", try_list },
    { "link", try_link },
    { "socket", try_socket },
    { "connect", try_connect },
    { "local", try_local },
    { "kill", try_kill },
    { "ptrace", try_ptrace },
    { "namespace", try_namespace },
    { "clone", try_clone },
    { "clone3", try_clone3 },
    { "mount", try_mount },
    { "chroot", try_chroot },
    { "call", try_call },
    { "type", try_type },
    { "setuid", try_setuid },
    { "caps", try_caps },
    { "forks", try_forks },
    { "memory", try_memory },
    { "hidden-memory", try_hidden_memory },
    { "core", try_core },
    { "big-file", try_big_file },
    { "fill", try_fill },
    { "files", try_files },
    { "env", try_env },
    { "descriptors", try_descriptors },
    { "where", try_where },
    { "wait", try_wait },
    { "stay", try_stay },
};

int main(int count, char **words)
{
    for (size_t i = 0; i < COUNT(ways) && count > 1; i++)
        if (strcmp(words[1], ways[i].name) == 0) {
            ways[i].run(count > 2 ? words[2] : "");
            return 0;
        }
    fputs("escape: no such way\n", stderr);
    return 2;
}
