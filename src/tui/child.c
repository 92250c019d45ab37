/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/xalloc.h"

enum { VALUE_BYTES = 4096, NAME_BYTES = 64, CANNOT_RUN = 127 };

/* Signals are blocked in the room, which reads them from a descriptor; a program expects
 * none of that. */
static void reset_signals(void)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGTSTP, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* --- the editor --- */

static enum err fail(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_IO;
}

static const char *temporary(void)
{
    static const char *const names[] = { "XDG_RUNTIME_DIR", "TMPDIR" };

    for (size_t i = 0; i < COUNT(names); i++) {
        const char *folder = getenv(names[i]);

        if (folder && folder[0] == '/' && access(folder, W_OK | X_OK) == 0)
            return folder;
    }
    return "/tmp";
}

/* mkdtemp() makes a folder of mode 0700. */
static enum err make_folder(struct edit *edit)
{
    struct buf path;

    buf_init(&path, 4096);
    buf_putf(&path, "%s/moot-XXXXXX", temporary());
    edit->folder = str_dup(buf_str(&path));
    buf_done(&path);
    if (!mkdtemp(edit->folder)) {
        free(TAKE(edit->folder));
        return ERR_IO;
    }
    buf_init(&path, 4096);
    buf_putf(&path, "%s/arguments.json", edit->folder);
    edit->file = str_dup(buf_str(&path));
    buf_done(&path);
    return OK;
}

static enum err write_file(const char *path, struct str text)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return ERR_IO;
    return fd_write_all(fd, text);
}

/* An editor may leave copies beside the file. */
static void remove_folder(struct edit *edit)
{
    DIR *folder = edit->folder ? opendir(edit->folder) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." stay */
    if (folder)
        (void)closedir(folder);
    if (edit->folder)
        (void)rmdir(edit->folder);
    free(edit->folder);
    free(edit->file);
    *edit = (struct edit){};
}

static const char *editor(void)
{
    static const char *const names[] = { "VISUAL", "EDITOR" };

    for (size_t i = 0; i < COUNT(names); i++) {
        const char *command = getenv(names[i]);

        if (command && *command)
            return command;
    }
    return "vi";
}

/* The variable is a command of this person, with options maybe; the file is its last
 * argument. */
static void run_editor(const struct edit *edit, const char *command)
{
    reset_signals();
    (void)execl("/bin/sh", "sh", "-c", command, "sh", edit->file, (char *)NULL);
    _exit(CANNOT_RUN);
}

enum err edit_begin(struct edit *edit, struct str text, const char **ret_why)
{
    char command[4096];

    (void)snprintf(command, sizeof(command), "%s \"$1\"", editor());
    *edit = (struct edit){};
    if (make_folder(edit))
        return fail(ret_why, "no folder for the editor could be made");
    if (write_file(edit->file, text)) {
        remove_folder(edit);
        return fail(ret_why, "the file for the editor could not be written");
    }
    edit->pid = fork();
    if (edit->pid == 0)
        run_editor(edit, command);
    if (edit->pid > 0)
        return OK;
    remove_folder(edit);
    return fail(ret_why, "the editor could not be started");
}

static enum err read_file(const char *path, struct buf *ret, const char **ret_why)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    ssize_t got = 1;

    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return fail(ret_why, "the edited file cannot be read");
    while (got > 0) {
        if (buf_reserve(ret, 64 << 10)) {
            *ret_why = "the edited file is too long";
            return ERR_TOO_BIG;
        }
        got = read(fd, ret->ptr + ret->len, 64 << 10);
        ret->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? fail(ret_why, "the edited file cannot be read") : OK;
}

enum err edit_end(struct edit *edit, int status, struct buf *ret, const char **ret_why)
{
    enum err err;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        err = read_file(edit->file, ret, ret_why);
    else
        err = fail(ret_why, "the editor failed: nothing was changed");
    remove_folder(edit);
    return err;
}

/* It is asked to end, so that it leaves the terminal in order; then it has to. */
void edit_abandon(struct edit *edit)
{
    static const struct timespec patience = { .tv_sec = 1 };
    sigset_t child;

    if (!edit->pid)
        return;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)kill(edit->pid, SIGTERM);
    while (waitpid(edit->pid, NULL, WNOHANG) == 0)
        if (sigtimedwait(&child, NULL, &patience) < 0 && errno == EAGAIN)
            (void)kill(edit->pid, SIGKILL);
    remove_folder(edit);
}

/* --- telling of proposals --- */

struct hook_waiting {
    char *json;
    char **variables; /* "NAME=VALUE" */
    size_t count;
};

static void waiting_free(struct hook_waiting *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->variables[i]);
    free(w->variables);
    free(w->json);
    free(w);
}

static struct hook_waiting *waiting_new(const struct hook_call *call)
{
    struct hook_waiting *w = xcalloc(1, sizeof(*w));

    w->json = str_dup(call->json);
    w->count = call->count;
    w->variables = xcalloc(call->count, sizeof(char *));
    for (size_t i = 0; i < call->count; i++) {
        struct buf text;

        buf_init(&text, VALUE_BYTES + NAME_BYTES);
        buf_putf(&text, "%s=", call->names[i]);
        buf_put(&text, str_slice(call->values[i], 0, VALUE_BYTES));
        w->variables[i] = str_dup(buf_str(&text));
        buf_done(&text);
    }
    return w;
}

/* A file in memory, so that nobody waits for the program to read. */
static int input_of(const struct hook_waiting *w)
{
    CLEANUP(fd_closep) int fd = memfd_create("proposal", MFD_CLOEXEC);

    if (fd < 0 || fd_write_all(fd, str_of(w->json)) || lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return fd_take(&fd);
}

/* Ours, and those of the proposal, which nobody else may have set. Made before the fork:
 * another thread may hold the allocator's locks then. */
static char **environment_of(const struct hook_waiting *w)
{
    size_t count = 0;
    char **all;

    while (environ[count])
        count++;
    all = xcalloc(count + w->count + 1, sizeof(char *));
    count = 0;
    for (char **at = environ; *at; at++)
        if (!str_starts(str_of(*at), S("MOOT_PROPOSAL_")))
            all[count++] = *at;
    memcpy(all + count, w->variables, w->count * sizeof(char *));
    return all;
}

/* A session of its own has no terminal: it cannot write on ours, nor read from it. */
static void run_hook(const char *command, char **environment, int input)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    (void)setsid();
    reset_signals();
    if (nowhere < 0 || dup2(input, STDIN_FILENO) < 0 ||
        dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(CANNOT_RUN);
    (void)execle("/bin/sh", "sh", "-c", command, (char *)NULL, environment);
    _exit(CANNOT_RUN);
}

static void start(struct hook *hook, size_t slot, const struct hook_waiting *w,
                  uint64_t now_ms)
{
    CLEANUP(fd_closep) int input = input_of(w);
    CLEANUP(xfreep) char **environment = environment_of(w);
    pid_t pid;

    if (input < 0)
        return;
    pid = fork();
    if (pid == 0)
        run_hook(hook->command, environment, input);
    if (pid > 0) {
        hook->running[slot].pid = pid;
        hook->running[slot].deadline_ms = now_ms + HOOK_MS;
    }
}

static void start_waiting(struct hook *hook, uint64_t now_ms)
{
    for (size_t i = 0; i < HOOK_RUNNING && hook->waiting_count > 0; i++) {
        if (hook->running[i].pid)
            continue;
        start(hook, i, hook->waiting[0], now_ms);
        waiting_free(hook->waiting[0]);
        hook->waiting_count--;
        memmove(hook->waiting, hook->waiting + 1,
                hook->waiting_count * sizeof(hook->waiting[0]));
    }
}

enum err hook_tell(struct hook *hook, const struct hook_call *call, uint64_t now_ms)
{
    if (!hook->command)
        return OK;
    if (hook->waiting_count == HOOK_WAITING)
        return ERR_OVERLOAD;
    hook->waiting[hook->waiting_count++] = waiting_new(call);
    start_waiting(hook, now_ms);
    return OK;
}

bool hook_reap(struct hook *hook, pid_t pid, uint64_t now_ms)
{
    for (size_t i = 0; i < HOOK_RUNNING; i++)
        if (hook->running[i].pid == pid) {
            hook->running[i].pid = 0;
            start_waiting(hook, now_ms);
            return true;
        }
    return false;
}

uint64_t hook_tick(struct hook *hook, uint64_t now_ms)
{
    uint64_t due = UINT64_MAX;

    for (size_t i = 0; i < HOOK_RUNNING; i++) {
        if (!hook->running[i].pid)
            continue;
        if (hook->running[i].deadline_ms <= now_ms) {
            (void)kill(-hook->running[i].pid, SIGKILL); /* it leads a group of its own */
            hook->running[i].deadline_ms = now_ms + HOOK_MS;
        }
        if (hook->running[i].deadline_ms < due)
            due = hook->running[i].deadline_ms;
    }
    return due;
}

void hook_done(struct hook *hook)
{
    for (size_t i = 0; i < hook->waiting_count; i++)
        waiting_free(hook->waiting[i]);
    hook->waiting_count = 0;
}
