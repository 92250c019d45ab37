/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "store/store.h"

struct place {
    char folder[32];
    char path[64];
};

static void place_init(struct place *place)
{
    (void)snprintf(place->folder, sizeof(place->folder), "/tmp/test_store.XXXXXX");
    CHECK(mkdtemp(place->folder) != NULL);
    (void)snprintf(place->path, sizeof(place->path), "%s/moot.db", place->folder);
}

static void place_done(const struct place *place)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char path[80];

        (void)snprintf(path, sizeof(path), "%s%s", place->path, suffixes[i]);
        (void)unlink(path);
    }
    CHECK_INT(rmdir(place->folder), 0);
}

static struct store *open_store(const struct place *place)
{
    struct store *store = NULL;
    char *why = NULL;

    CHECK_INT(store_open(place->path, &store, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    return store;
}

static struct store_token token_of(const char *name, uint8_t hash)
{
    struct store_token token = {
        .name = str_of(name),
        .id = S("al\0ice"),
        .topics = S("[\"*\"]"),
        .capabilities = S("[\"chat\"]"),
        .profile = S(""),
        .type = S("human"),
        .is_admin = true,
        .created_ms = 1700000000000,
        .expires_ms = hash,
    };

    memset(token.hash, hash, sizeof(token.hash));
    return token;
}

/* Names in the order they come; the other fields are checked on the way. */
struct seen {
    char names[64];
};

static void note(void *user, const struct store_token *token)
{
    struct seen *seen = user;
    size_t len = strlen(seen->names);

    (void)snprintf(seen->names + len, sizeof(seen->names) - len, STR_FMT " ",
                   STR_ARG(token->name));
    CHECK_STR(token->id, S("al\0ice"));
    CHECK_STR(token->topics, S("[\"*\"]"));
    CHECK_STR(token->capabilities, S("[\"chat\"]"));
    CHECK_STR(token->profile, S(""));
    CHECK_STR(token->type, S("human"));
    CHECK(token->is_admin);
    CHECK_INT(token->created_ms, 1700000000000);
    CHECK_INT(token->expires_ms, token->hash[31]);
}

static struct str names_of(struct store *store, struct seen *seen)
{
    *seen = (struct seen){};
    CHECK_INT(store_token_each(store, note, seen), OK);
    return str_of(seen->names);
}

TEST(tokens_survive_reopening)
{
    struct store_token b = token_of("b", 1);
    struct store_token a = token_of("a", 0);
    struct place place;
    struct store *store;
    struct seen seen;
    bool found = false;

    place_init(&place);
    store = open_store(&place);
    CHECK_STR(names_of(store, &seen), S(""));
    CHECK_INT(store_token_add(store, &b), OK);
    CHECK_INT(store_token_add(store, &a), OK);
    CHECK_STR(names_of(store, &seen), S("a b "));
    store_close(store);

    store = open_store(&place);
    CHECK_STR(names_of(store, &seen), S("a b "));
    CHECK_INT(store_token_remove(store, S("b"), &found), OK);
    CHECK(found);
    CHECK_INT(store_token_remove(store, S("b"), &found), OK);
    CHECK(!found);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);

    store = open_store(&place);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);
    place_done(&place);
}

TEST(names_and_secrets_are_unique)
{
    struct store_token a = token_of("a", 1);
    struct store_token same_name = token_of("a", 2);
    struct store_token same_hash = token_of("b", 1);
    struct store_token nameless = token_of("", 3);
    struct store_token eternal = token_of("c", 3);
    struct place place;
    struct store *store;
    struct seen seen;

    eternal.expires_ms = UINT64_MAX;
    place_init(&place);
    store = open_store(&place);
    CHECK_INT(store_token_add(store, &a), OK);
    CHECK_INT(store_token_add(store, &same_name), ERR_CONFLICT);
    CHECK_INT(store_token_add(store, &same_hash), ERR_CONFLICT);
    CHECK_INT(store_token_add(store, &nameless), ERR_INVALID);
    CHECK_INT(store_token_add(store, &eternal), ERR_INVALID);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);
    place_done(&place);
}

TEST(the_files_are_the_owners_alone)
{
    mode_t old = umask(0);
    struct place place;
    struct store *store;
    struct stat status;
    char wal[80];

    place_init(&place);
    store = open_store(&place);
    (void)umask(old);
    CHECK_INT(stat(place.path, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0600);
    (void)snprintf(wal, sizeof(wal), "%s-wal", place.path);
    CHECK_INT(stat(wal, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0600);
    store_close(store);
    place_done(&place);
}

/* Changes the file behind the store's back. */
static void tamper(const struct place *place, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(place->path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

TEST(files_that_are_not_ours_are_left_alone)
{
    static const struct {
        bool is_ours; /* at first */
        const char *sql;
        const char *why;
    } cases[] = {
        { true, "PRAGMA user_version = 99", "made by a newer version of this program" },
        { true, "PRAGMA application_id = 7", "not a store of this program" },
        { false, "CREATE TABLE x (y)", "not a store of this program" },
        { false, "PRAGMA user_version = 1", "not a store of this program" },
    };

    FOR_EACH_CASE(c, cases) {
        struct store *store = NULL;
        struct place place;
        char *why = NULL;

        place_init(&place);
        if (c->is_ours)
            store_close(open_store(&place));
        tamper(&place, c->sql);
        CHECK_INT(store_open(place.path, &store, &why), ERR_CONFLICT);
        CHECK(store == NULL);
        CHECK(why && strstr(why, c->why) && strstr(why, place.path));
        free(why);
        CHECK_INT(store_open(place.path, &store, NULL), ERR_CONFLICT);
        place_done(&place);
    }
}

TEST(what_cannot_be_opened_is_explained)
{
    struct store *store = NULL;
    struct place place;
    char *why = NULL;
    int fd;

    CHECK_INT(store_open("/nonexistent/moot.db", &store, &why), ERR_IO);
    CHECK_STR(str_of(why), S("/nonexistent/moot.db: No such file or directory"));
    free(why);
    place_init(&place);
    fd = open(place.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(write(fd, "this is no database, but it is long enough to be one", 52), 52);
    (void)close(fd);
    CHECK_INT(store_open(place.path, &store, &why), ERR_IO);
    CHECK(why && strstr(why, "not a database"));
    free(why);
    CHECK(store == NULL);
    place_done(&place);
}
