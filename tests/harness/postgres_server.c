/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NOBODY = 65534,
    WAIT_MS = 60 * 1000,
    STEP_MS = 10,
};

#define BIN "/usr/lib/postgresql/15/bin/"

static void die(const char *what)
{
    printf("Bail out! PostgreSQL: %s\n", what);
    exit(1);
}

void postgres_server_need(void)
{
    if (access(BIN "postgres", X_OK) == 0 && access(BIN "initdb", X_OK) == 0)
        return;
    printf("1..0 # SKIP no PostgreSQL 15 is installed (Debian package postgresql)\n");
    exit(0);
}

/* In the child: in the server's folder, with its log, as somebody else than root, and not
 * longer than us (immediate shutdown, which leaves nothing behind). */
static void become_server(const char *folder, pid_t parent)
{
    sigset_t none;
    int log;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0);
    if (chdir(folder))
        _exit(126);
    log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    if (getuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
                          setresuid(NOBODY, NOBODY, NOBODY)))
        _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT); /* last: another user would clear it */
    if (getppid() != parent)
        _exit(126);
}

static pid_t spawn(const char *folder, const char *const *arguments)
{
    pid_t parent = getpid();
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid < 0)
        die("cannot fork");
    if (pid == 0) {
        become_server(folder, parent);
        (void)execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    return pid;
}

static void run(const char *folder, const char *const *arguments)
{
    pid_t pid = spawn(folder, arguments);
    int status;

    if (waitpid(pid, &status, 0) != pid || status != 0)
        die(arguments[0]);
}

static void pause_a_little(void)
{
    (void)usleep(STEP_MS * 1000);
}

/* The eighth line of its file says how far it is, as pg_ctl reads it. */
static bool is_ready(const struct postgres_server *server)
{
    char path[96], line[256] = "";
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/data/postmaster.pid", server->folder);
    file = fopen(path, "re");
    if (!file)
        return false;
    for (int i = 0; i < 8; i++)
        if (!fgets(line, sizeof(line), file))
            line[0] = '\0';
    (void)fclose(file);
    return strncmp(line, "ready", 5) == 0;
}

void postgres_server_start(struct postgres_server *server)
{
    static const char *const arguments[] = {
        BIN "postgres",
        "-D",
        "data",
        "-k",
        "",
        "-c",
        "listen_addresses=",
        "-c",
        "max_connections=20",
        "-c",
        "shared_buffers=16MB",
        "-c",
        "log_statement=none",
        "-c",
        "fsync=off", /* a crash is one of the server, which the page cache survives */
        NULL,
    };
    const char *mine[sizeof(arguments) / sizeof(arguments[0])];

    memcpy(mine, arguments, sizeof(mine));
    mine[4] = server->folder;
    server->pid = spawn(server->folder, mine);
    for (int waited = 0; !is_ready(server); waited += STEP_MS) {
        if (waited > WAIT_MS || waitpid(server->pid, NULL, WNOHANG) != 0)
            die("it does not start; see its log");
        pause_a_little();
    }
}

void postgres_server_init(struct postgres_server *server)
{
    static const char *const initdb[] = {
        BIN "initdb", "-D",    "data", "-U",   "moot",
        "-A",         "trust", "-E",   "UTF8", "--locale=C.UTF-8",
        "--no-sync",  NULL,
    };

    *server = (struct postgres_server){ .folder = "/tmp/moot-postgres-XXXXXX" };
    if (!mkdtemp(server->folder))
        die("cannot make a folder");
    if (getuid() == 0 && chown(server->folder, NOBODY, NOBODY))
        die("cannot give the folder away");
    run(server->folder, initdb);
    postgres_server_start(server);
}

static void stop(struct postgres_server *server, int signal)
{
    if (server->pid <= 0)
        return;
    (void)kill(server->pid, SIGCONT);
    (void)kill(server->pid, signal);
    if (waitpid(server->pid, NULL, 0) != server->pid)
        die("it is not ours");
    server->pid = 0;
}

static int remove_one(const char *path, const struct stat *about [[maybe_unused]],
                      int type [[maybe_unused]], struct FTW *where [[maybe_unused]])
{
    return remove(path);
}

void postgres_server_done(struct postgres_server *server)
{
    stop(server, SIGQUIT);
    (void)nftw(server->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *postgres_server_url(const struct postgres_server *server,
                                const char *database,
                                char out[static POSTGRES_SERVER_URL])
{
    (void)snprintf(out, POSTGRES_SERVER_URL, "postgresql://moot@/%s?host=%s", database,
                   server->folder);
    return out;
}

void postgres_server_run(const struct postgres_server *server, const char *database,
                         const char *sql)
{
    const char *const psql[] = {
        BIN "psql", "-X",           "-q", "-v",   "ON_ERROR_STOP=1",
        "-h",       server->folder, "-U", "moot", "-d",
        database,   "-c",           sql,  NULL,
    };

    run(server->folder, psql);
}

void postgres_server_kill(struct postgres_server *server)
{
    stop(server, SIGQUIT);
}

/* The postmaster and those that serve connections, which have its process group behind
 * their names in /proc only: they are its children. */
static void signal_all(const struct postgres_server *server, int signal)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;

    (void)kill(server->pid, signal);
    while (processes && (entry = readdir(processes))) {
        char path[300], text[512] = "";
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        FILE *file;
        int parent = 0;

        (void)snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        file = pid > 0 ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        if (fgets(text, sizeof(text), file) && strrchr(text, ')'))
            (void)sscanf(strrchr(text, ')'), ") %*c %d", &parent);
        (void)fclose(file);
        if (parent == server->pid)
            (void)kill(pid, signal);
    }
    if (processes)
        (void)closedir(processes);
}

void postgres_server_freeze(const struct postgres_server *server)
{
    signal_all(server, SIGSTOP);
}

void postgres_server_thaw(const struct postgres_server *server)
{
    signal_all(server, SIGCONT);
}
