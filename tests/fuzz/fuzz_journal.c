/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of an orchestrator. Whatever stands in it, an orchestrator that reads it
 * lives on; what can be read can be compacted, and says the same afterwards; what is
 * torn at any place is read up to there.
 */
#include <stdint.h>
#include <stdlib.h>

#include "orchestrate/orchestrator.h"

enum { TEXT = 1 << 22 };
#define NOW 1'800'000'000'000ULL

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void act(void *user [[maybe_unused]], const struct act *act [[maybe_unused]])
{
}

static bool is_here(void *user [[maybe_unused]], struct str id [[maybe_unused]])
{
    return true;
}

static void load(void *user, const struct journal_entry *entry)
{
    orchestrator_load(user, entry);
}

/* What it knows of people's decisions. */
static void read_all(struct str text, struct buf *stats, enum err *ret)
{
    struct learner_options learner = learner_options_default();
    struct orchestrator *o = orchestrator_new(
        &(struct orchestrator_options){ .topic = S("room"), .learner = learner },
        &(struct orchestrator_ops){ act, is_here, NULL });
    size_t line;

    *ret = journal_replay(text, &(struct journal_reading){ S("room"), load, o }, &line);
    orchestrator_stats(o, NOW, stats);
    orchestrator_tick(o, NOW);
    orchestrator_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct journal_terms terms = { .topic = S("room"),
                                   .now_ms = NOW,
                                   .window_ms = UINT64_MAX / 4,
                                   .rejections_ms = UINT64_MAX / 4,
                                   .max = TEXT };
    struct buf before, after, shorter;
    enum err err, again;

    buf_init(&before, TEXT);
    buf_init(&after, TEXT);
    buf_init(&shorter, TEXT);
    read_all(text, &before, &err);
    if (err == OK && size) {
        expect(journal_compact(text, &terms, &shorter) == OK);
        read_all(buf_str(&shorter), &after, &again);
        expect(again == OK);
        expect(str_eq(buf_str(&before), buf_str(&after)));
        read_all(str_slice(text, 0, size / 2), &after, &again);
        expect(again == OK);
    }
    buf_done(&before);
    buf_done(&after);
    buf_done(&shorter);
    return 0;
}
