/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are cut, or damaged anywhere: an error, what came before it, and no crash.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "store_stage.h"

enum { RECORDS = 400, PAGE = 4096 };

static struct str read_file(const char *path)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    char *bytes;

    CHECK_INT(fstat(fd, &status), 0);
    bytes = xmalloc((size_t)status.st_size);
    CHECK_INT(read(fd, bytes, (size_t)status.st_size), status.st_size);
    return (struct str){ bytes, (size_t)status.st_size };
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK_INT(write(fd, bytes, size), (ssize_t)size);
}

/* A closed store with a record; returns audit.db as it is. */
static struct str make_store(const struct stage *stage)
{
    struct loop *loop = loop_new();
    struct store *store = stage_open(stage);

    commit_records(store, loop, "room", RECORDS);
    store_close(store);
    loop_free(loop);
    return read_file(stage_path(stage, "audit.db"));
}

static bool note_seq(void *user, const struct audit_record *record)
{
    uint64_t *last = user;

    CHECK(record->seq > *last);
    *last = record->seq;
    return true;
}

static bool note_checkpoint(void *, const struct audit_checkpoint *)
{
    return true;
}

/* Reads all there is. ERR_IO comes with a reason. */
static enum err read_all(const struct stage *stage, uint64_t *ret_last)
{
    const struct engine_ops *ops = engine_for(&stage->setup);
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    struct audit_head head;
    struct engine *engine;
    uint64_t signed_seq;
    char *why = NULL;
    enum err err = ops->open(&stage->setup, ENGINE_READER, NULL, &engine, &why);

    *ret_last = 0;
    if (err) {
        CHECK(why != NULL);
        free(why);
        return err;
    }
    err = ops->read(engine, &query, note_seq, ret_last);
    CHECK(err == OK || (err == ERR_IO && engine->problem[0]));
    (void)ops->origin(engine, &origin, installation);
    (void)ops->head(engine, &head, &signed_seq);
    (void)ops->checkpoints(engine, 0, note_checkpoint, NULL);
    ops->close(engine);
    return err;
}

/* Whatever a writer makes of it, it answers. */
static void write_on(const struct stage *stage)
{
    struct loop *loop = loop_new();
    struct store *store = NULL;
    struct handed handed;

    if (store_open(&stage->setup, &store, NULL) == OK) {
        handed_init(&handed, loop);
        note_records(&handed.batch, "room", 3);
        store_commit(store, &handed.batch);
        store_close(store);
        wait_for(loop, &handed.is_done);
        store_batch_done(&handed.batch);
    }
    loop_free(loop);
}

TEST(a_file_that_is_cut_is_an_error)
{
    struct stage stage;
    struct str whole;
    uint64_t last;

    stage_init(&stage);
    whole = make_store(&stage);
    for (size_t size = 1; size < whole.len; size += size < PAGE ? 101 : 1237) {
        write_file(stage_path(&stage, "audit.db"), whole.ptr, size);
        CHECK(read_all(&stage, &last) != OK);
        CHECK(last < RECORDS);
    }
    write_file(stage_path(&stage, "audit.db"), whole.ptr, whole.len);
    CHECK_INT(read_all(&stage, &last), OK);
    CHECK_INT(last, RECORDS);
    free((void *)(uintptr_t)whole.ptr);
    stage_done(&stage);
}

TEST(a_damaged_page_is_an_error_at_worst)
{
    static const unsigned char fills[] = { 0x00, 0xff, 0x0d, 0x80 };
    struct stage stage;
    struct str whole;
    char *copy;
    uint64_t last;
    unsigned failed = 0;

    stage_init(&stage);
    whole = make_store(&stage);
    copy = xmalloc(whole.len);
    for (size_t page = 0; page < whole.len / PAGE; page++) {
        for (size_t i = 0; i < COUNT(fills); i++) {
            memcpy(copy, whole.ptr, whole.len);
            memset(copy + page * PAGE, fills[i], i % 2 ? PAGE : 64);
            write_file(stage_path(&stage, "audit.db"), copy, whole.len);
            failed += read_all(&stage, &last) != OK;
            write_on(&stage);
            (void)unlink(stage_path(&stage, "audit.db-wal"));
            (void)unlink(stage_path(&stage, "audit.db-shm"));
        }
    }
    CHECK(failed > 2 * whole.len / PAGE);
    free(copy);
    free((void *)(uintptr_t)whole.ptr);
    stage_done(&stage);
}

/* Single bytes, from a generator that always says the same. */
TEST(damaged_bytes_are_an_error_at_worst)
{
    struct stage stage;
    struct str whole;
    uint64_t random = 88172645463325252, last;
    char *copy;

    stage_init(&stage);
    whole = make_store(&stage);
    copy = xmalloc(whole.len);
    for (int round = 0; round < 600; round++) {
        memcpy(copy, whole.ptr, whole.len);
        for (int i = 0; i < 1 + round % 20; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            copy[random % whole.len] = (char)(random >> 32);
        }
        write_file(stage_path(&stage, "audit.db"), copy, whole.len);
        (void)read_all(&stage, &last);
    }
    free(copy);
    free((void *)(uintptr_t)whole.ptr);
    stage_done(&stage);
}

/* Where records were removed that had been signed, nothing is written in their place. */
TEST(a_record_that_was_cut_is_not_continued)
{
    static const char *const cuts[] = {
        "DELETE FROM record WHERE seq > 390",
        "DELETE FROM record",
    };
    struct stage stage;
    struct str whole;

    stage_init(&stage);
    whole = make_store(&stage);
    for (size_t i = 0; i < COUNT(cuts); i++) {
        struct store *store = NULL;
        CLEANUP(xfreep) char *why = NULL;
        sqlite3 *db = NULL;

        CHECK_INT(sqlite3_open(stage_path(&stage, "audit.db"), &db), SQLITE_OK);
        CHECK_INT(sqlite3_exec(db, cuts[i], NULL, NULL, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_close(db), SQLITE_OK);
        CHECK_INT(store_open(&stage.setup, &store, &why), ERR_CONFLICT);
        CHECK(why && strstr(why, "was signed up to 400"));
    }
    free((void *)(uintptr_t)whole.ptr);
    stage_done(&stage);
}
