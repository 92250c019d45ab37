/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: from a loop to the pool, and without a store. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "store/engine.h"
#include "store/reader_pool.h"
#include "store/record.h"
#include "store/store_priv.h"

/* --- from a loop --- */

void store_read_init(struct store_read *read, struct loop *loop)
{
    *read = (struct store_read){ .loop = loop };
    audit_batch_init(&read->page);
}

void store_read_done(struct store_read *read)
{
    audit_batch_done(&read->page);
    free(read->checkpoints);
}

void store_query(struct store *store, struct store_read *read)
{
    reader_pool_ask(store->readers, read);
}

/* --- without a store --- */

struct store_reader {
    struct engine *engine;
};

enum err store_reader_open(const struct store_setup *setup, const char *file,
                           struct store_reader **ret, char **ret_why)
{
    const struct engine_ops *ops = file ? &sqlite_engine : engine_for(setup);
    struct engine *engine = NULL;
    enum err err;

    if (ret_why)
        *ret_why = NULL;
    if (!ops)
        return store_fail(ERR_CONFLICT, ret_why, "no such kind of store");
    err = ops->open(setup, ENGINE_READER, file, &engine, ret_why);
    if (err)
        return err;
    *ret = xcalloc(1, sizeof(**ret));
    (*ret)->engine = engine;
    return OK;
}

void store_reader_close(struct store_reader *reader)
{
    if (!reader)
        return;
    reader->engine->ops->close(reader->engine);
    free(reader);
}

const char *store_reader_problem(const struct store_reader *reader)
{
    return reader->engine->problem;
}

enum err
store_reader_records(struct store_reader *reader, const struct audit_query *query,
                     bool (*on_record)(void *user, const struct audit_record *record),
                     void *user)
{
    return reader->engine->ops->read(reader->engine, query, on_record, user);
}

enum err store_reader_checkpoints(struct store_reader *reader, uint64_t after_seq,
                                  bool (*on_checkpoint)(void *user,
                                                        const struct audit_checkpoint *),
                                  void *user)
{
    return reader->engine->ops->checkpoints(reader->engine, after_seq, on_checkpoint,
                                            user);
}

enum err store_reader_head(struct store_reader *reader, struct audit_head *ret)
{
    uint64_t unused;

    return reader->engine->ops->head(reader->engine, ret, &unused);
}

enum err store_reader_origin(struct store_reader *reader, struct audit_origin *ret,
                             char installation[static AUDIT_INSTALLATION])
{
    return reader->engine->ops->origin(reader->engine, ret, installation);
}
