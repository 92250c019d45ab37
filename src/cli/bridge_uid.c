/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bridge_uid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/cli.h"

enum { PATH_BYTES = 4096, FILE_BYTES = 1 << 18 };

struct uid_file {
    char path[PATH_BYTES];
    int fd; /* locked */
    bool is_taken[BRIDGE_UID_COUNT];
};

/* Locked until it is closed: two bridges that begin at once get different ones. */
static int open_file(struct uid_file *file, const char *data)
{
    (void)snprintf(file->path, sizeof(file->path), "%s/bridges", data);
    (void)mkdir(file->path, 0700);
    (void)snprintf(file->path, sizeof(file->path), "%s/bridges/uids", data);
    file->fd =
        open(file->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0 || flock(file->fd, LOCK_EX))
        return cli_fail("%s: %s", file->path, strerror(errno));
    return CLI_OK;
}

static int read_file(const struct uid_file *file, struct buf *out)
{
    ssize_t got = 1;

    while (got > 0) {
        if (buf_reserve(out, PATH_BYTES))
            return cli_fail("%s is too large", file->path);
        got = read(file->fd, out->ptr + out->len, PATH_BYTES);
        out->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? cli_fail("%s: %s", file->path, strerror(errno)) : CLI_OK;
}

/* The one of that name, or 0; and which ones are taken. */
static uid_t look_through(struct uid_file *file, struct str text, struct str name)
{
    uid_t found = 0;

    while (text.ptr && text.len) {
        struct str line = str_cut(&text, '\n');
        struct str whose = str_cut(&line, ' ');
        uint64_t uid;

        if (str_to_u64(line, UINT32_MAX, &uid) || uid < BRIDGE_UID_FIRST ||
            uid >= BRIDGE_UID_FIRST + BRIDGE_UID_COUNT)
            continue;
        file->is_taken[uid - BRIDGE_UID_FIRST] = true;
        if (str_eq(whose, name))
            found = (uid_t)uid;
    }
    return found;
}

static int give(const struct uid_file *file, struct str name, uid_t *ret)
{
    CLEANUP(buf_done) struct buf line;
    size_t i = 0;

    buf_init(&line, PATH_BYTES);
    while (i < BRIDGE_UID_COUNT && file->is_taken[i])
        i++;
    if (i == BRIDGE_UID_COUNT)
        return cli_fail("%s: all %d numbers are taken; remove the lines of bridges that "
                        "are no more",
                        file->path, BRIDGE_UID_COUNT);
    *ret = BRIDGE_UID_FIRST + (uid_t)i;
    buf_putf(&line, STR_FMT " %u\n", STR_ARG(name), *ret);
    if (write(file->fd, line.ptr, line.len) != (ssize_t)line.len || fsync(file->fd))
        return cli_fail("%s: %s", file->path, strerror(errno));
    return CLI_OK;
}

static int find_or_give(struct uid_file *file, struct str name, uid_t *ret)
{
    CLEANUP(buf_done) struct buf text;
    int code;

    buf_init(&text, FILE_BYTES);
    code = read_file(file, &text);
    if (code)
        return code;
    *ret = look_through(file, buf_str(&text), name);
    return *ret ? CLI_OK : give(file, name, ret);
}

int bridge_uid_settle(struct server_spec *spec, const char *data)
{
    struct uid_file file = { .fd = -1 };
    int code;

    if (!server_spec_lacks_uid(spec))
        return CLI_OK;
    code = open_file(&file, data);
    if (code == CLI_OK)
        code = find_or_give(&file, spec->name, &spec->permit.uid);
    spec->permit.gid = (gid_t)spec->permit.uid;
    fd_closep(&file.fd);
    return code;
}
