/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/crypto.h"
#include "envelope/kind.h"
#include "rules/value.h"

enum { DAY_MS = 86'400'000, ID_BYTES = 16, MILLION = 1'000'000 };

struct str rule_state_name(enum rule_state state)
{
    static const struct str names[] = {
#define X(name, text) [RULE_##name] = S(text),
        RULE_STATES(X)
#undef X
    };

    return names[state];
}

enum err rule_state_parse(struct str name, enum rule_state *ret)
{
    for (int i = 0; i < RULE_STATE_COUNT; i++)
        if (str_eq(name, rule_state_name((enum rule_state)i))) {
            *ret = (enum rule_state)i;
            return OK;
        }
    return ERR_INVALID;
}

/* --- what a proposal says --- */

static enum err refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_INVALID;
}

static enum err read_to(const struct json *to, struct str *ret, const char **ret_why)
{
    if (!to || (to->type == JSON_ARRAY && to->count == 0))
        return OK;
    if (to->type != JSON_ARRAY || to->first->type != JSON_STRING)
        return refuse(ret_why, "its addressees cannot be read");
    if (to->count > 1)
        return refuse(ret_why, "it goes to several");
    *ret = to->first->text;
    return OK;
}

/* The members of params that are not known might change what a call does. */
static enum err read_call(const struct json *params, const struct kind *kind,
                          struct rule_proposal *p, const char **ret_why)
{
    const struct json *name = json_find(params, S("name"));
    const struct json *arguments = json_find(params, S("arguments"));

    if (!name || name->type != JSON_STRING || name->text.len == 0)
        return refuse(ret_why, "it names no tool");
    if (kind->context.ptr && !str_eq(kind->context, name->text))
        return refuse(ret_why, "its kind names another tool");
    if (arguments && arguments->type != JSON_OBJECT)
        return refuse(ret_why, "its arguments are no object");
    JSON_FOREACH(member, params)
        if (member != name && member != arguments && !str_eq(member->key, S("_meta")))
            return refuse(ret_why, "it has params besides name and arguments");
    p->tool = name->text;
    p->arguments = arguments;
    return OK;
}

/* All of params, but `_meta`. */
static enum err read_params(const struct json *params, struct arena *arena,
                            struct rule_proposal *p)
{
    struct json *all = arena_alloc(arena, sizeof(*all));
    struct json *last = NULL;

    if (!all)
        return ERR_TOO_BIG;
    *all = (struct json){ .type = JSON_OBJECT };
    p->arguments = all;
    for (const struct json *at = params ? params->first : NULL; at; at = at->next) {
        struct json *copy = arena_alloc(arena, sizeof(*copy));

        if (!copy)
            return ERR_TOO_BIG;
        if (str_eq(at->key, S("_meta")))
            continue;
        *copy = *at;
        copy->next = NULL;
        if (last)
            last->next = copy;
        else
            all->first = copy;
        last = copy;
        all->count++;
    }
    return OK;
}

static enum err read_payload(const struct json *payload, const struct kind *kind,
                             struct arena *arena, struct rule_proposal *p,
                             const char **ret_why)
{
    const struct json *method = json_find(payload, S("method"));
    const struct json *params = json_find(payload, S("params"));

    if (!method || method->type != JSON_STRING || !str_eq(method->text, kind->method))
        return refuse(ret_why, "its payload names another method than its kind");
    if (params && params->type != JSON_OBJECT)
        return refuse(ret_why, "its params are no object");
    p->method = method->text;
    if (str_eq(kind->method, S("tools/call")))
        return read_call(params, kind, p, ret_why);
    if (read_params(params, arena, p))
        return refuse(ret_why, "it is too large");
    return OK;
}

enum err rule_proposal_read(struct str topic, struct str envelope, struct arena *arena,
                            struct rule_proposal *ret, const char **ret_why)
{
    struct rule_proposal p = { .topic = topic };
    const struct json *root;
    struct kind kind;
    enum err err;

    if (json_parse(envelope, arena, &root, NULL) || root->type != JSON_OBJECT)
        return refuse(ret_why, "it cannot be read without doubt");
    if (kind_parse(json_text(json_find(root, S("kind"))), &kind) ||
        (kind.type != KIND_PROPOSAL && kind.type != KIND_REQUEST))
        return refuse(ret_why, "it is no proposal");
    p.proposer = json_text(json_find(root, S("from")));
    if (p.proposer.len == 0)
        return refuse(ret_why, "it is nobody's");
    err = read_to(json_find(root, S("to")), &p.to, ret_why);
    if (!err)
        err = read_payload(json_find(root, S("payload")), &kind, arena, &p, ret_why);
    if (!err)
        *ret = p;
    return err;
}

/* --- coverage --- */

static bool misses(struct shape_miss *why_not, const char *path, const char *what)
{
    if (why_not) {
        (void)snprintf(why_not->path, sizeof(why_not->path), "%s", path);
        why_not->what = what;
    }
    return false;
}

static bool fits_in(const struct json *arguments)
{
    struct buf text;
    bool fits;

    buf_init(&text, RULE_ARGUMENTS);
    fits = value_put(&text, arguments) == OK;
    buf_done(&text);
    return fits;
}

bool rule_covers(const struct rule *rule, const struct rule_proposal *p,
                 struct shape_miss *why_not)
{
    static const struct json none = { .type = JSON_OBJECT };
    const struct json *arguments = p->arguments ? p->arguments : &none;

    if (!str_eq(rule->topic, p->topic))
        return misses(why_not, "topic", "is another");
    if (!str_eq(rule->proposer, p->proposer))
        return misses(why_not, "proposer", "is another");
    if (!str_eq(rule->method, p->method))
        return misses(why_not, "method", "is another");
    if (!str_eq(rule->tool, p->tool))
        return misses(why_not, "tool", "is another");
    if (!str_eq(rule->to, S("*")) && !str_eq(rule->to, p->to))
        return misses(why_not, "to", "is another");
    (void)misses(why_not, "arguments", "");
    if (!fits_in(arguments))
        return misses(why_not, "arguments", "are too large or too deep");
    return shape_covers(rule->arguments, arguments, why_not);
}

bool rule_is_current(const struct rule *rule, uint64_t now_ms)
{
    return rule->expires_ms == 0 || now_ms < rule->expires_ms;
}

/* --- evidence --- */

/* Of a number between 0 and 1: libm is not worth one root. */
static double root_of(double x)
{
    double root = 1;

    for (int i = 0; i < 64; i++)
        root = (root + x / root) / 2;
    return root;
}

uint64_t rule_bound(uint64_t approved, uint64_t rejected)
{
    const double z2 = 1.96 * 1.96;
    double n = (double)approved + (double)rejected;
    double rate, middle, spread;

    if (approved == 0)
        return 0;
    rate = (double)approved / n;
    middle = rate + z2 / (2 * n);
    spread = 1.96 * root_of((rate * (1 - rate) + z2 / (4 * n)) / n);
    return (uint64_t)((middle - spread) / (1 + z2 / n) * MILLION);
}

static enum err add_person(struct rule_evidence *into, struct str who,
                           struct arena *arena)
{
    struct str copy;

    for (size_t i = 0; i < into->people_count; i++)
        if (str_eq(into->people[i], who))
            return OK;
    if (into->people_count == RULE_PEOPLE)
        return OK;
    copy = arena_str(arena, who);
    if (!copy.ptr)
        return ERR_TOO_BIG;
    into->people[into->people_count++] = copy;
    return OK;
}

/* The newer ones come first, and push the oldest out. */
static enum err add_examples(struct rule_evidence *into, const struct rule_evidence *from,
                             struct arena *arena)
{
    struct str all[2 * RULE_EXAMPLES];
    size_t count = 0;

    for (size_t i = 0; i < from->example_count; i++) {
        all[count] = arena_str(arena, from->examples[i]);
        if (!all[count++].ptr)
            return ERR_TOO_BIG;
    }
    for (size_t i = 0; i < into->example_count; i++)
        all[count++] = into->examples[i];
    into->example_count = count < RULE_EXAMPLES ? count : RULE_EXAMPLES;
    memcpy(into->examples, all, into->example_count * sizeof(all[0]));
    return OK;
}

enum err rule_evidence_merge(struct rule_evidence *into, const struct rule_evidence *from,
                             struct arena *arena)
{
    struct rule_evidence sum = *into;
    bool is_same_day = sum.last_ms / DAY_MS == from->first_ms / DAY_MS;
    enum err err = OK;

    if (from->approved == 0)
        return OK;
    if (sum.approved && from->first_ms <= sum.last_ms)
        return ERR_INVALID;
    if (sum.approved == 0)
        sum.first_ms = from->first_ms;
    sum.days += from->days - (sum.approved && is_same_day && from->days ? 1 : 0);
    sum.approved += from->approved;
    sum.beside += from->beside;
    sum.last_ms = from->last_ms;
    sum.bound = rule_bound(sum.approved, 0);
    for (size_t i = 0; i < from->people_count && !err; i++)
        err = add_person(&sum, from->people[i], arena);
    if (!err)
        err = add_examples(&sum, from, arena);
    if (!err)
        *into = sum;
    return err;
}

/* --- its name --- */

enum err rule_make_id(const struct rule *rule, struct arena *arena, struct str *ret)
{
    const struct str named[] = { rule->topic, rule->proposer, rule->method, rule->tool,
                                 rule->to };
    uint8_t hash[SHA256_BYTES];
    struct json_writer w;
    struct buf text;
    struct str id;

    buf_init(&text, 1 << 20);
    json_write_init(&w, &text);
    json_array_open(&w);
    for (size_t i = 0; i < COUNT(named); i++)
        json_str(&w, named[i]);
    shape_write(&w, rule->arguments);
    json_array_close(&w);
    crypto_sha256(buf_str(&text), hash);
    buf_clear(&text);
    buf_put(&text, S("r-"));
    hex_write(&text, (struct str){ (const char *)hash, ID_BYTES });
    id = arena_str(arena, buf_str(&text));
    buf_done(&text);
    if (!id.ptr)
        return ERR_TOO_BIG;
    *ret = id;
    return OK;
}
