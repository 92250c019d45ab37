/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict: bubblewrap makes namespaces and mounts, takes capabilities away and loads the
 * filter. What it is to do is handed over in memory, not as arguments: those everybody
 * can read, and secrets are among the variables.
 *
 *     bwrap ─► setpriv (root: who it becomes) ─► env (signals, folder) ─► prlimit ─►
 * command
 *
 * bwrap itself ignores SIGTERM, so that the signal reaches the command, which may want to
 * finish; with bwrap it would end at once.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sandbox/levels.h"
#include "sandbox/places.h"

static const size_t MAX_TMP = (size_t)256 * 1024 * 1024;

/* clang-format off */
static const struct str namespace_words[] = {
    S("--unshare-ipc"), S("--unshare-pid"), S("--unshare-uts"), S("--unshare-cgroup-try"),
    S("--die-with-parent"), S("--hostname"), S("sandbox"), S("--clearenv"),
    S("--cap-drop"), S("ALL"),
};
static const struct str user_words[] = { S("--unshare-user"), S("--disable-userns") };
/* What setpriv needs to give up the rest. */
static const struct str root_words[] = {
    S("--cap-add"), S("CAP_SETUID"), S("--cap-add"), S("CAP_SETGID"),
    S("--cap-add"), S("CAP_SETPCAP"),
};
static const struct str helpers[] = { S("env"), S("prlimit"), S("setpriv") };
/* clang-format on */

static enum err find_tools(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;

    plan->bwrap = plan_find_program(plan, S("bwrap"), S(""));
    if (!plan->bwrap.len)
        return planning_fail(planning, ERR_NOT_FOUND,
                             "sandbox strict needs bubblewrap (bwrap), which is not "
                             "installed");
    for (size_t i = 0; i < COUNT(helpers); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "/usr/bin/%s", helpers[i].ptr);
        if (access(path, X_OK) < 0)
            return planning_fail(planning, ERR_NOT_FOUND,
                                 "sandbox strict needs %s, which is not there", path);
    }
    return OK;
}

/* Names for the numbers that it has inside. */
static struct str accounts(struct sandbox_plan *plan)
{
    char line[PATH_MAX + 128];

    (void)snprintf(line, sizeof(line), "server:x:%u:%u:server:%s:/usr/sbin/nologin\n",
                   plan->uid, plan->gid, plan_home(plan).ptr);
    return plan_text(plan, str_of(line));
}

static struct str groups(struct sandbox_plan *plan)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "server:x:%u:\n", plan->gid);
    return plan_text(plan, str_of(line));
}

enum err strict_plan(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct place texts[] = {
        { PLACE_TEXT, accounts(plan), S("/etc/passwd") },
        { PLACE_TEXT, groups(plan), S("/etc/group") },
        { PLACE_TEXT, S("127.0.0.1 localhost\n::1 localhost\n"), S("/etc/hosts") },
        { PLACE_TEXT, S("passwd: files\ngroup: files\nhosts: files\n"),
          S("/etc/nsswitch.conf") },
    };
    enum err err = find_tools(planning);

    return err ? err : plan_places(planning, texts, COUNT(texts));
}

/* What bubblewrap is told: words with a NUL behind each. */
struct orders {
    const struct sandbox_plan *plan;
    struct buf text;
    struct str folders[PLAN_ITEMS]; /* made already */
    size_t folder_count;
    bool is_failed;
};

static void order(struct orders *orders, struct str word)
{
    buf_put(&orders->text, word);
    buf_putc(&orders->text, '\0');
}

static void order_all(struct orders *orders, const struct str *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order(orders, words[i]);
}

static void order_number(struct orders *orders, uint64_t number)
{
    buf_putu(&orders->text, number);
    buf_putc(&orders->text, '\0');
}

#define ORDER(orders, ...)                                 \
    order_all(orders, (const struct str[]){ __VA_ARGS__ }, \
              COUNT(((const struct str[]){ __VA_ARGS__ })))

static bool has_folder(const struct orders *orders, struct str path)
{
    for (size_t i = 0; i < orders->folder_count; i++)
        if (str_eq(orders->folders[i], path))
            return true;
    return false;
}

/* The folders above, each named: left to bubblewrap root alone could pass them. What lies
 * in a place that was put there before is its own. */
static void order_parents(struct orders *orders, struct str path)
{
    for (size_t at = str_find(path, '/', 1); at < path.len;
         at = str_find(path, '/', at + 1)) {
        struct str parent = str_slice(path, 0, at);

        if (has_folder(orders, parent) || orders->folder_count == PLAN_ITEMS)
            continue;
        orders->folders[orders->folder_count++] = parent;
        ORDER(orders, S("--perms"), S("0755"), S("--dir"), parent);
    }
}

/* A file in memory that bubblewrap inherits, read from its beginning. */
static int memory_file(struct orders *orders, struct str bytes)
{
    int fd = memfd_create("sandbox", 0);

    if (fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    orders->is_failed = true;
    return fd;
}

static void order_place(struct orders *orders, const struct place *place)
{
    static const struct str how[] = {
        [PLACE_READ] = S("--ro-bind"),
        [PLACE_WRITE] = S("--bind"),
        [PLACE_LINK] = S("--symlink"),
        [PLACE_TEXT] = S("--ro-bind-data"),
    };

    order_parents(orders, place->to);
    if (place->type == PLACE_TEXT)
        ORDER(orders, S("--perms"), S("0444"));
    order(orders, how[place->type]);
    if (place->type == PLACE_TEXT)
        order_number(orders, (uint64_t)memory_file(orders, place->from));
    else
        order(orders, place->from);
    order(orders, place->to);
}

static void order_tmpfs(struct orders *orders, struct str where)
{
    size_t quarter = orders->plan->memory / 4;

    order_parents(orders, where);
    order(orders, S("--size"));
    order_number(orders, quarter < MAX_TMP ? quarter : MAX_TMP);
    ORDER(orders, S("--perms"), S("1777"), S("--tmpfs"), where);
}

static void order_mounts(struct orders *orders)
{
    const struct sandbox_plan *plan = orders->plan;

    ORDER(orders, S("--perms"), S("0755"), S("--tmpfs"), S("/"));
    ORDER(orders, S("--proc"), S("/proc"), S("--dev"), S("/dev"));
    order_tmpfs(orders, S("/dev/shm"));
    order_tmpfs(orders, S("/tmp"));
    if (!plan->home.len)
        order_tmpfs(orders, S(PLAN_EMPTY_HOME));
    for (size_t i = 0; i < plan->place_count; i++)
        order_place(orders, &plan->places[i]);
    ORDER(orders, S("--remount-ro"), S("/dev"), S("--remount-ro"), S("/"));
}

static void order_filter(struct orders *orders)
{
    struct filter_rules rules = plan_rules(orders->plan);
    struct sock_filter program[FILTER_MAX];
    size_t count = filter_make(&rules, program);
    struct str bytes = { (const char *)program, count * sizeof(*program) };

    order(orders, S("--seccomp"));
    order_number(orders, (uint64_t)memory_file(orders, bytes));
}

static void order_sandbox(struct orders *orders)
{
    const struct sandbox_plan *plan = orders->plan;

    order_all(orders, namespace_words, COUNT(namespace_words));
    if (plan->is_root)
        order_all(orders, root_words, COUNT(root_words));
    else
        order_all(orders, user_words, COUNT(user_words));
    if (plan->network != NETWORK_HOSTS) /* else it is in a network of its own already */
        order(orders, S("--unshare-net"));
    for (size_t i = 0; i < plan->variable_count; i++)
        ORDER(orders, S("--setenv"), plan->variables[i].name, plan->variables[i].value);
    order_mounts(orders);
    ORDER(orders, S("--chdir"), S("/"));
    order_filter(orders);
}

/* Words of the command line, the last one NULL. */
struct line {
    char *words[PLAN_ITEMS];
    size_t count;
};

static void line_add(struct line *line, const char *word)
{
    if (line->count < PLAN_ITEMS - 1)
        line->words[line->count++] = xstrdup(word);
}

static void line_add_number(struct line *line, const char *before, size_t number)
{
    char word[64];

    (void)snprintf(word, sizeof(word), "%s%zu", before, number);
    line_add(line, word);
}

static void line_add_text(struct line *line, const char *before, struct str text)
{
    struct buf word;

    buf_init(&word, PLAN_BYTES);
    buf_put(&word, str_of(before));
    buf_put(&word, text);
    line_add(line, buf_cstr(&word));
    buf_done(&word);
}

static void add_user(struct line *line, const struct sandbox_plan *plan)
{
    static const char *const words[] = { "--clear-groups", "--inh-caps=-all",
                                         "--bounding-set=-all", "--no-new-privs" };

    line_add(line, "/usr/bin/setpriv");
    line_add_number(line, "--reuid=", plan->uid);
    line_add_number(line, "--regid=", plan->gid);
    for (size_t i = 0; i < COUNT(words); i++)
        line_add(line, words[i]);
    line_add(line, "--");
}

/* The folder is entered as who it becomes: root's own rights are limited already. prlimit
 * is last because env takes a word with "=" for a variable. */
static void add_command(struct line *line, const struct sandbox_plan *plan)
{
    if (plan->is_root)
        add_user(line, plan);
    line_add(line, "/usr/bin/env");
    line_add(line, "--default-signal=TERM");
    line_add_text(line, "--chdir=", plan->folder);
    line_add_text(line, "PWD=", plan->folder);
    line_add(line, "/usr/bin/prlimit");
    if (plan->is_root)
        line_add(line, "--core=0");
    else /* in its own user namespace only its own processes count */
        line_add_number(line, "--nproc=", plan->processes);
    line_add(line, "--");
    for (size_t i = 0; i < plan->word_count; i++)
        line_add(line, plan->words[i].ptr);
}

/* What was resolved when the plan was made must not have become a link since. */
static bool places_are_same(const struct sandbox_plan *plan)
{
    for (size_t i = 0; i < plan->place_count; i++) {
        const struct place *place = &plan->places[i];
        CLEANUP(xfreep) char *real = NULL;

        if (place->type == PLACE_LINK || place->type == PLACE_TEXT)
            continue;
        if (str_eq(place->from, plan->home)) /* ours, and just made */
            continue;
        real = realpath(place->from.ptr, NULL);
        if (!real || !str_eq(str_of(real), place->from))
            return false;
    }
    return true;
}

const char *strict_run(const struct sandbox_plan *plan)
{
    struct orders *orders = xcalloc(1, sizeof(*orders));
    struct line *line = xcalloc(1, sizeof(*line));
    char *const nothing[] = { NULL };

    if (!places_are_same(plan))
        return "a permitted path has changed or is gone";
    orders->plan = plan;
    buf_init(&orders->text, PLAN_BYTES);
    order_sandbox(orders);
    line_add(line, plan->bwrap.ptr);
    line_add(line, "--args");
    line_add_number(line, "", (size_t)memory_file(orders, buf_str(&orders->text)));
    line_add(line, "--");
    add_command(line, plan);
    if (orders->is_failed || orders->text.is_full)
        return "cannot write down the sandbox";
    if (!enter_limits(plan))
        return "cannot set its limits";
    (void)signal(SIGTERM, SIG_IGN);
    execve(plan->bwrap.ptr, line->words, nothing);
    return "cannot run bubblewrap";
}
