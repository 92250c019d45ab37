/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as bytes. One walk over its members serves both directions, so that they cannot
 * differ; numbers are 8 bytes as the machine has them, texts and lists have their length
 * before them.
 */
#include <string.h>

#include "base/cleanup.h"
#include "sandbox/sandbox_priv.h"

struct wire {
    struct sandbox_plan *plan;
    struct buf *out; /* NULL: read from `rest` */
    struct str rest;
    bool is_bad;
};

static void carry_u64(struct wire *wire, uint64_t *number)
{
    if (wire->out) {
        buf_put(wire->out, (struct str){ (const char *)number, sizeof(*number) });
        return;
    }
    *number = 0;
    if (wire->rest.len < sizeof(*number)) {
        wire->is_bad = true;
        return;
    }
    memcpy(number, wire->rest.ptr, sizeof(*number));
    wire->rest = str_slice(wire->rest, sizeof(*number), wire->rest.len);
}

static void carry_size(struct wire *wire, size_t *number)
{
    uint64_t wide = *number;

    carry_u64(wire, &wide);
    *number = wide;
}

/* Enumerations, users and truths: whatever is at most `max`. */
static unsigned carry_small(struct wire *wire, unsigned value, unsigned max)
{
    uint64_t wide = value;

    carry_u64(wire, &wide);
    if (wide > max)
        wire->is_bad = true;
    return wide > max ? 0 : (unsigned)wide;
}

static void carry_text(struct wire *wire, struct str *text)
{
    size_t len = text->len;

    carry_size(wire, &len);
    if (wire->out) {
        buf_put(wire->out, *text);
        return;
    }
    if (wire->is_bad || len > wire->rest.len) {
        wire->is_bad = true;
        return;
    }
    *text = plan_text(wire->plan, str_slice(wire->rest, 0, len));
    wire->rest = str_slice(wire->rest, len, wire->rest.len);
}

/* The length of a list; where it is read, also the memory for it. */
static void *carry_list(struct wire *wire, void *list, size_t *count, size_t size)
{
    carry_size(wire, count);
    if (wire->out)
        return list;
    if (wire->is_bad || *count > PLAN_ITEMS) {
        wire->is_bad = true;
        *count = 0;
    }
    return plan_alloc(wire->plan, *count, size);
}

static void carry_texts(struct wire *wire, struct str **list, size_t *count)
{
    *list = carry_list(wire, *list, count, sizeof(**list));
    for (size_t i = 0; i < *count; i++)
        carry_text(wire, &(*list)[i]);
}

static void carry_variables(struct wire *wire, struct sandbox_plan *plan)
{
    plan->variables = carry_list(wire, plan->variables, &plan->variable_count,
                                 sizeof(*plan->variables));
    for (size_t i = 0; i < plan->variable_count; i++) {
        struct sandbox_variable *variable = &plan->variables[i];

        carry_text(wire, &variable->name);
        carry_text(wire, &variable->value);
        variable->is_secret = carry_small(wire, variable->is_secret, true);
    }
}

static void carry_places(struct wire *wire, struct sandbox_plan *plan)
{
    plan->places =
        carry_list(wire, plan->places, &plan->place_count, sizeof(*plan->places));
    for (size_t i = 0; i < plan->place_count; i++) {
        struct place *place = &plan->places[i];

        place->type = carry_small(wire, place->type, PLACE_TEXT);
        carry_text(wire, &place->from);
        carry_text(wire, &place->to);
    }
}

static void carry_limits(struct wire *wire, struct sandbox_plan *plan)
{
    carry_size(wire, &plan->memory);
    carry_size(wire, &plan->processes);
    carry_size(wire, &plan->files);
    carry_size(wire, &plan->file_bytes);
    plan->cpu_percent = carry_small(wire, plan->cpu_percent, UINT32_MAX);
    plan->group = carry_small(wire, plan->group, GROUP_V2);
    for (size_t i = 0; i < GROUP_FOLDERS; i++)
        carry_text(wire, &plan->group_folders[i]);
}

static void carry_plan(struct wire *wire)
{
    struct sandbox_plan *plan = wire->plan;

    plan->level = carry_small(wire, plan->level, SANDBOX_OFF);
    plan->network = carry_small(wire, plan->network, NETWORK_ANY);
    carry_texts(wire, &plan->words, &plan->word_count);
    carry_variables(wire, plan);
    carry_texts(wire, &plan->hosts, &plan->host_count);
    carry_places(wire, plan);
    carry_text(wire, &plan->folder);
    carry_text(wire, &plan->home);
    carry_text(wire, &plan->bwrap);
    plan->is_root = carry_small(wire, plan->is_root, true);
    plan->uid = carry_small(wire, plan->uid, UINT32_MAX);
    plan->gid = carry_small(wire, plan->gid, UINT32_MAX);
    carry_limits(wire, plan);
}

void sandbox_plan_write(const struct sandbox_plan *plan, struct buf *out)
{
    struct sandbox_plan copy = *plan; /* the walk writes into what it reads */
    struct wire wire = { .plan = &copy, .out = out };

    carry_plan(&wire);
}

CLEANUP_FOR(struct sandbox_plan, sandbox_plan_free)

enum err sandbox_plan_read(struct str bytes, struct sandbox_plan **ret)
{
    CLEANUP(sandbox_plan_freep) struct sandbox_plan *plan = NULL;
    struct wire wire = { .rest = bytes };

    if (bytes.len > PLAN_BYTES)
        return ERR_INVALID;
    plan = plan_new();
    wire.plan = plan;
    carry_plan(&wire);
    if (wire.is_bad || wire.rest.len || !plan->word_count)
        return ERR_INVALID;
    *ret = TAKE(plan);
    return OK;
}
