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
#include "store_stage.h"

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
    struct stage stage;
    struct store *store;
    struct seen seen;
    bool found = false;

    stage_init(&stage);
    store = stage_open(&stage);
    CHECK_STR(names_of(store, &seen), S(""));
    CHECK_INT(store_token_add(store, &b), OK);
    CHECK_INT(store_token_add(store, &a), OK);
    CHECK_STR(names_of(store, &seen), S("a b "));
    store_close(store);

    store = stage_open(&stage);
    CHECK_STR(names_of(store, &seen), S("a b "));
    CHECK_INT(store_token_remove(store, S("b"), &found), OK);
    CHECK(found);
    CHECK_INT(store_token_remove(store, S("b"), &found), OK);
    CHECK(!found);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);

    store = stage_open(&stage);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);
    stage_done(&stage);
}

TEST(names_and_secrets_are_unique)
{
    struct store_token a = token_of("a", 1);
    struct store_token same_name = token_of("a", 2);
    struct store_token same_hash = token_of("b", 1);
    struct store_token nameless = token_of("", 3);
    struct store_token eternal = token_of("c", 3);
    struct stage stage;
    struct store *store;
    struct seen seen;

    eternal.expires_ms = UINT64_MAX;
    stage_init(&stage);
    store = stage_open(&stage);
    CHECK_INT(store_token_add(store, &a), OK);
    CHECK_INT(store_token_add(store, &same_name), ERR_CONFLICT);
    CHECK_INT(store_token_add(store, &same_hash), ERR_CONFLICT);
    CHECK_INT(store_token_add(store, &nameless), ERR_INVALID);
    CHECK_INT(store_token_add(store, &eternal), ERR_INVALID);
    CHECK_STR(names_of(store, &seen), S("a "));
    store_close(store);
    stage_done(&stage);
}

TEST(the_files_are_the_owners_alone)
{
    static const char *const names[] = { "moot.db",      "audit.db",  "audit.db-wal",
                                         "audit.db-shm", "audit.key", "redact.key" };
    mode_t old = umask(0);
    struct stage stage;
    struct store *store;

    stage_init(&stage);
    store = stage_open(&stage);
    (void)umask(old);
    FOR_EACH_CASE(name, names) {
        struct stat status;

        CHECK_INT(stat(stage_path(&stage, *name), &status), 0);
        CHECK_INT(status.st_mode & 0777, 0600);
    }
    store_close(store);
    stage_done(&stage);
}

/* Changes the file behind the store's back. */
static void tamper(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

TEST(files_that_are_not_ours_are_left_alone)
{
    static const struct {
        const char *name;
        bool is_ours; /* at first */
        const char *sql;
        const char *why;
    } cases[] = {
        { "moot.db", true, "PRAGMA user_version = 99", "made by a newer version" },
        { "moot.db", true, "PRAGMA application_id = 7", "not a store of this program" },
        { "moot.db", false, "CREATE TABLE x (y)", "not a store of this program" },
        { "moot.db", false, "PRAGMA user_version = 1", "not a store of this program" },
        { "audit.db", true, "PRAGMA user_version = 99", "made by a newer version" },
        { "audit.db", true, "PRAGMA application_id = 1297043284",
          "not a record of this program" },
        { "audit.db", false, "CREATE TABLE x (y)", "not a record of this program" },
        { "audit.db", true,
          "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM body; END",
          "not a record of this program" },
        { "moot.db", true, "DROP TABLE item; CREATE VIEW item AS SELECT * FROM token",
          "not a store of this program" },
    };

    FOR_EACH_CASE(c, cases) {
        struct store *store = NULL;
        struct stage stage;
        char *why = NULL;

        stage_init(&stage);
        if (c->is_ours)
            store_close(stage_open(&stage));
        tamper(stage_path(&stage, c->name), c->sql);
        CHECK_INT(store_open(&stage.setup, &store, &why), ERR_CONFLICT);
        CHECK(store == NULL);
        CHECK(why && strstr(why, c->why) && strstr(why, stage_path(&stage, c->name)));
        free(why);
        CHECK_INT(store_open(&stage.setup, &store, NULL), ERR_CONFLICT);
        stage_done(&stage);
    }
}

TEST(what_cannot_be_opened_is_explained)
{
    struct store *store = NULL;
    struct stage stage;
    char *why = NULL;
    int fd;

    CHECK_INT(store_open(&(struct store_setup){ .data = "/nonexistent" }, &store, &why),
              ERR_IO);
    CHECK_STR(str_of(why), S("/nonexistent/moot.db: No such file or directory"));
    free(why);
    stage_init(&stage);
    fd = open(stage_path(&stage, "moot.db"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(write(fd, "this is no database, but it is long enough to be one", 52), 52);
    (void)close(fd);
    CHECK_INT(store_open(&stage.setup, &store, &why), ERR_IO);
    CHECK(why && strstr(why, "not a database"));
    free(why);
    CHECK(store == NULL);
    stage_done(&stage);
}

/* A data directory of the first version, as its migration made it. */
TEST(an_old_file_is_brought_to_our_version)
{
    struct stage stage;
    struct store *store;
    struct seen seen;

    stage_init(&stage);
    tamper(stage_path(&stage, "moot.db"),
           "PRAGMA application_id = 1297043284;"
           "CREATE TABLE token ("
           "  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) > 0),"
           "  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),"
           "  id TEXT NOT NULL, topics TEXT NOT NULL, capabilities TEXT NOT NULL,"
           "  profile TEXT NOT NULL, type TEXT NOT NULL,"
           "  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),"
           "  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL"
           ") STRICT, WITHOUT ROWID;"
           "INSERT INTO token VALUES ('old', zeroblob(32), CAST(x'616c00696365' AS TEXT),"
           " '[\"*\"]', '[\"chat\"]', '', 'human', 1, 1700000000000, 0);"
           "PRAGMA user_version = 1");
    store = stage_open(&stage);
    CHECK_STR(names_of(store, &seen), S("old "));
    store_close(store);
    CHECK_STR(items_of(&stage, STORE_GRANT), S(""));
    stage_done(&stage);
}
