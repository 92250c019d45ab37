/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as JSON: what a file says, once its YAML is read, and what goes over the wire. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "rules/rules_priv.h"

enum { BUDGET = 10, BOUND_DIGITS = 1'000'000 };

struct said {
    struct str id, topic, state, proposer, method, tool, to, note;
    struct str created_by, accepted_by, expires_at, created_at, accepted_at;
    const struct json *arguments, *evidence;
    uint64_t budget;
};

#define F(member, need) JSON_FIELD(struct said, member, need)
static const struct json_field said_fields[] = {
    F(id, JSON_OPTIONAL),          F(topic, JSON_REQUIRED),
    F(state, JSON_OPTIONAL),       F(proposer, JSON_REQUIRED),
    F(method, JSON_REQUIRED),      F(tool, JSON_OPTIONAL),
    F(to, JSON_OPTIONAL),          F(note, JSON_OPTIONAL),
    F(created_by, JSON_OPTIONAL),  F(accepted_by, JSON_OPTIONAL),
    F(expires_at, JSON_OPTIONAL),  F(created_at, JSON_OPTIONAL),
    F(accepted_at, JSON_OPTIONAL), F(arguments, JSON_REQUIRED),
    F(evidence, JSON_OPTIONAL),    F(budget, JSON_OPTIONAL),
};
#undef F

struct said_evidence {
    uint64_t approved, beside, days;
    struct str first_at, last_at;
    const struct json *bound;
    struct str_list people, examples;
};

#define F(member) JSON_FIELD(struct said_evidence, member, JSON_OPTIONAL)
static const struct json_field evidence_fields[] = {
    F(approved), F(beside), F(days),   F(first_at),
    F(last_at),  F(bound),  F(people), F(examples),
};
#undef F

/* --- reading --- */

static enum err read_text(const struct rule_reading *r, const struct json *object,
                          struct str key, struct str text, size_t max, struct str *ret)
{
    if (text.len > max || !shape_is_readable(text, SHAPE_ONE_LINE))
        return rule_fail(r, json_find(object, key),
                         "\"%.*s\" must be %zu bytes at most, of characters that can be "
                         "seen",
                         STR_ARG(key), max);
    return rule_copy(r, text, ret);
}

static enum err read_time(const struct rule_reading *r, const struct json *object,
                          struct str key, struct str text, uint64_t *ret)
{
    if (!text.ptr)
        return OK;
    if (clock_parse(text, ret) || *ret == 0)
        return rule_fail(r, json_find(object, key),
                         "\"%.*s\" must be a time such as 2030-01-31T12:00:00Z",
                         STR_ARG(key));
    return OK;
}

static enum err read_state(const struct rule_reading *r, const struct json *object,
                           struct str name, enum rule_state *ret)
{
    if (!name.ptr || rule_state_parse(name, ret) == OK)
        return OK;
    return rule_fail(r, json_find(object, S("state")),
                     "\"state\" must be suggested, shadow, active, suspended, disabled "
                     "or declined");
}

static enum err read_names(const struct rule_reading *r, const struct json *where,
                           struct str_list list, struct str *ret, size_t max,
                           size_t *ret_count)
{
    if (list.count > max)
        return rule_fail(r, where, "at most %zu of them are kept", max);
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].len > RULE_NAME ||
            !shape_is_readable(list.items[i], SHAPE_ONE_LINE))
            return rule_fail(r, where, "has a name that cannot be read");
        if (rule_copy(r, list.items[i], &ret[i]))
            return ERR_TOO_BIG;
    }
    *ret_count = list.count;
    return OK;
}

/* The bound is not believed but computed. */
static enum err read_evidence(const struct rule_reading *r, const struct json *object,
                              struct rule_evidence *ret)
{
    struct said_evidence said = {};
    struct rule_evidence e = {};
    enum err err;

    if (!object)
        return OK;
    err = rule_fields(r, object, evidence_fields, COUNT(evidence_fields), &said);
    if (err)
        return err;
    if (said.approved > UINT32_MAX || said.beside > UINT32_MAX || said.days > UINT32_MAX)
        return rule_fail(r, object, "counts more than there can be");
    e.approved = said.approved;
    e.beside = said.beside;
    e.days = said.days;
    e.bound = rule_bound(e.approved, 0);
    err = read_time(r, object, S("first_at"), said.first_at, &e.first_ms);
    if (!err)
        err = read_time(r, object, S("last_at"), said.last_at, &e.last_ms);
    if (!err)
        err = read_names(r, object, said.people, e.people, RULE_PEOPLE, &e.people_count);
    if (!err)
        err = read_names(r, object, said.examples, e.examples, RULE_EXAMPLES,
                         &e.example_count);
    if (!err)
        *ret = e;
    return err;
}

static enum err read_texts(const struct rule_reading *r, const struct json *object,
                           const struct said *said, struct rule *rule)
{
    const struct {
        struct str key, text;
        struct str *to;
        size_t max;
        bool is_needed;
    } texts[] = {
        { S("id"), said->id, &rule->id, RULE_ID, false },
        { S("topic"), said->topic, &rule->topic, RULE_NAME, true },
        { S("proposer"), said->proposer, &rule->proposer, RULE_NAME, true },
        { S("method"), said->method, &rule->method, RULE_NAME, true },
        { S("tool"), said->tool, &rule->tool, RULE_NAME, false },
        { S("to"), said->to, &rule->to, RULE_NAME, false },
        { S("note"), said->note, &rule->note, RULE_NOTE, false },
        { S("created_by"), said->created_by, &rule->created_by, RULE_NAME, false },
        { S("accepted_by"), said->accepted_by, &rule->accepted_by, RULE_NAME, false },
    };
    enum err err = OK;

    for (size_t i = 0; i < COUNT(texts) && !err; i++) {
        err =
            read_text(r, object, texts[i].key, texts[i].text, texts[i].max, texts[i].to);
        if (!err && texts[i].is_needed && texts[i].text.len == 0)
            err = rule_fail(r, object, "\"%.*s\" is empty", STR_ARG(texts[i].key));
    }
    return err;
}

static enum err read_rest(const struct rule_reading *r, const struct json *object,
                          const struct said *said, struct rule *rule)
{
    enum err err = read_state(r, object, said->state, &rule->state);

    if (!err)
        err = read_time(r, object, S("expires_at"), said->expires_at, &rule->expires_ms);
    if (!err)
        err = read_time(r, object, S("created_at"), said->created_at, &rule->created_ms);
    if (!err)
        err =
            read_time(r, object, S("accepted_at"), said->accepted_at, &rule->accepted_ms);
    if (!err)
        err =
            shape_read(said->arguments, r->base, r->arena, &rule->arguments, r->problem);
    if (!err)
        err = read_evidence(r, said->evidence, &rule->evidence);
    if (!err && (said->budget == 0 || said->budget > RULE_BUDGET))
        err = rule_fail(r, json_find(object, S("budget")),
                        "\"budget\" must be 1 to %d an hour", RULE_BUDGET);
    rule->budget = said->budget;
    return err;
}

enum err rule_read(const struct json *object, struct str base, struct arena *arena,
                   struct rule *ret, struct rule_problem *problem)
{
    const struct rule_reading r = { base, arena, problem };
    struct said said = { .budget = BUDGET };
    struct rule rule = {};
    enum err err = rule_fields(&r, object, said_fields, COUNT(said_fields), &said);

    if (!err)
        err = read_texts(&r, object, &said, &rule);
    if (!err && str_eq(rule.method, S("tools/call")) != (rule.tool.len > 0))
        err = rule_fail(&r, object,
                        "\"tool\" stands beside the method tools/call, and only there");
    if (!err)
        err = read_rest(&r, object, &said, &rule);
    if (!err && rule.id.len == 0)
        err = rule_make_id(&rule, arena, &rule.id);
    if (!err)
        *ret = rule;
    return err;
}

/* The object with the topic in it where that is left out. NULL: it is too large. */
static const struct json *with_topic(struct str topic, const struct json *object,
                                     struct arena *arena)
{
    const struct json *named = json_find(object, S("topic"));
    bool is_named = named && !(named->type == JSON_STRING && named->text.len == 0);
    struct json *nodes, *copy;
    size_t count = 1;

    if (object->type != JSON_OBJECT || is_named)
        return object;
    nodes = arena_alloc(arena, (object->count + 2) * sizeof(*nodes));
    if (!nodes)
        return NULL;
    nodes[0] = (struct json){
        .type = JSON_STRING, .key = S("topic"), .text = topic, .raw = object->raw
    };
    JSON_FOREACH(member, object) {
        if (member == named)
            continue;
        nodes[count] = *member;
        nodes[count - 1].next = &nodes[count];
        nodes[count++].next = NULL;
    }
    copy = &nodes[count];
    *copy = *object;
    copy->first = nodes;
    copy->count = count;
    return copy;
}

enum err rule_read_in(struct str topic, const struct json *object, struct str base,
                      struct arena *arena, struct rule *ret, struct rule_problem *problem)
{
    const struct json *whole = with_topic(topic, object, arena);

    return whole ? rule_read(whole, base, arena, ret, problem) : ERR_TOO_BIG;
}

struct said_rules {
    const struct json *rules;
};

static const struct json_field rules_fields[] = {
    JSON_FIELD(struct said_rules, rules, JSON_REQUIRED),
};

static enum err read_list(const struct rule_reading *r, const struct json *list,
                          struct rule_list *ret)
{
    struct rule_list rules = {};
    enum err err = OK;

    if (list->type != JSON_ARRAY || list->count > RULES_MAX)
        return rule_fail(r, list, "must be a list of at most %d rules", RULES_MAX);
    rules.items = arena_alloc(r->arena, (list->count + 1) * sizeof(*rules.items));
    if (!rules.items)
        return ERR_TOO_BIG;
    for (const struct json *at = list->first; at && !err; at = at->next) {
        struct rule *rule = &rules.items[rules.count];

        err = rule_read(at, r->base, r->arena, rule, r->problem);
        for (size_t i = 0; i < rules.count && !err; i++)
            if (str_eq(rules.items[i].id, rule->id))
                err = rule_fail(r, at, "another rule has the same id \"%.*s\"",
                                STR_ARG(rule->id));
        rules.count++;
    }
    if (!err)
        *ret = rules;
    return err;
}

enum err rules_read(struct str text, struct arena *arena, struct rule_list *ret,
                    struct rule_problem *problem)
{
    const struct rule_reading r = { text, arena, problem };
    struct json_problem bad = {};
    struct said_rules said = {};
    const struct json *root;
    enum err err = json_parse(text, arena, &root, &bad);

    if (err) {
        const struct json where = { .raw = str_slice(text, bad.at, text.len) };

        (void)rule_fail(&r, &where, "%s", bad.what ? bad.what : err_name(err));
        return err;
    }
    err = rule_fields(&r, root, rules_fields, COUNT(rules_fields), &said);
    return err ? err : read_list(&r, said.rules, ret);
}

/* --- writing --- */

static void write_evidence(struct json_writer *w, const struct rule_evidence *e)
{
    char bound[32];
    int len = snprintf(bound, sizeof(bound), "%llu.%06llu",
                       (unsigned long long)(e->bound / BOUND_DIGITS),
                       (unsigned long long)(e->bound % BOUND_DIGITS));

    json_object_open(w);
    json_put_uint(w, S("approved"), e->approved);
    json_put_uint(w, S("beside"), e->beside);
    json_put_uint(w, S("days"), e->days);
    json_put_given_time(w, S("first_at"), e->first_ms);
    json_put_given_time(w, S("last_at"), e->last_ms);
    json_key(w, S("bound"));
    json_raw(w, (struct str){ bound, (size_t)len });
    json_put_strs(w, S("people"), (struct str_list){ e->people, e->people_count });
    json_put_strs(w, S("examples"), (struct str_list){ e->examples, e->example_count });
    json_object_close(w);
}

void rule_write(struct json_writer *w, const struct rule *rule)
{
    json_object_open(w);
    json_put_str(w, S("id"), rule->id);
    json_put_str(w, S("topic"), rule->topic);
    json_put_str(w, S("state"), rule_state_name(rule->state));
    json_put_str(w, S("proposer"), rule->proposer);
    json_put_str(w, S("method"), rule->method);
    json_put_given(w, S("tool"), rule->tool);
    json_put_given(w, S("to"), rule->to);
    json_key(w, S("arguments"));
    shape_write(w, rule->arguments);
    json_put_uint(w, S("budget"), rule->budget);
    json_put_given_time(w, S("expires_at"), rule->expires_ms);
    json_put_given_time(w, S("created_at"), rule->created_ms);
    json_put_given(w, S("created_by"), rule->created_by);
    json_put_given_time(w, S("accepted_at"), rule->accepted_ms);
    json_put_given(w, S("accepted_by"), rule->accepted_by);
    if (rule->evidence.approved) {
        json_key(w, S("evidence"));
        write_evidence(w, &rule->evidence);
    }
    json_put_given(w, S("note"), rule->note);
    json_object_close(w);
}
