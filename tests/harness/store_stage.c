/* SPDX-License-Identifier: Apache-2.0 */
#include "store_stage.h"

#include <dirent.h>
#include <stdatomic.h>

void stage_init(struct stage *stage)
{
    *stage = (struct stage){ .folder = "/tmp/test_store.XXXXXX" };
    CHECK(mkdtemp(stage->folder) != NULL);
    stage->setup.data = stage->folder;
}

void stage_done(struct stage *stage)
{
    DIR *folder = opendir(stage->folder);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    CHECK_INT(rmdir(stage->folder), 0);
}

const char *stage_path(const struct stage *stage, const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", stage->folder, name);
    return path;
}

struct store *stage_open(const struct stage *stage)
{
    struct store *store = NULL;
    char *why = NULL;

    CHECK_INT(store_open(&stage->setup, &store, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    return store;
}

static void on_handed(struct store_batch *batch)
{
    CONTAINER_OF(batch, struct handed, batch)->is_done = true;
}

void handed_init(struct handed *handed, struct loop *loop)
{
    handed->is_done = false;
    store_batch_init(&handed->batch, loop);
    handed->batch.done = on_handed;
}

void wait_for(struct loop *loop, const bool *is_done)
{
    while (!*is_done)
        loop_turn(loop, 1000);
}

void put_item(struct store_batch *batch, enum store_section section, const char *topic,
              const char *key, const char *value)
{
    store_batch_put(batch, &(struct store_item){ section, str_of(topic), str_of(key),
                                                 str_of(value) });
}

void remove_item(struct store_batch *batch, enum store_section section, const char *topic,
                 const char *key)
{
    store_batch_remove(batch,
                       &(struct store_item){ section, str_of(topic), str_of(key), {} });
}

void note_records(struct store_batch *batch, const char *topic, int count)
{
    static atomic_int last;
    char id[32], body[64];

    for (int i = 0; i < count; i++) {
        int number = atomic_fetch_add(&last, 1) + 1;
        struct audit_record record = { .at_ms = 1700000000000 + (uint64_t)number % 7,
                                       .event = (enum audit_event)(number % 3),
                                       .topic = str_of(topic),
                                       .participant = S("ann"),
                                       .kind = S("chat"),
                                       .correlation = S("c"),
                                       .verdict = S("allowed"),
                                       .by = S("*") };

        (void)snprintf(id, sizeof(id), "%d", number);
        (void)snprintf(body, sizeof(body), "{\"text\":\"number %d\"}", number);
        record.id = str_of(id);
        if (number % 3)
            record.body = str_of(body);
        audit_batch_add(&batch->records, &record);
    }
}

void commit_records(struct store *store, struct loop *loop, const char *topic, int count)
{
    struct handed handed;

    handed_init(&handed, loop);
    note_records(&handed.batch, topic, count);
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
}

static void write_item(void *user, const struct store_item *item)
{
    buf_putf(user, STR_FMT "/" STR_FMT "=" STR_FMT " ", STR_ARG(item->topic),
             STR_ARG(item->key), STR_ARG(item->value));
}

struct str items_of(const struct stage *stage, enum store_section section)
{
    static struct buf out = { .max = 1 << 20 };
    struct store *store = stage_open(stage);

    buf_clear(&out);
    CHECK_INT(store_item_each(store, section, write_item, &out), OK);
    store_close(store);
    return buf_str(&out);
}

static bool walk_record(void *user, const struct audit_record *record)
{
    struct walk *walk = user;
    struct audit_record sealed = *record;
    uint8_t hash[SHA256_BYTES];

    CHECK_INT(record->seq, walk->head.seq + 1);
    CHECK(record->at_ms >= walk->head.at_ms);
    audit_hash(&walk->head, record, hash);
    CHECK(memcmp(hash, record->hash, sizeof(hash)) == 0);
    if (record->body.ptr) {
        audit_seal_body(&sealed);
        CHECK(memcmp(sealed.body_hash, record->body_hash, sizeof(hash)) == 0);
        walk->bodies++;
    }
    walk->head.seq = record->seq;
    walk->head.at_ms = record->at_ms;
    memcpy(walk->head.hash, hash, sizeof(hash));
    walk->count++;
    return true;
}

static bool walk_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct walk *walk = user;

    CHECK(audit_checkpoint_holds(checkpoint, walk->installation, walk->public_key));
    CHECK(checkpoint->head.seq > walk->last_signed.seq);
    walk->last_signed = checkpoint->head;
    walk->checkpoints++;
    return true;
}

void walk_all(const struct stage *stage, struct walk *walk)
{
    const struct engine_ops *ops = engine_for(&stage->setup);
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    struct engine *engine = NULL;
    struct audit_head head;
    uint64_t signed_seq;
    char *why = NULL;

    *walk = (struct walk){};
    CHECK_INT(ops->open(&stage->setup, ENGINE_READER, NULL, &engine, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    CHECK_INT(ops->origin(engine, &origin, installation), OK);
    walk->installation = origin.installation;
    memcpy(walk->public_key, origin.public_key, sizeof(walk->public_key));
    audit_chain_begin(origin.installation, &walk->begin);
    walk->head = walk->begin;
    CHECK_INT(ops->read(engine, &query, walk_record, walk), OK);
    CHECK_INT(ops->checkpoints(engine, 0, walk_checkpoint, walk), OK);
    CHECK_INT(ops->head(engine, &head, &signed_seq), OK);
    CHECK_INT(head.seq, walk->head.seq);
    CHECK_INT(signed_seq, walk->last_signed.seq);
    walk->installation = (struct str){};
    ops->close(engine);
}
