/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/record_rules.h"

#include <assert.h>

#include "audit/redact.h"
#include "base/xalloc.h"

/* Each alone, so that the one at fault has its place in the file. */
static enum err check_path(const struct config *config, size_t at,
                           struct config_problem *problem)
{
    const struct config_strs *redact = &config->audit.redact;
    struct audit_redactor *redactor = NULL;
    const char *why = "";
    struct str bad;

    if (audit_redactor_new((struct str_list){ &redact->items[at], 1 }, S(""), &redactor,
                           &bad, &why))
        return config_fail(config, redact->marks[at], problem,
                           "audit.redact: the path \"" STR_FMT "\": %s",
                           STR_ARG(redact->items[at]), why);
    audit_redactor_free(redactor);
    return OK;
}

enum err record_rules_check(const struct config *config, struct config_problem *problem)
{
    const struct config_strs *redact = &config->audit.redact;
    enum err err = OK;

    if (redact->count > AUDIT_MAX_PATHS)
        return config_fail(config, redact->marks[AUDIT_MAX_PATHS], problem,
                           "audit.redact: there are more than %d paths", AUDIT_MAX_PATHS);
    for (size_t i = 0; i < redact->count && !err; i++)
        err = check_path(config, i, problem);
    return err;
}

static struct store_retention retention_of(struct arena *arena,
                                           const struct config_topic *topic)
{
    return (struct store_retention){ .topic = arena_str(arena, topic->name),
                                     .age_ms = topic->audit_age_ms,
                                     .bytes = topic->audit_bytes };
}

struct store_audit *record_rules_new(const struct config *config, struct str key)
{
    const struct config_strs *redact = &config->audit.redact;
    const struct config_topics *topics = &config->topics;
    struct store_audit *audit = xcalloc(1, sizeof(*audit));
    const char *why;
    struct str bad;
    enum err err;

    arena_init(&audit->arena, SIZE_MAX); /* a part of what is in the configuration */
    err = audit_redactor_new((struct str_list){ redact->items, redact->count }, key,
                             &audit->redactor, &bad, &why);
    assert(!err);
    (void)err;
    audit->retention =
        arena_alloc(&audit->arena, (topics->named.count + 1) * sizeof(*audit->retention));
    for (size_t i = 0; i < topics->named.count; i++)
        audit->retention[audit->retention_count++] =
            retention_of(&audit->arena, &topics->named.items[i]);
    audit->retention[audit->retention_count++] =
        retention_of(&audit->arena, &topics->defaults);
    return audit;
}
