/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the record of a data directory, whether a server uses it or not: a line for each
 * record as audit/line.h has it, then {"verify":…}: how many records hold, and what is
 * wrong with the first that does not.
 *
 *     audit_probe DATA [AFTER]      only records behind this number, all are verified
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/line.h"
#include "audit/verify.h"
#include "store/engine.h"

struct probe {
    struct audit_verifier *verifier;
    uint64_t after;
    struct buf line;
    struct buf checkpoints; /* struct audit_checkpoint, in their order */
    size_t at;              /* the next of them */
};

/* Those that stand behind this record. */
static void verify_checkpoints(struct probe *probe, uint64_t seq)
{
    struct audit_checkpoint next;

    while (probe->at < probe->checkpoints.len) {
        memcpy(&next, probe->checkpoints.ptr + probe->at, sizeof(next));
        if (next.head.seq > seq)
            return;
        (void)audit_verify_checkpoint(probe->verifier, &next);
        probe->at += sizeof(next);
    }
}

static bool on_record(void *user, const struct audit_record *record)
{
    struct probe *probe = user;

    (void)audit_verify_record(probe->verifier, record);
    verify_checkpoints(probe, record->seq);
    if (record->seq <= probe->after)
        return true;
    buf_clear(&probe->line);
    audit_record_write(record, &probe->line);
    (void)fwrite(probe->line.ptr, 1, probe->line.len, stdout);
    return true;
}

static bool on_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct probe *probe = user;

    buf_put(&probe->checkpoints,
            (struct str){ (const char *)checkpoint, sizeof(*checkpoint) });
    return true;
}

static void print_report(struct audit_verifier *verifier)
{
    struct audit_report report;

    audit_verify_end(verifier, &report);
    printf("{\"verify\":{\"records\":%llu,\"checkpoints\":%llu,\"uncovered\":%llu,"
           "\"damaged\":%s,\"bad_seq\":%llu,\"what\":\"%s\"}}\n",
           (unsigned long long)report.records, (unsigned long long)report.checkpoints,
           (unsigned long long)report.uncovered, report.is_damaged ? "true" : "false",
           (unsigned long long)report.bad_seq, report.what);
}

static enum err read_all(struct engine *engine, struct probe *probe)
{
    struct audit_query all = { .order = AUDIT_OLDEST_FIRST };
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    enum err err = engine->ops->origin(engine, &origin, installation);

    if (err)
        return err;
    probe->verifier = audit_verifier_new(origin.installation, origin.public_key, NULL);
    err = engine->ops->checkpoints(engine, 0, on_checkpoint, probe);
    if (!err)
        err = engine->ops->read(engine, &all, on_record, probe);
    verify_checkpoints(probe, UINT64_MAX);
    if (!err)
        print_report(probe->verifier);
    audit_verifier_free(probe->verifier);
    return err;
}

int main(int argc, char **argv)
{
    struct store_setup setup = { .data = argc > 1 ? argv[1] : "." };
    struct probe probe = { .after = argc > 2 ? strtoull(argv[2], NULL, 10) : 0 };
    struct engine *engine = NULL;
    char *why = NULL;
    enum err err = engine_for(&setup)->open(&setup, ENGINE_READER, NULL, &engine, &why);

    buf_init(&probe.line, SIZE_MAX / 2);
    buf_init(&probe.checkpoints, SIZE_MAX / 2);
    if (!err)
        err = read_all(engine, &probe);
    if (err)
        fprintf(stderr, "audit_probe: %s: %s\n", err_name(err),
                why ? why : (engine ? engine->problem : ""));
    if (engine)
        engine->ops->close(engine);
    buf_done(&probe.line);
    buf_done(&probe.checkpoints);
    free(why);
    return err ? 1 : 0;
}
