/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person should look at twice before a command runs. Nothing here changes or
 * forbids anything: the sandbox does, and what it does not is the operator's to judge.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sandbox/package.h"
#include "sandbox/sandbox_priv.h"

enum { MAX_WARNINGS = 32, MAX_WARNING = 512 };

struct warnings {
    const struct sandbox_command *command;
    const struct permit *permit;
    struct arena *arena;
    struct str *list;
    size_t count;
};

static void warn(struct warnings *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(struct warnings *w, const char *format, ...)
{
    char line[MAX_WARNING];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (w->count < MAX_WARNINGS)
        w->list[w->count++] = arena_str(w->arena, str_of(line));
}

/* Programs that a server has no need of, and why they matter. */
/* clang-format off */
static const struct {
    struct str name;
    const char *why;
} programs[] = {
    { S("sudo"),   "runs what follows as another user" },
    { S("doas"),   "runs what follows as another user" },
    { S("su"),     "runs what follows as another user" },
    { S("pkexec"), "runs what follows as another user" },
    { S("docker"), "runs what follows in a container, outside of this sandbox" },
    { S("podman"), "runs what follows in a container, outside of this sandbox" },
    { S("nsenter"), "enters namespaces of others" },
    { S("chroot"), "changes the root" },
    { S("dd"),     "writes to devices" },
    { S("ssh"),    "runs what follows on another machine" },
    { S("nc"),     "connects anything to the network" },
    { S("ncat"),   "connects anything to the network" },
    { S("socat"),  "connects anything to anything" },
};
static const struct str shells[] = {
    S("sh"), S("bash"), S("dash"), S("zsh"), S("ksh"), S("fish"), S("busybox"),
};
static const struct str loaders[] = { S("curl"), S("wget") };
/* To write there is to be the user, or the machine. */
static const struct str system_folders[] = {
    S("/"), S("/etc"), S("/usr"), S("/bin"), S("/lib"), S("/boot"), S("/var"), S("/root"),
    S("/home"), S("/opt"), S("/run"),
};
static const struct str secret_places[] = {
    S("/.ssh"), S("/.gnupg"), S("/.aws"), S("/.kube"), S("/.config"), S("/.docker"),
    S("/.netrc"), S("/.mozilla"), S("/.password-store"), S("/etc/shadow"),
};
static const struct str control_sockets[] = {
    S("docker.sock"), S("podman.sock"), S("containerd.sock"), S("crio.sock"),
    S("system_bus_socket"),
};
static const char *const secret_words[] = {
    "token", "password", "passwd", "api-key", "api_key", "apikey", "secret",
};
/* clang-format on */

static struct str base_name(struct str path)
{
    while (path.len > 1 && str_ends(path, S("/")))
        path.len--;
    for (size_t at = path.len; at > 0; at--)
        if (path.ptr[at - 1] == '/' && at < path.len)
            return str_slice(path, at, path.len);
    return path;
}

static bool is_among(struct str word, const struct str *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i], word))
            return true;
    return false;
}

#define IS_AMONG(word, list) is_among(word, list, COUNT(list))

static bool contains(struct str text, const char *part)
{
    return text.len && memmem(text.ptr, text.len, part, strlen(part));
}

/* -rf, -fr, -r, --recursive: letters of short options are looked at one by one. */
static bool has_letter(struct str word, char letter)
{
    return word.len > 1 && word.ptr[0] == '-' && word.ptr[1] != '-' &&
           str_find(word, letter, 1) < word.len;
}

/* The text of a command, be it words or one string for a shell: words of it. */
static struct str next_word(struct str *rest)
{
    struct str word;
    size_t from = 0, to;

    while (from < rest->len && strchr(" \t\n;|&()<>`$'\"", rest->ptr[from]))
        from++;
    to = from;
    while (to < rest->len && !strchr(" \t\n;|&()<>`$'\"", rest->ptr[to]))
        to++;
    word = str_slice(*rest, from, to);
    *rest = str_slice(*rest, to, rest->len);
    return word;
}

static void check_program(struct warnings *w, struct str word)
{
    for (size_t i = 0; i < COUNT(programs); i++)
        if (str_eq(base_name(word), programs[i].name))
            warn(w, STR_FMT ": %s", STR_ARG(word), programs[i].why);
}

/* "rm" and, behind it, an option to take folders or not to ask. */
static void check_removal(struct warnings *w, struct str text)
{
    bool is_removing = false;

    while (text.len) {
        struct str word = next_word(&text);

        if (is_removing && (has_letter(word, 'r') || has_letter(word, 'R') ||
                            str_eq(word, S("--recursive")))) {
            warn(w, "rm " STR_FMT ": removes whole folders", STR_ARG(word));
            return;
        }
        if (word.len && word.ptr[0] != '-')
            is_removing = str_eq(base_name(word), S("rm"));
    }
}

/* What a shell is given: more than one program may hide in there. */
static void check_script(struct warnings *w, struct str script)
{
    bool loads = false, has_shell = false;
    struct str rest = script;

    while (rest.len) {
        struct str word = next_word(&rest);

        check_program(w, word);
        has_shell |= IS_AMONG(base_name(word), shells);
        loads |= IS_AMONG(base_name(word), loaders);
    }
    if (loads && has_shell)
        warn(w, "a shell runs what is loaded from the network, whatever that is then");
    check_removal(w, script);
}

static bool is_inline_code(struct str program, struct str option)
{
    if (IS_AMONG(program, shells))
        return has_letter(option, 'c');
    if (str_starts(program, S("python")) || str_eq(program, S("node")) ||
        str_eq(program, S("perl")) || str_eq(program, S("ruby")))
        return str_eq(option, S("-c")) || str_eq(option, S("-e")) ||
               str_eq(option, S("--eval"));
    return false;
}

static void check_words(struct warnings *w)
{
    const struct sandbox_command *command = w->command;
    struct str program = S("");
    struct buf all;

    buf_init(&all, PLAN_BYTES);
    for (size_t i = 0; i < command->count; i++) {
        struct str word = command->words[i];
        bool is_program = i == 0 || IS_AMONG(program, (const struct str[]){ S("env") });

        buf_put(&all, word);
        buf_putc(&all, ' ');
        check_program(w, word);
        if (is_program || IS_AMONG(base_name(word), shells))
            program = base_name(word);
        if (i + 1 < command->count && is_inline_code(program, word)) {
            warn(w,
                 STR_FMT " " STR_FMT
                         ": what runs is written in the command itself; read it",
                 STR_ARG(program), STR_ARG(word));
            check_script(w, command->words[i + 1]);
        }
    }
    check_removal(w, buf_str(&all));
    buf_done(&all);
}

/* Everybody on the machine can read arguments. */
static void check_secrets(struct warnings *w)
{
    for (size_t i = 1; i < w->command->count; i++) {
        struct str word = w->command->words[i];
        bool has_value = str_find(word, '=', 0) < word.len ||
                         (word.ptr[0] == '-' && i + 1 < w->command->count);
        bool is_secret = false;

        for (size_t k = 0; k < COUNT(secret_words) && has_value; k++)
            is_secret |= contains(word, secret_words[k]);
        if (is_secret)
            warn(w,
                 "argument %zu looks like a secret, and arguments can be read by "
                 "everybody on this machine: use a variable from a file",
                 i);
    }
}

static void check_package(struct warnings *w)
{
    struct package package;

    if (!package_of(w->command, &package))
        return;
    if (!package.version.len)
        warn(w,
             STR_FMT " has no version: whatever is newest at the first start is taken "
                     "and kept from then on",
             STR_ARG(package.name));
}

static void check_path(struct warnings *w, struct str path, const char *verb)
{
    bool writes = strcmp(verb, "write") == 0;
    const char *home = getenv("HOME");

    while (path.len > 1 && str_ends(path, S("/")))
        path.len--;
    if (home && *home && str_eq(path, str_of(home)))
        warn(w, "it may %s your whole home folder", verb);
    else if (IS_AMONG(path, system_folders) && (writes || path.len == 1))
        warn(w, "it may %s all of " STR_FMT, verb, STR_ARG(path));
    for (size_t i = 0; i < COUNT(secret_places); i++)
        if (contains(path, secret_places[i].ptr))
            warn(w, "it may %s " STR_FMT ", where secrets are kept", verb, STR_ARG(path));
    if (IS_AMONG(base_name(path), control_sockets))
        warn(w, STR_FMT " gives it control over this machine", STR_ARG(path));
}

static bool is_permitted(const struct permit *permit, struct str path)
{
    const struct str *lists[] = { permit->read, permit->write, &permit->home };
    const size_t counts[] = { permit->read_count, permit->write_count, 1 };

    for (size_t l = 0; l < COUNT(lists); l++)
        for (size_t i = 0; i < counts[l]; i++) {
            struct str folder = lists[l][i];

            while (folder.len > 1 && str_ends(folder, S("/")))
                folder.len--;
            if (folder.len && str_starts(path, folder) &&
                (path.len == folder.len || path.ptr[folder.len] == '/'))
                return true;
        }
    return str_starts(path, S("/usr/"));
}

static bool names_a_file(struct str word)
{
    return str_find(word, '/', 0) < word.len || str_ends(word, S(".js")) ||
           str_ends(word, S(".py"));
}

/* Files that are here, but not where it starts. */
static void check_relative(struct warnings *w)
{
    struct str folder = w->command->folder.len ? w->command->folder : w->permit->home;

    for (size_t i = 1; i < w->command->count && folder.len; i++) {
        struct str word = w->command->words[i];
        CLEANUP(xfreep) char *here = str_dup(word);
        char there[PATH_MAX];

        if (!names_a_file(word) || word.ptr[0] == '/' || access(here, F_OK))
            continue;
        (void)snprintf(there, sizeof(there), STR_FMT "/%s", STR_ARG(folder), here);
        if (access(there, F_OK))
            warn(w, STR_FMT " is not there where it starts: write the whole path",
                 STR_ARG(word));
    }
}

/* The commonest mistake: a file that is named, but not permitted. */
static void check_unseen(struct warnings *w)
{
    if (w->permit->level == SANDBOX_OFF)
        return;
    for (size_t i = 1; i < w->command->count; i++) {
        struct str word = w->command->words[i];
        CLEANUP(xfreep) char *text = str_dup(word);
        CLEANUP(xfreep) char *real = NULL;

        if (!names_a_file(word))
            continue;
        real = realpath(text, NULL);
        if (real && !is_permitted(w->permit, str_of(real)) &&
            !is_permitted(w->permit, word))
            warn(w, STR_FMT " is there, but not among what it may read or write",
                 STR_ARG(word));
    }
}

static void check_permit(struct warnings *w)
{
    const struct permit *permit = w->permit;

    if (permit->level == SANDBOX_OFF)
        warn(w, "there is no sandbox: it may do whatever the user may that it runs as");
    if (permit->level == SANDBOX_OFF && geteuid() == 0 && !permit->uid)
        warn(w, "it runs as root");
    for (size_t i = 0; i < permit->read_count; i++)
        check_path(w, permit->read[i], "read");
    for (size_t i = 0; i < permit->write_count; i++)
        check_path(w, permit->write[i], "write");
    for (size_t i = 0; i < permit->host_count; i++)
        if (str_eq(permit->hosts[i], S("*")))
            warn(w, "it may reach every host of the internet");
}

size_t sandbox_warnings(const struct sandbox_command *command,
                        const struct permit *permit, struct arena *arena,
                        const struct str **ret)
{
    struct warnings w = { .command = command, .permit = permit, .arena = arena };

    w.list = arena_alloc(arena, MAX_WARNINGS * sizeof(*w.list));
    *ret = w.list;
    if (!w.list)
        return 0;
    check_permit(&w);
    check_words(&w);
    check_secrets(&w);
    check_package(&w);
    check_relative(&w);
    check_unseen(&w);
    return w.count;
}
