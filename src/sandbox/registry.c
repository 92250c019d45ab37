/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of places where registries are named, for each the first that says something
 * counts. Of the files only single lines are understood: "registry = URL".
 */
#include "sandbox/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { FILE_BYTES = 64 * 1024, PATH_BYTES = 4096 };

/* A variable, or a key in a file; "~" is the home of whoever runs this. */
struct naming {
    const char *name;
    const char *key; /* NULL: a variable */
};

/* clang-format off */
static const struct naming npm_namings[] = {
    { "npm_config_registry",    NULL },
    { "NPM_CONFIG_REGISTRY",    NULL },
    { "~/.npmrc",               "registry" },
    { "/usr/local/etc/npmrc",   "registry" },
    { "/usr/etc/npmrc",         "registry" },
    { "/etc/npmrc",             "registry" },
};
static const struct naming pypi_namings[] = {
    { "UV_DEFAULT_INDEX",       NULL },
    { "UV_INDEX_URL",           NULL },
    { "PIP_INDEX_URL",          NULL },
    { "~/.config/pip/pip.conf", "index-url" },
    { "~/.pip/pip.conf",        "index-url" },
    { "/etc/pip.conf",          "index-url" },
};
static const struct naming ca_namings[] = {
    { "NODE_EXTRA_CA_CERTS",    NULL },
    { "npm_config_cafile",      NULL },
    { "~/.npmrc",               "cafile" },
    { "PIP_CERT",               NULL },
    { "SSL_CERT_FILE",          NULL },
};
/* clang-format on */

static const struct str npm_public = S("https://registry.npmjs.org/");
static const struct str pypi_public = S("https://pypi.org/simple/");
static const struct str pypi_files = S("files.pythonhosted.org:443");

/* --- what is named, and where --- */

static struct str trim(struct str text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t' || text.ptr[0] == '"'))
        text = str_slice(text, 1, text.len);
    while (text.len && strchr(" \t\r\"", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* The value behind KEY = in a text of lines. */
static struct str find_key(struct str text, struct str key)
{
    while (text.ptr) {
        struct str line = str_cut(&text, '\n');
        struct str name = str_cut(&line, '=');

        if (line.ptr && str_eq(trim(name), key))
            return trim(line);
    }
    return S("");
}

static struct str read_key(const struct naming *naming, struct arena *arena)
{
    const char *home = getenv("HOME");
    char path[PATH_BYTES], text[FILE_BYTES];
    bool is_ours = naming->name[0] == '~';
    CLEANUP(fd_closep) int fd = -1;
    ssize_t len;

    if (is_ours && !home)
        return S("");
    (void)snprintf(path, sizeof(path), "%s%s", is_ours ? home : "",
                   naming->name + (is_ours ? 1 : 0));
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    len = fd < 0 ? -1 : read(fd, text, sizeof(text));
    if (len <= 0)
        return S("");
    return arena_str(arena,
                     find_key((struct str){ text, (size_t)len }, str_of(naming->key)));
}

static struct str look_in(const struct naming *naming, struct arena *arena)
{
    const char *value = naming->key ? NULL : getenv(naming->name);

    if (naming->key)
        return read_key(naming, arena);
    return value ? arena_str(arena, str_of(value)) : S("");
}

static struct str find_named(const struct naming *namings, size_t count,
                             struct arena *arena, struct str *ret_from)
{
    for (size_t i = 0; i < count; i++) {
        struct str value = look_in(&namings[i], arena);

        if (value.len == 0)
            continue;
        *ret_from = str_of(namings[i].name);
        return value;
    }
    return S("");
}

/* --- what it means --- */

/* HOST or HOST:PORT, between "//" and the path; "": there is none. */
static struct str authority_of(struct str url)
{
    size_t from = str_find(url, ':', 0) + 3;
    struct str rest = from < url.len ? str_slice(url, from, url.len) : S("");

    return str_cut(&rest, '/');
}

static bool has_port(struct str authority)
{
    size_t from = str_starts(authority, S("[")) ? str_find(authority, ']', 0) : 0;

    return str_find(authority, ':', from) < authority.len;
}

static bool is_port(struct str authority)
{
    size_t from = str_starts(authority, S("[")) ? str_find(authority, ']', 0) : 0;
    size_t at = str_find(authority, ':', from);
    uint64_t number;

    return !str_to_u64(str_slice(authority, at + 1, authority.len), UINT16_MAX,
                       &number) &&
           number > 0;
}

static bool is_host(struct str authority)
{
    for (size_t i = 0; i < authority.len; i++) {
        char c = authority.ptr[i];
        bool is_alnum =
            (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

        if (!is_alnum && !strchr("-._:[]", c))
            return false;
    }
    return authority.len > 0 && authority.ptr[0] != ':';
}

const char *registry_url_fault(struct str url)
{
    struct str authority = authority_of(url);

    if (!str_starts(url, S("https://")) && !str_starts(url, S("http://")))
        return "a registry is https://HOST/… or http://HOST/…";
    if (url.len > REGISTRY_URL_MAX)
        return "the URL of a registry is too long";
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] == 0x7f)
            return "the URL of a registry has no spaces";
    if (str_find(authority, '@', 0) < authority.len)
        return "registries that want a password are not possible";
    if (str_find(url, '?', 0) < url.len || str_find(url, '#', 0) < url.len)
        return "the URL of a registry has no ? and no #";
    if (!is_host(authority) || (has_port(authority) && !is_port(authority)))
        return "the URL of a registry names a host: https://HOST:PORT/…";
    return NULL;
}

const char *registry_ca_fault(const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0 || access(path, R_OK) < 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no file";
    if (geteuid() == 0 && !(status.st_mode & S_IROTH))
        return "whoever installs packages is not root, and may not read it";
    return NULL;
}

static struct str host_of(struct str url, struct arena *arena)
{
    struct str authority = authority_of(url);
    struct str port = str_starts(url, S("https:")) ? S(":443") : S(":80");
    struct buf text;
    struct str ret;

    buf_init(&text, REGISTRY_URL_MAX + 8);
    buf_put(&text, authority);
    if (!has_port(authority))
        buf_put(&text, port);
    ret = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return ret;
}

static struct registry find_registry(struct str said, const struct naming *namings,
                                     size_t count, struct str public_url,
                                     struct arena *arena)
{
    struct registry registry = { .url = arena_str(arena, said),
                                 .from = S("the settings") };

    if (said.len == 0) {
        registry.from = S("");
        registry.url = find_named(namings, count, arena, &registry.from);
    }
    if (registry.url.len == 0)
        registry.url = public_url;
    registry.fault = registry_url_fault(registry.url);
    if (!registry.fault)
        registry.hosts[0] = host_of(registry.url, arena);
    return registry;
}

/* What nobody said here, and is of no use, is not taken. */
static struct str find_ca(struct str said, struct arena *arena)
{
    struct str from, path;

    if (said.len)
        return arena_str(arena, said);
    path = find_named(ca_namings, COUNT(ca_namings), arena, &from);
    return str_starts(path, S("/")) && !registry_ca_fault(path.ptr) ? path : S("");
}

void registries_find(const struct registry_words *said, struct arena *arena,
                     struct registries *ret)
{
    ret->npm =
        find_registry(said->npm, npm_namings, COUNT(npm_namings), npm_public, arena);
    ret->pypi =
        find_registry(said->pypi, pypi_namings, COUNT(pypi_namings), pypi_public, arena);
    if (str_starts(ret->pypi.hosts[0], S("pypi.org:")))
        ret->pypi.hosts[1] = pypi_files;
    ret->ca = find_ca(said->ca, arena);
}
