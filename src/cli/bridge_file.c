/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bridge_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum { FILE_BYTES = 16 << 20, TREE = 96, PATH_BYTES = 4096 };

/* clang-format off */
static const struct str names[BRIDGE_KEPT] = {
    [KEPT_SERVER]    = S("server"),
    [KEPT_CATALOGUE] = S("catalogue"),
};
/* clang-format on */

static char *digest_of(const struct server_spec *spec)
{
    CLEANUP(buf_done) struct buf text;
    CLEANUP(buf_done) struct buf hex;
    uint8_t digest[SHA256_BYTES];

    buf_init(&text, FILE_BYTES);
    buf_init(&hex, 2 * SHA256_BYTES + 1);
    buf_put(&text, spec->url);
    for (size_t i = 0; i < spec->command.count; i++) {
        buf_putc(&text, '\0');
        buf_put(&text, spec->command.words[i]);
    }
    crypto_sha256(buf_str(&text), digest);
    hex_write(&hex, (struct str){ (const char *)digest, sizeof(digest) });
    return str_dup(buf_str(&hex));
}

void bridge_file_init(struct bridge_file *file, const char *data,
                      const struct server_spec *spec)
{
    char path[PATH_BYTES];

    (void)mkdir(data, 0700);
    (void)snprintf(path, sizeof(path), "%s/bridges", data);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof(path), "%s/bridges/" STR_FMT ".json", data,
                   STR_ARG(spec->name));
    *file = (struct bridge_file){ .path = xstrdup(path), .what = digest_of(spec) };
}

void bridge_file_done(struct bridge_file *file)
{
    for (size_t i = 0; i < BRIDGE_KEPT; i++)
        free(file->texts[i]);
    free(file->path);
    free(file->what);
}

/* --- reading --- */

static enum err read_all(const char *path, struct buf *out)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t got = 1;

    if (fd < 0)
        return ERR_NOT_FOUND;
    while (got > 0) {
        if (buf_reserve(out, 1 << 16))
            return ERR_TOO_BIG;
        got = read(fd, out->ptr + out->len, 1 << 16);
        out->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? ERR_IO : OK;
}

void bridge_file_read(struct bridge_file *file, struct str ret[static BRIDGE_KEPT])
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf text;
    const struct json *root = NULL;
    bool is_same;

    buf_init(&text, FILE_BYTES);
    arena_init(&arena, (size_t)FILE_BYTES * TREE);
    if (!read_all(file->path, &text) && json_parse(buf_str(&text), &arena, &root, NULL))
        (void)cli_fail("%s cannot be read, and is begun anew", file->path);
    is_same = str_eq(json_text(json_find(root, S("what"))), str_of(file->what));
    for (size_t i = 0; i < BRIDGE_KEPT; i++) {
        const struct json *kept = json_find(root, names[i]);

        if (kept && is_same)
            file->texts[i] = str_dup(kept->raw);
        ret[i] = str_of(file->texts[i]);
    }
}

/* --- writing --- */

static void put_file(struct buf *out, const struct bridge_file *file)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("what"), str_of(file->what));
    for (size_t i = 0; i < BRIDGE_KEPT; i++) {
        if (!file->texts[i])
            continue;
        json_key(&w, names[i]);
        json_raw(&w, str_of(file->texts[i]));
    }
    json_object_close(&w);
}

static bool write_file(const char *path, struct str text)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd >= 0 && !fd_write_all(fd, text) && fsync(fd) == 0;
}

void bridge_file_keep(struct bridge_file *file, enum bridge_kept what, struct str json)
{
    CLEANUP(buf_done) struct buf out;
    char path[PATH_BYTES];

    free(file->texts[what]);
    file->texts[what] = str_dup(json);
    buf_init(&out, FILE_BYTES);
    put_file(&out, file);
    (void)snprintf(path, sizeof(path), "%s.new", file->path);
    if (out.is_full || !write_file(path, buf_str(&out)) || rename(path, file->path))
        (void)cli_fail("%s: %s", file->path, strerror(errno));
}
