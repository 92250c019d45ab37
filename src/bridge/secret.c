/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"

static enum err refuse(const struct server_variable *variable, enum err err,
                       const char *what, char **ret_why)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "the secret " STR_FMT " (%s " STR_FMT ") %s",
                   STR_ARG(variable->name),
                   variable->source == SECRET_FILE ? "file" : "variable",
                   STR_ARG(variable->from), what);
    *ret_why = xstrdup(text);
    return err;
}

static struct str without_line_end(struct str text)
{
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

static ssize_t read_whole(int fd, char *out, size_t size)
{
    size_t len = 0;
    ssize_t got = 1;

    while (got > 0 && len < size) {
        got = read(fd, out + len, size - len);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            len += (size_t)got;
    }
    return got < 0 ? -1 : (ssize_t)len;
}

static enum err read_file(const struct server_variable *variable, struct arena *arena,
                          struct str *ret, char **ret_why)
{
    CLEANUP(xfreep) char *path = str_dup(variable->from);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    char *text;
    ssize_t len;

    if (fd < 0 || fstat(fd, &status)) {
        char what[128];

        (void)snprintf(what, sizeof(what), "cannot be opened: %s",
                       strerrordesc_np(errno));
        return refuse(variable, ERR_NOT_FOUND, what, ret_why);
    }
    if (!S_ISREG(status.st_mode) || status.st_size > SECRET_MAX)
        return refuse(variable, ERR_INVALID, "is no file of at most 64 KiB", ret_why);
    text = arena_alloc(arena, SECRET_MAX + 1);
    if (!text)
        return refuse(variable, ERR_TOO_BIG, "is one too many", ret_why);
    len = read_whole(fd, text, SECRET_MAX);
    if (len < 0)
        return refuse(variable, ERR_NOT_FOUND, "cannot be read", ret_why);
    *ret = without_line_end((struct str){ text, (size_t)len });
    return OK;
}

static enum err put_together(const struct server_variable *variable, struct arena *arena,
                             struct str value, struct str *ret, char **ret_why)
{
    size_t len = variable->before.len + value.len;
    char *text;

    *ret = value;
    if (variable->before.len == 0)
        return OK;
    text = arena_alloc(arena, len + 1);
    if (!text)
        return refuse(variable, ERR_TOO_BIG, "is one too many", ret_why);
    memcpy(text, variable->before.ptr, variable->before.len);
    memcpy(text + variable->before.len, value.ptr, value.len);
    secret_wipe(variable, value);
    *ret = (struct str){ text, len };
    return OK;
}

enum err secret_read(const struct server_variable *variable, struct arena *arena,
                     struct str *ret, char **ret_why)
{
    CLEANUP(xfreep) char *name = NULL;
    const char *value;
    struct str found = variable->from;
    enum err err = OK;

    switch (variable->source) {
    case SECRET_PLAIN: break;
    case SECRET_FILE: err = read_file(variable, arena, &found, ret_why); break;
    case SECRET_ENVIRONMENT:
        name = str_dup(variable->from);
        value = getenv(name);
        if (!value)
            return refuse(variable, ERR_NOT_FOUND, "is not set", ret_why);
        found = arena_str(arena, str_of(value));
        break;
    }
    if (err)
        return err;
    if (!found.ptr)
        return refuse(variable, ERR_TOO_BIG, "is one too many", ret_why);
    if (found.len > 0 && memchr(found.ptr, '\0', found.len))
        return refuse(variable, ERR_INVALID, "has a zero byte", ret_why);
    return put_together(variable, arena, found, ret, ret_why);
}

void secret_wipe(const struct server_variable *variable, struct str value)
{
    if (variable->source != SECRET_PLAIN && value.len > 0)
        crypto_wipe((char *)(uintptr_t)value.ptr, value.len);
}
