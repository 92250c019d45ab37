/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "proxy/proxy.h"
#include "sandbox/package.h"
#include "sandbox/registry.h"

enum {
    INSTALL_MS = 300'000,
    PROGRESS_MS = 10'000,
    INSTALL_UID = 64'000, /* as sandbox.h has it for whoever is started by root */
    LINE_BYTES = 4 << 10,
    WHY_BYTES = 1024,
    TEXT_BYTES = 2048,
    LAST_LINES = 4,
    LAST_BYTES = 160,         /* of each */
    PREPARE_BYTES = 64 << 20, /* a lock file is read into the arena */
};

struct prepare {
    const struct server_spec *spec;
    const struct supervisor_means *means;
    const struct prepare_ops *ops;
    void *user;
    struct package package;
    enum prepare_state state;
    char *folder, *pin, *why;
    struct arena arena; /* of the command that was found */
    struct sandbox_command command;
    /* while it runs */
    struct arena plan_arena;
    struct permit permit;
    struct child *child;
    struct proxy *proxy;
    struct loop_fd output;
    struct buf line;
    struct loop_timer timeout, progress;
    uint64_t since_ms;
    bool is_late;
    bool is_named;                     /* the registry, by the operator */
    char *source;                      /* its URL */
    char refused[LAST_BYTES];          /* the first host that it wanted in vain */
    char last[LAST_LINES][LAST_BYTES]; /* of what it said: a ring */
    size_t last_count;
};

/* --- where it is --- */

/* PACKAGES/npm/@scope+name@version */
static char *folder_of(const struct package *package, const char *packages)
{
    struct buf path;
    char *text;

    buf_init(&path, 4096);
    buf_putf(&path, "%s/%s/", packages, package->source == PACKAGE_NPM ? "npm" : "pypi");
    for (size_t i = 0; i < package->name.len; i++) {
        char c = package->name.ptr[i];

        buf_putc(&path, c);
        if (c == '/')
            path.ptr[path.len - 1] = '+';
    }
    buf_putc(&path, '@');
    buf_put(&path, package->version.len > 0 ? package->version : S("newest"));
    text = str_dup(buf_str(&path));
    buf_done(&path);
    return text;
}

static void fail(struct prepare *p, const char *why)
{
    p->state = PREPARE_FAILED;
    free(p->why);
    p->why = xstrdup(why);
}

/* Its words, and behind them the arguments of the spec. */
static bool take_command(struct prepare *p, const struct sandbox_command *found)
{
    const struct sandbox_command *said = &p->spec->command;
    size_t rest = said->count - p->package.used;
    struct str *words = arena_alloc(&p->arena, (found->count + rest) * sizeof(*words));

    if (!words)
        return false;
    memcpy(words, found->words, found->count * sizeof(*words));
    if (rest > 0)
        memcpy(words + found->count, said->words + p->package.used,
               rest * sizeof(*words));
    p->command = (struct sandbox_command){ .words = words,
                                           .count = found->count + rest,
                                           .folder = said->folder };
    return true;
}

/* ERR_NOT_FOUND: it is to be installed. Anything else that failed is final. */
static enum err look(struct prepare *p)
{
    struct sandbox_command found;
    struct str pin;
    const char *why = "";
    enum err err;

    arena_reset(&p->arena);
    err = package_command(&p->package, str_of(p->folder), str_of(p->pin), &p->arena,
                          &found, &pin, &why);
    if (!err && !take_command(p, &found)) {
        err = ERR_TOO_BIG;
        why = "the command is too long";
    }
    if (err) {
        fail(p, why);
        return err;
    }
    p->state = PREPARE_DONE;
    if (!p->pin)
        p->pin = str_dup(pin);
    return OK;
}

/* Each folder on the way; the last is for whoever installs. */
static bool make_folder(const char *path)
{
    CLEANUP(xfreep) char *text = xstrdup(path);

    for (char *at = strchr(text + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(text, 0755) < 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return false;
    return geteuid() != 0 || chown(path, (uid_t)INSTALL_UID, (gid_t)INSTALL_UID) == 0;
}

/* --- installing --- */

static void end_output(struct prepare *p)
{
    int fd = p->output.fd;

    if (fd < 0)
        return;
    loop_fd_remove(p->means->loop, &p->output);
    p->output.fd = -1;
    fd_closep(&fd);
}

static void keep_line(struct prepare *p, struct str line)
{
    (void)snprintf(p->last[p->last_count++ % LAST_LINES], LAST_BYTES, STR_FMT,
                   STR_ARG(str_slice(line, 0, LAST_BYTES - 1)));
}

/* npm names the file of its own log last, which is gone with the sandbox. */
static bool says_something(struct str line)
{
    return line.len > 0 && !strstr(line.ptr, "A complete log of this run");
}

static void say_line(struct prepare *p)
{
    struct str line = { buf_cstr(&p->line), p->line.len };

    if (line.len > 0)
        p->ops->on_log(p->user, line);
    if (says_something(line))
        keep_line(p, line);
    buf_clear(&p->line);
}

static void on_output(struct loop_fd *self, uint32_t)
{
    struct prepare *p = CONTAINER_OF(self, struct prepare, output);
    char text[LINE_BYTES];
    ssize_t got = read(self->fd, text, sizeof(text));

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        end_output(p);
        return;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (text[i] == '\n' || p->line.len == LINE_BYTES)
            say_line(p);
        if (text[i] != '\n')
            buf_putc(&p->line, text[i]);
    }
}

static void end_run(struct prepare *p)
{
    loop_timer_clear(p->means->loop, &p->timeout);
    loop_timer_clear(p->means->loop, &p->progress);
    say_line(p);
    end_output(p);
    proxy_free(TAKE(p->proxy));
    p->child = NULL;
}

static void on_refused(void *user, struct str host, const char *why)
{
    struct prepare *p = user;
    CLEANUP(buf_done) struct buf line;

    buf_init(&line, 1024);
    buf_put(&line, S("it may not reach "));
    buf_put(&line, str_slice(host, 0, 256));
    buf_putf(&line, ": %s", why);
    if (p->refused[0] == '\0')
        (void)snprintf(p->refused, sizeof(p->refused), "%s", buf_cstr(&line));
    p->ops->on_event(p->user, buf_cstr(&line));
}

static void on_started(void *user, pid_t, int proxy_fd)
{
    struct prepare *p = user;

    if (proxy_fd < 0)
        return;
    p->proxy = proxy_new(p->means->loop, p->means->flusher, proxy_fd,
                         &(struct proxy_settings){
                             .hosts = p->permit.hosts,
                             .host_count = p->permit.host_count,
                             .reaches_private = p->is_named ? PROXY_NAMED : PROXY_PUBLIC,
                             .max_connections = 64,
                             .idle_ms = 60'000,
                             .connect_ms = 10'000,
                             .on_refused = on_refused,
                             .user = p });
}

/* "name@version", as people write it. */
static void put_package(const struct prepare *p, struct buf *out)
{
    buf_put(out, p->package.name);
    if (p->package.version.len > 0) {
        buf_putc(out, '@');
        buf_put(out, p->package.version);
    }
}

static void tell(struct prepare *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "installing NAME …" and what follows. */
static void tell(struct prepare *p, const char *format, ...)
{
    CLEANUP(buf_done) struct buf line;
    char rest[WHY_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(rest, sizeof(rest), format, args);
    va_end(args);
    buf_init(&line, TEXT_BYTES);
    buf_put(&line, S("package "));
    put_package(p, &line);
    buf_putf(&line, ": %s", rest);
    p->ops->on_event(p->user, buf_cstr(&line));
}

static void put_end(const struct prepare *p, const struct child_end *end, struct buf *out)
{
    if (p->is_late)
        buf_putf(out, "it took longer than %d s", INSTALL_MS / 1000);
    else if (end->type == CHILD_EXITED)
        buf_putf(out, "%s ended with code %d",
                 p->package.source == PACKAGE_NPM ? "npm" : "its installer", end->code);
    else if (end->type == CHILD_KILLED)
        buf_putf(out, "it was killed by signal %d", end->code);
    else
        buf_putf(out, "%s", end->why ? end->why : "it is lost");
}

/* What was tried, how it ended, and what was said last. */
static void fail_install(struct prepare *p, const struct child_end *end)
{
    CLEANUP(buf_done) struct buf why;
    size_t first = p->last_count > LAST_LINES ? p->last_count - LAST_LINES : 0;

    buf_init(&why, TEXT_BYTES);
    buf_put(&why, S("its package "));
    put_package(p, &why);
    buf_putf(&why, " could not be installed from %s: ", p->source);
    put_end(p, end, &why);
    if (p->refused[0])
        buf_putf(&why, "; %s", p->refused);
    for (size_t i = first; i < p->last_count; i++)
        buf_putf(&why, "%s%s", i == first ? "; it said: " : " | ",
                 p->last[i % LAST_LINES]);
    fail(p, buf_cstr(&why));
}

static void on_ended(void *user, const struct child_end *end)
{
    struct prepare *p = user;

    end_run(p);
    if (end->type != CHILD_EXITED || end->code != 0)
        fail_install(p, end);
    else if (!look(p))
        tell(p, "installed and pinned: %s", p->pin);
    p->ops->on_done(p->user);
}

static void on_timeout(struct loop_timer *self)
{
    struct prepare *p = CONTAINER_OF(self, struct prepare, timeout);

    p->is_late = true;
    child_stop(p->child, 1'000);
}

/* Installers say nothing while they work, and somebody waits. */
static void on_progress(struct loop_timer *self)
{
    struct prepare *p = CONTAINER_OF(self, struct prepare, progress);
    uint64_t received = p->proxy ? proxy_received(p->proxy) : 0;

    tell(p, "still installing after %llu s, %llu KiB so far",
         (unsigned long long)((loop_now_ms(p->means->loop) - p->since_ms) / 1000),
         (unsigned long long)(received >> 10));
    loop_timer_set(p->means->loop, self, PROGRESS_MS);
}

static const struct child_ops child_ops = { .on_started = on_started,
                                            .on_ended = on_ended };

/* 0, 1 and 2 of the child, and our end of what it says. */
static bool open_pipes(int fds[static 3], int *ret_output)
{
    int ends[2];

    fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fds[0] < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        fd_closep(&fds[0]);
        return false;
    }
    fds[1] = ends[1];
    fds[2] = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);
    if (fds[2] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        fd_closep(&fds[0]);
        fd_closep(&fds[1]);
        fd_closep(&fds[2]);
        fd_closep(&ends[0]);
        return false;
    }
    *ret_output = ends[0];
    return true;
}

static void start_child(struct prepare *p, const struct sandbox_plan *plan)
{
    int fds[3];

    if (!open_pipes(fds, &p->output.fd)) {
        p->output.fd = -1;
        fail(p, "no pipe could be made");
        return;
    }
    p->output.events = EPOLLIN;
    if (loop_fd_add(p->means->loop, &p->output))
        fd_closep(&p->output.fd);
    p->child = child_start(p->means->spawn, plan, fds, &child_ops, p);
    loop_timer_set(p->means->loop, &p->timeout, INSTALL_MS);
    loop_timer_set(p->means->loop, &p->progress, PROGRESS_MS);
    p->since_ms = loop_now_ms(p->means->loop);
    p->state = PREPARE_RUNNING;
    tell(p, "installing it from %s", p->source);
}

CLEANUP_FOR(struct sandbox_plan, sandbox_plan_free)

/* Anew, with the registry as it is set now. False: it has failed. */
static bool begin(struct prepare *p, const struct registry *registry)
{
    char why[WHY_BYTES];

    p->is_late = false;
    p->is_named = registry->from.len > 0;
    p->refused[0] = '\0';
    p->last_count = 0;
    free(p->source);
    p->source = str_dup(registry->url);
    if (!registry->fault)
        return true;
    (void)snprintf(why, sizeof(why), "the registry of " STR_FMT ": %s",
                   STR_ARG(registry->from), registry->fault);
    fail(p, why);
    return false;
}

static void install(struct prepare *p)
{
    CLEANUP(sandbox_plan_freep) struct sandbox_plan *plan = NULL;
    CLEANUP(xfreep) char *why = NULL;
    struct sandbox_command command = {};
    const struct registries *registries;

    if (!p->means->spawn || !p->means->flusher || !p->means->registries ||
        !make_folder(p->folder)) {
        fail(p, "the folder for packages cannot be made, or nothing can be started");
        return;
    }
    registries = p->means->registries(p->means->user);
    if (!begin(p, package_registry(&p->package, registries)))
        return;
    arena_reset(&p->plan_arena);
    package_install(&p->package, str_of(p->folder), registries, &p->plan_arena, &command,
                    &p->permit);
    if (sandbox_plan_make(&p->permit, &command, &plan, &why)) {
        fail(p, why);
        return;
    }
    start_child(p, plan);
}

/* --- for the supervisor --- */

struct prepare *prepare_new(const struct server_spec *spec,
                            const struct supervisor_means *means,
                            const struct prepare_ops *ops, void *user)
{
    struct package package = {};
    struct prepare *p;

    /* Without a sandbox the command does as it likes, and has its network. */
    if (spec->url.len > 0 || !means->packages || spec->permit.level == SANDBOX_OFF ||
        !package_of(&spec->command, &package))
        return NULL;
    p = xcalloc(1, sizeof(*p));
    p->spec = spec;
    p->means = means;
    p->ops = ops;
    p->user = user;
    p->package = package;
    p->folder = folder_of(&package, means->packages);
    p->output = (struct loop_fd){ .fd = -1, .on_ready = on_output };
    p->timeout.on_fire = on_timeout;
    p->progress.on_fire = on_progress;
    buf_init(&p->line, LINE_BYTES);
    arena_init(&p->arena, PREPARE_BYTES);
    arena_init(&p->plan_arena, 1 << 20);
    return p;
}

void prepare_free(struct prepare *p)
{
    if (!p)
        return;
    if (p->child)
        child_abandon(p->child);
    loop_timer_clear(p->means->loop, &p->timeout);
    loop_timer_clear(p->means->loop, &p->progress);
    end_output(p);
    proxy_free(p->proxy);
    buf_done(&p->line);
    arena_done(&p->arena);
    arena_done(&p->plan_arena);
    free(p->folder);
    free(p->pin);
    free(p->why);
    free(p->source);
    free(p);
}

enum prepare_state prepare_go(struct prepare *p)
{
    enum prepare_state state = p->state;

    if (state == PREPARE_NEEDED && look(p) == ERR_NOT_FOUND)
        install(p);
    if (state == PREPARE_NEEDED)
        state = p->state;
    if (state == PREPARE_FAILED)
        p->state = PREPARE_NEEDED;
    return state;
}

void prepare_stop(struct prepare *p)
{
    if (p->child)
        child_stop(p->child, 1'000);
}

bool prepare_is_running(const struct prepare *p)
{
    return p->state == PREPARE_RUNNING;
}

const char *prepare_why(const struct prepare *p)
{
    return p->why ? p->why : "its package could not be installed";
}

const struct sandbox_command *prepare_command(const struct prepare *p)
{
    return &p->command;
}

struct str prepare_folder(const struct prepare *p)
{
    return str_of(p->folder);
}

struct str prepare_pin(const struct prepare *p)
{
    return str_of(p->pin);
}

void prepare_restore(struct prepare *p, struct str pin)
{
    free(p->pin);
    p->pin = pin.len > 0 ? str_dup(pin) : NULL;
}
