/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, whose record it is, and what the writer does to bodies. */
#include <fcntl.h>
#include <sys/stat.h>

#include "audit/redact.h"
#include "base/xalloc.h"
#include "store_stage.h"

static void write_text(const struct stage *stage, const char *name, const char *text)
{
    CLEANUP(fd_closep)
    int fd =
        open(stage_path(stage, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK_INT(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Opening fails with a text that has this in it. */
static void check_refused(const struct stage *stage, enum err err, const char *why)
{
    struct store *store = NULL;
    char *said = NULL;

    CHECK_INT(store_open(&stage->setup, &store, &said), err);
    CHECK(store == NULL);
    CHECK(said && strstr(said, why));
    free(said);
}

TEST(keys_are_made_once)
{
    static const char *const names[] = { "audit.key", "redact.key" };
    struct store_keys first = {}, second = {}, other = {};
    struct stage stage, elsewhere;

    stage_init(&stage);
    stage_init(&elsewhere);
    CHECK_INT(store_keys_open(stage.folder, NULL, &first, NULL), OK);
    CHECK_INT(store_keys_open(stage.folder, NULL, &second, NULL), OK);
    CHECK_INT(store_keys_open(elsewhere.folder, NULL, &other, NULL), OK);
    CHECK(memcmp(&first, &second, sizeof(first)) == 0);
    CHECK(memcmp(&first.signing, &other.signing, sizeof(first.signing)) != 0);
    CHECK(memcmp(first.redacting, other.redacting, SHA256_BYTES) != 0);
    CHECK(memcmp(first.redacting, first.signing.secret, SHA256_BYTES) != 0);
    FOR_EACH_CASE(name, names) {
        struct stat status;

        CHECK_INT(stat(stage_path(&stage, *name), &status), 0);
        CHECK_INT(status.st_mode & 0777, 0600);
    }
    stage_done(&stage);
    stage_done(&elsewhere);
}

TEST(what_is_no_key_is_not_replaced)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        { "audit.key", "" },
        { "audit.key", "xx\n" },
        { "redact.key",
          "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" },
        { "redact.key",
          "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n\n" },
        { "audit.key",
          "0011223344556677889XXabbccddeeff00112233445566778899aabbccddeeff\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;

        stage_init(&stage);
        write_text(&stage, c->name, c->text);
        check_refused(&stage, ERR_IO, "this is no key");
        check_refused(&stage, ERR_IO, c->name);
        stage_done(&stage);
    }
}

/* A record is continued with its own key alone. */
TEST(another_key_does_not_continue_the_record)
{
    struct stage stage;

    stage_init(&stage);
    store_close(stage_open(&stage));
    (void)unlink(stage_path(&stage, "audit.key"));
    check_refused(&stage, ERR_CONFLICT, "audit.key is missing");
    CHECK_INT(access(stage_path(&stage, "audit.key"), F_OK), -1);
    write_text(&stage, "audit.key",
               "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
    check_refused(&stage, ERR_CONFLICT, "is not the key of this record");
    stage_done(&stage);
}

static void read_text(const struct stage *stage, const char *name, char ret[static 66])
{
    CLEANUP(fd_closep) int fd = open(stage_path(stage, name), O_RDONLY | O_CLOEXEC);

    CHECK_INT(read(fd, ret, 66), 65);
}

/* What audit.check says of a pair is believed for that pair alone. */
TEST(that_key_and_record_belong_together_is_known_without_computing_it)
{
    static const uint8_t foreign[ED25519_PUBLIC] = { 1 };
    struct store_keys made = {}, opened = {};
    char kept[66], again[66];
    struct stat status;
    struct stage stage;

    stage_init(&stage);
    CHECK_INT(store_keys_open(stage.folder, NULL, &made, NULL), OK);
    CHECK_INT(stat(stage_path(&stage, "audit.check"), &status), 0);
    CHECK_INT(status.st_mode & 0777, 0600);
    read_text(&stage, "audit.check", kept);
    CHECK_INT(store_keys_open(stage.folder, made.signing.public, &opened, NULL), OK);
    CHECK(memcmp(&made, &opened, sizeof(made)) == 0);
    /* Another public key is not taken over, whatever the file says. */
    CHECK_INT(store_keys_open(stage.folder, foreign, &opened, NULL), OK);
    CHECK(memcmp(&made, &opened, sizeof(made)) == 0);
    /* What is broken, of another key or gone is made again. */
    write_text(&stage, "audit.check", "xx\n");
    CHECK_INT(store_keys_open(stage.folder, made.signing.public, &opened, NULL), OK);
    CHECK(memcmp(&made, &opened, sizeof(made)) == 0);
    read_text(&stage, "audit.check", again);
    CHECK(memcmp(kept, again, 65) == 0);
    write_text(&stage, "audit.key",
               "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
    CHECK_INT(store_keys_open(stage.folder, made.signing.public, &opened, NULL), OK);
    CHECK(memcmp(made.signing.public, opened.signing.public, ED25519_PUBLIC) != 0);
    read_text(&stage, "audit.check", again);
    CHECK(memcmp(kept, again, 65) != 0);
    stage_done(&stage);
}

TEST(the_public_key_lies_beside_the_record)
{
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    struct store_keys keys;
    struct stage stage;
    char *why = NULL;
    struct walk walk;

    stage_init(&stage);
    CHECK_INT(
        store_public_read(stage_path(&stage, "audit.pub"), &origin, installation, NULL),
        ERR_NOT_FOUND);
    store_close(stage_open(&stage));
    for (int round = 0; round < 2; round++) {
        CHECK_INT(store_public_read(stage_path(&stage, "audit.pub"), &origin,
                                    installation, NULL),
                  OK);
        CHECK_INT(store_keys_open(stage.folder, NULL, &keys, NULL), OK);
        CHECK(memcmp(origin.public_key, keys.signing.public, ED25519_PUBLIC) == 0);
        walk_all(&stage, &walk);
        CHECK(memcmp(origin.public_key, walk.public_key, ED25519_PUBLIC) == 0);
        CHECK(memcmp(walk.begin.hash, walk.head.hash, SHA256_BYTES) == 0);
        /* What somebody else put there does not stay. */
        write_text(&stage, "audit.pub", "{}\n");
        CHECK_INT(store_public_read(stage_path(&stage, "audit.pub"), &origin,
                                    installation, &why),
                  ERR_IO);
        CHECK(why && strstr(why, "no public key"));
        free(TAKE(why));
        store_close(stage_open(&stage));
    }
    stage_done(&stage);
}

/* --- bodies --- */

static bool write_body(void *user, const struct audit_record *record)
{
    buf_put(user, record->body.ptr ? record->body : S("-"));
    buf_putc(user, '\n');
    return true;
}

static struct store_audit *redact_path(const struct stage *stage, struct str path)
{
    struct store_audit *audit = xcalloc(1, sizeof(*audit));
    struct store_keys keys;
    const char *why;
    struct str bad;

    arena_init(&audit->arena, 4096);
    CHECK_INT(store_keys_open(stage->folder, NULL, &keys, NULL), OK);
    CHECK_INT(
        audit_redactor_new((struct str_list){ &path, 1 },
                           (struct str){ (const char *)keys.redacting, SHA256_BYTES },
                           &audit->redactor, &bad, &why),
        OK);
    return audit;
}

static void hand_body(struct store *store, struct handed *handed, struct loop *loop,
                      struct str body)
{
    handed_init(handed, loop);
    audit_batch_add(&handed->batch.records, &(struct audit_record){ .body = body });
    store_commit(store, &handed->batch);
}

/* What was handed over before settings change is recorded by the old ones. */
TEST(bodies_are_redacted_in_order)
{
    struct str body = S("{\"a\":\"secret\",\n\"b\":\"open\"}");
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    struct loop *loop = loop_new();
    struct engine *engine = NULL;
    struct handed handed[4];
    struct stage stage;
    struct store *store;
    struct buf out;

    stage_init(&stage);
    store = stage_open(&stage);
    store_set_audit(store, redact_path(&stage, S("b"))); /* there is no writer yet */
    hand_body(store, &handed[0], loop, body);
    store_set_audit(store, redact_path(&stage, S("a")));
    hand_body(store, &handed[1], loop, body);
    store_set_audit(store, NULL);
    hand_body(store, &handed[2], loop, body);
    hand_body(store, &handed[3], loop, (struct str){});
    store_close(store);
    buf_init(&out, 4096);
    CHECK_INT(sqlite_engine.open(&stage.setup, ENGINE_READER, NULL, &engine, NULL), OK);
    CHECK_INT(sqlite_engine.read(engine, &query, write_body, &out), OK);
    sqlite_engine.close(engine);
    {
        struct str rest = buf_str(&out), line = str_cut(&rest, '\n');

        CHECK(str_starts(line, S("{\"a\":\"secret\", \"b\":\"hmac-sha256:")));
        line = str_cut(&rest, '\n');
        CHECK(str_starts(line, S("{\"a\":\"hmac-sha256:")));
        CHECK(str_ends(line, S("\"b\":\"open\"}")));
        CHECK_STR(rest, S("{\"a\":\"secret\", \"b\":\"open\"}\n-\n"));
    }
    for (int i = 0; i < 4; i++) {
        wait_for(loop, &handed[i].is_done);
        store_batch_done(&handed[i].batch);
    }
    buf_done(&out);
    loop_free(loop);
    stage_done(&stage);
}
