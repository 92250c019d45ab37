/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/tokens.h"

static const struct {
    const char *file;
    struct str name; /* of the token, of its participant and of its profile */
} first_tokens[] = {
    { "admin.token", S("admin") },
    { "human.token", S("human") },
};

/* Writes the secret so that it is there whole, and for its owner alone, or not at all. */
static enum err write_secret(const char *path, struct str secret)
{
    char temporary[4096 + sizeof(".new")];
    CLEANUP(fd_closep) int fd = -1;

    (void)snprintf(temporary, sizeof(temporary), "%s.new", path);
    (void)unlink(temporary); /* left behind, or laid out as a trap */
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return ERR_IO;
    if (write(fd, secret.ptr, secret.len) != (ssize_t)secret.len ||
        write(fd, "\n", 1) != 1 || fsync(fd) != 0 || rename(temporary, path) != 0) {
        (void)unlink(temporary);
        return ERR_IO;
    }
    return OK;
}

static enum err make_token(const char *path, struct str name, struct store *store)
{
    static const struct str everywhere[] = { S("*") };
    const struct profile *profile = profile_find(name);
    struct identity identity = { .id = name,
                                 .token_name = name,
                                 .topics = { everywhere, 1 },
                                 .capabilities = profile->capabilities,
                                 .profile = profile->name,
                                 .type = profile->type,
                                 .source = FROM_STORE,
                                 .is_admin = profile->is_admin,
                                 .created_ms = clock_wall_ms() };
    struct store_token record;
    struct arena arena;
    struct buf secret;
    bool found;
    enum err err;

    arena_init(&arena, 1 << 20);
    buf_init(&secret, 256);
    token_draw(&identity, &secret);
    token_to_record(&identity, &arena, &record);
    err = store_token_remove(store, name, &found); /* one whose file was lost */
    if (!err)
        err = store_token_add(store, &record);
    if (!err)
        err = write_secret(path, buf_str(&secret));
    crypto_wipe(secret.ptr, secret.len);
    buf_done(&secret);
    arena_done(&arena);
    return err;
}

enum err start_first_tokens(const char *data, struct store *store)
{
    for (size_t i = 0; i < COUNT(first_tokens); i++) {
        char path[4096];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%s/%s", data, first_tokens[i].file);
        if (stat(path, &st) == 0)
            continue;
        if (make_token(path, first_tokens[i].name, store)) {
            log_error("token.make", "file=%s reason=\"%s\"", LOG_TEXT(str_of(path)),
                      strerror(errno));
            return ERR_IO;
        }
        log_info("token.made", "file=%s", LOG_TEXT(str_of(path)));
    }
    return OK;
}

struct loading {
    struct identity **items;
    size_t count;
};

static void on_token(void *user, const struct store_token *token)
{
    struct loading *loading = user;
    struct identity *identity = token_from_record(token);

    if (!identity) {
        log_warn("token.unreadable", "name=%s", LOG_TEXT(token->name));
        return;
    }
    loading->items =
        xrealloc(loading->items, (loading->count + 1) * sizeof(*loading->items));
    loading->items[loading->count++] = identity;
}

enum err start_load_tokens(struct store *store, struct identity ***ret, size_t *ret_count)
{
    struct loading loading = {};
    enum err err = store_token_each(store, on_token, &loading);

    *ret = loading.items;
    *ret_count = loading.count;
    return err;
}

bool start_is_admin(const struct identity *identity)
{
    return identity->source == FROM_STORE && identity->is_admin &&
           str_eq(identity->token_name, S("admin"));
}

struct identity *start_find_admin(struct identity *const *identities, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (start_is_admin(identities[i]))
            return identities[i];
    return NULL;
}
