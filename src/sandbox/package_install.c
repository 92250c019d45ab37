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
#include "sandbox/sandbox_priv.h"

enum {
    MAX_LOCK = 16 * 1024 * 1024,
    MAX_PATH = 4096,
    MAX_WORDS = 32,
    MAX_VARIABLES = 8,
};

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

/* The words of a command as it grows. */
struct words {
    struct str items[MAX_WORDS];
    size_t count;
};

static void add_words(struct words *words, const struct str *more, size_t count)
{
    for (size_t i = 0; i < count && words->count < MAX_WORDS; i++)
        words->items[words->count++] = more[i];
}

#define ADD(words, ...)                                   \
    add_words(words, (const struct str[]){ __VA_ARGS__ }, \
              COUNT(((const struct str[]){ __VA_ARGS__ })))

/* What is about to be made, all in the arena. */
struct installing {
    const struct package *package;
    const struct registries *registries;
    struct str folder;
    struct arena *arena;
    struct words words;
    struct sandbox_variable variables[MAX_VARIABLES];
    size_t variable_count;
};

static void set_variable(struct installing *at, struct str name, struct str value)
{
    at->variables[at->variable_count++] =
        (struct sandbox_variable){ name, arena_str(at->arena, value), false };
}

static struct str below(const struct installing *at, struct str name)
{
    return JOIN(at->arena, at->folder, name);
}

/* A registry that does not answer is told of soon: somebody waits. */
static void install_npm(struct installing *at)
{
    const struct package *package = at->package;

    ADD(&at->words, S("npm"), S("install"), S("--ignore-scripts"), S("--no-audit"),
        S("--no-fund"), S("--no-update-notifier"), S("--no-progress"), S("--save-exact"),
        S("--fetch-retries=2"), S("--fetch-retry-mintimeout=1000"),
        S("--fetch-retry-maxtimeout=5000"), S("--prefix"), at->folder, S("--cache"),
        below(at, S("/.cache")), S("--registry"), at->registries->npm.url,
        JOIN(at->arena, package->name, S("@"),
             package->version.len ? package->version : S("latest")));
    if (at->registries->ca.len)
        set_variable(at, S("NODE_EXTRA_CA_CERTS"), at->registries->ca);
}

static struct str pypi_requirement(const struct installing *at)
{
    const struct package *package = at->package;

    return package->version.len
               ? JOIN(at->arena, package->name, S("=="), package->version)
               : package->name;
}

static void install_uv(struct installing *at)
{
    ADD(&at->words, S("uv"), S("tool"), S("install"), S("--no-config"), S("--no-build"),
        S("--force"), S("--default-index"), at->registries->pypi.url,
        pypi_requirement(at));
    set_variable(at, S("UV_TOOL_DIR"), below(at, S("/tools")));
    set_variable(at, S("UV_TOOL_BIN_DIR"), below(at, S("/bin")));
    set_variable(at, S("UV_CACHE_DIR"), below(at, S("/.cache")));
    set_variable(at, S("UV_PYTHON_DOWNLOADS"), S("never"));
    set_variable(at, S("UV_LINK_MODE"), S("copy"));
    if (at->registries->ca.len)
        set_variable(at, S("SSL_CERT_FILE"), at->registries->ca);
}

/* The Python of the machine: one in somebody's home is not seen in the sandbox. */
static struct str python(void)
{
    static const struct str paths[] = { S("/usr/local/bin/python3"),
                                        S("/usr/bin/python3") };

    for (size_t i = 0; i < COUNT(paths); i++)
        if (access(paths[i].ptr, X_OK) == 0)
            return paths[i];
    return S("python3");
}

/* Without uv pip does the same, and says the digest of what it took. */
static void install_pip(struct installing *at)
{
    ADD(&at->words, python(), S("-m"), S("pip"), S("install"), S("--isolated"),
        S("--no-input"), S("--no-cache-dir"), S("--disable-pip-version-check"),
        S("--progress-bar=off"), S("--only-binary=:all:"), S("--upgrade"), S("--target"),
        below(at, S("/site")), S("--report"), below(at, S("/report.json")),
        S("--index-url"), at->registries->pypi.url);
    if (at->registries->ca.len)
        ADD(&at->words, S("--cert"), at->registries->ca);
    ADD(&at->words, pypi_requirement(at));
}

static bool has_program(struct str name)
{
    struct sandbox_plan *plan = plan_new();
    bool is_there = plan_find_program(plan, name, S("")).len > 0;

    sandbox_plan_free(plan);
    return is_there;
}

static void take(const struct installing *at, struct sandbox_command *ret_command,
                 struct permit *ret_permit)
{
    const struct registry *registry = package_registry(at->package, at->registries);
    const struct str *ca = &at->registries->ca;
    struct sandbox_variable *variables = arena_alloc(at->arena, sizeof(at->variables));

    if (variables)
        memcpy(variables, at->variables, sizeof(at->variables));
    ret_command->words = copy_list(at->arena, at->words.items, at->words.count);
    ret_command->count = at->words.count;
    ret_permit->hosts = COPY(at->arena, registry->hosts);
    ret_permit->host_count = registry->hosts[1].len ? REGISTRY_HOSTS : 1;
    ret_permit->variables = variables;
    ret_permit->variable_count = variables ? at->variable_count : 0;
    ret_permit->read = copy_list(at->arena, ca, 1);
    ret_permit->read_count = ca->len ? 1 : 0;
}

const struct registry *package_registry(const struct package *package,
                                        const struct registries *registries)
{
    return package->source == PACKAGE_NPM ? &registries->npm : &registries->pypi;
}

void package_install(const struct package *package, struct str folder,
                     const struct registries *registries, struct arena *arena,
                     struct sandbox_command *ret_command, struct permit *ret_permit)
{
    const struct str writes[] = { folder };
    struct installing at = {
        .package = package, .registries = registries, .folder = folder, .arena = arena
    };

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
        install_npm(&at);
    else if (has_program(S("uv")))
        install_uv(&at);
    else
        install_pip(&at);
    take(&at, ret_command, ret_permit);
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

static enum err command_uv(const struct package *package, struct str folder,
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

/* What pip reported of the package itself, among all that it installed. */
static const struct json *pip_report(const struct package *package, struct str folder,
                                     struct arena *arena)
{
    const struct json *report = read_json(JOIN(arena, folder, S("/report.json")), arena);
    const struct json *list = json_find(report, S("install"));

    if (!list || list->type != JSON_ARRAY)
        return NULL;
    JSON_FOREACH(item, list) {
        struct str name = json_text(json_find(json_find(item, S("metadata")), S("name")));

        if (is_same_project(name, package->name))
            return item;
    }
    return NULL;
}

static enum err command_pip(const struct package *package, struct str folder,
                            struct arena *arena, struct sandbox_command *ret,
                            struct str *ret_pin)
{
    const struct json *item = pip_report(package, folder, arena);
    const struct json *archive =
        json_find(json_find(item, S("download_info")), S("archive_info"));
    struct str version =
        json_text(json_find(json_find(item, S("metadata")), S("version")));
    struct str hash = json_text(json_find(archive, S("hash")));
    struct str program = JOIN(arena, folder, S("/site/bin/"),
                              package->program.len ? package->program : package->name);
    const struct str words[] = {
        S("/usr/bin/env"),
        JOIN(arena, S("PYTHONPATH="), folder, S("/site")),
        python(),
        program,
    };

    if (!version.len || !hash.len || access(program.ptr, R_OK) < 0)
        return ERR_NOT_FOUND;
    ret->words = COPY(arena, words);
    ret->count = COUNT(words);
    *ret_pin = JOIN(arena, package->name, S("@"), version, S(" "), hash);
    return OK;
}

static enum err command_pypi(const struct package *package, struct str folder,
                             struct arena *arena, struct sandbox_command *ret,
                             struct str *ret_pin)
{
    enum err err = command_pip(package, folder, arena, ret, ret_pin);

    return err ? command_uv(package, folder, arena, ret, ret_pin) : OK;
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
