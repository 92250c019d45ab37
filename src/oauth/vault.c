/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define KEY_FILE "secret.key"

/* --- the key --- */

static enum err read_key(int dir, uint8_t ret[static SEAL_KEY])
{
    CLEANUP(fd_closep) int fd = openat(dir, KEY_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    uint8_t bytes[SEAL_KEY + 1];
    struct stat is;

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    if (fstat(fd, &is))
        return ERR_IO;
    if (!S_ISREG(is.st_mode) || (is.st_mode & (S_IRWXG | S_IRWXO)))
        return ERR_FORBIDDEN;
    if (read(fd, bytes, sizeof(bytes)) != SEAL_KEY)
        return ERR_INVALID;
    memcpy(ret, bytes, SEAL_KEY);
    crypto_wipe(bytes, sizeof(bytes));
    return OK;
}

static enum err write_key(int fd)
{
    uint8_t bytes[SEAL_KEY];
    bool is_written;

    crypto_random(bytes, sizeof(bytes));
    is_written = write(fd, bytes, sizeof(bytes)) == sizeof(bytes) && !fsync(fd);
    crypto_wipe(bytes, sizeof(bytes));
    return is_written ? OK : ERR_IO;
}

/* Made beside and linked to its name: of two that make it at once, one is the first, and
 * both use that. */
static enum err make_key(int dir)
{
    CLEANUP(fd_closep) int fd = -1;
    char fresh[64];
    uint64_t random;
    enum err err;

    crypto_random(&random, sizeof(random));
    (void)snprintf(fresh, sizeof(fresh), "." KEY_FILE ".%016llx",
                   (unsigned long long)random);
    fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return ERR_IO;
    err = write_key(fd);
    if (!err && linkat(dir, fresh, dir, KEY_FILE, 0) && errno != EEXIST)
        err = ERR_IO;
    (void)unlinkat(dir, fresh, 0);
    return err || fsync(dir) ? ERR_IO : OK;
}

enum err vault_open(struct vault *vault, const char *dir)
{
    CLEANUP(fd_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err err;

    if (fd < 0)
        return ERR_IO;
    err = read_key(fd, vault->key);
    if (err != ERR_NOT_FOUND)
        return err;
    err = make_key(fd);
    return err ? err : read_key(fd, vault->key);
}

void vault_close(struct vault *vault)
{
    crypto_wipe(vault->key, sizeof(vault->key));
}

/* --- boxes --- */

static void put_about(struct buf *about, struct str name)
{
    buf_init(about, VAULT_NAME + 16);
    buf_put(about, S("oauth:"));
    buf_put(about, name);
}

void vault_seal(const struct vault *vault, struct str name, struct str secret,
                struct buf *out)
{
    CLEANUP(buf_done) struct buf about;

    put_about(&about, name);
    crypto_seal(vault->key, buf_str(&about), secret, out);
}

enum err vault_unseal(const struct vault *vault, struct str name, struct str box,
                      struct buf *out)
{
    CLEANUP(buf_done) struct buf about;

    put_about(&about, name);
    return crypto_open(vault->key, buf_str(&about), box, out);
}

/* --- files --- */

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_alnum =
            (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

        if (!is_alnum && c != '-' && c != '_' && (c != '.' || i == 0))
            return false;
    }
    return name.len > 0 && name.len <= VAULT_NAME;
}

/* The folder of the boxes; -1 with errno. */
static int open_folder(const char *dir)
{
    CLEANUP(fd_closep) int parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (parent < 0 || (mkdirat(parent, "secrets", 0700) && errno != EEXIST))
        return -1;
    return openat(parent, "secrets", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static enum err write_box(int folder, const char *name, struct str box)
{
    char fresh[VAULT_NAME + 8];
    CLEANUP(fd_closep) int fd = -1;

    (void)snprintf(fresh, sizeof(fresh), ".%s.new", name); /* no box begins with a dot */
    fd = openat(folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (fd < 0 || write(fd, box.ptr, box.len) != (ssize_t)box.len || fsync(fd) ||
        renameat(folder, fresh, folder, name) || fsync(folder))
        return ERR_IO;
    return OK;
}

enum err vault_keep(const struct vault *vault, const char *dir, struct str name,
                    struct str secret)
{
    CLEANUP(fd_closep) int folder = open_folder(dir);
    CLEANUP(buf_done) struct buf box;
    char file[VAULT_NAME + 1];

    buf_init(&box, VAULT_BYTES + SEAL_MORE);
    if (!is_name(name))
        return ERR_INVALID;
    if (folder < 0)
        return ERR_IO;
    vault_seal(vault, name, secret, &box);
    if (box.is_full)
        return ERR_TOO_BIG;
    (void)snprintf(file, sizeof(file), STR_FMT, STR_ARG(name));
    return write_box(folder, file, buf_str(&box));
}

static enum err read_box(int folder, const char *name, struct buf *box)
{
    CLEANUP(fd_closep) int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    for (;;) {
        ssize_t got;

        if (buf_reserve(box, 1))
            return ERR_TOO_BIG;
        got = read(fd, box->ptr + box->len, box->size - box->len);
        if (got <= 0)
            return got ? ERR_IO : OK;
        box->len += (size_t)got;
    }
}

enum err vault_recall(const struct vault *vault, const char *dir, struct str name,
                      struct buf *out)
{
    CLEANUP(fd_closep) int folder = open_folder(dir);
    CLEANUP(buf_done) struct buf box;
    char file[VAULT_NAME + 1];
    enum err err;

    buf_init(&box, VAULT_BYTES + SEAL_MORE + 1);
    if (!is_name(name))
        return ERR_INVALID;
    if (folder < 0)
        return ERR_IO;
    (void)snprintf(file, sizeof(file), STR_FMT, STR_ARG(name));
    err = read_box(folder, file, &box);
    return err ? err : vault_unseal(vault, name, buf_str(&box), out);
}

enum err vault_forget(const char *dir, struct str name)
{
    CLEANUP(fd_closep) int folder = open_folder(dir);
    char file[VAULT_NAME + 1];

    if (!is_name(name))
        return ERR_INVALID;
    if (folder < 0)
        return ERR_IO;
    (void)snprintf(file, sizeof(file), STR_FMT, STR_ARG(name));
    if (unlinkat(folder, file, 0))
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    return OK;
}
