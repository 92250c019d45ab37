/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/learner.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "rules/generalise.h"
#include "rules/value.h"

enum {
    DAY_MS = 86'400'000,
    HOUR_MS = 3'600'000,
    KEY_BYTES = 64 << 10,
    SCRATCH_BYTES = 256 << 20, /* of one group */
    FOUND_MAX = 1000,
};

struct example {
    struct link link; /* by time of arrival */
    uint64_t at_ms;
    bool is_rejected;
    struct str id, by, arguments; /* all in `text` */
    size_t bytes;
    char text[];
};

struct group {
    struct link link;
    struct link examples;
    size_t approved, rejected;
    bool is_spoiled; /* more was rejected than can be remembered */
    struct str key, topic, proposer, method, tool, to;
    size_t bytes;
    char text[];
};

struct learner {
    struct learner_options options;
    struct map groups;
    struct link by_age;
    struct learner_counts counts;
};

struct learner_options learner_options_default(void)
{
    return (struct learner_options){
        .min_approvals = 15,
        .min_bound = 800'000,
        .min_days = 2,
        .window_ms = 90ull * DAY_MS,
        .rejections_ms = 365ull * DAY_MS,
        .lifetime_ms = 30ull * DAY_MS,
        .max_groups = 1000,
        .max_examples = 400,
        .max_bytes = 64u << 20,
    };
}

struct learner *learner_new(const struct learner_options *options)
{
    struct learner *learner = xcalloc(1, sizeof(*learner));

    learner->options = *options;
    map_init(&learner->groups);
    list_init(&learner->by_age);
    return learner;
}

static void drop_example(struct learner *learner, struct group *group,
                         struct example *example)
{
    *(example->is_rejected ? &group->rejected : &group->approved) -= 1;
    *(example->is_rejected ? &learner->counts.rejected : &learner->counts.approved) -= 1;
    learner->counts.bytes -= example->bytes;
    list_remove(&example->link);
    free(example);
}

/* It has no examples any more. */
static void drop_group(struct learner *learner, struct group *group)
{
    (void)map_remove(&learner->groups, group->key);
    list_remove(&group->link);
    learner->counts.bytes -= group->bytes;
    learner->counts.groups--;
    free(group);
}

void learner_free(struct learner *learner)
{
    struct example *example;
    struct group *group;

    if (!learner)
        return;
    LIST_FOREACH(group, &learner->by_age, link) {
        struct link *at = group->examples.next;

        while (at != &group->examples) {
            example = CONTAINER_OF(at, struct example, link);
            at = at->next;
            drop_example(learner, group, example);
        }
        drop_group(learner, group);
    }
    map_done(&learner->groups);
    free(learner);
}

struct learner_counts learner_count(const struct learner *learner)
{
    return learner->counts;
}

/* --- remembering --- */

/* The names of all members, and which of them are objects. */
static void put_names(struct buf *out, const struct json *object, size_t depth)
{
    struct json_writer w;

    if (depth > SHAPE_DEPTH)
        return;
    buf_putc(out, '{');
    JSON_FOREACH(at, object) {
        json_write_init(&w, out);
        json_str(&w, at->key);
        if (at->type == JSON_OBJECT && at->first)
            put_names(out, at, depth + 1);
    }
    buf_putc(out, '}');
}

static void put_group_key(struct buf *out, const struct rule_proposal *p,
                          const struct json *arguments)
{
    const struct str parts[] = { p->topic, p->proposer, p->method, p->tool, p->to };
    struct json_writer w;

    for (size_t i = 0; i < COUNT(parts); i++) {
        json_write_init(&w, out);
        json_str(&w, parts[i]);
    }
    put_names(out, arguments, 1);
}

/* Copies a text behind the others of a struct. */
static struct str store(char **at, struct str text)
{
    struct str copy = { *at, text.len };

    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

static struct group *add_group(struct learner *learner, struct str key,
                               const struct rule_proposal *p)
{
    size_t text = key.len + p->topic.len + p->proposer.len + p->method.len + p->tool.len +
                  p->to.len;
    struct group *group;
    char *at;

    if (learner->counts.groups >= learner->options.max_groups ||
        learner->counts.bytes + sizeof(*group) + text > learner->options.max_bytes)
        return NULL;
    group = xcalloc(1, sizeof(*group) + text);
    at = group->text;
    group->bytes = sizeof(*group) + text;
    group->key = store(&at, key);
    group->topic = store(&at, p->topic);
    group->proposer = store(&at, p->proposer);
    group->method = store(&at, p->method);
    group->tool = store(&at, p->tool);
    group->to = store(&at, p->to);
    list_init(&group->examples);
    list_append(&learner->by_age, &group->link);
    map_set(&learner->groups, group->key, group);
    learner->counts.groups++;
    learner->counts.bytes += group->bytes;
    return group;
}

static struct example *find_example(struct group *group, struct str id)
{
    struct example *example;

    LIST_FOREACH(example, &group->examples, link)
        if (str_eq(example->id, id))
            return example;
    return NULL;
}

static void drop_oldest_approval(struct learner *learner, struct group *group)
{
    struct example *example;

    LIST_FOREACH(example, &group->examples, link)
        if (!example->is_rejected) {
            drop_example(learner, group, example);
            return;
        }
}

/* Room for one more of the group; false: there is none. */
static bool make_room(struct learner *learner, struct group *group, bool is_rejected)
{
    if (group->approved + group->rejected < learner->options.max_examples)
        return true;
    if (group->approved) {
        drop_oldest_approval(learner, group);
        return true;
    }
    group->is_spoiled = group->is_spoiled || is_rejected;
    return false;
}

static enum err add_example(struct learner *learner, struct group *group,
                            const struct decision *d, struct str arguments)
{
    size_t text = d->id.len + d->by.len + arguments.len;
    bool is_rejected = d->verdict != DECISION_APPROVED;
    struct example *example;
    char *at;

    if (!make_room(learner, group, is_rejected))
        return ERR_OVERLOAD;
    if (learner->counts.bytes + sizeof(*example) + text > learner->options.max_bytes) {
        group->is_spoiled = group->is_spoiled || is_rejected;
        return ERR_OVERLOAD;
    }
    example = xcalloc(1, sizeof(*example) + text);
    at = example->text;
    example->bytes = sizeof(*example) + text;
    example->at_ms = d->at_ms;
    example->is_rejected = is_rejected;
    example->id = store(&at, d->id);
    example->by = store(&at, d->by);
    example->arguments = store(&at, arguments);
    list_append(&group->examples, &example->link);
    *(is_rejected ? &group->rejected : &group->approved) += 1;
    *(is_rejected ? &learner->counts.rejected : &learner->counts.approved) += 1;
    learner->counts.bytes += example->bytes;
    return OK;
}

/* Whoever rejects what was approved has the last word. */
static enum err change_example(struct learner *learner, struct group *group,
                               struct example *example, const struct decision *d)
{
    if (d->verdict == DECISION_APPROVED || example->is_rejected)
        return OK;
    example->is_rejected = true;
    group->approved--;
    group->rejected++;
    learner->counts.approved--;
    learner->counts.rejected++;
    return OK;
}

static enum err note_canonical(struct learner *learner, const struct decision *d,
                               struct str text, struct arena *scratch)
{
    const struct json *arguments;
    struct example *example;
    struct group *group;
    struct sample sample;
    size_t columns;
    struct buf key;

    if (json_parse(text, scratch, &arguments, NULL) ||
        sample_init(&sample, arguments, scratch, &columns))
        return ERR_INVALID;
    buf_init(&key, KEY_BYTES);
    put_group_key(&key, &d->proposal, arguments);
    group = key.is_full ? NULL : map_find(&learner->groups, buf_str(&key));
    if (!group && !key.is_full)
        group = add_group(learner, buf_str(&key), &d->proposal);
    buf_done(&key);
    if (!group) {
        learner->counts.is_blind |= d->verdict != DECISION_APPROVED;
        return ERR_OVERLOAD;
    }
    example = find_example(group, d->id);
    if (example)
        return change_example(learner, group, example, d);
    return add_example(learner, group, d, text);
}

static bool teaches(const struct decision *d)
{
    return d->verdict != DECISION_NOTHING && d->origin == DECIDED_BY_PERSON &&
           !str_eq(d->by, d->proposal.proposer) && d->id.len && d->id.len <= RULE_NAME &&
           d->by.len && d->by.len <= RULE_NAME;
}

/* Names that a rule could not have. */
static bool is_nameable(const struct rule_proposal *p)
{
    const struct str names[] = { p->topic, p->proposer, p->method, p->tool, p->to };

    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].len > RULE_NAME || !shape_is_readable(names[i], SHAPE_ONE_LINE))
            return false;
    return p->topic.len && p->proposer.len && p->method.len && !str_eq(p->to, S("*")) &&
           str_eq(p->method, S("tools/call")) == !!p->tool.len;
}

enum err learner_note(struct learner *learner, const struct decision *d)
{
    static const struct json none = { .type = JSON_OBJECT };
    struct arena scratch;
    struct buf text;
    enum err err;

    if (!teaches(d) || !is_nameable(&d->proposal))
        return ERR_INVALID;
    arena_init(&scratch, SCRATCH_BYTES);
    buf_init(&text, RULE_ARGUMENTS);
    err = value_put(&text, d->proposal.arguments ? d->proposal.arguments : &none);
    err = err ? ERR_INVALID : note_canonical(learner, d, buf_str(&text), &scratch);
    buf_done(&text);
    arena_done(&scratch);
    return err;
}

static bool is_older(const struct example *example, uint64_t now_ms, uint64_t window_ms)
{
    return example->at_ms + window_ms < now_ms;
}

void learner_forget(struct learner *learner, uint64_t now_ms)
{
    const struct learner_options *o = &learner->options;
    struct example *example;
    struct group *group;

    LIST_FOREACH(group, &learner->by_age, link) {
        struct link *at = group->examples.next;

        while (at != &group->examples) {
            example = CONTAINER_OF(at, struct example, link);
            at = at->next;
            if (is_older(example, now_ms,
                         example->is_rejected ? o->rejections_ms : o->window_ms))
                drop_example(learner, group, example);
        }
        if (list_is_empty(&group->examples) && !group->is_spoiled)
            drop_group(learner, group);
    }
}

/* --- what a wider rule would add --- */

static bool is_beyond(const struct group *group, const struct example *example,
                      const struct rule *wide, const struct rule *narrow)
{
    struct rule_proposal p = { .topic = group->topic,
                               .proposer = group->proposer,
                               .method = group->method,
                               .tool = group->tool,
                               .to = group->to };
    struct arena scratch;
    bool is;

    arena_init(&scratch, SCRATCH_BYTES);
    is = !example->is_rejected &&
         json_parse(example->arguments, &scratch, &p.arguments, NULL) == OK &&
         rule_covers(wide, &p, NULL) && !rule_covers(narrow, &p, NULL);
    arena_done(&scratch);
    return is;
}

size_t learner_beyond(const struct learner *learner, const struct rule *wide,
                      const struct rule *narrow)
{
    size_t count = 0;

    for (const struct link *at = learner->by_age.next; at != &learner->by_age;
         at = at->next) {
        const struct group *group =
            (const struct group *)((const char *)at - offsetof(struct group, link));

        if (!str_eq(group->proposer, wide->proposer) || !str_eq(group->tool, wide->tool))
            continue;
        for (const struct link *one = group->examples.next; one != &group->examples;
             one = one->next)
            count += is_beyond(group,
                               (const struct example *)((const char *)one -
                                                        offsetof(struct example, link)),
                               wide, narrow);
    }
    return count;
}

/* --- finding rules --- */

struct finding {
    const struct learner *learner;
    uint64_t now_ms;
    struct arena *arena;
    struct rule_list rules;
};

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static const struct example *example_of(const struct generalised *found, size_t i)
{
    return found->rows[i]->example;
}

/* The days, and the most that happened within an hour: a rule does not do more. */
static void count_times(const struct generalised *found, struct rule *rule)
{
    size_t count = found->row_count, begin = 0;
    uint64_t *times = xcalloc(count, sizeof(*times));

    for (size_t i = 0; i < count; i++)
        times[i] = example_of(found, i)->at_ms;
    qsort(times, count, sizeof(*times), compare_times);
    for (size_t i = 0; i < count; i++) {
        rule->evidence.days += i == 0 || times[i] / DAY_MS != times[i - 1] / DAY_MS;
        while (times[i] - times[begin] >= HOUR_MS)
            begin++;
        rule->budget = i - begin + 1 > rule->budget ? i - begin + 1 : rule->budget;
    }
    rule->evidence.first_ms = times[0];
    rule->evidence.last_ms = times[count - 1];
    free(times);
}

static bool has_name(const struct str *names, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

static enum err name_examples(const struct finding *f, const struct generalised *found,
                              struct rule_evidence *e)
{
    for (size_t i = found->row_count; i-- > 0;) {
        const struct example *example = example_of(found, i);
        struct str copy;

        if (e->example_count < RULE_EXAMPLES &&
            shape_is_readable(example->id, SHAPE_ONE_LINE)) {
            copy = arena_str(f->arena, example->id);
            if (!copy.ptr)
                return ERR_TOO_BIG;
            e->examples[e->example_count++] = copy;
        }
        if (e->people_count < RULE_PEOPLE &&
            !has_name(e->people, e->people_count, example->by)) {
            copy = arena_str(f->arena, example->by);
            if (!copy.ptr)
                return ERR_TOO_BIG;
            e->people[e->people_count++] = copy;
        }
    }
    return OK;
}

static bool is_enough(const struct learner_options *o, const struct rule *rule)
{
    return rule->evidence.approved >= o->min_approvals &&
           rule->evidence.bound >= o->min_bound && rule->evidence.days >= o->min_days;
}

static enum err add_rule(struct finding *f, const struct group *group,
                         const struct generalised *found)
{
    struct rule rule = {
        .state = RULE_SUGGESTED,
        .topic = arena_str(f->arena, group->topic),
        .proposer = arena_str(f->arena, group->proposer),
        .method = arena_str(f->arena, group->method),
        .tool = arena_str(f->arena, group->tool),
        .to = arena_str(f->arena, group->to),
        .arguments = found->arguments,
        .created_ms = f->now_ms,
        .expires_ms = f->now_ms + f->learner->options.lifetime_ms,
        .evidence = { .approved = found->row_count,
                      .beside = group->rejected,
                      .bound = rule_bound(found->row_count, 0) },
    };
    enum err err;

    count_times(found, &rule);
    if (!is_enough(&f->learner->options, &rule) || f->rules.count == FOUND_MAX)
        return OK;
    if (!rule.topic.ptr || !rule.proposer.ptr || !rule.method.ptr || !rule.tool.ptr ||
        !rule.to.ptr)
        return ERR_TOO_BIG;
    err = name_examples(f, found, &rule.evidence);
    if (!err)
        err = rule_make_id(&rule, f->arena, &rule.id);
    if (!err)
        f->rules.items[f->rules.count++] = rule;
    return err;
}

/* Which of them still count. */
static bool counts_now(const struct finding *f, const struct example *example)
{
    const struct learner_options *o = &f->learner->options;

    return !is_older(example, f->now_ms,
                     example->is_rejected ? o->rejections_ms : o->window_ms);
}

struct rows {
    const struct sample **approved, **rejected;
    size_t approved_count, rejected_count, columns;
};

static enum err add_row(struct rows *rows, const struct example *example,
                        struct arena *scratch)
{
    struct sample *sample = arena_alloc(scratch, sizeof(*sample));
    const struct json *arguments;

    if (!sample || json_parse(example->arguments, scratch, &arguments, NULL) ||
        sample_init(sample, arguments, scratch, &rows->columns))
        return ERR_TOO_BIG;
    sample->example = example;
    if (example->is_rejected)
        rows->rejected[rows->rejected_count++] = sample;
    else
        rows->approved[rows->approved_count++] = sample;
    return OK;
}

static enum err make_rows(const struct finding *f, const struct group *group,
                          struct arena *scratch, struct rows *rows)
{
    const size_t size = (group->approved + group->rejected + 1) * sizeof(const void *);
    enum err err = OK;

    rows->approved = arena_alloc(scratch, size);
    rows->rejected = arena_alloc(scratch, size);
    if (!rows->approved || !rows->rejected)
        return ERR_TOO_BIG;
    for (const struct link *at = group->examples.next; at != &group->examples && !err;
         at = at->next) {
        const struct example *example =
            (const struct example *)((const char *)at - offsetof(struct example, link));

        if (counts_now(f, example))
            err = add_row(rows, example, scratch);
    }
    return err;
}

static enum err find_in_group(struct finding *f, const struct group *group,
                              struct arena *scratch)
{
    struct generalised found[GENERALISE_FOUND];
    struct generalise_table table = { .arena = f->arena, .scratch = scratch };
    struct rows rows = {};
    size_t count = 0;
    enum err err = make_rows(f, group, scratch, &rows);

    if (err)
        return err;
    table.approved = rows.approved;
    table.approved_count = rows.approved_count;
    table.rejected = rows.rejected;
    table.rejected_count = rows.rejected_count;
    table.columns = rows.columns;
    table.min_rows =
        f->learner->options.min_approvals ? f->learner->options.min_approvals : 1;
    err = generalise(&table, found, &count);
    for (size_t i = 0; i < count && !err; i++)
        err = add_rule(f, group, &found[i]);
    return err;
}

static int compare_rules(const void *a, const void *b)
{
    return str_cmp(((const struct rule *)a)->id, ((const struct rule *)b)->id);
}

enum err learner_candidates(const struct learner *learner, uint64_t now_ms,
                            struct arena *arena, struct rule_list *ret)
{
    struct finding f = { .learner = learner, .now_ms = now_ms, .arena = arena };
    struct arena scratch;
    enum err err = OK;

    f.rules.items = arena_alloc(arena, FOUND_MAX * sizeof(*f.rules.items));
    if (!f.rules.items)
        return ERR_TOO_BIG;
    if (learner->counts.is_blind) {
        *ret = f.rules;
        return OK;
    }
    arena_init(&scratch, SCRATCH_BYTES);
    for (const struct link *at = learner->by_age.next; at != &learner->by_age && !err;
         at = at->next) {
        const struct group *group =
            (const struct group *)((const char *)at - offsetof(struct group, link));

        arena_reset(&scratch);
        if (!group->is_spoiled && group->approved >= learner->options.min_approvals)
            err = find_in_group(&f, group, &scratch);
    }
    arena_done(&scratch);
    if (err)
        return err;
    if (f.rules.count)
        qsort(f.rules.items, f.rules.count, sizeof(*f.rules.items), compare_rules);
    *ret = f.rules;
    return OK;
}
