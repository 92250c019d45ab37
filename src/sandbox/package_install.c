/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a package is installed, and what runs it then. Nothing of it is run while it is
 * installed: no scripts of npm, no builds of Python.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "sandbox/package.h"

enum { MAX_LOCK = 16 * 1024 * 1024, MAX_PATH = 4096, MAX_NAME = 256 };

static const size_t MIB = 1 << 20;

/* Texts one behind the other, in the arena. */
static struct str join(struct arena *arena, const struct str *parts, size_t count)
{
    struct buf text;
    struct str ret;

    buf_init(&text, MAX_PATH);
    for (size_t i = 0; i < count; i++)
        buf_put(&text, parts[i]);
    ret = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return ret;
}

#define JOIN(arena, ...)                             \
    join(arena, (const struct str[]){ __VA_ARGS__ }, \
         COUNT(((const struct str[]){ __VA_ARGS__ })))

static const struct str *copy_list(struct arena *arena, const struct str *list,
                                   size_t count)
{
    struct str *copy = arena_alloc(arena, count * sizeof(*copy));

    for (size_t i = 0; copy && i < count; i++)
        copy[i] = arena_str(arena, list[i]);
    return copy;
}

#define COPY(arena, list) copy_list(arena, list, COUNT(list))

static void install_npm(const struct package *package, struct str folder,
                        struct arena *arena, struct sandbox_command *ret_command,
                        struct permit *ret_permit)
{
    const struct str words[] = {
        S("npm"),
        S("install"),
        S("--ignore-scripts"),
        S("--no-audit"),
        S("--no-fund"),
        S("--no-update-notifier"),
        S("--save-exact"),
        S("--prefix"),
        folder,
        S("--cache"),
        JOIN(arena, folder, S("/.cache")),
        JOIN(arena, package->name, S("@"),
             package->version.len ? package->version : S("latest")),
    };
    const struct str hosts[] = { S("registry.npmjs.org") };

    ret_command->words = COPY(arena, words);
    ret_command->count = COUNT(words);
    ret_permit->hosts = COPY(arena, hosts);
    ret_permit->host_count = COUNT(hosts);
}

static void install_pypi(const struct package *package, struct str folder,
                         struct arena *arena, struct sandbox_command *ret_command,
                         struct permit *ret_permit)
{
    const struct str words[] = {
        S("uv"),
        S("tool"),
        S("install"),
        S("--no-config"),
        S("--no-build"),
        S("--force"),
        package->version.len ? JOIN(arena, package->name, S("=="), package->version)
                             : package->name,
    };
    const struct str hosts[] = { S("pypi.org"), S("files.pythonhosted.org") };
    const struct sandbox_variable variables[] = {
        { S("UV_TOOL_DIR"), JOIN(arena, folder, S("/tools")), false },
        { S("UV_TOOL_BIN_DIR"), JOIN(arena, folder, S("/bin")), false },
        { S("UV_CACHE_DIR"), JOIN(arena, folder, S("/.cache")), false },
        { S("UV_PYTHON_DOWNLOADS"), S("never"), false },
        { S("UV_LINK_MODE"), S("copy"), false },
    };
    struct sandbox_variable *copy = arena_alloc(arena, sizeof(variables));

    if (copy)
        memcpy(copy, variables, sizeof(variables));
    ret_command->words = COPY(arena, words);
    ret_command->count = COUNT(words);
    ret_permit->hosts = COPY(arena, hosts);
    ret_permit->host_count = COUNT(hosts);
    ret_permit->variables = copy;
    ret_permit->variable_count = copy ? COUNT(variables) : 0;
}

void package_install(const struct package *package, struct str folder,
                     struct arena *arena, struct sandbox_command *ret_command,
                     struct permit *ret_permit)
{
    const struct str writes[] = { folder };

    *ret_permit = (struct permit){
        .level = SANDBOX_STRICT,
        .network = NETWORK_HOSTS,
        .write = COPY(arena, writes),
        .write_count = COUNT(writes),
        .memory = 1024 * MIB,
        .files = 1024,
    };
    *ret_command = (struct sandbox_command){ .folder = arena_str(arena, folder) };
    if (package->source == PACKAGE_NPM)
        install_npm(package, folder, arena, ret_command, ret_permit);
    else
        install_pypi(package, folder, arena, ret_command, ret_permit);
}

/* A whole JSON file; NULL: it is not there, too large, or none. */
static const struct json *read_json(struct str path, struct arena *arena)
{
    CLEANUP(fd_closep) int fd = open(path.ptr, O_RDONLY | O_CLOEXEC);
    const struct json *root = NULL;
    struct str kept;
    struct buf text;

    buf_init(&text, MAX_LOCK);
    while (fd >= 0 && !buf_reserve(&text, 65'536)) {
        ssize_t got = read(fd, text.ptr + text.len, 65'536);

        if (got <= 0)
            break;
        text.len += (size_t)got;
    }
    kept = arena_str(arena, buf_str(&text));
    buf_done(&text);
    if (!kept.ptr || json_parse(kept, arena, &root, NULL))
        return NULL;
    return root;
}

/* Which file of the package is run: the one that was named, the only one, or the one that
 * is called as the package is. */
static struct str npm_program(const struct json *manifest, const struct package *package)
{
    const struct json *bin = json_find(manifest, S("bin"));
    struct str short_name = package->name;
    struct str scope = str_cut(&short_name, '/');

    if (!bin || bin->type == JSON_STRING)
        return json_text(bin);
    if (bin->type != JSON_OBJECT)
        return S("");
    if (package->program.len)
        return json_text(json_find(bin, package->program));
    if (bin->count == 1)
        return json_text(bin->first);
    return json_text(json_find(bin, short_name.ptr ? short_name : scope));
}

static bool stays_inside(struct str path)
{
    struct str rest = path;

    if (!path.len || path.ptr[0] == '/' || str_find(path, '\0', 0) < path.len)
        return false;
    while (rest.ptr)
        if (str_eq(str_cut(&rest, '/'), S("..")))
            return false;
    return true;
}

/* Does it begin with "#!… node"? */
static bool is_for_node(struct str path)
{
    CLEANUP(fd_closep) int fd = open(path.ptr, O_RDONLY | O_CLOEXEC);
    char line[128] = "";
    ssize_t len = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

    if (str_ends(path, S(".js")) || str_ends(path, S(".mjs")) ||
        str_ends(path, S(".cjs")))
        return true;
    if (len < 2 || line[0] != '#' || line[1] != '!')
        return false;
    line[strcspn(line, "\n")] = '\0';
    return strstr(line, "node") != NULL;
}

static enum err command_npm(const struct package *package, struct str folder,
                            struct arena *arena, struct sandbox_command *ret,
                            struct str *ret_pin)
{
    struct str place = JOIN(arena, S("node_modules/"), package->name);
    struct str home = JOIN(arena, folder, S("/"), place);
    const struct json *lock =
        read_json(JOIN(arena, folder, S("/package-lock.json")), arena);
    const struct json *entry = json_find(json_find(lock, S("packages")), place);
    const struct json *manifest = read_json(JOIN(arena, home, S("/package.json")), arena);
    struct str program = npm_program(manifest, package);
    struct str version = json_text(json_find(entry, S("version")));
    struct str words[2];
    size_t count = 0;

    if (!stays_inside(program) || !version.len)
        return ERR_NOT_FOUND;
    program = JOIN(arena, home, S("/"), program);
    if (access(program.ptr, R_OK) < 0)
        return ERR_NOT_FOUND;
    if (is_for_node(program))
        words[count++] = S("node");
    words[count++] = program;
    ret->words = copy_list(arena, words, count);
    ret->count = count;
    *ret_pin = JOIN(arena, package->name, S("@"), version, S(" "),
                    json_text(json_find(entry, S("integrity"))));
    return OK;
}

/* PEP 503: case and the kind of separator mean nothing. */
static bool is_same_project(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        struct str left = str_slice(a, i, i + 1), right = str_slice(b, i, i + 1);
        bool are_separators = strchr("-_.", a.ptr[i]) && strchr("-_.", b.ptr[i]);

        if (!str_ieq(left, right) && !are_separators)
            return false;
    }
    return true;
}

/* The version in "name-1.2.3.dist-info" below site-packages; "": it is not there. */
static struct str pypi_version(struct str packages, struct str name, struct arena *arena)
{
    DIR *folder = opendir(packages.ptr);
    struct str version = S("");
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        struct str info = str_of(entry->d_name);
        size_t at = str_find(info, '-', 0);

        if (!str_ends(info, S(".dist-info")) || at == info.len)
            continue;
        if (is_same_project(str_slice(info, 0, at), name))
            version =
                arena_str(arena, str_slice(info, at + 1, info.len - S(".dist-info").len));
    }
    if (folder)
        (void)closedir(folder);
    return version;
}

/* lib/pythonX.Y/site-packages, whichever it is. */
static struct str site_packages(struct str tool, struct arena *arena)
{
    struct str lib = JOIN(arena, tool, S("/lib/"));
    DIR *folder = opendir(lib.ptr);
    struct str found = S("/");
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (str_starts(str_of(entry->d_name), S("python")))
            found = JOIN(arena, lib, str_of(entry->d_name), S("/site-packages"));
    if (folder)
        (void)closedir(folder);
    return found;
}

static enum err command_pypi(const struct package *package, struct str folder,
                             struct arena *arena, struct sandbox_command *ret,
                             struct str *ret_pin)
{
    struct str tool = JOIN(arena, folder, S("/tools/"), package->name);
    struct str version = pypi_version(site_packages(tool, arena), package->name, arena);
    struct str program = JOIN(arena, folder, S("/bin/"),
                              package->program.len ? package->program : package->name);
    const struct str words[] = { program };

    if (!version.len || access(program.ptr, X_OK) < 0)
        return ERR_NOT_FOUND;
    ret->words = COPY(arena, words);
    ret->count = COUNT(words);
    *ret_pin = JOIN(arena, package->name, S("@"), version, S(" -"));
    return OK;
}

/* NOLINTNEXTLINE(readability-function-size): seven things, of which four come back */
enum err package_command(const struct package *package, struct str folder,
                         struct str pinned, struct arena *arena,
                         struct sandbox_command *ret, struct str *ret_pin,
                         const char **ret_why)
{
    struct sandbox_command command = { .folder = S("") };
    struct str pin = S("");
    enum err err = package->source == PACKAGE_NPM
                       ? command_npm(package, folder, arena, &command, &pin)
                       : command_pypi(package, folder, arena, &command, &pin);

    if (err) {
        *ret_why = "the package is not installed, or has no such program";
        return err;
    }
    if (pinned.len && !str_eq(pinned, pin)) {
        *ret_why = "the package is not the one that was pinned";
        return ERR_CONFLICT;
    }
    *ret = command;
    *ret_pin = pin;
    return OK;
}
