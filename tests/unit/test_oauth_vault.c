/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "oauth/vault.h"

enum { PATH = 256 };

struct folder {
    char path[64];
};

static void folder_make(struct folder *folder)
{
    (void)snprintf(folder->path, sizeof(folder->path), "/tmp/moot-vault-XXXXXX");
    CHECK(mkdtemp(folder->path) != NULL);
}

static const char *in(const struct folder *folder, const char *name,
                      char path[static PATH])
{
    (void)snprintf(path, PATH, "%s/%s", folder->path, name);
    return path;
}

static void folder_remove(const struct folder *folder)
{
    char path[PATH];

    (void)unlink(in(folder, "secrets/files", path));
    (void)unlink(in(folder, "secrets/other", path));
    (void)rmdir(in(folder, "secrets", path));
    (void)unlink(in(folder, "secret.key", path));
    CHECK_INT(rmdir(folder->path), 0); /* nothing else was left there */
}

static mode_t mode_of(const struct folder *folder, const char *name)
{
    struct stat is = {};
    char path[PATH];

    CHECK_INT(stat(in(folder, name, path), &is), 0);
    return is.st_mode & 07777;
}

TEST(the_key_is_made_once_and_is_the_owners_alone)
{
    struct folder folder;
    struct vault a, b;

    folder_make(&folder);
    CHECK_INT(vault_open(&a, folder.path), OK);
    CHECK_INT(vault_open(&b, folder.path), OK);
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    CHECK_INT(mode_of(&folder, "secret.key"), 0600);
    vault_close(&a);
    CHECK(memcmp(&a, &b, sizeof(a)) != 0);
    folder_remove(&folder);
}

TEST(a_key_that_others_may_read_or_that_is_none_is_refused)
{
    struct folder folder;
    struct vault vault;
    char path[PATH];

    folder_make(&folder);
    CHECK_INT(vault_open(&vault, folder.path), OK);
    CHECK_INT(chmod(in(&folder, "secret.key", path), 0640), 0);
    CHECK_INT(vault_open(&vault, folder.path), ERR_FORBIDDEN);
    CHECK_INT(chmod(path, 0600), 0);
    CHECK_INT(truncate(path, 31), 0);
    CHECK_INT(vault_open(&vault, folder.path), ERR_INVALID);
    CHECK_INT(truncate(path, 33), 0);
    CHECK_INT(vault_open(&vault, folder.path), ERR_INVALID);
    CHECK_INT(vault_open(&vault, "/nowhere/at/all"), ERR_IO);
    folder_remove(&folder);
}

TEST(what_is_kept_is_recalled_and_cannot_be_read_in_the_file)
{
    struct folder folder;
    struct vault vault;
    struct buf got, raw;
    char path[PATH];
    FILE *file;

    folder_make(&folder);
    buf_init(&got, 1000);
    buf_init(&raw, 1000);
    CHECK_INT(vault_open(&vault, folder.path), OK);
    CHECK_INT(vault_recall(&vault, folder.path, S("files"), &got), ERR_NOT_FOUND);
    CHECK_INT(vault_keep(&vault, folder.path, S("files"), S("old")), OK);
    CHECK_INT(vault_keep(&vault, folder.path, S("files"), S("a secret token")), OK);
    CHECK_INT(mode_of(&folder, "secrets"), 0700);
    CHECK_INT(mode_of(&folder, "secrets/files"), 0600);
    CHECK_INT(vault_recall(&vault, folder.path, S("files"), &got), OK);
    CHECK_STR(buf_str(&got), S("a secret token"));
    file = fopen(in(&folder, "secrets/files", path), "re");
    CHECK_INT(buf_reserve(&raw, 500), OK);
    raw.len = fread(raw.ptr, 1, 500, file);
    (void)fclose(file);
    CHECK_INT(raw.len, 14 + SEAL_MORE);
    CHECK(memmem(raw.ptr, raw.len, "secret", 6) == NULL);
    CHECK_INT(vault_forget(folder.path, S("files")), OK);
    CHECK_INT(vault_forget(folder.path, S("files")), ERR_NOT_FOUND);
    buf_done(&got);
    buf_done(&raw);
    folder_remove(&folder);
}

TEST(the_box_of_one_server_does_not_open_for_another)
{
    struct folder folder;
    struct vault vault;
    struct buf got;
    char from[PATH], to[PATH];

    folder_make(&folder);
    buf_init(&got, 1000);
    CHECK_INT(vault_open(&vault, folder.path), OK);
    CHECK_INT(vault_keep(&vault, folder.path, S("files"), S("token")), OK);
    CHECK_INT(
        rename(in(&folder, "secrets/files", from), in(&folder, "secrets/other", to)), 0);
    CHECK_INT(vault_recall(&vault, folder.path, S("other"), &got), ERR_INVALID);
    CHECK_INT(got.len, 0);
    buf_done(&got);
    folder_remove(&folder);
}

TEST(a_name_leads_nowhere_else)
{
    static const struct str cases[] = {
        S(""),    S("."),       S(".."),   S("../secret.key"),
        S("a/b"), S(".hidden"), S("a\0b"), S("a b"),
    };
    struct vault vault = {};

    FOR_EACH_CASE(c, cases) {
        struct buf got;

        buf_init(&got, 10);
        CHECK_INT(vault_keep(&vault, "/nowhere", *c, S("x")), ERR_INVALID);
        CHECK_INT(vault_recall(&vault, "/nowhere", *c, &got), ERR_INVALID);
        CHECK_INT(vault_forget("/nowhere", *c), ERR_INVALID);
        buf_done(&got);
    }
}
