/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a permit to a plan: what was asked for is checked, defaults are filled in, the
 * program is looked for, and the level adds what it needs on this machine.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sandbox/group.h"
#include "sandbox/levels.h"

enum { MAX_TEXT = 256 * 1024 }; /* of words, variables and paths together */

static const size_t MIB = 1 << 20;

const char *sandbox_level_name(enum sandbox_level level)
{
    static const char *const names[] = { "strict", "basic", "off" };

    return names[level];
}

const char *sandbox_network_name(enum sandbox_network network)
{
    static const char *const names[] = { "none", "loopback", "hosts", "any" };

    return names[network];
}

enum err planning_fail(struct planning *planning, enum err err, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    free(planning->why);
    planning->why = xstrdup(line);
    return err;
}

struct sandbox_plan *plan_new(void)
{
    struct sandbox_plan *plan = xcalloc(1, sizeof(*plan));

    arena_init(&plan->arena, SIZE_MAX); /* who fills it has counted before */
    return plan;
}

void sandbox_plan_free(struct sandbox_plan *plan)
{
    if (!plan)
        return;
    arena_done(&plan->arena);
    free(plan);
}

CLEANUP_FOR(struct sandbox_plan, sandbox_plan_free)

void *plan_alloc(struct sandbox_plan *plan, size_t count, size_t size)
{
    return arena_alloc(&plan->arena, count * size);
}

struct str plan_text(struct sandbox_plan *plan, struct str text)
{
    return arena_str(&plan->arena, text);
}

static bool has_nul(struct str text)
{
    return str_find(text, '\0', 0) < text.len;
}

/* Counts what is in a list; one that is too long or holds a NUL is refused. */
static enum err check_texts(struct planning *planning, const char *what,
                            const struct str *list, size_t count, size_t *total)
{
    if (count > PLAN_ITEMS / 4)
        return planning_fail(planning, ERR_INVALID, "too many %s", what);
    for (size_t i = 0; i < count; i++) {
        if (has_nul(list[i]))
            return planning_fail(planning, ERR_INVALID, "a NUL byte in %s", what);
        *total += list[i].len;
    }
    return OK;
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_digit = c >= '0' && c <= '9';
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && !(is_digit && i > 0))
            return false;
    }
    return name.len > 0;
}

static enum err check_variables(struct planning *planning, size_t *total)
{
    const struct permit *permit = planning->permit;

    if (permit->variable_count > PLAN_ITEMS / 4)
        return planning_fail(planning, ERR_INVALID, "too many variables");
    for (size_t i = 0; i < permit->variable_count; i++) {
        const struct sandbox_variable *variable = &permit->variables[i];

        if (!is_name(variable->name) || has_nul(variable->value))
            return planning_fail(planning, ERR_INVALID,
                                 "the variable " STR_FMT " cannot be set",
                                 STR_ARG(variable->name));
        if (permit->level != SANDBOX_OFF && str_starts(variable->name, S("LD_")))
            return planning_fail(planning, ERR_INVALID,
                                 "the variable " STR_FMT
                                 " would act on the programs of the sandbox itself: run "
                                 "the command through env, which sets it",
                                 STR_ARG(variable->name));
        *total += variable->name.len + variable->value.len;
    }
    return OK;
}

static enum err check_paths(struct planning *planning, const struct str *list,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!str_starts(list[i], S("/")))
            return planning_fail(planning, ERR_INVALID,
                                 "\"" STR_FMT "\" is no absolute path", STR_ARG(list[i]));
    return OK;
}

static enum err check_network(struct planning *planning)
{
    const struct permit *permit = planning->permit;
    bool is_off = permit->level == SANDBOX_OFF;

    if (is_off != (permit->network == NETWORK_ANY))
        return planning_fail(planning, ERR_INVALID,
                             is_off ? "without a sandbox the network is open: say "
                                      "network any, or use sandbox strict"
                                    : "network any: only without a sandbox");
    if (permit->level == SANDBOX_BASIC && permit->network != NETWORK_NONE)
        return planning_fail(planning, ERR_INVALID,
                             "sandbox basic has no network: use strict for %s",
                             sandbox_network_name(permit->network));
    if ((permit->network == NETWORK_HOSTS) != (permit->host_count > 0))
        return planning_fail(planning, ERR_INVALID,
                             "hosts are named where network is hosts, and only there");
    return OK;
}

static enum err check_lists(struct planning *planning)
{
    const struct permit *permit = planning->permit;
    const struct sandbox_command *command = planning->command;
    size_t total = permit->home.len + command->folder.len;
    enum err err;

    if (!command->count || !command->words[0].len)
        return planning_fail(planning, ERR_INVALID, "there is no command");
    err = check_texts(planning, "words", command->words, command->count, &total);
    if (!err)
        err = check_texts(planning, "paths", permit->read, permit->read_count, &total);
    if (!err)
        err = check_texts(planning, "paths", permit->write, permit->write_count, &total);
    if (!err)
        err = check_texts(planning, "hosts", permit->hosts, permit->host_count, &total);
    if (!err)
        err = check_variables(planning, &total);
    if (!err && total > MAX_TEXT)
        err = planning_fail(planning, ERR_INVALID,
                            "words, variables and paths are longer than %d bytes",
                            MAX_TEXT);
    return err;
}

static enum err check(struct planning *planning)
{
    const struct permit *permit = planning->permit;
    const struct str own[] = { permit->home, planning->command->folder };
    enum err err = check_lists(planning);

    if (!err)
        err = check_paths(planning, permit->read, permit->read_count);
    if (!err)
        err = check_paths(planning, permit->write, permit->write_count);
    for (size_t i = 0; i < COUNT(own) && !err; i++)
        if (has_nul(own[i]))
            err = planning_fail(planning, ERR_INVALID, "a NUL byte in a path");
        else if (own[i].len)
            err = check_paths(planning, &own[i], 1);
    if (!err)
        err = check_network(planning);
    return err;
}

static struct str joined(struct sandbox_plan *plan, struct str folder, struct str name)
{
    struct buf path;
    struct str ret = S("");

    buf_init(&path, PATH_MAX);
    buf_put(&path, folder);
    if (!str_ends(folder, S("/")))
        buf_putc(&path, '/');
    buf_put(&path, name);
    if (!path.is_full)
        ret = plan_text(plan, buf_str(&path));
    buf_done(&path);
    return ret;
}

static struct str find_in_path(struct sandbox_plan *plan, struct str name)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path ? path : "/usr/local/bin:/usr/bin:/bin");

    while (rest.ptr) {
        struct str folder = str_cut(&rest, ':');
        struct str found = joined(plan, folder, name);

        /* An empty or relative folder would mean wherever we happen to be. */
        if (str_starts(folder, S("/")) && found.len && access(found.ptr, X_OK) == 0)
            return found;
    }
    return S("");
}

struct str plan_find_program(struct sandbox_plan *plan, struct str word,
                             struct str folder)
{
    CLEANUP(xfreep) char *here = NULL;
    struct str path;

    if (str_find(word, '/', 0) == word.len)
        return find_in_path(plan, word);
    if (!str_starts(word, S("/")) && !folder.len) {
        here = getcwd(NULL, 0);
        folder = str_of(here);
    }
    path = str_starts(word, S("/")) ? plan_text(plan, word) : joined(plan, folder, word);
    return path.len && access(path.ptr, X_OK) == 0 ? path : S("");
}

static enum err plan_command(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct sandbox_command *command = planning->command;
    struct str program = plan_find_program(plan, command->words[0], command->folder);

    if (!program.len)
        return planning_fail(planning, ERR_NOT_FOUND, "there is no program " STR_FMT,
                             STR_ARG(command->words[0]));
    plan->words = plan_alloc(plan, command->count, sizeof(*plan->words));
    plan->word_count = command->count;
    plan->words[0] = program;
    for (size_t i = 1; i < command->count; i++)
        plan->words[i] = plan_text(plan, command->words[i]);
    return OK;
}

static void plan_limits(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct permit *permit = planning->permit;

    plan->memory = permit->memory ? permit->memory : 512 * MIB;
    plan->processes = permit->processes ? permit->processes : 64;
    plan->files = permit->files ? permit->files : 256;
    plan->file_bytes = permit->file_bytes ? permit->file_bytes : 1024 * MIB;
    plan->cpu_percent = permit->cpu_percent ? permit->cpu_percent : 100;
}

static void plan_hosts(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;

    plan->host_count = planning->permit->host_count;
    plan->hosts = plan_alloc(plan, plan->host_count, sizeof(*plan->hosts));
    for (size_t i = 0; i < plan->host_count; i++)
        plan->hosts[i] = plan_text(plan, planning->permit->hosts[i]);
}

/* Root's children are somebody else, but without a sandbox where nobody was named. */
static void plan_user(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct permit *permit = planning->permit;
    uid_t preset = permit->level == SANDBOX_OFF ? 0 : PLAN_UID;

    plan->is_root = geteuid() == 0;
    plan->uid = geteuid();
    plan->gid = getegid();
    if (!plan->is_root)
        return;
    plan->uid = permit->uid ? permit->uid : preset;
    plan->gid = permit->gid ? permit->gid : (gid_t)plan->uid;
}

static void put_variable(struct sandbox_plan *plan, struct sandbox_variable variable)
{
    struct sandbox_variable *to = NULL;

    for (size_t i = 0; i < plan->variable_count && !to; i++)
        if (str_eq(plan->variables[i].name, variable.name))
            to = &plan->variables[i];
    if (!to)
        to = &plan->variables[plan->variable_count++];
    to->name = plan_text(plan, variable.name);
    to->value = plan_text(plan, variable.value);
    to->is_secret = variable.is_secret;
}

static struct str ours(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return str_of(value && *value ? value : otherwise);
}

struct str plan_home(const struct sandbox_plan *plan)
{
    if (plan->home.len)
        return plan->home;
    switch (plan->level) {
    case SANDBOX_STRICT: return S(PLAN_EMPTY_HOME);
    case SANDBOX_BASIC: break;
    case SANDBOX_OFF: return ours("HOME", "/");
    }
    return S("/");
}

/* What programs look at to find the one way out. */
static void put_proxy(struct sandbox_plan *plan)
{
    static const struct str names[] = { S("HTTP_PROXY"), S("HTTPS_PROXY"),
                                        S("http_proxy"), S("https_proxy") };
    struct sandbox_variable proxy = { .value = S(PROXY_URL) };

    for (size_t i = 0; i < COUNT(names); i++) {
        proxy.name = names[i];
        put_variable(plan, proxy);
    }
    put_variable(plan, (struct sandbox_variable){ .name = S("NODE_USE_ENV_PROXY"),
                                                  .value = S("1") });
}

/* All that it finds in its environment, secrets included: nothing is inherited. */
static void plan_variables(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct permit *permit = planning->permit;
    bool is_off = plan->level == SANDBOX_OFF;
    bool is_basic = plan->level == SANDBOX_BASIC;
    const struct str path = S("/usr/local/bin:/usr/bin:/bin");
    const struct str tmp = is_basic ? plan_home(plan) : S("/tmp");
    const struct sandbox_variable base[] = {
        { S("PATH"), is_off ? ours("PATH", path.ptr) : path, false },
        { S("HOME"), plan_home(plan), false },
        { S("LANG"), is_off ? ours("LANG", "C.UTF-8") : S("C.UTF-8"), false },
        { S("TMPDIR"), is_off ? ours("TMPDIR", "/tmp") : tmp, false },
    };
    enum { PROXY_NAMES = 5 };

    plan->variables = plan_alloc(plan, COUNT(base) + PROXY_NAMES + permit->variable_count,
                                 sizeof(*plan->variables));
    for (size_t i = 0; i < COUNT(base); i++)
        put_variable(plan, base[i]);
    if (plan->network == NETWORK_HOSTS)
        put_proxy(plan);
    for (size_t i = 0; i < permit->variable_count; i++)
        put_variable(plan, permit->variables[i]);
}

static void plan_folders(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    struct str folder = planning->command->folder;

    plan->home = plan_text(plan, planning->permit->home);
    while (plan->home.len > 1 && str_ends(plan->home, S("/")))
        plan->home = plan_text(plan, str_slice(plan->home, 0, plan->home.len - 1));
    plan->folder = plan_text(plan, folder.len ? folder : plan_home(plan));
}

static enum err plan_level(struct planning *planning)
{
    switch (planning->plan->level) {
    case SANDBOX_STRICT: return strict_plan(planning);
    case SANDBOX_BASIC: return basic_plan(planning);
    case SANDBOX_OFF: break;
    }
    return OK;
}

enum err sandbox_plan_make(const struct permit *permit,
                           const struct sandbox_command *command,
                           struct sandbox_plan **ret, char **ret_why)
{
    CLEANUP(sandbox_plan_freep) struct sandbox_plan *plan = plan_new();
    struct planning planning = { permit, command, plan, NULL };
    enum err err;

    plan->level = permit->level;
    plan->network = permit->network;
    err = check(&planning);
    if (!err)
        err = plan_command(&planning);
    if (!err) {
        plan_limits(&planning);
        plan_hosts(&planning);
        plan_user(&planning);
        plan_group(plan);
        plan_folders(&planning);
        plan_variables(&planning);
        err = plan_level(&planning);
    }
    if (err) {
        *ret_why = planning.why;
        return err;
    }
    *ret = TAKE(plan);
    return OK;
}

size_t sandbox_plan_memory(const struct sandbox_plan *plan)
{
    return plan->memory;
}

bool sandbox_plan_is_watched(const struct sandbox_plan *plan)
{
    return plan->group == GROUP_NONE;
}
