/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of the installation, in files of their own: 64 hex digits and a newline. They
 * are made at first, and what is made is on the disk before anything relies on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/store_priv.h"

enum { KEY_TEXT = 2 * SHA256_BYTES, PUBLIC_BYTES = 4096 };

static enum err sync_folder(const char *folder)
{
    CLEANUP(fd_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 || fsync(fd) ? ERR_IO : OK;
}

/* The file appears whole or not at all. */
static enum err write_file(const char *folder, const char *name, struct str text,
                           mode_t mode)
{
    CLEANUP(fd_closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(fd_closep) int fd = -1;
    char fresh[64];

    (void)snprintf(fresh, sizeof(fresh), "%s.new", name);
    if (dir >= 0)
        fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    mode);
    if (fd < 0 || fchmod(fd, mode) ||
        write(fd, text.ptr, text.len) != (ssize_t)text.len || fsync(fd) ||
        renameat(dir, fresh, dir, name))
        return ERR_IO;
    return sync_folder(folder);
}

static enum err write_key(const char *folder, const char *name,
                          const uint8_t key[static SHA256_BYTES])
{
    struct buf text;
    enum err err;

    buf_init(&text, KEY_TEXT + 1);
    hex_write(&text, (struct str){ (const char *)key, SHA256_BYTES });
    buf_putc(&text, '\n');
    err = write_file(folder, name, buf_str(&text), 0600);
    crypto_wipe(text.ptr, text.len);
    buf_done(&text);
    return err;
}

static enum err make_key(const char *folder, const char *name,
                         uint8_t ret[static SHA256_BYTES])
{
    crypto_random(ret, SHA256_BYTES);
    return write_key(folder, name, ret);
}

/* ERR_NOT_FOUND; ERR_INVALID: it is there, and no key. */
static enum err read_key(const char *path, uint8_t ret[static SHA256_BYTES])
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[KEY_TEXT + 2];
    enum err err;
    ssize_t len;

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    len = read(fd, text, sizeof(text));
    if (len < 0)
        return ERR_IO;
    err = len == KEY_TEXT + 1 && text[KEY_TEXT] == '\n'
              ? hex_parse((struct str){ text, KEY_TEXT }, ret, SHA256_BYTES)
              : ERR_INVALID;
    crypto_wipe(text, sizeof(text));
    return err;
}

static enum err open_key(const char *folder, const char *name,
                         uint8_t ret[static SHA256_BYTES], char **ret_why)
{
    char path[4096];
    enum err err;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    err = read_key(path, ret);
    if (err == ERR_NOT_FOUND)
        err = make_key(folder, name, ret);
    if (err == ERR_INVALID)
        return store_fail(ERR_IO, ret_why, "%s: this is no key", path);
    if (err)
        return store_fail(ERR_IO, ret_why, "%s: %s", path, strerrordesc_np(errno));
    return OK;
}

/* --- audit.check: that a secret and a public key belong together --- */

static void pair_hash(const uint8_t secret[static ED25519_SECRET],
                      const uint8_t public_key[static ED25519_PUBLIC],
                      uint8_t ret[static SHA256_BYTES])
{
    crypto_hmac_sha256((struct str){ (const char *)secret, ED25519_SECRET },
                       (struct str){ (const char *)public_key, ED25519_PUBLIC }, ret);
}

static bool is_known_pair(const char *data, const uint8_t secret[static ED25519_SECRET],
                          const uint8_t public_key[static ED25519_PUBLIC])
{
    uint8_t hash[SHA256_BYTES], kept[SHA256_BYTES];
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/audit.check", data);
    pair_hash(secret, public_key, hash);
    return read_key(path, kept) == OK && crypto_equal(hash, kept, sizeof(hash));
}

/* The public key is computed only where it is not known to belong to the secret: curves
 * are 2 MB of libcrypto that a gateway which signs nothing does without. */
static void open_pair(const char *data, const uint8_t secret[static ED25519_SECRET],
                      const uint8_t *expected, struct ed25519_key *ret)
{
    uint8_t hash[SHA256_BYTES];

    if (expected && is_known_pair(data, secret, expected)) {
        memcpy(ret->secret, secret, ED25519_SECRET);
        memcpy(ret->public, expected, ED25519_PUBLIC);
        return;
    }
    ed25519_from_secret(secret, ret);
    pair_hash(secret, ret->public, hash);
    (void)write_key(data, "audit.check", hash); /* without it, it is computed again */
}

enum err store_keys_open(const char *data, const uint8_t *expected,
                         struct store_keys *ret, char **ret_why)
{
    uint8_t secret[SHA256_BYTES];
    enum err err = open_key(data, "redact.key", ret->redacting, ret_why);

    if (!err)
        err = open_key(data, "audit.key", secret, ret_why);
    if (!err)
        open_pair(data, secret, expected, &ret->signing);
    crypto_wipe(secret, sizeof(secret));
    return err;
}

/* --- audit.pub --- */

/* The first line; a file that holds more is an export, which begins with the same. */
static enum err read_line(const char *path, char space[static PUBLIC_BYTES],
                          struct str *ret, char **ret_why)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, space, PUBLIC_BYTES);

    if (len < 0)
        return store_fail(errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, ret_why, "%s: %s",
                          path, strerrordesc_np(errno));
    *ret = (struct str){ space, (size_t)len };
    ret->len = str_find(*ret, '\n', 0);
    return OK;
}

enum err store_public_read(const char *path, struct audit_origin *ret,
                           char installation[static AUDIT_INSTALLATION], char **ret_why)
{
    char space[PUBLIC_BYTES];
    struct audit_line line = {};
    const char *what = "it is of another kind";
    struct arena arena;
    struct str text = {};
    enum err err = read_line(path, space, &text, ret_why);

    if (err)
        return err;
    arena_init(&arena, (size_t)16 * PUBLIC_BYTES);
    err = audit_line_parse(text, &arena, &line, &what);
    if (!err && (line.type != AUDIT_LINE_ORIGIN ||
                 line.origin.installation.len != AUDIT_INSTALLATION))
        err = ERR_INVALID;
    if (err) {
        err = store_fail(ERR_IO, ret_why, "%s: this is no public key of a record: %s",
                         path, what);
    } else {
        memcpy(installation, line.origin.installation.ptr, AUDIT_INSTALLATION);
        *ret = line.origin;
        ret->installation.ptr = installation;
    }
    arena_done(&arena);
    return err;
}

enum err store_public_keep(const char *data, const struct audit_origin *origin,
                           char **ret_why)
{
    char space[PUBLIC_BYTES], path[4096];
    struct str there = {};
    struct buf text;
    enum err err = OK;

    (void)snprintf(path, sizeof(path), "%s/audit.pub", data);
    buf_init(&text, PUBLIC_BYTES);
    audit_origin_write(origin, &text);
    if (read_line(path, space, &there, NULL) ||
        !str_eq(there, str_slice(buf_str(&text), 0, text.len - 1)))
        err = write_file(data, "audit.pub", buf_str(&text), 0600);
    buf_done(&text);
    return err ? store_fail(err, ret_why, "%s: %s", path, strerrordesc_np(errno)) : OK;
}
