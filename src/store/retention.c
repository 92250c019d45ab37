/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies that are kept no longer. At start, when settings change, and then every minute,
 * the rules are gone through in steps; what a step removes, and the record that tells of
 * it, are one transaction.
 */
#include "audit/removal.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/store_priv.h"

enum { STEP_BODIES = 1000, PAUSE_MS = 60'000, RECORD_BYTES = 1 << 20 };

static const struct str reasons[] = {
    [RETAIN_AGE] = S("age"),
    [RETAIN_SIZE] = S("size"),
};

bool store_has_retention(const struct store_audit *audit)
{
    for (size_t i = 0; audit && i < audit->retention_count; i++)
        if (audit->retention[i].age_ms || audit->retention[i].bytes)
            return true;
    return false;
}

void store_retention_begin(struct store *store)
{
    struct store_audit *audit = store->audit;
    struct store_retaining *retaining = &store->retaining;
    struct str *named;

    *retaining = (struct store_retaining){ .due_ms = UINT64_MAX };
    if (!store_has_retention(audit))
        return;
    retaining->due_ms = 0;
    named = arena_alloc(&audit->arena, audit->retention_count * sizeof(*named));
    for (size_t i = 0; i < audit->retention_count; i++)
        if (audit->retention[i].topic.len)
            named[retaining->named_count++] = audit->retention[i].topic;
    retaining->named = named;
}

void store_retention_postpone(struct store *store)
{
    store->retaining.rule = 0;
    store->retaining.reason = RETAIN_AGE;
    store->retaining.due_ms = clock_mono_ms() + PAUSE_MS;
}

/* Goes on with the next rule, or after the last one later. */
static void next_rule(struct store *store)
{
    struct store_retaining *retaining = &store->retaining;

    if (retaining->reason == RETAIN_AGE) {
        retaining->reason = RETAIN_SIZE;
        return;
    }
    retaining->reason = RETAIN_AGE;
    if (++retaining->rule == store->audit->retention_count)
        store_retention_postpone(store);
}

/* What the rule at hand wants to go; false: nothing. */
static bool make_strip(const struct store *store, uint64_t now_ms,
                       struct engine_strip *ret)
{
    const struct store_retaining *retaining = &store->retaining;
    const struct store_retention *rule = &store->audit->retention[retaining->rule];

    *ret = (struct engine_strip){ .topic = rule->topic, .limit = STEP_BODIES };
    if (!rule->topic.len) {
        ret->others = retaining->named;
        ret->other_count = retaining->named_count;
    }
    if (retaining->reason == RETAIN_SIZE) {
        ret->max_bytes = rule->bytes;
        return rule->bytes;
    }
    if (!rule->age_ms || rule->age_ms >= now_ms)
        return false;
    ret->before_ms = now_ms - rule->age_ms;
    return true;
}

static void write_removal(const struct store *store, const struct engine_strip *strip,
                          const struct engine_stripped *stripped, struct buf *out)
{
    struct audit_removal removal = { .count = stripped->count,
                                     .bytes = stripped->bytes,
                                     .first_seq = stripped->first_seq,
                                     .last_seq = stripped->last_seq,
                                     .reason = reasons[store->retaining.reason] };

    if (strip->topic.len)
        removal.topic = strip->topic;
    else
        removal.except = (struct str_list){ strip->others, strip->other_count };
    buf_clear(out);
    audit_removal_write(&removal, out);
}

enum err store_retention_step(struct store *store, struct audit_record *ret,
                              struct buf *body)
{
    struct engine *engine = store->engine;
    struct engine_stripped stripped = {};
    uint64_t now_ms = clock_wall_ms();
    struct engine_strip strip;
    enum err err = OK;

    *ret = (struct audit_record){};
    if (make_strip(store, now_ms, &strip))
        err = engine->ops->strip(engine, &strip, &stripped);
    if (err)
        return err;
    if (stripped.count) {
        write_removal(store, &strip, &stripped, body);
        *ret = (struct audit_record){ .at_ms = now_ms,
                                      .event = AUDIT_RETENTION,
                                      .topic = strip.topic,
                                      .kind = reasons[store->retaining.reason],
                                      .verdict = S("allowed"),
                                      .body = buf_str(body) };
    }
    store->retaining.stripped = stripped;
    store->retaining.stripped_topic = strip.topic;
    if (!stripped.has_more)
        next_rule(store);
    return OK;
}

void store_retention_tell(const struct store *store)
{
    const struct engine_stripped *stripped = &store->retaining.stripped;

    log_info("record.strip", "topic=%s bodies=%llu bytes=%llu last_seq=%llu",
             LOG_TEXT(store->retaining.stripped_topic),
             (unsigned long long)stripped->count, (unsigned long long)stripped->bytes,
             (unsigned long long)stripped->last_seq);
}
